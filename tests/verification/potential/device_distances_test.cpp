#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/device/device_force_field.hpp"
#include "surrogates/potential/model/dp_writer.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/verification/potential/models.hpp"

// se_e2_r, distances alone, on the device engine against the engine for CPUs.
namespace quintet::potential {
namespace {

std::unique_ptr<DeviceForceField> device_field(const Model& model, const DeepPotentialOptions& options = {}) {
  return std::make_unique<DeviceForceField>(model, options, std::nullopt,
                                            QUINTET_DEVICE_FUNCTION(quintet_make_device_potential));
}
Model model_named(const std::string& name) {
  return read_dp(source("tests/data/deep_potential/" + name + ".dp"));
}
Configuration configuration_of(const std::string& configuration = "triclinic") {
  return case_named(source("tests/data/deep_potential/se_e2_r.ref.json"), model_named("se_e2_r").type_names,
                    configuration)
      .configuration;
}

void expect_equal(const Evaluated& found, const Evaluated& expected, double tolerance,
                  const std::string& name) {
  const double n = expected.atom_energy.size();
  ASSERT_GT(largest(expected.force), 1e-3) << name;
  EXPECT_NEAR(found.energy, expected.energy, tolerance * std::max(n, std::abs(expected.energy))) << name;
  EXPECT_LE(largest_difference(found.force, expected.force),
            tolerance * std::max(1.0, largest(expected.force)))
      << name;
  EXPECT_LE(largest_difference(found.atom_energy, expected.atom_energy),
            tolerance * std::max(1.0, largest(expected.atom_energy)))
      << name;
  const std::vector<double> a(found.virial.begin(), found.virial.end()),
      b(expected.virial.begin(), expected.virial.end());
  EXPECT_LE(largest_difference(a, b), tolerance * n * std::max(1.0, largest(b))) << name;
  EXPECT_EQ(found.warning.empty(), expected.warning.empty()) << name;
}

/// A network unlike another: its biases are moved.
Network moved(Network network, double by) {
  for (auto& layer : network.layers)
    for (double& b : layer.bias) b += by;
  return network;
}

/// One-sided or not, with means, with exclusions of either kind, with an atom type that has no environment.
std::vector<std::pair<std::string, Model>> forms() {
  const Model plain = model_named("se_e2_r");
  std::vector<std::pair<std::string, Model>> result;
  for (const bool one_sided : {true, false}) {
    Model model = plain;
    const int n = model.n_types();
    model.type_one_side = one_sided;
    model.embedding.clear();
    for (int i = 0; i < (one_sided ? n : n * n); ++i)
      model.embedding.push_back(moved(plain.embedding.front(), 0.05 * i));
    for (int t = 0; t < n; ++t) {
      model.mean[t][0] += 0.03 * (t + 1);
      model.deviation[t][0] *= 1 + 0.2 * t;
    }
    result.emplace_back(one_sided ? "one-sided" : "two-sided", model);
  }
  Model model = result.back().second;
  model.excluded_pairs[1] = model.excluded_pairs[model.n_types()] = true;
  result.emplace_back("pairs excluded", model);
  model = result[1].second;
  model.excluded_descriptor_pairs[0] = true;
  result.emplace_back("rows excluded", model);
  model = result[1].second;
  model.excluded_fitting[1] = true;
  result.emplace_back("a type without environment", model);
  return result;
}

/// Models as DeePMD-kit wrote them, also with more neighbours than sel holds and with lone atoms.
TEST(DeviceDistances, equals_the_engine_for_cpus) {
  std::vector<std::string> configurations{"triclinic"};
  if (Comm::world().size() == 1)  // the others are too small for more ranks, or tell nothing more
    configurations = {"cluster", "orthorhombic", "triclinic", "box_below_rcut", "sel_overflow"};
  int warned = 0;
  for (const std::string name : {"se_e2_r", "se_e2_r_float32"}) {
    const Model model = model_named(name);
    for (const auto& configuration : configurations) {
      const auto start = configuration_of(configuration);
      DeepPotential cores(model, {});
      const auto expected = evaluate(Comm::world(), cores, start);
      const auto found = evaluate(Comm::world(), *device_field(model), start);
      expect_equal(found, expected, model.single_precision ? 2e-5 : 2e-12, name + ", " + configuration);
      warned += !expected.warning.empty();
      const auto again = evaluate(Comm::world(), *device_field(model), start);
      EXPECT_EQ(found.force, again.force) << "a run does not repeat to the last bit";
    }
  }
  if (Comm::world().size() == 1) {
    EXPECT_GE(warned, 2) << "sel was not exceeded";
  }
}

/// Of a compressed file the cores read the tables, which are its networks to 1e-11; a device makes
/// polynomials.
TEST(DeviceDistances, equals_the_tables_of_a_compressed_file) {
  const Model model = compressed(model_named("se_e2_r"), 0.6);
  DeepPotential cores(model, {});
  expect_equal(evaluate(Comm::world(), *device_field(model), configuration_of()),
               evaluate(Comm::world(), cores, configuration_of()), 1e-10, "compressed");
}

// The least distance in the training data says which neighbours enter through moments: all, some, hardly any.
TEST(DeviceDistances, is_the_same_in_every_form_however_near_its_neighbours_are) {
  int n = 0;
  for (const auto& [form, plain] : forms())
    for (const Precision precision : {Precision::fp64, Precision::mixed})
      for (const double least : {0.8, 2.0, 4.0}) {
        if (n++ % Comm::world().size() != 0) continue;  // one rank has them all: more share out some
        Model model = plain;
        model.least_distance = least;
        const auto start = configuration_of();
        const DeepPotentialOptions options{precision};
        DeepPotential cores(model, options);
        expect_equal(evaluate(Comm::world(), *device_field(model, options), start),
                     evaluate(Comm::world(), cores, start), precision == Precision::mixed ? 2e-5 : 2e-12,
                     form);
      }
}

TEST(DeviceDistances, has_forces_and_virials_that_are_slopes_of_its_energy) {
  constexpr double h = 3e-5, tolerance = 3e-7;
  for (const auto& [form, plain] : forms())
    for (const double least : {0.8, 4.0}) {
      Model model = plain;
      model.least_distance = least;
      const auto field = device_field(model);
      const auto start = configuration_of();
      const auto whole = evaluate(Comm::world(), *field, start);
      const auto slope = [&](const auto& changed) {
        const double after = evaluate(Comm::world(), *field, changed(h)).energy;
        return (after - evaluate(Comm::world(), *field, changed(-h)).energy) / (2 * h);
      };
      const int n = start.n_atoms();
      for (const int k : {0, 3 * n / 2, 3 * n - 2}) {
        const auto changed = [&](double by) {
          auto c = start;
          c.positions[k / 3][k % 3] += by;
          return c;
        };
        EXPECT_NEAR(whole.force[k], -slope(changed), tolerance * std::max(1.0, largest(whole.force))) << form;
      }
      for (const int component : {0, 1, 5}) {
        const auto changed = [&](double by) { return strained(start, component, by / 10); };
        EXPECT_NEAR(whole.virial[component], -10 * slope(changed),
                    10 * tolerance * std::max(1.0, largest({whole.virial.begin(), whole.virial.end()})))
            << form << ", component " << component;
      }
    }
}

TEST(DeviceDistances, has_the_virials_of_atoms_of_the_engine_for_cpus) {
  for (const auto& [form, model] : forms()) {
    DeepPotential cores(model, {});
    const auto expected = atom_virials(Comm::world(), cores, configuration_of());
    EXPECT_LE(
        largest_difference(atom_virials(Comm::world(), *device_field(model), configuration_of()), expected),
        1e-10 * std::max(1.0, largest(expected)))
        << form;
  }
}

TEST(DeviceDistances, is_the_same_on_any_number_of_ranks) {
  for (const auto& [form, model] : forms()) {
    const auto start = configuration_of();
    const auto all = evaluate(Comm::world(), *device_field(model), start),
               one = evaluate(Comm::self(), *device_field(model), start);
    EXPECT_NEAR(all.energy, one.energy, 1e-12 * std::max(1.0, std::abs(one.energy))) << form;
    EXPECT_LE(largest_difference(all.force, one.force), 1e-12 * std::max(1.0, largest(one.force))) << form;
  }
}

// Nothing but empty slots: the energy is that of the cores, no force is left.
TEST(DeviceDistances, leaves_atoms_without_neighbours_alone) {
  for (const auto& [form, model] : forms()) {
    Configuration apart;
    apart.type_names = model.type_names;
    apart.types = {0, 1};
    apart.positions = {{1, 1, 1}, {21, 21, 21}};
    apart.box = Box({40, 0, 0, 0, 40, 0, 0, 0, 40}, {false, false, false});
    DeepPotential cores(model, {});
    const auto expected = evaluate(Comm::self(), cores, apart);
    const auto found = evaluate(Comm::self(), *device_field(model), apart);
    EXPECT_NEAR(found.energy, expected.energy, 2e-12 * std::max(1.0, std::abs(expected.energy))) << form;
    EXPECT_EQ(largest(found.force), 0) << form;
  }
}

}  // namespace
}  // namespace quintet::potential
