#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/cli/warm.hpp"

namespace quintet::campaign {

/// The process of a program that is warm, or about to be, and the runs that it has forked.
class WarmProgram {
 public:
  /// Begin to load it; it works in a folder, with what it says in log.txt there. Throws ResourceError.
  WarmProgram(const std::string& executable, const std::string& folder);
  /// Kills it, and with it what still runs.
  ~WarmProgram();
  WarmProgram(const WarmProgram&) = delete;
  WarmProgram& operator=(const WarmProgram&) = delete;

  /// A run's process; nothing if the program is not ready, or will never be.
  [[nodiscard]] std::optional<std::int64_t> start(const WarmOrder& order);
  [[nodiscard]] bool has(std::int64_t process) const { return runs_.contains(process); }
  /// Exit code or 128 + signal, told once; nothing while it runs. Where the warm program is gone its runs
  /// were killed, and are seen to be.
  [[nodiscard]] std::optional<int> ended(std::int64_t process);
  /// Whether it has ended and has no run left to report.
  [[nodiscard]] bool is_gone() const { return server_ == 0 && runs_.empty(); }

 private:
  struct Run {
    std::string start;  ///< start_of() its process
    std::optional<int> code;
  };
  void hear();
  void take(const WarmNews& news);
  void lose();

  std::int64_t server_ = 0;
  int socket_ = -1;
  bool is_ready_ = false;
  std::map<std::int64_t, Run> runs_;
};

/// The programs that run for a campaign, each in a folder of its own.
class Programs {
 public:
  explicit Programs(std::string folder) : folder_(std::move(folder)) {}

  /// Start a program as start_program() does; forked by a warm program if wanted and ready, else directly.
  [[nodiscard]] std::int64_t start(const std::string& executable, const std::vector<std::string>& words,
                                   const std::string& folder, const std::vector<std::string>& variables,
                                   bool warm);
  /// Exit code, or 128 + signal, of what start() returned; nothing while it runs.
  [[nodiscard]] std::optional<int> ended(std::int64_t process);
  [[nodiscard]] std::int64_t n_warm() const { return n_warm_; }  ///< runs that were forked

 private:
  struct Standing {
    std::unique_ptr<WarmProgram> program;
    int n_lost = 0;
  };
  std::string folder_;
  std::map<std::string, Standing> standing_;  ///< by executable
  std::int64_t n_warm_ = 0;
};

}  // namespace quintet::campaign
