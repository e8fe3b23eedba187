#pragma once

#include <span>
#include <string>
#include <vector>

#include "surrogates/flow/equations/parser.hpp"

namespace quintet::flow {

/// The fewest operators whose combinations give a set of wanted ones, for each of some samples.
struct OperatorBasis {
  std::vector<std::vector<DifferentialOperator>> operators;  ///< [sample][channel]; as many for each
  /// wanted = sum over channels of weight * operator: [sample][wanted][channel].
  std::vector<std::vector<std::vector<double>>> weights;
};

/// Find it by Gauss-Jordan elimination, second derivatives before first ones: what the wanted operators hold
/// of pure first derivatives comes out as such, and costs least.
///
/// Where the eliminations of all samples run alike (P = R in all of them, say), each sample has operators of
/// its own, d_xx + d_zz - d_t/P; else all have the same ones, which span what is wanted in any sample.
/// Coefficients that cancel to 1e-8 count as equal. First-order operators come first.
/// @param wanted [sample][wanted]
[[nodiscard]] OperatorBasis find_operator_basis(std::span<const std::vector<DifferentialOperator>> wanted);

/// "dzz + dxx - 1000 dt".
[[nodiscard]] std::string operator_text(const DifferentialOperator& operation,
                                        const std::array<std::string, n_axes>& axes);

}  // namespace quintet::flow
