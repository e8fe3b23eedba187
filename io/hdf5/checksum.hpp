#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/parallel/comm_fwd.hpp"

namespace quintet::hdf5 {

/// XXH64, a fast 64-bit checksum (not a cryptographic one) of bytes.
///
/// Source: Y. Collet, "xxHash fast digest algorithm" (specification, version 0.1.1), section XXH64.
[[nodiscard]] std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed = 0);

/// Computes xxh64() of bytes that come in pieces, so that a file need not be held in memory.
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
  /// Part of the checksum from these values.
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

/// Bytes of frames that a restart or a reader compares at most, about: a fraction of a second.
inline constexpr double most_compared = 256.0 * (1 << 20);

/// Whether `name` of a group is a dataset of checksums. Collective.
[[nodiscard]] bool has_covered(const Group& group, const std::string& name);
/// Say in the file of which datasets (paths in it) `name` of this group has the checksums. True if it said so
/// before; else the checksums that are there are of no use. Collective.
bool set_covered(Group& group, const std::string& name, const std::vector<std::string>& datasets);

/// The first rows that do not agree with their checksums in the dataset `path` of the file, and how many
/// there are; along the last axis where they have two.
struct AlteredRows {
  std::vector<std::uint64_t> first{};
  std::uint64_t n = 0;
  /// "row 7 does not agree with its checksum"; "" without a difference. `row`: what it is called.
  [[nodiscard]] std::string text(const std::string& row) const;
};
/// Compare rows of the file with the checksums in `path`: the first `rows[0]`; where these have two axes, the
/// first `rows[i]` of each index i of the first. Or only as many of the last of them as have about
/// `most_bytes`. Holds some megabytes; all ranks read the same. Collective. Throws InputError where
/// the file cannot be read.
[[nodiscard]] AlteredRows altered_rows(const Group& root, const std::string& path,
                                       const std::vector<std::uint64_t>& rows,
                                       double most_bytes = std::numeric_limits<double>::infinity());

/// A row or frame: `sample` is its index along the first axis of checksums that have two.
struct RowPlace {
  std::uint64_t row = 0;
  std::optional<std::uint64_t> sample{};
};
/// Throw InputError, which says what helps, unless a frame agrees with its checksum in `path`. A frame
/// without a checksum passes, as does one of more than about `most_bytes`, or any without this dataset. All
/// ranks read the same. Collective.
void require_unaltered_frame(const File& file, const std::string& path, const RowPlace& place,
                             double most_bytes = std::numeric_limits<double>::infinity());

/// The checksums of the rows of a table, or of the frames that datasets of one group have: a series beside
/// them, "row_checksum" or "frame_checksum", which says what it covers.
class ChecksumSeries {
 public:
  /// Make it in `group` of a file that is being written, or go on with it. Collective.
  /// @param row what it is that has a checksum: "row" or "frame"
  /// @param axis name of the axis of these
  ChecksumSeries(const Comm& comm, File& file, const std::string& group, const std::string& row,
                 const std::string& axis);

  /// Rows have values in these datasets (paths in the file) from here on. Where the rows so far have others,
  /// or another order, their checksums are given up. Collective.
  void cover(const std::vector<std::string>& paths);
  /// Append checksums, alike on all ranks. Collective.
  void append(std::span<const std::uint64_t> sums);
  /// Cut to n rows, of which there are so many; those that lack a checksum get 'none' with the next append:
  /// on several ranks HDF5 1.10 hangs where another table is cut after such writes. Collective.
  void keep(std::uint64_t n);
  /// Message that names those of the first n rows that have changed: "frame 3 does not agree with its
  /// checksum"; "" without any. Checks only the last of them, about `most_bytes`, where they are more. All
  /// ranks read the same, so that HDF5's chunk caches hold the same on each. Collective.
  [[nodiscard]] std::string altered(std::uint64_t n, double most_bytes) const;

  /// A frame begins to be written: forget what was noted of one that could not be.
  void begin_frame();
  /// Note values of a dataset that this rank has written of the frame, from place `first` in it on. All ranks
  /// note the same datasets.
  template <class T>
  void note(const std::string& path, std::span<const T> values, std::uint64_t first = 0) {
    note_part(path, RowChecksum::part<T>(RowChecksum::seed(path), values, first));
  }
  /// Note values of a dataset that rank 0 has written; see note().
  template <class T>
  void note_on_root(const std::string& path, std::span<const T> values) {
    note<T>(path, is_root_ ? values : std::span<const T>());
  }
  /// Note values of a dataset by what RowChecksum::part() gives for them; see note().
  void note_part(const std::string& path, std::uint64_t part);
  /// Append the checksum of what was noted. Collective.
  void end_frame();

 private:
  std::shared_ptr<const Comm> comm_;
  bool is_root_;
  Group root_, group_;
  std::string path_, name_, row_;
  Series series_;
  std::uint64_t rows_ = 0;            ///< with a checksum or without
  std::uint64_t sum_ = 0;             ///< this rank's part of the frame that is being written
  std::vector<std::string> covered_;  ///< the datasets of that frame
};

}  // namespace quintet::hdf5
