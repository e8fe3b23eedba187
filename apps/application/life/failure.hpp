#pragma once

#include <exception>
#include <string>

#include "apps/application/life/last_word.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// Meaning of an exception to the user.
struct Failure {
  ExitCode code = ExitCode::internal;
  std::string message;
};

/// The failure that an exception stands for: an Error of ours as it says, std::bad_alloc as out of memory,
/// anything else as a bug of ours.
[[nodiscard]] Failure failure_of(const std::exception_ptr& exception);

/// Rank of this process as the launcher (mpirun, srun) says, before MPI is up; 0 without a launcher.
[[nodiscard]] int launcher_rank();

/// Agree about a failure of this rank: returns if all ranks have failed, with the failure of the lowest one.
///
/// Called by every rank that failed, on a communicator used for nothing else. Ranks that did not fail never
/// come here and may wait in MPI for ever, so after a short time the failed rank (the lowest first) prints
/// its message, also to `log_file`, leaves it as the last word, and aborts the job with its exit code.
[[nodiscard]] Failure agree_on_failure(const Comm& failure_comm, const Failure& mine,
                                       const std::string& log_file, const LastWord* last_word = nullptr);

}  // namespace quintet
