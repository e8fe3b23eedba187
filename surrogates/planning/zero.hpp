#pragma once

#include <span>

#include "surrogates/planning/links.hpp"

namespace quintet::planning {

/// Bytes of a parameter in data-parallel training.
struct ParameterBytes {
  double value = 0, gradient = 0, optimiser = 0;
};
/// Adam in single precision: value, gradient, two moments.
inline constexpr ParameterBytes adam_float32{4, 4, 8};
/// Adam with values and gradients of 16 bits, beside a value and moments of 32.
inline constexpr ParameterBytes adam_float16{2, 2, 12};

/// One row a stage of ZeRO: which arrays N data-parallel ranks divide instead of each holding a copy.
///
/// Source: Rajbhandari et al. 2020 (SC), sections 5 and 7. Y parameters.
struct ZeroRow {
  int value;  ///< stage
  const char *name, *doc;
  /// Memory of a rank: the divided arrays count 1/N (bytes).
  double (*memory)(const ParameterBytes &, double parameters, double n_ranks);
  /// Traffic of a rank and step: gradients reduce-scattered and values gathered, 2 Y (N - 1)/N values; stage
  /// 3 gathers them once more, for the backward pass.
  Traffic (*traffic)(const ParameterBytes &, double parameters, double n_ranks);
};
[[nodiscard]] std::span<const ZeroRow> zero_stages();

}  // namespace quintet::planning
