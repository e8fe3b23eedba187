#pragma once

namespace quintet {

/// To be called first in a process that runs for long, before MPI is up.
///
/// SIGTERM, SIGUSR1, SIGINT and SIGHUP (unless it is ignored, as nohup does) are remembered from here on: one
/// that comes during the start is the reason of the first StopRequest that looks. SIGPIPE and SIGXFSZ are
/// ignored: a write to a closed pipe or beyond the limit of a file's size then fails with EPIPE or EFBIG
/// instead of ending the process without a checkpoint or word.
void remember_stop_signals();

/// Whether one of these signals has come since: for what waits before there is a StopRequest.
[[nodiscard]] bool stop_signal_has_come();

/// To be called first in every process: SIGCHLD has its default again. Where a parent ignores it and hands
/// that on, waitpid() says of no child how it ended.
void hear_of_children();

/// For a process without runs of its own: SIGXFSZ alone is ignored, so that a write beyond the limit fails.
void ignore_size_signal();

}  // namespace quintet
