#include "physics/codes/binary_codes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "io/log/error.hpp"

namespace quintet {

namespace {

constexpr int most_bits = 8;
using Scales = std::array<double, most_bits>;

/// One row of a group: its numbers, scales and signs (bit i of a sign: plane i).
struct Part {
  std::vector<double> w, residual;
  std::vector<std::uint8_t> signs;
  Scales alpha{};
};

void encode_greedily(Part& part, int bits) {
  part.residual = part.w;
  std::fill(part.signs.begin(), part.signs.end(), std::uint8_t{0});
  for (int i = 0; i < bits; ++i) {
    double sum = 0;
    for (const double r : part.residual) sum += std::abs(r);
    const double alpha = part.alpha[i] = sum / part.w.size();
    for (std::size_t c = 0; c < part.w.size(); ++c) {
      const bool plus = part.residual[c] >= 0;
      part.signs[c] |= static_cast<std::uint8_t>(plus ? 1U << i : 0U);
      part.residual[c] -= plus ? alpha : -alpha;
    }
  }
}

/// Solve (B^T B) alpha = B^T w by Gauss with pivots; false where it is singular. B^T B holds integers.
bool solve_scales(Part& part, int bits) {
  std::array<std::array<double, most_bits + 1>, most_bits> a{};
  for (std::size_t c = 0; c < part.w.size(); ++c)
    for (int i = 0; i < bits; ++i) {
      const auto sign = [&](int plane) { return (part.signs[c] >> plane & 1) != 0 ? 1.0 : -1.0; };
      for (int j = 0; j < bits; ++j) a[i][j] += sign(i) * sign(j);
      a[i][bits] += sign(i) * part.w[c];
    }
  const double least = 1e-9 * part.w.size();
  for (int k = 0; k < bits; ++k) {
    int pivot = k;
    for (int i = k + 1; i < bits; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    if (std::abs(a[pivot][k]) <= least) return false;
    std::swap(a[k], a[pivot]);
    for (int i = k + 1; i < bits; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (int j = k; j <= bits; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  for (int k = bits - 1; k >= 0; --k) {
    double sum = a[k][bits];
    for (int j = k + 1; j < bits; ++j) sum -= a[k][j] * part.alpha[j];
    part.alpha[k] = sum / a[k][k];
  }
  return true;
}

/// The nearest of all sums of +-alpha for each number.
void choose_signs(Part& part, int bits) {
  struct Sum {
    double value;
    int index;
  };
  std::array<Sum, 1 << most_bits> sums;
  const int n = 1 << bits;
  for (int k = 0; k < n; ++k) {
    sums[k] = {0, k};
    for (int i = 0; i < bits; ++i) sums[k].value += (k >> i & 1) != 0 ? part.alpha[i] : -part.alpha[i];
  }
  const auto less = [](const Sum& a, const Sum& b) {
    return a.value < b.value || (a.value == b.value && a.index < b.index);
  };
  std::sort(sums.begin(), sums.begin() + n, less);
  const auto end = std::unique(sums.begin(), sums.begin() + n,
                               [](const Sum& a, const Sum& b) { return a.value == b.value; });
  for (std::size_t c = 0; c < part.w.size(); ++c) {
    const double w = part.w[c];
    const auto above =
        std::lower_bound(sums.begin(), end, w, [](const Sum& s, double x) { return s.value < x; });
    auto best = above;
    if (above == end) {
      best = above - 1;
    } else if (above != sums.begin()) {
      const double up = std::abs(w - above->value), down = std::abs(w - (above - 1)->value);
      if (down < up || (down == up && (above - 1)->index < above->index)) best = above - 1;
    }
    part.signs[c] = static_cast<std::uint8_t>(best->index);
  }
}

void check_shape(int rows, int columns, const char* what) {
  QUINTET_CHECK(rows >= 1 && columns >= 1, "{}: a matrix of {} x {}; expected 1 x 1 or more", what, rows,
                columns);
}

}  // namespace

void check_code_options(const CodeOptions& options) {
  QUINTET_CHECK(options.bits >= 1 && options.bits <= most_bits, "bits: {}; expected 1 to {}", options.bits,
                most_bits);
  QUINTET_CHECK(options.group >= 0 && options.group % 4 == 0,
                "group: {} columns; expected a multiple of 4, or 0 for one scale a row", options.group);
  QUINTET_CHECK(options.rounds >= 0, "rounds: {}; expected 0 or more", options.rounds);
}

BinaryCodes encode(std::span<const double> w, int rows, int columns, const CodeOptions& options,
                   bool transposed) {
  check_code_options(options);
  check_shape(rows, columns, "binary codes");
  const auto at = [&](int r, int c) {
    return transposed ? std::int64_t{c} * rows + r : std::int64_t{r} * columns + c;
  };
  if (w.size() != static_cast<std::size_t>(rows) * columns)
    throw InternalError("a matrix and its sizes do not fit");
  BinaryCodes codes;
  codes.rows = rows;
  codes.columns = columns;
  codes.bits = options.bits;
  codes.group = options.group == 0 ? columns : std::min(options.group, columns);
  const int groups = codes.groups(), bytes = codes.bytes_of_row();
  codes.alpha.resize(std::int64_t{options.bits} * rows * groups);
  codes.keys.assign(std::int64_t{options.bits} * rows * bytes, 0);
  Part part;
  for (int r = 0; r < rows; ++r)
    for (int g = 0; g < groups; ++g) {
      const int first = g * codes.group, n = std::min(codes.group, columns - first);
      part.w.resize(n);
      part.signs.resize(n);
      for (int c = 0; c < n; ++c) {
        part.w[c] = w[at(r, first + c)];
        QUINTET_CHECK(
            std::abs(part.w[c]) <= static_cast<double>(std::numeric_limits<float>::max()) / most_bits,
            "binary codes: the number in row {}, column {} is {}; expected a finite float", r, first + c,
            part.w[c]);
      }
      encode_greedily(part, options.bits);
      for (int round = 0; round < options.rounds; ++round) {
        solve_scales(part, options.bits);
        const auto before = part.signs;
        choose_signs(part, options.bits);
        if (part.signs == before) break;  // nothing changes any more
      }
      for (int i = 0; i < options.bits; ++i) {
        const std::size_t row = std::int64_t{i} * rows + r;
        codes.alpha[row * groups + g] = static_cast<float>(part.alpha[i]);
        for (int c = 0; c < n; ++c)
          codes.keys[row * bytes + (first + c) / 8] |=
              static_cast<std::uint8_t>((part.signs[c] >> i & 1) << ((first + c) % 8));
      }
    }
  return codes;
}

std::vector<double> decode(const BinaryCodes& codes, bool transposed) {
  std::vector<double> w(std::int64_t{codes.rows} * codes.columns);
  for (int r = 0; r < codes.rows; ++r)
    for (int c = 0; c < codes.columns; ++c) {
      double sum = 0;
      for (int i = 0; i < codes.bits; ++i) {
        const double alpha = codes.scale(i, r, c / codes.group);
        sum += codes.sign(i, r, c) ? alpha : -alpha;
      }
      w[transposed ? std::int64_t{c} * codes.rows + r : std::int64_t{r} * codes.columns + c] = sum;
    }
  return w;
}

void check_codes(const BinaryCodes& codes, const char* what) {
  check_shape(codes.rows, codes.columns, what);
  QUINTET_CHECK(codes.bits >= 1 && codes.bits <= most_bits, "{}: {} bits; expected 1 to {}", what, codes.bits,
                most_bits);
  QUINTET_CHECK(codes.group == codes.columns ||
                    (codes.group >= 4 && codes.group < codes.columns && codes.group % 4 == 0),
                "{}: {} columns share a scale; expected a multiple of 4 below {}, or all", what, codes.group,
                codes.columns);
  const std::size_t planes = std::int64_t{codes.bits} * codes.rows;
  QUINTET_CHECK(
      codes.alpha.size() == planes * codes.groups() && codes.keys.size() == planes * codes.bytes_of_row(),
      "{}: {} scales and {} bytes of signs; expected {} and {}", what, codes.alpha.size(), codes.keys.size(),
      planes * codes.groups(), planes * codes.bytes_of_row());
  for (const float a : codes.alpha)
    QUINTET_CHECK(std::isfinite(a), "{}: a scale is {}; expected finite ones", what, a);
}

}  // namespace quintet
