#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quintet {

/// Memory for direct I/O begins at, and is a multiple of, so many bytes.
constexpr std::size_t tier_grain = 4096;
[[nodiscard]] constexpr std::size_t whole_grains(std::size_t bytes) {
  return (bytes + tier_grain - 1) / tier_grain * tier_grain;
}

/// Items of fixed sizes in one file on a disk of this node, in two generations.
///
/// Each item has two places. What commit() made good is never overwritten before the next commit(): a process
/// that is killed in mid-write leaves a file whose last generation is whole, and the next owner of the file
/// finds it. Two headers take turns for the same reason. Reads and writes pass by the page cache (O_DIRECT)
/// where the file system allows it; elsewhere each write goes to the disk (fdatasync) and its pages are
/// dropped, since memory that the cache holds would be memory again.
///
/// read() and write() may run in two threads for different items. The file has one owner at a time (flock)
/// and goes with it.
class TierFile {
 public:
  enum class Start {
    fresh,     ///< all items are zero
    committed  ///< go on from the last generation of a file of the same sizes
  };
  struct Options {
    std::string folder, name;
    Start start = Start::fresh;
    bool direct = true;        ///< try O_DIRECT
    std::string key = "path";  ///< of the input file, for messages
  };

  /// Takes the disk space. Throws InputError for a folder that is missing, read-only, in memory (tmpfs,
  /// ramfs) or used by another process; ResourceError where the space is not there.
  TierFile(Options options, std::vector<std::size_t> sizes);
  ~TierFile();
  TierFile(const TierFile&) = delete;
  TierFile& operator=(const TierFile&) = delete;

  /// On disk for items of these sizes (bytes).
  [[nodiscard]] static std::size_t bytes_of(std::span<const std::size_t> sizes);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_direct() const { return direct_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// What commit() was given last; -1: nothing was committed.
  [[nodiscard]] std::int64_t tag() const { return tag_; }

  /// An item as it was written last. @param to whole grains at a multiple of tier_grain, so is `from`
  /// Both throw ResourceError.
  void read(int item, std::byte* to);
  void write(int item, const std::byte* from);
  /// All that was written becomes the last generation, called `tag`; survives the death of the process. Of
  /// the machine: only as far as its disk has got. Throws ResourceError.
  void commit(std::int64_t tag);

 private:
  void take_space();
  void take_over();
  void write_header();
  [[nodiscard]] std::size_t header_bytes() const;
  [[nodiscard]] std::size_t place(int item, int slot) const;
  void transfer(bool writes, std::byte* memory, std::size_t n, std::size_t at);
  [[noreturn]] void fail(const char* doing, int reason) const;

  Options options_;
  std::vector<std::size_t> sizes_, first_;
  std::string path_;
  std::size_t bytes_ = 0;
  int file_ = -1;
  bool direct_ = false;
  std::vector<char> written_, good_;  ///< [item] slot written last, and that of the last generation
  std::int64_t generation_ = 0, tag_ = -1;
};

}  // namespace quintet
