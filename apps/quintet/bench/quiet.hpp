#pragma once

#include <optional>
#include <string>

#include "io/machine/core_use.hpp"
#include "io/parallel/comm.hpp"

/// Whether the machine is quiet enough for a time that is to be shown to others.
namespace quintet::bench {

/// Share of their cores that the ranks got, on the node where it was worst.
struct Quiet {
  double own_share = 1;     ///< CPU time over wall time of ranks that want to compute all the time
  double others_cores = 0;  ///< cores that other programs used meanwhile; 0 where nobody counts
  double stolen_cores = 0;  ///< cores that other virtual machines took
  double slots_share = 1;   ///< slots of issue beside the most that were seen (physics/kernels/core_rate.hpp)
  int cores = 1;            ///< of this node
};
/// Why a time taken meanwhile says little, in words; "" if nothing speaks against it.
[[nodiscard]] std::string objection(const Quiet& quiet);

/// Keep all ranks busy for half a second and look what they get. Collective; the same on all ranks.
[[nodiscard]] Quiet look_around(const Comm& comm);

/// Measures what others do between two moments: all but this job and the programs that it has run to their
/// end. Collective.
class Watch {
 public:
  explicit Watch(const Comm& comm);
  /// Since it was made: others_cores and stolen_cores. The same on all ranks.
  [[nodiscard]] Quiet look() const;

 private:
  Comm comm_;
  std::optional<CoreUse> use_;
  double cpu_s_, wall_s_;
};

}  // namespace quintet::bench
