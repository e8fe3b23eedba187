#pragma once

#include <cstdint>
#include <optional>

#include "io/config/schema_fwd.hpp"

namespace quintet::dpmd {

/// How candidates are chosen where there are more than wanted.
enum class Pick {
  random,
  time,       ///< evenly along the run
  deviation,  ///< those of the largest deviations
  farthest,   ///< each farthest from those before, in what the frames look like
};

/// Section `selection`: which frames are worth a label.
struct SelectionOptions {
  double force_low = 0, force_high = 0;           ///< (eV/angstrom)
  std::optional<double> virial_low, virial_high;  ///< an atom (eV)
  std::int64_t most = 100;
  Pick method = Pick::random;
};
void describe(Schema& schema, SelectionOptions& options);

}  // namespace quintet::dpmd
