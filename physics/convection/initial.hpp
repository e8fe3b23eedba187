#pragma once

#include <cstdint>

#include "physics/convection/boussinesq.hpp"

namespace quintet::convection {

/// How a flow begins: at rest, with b as a sum of
///
///     profile:  the conducting state, b = -z (or 1/2 - x/aspect ratio where the sides are heated), or 0
///     roll:     roll cos(2 pi n x/length) cos(pi z), n pairs of rolls (between sides: cos(pi n x/length))
///     noise:    by grid point, noise N(0, 1) (1/2 - z)(z + 1/2); or in modes,
///               noise sum_mn N(0, 1) (cos, sin)(2 pi m x/length) sin(n pi (z + 1/2)) over m, n = 1 ...
///               noise_modes, each with a number that (seed, m, n) give alone: the same field on every grid
///               (between sides: cos(pi m x/length))
struct Start {
  bool conducting = true;
  double roll = 0;
  int roll_pairs = 1;
  double noise = 1e-3;
  int noise_modes = 0;  ///< 0: by grid point
};

/// Fill b of a member from (seed, place) alone, the same on any number of ranks; u, w and p become 0.
void fill(const Problem& problem, const Start& start, std::uint64_t seed, Boussinesq& flow, int member);

}  // namespace quintet::convection
