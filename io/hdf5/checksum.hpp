#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "io/hdf5/file.hpp"

namespace quintet::hdf5 {

/// XXH64, a fast 64-bit checksum (not a cryptographic one) of bytes.
///
/// Source: Y. Collet, "xxHash fast digest algorithm" (specification, version 0.1.1), section XXH64.
[[nodiscard]] std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed = 0);

/// The same of bytes that come in pieces, so that a file need not be held.
class Xxh64 {
 public:
  explicit Xxh64(std::uint64_t seed = 0);
  /// The next bytes; a multiple of 32 of them, but for the last piece.
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  std::uint64_t seed_, n_ = 0;          ///< n_: bytes so far
  std::array<std::uint64_t, 4> lanes_;  ///< over all stripes of 32 bytes
  std::array<std::byte, 32> rest_{};    ///< n_ % 32 bytes behind them
};

/// The checksum of a row of a table, or of a frame, over the values that several datasets have in it.
///
/// A sum modulo 2^64 of a hash of each value's bits, its dataset and its place in the row: what the ranks
/// have of it adds up to the same number whatever the ranks and the order. One changed value changes it.
class RowChecksum {
 public:
  /// Add the values of a dataset, by its path in the file, from place `first` of the row on. A dataset of
  /// its own for each frame is "f/frame_*".
  template <class T>
  void add(const std::string& dataset, std::span<const T> values, std::uint64_t first = 0) {
    sum_ += part(seed(dataset), values, first);
  }
  [[nodiscard]] std::uint64_t value() const { return sum_; }

  [[nodiscard]] static std::uint64_t seed(const std::string& dataset) {
    return xxh64(std::as_bytes(std::span(dataset)));
  }
  /// What values add to the checksum.
  template <class T>
  [[nodiscard]] static std::uint64_t part(std::uint64_t seed, std::span<const T> values,
                                          std::uint64_t first) {
    std::uint64_t sum = 0;
    std::uint64_t at = seed + first * step;
    for (const T value : values) {
      sum += mixed(at + bits(value));
      at += step;
    }
    return sum;
  }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;  ///< odd: every place has its own

  template <class T>
  static std::uint64_t bits(T value) {
    if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<std::uint64_t>(value);
    else if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<std::uint32_t>(value);
    else
      return static_cast<std::make_unsigned_t<T>>(value);
  }
  /// One to one, so that no two values at a place count alike.
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93U;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93U;
    return x ^ x >> 32;
  }

  std::uint64_t sum_ = 0;
};

/// In place of the checksum of a row that an earlier version wrote.
inline constexpr std::uint64_t no_checksum = ~std::uint64_t{0};

/// Say in the file of which datasets (paths in it) `name` of this group has the checksums. True if it said so
/// before; else the checksums that are there are of no use. Collective.
bool set_covered(Group& group, const std::string& name, const std::vector<std::string>& datasets);
/// Whether it is a dataset of checksums. Collective.
[[nodiscard]] bool has_covered(const Group& group, const std::string& name);

/// The first rows that do not agree with their checksums in the dataset `path` of the file, and how many
/// there are; along the last axis where they have two.
struct AlteredRows {
  std::vector<std::uint64_t> first{};
  std::uint64_t n = 0;
  /// "row 7 does not agree with its checksum"; "" if there is none. `row`: what it is called.
  [[nodiscard]] std::string text(const std::string& row) const;
};
/// Compare rows of the file with the checksums in `path`: the first `rows[0]`; where these have two axes, the
/// first `rows[i]` of each index i of the first. Or only as many of the last of them as have about
/// `most_bytes`. Holds some megabytes; all ranks read the same. Collective. Throws InputError where
/// the file cannot be read.
[[nodiscard]] AlteredRows altered_rows(const Group& root, const std::string& path,
                                       const std::vector<std::uint64_t>& rows,
                                       double most_bytes = std::numeric_limits<double>::infinity());

}  // namespace quintet::hdf5
