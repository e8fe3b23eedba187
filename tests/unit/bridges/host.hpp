#pragma once

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bridges/c/quintet.h"

/// libquintet_c as a host program sees it: the C functions alone.
namespace quintet_c {

inline std::string data(const std::string& name) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/tests/data/deep_potential/" + name;
}

/// A handle that is given back.
struct Handle {
  explicit Handle(const std::vector<std::string>& files, const char* precision = "double",
                  const char* device = nullptr) {
    std::vector<const char*> names;
    for (const auto& file : files) names.push_back(file.c_str());
    const int n = names.size();
    potential = device == nullptr ? quintet_potential_open(n, names.data(), precision)
                                  : quintet_potential_open_on(n, names.data(), precision, device);
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

inline void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                        double tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance) << what << ", value " << i;
}

/// Evaluate a configuration, which must work. cell: [9], or empty for a cluster.
inline Found compute(const Handle& handle, const std::vector<int>& types,
                     const std::vector<double>& positions, const std::vector<double>& cell, int model = 0) {
  Found found(types.size());
  EXPECT_EQ(
      quintet_potential_compute(handle.potential, model, types.size(), types.data(), positions.data(),
                                cell.empty() ? nullptr : cell.data(), &found.energy, found.forces.data(),
                                found.virial.data(), found.energies.data(), found.virials.data()),
      QUINTET_OK)
      << handle.error();
  return found;
}

/// Some molecules of water in a skewed cell (angstrom), and the ghosts within `range` of it.
struct Water {
  explicit Water(double range) {
    const double rows[9] = {9.1, 0, 0, 1.7, 8.4, 0, -0.9, 1.1, 8.8};
    cell.assign(rows, rows + 9);
    for (int i = 0; i < 8; ++i) {
      const double corner[3] = {4.4 * (i & 1) + 0.3 * i, 4.1 * (i >> 1 & 1) + 0.2, 4.3 * (i >> 2) + 0.15 * i};
      const double offset[9] = {0, 0, 0, 0.76, 0.59, 0.02 * i, -0.76, 0.58, 0.1};
      for (int k = 0; k < 9; ++k) positions.push_back(corner[k % 3] + offset[k]);
      types.insert(types.end(), {0, 1, 1});
    }
    n_owned = types.size();
    add_ghosts(range);
    list(range);
  }
  [[nodiscard]] int n_ghosts() const { return owner.size(); }
  [[nodiscard]] double distance(int i, int j) const {
    return std::hypot(positions[3 * i] - positions[3 * j], positions[3 * i + 1] - positions[3 * j + 1],
                      positions[3 * i + 2] - positions[3 * j + 2]);
  }
  [[nodiscard]] std::vector<int> owned_types() const { return {types.begin(), types.begin() + n_owned}; }
  [[nodiscard]] std::vector<double> owned_positions() const {
    return {positions.begin(), positions.begin() + 3 * n_owned};
  }
  /// The list, all arrays as C has them.
  int set(quintet_potential* potential) {
    std::vector<const int*> starts;
    std::vector<int> lengths;
    for (const auto& row : rows) {
      starts.push_back(row.data());
      lengths.push_back(row.size());
    }
    return quintet_potential_set_neighbours(potential, n_owned, n_ghosts(), types.data(), rows.size(),
                                            atoms.data(), lengths.data(), starts.data(), mask);
  }

  std::vector<double> cell, positions;  ///< of owned atoms, then ghosts
  std::vector<int> types, owner, atoms;
  std::vector<std::vector<int>> rows;
  int n_owned = 0, mask = ~0;

 private:
  void add_ghosts(double range) {
    for (int image = 0; image < 343; ++image) {
      const int a = image % 7 - 3, b = image / 7 % 7 - 3, c = image / 49 - 3;
      if (a == 0 && b == 0 && c == 0) continue;
      for (int i = 0; i < n_owned; ++i) {
        double x[3];
        for (int k = 0; k < 3; ++k)
          x[k] = positions[3 * i + k] + a * cell[k] + b * cell[3 + k] + c * cell[6 + k];
        bool near = false;
        for (int j = 0; j < n_owned && !near; ++j)
          near = std::hypot(x[0] - positions[3 * j], x[1] - positions[3 * j + 1],
                            x[2] - positions[3 * j + 2]) < range;
        if (!near) continue;
        positions.insert(positions.end(), x, x + 3);
        types.push_back(types[i]);
        owner.push_back(i);
      }
    }
  }
  /// Rows from the last atom to the first, each from the last neighbour to the first: no order may be relied
  /// on.
  void list(double range) {
    for (int i = n_owned - 1; i >= 0; --i) {
      atoms.push_back(i);
      rows.emplace_back();
      for (int j = n_owned + n_ghosts() - 1; j >= 0; --j)
        if (j != i && distance(i, j) < range) rows.back().push_back(j);
    }
  }
};

}  // namespace quintet_c
