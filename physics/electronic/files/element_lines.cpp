#include "physics/electronic/files/element_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <utility>

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

/// As real(), for what from_chars cannot read: D exponents, overflow and underflow.
double unusual_real(std::string_view word) {
  std::string text(word);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == 'd' || c == 'D'; }, 'E');
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw LineError{fmt::format("'{}' is no number", word)};
  return value;
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
