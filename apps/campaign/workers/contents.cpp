#include "apps/campaign/workers/contents.hpp"

#include <cstddef>
#include <fstream>
#include <memory>
#include <span>

#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  QUINTET_CHECK(file.good(), "'{}' cannot be read", path);
  constexpr std::size_t most = std::size_t{1} << 26;
  const auto piece = std::make_unique_for_overwrite<char[]>(most);  // pages that stay untouched cost nothing
  std::uint64_t size = 0, sum = 0;
  while (file) {
    file.read(piece.get(), static_cast<std::streamsize>(most));
    const auto n = static_cast<std::size_t>(file.gcount());
    sum = hdf5::xxh64(std::as_bytes(std::span<const char>(piece.get(), n)), sum);
    size += n;
  }
  QUINTET_CHECK(file.eof(), "'{}' cannot be read to its end", path);
  return fmt::format("{} {:016x}", size, sum);
}

std::string key_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
  return fmt::format("{:016x}{:016x}", hdf5::xxh64(bytes, 0), hdf5::xxh64(bytes, 0x9e3779b97f4a7c15));
}

}  // namespace quintet::campaign
