#pragma once

namespace quintet {

/// Whether SIGKILL has come for a process of this machine that is still there: it runs no more of its
/// program.
[[nodiscard]] bool is_being_killed(int process);

}  // namespace quintet
