#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

#include "io/parallel/comm.hpp"

namespace quintet::test {

/// A folder of all ranks on the build's disk: what is offloaded is not taken into memory.
class DiskScratch {
 public:
  explicit DiskScratch(const std::string& name) {
    const auto id = Comm::world().broadcast(static_cast<int>(::getpid()));
    path_ = std::filesystem::absolute(name + "_" + std::to_string(id));
    if (Comm::world().is_root()) std::filesystem::create_directories(path_);
    Comm::world().barrier();
  }
  ~DiskScratch() {
    Comm::world().barrier();
    std::error_code ignored;
    if (Comm::world().is_root()) std::filesystem::remove_all(path_, ignored);
  }
  DiskScratch(const DiskScratch&) = delete;
  DiskScratch& operator=(const DiskScratch&) = delete;
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace quintet::test
