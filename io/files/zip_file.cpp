#include "io/files/zip_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include <zlib.h>

#include "io/files/decompress.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

constexpr std::uint32_t end_mark = 0x06054b50, end64_locator_mark = 0x07064b50, end64_mark = 0x06064b50,
                        entry_mark = 0x02014b50, local_mark = 0x04034b50;
constexpr std::uint64_t end_bytes = 22, end64_locator_bytes = 20, end64_bytes = 56, entry_bytes = 46,
                        local_bytes = 30;
constexpr std::uint64_t longest_comment = 0xffff;
constexpr std::uint64_t most_deflated = 1032;  ///< bytes that a deflated one can stand for
constexpr int stored = 0, deflated = 8;

/// A little-endian number of n bytes.
std::uint64_t number(std::string_view bytes, std::size_t at, int n) {
  std::uint64_t value = 0;
  for (int i = 0; i < n; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

std::string printable(std::string_view text) {
  std::string result(text.substr(0, 80));
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return result;
}

std::string read_at(std::ifstream& stream, std::uint64_t at, std::uint64_t n, const std::string& path) {
  std::string bytes(n, '\0');
  stream.clear();
  stream.seekg(static_cast<std::streamoff>(at));
  stream.read(bytes.data(), n);
  QUINTET_CHECK(static_cast<std::uint64_t>(stream.gcount()) == n,
                "{}: cannot read {} bytes at {}: it is truncated", path, n, at);
  return bytes;
}

/// Unpacks a deflated member piece by piece.
class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw ResourceError("zlib cannot start: out of memory");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Append what `piece` gives to `result`, up to `most` bytes; false at the end.
  bool unpack(std::string& piece, std::string& result, std::uint64_t most) {
    stream_.next_in = reinterpret_cast<Bytef*>(piece.data());
    stream_.avail_in = static_cast<uInt>(piece.size());
    std::array<char, 1 << 16> buffer;
    while (stream_.avail_in > 0 || stream_.avail_out == 0) {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_.avail_out = static_cast<uInt>(buffer.size());
      const int state = inflate(&stream_, Z_NO_FLUSH);
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) return failed_ = true, false;
      result.append(buffer.data(),
                    std::min<std::uint64_t>(buffer.size() - stream_.avail_out, most - result.size()));
      if (state == Z_STREAM_END || result.size() == most) return false;
      if (state == Z_BUF_ERROR) break;
    }
    return true;
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  z_stream stream_{};
  bool failed_ = false;
};

}  // namespace

ZipFile::ZipFile(std::string path) : path_(std::move(path)) {
  bytes_ = check_input_file(path_);
  auto stream = open_input_file(path_);
  const std::uint64_t tail_bytes = std::min(bytes_, end_bytes + longest_comment);
  const auto tail = read_at(stream, bytes_ - tail_bytes, tail_bytes, path_);
  std::size_t end = tail.size();  // of the last mark that has a whole record behind it
  for (std::size_t at = tail.size() < end_bytes ? 0 : tail.size() - end_bytes + 1;
       at-- > 0 && end == tail.size();)
    if (number(tail, at, 4) == end_mark) end = at;
  QUINTET_CHECK(end < tail.size(), "{}: is no zip archive, or a truncated one: its directory is missing",
                path_);
  std::uint64_t n = number(tail, end + 10, 2), size = number(tail, end + 12, 4),
                begin = number(tail, end + 16, 4);
  QUINTET_CHECK(number(tail, end + 4, 2) == 0 || number(tail, end + 4, 2) == 0xffff,
                "{}: is one part of an archive on several disks", path_);
  const std::uint64_t end_at = bytes_ - tail_bytes + end;
  if ((n == 0xffff || size == 0xffffffff || begin == 0xffffffff) && end_at >= end64_locator_bytes) {
    const auto locator = read_at(stream, end_at - end64_locator_bytes, end64_locator_bytes, path_);
    if (number(locator, 0, 4) == end64_locator_mark) {
      const auto at = number(locator, 8, 8);
      QUINTET_CHECK(at <= bytes_ && end64_bytes <= bytes_ - at, "{}: its directory lies outside the file",
                    path_);
      const auto record = read_at(stream, at, end64_bytes, path_);
      QUINTET_CHECK(number(record, 0, 4) == end64_mark, "{}: its directory is damaged", path_);
      n = number(record, 32, 8);
      size = number(record, 40, 8);
      begin = number(record, 48, 8);
    }
  }
  QUINTET_CHECK(begin <= bytes_ && size <= bytes_ - begin && n <= size / entry_bytes,
                "{}: its directory of {} members does not fit into the file", path_, n);
  read_directory(begin, size, n);
}

