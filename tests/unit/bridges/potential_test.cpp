#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bridges/c/quintet.h"
#include "tests/support/deep_potential_case.hpp"

/// libquintet_c as a host program sees it: the C functions alone.
namespace {

std::string data(const std::string& name) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/tests/data/deep_potential/" + name;
}

/// A handle that is given back.
struct Handle {
  explicit Handle(const std::vector<std::string>& files, const char* precision = "double") {
    std::vector<const char*> names;
    for (const auto& file : files) names.push_back(file.c_str());
    potential = quintet_potential_open(static_cast<int>(names.size()), names.data(), precision);
  }
  ~Handle() { quintet_potential_close(potential); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] std::string error() const { return quintet_potential_error(potential); }
  quintet_potential* potential;
};

struct Found {
  explicit Found(std::size_t n) : forces(3 * n), virial(9), energies(n), virials(9 * n) {}
  double energy = 0;
  std::vector<double> forces, virial, energies, virials;
};

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance) << what << ", value " << i;
}

/// Flat positions and cell of a configuration.
struct Flat {
  explicit Flat(const quintet::Configuration& configuration) {
    for (const auto& x : configuration.positions) positions.insert(positions.end(), x.begin(), x.end());
    periodic = configuration.box.fully_periodic();
    const auto& rows = configuration.box.rows();
    cell.assign(rows.begin(), rows.end());
  }
  [[nodiscard]] const double* rows() const { return periodic ? cell.data() : nullptr; }
  std::vector<double> positions, cell;
  bool periodic = false;
};

Found compute(const Handle& handle, const std::vector<int>& types, const Flat& flat, int model = 0) {
  Found found(types.size());
  EXPECT_EQ(quintet_potential_compute(handle.potential, model, static_cast<int>(types.size()), types.data(), flat.positions.data(),
                                      flat.rows(), &found.energy, found.forces.data(), found.virial.data(),
                                      found.energies.data(), found.virials.data()),
            QUINTET_OK)
      << handle.error();
  return found;
}

TEST(QuintetC, finds_what_deepmd_kit_finds) {
  for (const char* name : {"oneside", "twoside", "oneside_compressed", "pair_exclude", "atom_exclude"}) {
    const Handle handle({data(std::string(name) + ".dp")}, nullptr);
    ASSERT_EQ(handle.error(), "");
    for (const auto& item : read_cases(data(std::string(name) + ".ref.json"), {"O", "H"})) {
      if (item.name.find("sel_overflow") != std::string::npos) continue;  // of another rule
      const std::string what = std::string(name) + " " + item.name;
      const Found found = compute(handle, item.configuration.types, Flat(item.configuration));
      EXPECT_NEAR(found.energy, item.energy, 1e-9 * std::max(1.0, std::abs(item.energy))) << what;
      if (!item.force.empty()) expect_near(found.forces, item.force, 1e-9, what + " forces");
      if (!item.virial.empty()) expect_near(found.virial, item.virial, 1e-8, what + " virial");
      if (!item.atom_energy.empty()) expect_near(found.energies, item.atom_energy, 1e-9, what + " energies");
      std::vector<double> sum(9);
      for (std::size_t i = 0; i < found.virials.size(); ++i) sum[i % 9] += found.virials[i];
      expect_near(sum, found.virial, 1e-10, what + " virials by atom");
    }
  }
}

}  // namespace
