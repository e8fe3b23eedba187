#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "tests/support/copy_count.hpp"
#include "tests/verification/kinetics/device/device_system_case.hpp"

/// Whole Vlasov-Maxwell and Vlasov-Poisson systems with f resident on the device against those of the host.
namespace quintet::kinetics {
namespace {

/// Everything that a sample counts, and f and the field.
std::vector<double> numbers_of(VlasovSystem& system) {
  const Sample sample = system.sample(Exec());
  std::vector<double> all{sample.time, sample.field_energy, sample.kinetic_energy, sample.energy_balance()};
  for (const auto& s : sample.species) {
    all.insert(all.end(),
               {s.m0, s.m2, s.l2, s.m1[0], s.edge.share, s.edge.direction + 0.5 * s.edge.side, s.negative,
                s.least_mean, s.greatest_mean, s.budget.force.energy, s.budget.left[0][0].particles,
                s.budget.left[0][1].energy, s.budget.emitted.particles, s.budget.limited.energy,
                s.budget.limited.momentum[0], s.budget.source.energy});
  }
  for (int i = 0; i < 2; ++i) {
    const Distribution& f = system.f(i);
    for (int conf = 0; conf < f.block.n_conf(); ++conf)
      for (int row = 0; row < f.block.n_rows(); ++row)
        for (int j = 0; j < f.block.n_last(); ++j)
          for (int m = 0; m < f.n_modes; ++m) all.push_back(f.at(conf, row, j, m));
  }
  const ConfField& field = system.field();
  all.insert(all.end(), field.data(), field.data() + field.size());
  return all;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(a[i] - b[i]) / (1 + std::abs(a[i])));
  return worst;
}

/// Of what is kept, over some steps.
double round_off() { return test::bound(1e-13, 1e-12); }

void advance(VlasovSystem& system, int steps) {
  for (int i = 0; i < steps; ++i) system.advance(Exec(), system.stable_dt(Exec()));
}

TEST(VlasovDeviceSystem, runs_are_those_of_the_host) {
  const auto ser = Family::serendipity;
  for (const auto& setting :
       {Setting{1, 1, 2, ser, FieldModel::poisson},
        {1, 1, 2, ser, FieldModel::poisson, Walls::reflecting},
        {1, 1, 3, Family::tensor, FieldModel::poisson, Walls::emitting},
        {1, 1, 2, ser, FieldModel::poisson, Walls::leaving},
        {1, 2, 2, ser, FieldModel::maxwell},
        {1, 2, 1, Family::hybrid, FieldModel::maxwell, Walls::reflecting},
        {1, 3, 1, Family::hybrid, FieldModel::maxwell},
        {2, 2, 2, ser, FieldModel::maxwell},
        {1, 1, 2, ser, FieldModel::poisson, Walls::emitting, true},
        {1, 2, 3, ser, FieldModel::maxwell, Walls::none, true},
        {2, 2, 1, Family::hybrid, FieldModel::maxwell, Walls::none, true},
        {1, 1, 2, ser, FieldModel::poisson, Walls::reflecting, false, Collide::lbo},
        {1, 1, 3, Family::tensor, FieldModel::poisson, Walls::none, false, Collide::bgk},
        {1, 2, 2, ser, FieldModel::maxwell, Walls::none, false, Collide::lbo_split},
        {1, 2, 1, Family::hybrid, FieldModel::maxwell, Walls::none, true, Collide::bgk_split},
        {2, 2, 2, ser, FieldModel::maxwell, Walls::none, false, Collide::lbo},
        {2, 2, 2, Family::tensor, FieldModel::maxwell, Walls::none, false, Collide::bgk}}) {
    SCOPED_TRACE(fmt::format("{}x{}v order {}, walls {}, collisions {}", setting.cdim, setting.vdim,
                             setting.order, static_cast<int>(setting.walls),
                             static_cast<int>(setting.collide)));
    const auto host = make_system(setting, false), device = make_system(setting, true);
    const int steps = setting.cdim == 2 ? 2 : 5;
    advance(*host, steps);
    advance(*device, steps);
    const auto expected = numbers_of(*host);
    EXPECT_GT(expected[1], 1e-6);  // there is a field
    EXPECT_LT(difference(expected, numbers_of(*device)), test::bound(2e-13, 2e-12));
    const auto budget = device->sample(Exec()).species[1].budget;
    EXPECT_EQ(budget.limited.energy != 0, setting.more);  // the limiter had to do something
    EXPECT_EQ(budget.source.energy != 0, setting.more);
  }
}

/// f stays there: what a sample takes is a few numbers a configuration cell, whatever velocity space has.
TEST(VlasovDeviceSystem, a_sample_leaves_f_where_it_is) {
  if (test::on_gpu()) GTEST_SKIP() << test::hooks_see_the_host;
  const auto system = make_system({2, 2, 2, Family::serendipity, FieldModel::maxwell}, true);
  const double n_conf = system->f(0).block.n_conf(), n_modes = system->basis().conf().size();
  advance(*system, 1);
  static_cast<void>(system->sample(Exec()));  // brings what all samples need
  advance(*system, 1);
  const CopyCount count;
  static_cast<void>(system->sample(Exec()));
  static_cast<void>(system->moment(Exec(), 0, Moment::m2));
  // M0, M1 and M2, and ten more numbers, of both species; M0 to M2 once more.
  EXPECT_EQ(CopyCount::bytes(), 8 * n_conf * (n_modes * (2 * 4 + 4) + 2 * 10));
}

TEST(VlasovDeviceSystem, reflecting_walls_keep_every_particle) {
  for (const auto& [cdim, vdim, order] : {std::array{1, 1, 3}, {1, 2, 2}, {1, 3, 1}, {2, 2, 2}}) {
    const auto system =
        make_system({cdim, vdim, order, Family::serendipity, FieldModel::maxwell, Walls::reflecting}, true);
    const auto before = system->sample(Exec());
    advance(*system, 4);
    const auto after = system->sample(Exec());
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_NEAR(after.species[s].m0, before.species[s].m0, round_off() * before.species[s].m0);
      EXPECT_NEAR(after.species[s].budget.left_altogether().particles, 0, round_off() * before.species[s].m0);
    }
  }
}

