#pragma once

#include <optional>

#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// Memory of this node that can still be had (bytes): the least of the kernel's estimate and what is left of
/// the limits of this process's control groups and their parents; no value where the system tells neither.
[[nodiscard]] std::optional<double> available_memory();

/// A rank's share of it: an equal part of what is free for those that share it, be it a node or a control
/// group; the least of all; infinity where no system tells. Collective.
[[nodiscard]] double memory_of_a_rank(const Comm& comm);

/// What a rank of a run takes beside its state, for plans: HDF5's caches and series, pictures, the report;
/// and, of several ranks, MPI's buffers. Measured in runs of all programs (docs/measured.md): 11 to 20 MB,
/// and 2 to 5. Most of it are pages of libraries, which other processes share and the kernel can read again:
/// `bytes_of_writing` is the part that counts where memory is limited.
inline constexpr double bytes_of_files = 20e6, bytes_of_writing = 4e6, bytes_of_messages = 4e6;

/// Series of run.h5 with so many columns and rows to come: kept for the report, and once more where HDF5
/// keeps what it writes, which is at most 1 MiB a column.
[[nodiscard]] double bytes_of_series(double columns, double rows);

/// Upper bound of the part of `arrays` allocated bytes that this process has not written to (bytes): what the
/// process has not grown by since it held `before` bytes.
[[nodiscard]] double bytes_not_there_yet(double arrays, double before);

}  // namespace quintet
