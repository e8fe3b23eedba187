#include "physics/particles/observables/observables_options.hpp"

#include <gtest/gtest.h>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

using namespace quintet;

namespace {

template <class Options>
std::string refusal(const std::string& text) {
  Options options;
  try {
    parse_options(parse_yaml(text, "test.yaml"), described(options));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(DynamicsOptions, are_read_with_units) {
  IntegratorOptions options;

  parse_options(
      parse_yaml("ensemble: npt\ntemperature: 300 K\nbarostat: {pressure: 0.1 GPa, coupling: anisotropic}",
                 "test.yaml"),
      described(options));

  EXPECT_EQ(options.ensemble, Ensemble::npt);
  EXPECT_DOUBLE_EQ(*options.temperature, 300);
  EXPECT_NEAR(options.barostat.pressure, 1000, 1e-9);
  EXPECT_EQ(options.barostat.coupling, CellCoupling::anisotropic);
}

TEST(DynamicsOptions, an_ensemble_without_its_temperature_is_refused) {
  EXPECT_NE(refusal<IntegratorOptions>("ensemble: langevin").find("temperature: 300 K"), std::string::npos);
  EXPECT_EQ(refusal<IntegratorOptions>("ensemble: nve"), "");
}

TEST(DynamicsOptions, senseless_values_are_refused) {
  EXPECT_NE(refusal<TimeOptions>("steps: 10\ndt: -1 fs").find("dt"), std::string::npos);
  EXPECT_NE(refusal<IntegratorOptions>("ensemble: nvt\ntemperature: 1 K").find("langevin"),
            std::string::npos);
  EXPECT_NE(
      refusal<IntegratorOptions>("ensemble: nose_hoover\ntemperature: 1 K\nchain_length: 0").find("chain"),
      std::string::npos);
  EXPECT_NE(refusal<RdfOptions>("r_max: 1 angstrom\nbin_width: 2 angstrom").find("bin_width"),
            std::string::npos);
  EXPECT_NE(refusal<MsdOptions>("origin_interval: 0").find("origin_interval"), std::string::npos);
}

TEST(DynamicsOptions, only_the_observers_that_are_asked_for_are_made) {
  ObservablesOptions options;
  parse_options(parse_yaml("rdf: {r_max: 5 angstrom}\nvacf: {}", "test.yaml"), described(options));

  NoForces field;
  const auto observers = make_observables(options, {}, field);

  ASSERT_EQ(observers.size(), 2u);
  EXPECT_EQ(observers[0]->name(), "rdf");
  EXPECT_EQ(observers[1]->name(), "vacf");
}

TEST(Integrators, say_what_they_cannot_do) {
  Simulation open(Comm::self(), gas(5, 30, false), std::make_unique<NoForces>());
  IntegratorOptions npt{.ensemble = Ensemble::npt, .temperature = 300};
  IntegratorOptions cold{.ensemble = Thermostat::nose_hoover, .temperature = 0};

  EXPECT_THROW((void)make_integrator(npt, {}, 1, open.system), InputError);
  EXPECT_THROW((void)make_integrator(cold, {}, 1, open.system), InputError);
}

TEST(Integrators, refuse_the_state_of_another) {
  Simulation s(Comm::self(), gas(5, 30), std::make_unique<NoForces>());
  auto nve = make_integrator({}, {}, 1, s.system);
  auto chain = make_integrator({.ensemble = Thermostat::nose_hoover, .temperature = 300}, {}, 1, s.system);
  auto longer = make_integrator({.ensemble = Thermostat::nose_hoover, .temperature = 300, .chain_length = 5},
                                {}, 1, s.system);
  auto fire = make_integrator({.ensemble = Ensemble::minimise}, {}, 1, s.system);

  EXPECT_THROW(nve->restore(chain->state()), InputError);
  EXPECT_THROW(longer->restore(chain->state()), InputError);
  EXPECT_THROW(fire->restore(nve->state()), InputError);
  EXPECT_NO_THROW(chain->restore(chain->state()));
}

TEST(Integrators, atoms_at_rest_cannot_be_rescaled) {
  Simulation s(Comm::self(), gas(5, 30), std::make_unique<NoForces>());
  auto svr =
      make_integrator({.ensemble = Thermostat::velocity_rescaling, .temperature = 300}, {}, 1, s.system);
  s.system.update_forces(s.exec);

  EXPECT_THROW(svr->step(s.exec, s.system, 0), InputError);
}
