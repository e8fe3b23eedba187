#include "physics/electronic/global/global_newton_schulz.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"

namespace quintet::electronic {

namespace {

/// Add a multiple of the unit matrix; diagonal blocks are always there.
void shift_diagonal(BlockMatrix& a, double shift) {
  for (int c = 0; c < a.n_columns(); ++c)
    for (auto p = a.column_begin[c]; p < a.column_begin[c + 1]; ++p) {
      if (a.row[p] != a.first + c) continue;
      const int n = a.blocking->size(a.first + c);
      for (int i = 0; i < n; ++i) a.value[a.offset[p] + i * (n + 1)] += shift;
    }
}

void scale(BlockMatrix& a, double factor) {
  for (double& value : a.value) value *= factor;
}

}  // namespace

bool newton_schulz_ends(const std::vector<double>& history, double threshold, int max_iterations) {
  const double residual = history.back();
  const bool stalled =
      history.size() > 1 && residual > 0.5 * history[history.size() - 2] && residual < std::sqrt(threshold);
  if (residual < threshold || stalled) return true;
  if (!(residual < 10) || std::ssize(history) > max_iterations)
    throw NumericalError(
        fmt::format("the global Newton-Schulz iteration does not converge; ||X X - 1|| = {:.2e}",
                    fmt::join(history, ", ")));
  return false;
}

GlobalSign global_newton_schulz(const BlockMatrix& a, double mu, double threshold, const Interrupt& interrupt,
                                int max_iterations) {
  const auto start = std::chrono::steady_clock::now();
  GlobalSign result(a);
  BlockMatrix& x = result.p;
  filter(x, threshold);
  const auto bounds = spectrum_bounds(x);
  shift_diagonal(x, -mu);
  scale(x, 1 / std::max(std::abs(bounds.lower - mu), std::abs(bounds.upper - mu)));
  const double n = std::sqrt(x.blocking->n_rows());
  auto& history = result.history;
  for (;;) {
    give_up_if_asked(a.comm, interrupt);
    BlockMatrix y = multiply(x, x, threshold);
    shift_diagonal(y, -1);
    history.push_back(frobenius_norm(y) / n);
    if (newton_schulz_ends(history, threshold, max_iterations)) break;
    shift_diagonal(y, -2);  // X X - 3
    scale(y, -0.5);
    give_up_if_asked(a.comm, interrupt);
    x = multiply(x, y, threshold);
    ++result.iterations;
  }
  scale(x, -0.5);
  shift_diagonal(x, 0.5);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace quintet::electronic
