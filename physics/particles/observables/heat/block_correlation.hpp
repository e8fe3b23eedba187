#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "physics/particles/atoms/box.hpp"

namespace quintet {

/// Autocorrelation C_k(l) = <a_k(n) a_k(n + l)>, l = 0 .. length, of each component of a vector that is
/// sampled at equal times, and the same of blocks of the run, for standard errors.
///
/// Every sample is a time origin once it has been followed for `length` samples, so that all lags have
/// equally many. A block has `length` origins at first. As soon as there are 32, pairs of them become one:
/// memory, 768 bytes a lag, does not grow with the run. A sample costs 3 products a lag.
class BlockCorrelation {
 public:
  explicit BlockCorrelation(std::int64_t length);

  void add(const Vec3& value);
  [[nodiscard]] std::size_t n_lags() const { return length_ + 1; }
  [[nodiscard]] std::int64_t n_samples() const { return n_samples_; }
  [[nodiscard]] std::int64_t n_origins() const { return n_samples_ > length_ ? n_samples_ - length_ : 0; }
  /// Number of complete blocks.
  [[nodiscard]] std::int64_t n_blocks() const { return n_origins() / block_origins_; }
  /// C_k over all origins; all zero without one.
  [[nodiscard]] std::vector<double> average(int component) const;
  /// C_k over the origins of a complete block.
  [[nodiscard]] std::vector<double> average_of_block(std::int64_t block, int component) const;

  /// Write what was accumulated, in units of the square of a.
  void save(hdf5::Group& group, const char* units) const;
  /// Throws InputError if the length is not that it was saved with.
  void restore(const hdf5::Group& group);

 private:
  [[nodiscard]] std::span<const double> sums(std::int64_t block, int component) const;
  void merge_pairs();

  std::int64_t length_, n_samples_ = 0, block_origins_;
  std::vector<Vec3> recent_;  ///< [length + 1] sample n at n % (length + 1)
  std::vector<double> sum_;   ///< [blocks, 3, n_lags] over the origins of a block; the last may be incomplete
};

}  // namespace quintet
