#pragma once

#include <string>
#include <vector>

namespace quintet::sequence {

/// The square of an error of coefficients as a number of physics: e^T G e (degC^2).
///
/// For orthonormal modes over P points, G = 1/P: the mean over points of the squared error of the field. Over
/// a region, G_mn = sum_x w_x mode_m mode_n/sum_x w_x; of the region's mean, G = g g^T, g_m = sum_x w_x
/// mode_m/sum_x w_x.
struct Metric {
  std::string name;  ///< "all points", "nino34"
  int n_modes = 0;
  std::vector<double> gram;    ///< [modes, modes]
  bool of_all_points = false;  ///< no region's

  [[nodiscard]] double square(const double* error) const;
};

/// Mean over all points, `total_weight` of the modes' inner product (the number of points where it is
/// unweighted).
[[nodiscard]] Metric subspace_metric(int n_modes, double total_weight);
/// Mean over points with weights w [P] (0 outside the region): modes [M, P]. Throws InputError without any
/// weight.
[[nodiscard]] Metric region_metric(std::string name, const std::vector<double>& modes,
                                   const std::vector<double>& weights);
/// Metric of a region's mean.
[[nodiscard]] Metric index_metric(std::string name, const std::vector<double>& modes,
                                  const std::vector<double>& weights);

}  // namespace quintet::sequence
