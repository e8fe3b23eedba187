#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// A zip archive, read: its members' names, and their bytes when asked for.
///
/// Stored and deflated members, also those beyond 4 GB (ZIP64); sizes are those of the central directory.
/// Errors (InputError, the file's name in front): no archive, truncated, several disks, encrypted, another
/// method, sizes that the file cannot hold, a checksum that does not agree. Source: PKWARE, APPNOTE.TXT 6.3.
class ZipFile {
 public:
  explicit ZipFile(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> names() const;  ///< in the order of the directory
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::uint64_t size(std::string_view name) const;  ///< bytes of a member when unpacked
  /// The first `most` bytes of a member, all of which if it is not longer; then its checksum is verified.
  [[nodiscard]] std::string read(std::string_view name, std::uint64_t most = ~std::uint64_t{0}) const;

 private:
  struct Member {
    std::string name;
    std::uint64_t packed = 0, unpacked = 0, offset = 0;  ///< offset: of its local header
    std::uint32_t checksum = 0;
    int method = 0;
  };
  [[nodiscard]] const Member& member(std::string_view name) const;
  void read_directory(std::uint64_t begin, std::uint64_t bytes, std::uint64_t n);

  std::string path_;
  std::uint64_t bytes_ = 0;
  std::vector<Member> members_;
};

}  // namespace quintet
