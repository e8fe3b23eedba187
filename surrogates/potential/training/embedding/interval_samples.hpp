#pragma once

#include <vector>

namespace quintet::potential {

/// Polynomials of a network on intervals from its samples at their nodes, and the way back of a gradient.
///
/// With c = C G(nodes), of an interval: G_bar(nodes) = C^T c_bar. By way of Chebyshev's coefficients, two
/// steps, so that round-off stays that of G.
class IntervalSamples {
 public:
  explicit IntervalSamples(int order);
  /// Append the nodes [order] of interval p of those of one width that begin at `lower`.
  void append_nodes(double lower, double width, int p, std::vector<double>& nodes) const;
  /// Coefficients of the powers [n_intervals, order, m] from samples [n_intervals, order, stride].
  /// @param unresolved raised to the size of the last two Chebyshev coefficients beside the largest |G|
  [[nodiscard]] std::vector<double> coefficients(const double* samples, int stride, int n_intervals, int m,
                                                 double& unresolved) const;
  /// Add factor C^T c_bar [n_intervals, order, m] to the samples' bar [n_intervals, order, stride].
  void add_back(const double* c_bar, double factor, int n_intervals, int m, int stride, double* bar) const;

 private:
  int order_;
  std::vector<double> chebyshev_;  ///< [order, order] samples -> Chebyshev coefficients
  std::vector<double> power_;      ///< [order, order] row k: powers' coefficients of T_k
};

}  // namespace quintet::potential
