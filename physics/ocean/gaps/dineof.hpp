#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "io/parallel/interrupt.hpp"
#include "physics/ocean/svd/tall_matrix.hpp"

namespace quintet::ocean {

struct DineofOptions {
  int most_modes = 20;     ///< that are tried
  double held_out = 0.01;  ///< share of the known values that choose the number of modes
  double tolerance =
      1e-4;  ///< root mean square change of the filled values in an iteration, over that of all
  int most_iterations = 500;
  std::uint64_t seed = 1;
};

/// What a filling found.
struct GapFilling {
  std::int64_t filled = 0;     ///< values, of all ranks
  int modes = 0;               ///< that fill
  std::vector<double> errors;  ///< [tried + 1] of held-out values with 0, 1, ... modes (unit of X over scale)
  std::int64_t held_out = 0;   ///< values behind them
  int iterations = 0;          ///< of the last filling
  bool converged = true;
};

/// Fill gaps (NaN) of X, whose rows are anomalies about a background, by its own leading modes: with gaps
/// first at 0,
///
///     x_gap <- (sum_m s_m u_m v_m^T)_gap,   (s, u, v) the k leading singular triplets of the filled X,
///
/// until nothing changes. k is the number with the least error at known values that were held out, tried from
/// 0 on until it has risen three times (Beckers and Rixen, J. Atmos. Oceanic Technol. 20, 1839 (2003);
/// Alvera-Azcarate et al., Ocean Model. 9, 325 (2005)). The singular triplets are brought up by a step of
/// subspace iteration for each step of the filling.
///
/// Which values are held out depends on point and day alone, so that the order of times and the number of
/// ranks do not matter but for round-off. Collective.
///
/// @param scale [rows] square roots of weights that X was multiplied by; @param points [rows] numbers of the
/// rows among those of all ranks; @param days [columns]
/// Throws InputError where fewer than 20 values would be held out; Interrupted between iterations.
[[nodiscard]] GapFilling fill_by_dineof(const Comm& comm, TallMatrix& x, std::span<const double> scale,
                                        std::span<const int> points, std::span<const double> days,
                                        const DineofOptions& options, const Interrupt& interrupt = {});
/// Memory that it takes beside X on a rank (bytes).
[[nodiscard]] double dineof_bytes(double rows, double columns, const DineofOptions& options);

}  // namespace quintet::ocean
