#pragma once

#include <optional>
#include <string>

#include "io/parallel/comm.hpp"

namespace quintet {

/// Memory of this node that can still be had (bytes): the least of the kernel's estimate and what is left of
/// the limits of this process's control groups and their parents; no value where the system tells neither.
[[nodiscard]] std::optional<double> available_memory();

/// A rank's share of it: an equal part of what is free for those that share it, be it a node or a control
/// group; the least of all; infinity where no system tells. Collective.
[[nodiscard]] double memory_of_a_rank(const Comm& comm);

/// What a rank of a run takes beside its state, for plans: HDF5's caches and series, pictures, the report;
/// and, of several ranks, MPI's buffers. Measured in runs of dpmd and vlasov (docs/planning.md): 11 to 18 MB,
/// and 2 to 4.
inline constexpr double bytes_of_files = 16e6, bytes_of_messages = 3e6;

/// Throw ResourceError on all ranks if `bytes` more on each rank do not fit into some node's free memory, or
/// into what a control group has left for the ranks in it. Collective.
///
/// The largest demand of any rank is taken for all. `what` completes "... for WHAT". Negative
/// or non-finite `bytes` (an overflowed product) never fit.
void require_memory(const Comm& comm, double bytes, const std::string& what);

}  // namespace quintet
