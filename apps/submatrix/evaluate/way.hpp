#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/input/basis.hpp"
#include "apps/submatrix/input/spin.hpp"
#include "physics/electronic/density/kept_root.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/sparse/layout.hpp"

/// The choice of the way: the submatrix method, or one diagonalisation of the whole matrix.
namespace quintet::submatrix {

/// How each threshold is evaluated.
struct Way {
  std::vector<std::string> why_dense;  ///< "": by submatrices
  std::vector<Basis> bases;            ///< of each spin; none where nothing is done by submatrices
  std::vector<SpmmLayout> check;       ///< of each spin, how P is checked on vectors; none: it is not
};

/// Sizes of K that the submatrix method holds beside K and S: S^-1/2 and products on the way to it, A, the
/// blocks that submatrices gather, D and its error; as measured (docs/measured.md).
inline constexpr double matrices_beside_k = 9;

/// Choose the way of each threshold of a K, by sizes and predicted costs, and make what submatrices need:
/// S^-1/2 and A. `first`: K is the first one; `root`: S^-1/2 where it is known. Throws InputError where S is
/// too nearly singular for the way that is asked for. Collective.
[[nodiscard]] Way choose_way(Context& context, const EvaluateOptions& options, const std::vector<Spin>& spins,
                             electronic::DeviceSubmatrices* device, bool first,
                             std::optional<electronic::KeptRoot> root);

/// Whether the whole matrix may be diagonalised in place of submatrices that were refused: the user leaves
/// the choice, wants nothing of S^-1/2, memory suffices and ten minutes are predicted at most.
[[nodiscard]] bool may_be_dense(Context& context, const EvaluateOptions& options, const System& system);

}  // namespace quintet::submatrix
