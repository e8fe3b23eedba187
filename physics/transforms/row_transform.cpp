#include "physics/transforms/row_transform.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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

/// Rows 0 ... lanes-1 are real parts, the next ones imaginary parts, a row a lane.
struct Batch {
  double *re, *im;
  int n_rows;

  template <class Function>
  void for_rows(const Function& f) const {
    for (int r = 0; r < n_rows; ++r) {
      const std::size_t row = r;
      f(row, row < lanes ? re + row : im + (row - lanes));
    }
  }
};

/// Z of two real sequences a + i b, freed from each other: A_k and B_k for k and n - k at once.
struct Pair {
  double a_re, a_im, b_re, b_im;
};
inline Pair untangled(const double* re, const double* im, std::size_t k, std::size_t back, std::size_t lane) {
  const double zr = re[k * lanes + lane], zi = im[k * lanes + lane];
  const double yr = re[back * lanes + lane], yi = im[back * lanes + lane];
  return {0.5 * (zr + yr), 0.5 * (zi - yi), 0.5 * (zi + yi), 0.5 * (yr - zr)};
}

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
  const Batch batch{re, im, n_rows};
  if (n_rows < RowTransform::batch) std::fill(re, more, 0.0);
  const auto row_of = [&](std::size_t r) { return from + r * from_stride; };
  switch (basis_) {
    case LineBasis::periodic:
      batch.for_rows([&](std::size_t r, double* x) {
        const double* const row = row_of(r);
        for (std::size_t i = 0; i < n; ++i) x[i * lanes] = row[i];
      });
      break;
    case LineBasis::cosine:
    case LineBasis::sine_centres: {  // even places forwards, odd ones backwards; sines are cosines of (-1)^i
                                     // x
      const double sign = basis_ == LineBasis::cosine ? 1 : -1;
      batch.for_rows([&](std::size_t r, double* x) {
        const double* const row = row_of(r);
        for (std::size_t i = 0; 2 * i < n; ++i) x[i * lanes] = row[2 * i];
        for (std::size_t i = 0; 2 * i + 1 < n; ++i) x[(n - 1 - i) * lanes] = sign * row[2 * i + 1];
      });
      break;
    }
    case LineBasis::sine_faces:  // odd about both ends
      batch.for_rows([&](std::size_t r, double* x) {
        const double* const row = row_of(r);
        x[0] = x[n * lanes] = 0;
        for (std::size_t i = 1; i < n; ++i) {
          x[i * lanes] = row[i];
          x[(2 * n - i) * lanes] = -row[i];
        }
      });
  }
  fft_.transform(re, im, more);

  const double norm = std::sqrt(2.0 / n_), first = std::sqrt(1.0 / n_);
  for (int r = 0; r < n_rows; ++r) {
    const std::size_t row = r, lane = row % lanes;
    const bool imaginary = row >= lanes;
    double* const out = to + row * to_stride;
    const auto value = [&](std::size_t k) {
      const Pair pair = untangled(re, im, k, k == 0 ? 0 : length - k, lane);
      return imaginary ? std::pair{pair.b_re, pair.b_im} : std::pair{pair.a_re, pair.a_im};
    };
    switch (basis_) {
      case LineBasis::periodic:
        out[0] = first * value(0).first;
        for (std::size_t k = 1; 2 * k < n; ++k) {
          const auto [x, y] = value(k);
          out[2 * k - 1] = norm * x;
          out[2 * k] = norm * y;
        }
        if (n % 2 == 0) out[n - 1] = first * value(n / 2).first;
        break;
      case LineBasis::cosine:
        for (std::size_t k = 0; k < n; ++k) {
          const auto [x, y] = value(k);
          out[k] = (k == 0 ? first : norm) * (cos_[k] * x + sin_[k] * y);
        }
        break;
      case LineBasis::sine_centres:
        for (std::size_t k = 0; k < n; ++k) {
          const auto [x, y] = value(k);
          out[n - 1 - k] = (k == 0 ? first : norm) * (cos_[k] * x + sin_[k] * y);
        }
        break;
      case LineBasis::sine_faces:
        out[0] = 0;
        for (std::size_t k = 1; k < n; ++k) {
          const std::size_t i = k * lanes + lane;
          out[k] = 0.5 * norm * (imaginary ? re[i] : -im[i]);
        }
    }
  }
}

void RowTransform::backward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride,
                            int n_rows, double* work) const {
  if (basis_ == LineBasis::sine_faces) {  // its own inverse
    forward(from, from_stride, to, to_stride, n_rows, work);
    return;
  }
  const std::size_t n = n_;
  double *const re = work, *const im = work + n * lanes, *const more = im + n * lanes;
  std::fill(re, more, 0.0);
  // Unitary: the conjugate transform of Z_k = A_k + i B_k of two rows, scaled by 1/n.
  const double norm = std::sqrt(2.0 / n_) / 2, first = std::sqrt(1.0 / n_);
  for (int r = 0; r < n_rows; ++r) {
    const std::size_t row = r, lane = row % lanes;
    const bool imaginary = row >= lanes;
    const double* const in = from + row * from_stride;
    const auto add = [&](std::size_t k, double x, double y) {  // Z_k += x + i y, times i for the second row
      const std::size_t i = k * lanes + lane;
      re[i] += imaginary ? -y : x;
      im[i] += imaginary ? x : y;
    };
    if (basis_ == LineBasis::periodic) {
      add(0, first * in[0], 0);
      for (std::size_t k = 1; 2 * k < n; ++k) {
        const double x = norm * in[2 * k - 1], y = norm * in[2 * k];
        add(k, x, y);
        add(n - k, x, -y);
      }
      if (n % 2 == 0) add(n / 2, first * in[n - 1], 0);
      continue;
    }
    const bool cosine = basis_ == LineBasis::cosine;
    const auto coefficient = [&](std::size_t k) { return k == n ? 0.0 : in[cosine ? k : n - 1 - k]; };
    add(0, first * coefficient(0), 0);
    for (std::size_t k = 1; k < n; ++k) {  // exp(i pi k/2n) (C_k - i C_{n-k})
      const double x = norm * coefficient(k), y = -norm * coefficient(n - k);
      add(k, cos_[k] * x - sin_[k] * y, sin_[k] * x + cos_[k] * y);
    }
  }
  fft_.inverse(re, im, more);
  const double sign = basis_ == LineBasis::sine_centres ? -1 : 1;
  Batch{re, im, n_rows}.for_rows([&](std::size_t r, const double* x) {
    double* const out = to + r * to_stride;
    if (basis_ == LineBasis::periodic) {
      for (std::size_t i = 0; i < n; ++i) out[i] = x[i * lanes];
      return;
    }
    for (std::size_t i = 0; 2 * i < n; ++i) out[2 * i] = x[i * lanes];
    for (std::size_t i = 0; 2 * i + 1 < n; ++i) out[2 * i + 1] = sign * x[(n - 1 - i) * lanes];
  });
}

}  // namespace quintet
