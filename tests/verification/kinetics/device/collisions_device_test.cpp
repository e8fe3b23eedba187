#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "io/config/tree.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/advection/exterior.hpp"
#include "physics/kinetics/device/resident_collisions.hpp"
#include "tests/support/copy_count.hpp"
#include "tests/verification/kinetics/collisions/collisions_case.hpp"
#include "tests/verification/kinetics/device/device_case.hpp"
#include "tests/verification/kinetics/device/device_factory.hpp"

/// Collisions of a resident f against those of the host: every basis, on grids
/// of unlike numbers of cells, of two species with different masses.
namespace quintet::kinetics {
namespace {

using Kind = CollisionOptions::Operator;

CollisionOptions make_options(Kind kind, bool varies) {
  CollisionOptions options;
  options.kind = kind;
  options.frequency = {{0.5, 0.8}, {0.6, 0.3}};
  if (!varies) return options;
  options.profile_changes = true;
  options.spitzer = true;
  options.profile.assign(2, std::vector<PointFunction>(2));
  options.profile[0][1] = options.profile[1][0] = [](std::span<const double> z) {
    return 1 + 0.5 * std::sin(6 * z[0] + z.back());
  };
  return options;
}

std::vector<PhaseGrid> make_grids(const BasisRow& b, bool stretched) {
  const std::array<int, 3> cells = b.vdim == 1   ? std::array{35, 1, 1}
                                   : b.vdim == 2 ? std::array{9, 11, 1}
                                                 : std::array{5, 4, 7};
  const std::array<int, 3> of_ions{cells[0] - 1, b.vdim > 1 ? cells[1] - 2 : 1,
                                   b.vdim > 2 ? cells[2] - 2 : 1};
  const double stretch = stretched ? 1 : 0;
  return {collision_grid(b.cdim, b.vdim, cells, -5, 4.5, stretch),
          collision_grid(b.cdim, b.vdim, of_ions, -3.2, 3, stretch)};
}

/// Of rates, by their greatest. What moments leave of round-off the diffusion multiplies by 1/dv^2.
double round_off() { return test::bound(1e-12, 1e-11); }

/// The same collisions on the host and on a device: f, rates, and three lists to work on.
struct Pair {
  PhaseBasis basis;
  Decomposition decomposition;
  std::vector<Species> species;
  std::vector<std::unique_ptr<ResidentOperator>> operators;
  std::vector<ResidentOperator*> resident;
  using Lists = std::array<std::vector<Distribution>, 4>;
  Lists here, there;
  std::unique_ptr<Collisions> host, device;

  Pair(const BasisRow& b, const std::vector<PhaseGrid>& grids, const CollisionOptions& options)
      : basis(b.cdim, b.vdim, b.order, b.family),
        decomposition(Comm::self(), grids[0], {}),
        species(CollisionRun::make_species(grids, {1, 3})) {
    for (int s = 0; s < 2; ++s) {
      const auto block = decomposition.block(species[s].grid);
      const auto open = open_edges(decomposition, species[s]);
      operators.push_back(std::make_unique<ResidentOperator>(
          block, Flux::upwind, open, make_engine(device_vlasov_options(basis, block, Flux::upwind, open))));
      resident.push_back(operators.back().get());
      for (auto* lists : {&here, &there})
        for (auto& list : *lists) list.emplace_back("f", block, basis.size());
      project_phase(
          basis,
          [&](std::span<const double> z) {
            std::vector<double> of(z.begin(), z.end());
            for (int d = b.cdim; d < b.cdim + b.vdim; ++d) of[d] *= 1 + 0.4 * s;
            return lumpy(b.cdim, of);
          },
          here[0][s], "f");
      Kokkos::deep_copy(there[0][s].data, here[0][s].data);
      for (const auto& list : there) operators.back()->hold(list[s]);
      for (const auto& list : there) operators.back()->upload(list[s]);
    }
    host = std::make_unique<Collisions>(decomposition, basis, species, options);
    device = std::make_unique<Collisions>(
        decomposition, basis, species, options,
        resident_collision_engines(decomposition, basis, species, resident, device_factory()));
  }