void ZipFile::read_directory(std::uint64_t begin, std::uint64_t bytes, std::uint64_t n) {
  auto stream = open_input_file(path_);
  const auto directory = read_at(stream, begin, bytes, path_);
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    QUINTET_CHECK(directory.size() - at >= entry_bytes && number(directory, at, 4) == entry_mark,
                  "{}: member {} of its directory is damaged", path_, i);
    const auto name_bytes = number(directory, at + 28, 2), extra_bytes = number(directory, at + 30, 2),
               comment_bytes = number(directory, at + 32, 2);
    QUINTET_CHECK(name_bytes + extra_bytes + comment_bytes <= directory.size() - at - entry_bytes,
                  "{}: member {} of its directory is damaged", path_, i);
    Member member;
    member.name = directory.substr(at + entry_bytes, name_bytes);
    member.method = number(directory, at + 10, 2);
    member.checksum = number(directory, at + 16, 4);
    member.packed = number(directory, at + 20, 4);
    member.unpacked = number(directory, at + 24, 4);
    member.offset = number(directory, at + 42, 4);
    QUINTET_CHECK((number(directory, at + 8, 2) & 1) == 0, "{}: member '{}' is encrypted", path_,
                  printable(member.name));
    // ZIP64: an extra field 1 holds those of the three, in this order, that are all ones above.
    std::size_t extra = at + entry_bytes + name_bytes;
    const std::size_t extra_end = extra + extra_bytes;
    while (extra + 4 <= extra_end) {
      const auto id = number(directory, extra, 2), length = number(directory, extra + 2, 2);
      if (length > extra_end - extra - 4) break;
      std::size_t field = extra + 4;
      const std::size_t field_end = field + length;
      for (auto* value : {&member.unpacked, &member.packed, &member.offset})
        if (id == 1 && *value == 0xffffffff && field + 8 <= field_end) {
          *value = number(directory, field, 8);
          field += 8;
        }
      extra = extra + 4 + length;
    }
    QUINTET_CHECK(member.method == stored || member.method == deflated,
                  "{}: member '{}' is packed by method {}; stored and deflated ones are read", path_,
                  printable(member.name), member.method);
    QUINTET_CHECK(member.offset <= bytes_ && member.packed <= bytes_ - member.offset &&
                      (member.method == stored ? member.unpacked == member.packed
                                               : member.unpacked / most_deflated <= member.packed),
                  "{}: member '{}' claims {} bytes, packed into {} at {}, in a file of {}: it is damaged",
                  path_, printable(member.name), member.unpacked, member.packed, member.offset, bytes_);
    members_.push_back(std::move(member));
    at += entry_bytes + name_bytes + extra_bytes + comment_bytes;
  }
}

std::vector<std::string> ZipFile::names() const {
  std::vector<std::string> names;
  for (const auto& member : members_) names.push_back(member.name);
  return names;
}

bool ZipFile::has(std::string_view name) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const auto& member) { return member.name == name; });
}

const ZipFile::Member& ZipFile::member(std::string_view name) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const auto& one) { return one.name == name; });
  QUINTET_CHECK(found != members_.end(), "{}: has no member '{}'", path_, name);
  return *found;
}

std::uint64_t ZipFile::size(std::string_view name) const { return member(name).unpacked; }

std::string ZipFile::read(std::string_view name, std::uint64_t most) const {
  const Member& one = member(name);
  auto stream = open_input_file(path_);
  const auto damaged = [&] {
    return InputError(fmt::format("{}: member '{}' is damaged", path_, printable(one.name)));
  };
  const auto local = read_at(stream, one.offset, local_bytes, path_);
  const std::uint64_t begin = one.offset + local_bytes + number(local, 26, 2) + number(local, 28, 2);
  if (number(local, 0, 4) != local_mark || begin > bytes_ || one.packed > bytes_ - begin) throw damaged();
  const std::uint64_t wanted = std::min(most, one.unpacked);
  std::string result;
  if (one.method == stored) {
    result = read_at(stream, begin, wanted, path_);
  } else {
    result.reserve(std::min<std::uint64_t>(wanted, std::uint64_t{1} << 24));
    Inflater inflater;
    constexpr std::uint64_t piece_bytes = 1 << 16;
    for (std::uint64_t at = 0; at < one.packed && wanted > 0; at += piece_bytes) {
      auto piece = read_at(stream, begin + at, std::min(piece_bytes, one.packed - at), path_);
      if (!inflater.unpack(piece, result, wanted)) break;
    }
    if (inflater.failed() || result.size() != wanted) throw damaged();
  }
  if (wanted == one.unpacked && crc32_of(result) != one.checksum) throw damaged();
  return result;
}

}  // namespace quintet
