#include "physics/particles/formats/read_configuration_text.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "io/files/input_file.hpp"
#include "io/log/error.hpp"

namespace quintet::text {

LineReader::LineReader(std::string path) : path_(std::move(path)) {
  bytes_ = check_input_file(path_);
  stream_ = open_input_file(path_);
}

bool LineReader::next() {
  if (!std::getline(stream_, line_)) return false;
  ++number_;
  if (number_ == 1 && line_.starts_with("\xEF\xBB\xBF")) line_.erase(0, 3);
  if (line_.ends_with('\r')) line_.pop_back();
  return true;
}

bool LineReader::next_filled() {
  while (next())
    if (line_.find_first_not_of(" \t\v\f") != std::string::npos) return true;
  return false;
}

std::string LineReader::where() const { return fmt::format("{}:{}", path_, number_); }

LineReader::Bookmark LineReader::bookmark() { return {stream_.tellg(), number_}; }

void LineReader::go_to(const Bookmark& bookmark) {
  stream_.clear();
  stream_.seekg(bookmark.position);
  number_ = bookmark.number;
}

std::vector<std::string_view> split(std::string_view line, std::string_view separators) {
  std::vector<std::string_view> pieces;
  std::size_t begin = line.find_first_not_of(separators);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
    pieces.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(separators, end);
  }
  return pieces;
}

std::string shown(std::string_view piece) {
  constexpr std::size_t longest = 60;
  std::string text(piece.substr(0, longest));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  return "'" + text + (piece.size() > longest ? "...'" : "'");
}

double to_double(std::string_view token, const std::string& where, std::string_view what) {
  std::string fortran;
  std::string_view digits = token;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (const auto d = digits.find_first_of("dD"); d != std::string_view::npos) {
    fortran = digits;
    fortran[d] = 'e';
    digits = fortran;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = end == digits.data() + digits.size() && !digits.empty();
  // What is too near zero for a double is zero or denormal; from_chars leaves that to us, as it leaves what
  // overflows.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  const bool number = error == std::errc() || error == std::errc::result_out_of_range;
  QUINTET_CHECK(whole && number && std::isfinite(value), "{}: {} is {}, a finite number was expected", where,
                what, shown(token));
  return value;
}

namespace {

bool parse_integer(std::string_view token, std::int64_t& value) {
  if (token.starts_with('+')) token.remove_prefix(1);
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  return error == std::errc() && end == token.data() + token.size() && !token.empty();
}

}  // namespace

bool is_integer(std::string_view token) {
  std::int64_t value = 0;
  return parse_integer(token, value);
}

std::int64_t to_integer(std::string_view token, const std::string& where, std::string_view what) {
  std::int64_t value = 0;
  QUINTET_CHECK(parse_integer(token, value), "{}: {} is {}, an integer was expected", where, what,
                shown(token));
  return value;
}

Vec3 to_vec3(const std::string_view* tokens, const std::string& where, std::string_view what) {
  Vec3 result;
  for (int k = 0; k < 3; ++k) result[k] = to_double(tokens[k], where, what);
  return result;
}

void check_whole(const LineReader& reader) {
  QUINTET_CHECK(reader.line_is_whole(),
                "{}: the file ends without a line feed, so that its last number may be cut short; leave the "
                "frame out, or add a line feed if it is whole",
                reader.where());
}

std::int64_t place_of_frame(const std::string& path, std::int64_t frame, std::int64_t n_frames) {
  QUINTET_CHECK(n_frames > 0, "{}: the file holds no frame", path);
  const std::int64_t place = frame < 0 ? n_frames + frame : frame;
  QUINTET_CHECK(place >= 0 && place < n_frames,
                "{}: there is no frame {}, the file has {} (0 to {}, or -1 for the last)", path, frame,
                n_frames, n_frames - 1);
  return place;
}

void tell_frame(Reading& reading, std::int64_t frame, std::optional<std::int64_t> n_frames) {
  if (n_frames && *n_frames <= 1) return;
  reading.assume(fmt::format("frame {} of {} (system.frame chooses another)", frame,
                             n_frames ? fmt::format("{}", *n_frames) : "several"));
}

void write_file(const std::string& path, std::string_view content, bool append) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary | (append ? std::ios::app : std::ios::trunc));
  stream.write(content.data(), content.size());
  stream.close();
  if (!stream) throw ResourceError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace quintet::text
