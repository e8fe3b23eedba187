#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quintet {

/// How a matrix is written as signs.
struct CodeOptions {
  int bits = 3;    ///< planes of signs, 1 to 8
  int group = 64;  ///< columns that share a scale, a multiple of 4; 0: all of a row
  int rounds = 8;  ///< alternating rounds after the greedy start; 0: greedy alone
};
/// Throws InputError that names the key.
void check_code_options(const CodeOptions& options);

/// A matrix [rows, columns] as planes of signs: W(r, c) ~ sum_i alpha_i(r, group of c) B_i(r, c), B = +-1.
struct BinaryCodes {
  int rows = 0, columns = 0, bits = 0;
  int group = 0;             ///< columns that share a scale; the last group may be narrower
  std::vector<float> alpha;  ///< [bits, rows, groups()]
  std::vector<std::uint8_t>
      keys;  ///< [bits, rows, bytes_of_row()]: bit c % 8 of byte c / 8 is 1 for +1; 0 beyond the columns

  [[nodiscard]] int groups() const { return (columns + group - 1) / group; }
  [[nodiscard]] int bytes_of_row() const { return (columns + 7) / 8; }
  /// Bytes of scales and signs: 4 bits rows groups + bits rows ceil(columns/8).
  [[nodiscard]] std::size_t bytes() const { return 4 * alpha.size() + keys.size(); }
  [[nodiscard]] bool sign(int plane, int row, int column) const {
    const auto at = (std::int64_t{plane} * rows + row) * bytes_of_row() + column / 8;
    return (keys[at] >> (column % 8) & 1) != 0;
  }
  [[nodiscard]] float scale(int plane, int row, int group_of_row) const {
    return alpha[(std::int64_t{plane} * rows + row) * groups() + group_of_row];
  }
};

/// The codes of W, each row and group of columns by itself.
///
/// Greedy: B_i = sign(R) (+1 for 0), alpha_i = mean |R|, R -= alpha_i B_i, from R = W. Each alternating round
/// then solves the normal equations (B^T B) alpha = B^T w for the scales (kept where they are singular) and
/// gives each number the nearest of the 2^bits sums of +-alpha (the first of those equally near, bit i of its
/// index being the sign of plane i). No round makes |W - W~| larger. Scales are rounded to float at the end.
/// @param w `[rows, columns]`, or, with `transposed`, `[columns, rows]`
/// Throws InputError for a matrix without elements, or with an element that is not a finite float.
/// Source: Guo et al. 2017, Network sketching (arXiv 1706.02021); Xu et al. 2018, Alternating multi-bit
/// quantization (arXiv 1802.00150).
[[nodiscard]] BinaryCodes encode(std::span<const double> w, int rows, int columns, const CodeOptions& options,
                                 bool transposed = false);

/// W~ `[rows, columns]`, or its transpose.
[[nodiscard]] std::vector<double> decode(const BinaryCodes& codes, bool transposed = false);

/// Throws InputError, beginning with `what`, unless sizes fit each other and scales are finite.
void check_codes(const BinaryCodes& codes, const char* what);

}  // namespace quintet
