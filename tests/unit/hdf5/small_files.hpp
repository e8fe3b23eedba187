#pragma once

#include <csignal>
#include <cstdint>

#include <sys/resource.h>

/// No file of this process may grow beyond `bytes` while it lives: as if the disk were full.
class SmallFiles {
 public:
  explicit SmallFiles(std::uint64_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SmallFiles() { setrlimit(RLIMIT_FSIZE, &before_); }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
};
