#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/input/spin.hpp"

/// The way that avoids the submatrix method: one diagonalisation of the whole matrix, K c = e S c.
namespace quintet::submatrix {

/// Why the whole matrix is diagonalised at this threshold: submatrices would be nearly the whole matrix, or
/// the user wants it; "" if it is not. `a` is S^-1/2 K S^-1/2; while that is not known, sizes are judged by
/// the submatrices of K and of S^-1/2. Collective.
[[nodiscard]] std::string why_dense(Context& context, const EvaluateOptions& options, const System& system,
                                    double threshold, const electronic::BlockMatrix* a = nullptr);

/// Sizes of K that the submatrix method holds beside K and S: S^-1/2 and products on the way to it, A, the
/// blocks that submatrices gather, D and its error; as measured (docs/measured.md).
inline constexpr double matrices_beside_k = 9;

/// Predicted for both ways, all spins and thresholds together: seconds of a core's clock, memory of all ranks
/// (B). The dense way is one diagonalisation on the first rank; submatrices are shared by all.
struct Costs {
  double dense_seconds, submatrix_seconds, dense_bytes, submatrix_bytes;
};
/// Predict both ways. `a`: S^-1/2 K S^-1/2 where it has been made, whose making is then no part of the
/// prediction; without it, K's pattern stands for A's. `sharing`: number of K that share S^-1/2; 0: it is
/// known. Collective.
[[nodiscard]] Costs predicted_costs_of(const EvaluateOptions& options, const std::vector<Spin>& spins,
                                       const electronic::BlockMatrix* a, std::size_t sharing = 1);

/// Why one dense diagonalisation is the cheaper way, or "": the choice is not left open, a check, a spectrum
/// or a matrix of the basis S^-1/2 is wanted, memory is too small, or it would save less than 0.1 s.
[[nodiscard]] std::string cheaper_dense(Context& context, const EvaluateOptions& options, const Costs& costs);

/// Whether the whole matrix may be diagonalised in place of submatrices that were refused: the user leaves
/// the choice, wants nothing of S^-1/2, memory suffices and ten minutes are predicted at most.
[[nodiscard]] bool may_be_dense(Context& context, const EvaluateOptions& options, const System& system);

/// Evaluate all spins and write the matrices that the user wants; the numbers hold for any threshold. `check`
/// is called with each spin's numbers first. Throws InputError if S is too nearly singular, ResourceError if
/// memory is too small. Collective.
[[nodiscard]] Evaluation evaluate_densely(Context& context, const EvaluateOptions& options,
                                          const std::vector<Spin>& spins,
                                          const std::function<void(const Evaluation&)>& check);

}  // namespace quintet::submatrix
