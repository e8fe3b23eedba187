#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/reading.hpp"
#include "physics/particles/atoms/box.hpp"

/// Functions that the readers of text formats share: lines with their place in the file, tokens, numbers.
namespace quintet::text {

/// The lines of a text file one by one, without line ends (Windows ones too) or a byte order mark.
class LineReader {
 public:
  /// Throws InputError if the file cannot be opened.
  explicit LineReader(std::string path);
  /// Step to the next line; false at the end of the file.
  bool next();
  /// Step to the next line that is not blank; false at the end of the file.
  bool next_filled();
  [[nodiscard]] const std::string& line() const { return line_; }
  /// False for a last line without a line feed, which may be cut short within a number.
  [[nodiscard]] bool line_is_whole() const { return !stream_.eof(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  ///< size of the file
  /// "file.xyz:12", the place of the current line.
  [[nodiscard]] std::string where() const;
  /// A place in the file to come back to.
  struct Bookmark {
    std::streampos position;
    std::int64_t number;
  };
  [[nodiscard]] Bookmark bookmark();  ///< the line that next() will read
  void go_to(const Bookmark& bookmark);

 private:
  std::string path_, line_;
  std::ifstream stream_;
  std::uint64_t bytes_ = 0;
  std::int64_t number_ = 0;
};

/// The pieces between blanks and tabs.
[[nodiscard]] std::vector<std::string_view> split(std::string_view line,
                                                  std::string_view separators = " \t\v\f");
/// A piece of a file as a message may show it: short, in quotes, without control characters.
[[nodiscard]] std::string shown(std::string_view piece);

/// Parse a finite number; Fortran's 1.0D+00 is understood. Throws InputError "file:12: x of atom 3 is 'abc',
/// ...".
[[nodiscard]] double to_double(std::string_view token, const std::string& where, std::string_view what);
[[nodiscard]] std::int64_t to_integer(std::string_view token, const std::string& where,
                                      std::string_view what);
[[nodiscard]] bool is_integer(std::string_view token);
[[nodiscard]] Vec3 to_vec3(const std::string_view* tokens, const std::string& where, std::string_view what);

/// Refuse a last line without a line feed, where programs always write one: its last number may be cut short.
void check_whole(const LineReader& reader);
/// Place from 0 of a frame that is counted from 0 or from the end (-1: the last). Throws InputError: the file
/// has none, or not that one.
[[nodiscard]] std::int64_t place_of_frame(const std::string& path, std::int64_t frame, std::int64_t n_frames);

/// Say which frame of a file was chosen where it has several. `n_frames`: absent: several.
void tell_frame(Reading& reading, std::int64_t frame, std::optional<std::int64_t> n_frames);

/// Write a whole text file. Throws ResourceError if it cannot be written.
void write_file(const std::string& path, std::string_view content, bool append = false);

}  // namespace quintet::text
