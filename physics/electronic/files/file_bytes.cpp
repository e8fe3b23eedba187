#include "physics/electronic/files/file_bytes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/files/input_file.hpp"
#include "io/log/error.hpp"

namespace quintet::electronic {

namespace {

constexpr std::size_t longest_line = 4096;
constexpr std::uint64_t chunk_bytes = 1 << 22;

}  // namespace

FileBytes::FileBytes(std::string path) : path_(std::move(path)) {
  size_ = check_input_file(path_);
  QUINTET_CHECK(size_ > 0, "{}: is empty; expected a matrix file", path_);
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  QUINTET_CHECK(descriptor_ >= 0, "{}: cannot be opened ({})", path_, std::strerror(errno));
}

FileBytes::~FileBytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileBytes::read(std::uint64_t begin, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const auto n = ::pread(descriptor_, bytes.data(), bytes.size(), begin);
    if (n < 0 && errno == EINTR) continue;
    QUINTET_CHECK(n > 0, "{}: cannot be read at byte {} of {} ({})", path_, begin, size_,
                  n == 0 ? "the file is cut off" : std::strerror(errno));
    bytes = bytes.subspan(n);
    begin += n;
  }
}

std::string FileBytes::head(std::size_t count) const {
  const auto bytes = values<char>(0, std::min<std::uint64_t>(count, size_));
  return {bytes.begin(), bytes.end()};
}

Share even_share(std::uint64_t count, int rank, int n_ranks) {
  const std::uint64_t r = rank, n = n_ranks;
  const auto cut = [&](std::uint64_t i) { return count / n * i + std::min(i, count % n); };
  return {cut(r), cut(r + 1)};
}

std::uint64_t for_each_line(const FileBytes& file, std::uint64_t begin, std::uint64_t end,
                            const std::function<void(std::string_view)>& visit) {
  std::uint64_t n_lines = 0;
  // a range owns the lines that begin in it: byte begin - 1 tells whether one begins at `begin`
  bool skipping = begin > 0 && file.value<char>(begin - 1) != '\n';
  std::string carried;
  std::uint64_t line_begin = begin;
  for (auto at = begin; at < file.size() && line_begin < end;) {
    const auto chunk = file.values<char>(at, std::min(chunk_bytes, file.size() - at));
    const std::string_view text(chunk.data(), chunk.size());
    for (std::size_t from = 0; from < text.size() && line_begin < end;) {
      const auto stop = text.find('\n', from);
      const bool whole = stop != std::string_view::npos || at + text.size() == file.size();
      auto line = text.substr(from, stop == std::string_view::npos ? stop : stop - from);
      QUINTET_CHECK(skipping || carried.size() + line.size() <= longest_line,
                    "{}: at byte {} there is a line of more than {} bytes; expected a text file", file.path(),
                    line_begin, longest_line);
      from = stop == std::string_view::npos ? text.size() : stop + 1;
      if (!whole) {
        if (!skipping) carried.append(line);
        break;
      }
      if (!skipping) {
        if (!carried.empty()) line = carried.append(line);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        visit(line);
        ++n_lines;
        carried.clear();
      }
      skipping = false;
      line_begin = at + from;
    }
    at += text.size();
  }
  return n_lines;
}

}  // namespace quintet::electronic
