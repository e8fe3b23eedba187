#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apps/application/life/run_owner.hpp"

namespace quintet::campaign {

/// Whether several campaigns may be at a store at once.
enum class Sharing { alone, shared };

/// The processes that work on one store, on this machine and on others, and which of them has which item.
///
/// A process has a folder .worker_NAME with its RunOwner: host, number, start and a heartbeat. An item is
/// claimed by a link claims/KEY to a file that names its worker; link() succeeds for one process only. Who
/// finds the claim of a worker that is dead becomes the owner of that worker's folder, which one process can
/// be, ends what it has left running on this machine, and takes its claims away.
class Workers {
 public:
  /// Throws InputError with host and process if another one is at the store and we want to be alone.
  Workers(std::string directory, Sharing sharing);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// When we joined, by the file system's clock.
  [[nodiscard]] std::filesystem::file_time_type since() const;
  /// Have an item. False: another worker that lives has it.
  [[nodiscard]] bool claim(const std::string& key);
  void release(const std::string& key) const;
  /// "process 123 on host, heard of 3 s ago" of the worker that has an item, or "" if nobody or nobody alive
  /// has it.
  [[nodiscard]] static std::string holder(const std::string& directory, const std::string& key);
  /// Whether anybody else, also one who died, has claimed it.
  [[nodiscard]] bool is_claimed(const std::string& key) const;

 private:
  [[nodiscard]] bool inherit(const std::string& name);
  /// Remove what killed workers had not yet given its name; nobody else may be at work.
  void remove_unfinished() const;

  std::string directory_, name_;
  std::unique_ptr<RunOwner> owner_;
  std::map<std::string, std::chrono::steady_clock::time_point> judged_;  ///< alive, when we looked last
};

}  // namespace quintet::campaign
