#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "io/config/tree.hpp"

/// The reference data of the plasma kinetics in ../shared/data/kinetics, which are not part of the
/// repository:
///
///     if (!reference_here("theory.json")) GTEST_SKIP() << reference_absent("theory.json");
///     const Tree theory = reference_json("theory.json");
///     const CsvTable series = reference_csv("landau_vp_1x1v_p2.csv");  // series["t"], series["int_Ex2"]
///     const auto arrays = reference_npz("landau_vp_1x1v_p2_dg_coeffs.npz");  // arrays.at("elc_f_frame0")
namespace quintet::kinetics {

/// Where a file of this name would be.
[[nodiscard]] std::string reference_path(const std::string& name);
[[nodiscard]] bool reference_here(const std::string& name);
/// "../shared/data/kinetics/NAME is not here", for GTEST_SKIP.
[[nodiscard]] std::string reference_absent(const std::string& name);

/// A JSON document.
[[nodiscard]] Tree reference_json(const std::string& name);

/// Columns of numbers by name.
struct CsvTable {
  std::map<std::string, std::vector<double>> columns;
  [[nodiscard]] const std::vector<double>& operator[](const std::string& name) const {
    return columns.at(name);
  }
  [[nodiscard]] std::size_t n_rows() const { return columns.empty() ? 0 : columns.begin()->second.size(); }
};
[[nodiscard]] CsvTable reference_csv(const std::string& name);

/// An array in row-major order.
struct ReferenceArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;
  /// values[i, j, k] of a 3-D array.
  [[nodiscard]] double at(std::size_t i, std::size_t j, std::size_t k) const {
    return values.at((i * shape.at(1) + j) * shape.at(2) + k);
  }
  /// values[i, j] of a 2-D array.
  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return values.at(i * shape.at(1) + j); }
};
/// The arrays of a NumPy archive (stored or deflated, float32, float64 or integers in C order) by name,
/// without
/// ".npy".
[[nodiscard]] std::map<std::string, ReferenceArray> reference_npz(const std::string& name);

}  // namespace quintet::kinetics
