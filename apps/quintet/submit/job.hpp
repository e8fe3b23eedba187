#pragma once

#include <string>
#include <vector>

#include "io/machine/rules.hpp"

namespace quintet {

/// A job as it is written into a script: whose limits have been checked.
struct Job {
  std::string name{};       ///< letters, digits, '_', '-', '+', '.'; begins with a letter or '_'
  std::string directory{};  ///< absolute; of an array, the folder that holds one folder a task
  std::string input{};      ///< name of the staged YAML file in each run's folder
  std::string executable{}, command{};
  std::string queue{};
  JobShape shape{};
  std::string reservation{};           ///< whose nodes it runs on, if any
  std::vector<std::string> exclude{};  ///< nodes that it must not run on
  std::string retry_program{};         ///< quintet, which asks how the job before ended; "": nobody does

  [[nodiscard]] bool is_array() const { return shape.array_tasks > 0; }
};

/// A name that all schedulers take: of `stem`, at most 15 characters as older PBS has it.
[[nodiscard]] std::string job_name(const std::string& stem);

/// The folder of a task: "0007".
[[nodiscard]] std::string task_folder(std::int64_t task);

/// A word of a shell script that stands for exactly this text.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace quintet
