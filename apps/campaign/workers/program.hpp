#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::campaign {

/// Start a program in a folder, its output appended to FOLDER/log.txt, as the head of a process group; it is
/// killed when the calling thread ends, however that does. `variables` ("NAME=value") come on top of this
/// process's environment, from which those of an MPI launcher are taken: the program may be an MPI program of
/// its own; its stdin is `input`, or empty (-1). Returns its process. Throws ResourceError.
[[nodiscard]] std::int64_t start_program(const std::string& executable, const std::vector<std::string>& words,
                                         const std::string& folder, const std::vector<std::string>& variables,
                                         int input = -1);

/// The variable by which what an item of a campaign starts is known to be of this folder's.
[[nodiscard]] std::string variable_of_item(const std::string& folder);

/// Program that runs in a folder, as note_program() has recorded it.
struct RunningProgram {
  std::int64_t process = 0;
  std::string host, boot;
  double since = 0;       ///< (s since 1970)
  bool is_alive = false;  ///< on this machine; elsewhere it is not known
};
/// The file that note_program() writes, and that is of nobody's results.
[[nodiscard]] std::string note_of(const std::string& folder);
void note_program(const std::string& folder, std::int64_t process);
[[nodiscard]] std::optional<RunningProgram> program_in(const std::string& folder);
/// Kill what a campaign on this machine has left running there: all that the program has started, also where
/// it is gone itself. Throws ResourceError if one does not end.
void end_program_in(const std::string& folder);

/// When a process of this machine began (boot and clock ticks); "" if it does not exist or has ended.
[[nodiscard]] std::string start_of(std::int64_t process);

/// Identifier of this machine's current boot.
[[nodiscard]] const std::string& boot();

[[nodiscard]] const std::string& host_name();

}  // namespace quintet::campaign