  void add(double weight) {
    host->add(Exec(), time, here[0], weight, here[1]);
    device->add(Exec(), time, there[0], weight, there[1]);
  }
  void advance(double dt) {
    host->advance(Exec(), time, dt, here[0], {&here[1], &here[2], &here[3]});
    device->advance(Exec(), time, dt, there[0], {&there[1], &there[2], &there[3]});
  }
  void expect_same(int list, double bound) {
    for (int s = 0; s < 2; ++s) {
      const auto &expected = here[list][s], &found = there[list][s];
      operators[s]->download(found);
      EXPECT_GT(greatest(expected), 1e-3);
      EXPECT_LT(difference(expected, found), bound * greatest(expected)) << "species " << s;
    }
  }
  /// Cell means of the device's rates: density of each species, momentum and energy of both.
  void expect_conserved() {
    const auto a = all_moments(decomposition, basis, there[1][0]),
               b = all_moments(decomposition, basis, there[1][1]);
    const double scale = greatest(there[1][0]);
    EXPECT_GT(std::abs(a(0, basis.vdim() + 1, 0)), 1e-3 * scale);  // there is something to conserve
    for (int conf = 0; conf < there[1][0].block.n_conf(); ++conf) {
      EXPECT_NEAR(a(conf, 0, 0), 0, round_off() * scale);
      EXPECT_NEAR(b(conf, 0, 0), 0, round_off() * scale);
      for (int c = 1; c <= basis.vdim() + 1; ++c)
        EXPECT_NEAR(a(conf, c, 0) + 3 * b(conf, c, 0), 0, 10 * round_off() * scale) << "moment " << c;
    }
  }
  static constexpr double time = 0.2;
};

std::string text(const BasisRow& b, Kind kind, bool varies, bool stretched) {
  return fmt::format("{}x{}v {} of order {}, {}{}{}", b.cdim, b.vdim, name(b.family), b.order,
                     kind == Kind::bgk ? "BGK" : "Lenard-Bernstein", varies ? ", varying rates" : "",
                     stretched ? ", stretched" : "");
}

/// Star moments, the stand-in for v^2 of linear bases, conserve a sum that differs from M2.
bool has_square(const BasisRow& b) { return b.order > 1 || b.family == Family::hybrid; }

TEST(CollisionsDevice, rates_of_every_basis_are_those_of_the_host) {
  for (const auto& basis : bases())
    for (const auto kind : {Kind::lenard_bernstein, Kind::bgk})
      for (const bool varies : {false, true}) {
        const bool stretched = !varies && (has_square(basis) || kind == Kind::bgk);
        SCOPED_TRACE(text(basis, kind, varies, stretched));
        Pair pair(basis, make_grids(basis, stretched), make_options(kind, varies));
        pair.add(0.7);
        pair.expect_same(1, round_off());
        EXPECT_NEAR(pair.device->frequency(), pair.host->frequency(), 1e-12 * pair.host->frequency());
        if (has_square(basis)) pair.expect_conserved();
        const auto &f = pair.there[0], &before = pair.here[0];
        const double rate = pair.device->frequency(Exec(), Pair::time, f);
        EXPECT_NEAR(rate, pair.host->frequency(Exec(), Pair::time, before), 1e-12 * rate);
      }
}

TEST(CollisionsDevice, split_collisions_are_those_of_the_host) {
  const auto ser = Family::serendipity;
  for (const auto& basis : {BasisRow{1, 1, 2, ser}, {1, 2, 3, Family::tensor}, {2, 2, 2, ser}})
    for (const auto kind : {Kind::lenard_bernstein, Kind::bgk})
      for (const bool alone : {false, true}) {
        auto options = make_options(kind, true);
        options.split = true;
        if (alone) options.frequency[0][1] = options.frequency[1][0] = 0;
        SCOPED_TRACE(text(basis, kind, true, true));
        Pair pair(basis, make_grids(basis, true), options);
        for (int step = 0; step < 2; ++step) pair.advance(0.02);
        pair.expect_same(0, round_off());
      }
}

TEST(CollisionsDevice, one_species_may_collide_alone_and_without_conserving) {
  auto options = make_options(Kind::lenard_bernstein, false);
  options.frequency = {{0.5, 0}, {0, 0}};
  options.conserving = false;
  const BasisRow basis{1, 2, 1, Family::hybrid};
  Pair pair(basis, make_grids(basis, true), options);
  pair.add(1);
  pair.operators[0]->download(pair.there[1][0]);
  pair.operators[1]->download(pair.there[1][1]);
  EXPECT_LT(difference(pair.here[1][0], pair.there[1][0]), round_off() * greatest(pair.here[1][0]));
  EXPECT_EQ(greatest(pair.there[1][1]), 0);
}

/// What collisions of one state say where they are refused; "" where they are not.
std::string refusal(Collisions& collisions, const Pair::Lists& f) {
  try {
    collisions.add(Exec(), 0, f[0], 1, f[1]);
    return "";
  } catch (const NumericalError& error) {
    return error.what();
  }
}

TEST(CollisionsDevice, what_the_host_refuses_is_refused_in_the_same_words) {
  const std::vector<std::pair<const char*, std::function<double(double square, double f)>>> states{
      {"density is negative", [](double, double f) { return -f; }},
      {"vth^2 is negative", [](double square, double) { return square < 1   ? 1
                                                               : square > 6 ? -0.1
                                                                            : 0; }},
      {"nothing is there", [](double, double) { return 0; }},
      {"no number", [](double square, double f) { return square > 1 ? std::nan("") : f; }}};
  for (const auto& b :
       {BasisRow{1, 1, 2, Family::serendipity}, {1, 2, 1, Family::hybrid}, {2, 2, 1, Family::serendipity}})
    for (const auto kind : {Kind::lenard_bernstein, Kind::bgk})
      for (const bool among : {false, true})
        for (const auto& [name, change] : states) {
          SCOPED_TRACE(fmt::format("{}: {}", text(b, kind, false, false), name));
          auto options = make_options(kind, false);
          if (!among) options.frequency = {{0.5, 0}, {0, 0.5}};
          Pair pair(b, make_grids(b, false), options);
          ASSERT_EQ(refusal(*pair.host, pair.here) + refusal(*pair.device, pair.there), "");
          const Distribution &here = pair.here[0][1], &there = pair.there[0][1];
          const PhaseBlock& block = here.block;
          for (int row = 0; row < block.n_rows(); ++row)
            for (int j = 0; j < block.n_last(); ++j) {
              double square = 0;
              auto v = block.row_index(row);
              v[b.vdim - 1] = j;
              for (int d = 0; d < b.vdim; ++d) square += std::pow(block.grid.centre(b.cdim + d, v[d]), 2);
              for (int m = 0; m < here.n_modes; ++m) {
                double& f = here.at(1, row, j, m);
                f = there.at(1, row, j, m) = m == 0 ? change(square, f) : 0;
              }
            }
          pair.operators[1]->upload(there);
          const auto expected = refusal(*pair.host, pair.here);
          EXPECT_NE(expected.find("ions"), std::string::npos) << expected;
          EXPECT_NE(expected.find(b.cdim == 1 ? "cell (1)" : "cell (0, 1)"), std::string::npos) << expected;
          EXPECT_EQ(refusal(*pair.device, pair.there), expected);
        }
}

TEST(CollisionsDevice, cells_that_are_all_but_empty_are_those_of_the_host) {
  for (const auto kind : {Kind::lenard_bernstein, Kind::bgk})
    for (const bool varies : {false, true}) {
      const BasisRow b{1, 2, 2, Family::serendipity};
      Pair pair(b, make_grids(b, false), make_options(kind, varies));
      for (std::size_t s = 0; s < 2; ++s) {
        const Distribution &here = pair.here[0][s], &there = pair.there[0][s];
        for (int row = 0; row < here.block.n_rows(); ++row)
          for (int j = 0; j < here.block.n_last(); ++j)
            for (int m = 0; m < here.n_modes; ++m) there.at(1, row, j, m) = here.at(1, row, j, m) *= 1e-40;
        pair.operators[s]->upload(there);
      }
      pair.add(1);
      for (std::size_t s = 0; s < 2; ++s) {
        const Distribution &expected = pair.here[1][s], &found = pair.there[1][s];
        pair.operators[s]->download(found);
        double scale = 0, worst = 0;  // of that cell alone
        for (int row = 0; row < expected.block.n_rows(); ++row)
          for (int j = 0; j < expected.block.n_last(); ++j)
            for (int m = 0; m < expected.n_modes; ++m) {
              scale = std::max(scale, std::abs(expected.at(1, row, j, m)));
              worst = std::max(worst, std::abs(expected.at(1, row, j, m) - found.at(1, row, j, m)));
            }
        EXPECT_GT(scale, 0);
        EXPECT_LT(worst, 1e-11 * scale);
      }
    }
}

/// Moments, rates, and what is solved for stay on the device.
TEST(CollisionsDevice, the_host_sees_only_what_it_needs) {
  if (test::on_gpu()) GTEST_SKIP() << test::hooks_see_the_host;
  const BasisRow b{2, 2, 2, Family::serendipity};
  for (const bool among : {false, true}) {
    auto options = make_options(Kind::lenard_bernstein, false);
    if (!among) options.frequency = {{0.5, 0}, {0, 0.5}};
    Pair pair(b, make_grids(b, false), options);
    pair.device->add(Exec(), 0, pair.there[0], 1, pair.there[1]);
    const CopyCount count;
    pair.device->add(Exec(), 0, pair.there[0], 1, pair.there[1]);
    const double n_conf = pair.here[0][0].block.n_conf();
    // Whether each cell was refused: of each species, and of rates and gains where they depend on states.
    EXPECT_EQ(CopyCount::bytes(), 8 * n_conf * (among ? 3 : 2));
  }
}

TEST(CollisionsDevice, bytes_are_counted_before_they_are_taken) {
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  const auto grid = collision_grid(1, 1, {64, 1, 1});
  const Decomposition decomposition(Comm::self(), grid, {});
  const auto block = decomposition.block(grid);
  auto options = self_collisions(0.3);
  const double diffusing = resident_collision_bytes(basis, block, 0, options, device_factory());
  EXPECT_GT(diffusing, 8.0 * 192 * 64);
  options.kind = Kind::bgk;
  EXPECT_GT(resident_collision_bytes(basis, block, 0, options, device_factory()),
            8.0 * 2 * 6 * 3 * 64);  // tables
  options.frequency = {{0}};
  EXPECT_EQ(resident_collision_bytes(basis, block, 0, options, device_factory()), 0);
}

}  // namespace
}  // namespace quintet::kinetics
