#include "physics/transforms/row_transform.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "physics/kernels/pack_lanes.hpp"

namespace quintet {

namespace {

constexpr std::size_t lanes = Fft::lanes;

int fft_length(LineBasis basis, int n) { return basis == LineBasis::sine_faces ? 2 * n : n; }

double angle_of(LineBasis basis, int n, int k) {
  constexpr double pi = std::numbers::pi;
  switch (basis) {
    case LineBasis::periodic:
      return 2 * pi * ((k + 1) / 2) / n;
    case LineBasis::sine_centres:
      return pi * (k + 1) / n;
    default:
      return pi * k / n;
  }
}

using Lanes = Fft::Lanes;

/// Call take(i, a, b) with number i of all rows, a those of the first `lanes`, b of the next. Rows that are
/// not there are zeros.
template <class Take>
void read_rows(const double* from, std::size_t stride, int n_rows, std::size_t n, const Take& take) {
  const auto of_rows = [&](std::size_t first, std::size_t i, Lanes(&block)[lanes]) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < lanes; ++r)
      block[r] = first + r < static_cast<std::size_t>(n_rows) ? load<double>(from + (first + r) * stride + i)
                                                              : Lanes{};
    transpose<double>(block);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Lanes a[lanes], b[lanes];
    of_rows(0, i, a);
    of_rows(lanes, i, b);
#pragma GCC unroll 16
    for (std::size_t j = 0; j < lanes; ++j) take(i + j, a[j], b[j]);
  }
  for (; i < n; ++i) {
    double numbers[2 * lanes] = {};
    for (std::size_t r = 0; r < static_cast<std::size_t>(n_rows); ++r) numbers[r] = from[r * stride + i];
    take(i, load<double>(numbers), load<double>(numbers + lanes));
  }
}

/// Write number i of all rows, value(i, half) of the first (half 0) and the next `lanes` rows.
template <class Value>
void write_rows(double* to, std::size_t stride, int n_rows, std::size_t n, const Value& value) {
  const std::size_t count = n_rows;
  for (std::size_t half = 0; half * lanes < count; ++half) {
    const std::size_t first = half * lanes, here = std::min(lanes, count - first);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      Lanes block[lanes];
#pragma GCC unroll 16
      for (std::size_t j = 0; j < lanes; ++j) block[j] = value(i + j, half);
      transpose<double>(block);
      for (std::size_t r = 0; r < here; ++r) store<double>(to + (first + r) * stride + i, block[r]);
    }
    for (; i < n; ++i) {
      double numbers[lanes];
      store<double>(numbers, value(i, half));
      for (std::size_t r = 0; r < here; ++r) to[(first + r) * stride + i] = numbers[r];
    }
  }
}

/// A_k and B_k of Z = A + i B, the transforms of two real sequences: A of half 0, B of half 1.
struct Coefficient {
  Lanes re, im;
};
inline Coefficient untangled(const double* re, const double* im, std::size_t k, std::size_t back,
                             std::size_t half) {
  const Lanes zr = load<double>(re + k * lanes), zi = load<double>(im + k * lanes),
              yr = load<double>(re + back * lanes), yi = load<double>(im + back * lanes);
  if (half == 0) return {0.5 * (zr + yr), 0.5 * (zi - yi)};
  return {0.5 * (zi + yi), 0.5 * (yr - zr)};
}

/// Where number i of a row goes for cosines: even ones forwards, odd ones backwards.
inline std::size_t place_of(std::size_t i, std::size_t n) { return i % 2 == 0 ? i / 2 : n - 1 - i / 2; }

}  // namespace

RowTransform::RowTransform(LineBasis basis, int n) : basis_(basis), n_(n), fft_(fft_length(basis, n)) {
  for (int k = 0; k < n; ++k) {
    angles_.push_back(angle_of(basis, n, k));
    cos_.push_back(std::cos(std::numbers::pi * k / (2.0 * n)));
    sin_.push_back(std::sin(std::numbers::pi * k / (2.0 * n)));
  }
}

std::size_t RowTransform::work_size() const {
  return 2 * std::int64_t{fft_.size()} * lanes + fft_.work_size();
}

