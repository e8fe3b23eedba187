#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "io/parallel/comm.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::search {

/// What holds a task until a test opens it, so that no clock decides which of two ends first. All ranks and
/// their processes see it. Collective.
class Gate {
 public:
  Gate()
      : own_("gate_" + std::to_string(Comm::world().rank())),
        path_(Comm::world().broadcast(own_ / "is_open")) {}
  ~Gate() { Comm::world().barrier(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() const { std::ofstream(path_) << "open\n"; }
  /// Whether it was opened within a minute.
  [[nodiscard]] bool wait() const {
    for (int look = 0; look < 30000; ++look) {
      if (std::filesystem::exists(path_)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

 private:
  Scratch own_;
  std::string path_;
};

}  // namespace quintet::search
