#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/tiers/disk_file.hpp"

namespace quintet {

/// Items of fixed sizes in one file on a disk of this node, in two generations.
///
/// Each item has two places. What commit() made good is never overwritten before the next commit(): a process
/// that is killed in mid-write leaves a file whose last generation is whole, and the next owner of the file
/// finds it. Two headers take turns for the same reason. read() and write() may run in two threads for
/// different items.
class TierFile {
 public:
  enum class Start {
    fresh,     ///< all items are zero
    committed  ///< go on from the last generation of a file of the same sizes
  };
  struct Options : DiskFile::Options {
    Start start = Start::fresh;
  };

  /// Takes the disk space. Throws what DiskFile throws.
  TierFile(Options options, std::vector<std::size_t> sizes);

  /// On disk for items of these sizes (bytes).
  [[nodiscard]] static std::size_t bytes_of(std::span<const std::size_t> sizes);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_direct() const { return file_.is_direct(); }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// Tag of the last commit(); -1: nothing was committed.
  [[nodiscard]] std::int64_t tag() const { return tag_; }

  /// An item as it was written last. @param to whole grains at a multiple of tier_grain, so is `from`
  /// Both throw ResourceError.
  void read(int item, std::byte* to);
  void write(int item, const std::byte* from);
  /// All that was written becomes the last generation, called `tag`; survives the death of the process. Of
  /// the machine: only as far as its disk has got. Throws ResourceError.
  void commit(std::int64_t tag);

 private:
  /// Whether the file holds a generation of these items.
  [[nodiscard]] bool take_over();
  void write_header();
  [[nodiscard]] std::size_t header_bytes() const;
  [[nodiscard]] std::size_t place(int item, int slot) const;

  DiskFile file_;
  std::vector<std::size_t> sizes_, first_;
  std::size_t bytes_ = 0;
  std::vector<char> written_, good_;  ///< [item] slot written last, and that of the last generation
  std::int64_t generation_ = 0, tag_ = -1;
};

}  // namespace quintet
