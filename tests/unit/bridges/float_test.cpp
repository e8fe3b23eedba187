#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/scratch.hpp"
#include "tests/unit/bridges/host.hpp"

/// The functions of float are those of double, of what the host has, rounded.
namespace {

using namespace quintet_c;

std::vector<float> rounded(const std::vector<double>& values) { return {values.begin(), values.end()}; }
std::vector<double> widened(const std::vector<float>& values) { return {values.begin(), values.end()}; }

struct FoundFloat {
  explicit FoundFloat(std::size_t n) : forces(3 * n), virial(9), energies(n), virials(9 * n) {}
  double energy = 0;
  std::vector<float> forces, virial, energies, virials;
};

void expect_rounded(const FoundFloat& found, const Found& of) {
  EXPECT_EQ(found.energy, of.energy);
  EXPECT_EQ(found.forces, rounded(of.forces));
  EXPECT_EQ(found.virial, rounded(of.virial));
  EXPECT_EQ(found.energies, rounded(of.energies));
  EXPECT_EQ(found.virials, rounded(of.virials));
}

TEST(QuintetCFloat, one_configuration) {
  const Handle handle({data("twoside.dp")});
  const Water water(4.5);
  const auto x = rounded(water.owned_positions()), cell = rounded(water.cell);
  for (const bool periodic : {true, false}) {
    FoundFloat found(water.n_owned);
    ASSERT_EQ(
        quintet_potential_compute_float(handle.potential, 0, water.n_owned, water.types.data(), x.data(),
                                        periodic ? cell.data() : nullptr, &found.energy, found.forces.data(),
                                        found.virial.data(), found.energies.data(), found.virials.data()),
        QUINTET_OK)
        << handle.error();
    expect_rounded(found, compute(handle, water.owned_types(), widened(x),
                                  periodic ? widened(cell) : std::vector<double>()));
  }
  float forces[3] = {};
  EXPECT_EQ(quintet_potential_compute_float(handle.potential, 0, 1, water.types.data(), x.data(), nullptr,
                                            nullptr, forces, nullptr, nullptr, nullptr),
            QUINTET_OK)
      << "results that are not wanted";
}

TEST(QuintetCFloat, a_list_of_the_host) {
  const Handle handle({data("oneside.dp")});
  Water water(4.9);
  const auto x = rounded(water.positions);
  const auto wide = widened(x);
  const std::size_t n_all = water.types.size();
  ASSERT_EQ(water.set(handle.potential), QUINTET_OK);
  ASSERT_EQ(quintet_potential_check_neighbours_float(handle.potential, x.data()), QUINTET_OK)
      << handle.error();
  FoundFloat found(n_all);
  Found of(n_all);
  found.energies.resize(water.n_owned);
  of.energies.resize(water.n_owned);
  ASSERT_EQ(quintet_potential_compute_neighbours_float(handle.potential, 0, x.data(), &found.energy,
                                                       found.forces.data(), found.virial.data(),
                                                       found.energies.data(), found.virials.data()),
            QUINTET_OK)
      << handle.error();
  ASSERT_EQ(
      quintet_potential_compute_neighbours(handle.potential, 0, wide.data(), &of.energy, of.forces.data(),
                                           of.virial.data(), of.energies.data(), of.virials.data()),
      QUINTET_OK);
  expect_rounded(found, of);
  water.rows[0].clear();
  for (std::size_t r = 0; r < water.rows.size(); ++r) std::erase(water.rows[r], water.atoms[0]);
  ASSERT_EQ(water.set(handle.potential), QUINTET_OK);
  EXPECT_EQ(quintet_potential_check_neighbours_float(handle.potential, x.data()), QUINTET_INPUT);
  EXPECT_NE(handle.error().find("lacks atom"), std::string::npos) << handle.error();
}

TEST(QuintetCFloat, deviation) {
  const Handle handle({data("oneside.dp"), data("twoside.dp")});
  const Water water(4.5);
  const auto x = rounded(water.owned_positions()), cell = rounded(water.cell);
  const auto wide = widened(x), wide_cell = widened(cell);
  std::vector<float> found(water.n_owned);
  std::vector<double> of(water.n_owned), summary(7), of_summary(7);
  ASSERT_EQ(quintet_potential_deviation_float(handle.potential, water.n_owned, water.types.data(), x.data(),
                                              cell.data(), found.data(), summary.data()),
            QUINTET_OK)
      << handle.error();
  ASSERT_EQ(quintet_potential_deviation(handle.potential, water.n_owned, water.types.data(), wide.data(),
                                        wide_cell.data(), of.data(), of_summary.data()),
            QUINTET_OK);
  EXPECT_EQ(found, rounded(of));
  EXPECT_EQ(summary, of_summary);
  EXPECT_EQ(quintet_potential_deviation_float(handle.potential, water.n_owned, water.types.data(), x.data(),
                                              nullptr, nullptr, summary.data()),
            QUINTET_OK);
}

TEST(QuintetCFloat, mistakes_are_named) {
  const Handle handle({data("oneside.dp")});
  const int type = 0;
  float x[3] = {0, std::numeric_limits<float>::infinity(), 0};
  double energy = 5;
  const auto code = [&](int n, const float* positions) {
    return quintet_potential_compute_float(handle.potential, 0, n, &type, positions, nullptr, &energy,
                                           nullptr, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(code(1, x), QUINTET_INPUT);
  EXPECT_NE(handle.error().find("position y of atom 0 is inf"), std::string::npos) << handle.error();
  EXPECT_EQ(code(1, nullptr), QUINTET_INPUT);
  EXPECT_NE(handle.error().find("positions is NULL"), std::string::npos);
  EXPECT_EQ(code(-1, x), QUINTET_INPUT);
  EXPECT_NE(handle.error().find("negative"), std::string::npos);
  EXPECT_EQ(quintet_potential_compute_neighbours_float(handle.potential, 0, x, &energy, nullptr, nullptr,
                                                       nullptr, nullptr),
            QUINTET_INPUT);
  EXPECT_NE(handle.error().find("no neighbour list"), std::string::npos);
  EXPECT_EQ(energy, 5) << "not written to";
  x[1] = 0;
  EXPECT_EQ(code(1, x), QUINTET_OK);
}

/// A model whose energy of an atom is a little within float's range, and one a little beyond it.
TEST(QuintetCFloat, a_result_beyond_float_is_refused) {
  const Scratch scratch("bridges_float");
  std::ifstream file(std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/bridges/lammps/two_atoms.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}}, bias = "-3.25";
  ASSERT_NE(text.find(bias), std::string::npos);
  for (const bool within : {true, false}) {
    std::string changed = text;
    const std::string path = scratch / (within ? "within.json" : "beyond.json");
    std::ofstream(path) << changed.replace(text.find(bias), bias.size(), within ? "3.3e38" : "3.5e38");
    const Handle handle({path});
    ASSERT_EQ(handle.error(), "");
    const int type = 0;
    const float x[3] = {};
    double energy = 1;
    float force[3] = {1, 1, 1}, own = 1;
    const int code = quintet_potential_compute_float(handle.potential, 0, 1, &type, x, nullptr, &energy,
                                                     force, nullptr, &own, nullptr);
    EXPECT_EQ(code, within ? QUINTET_OK : QUINTET_NUMERICAL) << handle.error();
    if (within) {
      EXPECT_FLOAT_EQ(own, 3.3e38F);
    } else {
      EXPECT_NE(handle.error().find("a number of the atomic energy is 3.5e+38, beyond float"),
                std::string::npos)
          << handle.error();
      EXPECT_TRUE(energy == 1 && force[0] == 1 && own == 1) << "not written to";
    }
  }
}

TEST(QuintetC, a_program_of_another_version_is_told) {
  EXPECT_STREQ(quintet_api_mismatch(QUINTET_API_VERSION), "");
  EXPECT_STREQ(quintet_api_mismatch(1), "");
  EXPECT_EQ(quintet_api_version(), QUINTET_API_VERSION);
  const std::string newer = quintet_api_mismatch(QUINTET_API_VERSION + 1);
  EXPECT_NE(
      newer.find("newer interface of libquintet_c than the library that it has found, which has version " +
                 std::to_string(QUINTET_API_VERSION)),
      std::string::npos)
      << newer;
  EXPECT_STRNE(quintet_api_mismatch(0), "");
}

}  // namespace
