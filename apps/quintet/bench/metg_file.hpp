#pragma once

#include <optional>
#include <string>

namespace quintet::bench {

/// Data that others need of a metg.json of 'quintet bench metg'.
struct MetgFile {
  std::string of{};                  ///< the application, or "tasks"
  std::string unit{};                ///< of its work: "cells"; "" of graphs of tasks
  std::optional<double> per_rank{};  ///< work of a rank below which half of the time is lost; absent: unknown
  std::string doubt{};               ///< why not to rely on it, or ""
};

/// Read a file of METG results. Throws InputError for any other file.
[[nodiscard]] MetgFile read_metg(const std::string& file);

}  // namespace quintet::bench