void RowTransform::forward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride,
                           int n_rows, double* work) const {
  const std::size_t n = n_, length = fft_.size();
  double *const re = work, *const im = work + length * lanes, *const more = im + length * lanes;
  const auto put = [&](std::size_t place, Lanes a, Lanes b) {
    store<double>(re + place * lanes, a);
    store<double>(im + place * lanes, b);
  };
  const auto read = [&](const auto& take) { read_rows(from, from_stride, n_rows, n, take); };
  switch (basis_) {
    case LineBasis::periodic:
      read(put);
      break;
    case LineBasis::cosine:
      read([&](std::size_t i, Lanes a, Lanes b) { put(place_of(i, n), a, b); });
      break;
    case LineBasis::sine_centres:  // sines are cosines of (-1)^i x
      read([&](std::size_t i, Lanes a, Lanes b) {
        const double sign = i % 2 == 0 ? 1 : -1;
        put(place_of(i, n), sign * a, sign * b);
      });
      break;
    case LineBasis::sine_faces:  // odd about both ends
      read([&](std::size_t i, Lanes a, Lanes b) {
        put(i, a, b);
        if (i > 0) put(2 * n - i, -a, -b);
      });
      put(0, Lanes{}, Lanes{});
      put(n, Lanes{}, Lanes{});
  }
  const auto z = fft_.transform(re, im, more);

  const double norm = std::sqrt(2.0 / n_), first = std::sqrt(1.0 / n_);
  const auto of = [&](std::size_t k, std::size_t half) {
    return untangled(z.re, z.im, k, k == 0 ? 0 : length - k, half);
  };
  switch (basis_) {
    case LineBasis::periodic:
      return write_rows(to, to_stride, n_rows, n, [&](std::size_t i, std::size_t half) -> Lanes {
        const auto [x, y] = of((i + 1) / 2, half);
        return i == 0 || 2 * ((i + 1) / 2) == n ? first * x : norm * (i % 2 == 1 ? x : y);
      });
    case LineBasis::cosine:
    case LineBasis::sine_centres:
      return write_rows(to, to_stride, n_rows, n, [&](std::size_t i, std::size_t half) -> Lanes {
        const std::size_t k = basis_ == LineBasis::cosine ? i : n - 1 - i;
        const auto [x, y] = of(k, half);
        return (k == 0 ? first : norm) * (cos_[k] * x + sin_[k] * y);
      });
    case LineBasis::sine_faces:
      return write_rows(to, to_stride, n_rows, n, [&](std::size_t i, std::size_t half) -> Lanes {
        if (i == 0) return Lanes{};
        return 0.5 * norm * (half == 0 ? -load<double>(z.im + i * lanes) : load<double>(z.re + i * lanes));
      });
  }
}

// Unitary: the conjugate transform of Z_k = A_k + i B_k of two rows, scaled by 1/n.
void RowTransform::backward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride,
                            int n_rows, double* work) const {
  if (basis_ == LineBasis::sine_faces) {  // its own inverse
    forward(from, from_stride, to, to_stride, n_rows, work);
    return;
  }
  const std::size_t n = n_;
  double *const re = work, *const im = work + n * lanes, *const more = im + n * lanes;
  const double norm = std::sqrt(2.0 / n_) / 2, first = std::sqrt(1.0 / n_);
  const auto put = [&](std::size_t k, Lanes x, Lanes y) {
    store<double>(re + k * lanes, x);
    store<double>(im + k * lanes, y);
  };
  const auto add = [&](std::size_t k, Lanes x, Lanes y) {
    put(k, load<double>(re + k * lanes) + x, load<double>(im + k * lanes) + y);
  };
  if (basis_ == LineBasis::periodic)
    read_rows(from, from_stride, n_rows, n, [&](std::size_t i, Lanes a, Lanes b) {
      const std::size_t k = (i + 1) / 2;
      if (i == 0 || 2 * k == n) return put(k, first * a, first * b);
      a *= norm, b *= norm;
      if (i % 2 == 1) {
        put(k, a, b);
        put(n - k, a, b);
      } else {
        add(k, -b, a);
        add(n - k, b, -a);
      }
    });
  else
    // Coefficient C_k is a part of Z_k, exp(i pi k/2n) (C_k - i C_{n-k}), and of Z_{n-k}.
    read_rows(from, from_stride, n_rows, n, [&](std::size_t i, Lanes a, Lanes b) {
      const bool cosine = basis_ == LineBasis::cosine;
      const std::size_t k = cosine ? i : n - 1 - i, back = n - k;
      if (k == 0) return put(0, first * a, first * b);
      const double c = norm * cos_[k], s = norm * sin_[k];
      if (k == back) return put(k, 2 * c * a, 2 * c * b);
      const bool is_new = cosine == (k < back);
      const auto give = [&](std::size_t to_k, Lanes x, Lanes y) {
        is_new ? put(to_k, x, y) : add(to_k, x, y);
      };
      give(k, c * a - s * b, s * a + c * b);
      give(back, c * a + s * b, c * b - s * a);
    });
  const auto z = fft_.inverse(re, im, more);
  const double sign = basis_ == LineBasis::sine_centres ? -1 : 1;
  write_rows(to, to_stride, n_rows, n, [&](std::size_t i, std::size_t half) -> Lanes {
    const double* const x = half == 0 ? z.re : z.im;
    if (basis_ == LineBasis::periodic) return load<double>(x + i * lanes);
    return (i % 2 == 0 ? 1.0 : sign) * load<double>(x + place_of(i, n) * lanes);
  });
}

}  // namespace quintet
