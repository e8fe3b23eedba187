#pragma once

#include <cstddef>
#include <string>

namespace quintet {

/// Memory for direct I/O begins at, and is a multiple of, so many bytes.
constexpr std::size_t tier_grain = 4096;
[[nodiscard]] constexpr std::size_t whole_grains(std::size_t bytes) {
  return (bytes + tier_grain - 1) / tier_grain * tier_grain;
}

/// A file on a disk of this node that stands for memory: reads and writes pass by the page cache (O_DIRECT)
/// where the file system allows it; elsewhere each write goes to the disk (fdatasync) and its pages are
/// dropped, since memory that the cache holds would be memory again.
///
/// It has one owner at a time (flock) and goes with it. One that is nameless nobody else finds: several
/// processes have theirs in one folder. read() and write() may run in two threads.
class DiskFile {
 public:
  struct Options {
    std::string folder, name;
    bool direct = true;        ///< try O_DIRECT
    std::string key = "path";  ///< of the input file, for messages
    bool nameless = false;     ///< once open it is in no folder: nothing stays, however the process ends
  };

  /// Throws InputError for a folder that is missing, read-only or used by another process.
  explicit DiskFile(Options options);
  ~DiskFile();
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  /// Take so much disk space, nothing of which is to be read before it is written. Throws InputError for a
  /// folder in memory (tmpfs, ramfs), ResourceError where the space is not there.
  /// @param what the bytes are
  void take_space(std::size_t bytes, const std::string& what);
  /// The file stays when this goes.
  void stay() { stays_ = true; }

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool is_direct() const { return direct_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Whole grains, `at` a multiple of tier_grain, as is the memory's place. Both throw ResourceError.
  void read(std::byte* to, std::size_t n, std::size_t at);
  void write(const std::byte* from, std::size_t n, std::size_t at);

 private:
  void transfer(bool writes, std::byte* memory, std::size_t n, std::size_t at);
  [[noreturn]] void fail(const std::string& doing, int reason) const;

  Options options_;
  std::string path_;
  int file_ = -1;
  bool direct_ = false, stays_ = false;
};

/// Seconds a byte.
struct DiskCost {
  double write = 0, read = 0;
};
/// Measure the cost of writing and reading the first bytes of a file in turn, whatever is there; least of
/// three runs.
[[nodiscard]] DiskCost measured_cost(DiskFile& file, std::size_t bytes);

}  // namespace quintet
