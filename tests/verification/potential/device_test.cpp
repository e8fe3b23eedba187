#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/device/device_force_field.hpp"
#include "surrogates/potential/device/repulsion_kernel.hpp"
#include "surrogates/potential/model/repulsion/repulsion.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/verification/potential/models.hpp"

// The device engine against the engine for CPUs.
namespace quintet::potential {
namespace {

/// Models whose embedding polynomials reach; the others are evaluated by CPUs alone.
bool has_polynomials(const ModelCase& item) {
  return field_of(item).description().find("piecewise polynomials") != std::string::npos;
}
std::vector<ModelCase> device_cases(const std::string& configuration = "triclinic") {
  std::vector<ModelCase> cases;
  for (auto& item : model_cases(configuration))
    if (has_polynomials(item)) cases.push_back(std::move(item));
  return cases;
}

DeviceForceField::Maker maker() { return QUINTET_DEVICE_FUNCTION(quintet_make_device_potential); }

std::size_t field_bytes(DeviceForceField& field) {
  const auto bytes = field.engine().bytes();
  return bytes[0] + bytes[1];
}

void expect_equal(const Evaluated& found, const Evaluated& expected, double tolerance,
                  const std::string& name) {
  const double n = expected.atom_energy.size();
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
  // A device does not count how many neighbours an atom has beyond sel.
  const auto number = [](const std::string& text) { return text.substr(0, text.find(" atoms")); };
  EXPECT_EQ(number(found.warning), number(expected.warning)) << name;
}

TEST(DeviceEngine, equals_the_engine_for_cpus) {
  std::vector<std::string> configurations{"triclinic"};
  if (Comm::world().size() == 1)  // the others are too small for more ranks, or tell nothing more
    configurations = {"cluster", "orthorhombic", "triclinic", "box_below_rcut", "sel_overflow"};
  for (const auto& configuration : configurations)
    for (const auto& item : device_cases(configuration)) {
      DeviceForceField field(read_dp(item.model), {}, {}, maker());
      const auto found = evaluate(Comm::world(), field, item.reference.configuration);
      const auto expected = evaluate(Comm::world(), field_of(item), item.reference.configuration);
      ASSERT_GT(largest(expected.force), 1e-3) << item.name;
      expect_equal(found, expected, item.name == "float32" ? 2e-5 : 2e-12, item.name + ", " + configuration);
    }
}

TEST(DeviceEngine, takes_frame_parameters) {
  int n = 0;
  for (const auto& item : all_model_cases()) {
    if (item.frame_parameters.empty()) continue;
    DeviceForceField device(read_dp(item.model), options_of(item), {}, maker());
    expect_equal(evaluate(Comm::world(), device, item.reference.configuration),
                 evaluate(Comm::world(), field_of(item), item.reference.configuration), 2e-12, item.name);
    ++n;
  }
  EXPECT_GE(n, 1);
}

/// Those of a type are part of its network's biases; others would have to be sent to the device.
TEST(DeviceEngine, takes_parameters_of_atoms_by_type_alone) {
  for (const auto& item : all_model_cases()) {
    const Model model = read_dp(item.model);
    const int n = model.atom_parameters.count();
    if (n == 0 || !model.further.empty()) continue;
    auto options = options_of(item);
    EXPECT_THROW(DeviceForceField(model, options, {}, maker()), InputError) << item.name;
    options.atom_parameters = {{{"O"}, std::vector<double>(n, 0.3)}, {{"H"}, std::vector<double>(n, -0.6)}};
    DeviceForceField device(model, options, {}, maker());
    DeepPotential cores(model, options);
    auto start = item.reference.configuration;
    start.parameters.clear();
    expect_equal(evaluate(Comm::world(), device, start), evaluate(Comm::world(), cores, start), 2e-12,
                 item.name);
  }
}

TEST(DeviceEngine, adds_the_repulsion_of_nuclei_as_the_cores_do) {
  const RepulsionOptions range{0.6, 1.2};
  int n = 0;
  for (const Precision precision : {Precision::fp64, Precision::mixed})
    for (const auto& item : device_cases()) {
      if (n++ % Comm::world().size() != 0) continue;  // one rank has them all: more share out some
      const DeepPotentialOptions options{precision};
      DeviceForceField field(read_dp(item.model), options, range, maker());
      auto model = std::make_unique<DeepPotential>(read_dp(item.model), options);
      const auto start = crowded(item.reference.configuration);
      const double without = evaluate(Comm::world(), *model, start).energy;
      Repulsion cores(std::move(model), range);
      const auto found = evaluate(Comm::world(), field, start);
      const auto expected = evaluate(Comm::world(), cores, start);
      ASSERT_GT(expected.energy - without, 5) << item.name;
      expect_equal(found, expected, precision == Precision::mixed ? 2e-5 : 2e-12, item.name);
    }
}

TEST(DeviceEngine, refuses_repulsion_that_its_sums_do_not_hold) {
  Model model = read_dp(source("inputs/dpmd/copper/copper.dp"));
  model.type_names = {"U"};
  DeviceForceField field(model, {}, RepulsionOptions{0.6, 1.2}, maker());
  Repulsion cores(std::make_unique<DeepPotential>(model, DeepPotentialOptions{}), {0.6, 1.2});
  Configuration two;
  two.type_names = model.type_names;
  two.types = {0, 0};
  two.positions = {{1, 1, 1}, {1, 1, 1.3}};
  two.box = Box({40, 0, 0, 0, 40, 0, 0, 0, 40}, {false, false, false});
  EXPECT_GT(largest(evaluate(Comm::self(), cores, two).force), largest_repulsion);
  EXPECT_THROW((void)evaluate(Comm::self(), field, two), NumericalError);
  two.positions[1][2] = 1.5;
  EXPECT_NO_THROW((void)evaluate(Comm::self(), field, two));
}

TEST(DeviceEngine, says_what_memory_it_takes_before_it_takes_it) {
  const auto item = device_cases("orthorhombic").front();
  const Model model = read_dp(item.model);
  const DeviceModel tables = device_model(model, {});
  double asked = 0;
  DeviceForceField field(model, {}, {}, maker(), [&](double bytes, const std::string& what) {
    asked += bytes;
    EXPECT_NE(what.find("atoms and"), std::string::npos);
    EXPECT_EQ(field_bytes(field), 0u) << "took memory before it asked";
  });
  (void)evaluate(Comm::world(), field, item.reference.configuration);
  const double taken = field_bytes(field);
  EXPECT_GT(asked, 0.7 * taken);
  EXPECT_LT(asked, 2.0 * taken);
  DeviceForceField refused(model, {}, {}, maker(),
                           [](double, const std::string&) { throw ResourceError("too small"); });
  EXPECT_THROW((void)evaluate(Comm::world(), refused, item.reference.configuration), ResourceError);
}

TEST(DeviceEngine, refuses_models_that_it_would_get_wrong) {
  int refused = 0;
  for (const auto& item : model_cases())
    if (!has_polynomials(item)) {
      ++refused;
      EXPECT_THROW(DeviceForceField(read_dp(item.model), {}, {}, maker()), InputError) << item.name;
    }
  EXPECT_GE(refused, 2);
  const auto cases = device_cases();
  EXPECT_THROW(DeviceForceField(read_dp(cases.front().model),
                                {Precision::model, Compression::off, SelRule::per_type}, {}, maker()),
               InputError);
}

}  // namespace
}  // namespace quintet::potential
