#include "physics/electronic/files/element_lines.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

namespace quintet::electronic::reading {

namespace {

std::string_view without_plus(std::string_view word) { return word.starts_with('+') ? word.substr(1) : word; }

void check_overflow(std::string_view word) {
  if (word.find('*') != std::string_view::npos)
    throw LineError{
        fmt::format("'{}' stands for a number too large for its field of the text format; write "
                    "the matrix as BINARY",
                    word)};
}

/// Where Fortran leaves out the E because the exponent has three digits (0.5-101), the place of its sign.
std::size_t bare_exponent(const std::string& text) {
  const auto sign = text.find_last_of("+-");
  const bool bare =
      sign != std::string::npos && sign > 0 && text.size() - sign == 4 &&
      (std::isdigit(static_cast<unsigned char>(text[sign - 1])) != 0 || text[sign - 1] == '.') &&
      text.find('.') < sign && text.find('E') == std::string::npos;
  return bare ? sign : std::string::npos;
}

/// As real(), for what from_chars cannot read: D exponents, exponents without a letter, overflow and
/// underflow.
double unusual_real(std::string_view word) {
  std::string text(word);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == 'd' || c == 'D' || c == 'e'; }, 'E');
  if (text.find_first_not_of("0123456789+-.E") != std::string::npos)
    throw LineError{fmt::format("'{}' is no number", word)};
  if (const auto sign = bare_exponent(text); sign != std::string::npos) text.insert(sign, 1, 'E');
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw LineError{fmt::format("'{}' is no number", word)};
  return value;
}

/// Characters of a number but for its sign.
std::size_t digits(std::string_view word) {
  return word.size() - (word.starts_with('-') || word.starts_with('+') ? 1 : 0);
}

/// How far a rank came.
struct Progress {
  std::uint64_t n_lines;
  int failed;
};

}  // namespace

std::vector<Triplet> read_element_lines(const Comm& comm, const FileBytes& file, std::uint64_t begin,
                                        std::uint64_t lines_before, const LineParser& parse) {
  std::vector<Triplet> elements;
  std::string wrong;
  Progress mine{0, 0};
  together(comm, [&] {
    const auto range = even_share(file.size() - std::min(begin, file.size()), comm.rank(), comm.size());
    try {
      for_each_line(file, begin + range.begin, begin + range.end, [&](std::string_view line) {
        if (const auto element = parse(line)) elements.push_back(*element);
        ++mine.n_lines;
      });
    } catch (const LineError& error) {
      mine.failed = 1;
      wrong = error.what;
    }
  });
  auto line = lines_before + 1;
  int rank = 0;
  for (const auto& progress : comm.all_gather(mine)) {
    line += progress.n_lines;
    if (progress.failed != 0)
      throw InputError(fmt::format("{}:{}: {}", file.path(), line, comm.broadcast(wrong, rank)));
    ++rank;
  }
  return elements;
}

void check_last_line(const FileBytes& file, std::uint64_t begin, Reading& reading) {
  if (begin >= file.size() || file.value<char>(file.size() - 1) == '\n') return;
  constexpr std::uint64_t most = 65536;
  const auto from = std::max(begin, file.size() - std::min(most, file.size()));
  const auto bytes = file.values<char>(from, file.size() - from);
  const std::string_view text(bytes.data(), bytes.size());
  const auto last_begin = text.rfind('\n') + 1;  // 0 where there is none
  const auto last = text.substr(last_begin);
  const auto fields = words(last);
  bool seen = false;
  std::size_t longest = 0, longest_line = 0;
  // The first line of what was read may be the end of a longer one.
  auto at = from == begin ? 0 : text.find('\n') + 1;
  while (at < last_begin) {
    const auto stop = text.find('\n', at);
    auto line = text.substr(at, stop - at);
    at = stop + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto before = words(line);
    if (before.empty() || before[0].starts_with('%')) continue;
    longest_line = std::max(longest_line, line.size());
    if (before.size() != fields.size()) continue;
    longest = std::max(longest, digits(before.back()));
    seen = seen || before.back() == fields.back();
  }
  constexpr std::size_t fixed_width = 32;  // lines of fields that touch are longer
  const bool touching = fields.size() < 3 && last.size() == longest_line && last.size() > fixed_width;
  const bool whole =
      !fields.empty() && (seen || touching || (longest > 0 && digits(fields.back()) >= longest));
  QUINTET_CHECK(
      whole,
      "{}: is cut off: its last line, '{}', has no end, and its last number may lack digits; if it is "
      "whole, add a line feed",
      file.path(), last.substr(0, 60));
  reading.assume(fmt::format("its last line, '{}', is whole, though it has no line feed", last));
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> result;
  for (std::size_t begin = 0; (begin = line.find_first_not_of(" \t", begin)) != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(" \t", begin), line.size());
    result.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return result;
}

std::int64_t integer(std::string_view word) {
  check_overflow(word);
  const auto digits = without_plus(word);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    throw LineError{fmt::format("'{}' is no integer", word)};
  return value;
}

double real(std::string_view word) {
  check_overflow(word);
  const auto digits = without_plus(word);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end == digits.data() + digits.size() ? value : unusual_real(word);
}

Triplet checked(std::int64_t row, std::int64_t column, double value, std::int64_t n_rows) {
  if (auto wrong = complaint(row, column, value, n_rows); !wrong.empty()) throw LineError{std::move(wrong)};
  return {static_cast<std::int32_t>(row - 1), static_cast<std::int32_t>(column - 1), value};
}

}  // namespace quintet::electronic::reading
