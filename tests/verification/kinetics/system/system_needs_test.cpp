#include "physics/kinetics/system_needs.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/space/rank_grids.hpp"

/// What a plan says that a rank sends in a step, against what Comm counts.
namespace quintet::kinetics {
namespace {

struct Setting {
  int cdim, vdim;
  FieldModel field;
  std::array<int, 6> ranks;
  bool walls = false, collisions = false, split = false;
  CollisionOptions::Operator kind = CollisionOptions::Operator::lenard_bernstein;
};

Species make_species(const Setting& s, const char* name, double charge, int nv) {
  Species species;
  species.name = name;
  species.charge = charge;
  species.grid.cdim = s.cdim;
  species.grid.vdim = s.vdim;
  for (int d = 0; d < s.cdim + s.vdim; ++d) {
    const std::size_t i = d;
    const bool x = d < s.cdim;
    species.grid.lower[i] = x ? 0 : -5;
    species.grid.upper[i] = 5;
    species.grid.cells[i] = x ? 5 : nv - d;
    species.grid.periodic[i] = x && !s.walls;
    if (s.walls && x) species.boundary[i] = {Boundary::open, Boundary::open};
  }
  return species;
}

RankNeeds::Sent counted(const Comm& comm, Comm::Call call) {
  const auto& counter = comm.counter(call);
  return {static_cast<double>(counter.messages), static_cast<double>(counter.bytes)};
}

void expect_equal(const RankNeeds::Sent& counted, const RankNeeds::Sent& planned, const char* what) {
  EXPECT_EQ(counted.messages, planned.messages) << what;
  EXPECT_EQ(counted.bytes, planned.bytes) << what;
}

/// A step from a Maxwellian: what is sent does not depend on f.
void compare(const Setting& s) {
  const Exec exec;
  const PhaseBasis basis(s.cdim, s.vdim, 2, Family::serendipity);
  const std::vector<Species> species{make_species(s, "electron", -1, 11), make_species(s, "ion", 1, 9)};
  SystemOptions options;
  options.field = s.field;
  options.ranks = s.ranks;
  if (s.walls && s.field == FieldModel::poisson)
    options.poisson.boundary[0] = {PoissonOptions::Wall::dirichlet, PoissonOptions::Wall::dirichlet};
  if (s.walls) options.maxwell.boundary[0] = {FieldBoundary::open, FieldBoundary::open};
  if (s.collisions) {
    options.collisions.emplace().frequency = {{0.1, 0}, {0, 0.1}};
    options.collisions->split = s.split;
    options.collisions->kind = s.kind;
  }
  VlasovSystem system(Comm::world(), basis, species, options);
  for (int i = 0; i < 2; ++i) {
    auto& f = system.f(i);
    for (int conf = 0; conf < f.block.n_conf(); ++conf)
      for (int row = 0; row < f.block.n_rows(); ++row)
        for (int j = 0; j < f.block.n_last(); ++j) {
          const int d = s.cdim + s.vdim - 1;
          const double v = f.block.grid.centre(d, f.block.begin[d] + j);
          f.at(conf, row, j, 0) = std::exp(-0.5 * v * v);
        }
  }
  system.start(exec, 0);
  const auto& decomposition = system.decomposition();
  const Comm all = decomposition.comm(), same_v = decomposition.conf_comm(),
             same_x = decomposition.velocity_comm();
  for (const Comm* comm : {&all, &same_v, &same_x}) comm->reset_counters();

  system.advance(exec, 0.1 * system.stable_dt(exec));

  const auto needs = needs_of(basis, species, options, decomposition.ranks(), decomposition.coordinates());
  RankNeeds::Sent sent = counted(all, Comm::Call::point_to_point);
  const auto field = counted(same_v, Comm::Call::point_to_point);
  sent.messages += field.messages, sent.bytes += field.bytes;
  expect_equal(sent, needs.neighbours, "neighbours");
  if (same_x.size() > 1) expect_equal(counted(same_x, Comm::Call::reduce), needs.velocity_sums, "velocity");
  if (same_v.size() > 1) expect_equal(counted(same_v, Comm::Call::reduce), needs.conf_sums, "conf");
  if (all.size() > 1) expect_equal(counted(all, Comm::Call::reduce), needs.all_sums, "all");
  const auto greatest = greatest_needs(basis, species, options, decomposition.ranks());
  EXPECT_GE(greatest.cells, needs.cells);
  EXPECT_GE(greatest.bytes, needs.bytes);
  EXPECT_GE(greatest.neighbours.bytes, needs.neighbours.bytes);
  EXPECT_EQ(needs.bytes, VlasovSystem::bytes_needed(all, basis, species, options));
}

TEST(SystemNeeds, are_what_the_ranks_of_a_step_send) {
  const int n = Comm::world().size();
  for (const auto field : {FieldModel::maxwell, FieldModel::poisson})
    for (const bool walls : {false, true}) {
      compare({1, 1, field, {n, 1}, walls});
      compare({1, 1, field, {1, n}, walls});
      compare({1, 2, field, {1, n, 1}, walls});
    }
  compare({2, 2, FieldModel::maxwell, {1, n, 1, 1}});
  if (n == 4) {
    compare({1, 1, FieldModel::maxwell, {2, 2}});
    compare({1, 2, FieldModel::poisson, {2, 1, 2}, true});
    compare({2, 2, FieldModel::maxwell, {2, 1, 1, 2}});
  }
  compare({1, 1, FieldModel::none, {n, 1}});
  for (const bool split : {false, true})
    for (const auto kind : {CollisionOptions::Operator::lenard_bernstein, CollisionOptions::Operator::bgk})
      compare({1, 1, FieldModel::maxwell, {n, 1}, false, true, split, kind});
}

/// A plan counts those of one rank and takes them for all.
TEST(SystemNeeds, a_sample_is_reduced_as_often_on_any_ranks) {
  const Exec exec;
  const PhaseBasis basis(1, 2, 1, Family::serendipity);
  const auto reductions = [&](const Comm& comm, const std::array<int, 6>& ranks) {
    SystemOptions options;
    options.field = FieldModel::maxwell;
    options.ranks = ranks;
    const Setting setting{1, 2, options.field, ranks};
    VlasovSystem system(comm, basis, {make_species(setting, "electron", -1, 9)}, options);
    system.start(exec, 0);
    const auto& decomposition = system.decomposition();
    const auto count = [&] {
      double n = 0;
      for (const Comm* one :
           {&decomposition.comm(), &decomposition.conf_comm(), &decomposition.velocity_comm()})
        n += counted(*one, Comm::Call::reduce).messages + counted(*one, Comm::Call::gather).messages;
      return n;
    };
    const double before = count();
    static_cast<void>(system.sample(exec));
    return count() - before;
  };
  const int n = Comm::world().size();
  const double alone = reductions(Comm::self(), {1, 1, 1});
  EXPECT_GT(alone, 5);
  EXPECT_EQ(reductions(Comm::world(), {n, 1, 1}), alone);
  EXPECT_EQ(reductions(Comm::world(), {1, n, 1}), alone);
}

TEST(SystemNeeds, grids_of_ranks_are_all_there_are) {
  const auto grid = make_species({1, 1, FieldModel::none, {}}, "electron", -1, 11).grid;  // 5 x 10 cells

  const auto of_six = rank_grids(grid, {}, 6);

  ASSERT_EQ(of_six.size(), 3U);  // 1 x 6, 2 x 3, 3 x 2; 5 cells are too few for 6 x 1
  for (const auto& ranks : of_six) EXPECT_EQ(ranks[0] * ranks[1], 6);
  EXPECT_TRUE(rank_grids(grid, {}, 59).empty());
  EXPECT_EQ(rank_grids(grid, {2, 0}, 6), (std::vector<std::array<int, 6>>{{2, 3, 1, 1, 1, 1}}));
}

}  // namespace
}  // namespace quintet::kinetics
