#include "tests/fuzz/mutate.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <limits>
#include <string_view>

namespace quintet::fuzz {

namespace {

using Random = std::mt19937_64;

constexpr std::size_t most_bytes = 1 << 18;

std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : random() % n; }

/// Place and length of a piece, mostly a short one.
std::pair<std::size_t, std::size_t> piece(const std::string& bytes, Random& random) {
  const std::size_t begin = below(random, bytes.size());
  const std::size_t longest = below(random, 4) == 0 ? bytes.size() : 16;
  return {begin, std::min(1 + below(random, longest), bytes.size() - begin)};
}

void flip_bit(std::string& bytes, Random& random) {
  bytes[below(random, bytes.size())] ^= static_cast<char>(1 << below(random, 8));
}

void set_byte(std::string& bytes, Random& random) {
  constexpr std::string_view telling("\0\x01\x7f\x80\xff\n\r\t \"'{}[]:,-=#&*<>%$/.", 28);
  bytes[below(random, bytes.size())] = telling[below(random, telling.size())];
}

/// A binary number of 1, 2, 4 or 8 bytes, at the edge of its range.
void set_number(std::string& bytes, Random& random) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr std::array<std::int64_t, 14> telling{0,
                                                 1,
                                                 -1,
                                                 2,
                                                 8,
                                                 16,
                                                 255,
                                                 65535,
                                                 0x7fffffff,
                                                 0x80000000,
                                                 0xffffffff,
                                                 std::int64_t{1} << 40,
                                                 Limits::max(),
                                                 Limits::min()};
  const std::uint64_t value = telling[below(random, telling.size())];
  const std::size_t width = std::size_t{1} << below(random, 4);
  const std::size_t begin = below(random, bytes.size());
  for (std::size_t i = 0; i < width && begin + i < bytes.size(); ++i)
    bytes[begin + i] = static_cast<char>(value >> 8 * i);
}

/// A number written in digits, exchanged for another.
void set_digits(std::string& bytes, Random& random) {
  constexpr std::array<const char*, 16> telling{"0",
                                                "-1",
                                                "1",
                                                "2147483647",
                                                "2147483648",
                                                "4294967296",
                                                "9223372036854775807",
                                                "99999999999999999999",
                                                "1e308",
                                                "-1e308",
                                                "1e999",
                                                "nan",
                                                "inf",
                                                "1e-320",
                                                "0.5",
                                                ""};
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto from = bytes.begin() + below(random, bytes.size());
  const auto begin = std::find_if(from, bytes.end(), is_digit);
  const auto end = std::find_if_not(begin, bytes.end(), [&](char c) { return is_digit(c) || c == '.'; });
  bytes.replace(begin, end, telling[below(random, telling.size())]);
}

void cut_out(std::string& bytes, Random& random) {
  const auto [begin, n] = piece(bytes, random);
  bytes.erase(begin, n);
}

void cut_off(std::string& bytes, Random& random) { bytes.resize(below(random, bytes.size())); }

void repeat(std::string& bytes, Random& random) {
  const auto [begin, n] = piece(bytes, random);
  const std::string part = bytes.substr(begin, n);
  const std::size_t times = below(random, 8) == 0 ? 200 : 1 + below(random, 4);
  std::string all;
  for (std::size_t i = 0; i < times && all.size() + bytes.size() < most_bytes; ++i) all += part;
  bytes.insert(begin, all);
}

void move_piece(std::string& bytes, Random& random) {
  const auto [begin, n] = piece(bytes, random);
  const std::string part = bytes.substr(begin, n);
  bytes.erase(begin, n);
  bytes.insert(below(random, bytes.size() + 1), part);
}

/// The front of one and the end of the other.
void splice(std::string& bytes, const std::string& other, Random& random) {
  bytes.resize(below(random, bytes.size()));
  if (!other.empty()) bytes += other.substr(below(random, other.size()));
}

}  // namespace

std::string mutated(const std::vector<std::string>& corpus, Random& random) {
  constexpr std::array changes{flip_bit, set_byte, set_number, set_digits, set_digits,
                               cut_out,  cut_off,  repeat,     move_piece};
  std::string bytes = corpus[below(random, corpus.size())];
  if (below(random, 16) == 0) splice(bytes, corpus[below(random, corpus.size())], random);
  for (std::size_t n = 1 + below(random, 4); n > 0 && !bytes.empty(); --n)
    changes[below(random, changes.size())](bytes, random);
  return bytes;
}

}  // namespace quintet::fuzz
