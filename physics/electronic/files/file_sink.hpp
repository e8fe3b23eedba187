#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "io/parallel/comm_fwd.hpp"

namespace quintet::electronic {

/// A file that rank 0 writes from what the ranks hand in, in portions. Until finish() it has a temporary
/// name; if finish() is not reached, it is removed with the sink. All calls are collective.
class FileSink {
 public:
  /// Throws InputError if the file cannot be made.
  FileSink(const Comm& comm, std::string path);
  ~FileSink();
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  /// Append what `rank` hands in; that of other ranks is ignored.
  void append_from(int rank, std::string_view bytes);
  /// Close and give the file its name. Throws ResourceError if it could not be written whole.
  void finish();

 private:
  static constexpr int tag = 541;
  [[nodiscard]] std::string unfinished() const { return path_ + ".unfinished"; }

  std::shared_ptr<const Comm> comm_;
  std::string path_;
  std::ofstream file_;
  bool finished_ = false;
};

/// Give a file that is whole its name, on rank 0. Throws ResourceError. Collective.
void give_name(const Comm& comm, const std::string& unfinished, const std::string& path);

}  // namespace quintet::electronic
