#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/device/device_force_field.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/verification/potential/models.hpp"

// dpa1 on the device engine against the engine for CPUs: gates, neighbours that are counted together.
namespace quintet::potential {
namespace {

std::unique_ptr<DeviceForceField> device_field(const Model& model, const DeepPotentialOptions& options = {}) {
  return std::make_unique<DeviceForceField>(model, options, std::nullopt,
                                            QUINTET_DEVICE_FUNCTION(quintet_make_device_potential));
}
Model model_named(const std::string& name) {
  return read_dp(source("tests/data/deep_potential/" + name + ".dp"));
}
Configuration configuration_of(const std::string& name, const Model& model,
                               const std::string& configuration = "triclinic") {
  return case_named(source("tests/data/deep_potential/" + name + ".ref.json"), model.type_names,
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

/// A model in all its forms: gates smooth or not, of the neighbour's type alone or of both.
std::vector<std::pair<std::string, Model>> forms_of(const std::string& name) {
  std::vector<std::pair<std::string, Model>> forms;
  for (const bool smooth : {true, false})
    for (const bool one_sided : {true, false}) {
      Model model = model_named(name);
      model.readers.reset();
      model.smooth_gates = smooth;
      model.type_one_side = one_sided;
      for (int t = 0; one_sided && t < model.n_types(); ++t)
        for (int centre = 1; centre < model.n_types(); ++centre)
          model.gates[model.pair_index(centre, t)] = model.gates[model.pair_index(0, t)];
      forms.emplace_back(
          name + (smooth ? ", smooth" : ", rough") + (one_sided ? ", one-sided" : ", two-sided"),
          std::move(model));
    }
  return forms;
}

/// Models as DeePMD-kit wrote them, also with more neighbours than sel holds and with exclusions.
TEST(DeviceDpa1, equals_the_engine_for_cpus) {
  std::vector<std::string> configurations{"triclinic"};
  if (Comm::world().size() == 1)  // the others are too small for more ranks, or tell nothing more
    configurations = {"cluster", "orthorhombic", "triclinic", "box_below_rcut", "sel_overflow"};
  int warned = 0;
  for (const std::string name :
       {"dpa1_strip", "dpa1_strip_davg", "dpa1_strip_exclude", "dpa1_strip_float32",
        "dpa1_strip_oneside_rough", "dpa1_concat", "dpa1_concat_exclude", "dpa1_concat_oneside",
        "dpa1_one_type", "dpa1_ten_types", "dpa1_atom_energy", "dpa1_default_parameter"}) {
    const bool has_overflow = name != "dpa1_one_type" && name != "dpa1_ten_types";
    const Model model = model_named(name);
    for (const auto& configuration : configurations) {
      if (configuration == "sel_overflow" && !has_overflow) continue;
      const auto start = configuration_of(name, model, configuration);
      DeepPotential cores(model, {});
      const auto expected = evaluate(Comm::world(), cores, start);
      expect_equal(evaluate(Comm::world(), *device_field(model), start), expected,
                   model.single_precision ? 2e-5 : 2e-12, name + ", " + configuration);
      warned += !expected.warning.empty();
    }
  }
  if (Comm::world().size() == 1) {
    EXPECT_GE(warned, 8) << "sel was not exceeded";
  }
}

// The least distance in the training data says which neighbours enter through moments: all, some, hardly any.
TEST(DeviceDpa1, is_the_same_in_every_form_however_near_its_neighbours_are) {
  int n = 0;
  for (const std::string name : {"dpa1_strip", "dpa1_ten_types"})
    for (const auto& [form, plain] : forms_of(name))
      for (const Precision precision : {Precision::fp64, Precision::mixed})
        for (const double least : {0.8, 2.0, 4.0}) {
          if (n++ % Comm::world().size() != 0) continue;  // one rank has them all: more share out some
          Model model = plain;
          model.least_distance = least;
          const auto start = configuration_of(name, model);
          const DeepPotentialOptions options{precision};
          DeepPotential cores(model, options);
          expect_equal(evaluate(Comm::world(), *device_field(model, options), start),
                       evaluate(Comm::world(), cores, start), precision == Precision::mixed ? 2e-5 : 2e-12,
                       form);
        }
}

TEST(DeviceDpa1, has_forces_and_virials_that_are_slopes_of_its_energy) {
  constexpr double h = 3e-5, tolerance = 3e-7;
  for (const auto& [form, plain] : forms_of("dpa1_strip"))
    for (const double least : {0.8, 4.0}) {
      Model model = plain;
      model.least_distance = least;
      const auto field = device_field(model);
      const auto start = configuration_of("dpa1_strip", model);
      const auto whole = evaluate(Comm::world(), *field, start);
      const auto slope = [&](const auto& moved) {
        const double after = evaluate(Comm::world(), *field, moved(h)).energy;
        return (after - evaluate(Comm::world(), *field, moved(-h)).energy) / (2 * h);
      };
      const int n = start.n_atoms();
      for (const int k : {0, 3 * n / 2, 3 * n - 2}) {
        const auto moved = [&](double by) {
          auto c = start;
          c.positions[k / 3][k % 3] += by;
          return c;
        };
        EXPECT_NEAR(whole.force[k], -slope(moved), tolerance * std::max(1.0, largest(whole.force))) << form;
      }
      for (const int component : {0, 1, 5}) {
        const auto moved = [&](double by) { return strained(start, component, by / 10); };
        EXPECT_NEAR(whole.virial[component], -10 * slope(moved),
                    10 * tolerance * std::max(1.0, largest({whole.virial.begin(), whole.virial.end()})))
            << form << ", component " << component;
      }
    }
}

TEST(DeviceDpa1, has_the_virials_of_atoms_of_the_engine_for_cpus) {
  for (const auto& [form, model] : forms_of("dpa1_strip")) {
    const auto start = configuration_of("dpa1_strip", model);
    DeepPotential cores(model, {});
    const auto expected = atom_virials(Comm::world(), cores, start);
    EXPECT_LE(largest_difference(atom_virials(Comm::world(), *device_field(model), start), expected),
              1e-10 * std::max(1.0, largest(expected)))
        << form;
  }
}

// Two atoms near the cutoff, where w and s vanish together.
TEST(DeviceDpa1, goes_smoothly_to_lone_atoms_at_the_cutoff) {
  for (const auto& [form, model] : forms_of("dpa1_strip")) {
    const auto field = device_field(model);
    DeepPotential cores(model, {});
    const auto at = [&](double r) {
      Configuration c;
      c.type_names = model.type_names;
      c.types = {0, 1};
      c.positions = {{1, 1, 1}, {1 + 0.6 * r, 1, 1 + 0.8 * r}};
      c.box = Box({40, 0, 0, 0, 40, 0, 0, 0, 40}, {false, false, false});
      return c;
    };
    const double rcut = model.rcut;
    const auto apart = evaluate(Comm::self(), *field, at(rcut + 5));
    EXPECT_EQ(largest(apart.force), 0) << form;
    EXPECT_EQ(evaluate(Comm::self(), *field, at(rcut * (1 + 1e-9))).energy, apart.energy) << form;
    EXPECT_NEAR(evaluate(Comm::self(), *field, at(rcut * (1 - 1e-9))).energy, apart.energy, 1e-12) << form;
    for (const double inside : {1e-9, 1e-4, 1e-2}) {
      const auto found = evaluate(Comm::self(), *field, at(rcut * (1 - inside)));
      const auto expected = evaluate(Comm::self(), cores, at(rcut * (1 - inside)));
      EXPECT_LE(largest_difference(found.force, expected.force), 1e-12) << form << ", " << inside;
    }
  }
}

TEST(DeviceDpa1, is_the_same_on_any_number_of_ranks) {
  for (const auto& [form, model] : forms_of("dpa1_strip")) {
    const auto start = configuration_of("dpa1_strip", model);
    const auto all = evaluate(Comm::world(), *device_field(model), start),
               one = evaluate(Comm::self(), *device_field(model), start);
    EXPECT_NEAR(all.energy, one.energy, 1e-12 * std::max(1.0, std::abs(one.energy))) << form;
    EXPECT_LE(largest_difference(all.force, one.force), 1e-12 * std::max(1.0, largest(one.force))) << form;
  }
}

/// A model of n types that are all as the one of `model`.
Model of_types(const Model& model, int n) {
  Model more = model;
  more.readers.reset();
  more.type_names.clear();
  for (int t = 0; t < n; ++t) more.type_names.push_back("X" + std::to_string(t));
  more.gates.assign(std::size_t(n) * n, model.gates.front());
  more.mean.assign(n, model.mean.front());
  more.deviation.assign(n, model.deviation.front());
  more.fitting.assign(n, model.fitting.front());
  more.atom_bias.assign(n, model.atom_bias.front());
  more.output_bias.assign(n, model.output_bias.front());
  for (auto* flags : {&more.excluded_atoms, &more.excluded_fitting}) flags->assign(n, false);
  for (auto* flags : {&more.excluded_descriptor_pairs, &more.excluded_pairs})
    flags->assign(std::size_t(n) * n, false);
  return more;
}

TEST(DeviceDpa1, refuses_more_types_than_its_moments_have_room_for) {
  const Model one = model_named("dpa1_one_type");
  ASSERT_FALSE(one.gates.empty());
  const int order = device_model(one, {}).parts.front().order;
  // 40 000 bytes of moments: an interval of each type and of all together.
  const int most = 40000 / (4 * 8 * (order + 1)) - 1;
  const auto start = configuration_of("dpa1_one_type", one);
  auto many = start;
  const Model model = of_types(one, most);
  many.type_names = model.type_names;
  many.masses.assign(most, 1.0);
  for (std::size_t i = 0; i < many.n_atoms(); ++i) many.types[i] = static_cast<int>(7 * i) % most;
  const auto expected = evaluate(Comm::self(), *device_field(one), start);
  expect_equal(evaluate(Comm::self(), *device_field(model), many), expected, 2e-12, "many types");
  EXPECT_THROW(device_field(of_types(one, most + 1)), InputError);
}

}  // namespace
}  // namespace quintet::potential
