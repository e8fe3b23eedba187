#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/advection/exterior.hpp"
#include "tests/support/copy_count.hpp"
#include "tests/verification/kinetics/device/device_system_case.hpp"

/// Systems on a device of each rank, which share the cells of x or v, against one on the host.
namespace quintet::kinetics {
namespace {

/// Greatest difference between this rank's part of f and the whole.
double difference(const PhaseBasis& basis, const Distribution& part, const Distribution& whole) {
  double most = 0;
  const auto& begin = part.block.begin;
  const int cdim = basis.cdim(), vdim = basis.vdim();
  for (int conf = 0; conf < part.block.n_conf(); ++conf) {
    auto x = part.block.conf_index(conf);
    for (int d = 0; d < cdim; ++d) x[place_of(d)] += begin[place_of(d)];
    for (int row = 0; row < part.block.n_rows(); ++row) {
      auto v = part.block.row_index(row);
      for (int d = 0; d < vdim - 1; ++d) v[place_of(d)] += begin[place_of(cdim + d)];
      for (int j = 0; j < part.block.n_last(); ++j)
        for (int m = 0; m < part.n_modes; ++m)
          most = std::max(most, std::abs(part.at(conf, row, j, m) -
                                         whole.at(whole.block.conf_number(x), whole.block.row_number(v),
                                                  begin[place_of(cdim + vdim - 1)] + j, m)));
    }
  }
  return most;
}

void expect_as_one(const Setting& setting, const std::array<int, 6>& ranks) {
  SCOPED_TRACE(fmt::format("{}x{}v order {}, collisions {}, {} x {} x {} x {} ranks", setting.cdim,
                           setting.vdim, setting.order, static_cast<int>(setting.collide), ranks[0], ranks[1],
                           ranks[2], ranks[3]));
  const Exec exec;
  const auto whole = make_system(setting, false), part = make_system(setting, true, Comm::world(), ranks);
  for (int step = 0; step < 3; ++step) {
    const double dt = whole->stable_dt(exec);
    EXPECT_LT(part->stable_dt(exec), 1.5 * dt);  // bounds of parts are sharper
    EXPECT_GT(part->stable_dt(exec), (1 - 1e-12) * dt);
    whole->advance(exec, 0.6 * dt);
    part->advance(exec, 0.6 * dt);
  }
  for (int s = 0; s < 2; ++s)
    EXPECT_LT(Comm::world().maximum(difference(part->basis(), part->f(s), whole->f(s))),
              test::bound(1e-12, 1e-11))
        << "species " << s;
  const Sample expected = whole->sample(exec), found = part->sample(exec);
  EXPECT_NEAR(found.energy_balance(), expected.energy_balance(),
              test::bound(1e-12, 1e-11) * expected.energy());
  EXPECT_NEAR(found.species[1].budget.force.energy, expected.species[1].budget.force.energy,
              test::bound(1e-12, 1e-11) * expected.energy());
}

TEST(DeviceRanks, that_share_velocity_space_are_as_one_on_the_host) {
  const int n = Comm::world().size();
  const auto ser = Family::serendipity;
  expect_as_one({1, 1, 2, ser, FieldModel::poisson, Walls::none, false, Collide::lbo}, {1, n});
  expect_as_one({1, 1, 3, Family::tensor, FieldModel::poisson, Walls::none, true, Collide::bgk_split},
                {1, n});
  for (const auto& ranks : {std::array<int, 6>{1, n, 1}, {1, 1, n}}) {
    expect_as_one({1, 2, 2, ser, FieldModel::maxwell}, ranks);
    expect_as_one({1, 2, 1, Family::hybrid, FieldModel::maxwell, Walls::none, true, Collide::lbo_split},
                  ranks);
    expect_as_one({1, 2, 2, ser, FieldModel::maxwell, Walls::none, false, Collide::bgk}, ranks);
  }
  expect_as_one({2, 2, 2, ser, FieldModel::maxwell, Walls::none, false, Collide::lbo}, {1, 1, n, 1});
  expect_as_one({1, 3, 1, Family::hybrid, FieldModel::maxwell, Walls::none, false, Collide::lbo},
                {1, 1, n, 1});
}

TEST(DeviceRanks, that_share_velocity_space_have_walls) {
  const int n = Comm::world().size();
  const auto ser = Family::serendipity;
  expect_as_one({1, 1, 2, ser, FieldModel::poisson, Walls::giving}, {1, n});
  expect_as_one({1, 2, 1, Family::hybrid, FieldModel::poisson, Walls::giving}, {1, n, 1});
  expect_as_one({1, 2, 2, ser, FieldModel::poisson, Walls::emitting, true}, {1, 1, n});
  expect_as_one({1, 2, 2, ser, FieldModel::maxwell, Walls::reflecting}, {1, 1, n});
  expect_as_one({2, 2, 1, Family::hybrid, FieldModel::maxwell, Walls::emitting}, {1, 1, 1, n});
}

TEST(DeviceRanks, that_share_space_are_as_one_on_the_host) {
  const int n = Comm::world().size();
  const auto ser = Family::serendipity;
  expect_as_one({1, 1, 2, ser, FieldModel::poisson, Walls::none, true}, {n, 1});
  expect_as_one({1, 1, 3, Family::tensor, FieldModel::poisson, Walls::emitting}, {n, 1});
  expect_as_one({1, 2, 2, ser, FieldModel::maxwell, Walls::reflecting, false, Collide::lbo}, {n, 1, 1});
  expect_as_one({2, 2, 1, Family::hybrid, FieldModel::maxwell}, {1, n, 1, 1});
}

/// f and the budgets of both species after some steps, and the bytes that Kokkos copied to and from the
/// device in one of them.
struct Steps {
  std::vector<double> numbers;
  std::int64_t bytes = 0, sent = 0, fields = 0, walls = 0;
};
/// Of a species in a stage at walls in direction 0: each counts what leaves it, with a number for each mode
/// of its faces, one for each v_d and one for v.v; the wall that emits learns that of both species before,
/// and is told its flux.
std::int64_t numbers_at_walls(const Setting& setting, VlasovSystem& system, int s) {
  if (setting.walls == Walls::none) return 0;
  const PhaseBlock& block = system.f(s).block;
  const auto& conf = system.basis().conf();
  int n_face_modes = 0;
  for (int a = 0; a < conf.size(); ++a) n_face_modes += conf.mode(a)[0] == 0;
  const std::int64_t n_faces = block.n_conf() / block.extent[0],
                     counted = n_faces * (n_face_modes + setting.vdim + 1);
  const bool lower = block.begin[0] == 0, upper = block.begin[0] + block.extent[0] == block.grid.cells[0];
  const bool emits = setting.walls != Walls::reflecting && s == 0 && upper;
  return (lower + upper) * counted + (emits ? 2 * counted + n_faces * n_face_modes : 0);
}
Steps steps_of(const Setting& setting, const std::array<int, 6>& ranks, bool directly) {
  const Exec exec;
  const auto system = make_system(setting, true, Comm::world(), ranks, directly);
  const double dt = 0.6 * system->stable_dt(exec);
  system->advance(exec, dt);
  Steps steps;
  {
    const auto sent = [&] {
      return system->decomposition().comm().counter(Comm::Call::point_to_point).bytes;
    };
    const auto before = sent();
    const CopyCount count;
    system->advance(exec, dt);
    steps.bytes = CopyCount::bytes();
    steps.sent = sent() - before;
  }
  for (int s = 0; s < 2; ++s) {
    const Distribution& f = system->f(s);
    steps.numbers.insert(steps.numbers.end(), f.data.data(), f.data.data() + f.data.size());
    // Of each stage: A and B up, M0 and M1 down.
    steps.fields += 3 * 8 * std::int64_t{f.block.n_conf()} * system->basis().conf().size() *
                    (6 + 1 + system->basis().vdim());
    steps.walls += 3 * 8 * numbers_at_walls(setting, *system, s);
  }
  return steps;
}

TEST(DeviceRanks, send_from_the_device_or_through_the_host) {
  const int n = Comm::world().size();
  const auto ser = Family::serendipity;
  for (const auto& [setting, ranks] :
       {std::pair{Setting{1, 1, 2, ser, FieldModel::poisson}, std::array<int, 6>{n, 1}},
        {Setting{1, 1, 2, ser, FieldModel::poisson}, {1, n}},
        {Setting{1, 2, 1, Family::hybrid, FieldModel::poisson}, {1, n, 1}},
        {Setting{1, 1, 2, ser, FieldModel::poisson, Walls::emitting}, {n, 1}},
        {Setting{1, 2, 2, ser, FieldModel::poisson, Walls::giving}, {1, n, 1}},
        {Setting{1, 2, 2, ser, FieldModel::poisson, Walls::reflecting}, {1, 1, n}},
        {Setting{2, 2, 1, Family::hybrid, FieldModel::poisson, Walls::reflecting}, {1, n, 1, 1}},
        {Setting{1, 1, 2, ser, FieldModel::poisson, Walls::none, false, Collide::lbo}, {1, n}},
        {Setting{1, 2, 1, Family::hybrid, FieldModel::poisson, Walls::none, false, Collide::lbo},
         {1, n, 1}}}) {
    const Steps direct = steps_of(setting, ranks, true), staged = steps_of(setting, ranks, false);
    const auto name =
        fmt::format("{}x{}v_{}_{}_walls_{}", setting.cdim, setting.vdim, ranks[0],
                    setting.collide == Collide::no ? "free" : "lbo", static_cast<int>(setting.walls));
    RecordProperty(name + "_bytes_direct", std::to_string(direct.bytes));
    RecordProperty(name + "_bytes_staged", std::to_string(staged.bytes));
    EXPECT_EQ(direct.numbers, staged.numbers) << name;
    EXPECT_GT(direct.sent, 0) << name;
    if (test::on_gpu()) continue;  // CopyCount does not see its copies
    // As much comes as goes.
    EXPECT_EQ(staged.bytes, direct.bytes + 2 * direct.sent) << name;
    if (setting.collide == Collide::no) {
      EXPECT_EQ(direct.bytes, direct.fields + direct.walls) << name;
    }
  }
}

}  // namespace
}  // namespace quintet::kinetics
