#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

TEST(Copper, agrees_with_deepmd_kit_by_polynomials_and_networks) {
  const std::string folder = source("inputs/dpmd/copper/");
  const auto cases = read_cases(folder + "peer_reference.json", {"Cu"});
  ASSERT_FALSE(cases.empty());
  for (const auto compression : {Compression::automatic, Compression::off}) {
    DeepPotential field(read_dp(folder + "copper.dp"), {Precision::model, compression, SelRule::per_type});
    for (const auto& item : cases) {
      const auto found = evaluate(Comm::world(), field, item.configuration);
      EXPECT_NEAR(found.energy, item.energy, 1e-10 * std::max(1.0, std::abs(item.energy))) << item.name;
      ASSERT_FALSE(item.force.empty());
      EXPECT_LE(largest_difference(found.force, item.force), 1e-10 * std::max(1.0, largest(item.force)))
          << item.name;
      ASSERT_EQ(item.virial.size(), 9u);
      EXPECT_LE(largest_difference({found.virial.begin(), found.virial.end()}, item.virial),
                1e-10 * std::max(1.0, largest(item.virial)))
          << item.name;
    }
  }
}

TEST(Compression, changes_energies_and_forces_by_round_off_only) {
  for (const auto& item : all_model_cases()) {
    // float32 has round-off of its own; our compressed files have coarse tables on purpose, which automatic
    // keeps.
    if (item.name == "float32" || item.name.find("compressed") != std::string::npos) continue;
    auto& automatic = field_of(item);
    DeepPotential off(read_dp(item.model), options_of(item, Precision::model, Compression::off));
    const auto a = evaluate(Comm::world(), automatic, item.reference.configuration);
    const auto b = evaluate(Comm::world(), off, item.reference.configuration);

    EXPECT_NEAR(a.energy, b.energy, 1e-12 * std::max(1.0, std::abs(b.energy)))
        << item.name << automatic.description();
    EXPECT_LE(largest_difference(a.force, b.force), 1e-11 * std::max(1.0, largest(b.force)))
        << item.name << automatic.description();
  }
}

TEST(MixedPrecision, is_close_to_double) {
  for (const auto& item : all_model_cases()) {
    if (item.name == "float32") continue;
    DeepPotential mixed(read_dp(item.model), options_of(item, Precision::mixed));
    auto& full = field_of(item);
    const auto a = evaluate(Comm::world(), mixed, item.reference.configuration);
    const auto b = evaluate(Comm::world(), full, item.reference.configuration);
    const double n = item.reference.configuration.n_atoms();

    EXPECT_NEAR(a.energy / n, b.energy / n, 1e-6) << item.name;
    EXPECT_LE(largest_difference(a.force, b.force), 2e-5 * std::max(1.0, largest(b.force))) << item.name;
    EXPECT_NE(largest_difference(a.force, b.force), 0) << item.name << ": not in float32 at all";
  }
}

}  // namespace
}  // namespace quintet::potential
