#pragma once

#include <vector>

#include "physics/ocean/pod.hpp"

namespace quintet::ocean {

/// A variable among the rows of the joint fields of modes: the rows of this rank.
struct PodVariable {
  const Record* record;
  int first_row;
  std::vector<double> weights;  ///< of all points
  std::vector<double> root;     ///< of the weights of this rank's points
  SmallMatrix background;       ///< [1 + 2 harmonics, points of this rank]
  double total;                 ///< sum of squares about the background, as it counts
  double weight;                ///< of all points, before the variable is scaled
  double scale;                 ///< of its fields
};

/// Times after the fit that are held at once.
constexpr int times_later = 64;

/// Times of the fit that are behind the background: [first, last).
struct TimeSpan {
  int first, last;
};
[[nodiscard]] TimeSpan background_times(const Record& record, const PodOptions& options);
/// Harmonics of the seasonal cycle in the background.
[[nodiscard]] int harmonics_of(const PodOptions& options);
/// The rows of each variable, and the weights of its points; backgrounds and totals come by fit_fields().
[[nodiscard]] std::vector<PodVariable> pod_variables(const Comm& comm, const JointRecords& records,
                                                     const PodOptions& options);
/// Fields of all variables over the fit's times, below each other, filled, about their backgrounds, weighted
/// and scaled: [rows of this rank, n_fit]. Sets backgrounds and totals of variables, and pod.filling.
/// Collective. Throws InputError for a variable that does not change.
[[nodiscard]] TallMatrix fit_fields(const Comm& comm, const JointRecords& records, const PodOptions& options,
                                    std::vector<PodVariable>& variables, Pod& pod);
/// Fields of n times from first on, after the fit, treated as those of fit_fields(): [rows, n]. Collective.
[[nodiscard]] TallMatrix later_fields(const std::vector<PodVariable>& variables, int first, int n,
                                      int harmonics, int rows);
/// Sum of squares of what modes leave of each variable, x - left a. Collective.
[[nodiscard]] std::vector<double> left_of(const Comm& comm, const std::vector<PodVariable>& variables,
                                          const TallMatrix& x, const TallMatrix& left, const SmallMatrix& a);
/// Sum of squares of the fit's fields of each variable that modes hold: sum_m s_m^2 |u_vm|^2, u_vm its rows
/// of the left vectors. Collective.
[[nodiscard]] std::vector<double> captured_of(const Comm& comm, const std::vector<PodVariable>& variables,
                                              const SingularTriplets& triplets);
/// Gather modes and background of a variable, in its units, on all ranks. Collective.
void take_fields(const Comm& comm, const PodVariable& variable, const TallMatrix& left, int n_modes,
                 FieldModes& modes);

}  // namespace quintet::ocean
