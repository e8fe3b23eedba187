#include "surrogates/sequence/training/start_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"

namespace quintet::sequence {

namespace {

constexpr std::uint32_t uniform_stream = 0x5e00, normal_stream = 0x5e01;

/// Random numbers of one array of one operation.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t array) : seed_(seed), array_(array) {}
  void uniform(std::span<double> values, double bound) {
    for (double& value : values) {
      double u, v;
      uniform_pair(seed_, uniform_stream, next_++, array_, u, v);
      value = bound * (2 * u - 1);
    }
  }
  void normal(std::span<double> values) {
    for (double& value : values) {
      double unused;
      normal_pair(seed_, normal_stream, next_++, array_, value, unused);
    }
  }

 private:
  std::uint64_t seed_, array_, next_ = 0;
};

/// Rows [n, width], n <= width, orthonormal: Gram and Schmidt, each row twice.
void orthogonalise(std::span<double> rows, std::size_t n, std::size_t width) {
  const auto row = [&](std::size_t i) { return rows.subspan(i * width, width); };
  const auto dot = [](std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t j = 0; j < i; ++j) {
        const double share = dot(row(i), row(j));
        for (std::size_t k = 0; k < width; ++k) row(i)[k] -= share * row(j)[k];
      }
    const double norm = std::sqrt(dot(row(i), row(i)));
    for (double& value : row(i)) value /= norm;
  }
}

void start_lstm(const Operation& operation, Start start, std::uint64_t seed, std::uint64_t array,
                std::span<double> own) {
  const std::size_t n_in = operation.n_in, n = operation.n_out;
  const auto w = own.subspan(0, n_in * 4 * n), u = own.subspan(n_in * 4 * n, n * 4 * n),
             b = own.subspan((n_in + n) * 4 * n, 4 * n);
  Draw draw(seed, array);
  switch (start) {
    case Start::keras:
      draw.uniform(w, std::sqrt(6.0 / (n_in + 4 * n)));
      draw.normal(u);
      orthogonalise(u, n, 4 * n);
      std::fill(b.begin(), b.end(), 0.0);
      std::fill_n(b.begin() + n, n, 1.0);
      return;
    case Start::pytorch: {
      const double bound = 1 / std::sqrt(n);
      draw.uniform(own, bound);
      std::vector<double> second(b.size());
      draw.uniform(second, bound);
      for (std::size_t i = 0; i < b.size(); ++i) b[i] += second[i];
      return;
    }
  }
  throw InternalError("a start without a kind");
}

void start_dense(const Operation& operation, Start start, std::uint64_t seed, std::uint64_t array,
                 std::span<double> own) {
  const std::size_t n_in = operation.n_in, n = operation.n_out;
  Draw draw(seed, array);
  switch (start) {
    case Start::keras:
      draw.uniform(own.first(n_in * n), std::sqrt(6.0 / (n_in + n)));
      std::fill(own.begin() + n_in * n, own.end(), 0.0);
      return;
    case Start::pytorch:
      draw.uniform(own, 1 / std::sqrt(n_in));
      return;
  }
  throw InternalError("a start without a kind");
}

}  // namespace

std::vector<double> start_parameters(const Graph& graph, Start start, bool zero_head, std::uint64_t seed) {
  std::vector<double> parameters(graph.n_parameters, 0.0);
  for (std::size_t i = 0; i < graph.operations.size(); ++i) {
    const Operation& operation = graph.operations[i];
    if (zero_head && i + 1 == graph.operations.size()) break;
    const auto own = std::span(parameters).subspan(operation.first, operation.n_parameters);
    if (operation.kind == Operation::Kind::lstm) start_lstm(operation, start, seed, i, own);
    if (operation.kind == Operation::Kind::dense) start_dense(operation, start, seed, i, own);
  }
  return parameters;
}

}  // namespace quintet::sequence
