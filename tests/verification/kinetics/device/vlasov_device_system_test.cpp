#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"

/// Whole Vlasov-Maxwell and Vlasov-Poisson systems with f resident on the device against those of the host.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

enum class Walls { none, reflecting, emitting };

struct Setting {
  int cdim, vdim, order;
  Family family;
  FieldModel field;
  Walls walls = Walls::none;
  bool more = false;  ///< a source, and f is kept positive
};

Species make_species(const Setting& s, double charge, double mass, int nv) {
  Species species;
  species.name = charge < 0 ? "electron" : "ion";
  species.charge = charge;
  species.mass = mass;
  species.grid.cdim = s.cdim;
  species.grid.vdim = s.vdim;
  for (int d = 0; d < s.cdim + s.vdim; ++d) {
    const bool x = d < s.cdim;
    species.grid.lower[at(d)] = x ? 0 : -5 / std::sqrt(mass);
    species.grid.upper[at(d)] = x ? 2 * pi : 5 / std::sqrt(mass);
    species.grid.cells[at(d)] = x ? 5 : nv;
    species.grid.periodic[at(d)] = x && (d > 0 || s.walls == Walls::none);
    if (x) continue;
    auto& edges = species.grid.velocity_edges[at(d - s.cdim)];
    for (int i = 0; i <= nv; ++i)
      edges.push_back(species.grid.upper[at(d)] * std::sinh(2.0 * i / nv - 1) / std::sinh(1.0));
  }
  if (s.walls == Walls::reflecting) species.boundary[0] = {Boundary::reflecting, Boundary::reflecting};
  if (s.walls == Walls::emitting) {
    species.boundary[0] = {Boundary::absorbing, Boundary::absorbing};
    Emission emission;
    emission.flux = [](double t) { return 0.1 + 0.05 * t; };
    emission.yield = {0.1, 0.3};
    emission.reflection = 0.2;
    if (charge < 0) species.emission[0][1] = emission;
  }
  return species;
}

constexpr DeviceVlasovFactory here{&quintet_make_device_vlasov, &quintet_device_vlasov_bytes};

std::unique_ptr<VlasovSystem> make_system(const Setting& s, bool device) {
  const Exec exec;
  const PhaseBasis basis(s.cdim, s.vdim, s.order, s.family);
  SystemOptions options;
  options.field = s.field;
  options.keep_positive = s.more;
  if (device) options.device = here;
  if (s.walls != Walls::none && s.field == FieldModel::poisson) {
    options.poisson.boundary[0] = {PoissonOptions::Wall::dirichlet, PoissonOptions::Wall::neumann};
    options.poisson.value[0] = {0.3, 0};
  }
  if (s.walls != Walls::none) options.maxwell.boundary[0] = {FieldBoundary::conductor, FieldBoundary::open};
  auto system = std::make_unique<VlasovSystem>(
      Comm::self(), basis, std::vector<Species>{make_species(s, -1, 1, 11), make_species(s, 1, 4, 9)},
      options);
  for (int i = 0; i < 2; ++i) {
    const double mass = system->species()[at(i)].mass;
    project_phase(
        basis,
        [&](std::span<const double> z) {
          double f = 1 + (i == 0 ? 0.2 : 0.1) * std::cos(z[0]);
          if (s.cdim == 2) f += 0.1 * std::sin(z[1]);
          for (int d = 0; d < s.vdim; ++d) {
            const double v = z[at(s.cdim + d)] - 0.1 * d;
            f *= std::exp(-0.5 * mass * v * v) / std::sqrt(2 * pi / mass);
          }
          return f;
        },
        system->f(i), "f");
  }
  if (s.field == FieldModel::maxwell)
    for (int conf = 0; conf < system->f(0).block.n_conf(); ++conf) {
      system->field()(conf, std::size_t{field_bz}, 0) = 0.3;
      system->field()(conf, std::size_t{field_bx}, 1) = 0.1;
    }
  if (s.more) {
    SystemOptions::Source source;
    source.species = 1;
    source.shape = Distribution("shape", system->f(1).block, system->f(1).n_modes);
    project_phase(
        basis,
        [&](std::span<const double> z) {
          double f = 2 + std::sin(z[0]);
          for (int d = 0; d < s.vdim; ++d) f *= std::exp(-z[at(s.cdim + d)] * z[at(s.cdim + d)]);
          return f;
        },
        source.shape, "shape");
    source.amplitude = [](double t) { return 0.2 + t; };
    system->add_source(std::move(source));
  }
  system->start(exec, 0);
  return system;
}

