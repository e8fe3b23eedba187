#pragma once

#include <cstddef>
#include <cstdint>

/// Kernels of batch normalisation on the numbers of one feature: `samples` rows of `nodes` numbers, `stride`
/// apart. Sums are in float64, in a fixed order.
namespace quintet::flow {

struct FeatureRows {
  std::int64_t samples = 0, nodes = 0, stride = 0;
};

/// Sum of term(i) over all numbers: lanes that the compiler adds side by side.
template <class Term>
[[nodiscard]] double sum_over(const FeatureRows& rows, Term&& term) {
  constexpr int lanes = 16;
  double sums[lanes] = {};
  for (std::int64_t sample = 0; sample < rows.samples; ++sample) {
    const std::int64_t first = sample * rows.stride;
    std::int64_t i = 0;
    for (; i + lanes <= rows.nodes; i += lanes)
      for (int l = 0; l < lanes; ++l) sums[l] += term(first + i + l);
    for (int l = 0; i + l < rows.nodes; ++l) sums[l] += term(first + i + l);
  }
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

/// body(i) for all numbers.
template <class Body>
void for_all(const FeatureRows& rows, Body&& body) {
  for (std::int64_t sample = 0; sample < rows.samples; ++sample) {
    const std::int64_t first = sample * rows.stride;
    for (std::int64_t i = first; i < first + rows.nodes; ++i) body(i);
  }
}

}  // namespace quintet::flow
