#pragma once

#include <vector>

#include "physics/kinetics/basis/basis.hpp"

namespace quintet::kinetics {

/// Products of functions of one configuration cell: C_lmn = int w_l w_m w_n, the few that are not zero.
///
/// Tabulated by the constructor: make one before a step loop. Coefficients are [n_conf_modes] each.
class ConfProducts {
 public:
  explicit ConfProducts(const Basis& conf);

  /// matrix[l * stride + m] += scale * sum_n C_lmn a_n: projection of a times what the matrix acts on.
  void add_matrix(const double* a, double scale, double* matrix, int stride) const {
    for (const auto& t : triples_) matrix[t.l * stride + t.m] += scale * t.c * a[t.n];
  }
  /// result[l] += scale * sum_mn C_lmn a_n b_m.
  void add_product(const double* a, const double* b, double scale, double* result) const {
    for (const auto& t : triples_) result[t.l] += scale * t.c * a[t.n] * b[t.m];
  }
  /// Bounds of a from below and above: its mean -+ sum of |a_n| max|w_n|, n > 0.
  struct Bounds {
    double lower, upper;
  };
  [[nodiscard]] Bounds bounds(const double* a) const {
    double deviation = 0;
    for (std::size_t n = 1; n < greatest_.size(); ++n) deviation += greatest_[n] * (a[n] < 0 ? -a[n] : a[n]);
    return {greatest_[0] * a[0] - deviation, greatest_[0] * a[0] + deviation};
  }
  /// All C_lmn, [l, m, n].
  [[nodiscard]] std::vector<double> dense() const;
  [[nodiscard]] int size() const { return greatest_.size(); }
  /// Value of the constant function.
  [[nodiscard]] double constant() const { return greatest_[0]; }

 private:
  struct Triple {
    int l, m, n;
    double c;
  };
  std::vector<Triple> triples_;
  std::vector<double> greatest_;  ///< max |w_n|
};

}  // namespace quintet::kinetics
