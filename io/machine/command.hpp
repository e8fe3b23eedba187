#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// Result of a program.
struct CommandResult {
  int code = 0;             ///< exit code, or 128 + the number of the signal that ended it
  bool timed_out = false;   ///< ended here, because it took too long
  std::string out, errors;  ///< what it wrote, at most 64 MB each

  [[nodiscard]] bool good() const { return code == 0 && !timed_out; }
};

/// Run a program to its end, without a shell: words[0] is its path or a name on the PATH, nothing is on its
/// input. After `limit_s` seconds it is killed with all that it has started. Throws InputError if it cannot
/// be started, with the reason.
/// Variables of the environment whose names `hidden` knows are not handed on.
[[nodiscard]] CommandResult run_command(const std::vector<std::string>& words, double limit_s,
                                        const std::function<bool(std::string_view)>& hidden = nullptr);

/// The last line of a text that says something: what a program that failed has to say.
[[nodiscard]] std::string last_line(const std::string& text);

}  // namespace quintet