/// Everything that a sample counts, and f and the field.
std::vector<double> numbers_of(VlasovSystem& system) {
  const Sample sample = system.sample(Exec());
  std::vector<double> all{sample.time, sample.field_energy, sample.kinetic_energy, sample.energy_balance()};
  for (const auto& s : sample.species) {
    all.insert(all.end(),
               {s.m0, s.m2, s.l2, s.m1[0], s.edge.share, s.negative, s.budget.force.energy,
                s.budget.left[0][0].particles, s.budget.left[0][1].energy, s.budget.emitted.particles,
                s.budget.limited.energy, s.budget.limited.momentum[0], s.budget.source.energy});
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

void advance(VlasovSystem& system, int steps) {
  for (int i = 0; i < steps; ++i) system.advance(Exec(), system.stable_dt(Exec()));
}

TEST(VlasovDeviceSystem, runs_are_those_of_the_host) {
  const auto ser = Family::serendipity;
  for (const auto& setting : {Setting{1, 1, 2, ser, FieldModel::poisson},
                              {1, 1, 2, ser, FieldModel::poisson, Walls::reflecting},
                              {1, 1, 3, Family::tensor, FieldModel::poisson, Walls::emitting},
                              {1, 2, 2, ser, FieldModel::maxwell},
                              {1, 2, 1, Family::hybrid, FieldModel::maxwell, Walls::reflecting},
                              {1, 3, 1, Family::hybrid, FieldModel::maxwell},
                              {2, 2, 2, ser, FieldModel::maxwell},
                              {1, 1, 2, ser, FieldModel::poisson, Walls::emitting, true},
                              {1, 2, 3, ser, FieldModel::maxwell, Walls::none, true},
                              {2, 2, 1, Family::hybrid, FieldModel::maxwell, Walls::none, true}}) {
    SCOPED_TRACE(fmt::format("{}x{}v order {}, walls {}", setting.cdim, setting.vdim, setting.order,
                             static_cast<int>(setting.walls)));
    const auto host = make_system(setting, false), device = make_system(setting, true);
    const int steps = setting.cdim == 2 ? 2 : 5;
    advance(*host, steps);
    advance(*device, steps);
    const auto expected = numbers_of(*host);
    EXPECT_GT(expected[1], 1e-6);  // there is a field
    EXPECT_LT(difference(expected, numbers_of(*device)), 2e-13);
    const auto& budget = device->sample(Exec()).species[1].budget;
    EXPECT_EQ(budget.limited.energy != 0, setting.more);  // the limiter had to do something
    EXPECT_EQ(budget.source.energy != 0, setting.more);
  }
}

TEST(VlasovDeviceSystem, a_run_goes_on_elsewhere) {
  const Setting setting{1, 2, 2, Family::serendipity, FieldModel::maxwell, Walls::reflecting};
  for (const bool device_first : {false, true}) {
    const auto whole = make_system(setting, false), before = make_system(setting, device_first),
               after = make_system(setting, !device_first);
    advance(*whole, 6);
    advance(*before, 3);
    for (int i = 0; i < 2; ++i) Kokkos::deep_copy(after->f(i).data, before->f(i).data);
    Kokkos::deep_copy(after->field(), before->field());
    after->resume(Exec(), before->time(), before->step());
    after->set_budgets_here(before->budgets_here());
    after->set_field_budget_here(before->field_budget_here());
    advance(*after, 3);
    EXPECT_LT(difference(numbers_of(*whole), numbers_of(*after)), 2e-13);
  }
}

TEST(VlasovDeviceSystem, on_one_device_a_restart_keeps_every_bit) {
  const Setting setting{1, 2, 2, Family::serendipity, FieldModel::maxwell, Walls::reflecting, true};
  const auto whole = make_system(setting, true), after = make_system(setting, true);
  advance(*whole, 3);
  for (int i = 0; i < 2; ++i) Kokkos::deep_copy(after->f(i).data, whole->f(i).data);
  Kokkos::deep_copy(after->field(), whole->field());
  after->resume(Exec(), whole->time(), whole->step());
  after->set_budgets_here(whole->budgets_here());
  after->set_field_budget_here(whole->field_budget_here());
  advance(*whole, 3);
  advance(*after, 3);
  EXPECT_EQ(difference(numbers_of(*whole), numbers_of(*after)), 0);
}

TEST(VlasovDeviceSystem, what_a_device_cannot_do_is_refused) {
  const Setting setting{1, 1, 2, Family::serendipity, FieldModel::poisson};
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  const auto make = [&](const std::function<void(SystemOptions&)>& change) {
    SystemOptions options;
    options.field = FieldModel::poisson;
    options.device = here;
    change(options);
    const VlasovSystem system(Comm::self(), basis, {make_species(setting, -1, 1, 8)}, options);
  };
  EXPECT_NO_THROW(make([](SystemOptions&) {}));
  EXPECT_THROW(make([](SystemOptions& o) { o.collisions.emplace().frequency = {{0.1}}; }), InputError);
  EXPECT_THROW(make([](SystemOptions& o) { o.ranks[1] = 2; }), InputError);
}

}  // namespace
}  // namespace quintet::kinetics
