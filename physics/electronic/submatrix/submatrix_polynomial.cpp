#include "physics/electronic/submatrix/submatrix_polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "physics/electronic/functions/tridiagonal.hpp"

namespace quintet::electronic {

double idempotency_error(const std::vector<double>& columns, std::span<const int> own) {
  const std::size_t n = columns.size() / own.size();
  double squares = 0, diagonal = 0;
  for (const double p : columns) squares += p * p;
  for (std::size_t c = 0; c < own.size(); ++c) diagonal += columns[c * n + own[c]];
  return std::abs(squares - diagonal);
}

template <class Real>
void ColumnPolynomial<Real>::evaluate(const LocalMatrix<Real>& a, std::span<const int> own,
                                      const ChebyshevSeries& series, OwnColumns& result) {
  const std::size_t n = a.n();
  result.value.resize(series.coefficients.size());
  for (auto& value : result.value) value.resize(n * own.size());
  result.moment.assign(series.coefficients.front().size(), 0.0);
  result.idempotency = 0;
  sum_.resize(series.coefficients.size());
  for (std::size_t first = 0; first < own.size(); first += pack_width<Real>)
    evaluate_pack(a, own.subspan(first, std::min<std::size_t>(pack_width<Real>, own.size() - first)), series,
                  first, result);
  result.idempotency = idempotency_error(result.value.front(), own);
}

template <class Real>
void ColumnPolynomial<Real>::evaluate_pack(const LocalMatrix<Real>& a, std::span<const int> own,
                                           const ChebyshevSeries& series, std::size_t first,
                                           OwnColumns& result) {
  const std::size_t n = a.n();
  const auto& coefficients = series.coefficients;
  const std::size_t n_terms = coefficients.front().size();
  previous_.assign(n, Lanes{});
  current_.assign(n, Lanes{});
  for (auto& sum : sum_) sum.assign(n, Lanes{});
  for (std::size_t c = 0; c < own.size(); ++c) current_[own[c]][c] = 1;
  for (std::size_t k = 0; k < n_terms; ++k) {  // current_ = T_k V, previous_ = T_{k-1} V
    for (std::size_t c = 0; c < own.size(); ++c) result.moment[k] += static_cast<double>(current_[own[c]][c]);
    for (std::size_t f = 0; f < sum_.size(); ++f) {
      const auto c_k = broadcast<Real>(static_cast<Real>(coefficients[f][k]));
      for (std::size_t i = 0; i < n; ++i) sum_[f][i] += c_k * current_[i];
    }
    if (k + 1 == n_terms) break;
    for (std::size_t i = 0; i < n; ++i) previous_[i] = -previous_[i];
    a.apply(current_.data(), previous_.data());
    if (k == 0)
      for (std::size_t i = 0; i < n; ++i) previous_[i] *= Real(0.5);  // T_1 = a V
    previous_.swap(current_);
  }
  for (std::size_t f = 0; f < sum_.size(); ++f)
    for (std::size_t c = 0; c < own.size(); ++c) {
      double* to = result.value[f].data() + (first + c) * n;
      for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<double>(sum_[f][i][c]);
    }
}

template class ColumnPolynomial<double>;
template class ColumnPolynomial<float>;

namespace {

using Lanes = Pack<double>;
constexpr int width = pack_width<double>;

Lanes lane_dots(const AlignedVector<Lanes>& x, const AlignedVector<Lanes>& y) {
  Lanes sum{};
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}
Lanes square_root(Lanes x) {
  for (int l = 0; l < width; ++l) x[l] = std::sqrt(x[l]);
  return x;
}
Lanes inverse(Lanes x) {
  for (int l = 0; l < width; ++l) x[l] = x[l] > 1e-12 ? 1 / x[l] : 0;  // a lane that ended stays zero
  return x;
}

/// Lanczos' recurrences of all lanes at once.
struct LaneLanczos {
  std::vector<Lanes> alpha, beta;
};

LaneLanczos lane_lanczos(const LocalMatrix<double>& a, std::span<const int> start, int n_steps) {
  const std::size_t n = a.n();
  std::vector<AlignedVector<Lanes>> basis{AlignedVector<Lanes>(n, Lanes{})};
  for (std::size_t l = 0; l < start.size(); ++l) basis[0][start[l]][l] = 1;
  LaneLanczos t;
  for (int k = 0; k < n_steps; ++k) {
    AlignedVector<Lanes> next(n, Lanes{});
    a.apply(basis.back().data(), next.data());
    t.alpha.push_back(lane_dots(basis.back(), next));
    for (std::size_t q = basis.size(); q-- > 0;) {
      const Lanes overlap = lane_dots(basis[q], next);
      for (std::size_t i = 0; i < n; ++i) next[i] -= overlap * basis[q][i];
    }
    t.beta.push_back(square_root(lane_dots(next, next)));
    const Lanes factor = inverse(t.beta.back());
    for (auto& value : next) value *= factor;
    basis.push_back(std::move(next));
  }
  return t;
}

}  // namespace

void sample_spectrum(const LocalMatrix<double>& a, std::span<const int> own, double mu, int n_steps,
                     LocalSpectrum& spectrum) {
  own = own.first(std::min<std::size_t>(own.size(), width));
  const LaneLanczos t = lane_lanczos(a, own, std::min(n_steps, a.n()));
  for (std::size_t l = 0; l < own.size(); ++l) {
    std::vector<double> diagonal, off_diagonal;
    for (std::size_t k = 0; k < t.alpha.size(); ++k) {
      diagonal.push_back(t.alpha[k][l]);
      off_diagonal.push_back(t.beta[k][l]);
      if (t.beta[k][l] < 1e-10) break;
    }
    const double residual = off_diagonal.back();
    const RitzValues ritz = ritz_values(diagonal, std::span(off_diagonal).first(diagonal.size() - 1));
    for (std::size_t i = 0; i < ritz.value.size(); ++i) {
      const double value = ritz.value[i];
      spectrum.density.x.push_back(value);
      spectrum.density.weight.push_back(ritz.first[i] * ritz.first[i]);
      if (std::abs(residual * ritz.last[i]) > 0.2 * std::abs(value - mu)) continue;
      if (value < mu)
        spectrum.homo = std::max(spectrum.homo, value);
      else
        spectrum.lumo = std::min(spectrum.lumo, value);
    }
  }
}

}  // namespace quintet::electronic
