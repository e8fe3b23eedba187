#include <algorithm>
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "tests/support/deep_potential_case.hpp"

namespace quintet::potential {
namespace {

/// Models with reference values: the project's own, and the shared ones where they are.
std::vector<std::string> models(const std::string& folder) {
  std::vector<std::string> paths;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".dp" &&
          std::filesystem::exists(std::filesystem::path(entry.path()).replace_extension(".ref.json")))
        paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string source(const std::string& path) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/" + path;
}

double largest(const std::vector<double>& values) {
  double most = 1;
  for (double value : values) most = std::max(most, std::abs(value));
  return most;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double relative,
                 const std::string& what) {
  if (expected.empty()) return;
  ASSERT_EQ(found.size(), expected.size()) << what;
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_TRUE(std::isfinite(found[i])) << what << ", value " << i;
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  }
  EXPECT_LE(worst, relative * largest(expected)) << what;
}

void compare(const std::string& path, DeepPotentialOptions options, double relative) {
  const std::string references = std::filesystem::path(path).replace_extension(".ref.json");
  options.frame_parameters = numbers(read_yaml(references).find("frame_parameters"));
  Model model = read_dp(path);
  const bool single = model.single_precision;
  const auto types = model.type_names;
  DeepPotential field(std::move(model), options);
  const double tolerance = single ? 1e-5 : relative;
  for (const auto& item : read_cases(references, types)) {
    const std::string what = path + " " + item.name + ": " + field.description();
    const bool overflow = item.name.find("sel_overflow") != std::string::npos;
    std::optional<DeepPotential> two_stage;  // tables take long to make
    if (overflow) {
      DeepPotentialOptions chosen = options;
      chosen.sel_rule = SelRule::two_stage;
      two_stage.emplace(read_dp(path), chosen);
    }

    const auto found = evaluate(Comm::world(), overflow ? *two_stage : field, item.configuration);

    EXPECT_LE(std::abs(found.energy - item.energy), tolerance * std::max(1.0, std::abs(item.energy)))
        << what << " energy";
    expect_near(found.force, item.force, tolerance, what + " force");
    expect_near({found.virial.begin(), found.virial.end()}, item.virial, tolerance, what + " virial");
    expect_near(found.atom_energy, item.atom_energy, tolerance, what + " atom energy");
    EXPECT_FALSE(overflow && Comm::world().size() == 1 && found.warning.empty()) << what;
  }
}

class Compressions : public ::testing::TestWithParam<Compression> {};

TEST_P(Compressions, agree_with_deepmd_kit_on_our_models) {
  const auto paths = models(source("tests/data/deep_potential"));
  ASSERT_FALSE(paths.empty());

  for (const auto& path : paths) {
    // Our compressed models have coarse tables on purpose: they differ from their networks.
    const bool tables_only = path.find("compressed") != std::string::npos && GetParam() == Compression::off;
    compare(path, {Precision::model, tables_only ? Compression::file : GetParam(), SelRule::per_type}, 1e-10);
  }
}

TEST_P(Compressions, agree_with_deepmd_kit_on_the_shared_models) {
  auto paths = models(source("../shared/data/deep_potential"));
  for (const auto& path : models(source("../shared/data/deep_potential/variants")))
    if (path.find("oneside_compressed") == std::string::npos) paths.push_back(path);  // has a test of its own
  if (paths.empty()) GTEST_SKIP() << "../shared/data/deep_potential is not here";

  for (const auto& path : paths) compare(path, {Precision::model, GetParam(), SelRule::per_type}, 1e-10);
}

TEST(compressed_model, from_the_shared_data_gives_its_energies_by_tables_networks_and_our_polynomials) {
  const std::string folder = source("../shared/data/deep_potential/variants/");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "../shared/data/deep_potential is not here";
  const auto cases = read_cases(folder + "oneside.ref.json", {"O", "H"});
  const auto expected = numbers(read_yaml(folder + "oneside_compressed.ref.json").find("energy_compressed"));
  ASSERT_EQ(cases.size(), expected.size());

  for (const auto compression : {Compression::file, Compression::off, Compression::automatic}) {
    DeepPotential field(read_dp(folder + "oneside_compressed.dp"),
                        {Precision::model, compression, SelRule::two_stage});
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto found = evaluate(Comm::world(), field, cases[i].configuration);

      EXPECT_NEAR(found.energy, expected[i], 1e-10 * std::abs(expected[i]))
          << cases[i].name << field.description();
      expect_near(found.force, cases[i].force, 1e-9, cases[i].name + field.description());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(deep_potential, Compressions,
                         ::testing::Values(Compression::automatic, Compression::off),
                         [](const auto& instance) {
                           return instance.param == Compression::off ? "off" : "automatic";
                         });

}  // namespace
}  // namespace quintet::potential
