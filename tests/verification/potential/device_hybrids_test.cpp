#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/device/device_force_field.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/verification/potential/models.hpp"

// Hybrids and se_e3 (angles) on the device engine against the engine for CPUs.
namespace quintet::potential {
namespace {

std::unique_ptr<DeviceForceField> device_field(const Model& model, const DeepPotentialOptions& options = {},
                                               DeviceForceField::Require require = {}) {
  return std::make_unique<DeviceForceField>(model, options, std::nullopt,
                                            QUINTET_DEVICE_FUNCTION(quintet_make_device_potential),
                                            std::move(require));
}
std::string path_of(const std::string& name) { return source("tests/data/deep_potential/" + name); }
Model model_named(const std::string& name) { return read_dp(path_of(name + ".dp")); }
Configuration configuration_of(const std::string& name = "hybrid",
                               const std::string& configuration = "triclinic") {
  return case_named(path_of(name + ".ref.json"), model_named(name).type_names, configuration).configuration;
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

/// A model of these descriptors, whose fitting networks begin with new weights.
Model hybrid_of(const std::vector<DescriptorModel>& parts) {
  Model model = model_named("hybrid");
  static_cast<DescriptorModel&>(model) = parts.front();
  model.further.assign(parts.begin() + 1, parts.end());
  int n_in = 0;
  for (const auto& part : parts) n_in += part.n_channels() * std::max(part.axis_neuron, 1);
  int number = 0;
  for (auto& network : model.fitting) {
    auto& first = network.layers.front();
    first.n_in = n_in;
    first.weight.clear();
    for (int i = 0; i < n_in * first.n_out; ++i)
      first.weight.push_back(std::sin(1.0 + 0.7 * ++number) / std::sqrt(0.1 * n_in));
  }
  return model;
}
DescriptorModel part(const std::string& name, double rcut = 0) {
  DescriptorModel model = model_named(name);
  if (rcut > 0) model.rcut = rcut;
  return model;
}

/// Descriptors beside each other, of each kind and of several cutoffs; with means in all columns, of which
/// empty slots are no longer 0; with exclusions of either kind, and a type of atoms without environment.
std::vector<std::pair<std::string, Model>> forms() {
  std::vector<std::pair<std::string, Model>> result;
  result.emplace_back("two se_e2_a", hybrid_of({part("twoside"), part("oneside", 3.7)}));
  result.emplace_back("se_e2_r, se_e2_a", hybrid_of({part("se_e2_r", 4.1), part("oneside")}));
  result.emplace_back("se_e3", hybrid_of({part("se_e3")}));
  result.emplace_back("two se_e3", hybrid_of({part("se_e3"), part("se_e3", 3.6)}));
  const auto all = [] {
    return hybrid_of({part("dpa1_strip"), part("se_e3", 4.2), part("se_e2_r"), part("oneside", 3.3)});
  };
  result.emplace_back("all kinds", all());
  Model model = all();
  for (int i = 0; i < model.n_descriptors(); ++i) {
    auto& d = i == 0 ? static_cast<DescriptorModel&>(model) : model.further[i - 1];
    for (int t = 0; t < d.n_types(); ++t)
      for (int a = 0; a < 4; ++a) {
        d.mean[t][a] += d.kind == DescriptorKind::dpa1 ? 0 : 0.03 * (t + 1) - 0.02 * a;
        d.deviation[t][a] *= 1 + 0.1 * t + 0.05 * a;
      }
  }
  result.emplace_back("all kinds, means", model);
  Model other = model;
  other.further[0].excluded_pairs[1] = other.further[0].excluded_pairs[2] = true;
  other.further[2].excluded_pairs[0] = true;
  result.emplace_back("pairs excluded", other);
  other = model;
  other.further[0].excluded_descriptor_pairs[0] = other.further[0].excluded_descriptor_pairs[3] = true;
  result.emplace_back("rows excluded", other);
  model.excluded_fitting[1] = true;
  result.emplace_back("a type without environment", model);
  return result;
}

/// Models as DeePMD-kit wrote them, also with more neighbours than sel holds and with lone atoms.
TEST(DeviceHybrids, equals_the_engine_for_cpus) {
  std::vector<std::string> configurations{"triclinic"};
  if (Comm::world().size() == 1)  // the others are too small for more ranks, or tell nothing more
    configurations = {"cluster", "orthorhombic", "triclinic", "box_below_rcut", "sel_overflow"};
  int warned = 0;
  for (const std::string name : {"hybrid", "hybrid_mixed", "hybrid_triplets", "se_e3", "se_e3_three_types",
                                 "se_e3_exclude", "se_e3_float32"}) {
    const bool has_overflow = name == "se_e3" || name == "se_e3_float32" || name == "se_e3_exclude";
    const Model model = model_named(name);
    for (const auto& configuration : configurations) {
      if (configuration == "sel_overflow" && !has_overflow) continue;
      const auto start = configuration_of(name, configuration);
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
    EXPECT_GE(warned, 3) << "sel was not exceeded";
  }
}

TEST(DeviceHybrids, is_the_same_in_every_form_and_precision) {
  int n = 0;
  for (const auto& [form, plain] : forms())
    for (const Precision precision : {Precision::fp64, Precision::mixed})
      for (const bool other : {false, true}) {
        if (n++ % Comm::world().size() != 0) continue;  // one rank has them all: more share out some
        Model model = plain;
        model.least_distance = other ? 4.0 : 0.8;  // hardly any neighbour enters through moments, or all
        DeepPotentialOptions options{precision};
        options.sel_rule = other ? SelRule::two_stage : SelRule::per_type;
        DeepPotential cores(model, options);
        expect_equal(evaluate(Comm::world(), *device_field(model, options), configuration_of()),
                     evaluate(Comm::world(), cores, configuration_of()),
                     precision == Precision::mixed ? 2e-5 : 2e-12, form);
      }
}

TEST(DeviceHybrids, has_forces_and_virials_that_are_slopes_of_its_energy) {
  constexpr double h = 3e-5, tolerance = 3e-7;
  for (const auto& [form, model] : forms()) {
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

TEST(DeviceHybrids, has_the_virials_of_atoms_of_the_engine_for_cpus) {
  for (const auto& [form, model] : forms()) {
    DeepPotential cores(model, {});
    const auto expected = atom_virials(Comm::world(), cores, configuration_of());
    EXPECT_LE(
        largest_difference(atom_virials(Comm::world(), *device_field(model), configuration_of()), expected),
        1e-10 * std::max(1.0, largest(expected)))
        << form;
  }
}

TEST(DeviceHybrids, is_the_same_on_any_number_of_ranks) {
  for (const auto& [form, model] : forms()) {
    const auto all = evaluate(Comm::world(), *device_field(model), configuration_of()),
               one = evaluate(Comm::self(), *device_field(model), configuration_of());
    EXPECT_NEAR(all.energy, one.energy, 1e-12 * std::max(1.0, std::abs(one.energy))) << form;
    EXPECT_LE(largest_difference(all.force, one.force), 1e-12 * std::max(1.0, largest(one.force))) << form;
  }
}

/// Two atoms of different types, alone.
Configuration two_atoms(const Model& model, double r) {
  Configuration c;
  c.type_names = model.type_names;
  c.types = {0, 1};
  c.positions = {{1, 1, 1}, {1 + 0.6 * r, 1, 1 + 0.8 * r}};
  c.box = Box({40, 0, 0, 0, 40, 0, 0, 0, 40}, {false, false, false});
  return c;
}

// Nothing but empty slots, and a neighbour that comes into reach.
TEST(DeviceHybrids, goes_smoothly_to_lone_atoms_at_the_cutoff) {
  for (const auto& [form, model] : forms()) {
    const auto field = device_field(model);
    DeepPotential cores(model, {});
    const double rcut = model.cutoff();
    const auto expected = evaluate(Comm::self(), cores, two_atoms(model, rcut + 5));
    const auto apart = evaluate(Comm::self(), *field, two_atoms(model, rcut + 5));
    EXPECT_NEAR(apart.energy, expected.energy, 2e-12 * std::max(1.0, std::abs(expected.energy))) << form;
    EXPECT_EQ(largest(apart.force), 0) << form;
    EXPECT_NEAR(evaluate(Comm::self(), *field, two_atoms(model, rcut * (1 - 1e-9))).energy, apart.energy,
                1e-12)
        << form;
  }
}

// The polynomials of triplets reach down to 0.2 angstrom; nearer neighbours are refused, not guessed.
TEST(DeviceHybrids, refuses_neighbours_of_triplets_beyond_its_polynomials) {
  const Model model = model_named("se_e3");
  const auto field = device_field(model);
  DeepPotential cores(model, {});
  const auto near = evaluate(Comm::self(), *field, two_atoms(model, 0.21));
  const auto expected = evaluate(Comm::self(), cores, two_atoms(model, 0.21));
  EXPECT_NEAR(near.energy, expected.energy, 1e-11 * std::max(1.0, std::abs(expected.energy)));
  EXPECT_LE(largest_difference(near.force, expected.force), 1e-11 * std::max(1.0, largest(expected.force)));
  for (const double r : {0.05, 0.0}) try {
      (void)evaluate(Comm::self(), *field, two_atoms(model, r));
      ADD_FAILURE() << "taken at " << r;
    } catch (const NumericalError& error) {
      EXPECT_NE(std::string(error.what()).find("closer than 0.2 angstrom"), std::string::npos)
          << error.what();
    }
}

TEST(DeviceHybrids, takes_parameters_of_atoms_by_type) {
  const Model model = model_named("hybrid_atom_parameters");
  const int n = model.atom_parameters.count();
  EXPECT_THROW(device_field(model), InputError);
  DeepPotentialOptions options;
  options.atom_parameters = {{{"O"}, std::vector<double>(n, 0.3)}, {{"H"}, std::vector<double>(n, -0.6)}};
  DeepPotential cores(model, options);
  expect_equal(evaluate(Comm::world(), *device_field(model, options), configuration_of()),
               evaluate(Comm::world(), cores, configuration_of()), 2e-12, "aparam");
}

TEST(DeviceHybrids, refuses_embeddings_that_polynomials_do_not_reach) {
  const DeepPotentialOptions networks{Precision::model, Compression::off};
  for (const std::string name : {"se_e3", "hybrid", "hybrid_triplets"})
    EXPECT_THROW(device_field(model_named(name), networks), InputError) << name;
  Model model = model_named("hybrid_triplets");
  EXPECT_NO_THROW(device_field(model));
  for (auto& network : model.further[0].embedding) network.layers[1].activation = Activation::relu;
  EXPECT_THROW(device_field(model), InputError);
}

TEST(DeviceHybrids, says_what_memory_it_takes_before_it_takes_it) {
  for (const auto& [form, model] : forms()) {
    if (form == "a type without environment") continue;  // counted as if it had one
    double asked = 0;
    const auto field = device_field(model, {}, [&](double bytes, const std::string&) { asked += bytes; });
    (void)evaluate(Comm::world(), *field, configuration_of());
    const auto [resident, chunks] = field->engine().bytes();
    const double taken = static_cast<double>(resident + chunks);
    EXPECT_GT(asked, 0.7 * taken) << form;
    EXPECT_LT(asked, 2.0 * taken) << form;
  }
}

}  // namespace
}  // namespace quintet::potential
