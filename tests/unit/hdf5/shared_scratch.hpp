#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "tests/support/scratch.hpp"

/// One folder for all ranks, made and removed by rank 0.
class SharedScratch {
 public:
  explicit SharedScratch(const std::string& name) : comm_(quintet::Comm::world()) {
    if (comm_.is_root()) folder_.emplace(name);
    path_ = comm_.broadcast(comm_.is_root() ? folder_->path() : std::string());
  }
  ~SharedScratch() { comm_.barrier(); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  quintet::Comm comm_;
  std::optional<Scratch> folder_;
  std::string path_;
};

/// This rank's part of n rows when rank r has r times as many as rank 1, so that rank 0 has none (unless it
/// is alone).
struct UnevenRows {
  std::uint64_t offset, count;
  UnevenRows(const quintet::Comm& comm, std::uint64_t n) {
    const auto cut = [&](int rank) {
      const std::uint64_t size = comm.size(), r = rank;
      return size == 1 ? n * r : n * (r * (r - (r > 0 ? 1 : 0))) / (size * (size - 1));
    };
    offset = cut(comm.rank());
    count = cut(comm.rank() + 1) - offset;
  }
};

/// The message of the Error that `action` throws; "" if none.
template <class Error, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
