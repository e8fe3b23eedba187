#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/evaluate/occupied.hpp"
#include "apps/submatrix/evaluate/way.hpp"
#include "apps/submatrix/input/spin.hpp"

namespace quintet::submatrix {

/// Tell what the user holds of a spin; `counted`: the number of its electrons too.
[[nodiscard]] Held held_of(const EvaluateOptions& options, const Spin& spin, bool counted);

/// Evaluate all spins at one threshold by submatrices: P, D, levels and errors. `write`: also the matrices
/// that the user wants. Collective. Throws Interrupted.
[[nodiscard]] Evaluation evaluate_threshold(Context& context, const EvaluateOptions& options,
                                            const std::vector<Spin>& spins, const Way& way,
                                            electronic::DeviceSubmatrices* device, double threshold,
                                            bool write);

}  // namespace quintet::submatrix
