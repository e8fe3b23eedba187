#pragma once

#include <cstddef>
#include <string>

namespace quintet::sequence {

/// Numbers from which products of a network are made.
enum class Products {
  exact,  ///< its numbers
  bf16    ///< these rounded to bfloat16, sums in float
};

/// A network with weights, whoever computes it: outputs of windows, and the gradient of their squared error.
///
/// Not for several threads at once: each has its own.
template <class Real>
class Passes {
 public:
  virtual ~Passes() = default;
  [[nodiscard]] virtual std::size_t n_parameters() const = 0;
  /// Take the weights from the flat array [n_parameters], in the order of the graph.
  virtual void refresh(const Real* parameters) = 0;
  /// Outputs [n, steps_out, n_outputs] of windows [n, steps, n_inputs].
  virtual void forward(const Real* windows, int n, Real* outputs) = 0;
  /// L = sum over the n windows' outputs of (output - target)^2 / (outputs of `batch` windows): their part of
  /// a batch's mean. Adds dL/dparameters to the gradient.
  virtual double loss_and_gradient(const Real* windows, const Real* targets, int n, Real* gradient,
                                   int batch) = 0;
  /// The mean over the n windows.
  double loss_and_gradient(const Real* windows, const Real* targets, int n, Real* gradient) {
    return loss_and_gradient(windows, targets, n, gradient, n);
  }
  /// Notice to the user on how they are computed, given once; else empty.
  [[nodiscard]] virtual std::string take_notice() { return {}; }
};

}  // namespace quintet::sequence
