#include "physics/transforms/line_modes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "physics/transforms/tridiagonal.hpp"

namespace quintet {
namespace {

void multiply_rows(const PackedMatrix<double>& matrix, const double* from, std::size_t from_stride,
                   double* to, std::size_t to_stride, int n_rows, double* work) {
  multiply(from, static_cast<int>(from_stride), n_rows, matrix, work, matrix.stride());
  for (int r = 0; r < n_rows; ++r)
    std::copy_n(work + std::int64_t{r} * matrix.stride(), matrix.n(), to + r * to_stride);
}

}  // namespace

LineModes::LineModes(const std::vector<double>& diagonal, const std::vector<double>& off_diagonal,
                     const std::vector<double>& weight, int first, bool constant) {
  const std::size_t n = weight.size(), skipped = first;
  std::vector<double> d, e;
  for (std::size_t i = skipped; i < n; ++i) d.push_back(diagonal[i] / weight[i]);
  for (std::size_t i = skipped; i + 1 < n; ++i)
    e.push_back(off_diagonal[i] / std::sqrt(weight[i] * weight[i + 1]));
  auto pairs = tridiagonal_eigenpairs(std::move(d), std::move(e));
  const std::size_t inner = n - skipped;
  if (constant) {  // known exactly
    const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
    pairs.values[0] = 0;
    for (std::size_t i = 0; i < n; ++i) pairs.vectors[i] = std::sqrt(weight[i] / sum);
  }
  squares_.assign(skipped, 0.0);
  squares_.insert(squares_.end(), pairs.values.begin(), pairs.values.end());
  std::vector<double> modes(n * n, 0.0);
  for (std::size_t k = 0; k < inner; ++k)
    std::copy_n(&pairs.vectors[k * inner], inner, &modes[(k + skipped) * n + skipped]);
  pack(modes, weight);
}

LineModes::LineModes(int n, double spacing) {
  std::vector<double> modes;
  for (int c = 0; c < n; ++c) {
    const int mode = (c + 1) / 2;
    const bool single = c == 0 || 2 * mode == n;
    const double half = std::sin(std::numbers::pi * mode / n);
    squares_.push_back(4 * half * half / (spacing * spacing));
    for (int i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * (static_cast<long long>(mode) * i % n) / n;
      modes.push_back((c % 2 == 1 || c == 0 ? std::cos(angle) : std::sin(angle)) *
                      std::sqrt((single ? 1.0 : 2.0) / n));
    }
  }
  pack(modes, std::vector<double>(n, 1.0));
}

void LineModes::pack(const std::vector<double>& modes, const std::vector<double>& weight) {
  const std::size_t n = weight.size();
  std::vector<double> to(n * n), back(n * n);  // [n values, n coefficients], [n coefficients, n values]
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      to[i * n + k] = modes[k * n + i] * std::sqrt(weight[i]);
      back[k * n + i] = modes[k * n + i] / std::sqrt(weight[i]);
    }
  const int size = n;
  forward_ = PackedMatrix<double>(to.data(), size, size);
  backward_ = PackedMatrix<double>(back.data(), size, size);
}

std::size_t LineModes::work_size() const { return std::int64_t{batch()} * forward_.stride(); }

void LineModes::forward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride,
                        int n_rows, double* work) const {
  multiply_rows(forward_, from, from_stride, to, to_stride, n_rows, work);
}

void LineModes::backward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride,
                         int n_rows, double* work) const {
  multiply_rows(backward_, from, from_stride, to, to_stride, n_rows, work);
}

}  // namespace quintet
