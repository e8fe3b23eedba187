#include "apps/campaign/workers/contents.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "io/config/tree.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {

std::string contents_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  QUINTET_CHECK(file >= 0, "'{}' cannot be read", path);
  struct stat status {};
  const auto all = ::fstat(file, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
  const auto most =
      std::min(std::size_t{1} << 26, all + 1);  // many files are small: one read tells their end
  const auto piece = std::make_unique_for_overwrite<char[]>(most);
  std::uint64_t size = 0, sum = 0;
  for (bool is_over = false; !is_over;) {
    std::size_t n = 0;  // in this piece, which a read need not fill
    for (ssize_t got = 1; got > 0 && n < most;) {
      got = ::read(file, piece.get() + n, most - n);
      if (got < 0) ::close(file);
      QUINTET_CHECK(got >= 0, "'{}' cannot be read to its end", path);
      n += got;
    }
    is_over = n < most;
    sum = hdf5::xxh64(std::as_bytes(std::span<const char>(piece.get(), n)), sum);
    size += n;
  }
  ::close(file);
  return fmt::format("{} {:016x}", size, sum);
}

std::string key_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
  return fmt::format("{:016x}{:016x}", hdf5::xxh64(bytes, 0), hdf5::xxh64(bytes, 0x9e3779b97f4a7c15));
}

}  // namespace quintet::campaign