TEST(VlasovDeviceSystem, what_walls_take_and_give_is_counted) {
  for (const auto walls : {Walls::emitting, Walls::giving}) {
    const auto system = make_system({1, 2, 2, Family::serendipity, FieldModel::poisson, walls}, true);
    const auto before = system->sample(Exec());
    advance(*system, 4);
    const auto after = system->sample(Exec());
    for (std::size_t s = 0; s < 2; ++s) {
      const double n = before.species[s].m0, left = after.species[s].budget.left_altogether().particles;
      EXPECT_NEAR(after.species[s].m0 + left, n, round_off() * n);
      EXPECT_GT(left, 1e-3 * n);
      const auto& budget = after.species[s].budget;
      const double energy = 0.5 * (s == 0 ? 1 : 4) * (after.species[s].m2 - before.species[s].m2);
      EXPECT_NEAR(energy, budget.force.energy - budget.left_altogether().energy,
                  round_off() * before.energy());
    }
    EXPECT_GT(after.species[0].budget.emitted.particles, 0.1 * after.time);
  }
}

TEST(VlasovDeviceSystem, a_run_goes_on_elsewhere) {
  const auto ser = Family::serendipity;
  for (const auto& [setting, device_first] :
       {std::pair{Setting{1, 2, 2, ser, FieldModel::maxwell, Walls::reflecting, false, Collide::lbo}, false},
        {Setting{1, 2, 2, ser, FieldModel::maxwell, Walls::reflecting, false, Collide::lbo}, true},
        {Setting{1, 2, 2, ser, FieldModel::poisson, Walls::emitting}, false},
        {Setting{1, 2, 2, ser, FieldModel::poisson, Walls::emitting}, true}}) {
    const auto whole = make_system(setting, false), before = make_system(setting, device_first),
               after = make_system(setting, !device_first);
    advance(*whole, 6);
    advance(*before, 3);
    for (int i = 0; i < 2; ++i) Kokkos::deep_copy(after->f(i).data, before->f(i).data);
    Kokkos::deep_copy(after->field(), before->field());
    after->resume(Exec(), before->time(), before->step());
    after->set_collision_frequency(before->collision_frequency());
    after->set_budgets_here(before->budgets_here());
    after->set_field_budget_here(before->field_budget_here());
    advance(*after, 3);
    EXPECT_LT(difference(numbers_of(*whole), numbers_of(*after)), test::bound(2e-13, 2e-12));
  }
}

TEST(VlasovDeviceSystem, on_one_device_a_restart_keeps_every_bit) {
  for (const auto walls : {Walls::reflecting, Walls::emitting}) {
    const Setting setting{1, 2, 2, Family::serendipity, FieldModel::maxwell, walls, true, Collide::bgk};
    const auto whole = make_system(setting, true), after = make_system(setting, true);
    advance(*whole, 3);
    for (int i = 0; i < 2; ++i) Kokkos::deep_copy(after->f(i).data, whole->f(i).data);
    Kokkos::deep_copy(after->field(), whole->field());
    after->resume(Exec(), whole->time(), whole->step());
    after->set_collision_frequency(whole->collision_frequency());
    after->set_budgets_here(whole->budgets_here());
    after->set_field_budget_here(whole->field_budget_here());
    advance(*whole, 3);
    advance(*after, 3);
    EXPECT_EQ(difference(numbers_of(*whole), numbers_of(*after)), 0);
  }
}

}  // namespace
}  // namespace quintet::kinetics
