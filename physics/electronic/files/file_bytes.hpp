#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::electronic {

/// A file that is read by byte ranges, any rank any range.
class FileBytes {
 public:
  /// Throws InputError: absent, a folder, not to be opened, empty.
  explicit FileBytes(std::string path);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Bytes [begin, begin + bytes.size()). Throws InputError if the file is shorter.
  void read(std::uint64_t begin, std::span<std::byte> bytes) const;
  /// `count` values from byte `begin` on.
  template <class T>
  [[nodiscard]] std::vector<T> values(std::uint64_t begin, std::uint64_t count) const {
    std::vector<T> result(count);
    read(begin, std::as_writable_bytes(std::span<T>(result)));
    return result;
  }
  template <class T>
  [[nodiscard]] T value(std::uint64_t begin) const {
    return values<T>(begin, 1)[0];
  }
  /// The first bytes, `count` or as many as there are.
  [[nodiscard]] std::string head(std::size_t count) const;

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
};

/// The part of [0, count) that falls to a rank: even shares in rank order.
struct Share {
  std::uint64_t begin = 0, end = 0;
};
[[nodiscard]] Share even_share(std::uint64_t count, int rank, int n_ranks);

/// Visit the lines, without their ends, that begin in bytes [begin, end) of a file; a line that began before
/// `begin` belongs to the range before. Throws InputError if a line is longer than 4096 bytes (then it is not
/// a text file).
/// @return the number of lines visited.
std::uint64_t for_each_line(const FileBytes& file, std::uint64_t begin, std::uint64_t end,
                            const std::function<void(std::string_view)>& visit);

}  // namespace quintet::electronic
