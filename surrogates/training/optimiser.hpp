#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "io/config/schema_fwd.hpp"

namespace quintet {

/// How parameters follow from gradients.
enum class OptimiserKind { adam, adamw, sgd };

/// Options of an optimiser; the defaults are everybody's Adam.
struct OptimiserOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< adam, adamw
  double clip = 0;  ///< components of the gradient are cut to +-clip; 0: they are not
  OptimiserKind kind = OptimiserKind::adam;
  double weight_decay = 0;  ///< adamw
  double momentum = 0;      ///< sgd
  double clip_norm = 0;     ///< longest gradient of all parameters together; 0: any (FlatParameters)
};

/// Section `optimiser`.
void describe(Schema& schema, OptimiserOptions& options);
/// Its key `clip_norm`.
void describe_clip_norm(Schema& schema, double& clip_norm);

/// One row an optimiser. All of them work number by number, on any slice of the arrays: one that needs whole
/// tensors (LAMB, Muon) has no row.
struct OptimiserRow {
  OptimiserKind value;
  const char* name;
  /// Arrays beside parameters and gradient.
  int (*n_states)(const OptimiserOptions& options);
  std::array<const char*, 2> state_names;  ///< in checkpoints
  std::array<const char*, 2> state_docs;
};
[[nodiscard]] std::span<const OptimiserRow> optimisers();
[[nodiscard]] const OptimiserRow& optimiser_row(OptimiserKind kind);
[[nodiscard]] inline int n_states(const OptimiserOptions& options) {
  return optimiser_row(options.kind).n_states(options);
}

/// Slices of the flat arrays, all as long as theta; states that the optimiser does not have are empty.
template <class Real>
struct OptimiserSlices {
  std::span<Real> theta, gradient;
  std::array<std::span<Real>, 2> states;
};

/// Slices of the flat arrays with parameters in halves (split_bf16.hpp).
struct SplitSlices {
  std::span<std::uint16_t> high;
  std::span<std::int16_t> low;
  std::span<float> gradient;
  std::array<std::span<float>, 2> states;
};

/// One step in one sweep over memory; clears the gradient.
///
/// adam, g cut to +-clip where the options say so:
///
///     m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
///     theta -= lr mhat/(sqrt(vhat) + epsilon),  mhat = m/(1 - b1^t),  vhat = v/(1 - b2^t)
///
/// (Kingma and Ba 2015, ICLR, algorithm 1). adamw: theta *= 1 - lr weight_decay before it (Loshchilov and
/// Hutter 2019, ICLR). sgd: u = momentum u + g, theta -= lr u, each product rounded before it is added.
///
/// A number's bits depend on its own history alone, not on where slices begin and end or on its place in a
/// pack. Instantiated for float and double.
/// @param t number of this step, from 1
template <class Real>
void optimiser_step(const OptimiserOptions& options, std::int64_t t, double learning_rate,
                    const OptimiserSlices<Real>& slices);
/// The step of float of the halves joined, split again.
void optimiser_step(const OptimiserOptions& options, std::int64_t t, double learning_rate,
                    const SplitSlices& slices);

}  // namespace quintet
