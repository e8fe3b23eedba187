#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "physics/electronic/files/matrix_files.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::electronic {

/// A folder that all ranks see. Collective.
class SharedScratch {
 public:
  explicit SharedScratch(const Comm& comm, const std::string& name)
      : comm_(comm), own_(name), path_(comm.broadcast(own_.path())) {}
  ~SharedScratch() { comm_.barrier(); }
  SharedScratch(const SharedScratch&) = delete;
  SharedScratch& operator=(const SharedScratch&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// A file of these bytes, its path. Collective.
  [[nodiscard]] std::string with(const std::string& name, const std::string& bytes) const {
    comm_.barrier();  // others may still read the one before
    if (comm_.is_root()) std::ofstream(*this / name, std::ios::binary) << bytes;
    comm_.barrier();
    return *this / name;
  }

 private:
  Comm comm_;
  Scratch own_;
  std::string path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Values one after the other, as they lie in memory.
template <class... Values>
std::string raw(Values... values) {
  std::string bytes;
  const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  (put(values), ...);
  return bytes;
}
/// A record of CP2K's binary files.
inline std::string cp2k_record(std::int32_t row, std::int32_t column, double value) {
  return raw(std::int32_t{16}, row, column, value, std::int32_t{16});
}

/// The message with which a file is refused, the same on all ranks, or "no error". Collective.
inline std::string refusal(const Comm& comm, const std::string& path,
                           MatrixFormat format = MatrixFormat::automatic, std::optional<int> n_rows = {},
                           Triangle triangle = Triangle::both) {
  std::string message = "no error";
  try {
    static_cast<void>(read_matrix(comm, path, format, n_rows, triangle));
  } catch (const InputError& error) {
    message = error.what();
  }
  const auto roots = comm.broadcast(message);
  return message == roots ? message : "ranks differ: " + message + " / " + roots;
}

}  // namespace quintet::electronic
