#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "io/device/device_space.hpp"
#include "physics/electronic/device/device_submatrices.hpp"
#include "tests/bench/device/bench.hpp"

/// Chebyshev series of the submatrices of a box of molecules on a device: submatrices and GFLOP a second,
/// beside the time that the multiply-adds and the bytes of A's blocks would take alone. The matrix is made by
/// formula: molecules on a jittered lattice at water's density, blocks of Frobenius norm falling with
/// distance, all pairs within `range`; the submatrix of a molecule is that of all within range. One of them
/// is evaluated here in a plain loop, too, and must agree.
///
/// device_submatrix_series [--quick] [--peak GFLOPS] [--copy GBS]
namespace quintet::electronic {
namespace {

struct Box {
  int per_edge = 8, orbitals = 6;
  double range = 10.6;  ///< (angstrom)
  std::vector<std::int32_t> size, column;
  std::vector<std::int64_t> row_begin{0}, offset;
  std::vector<double> value;
  [[nodiscard]] int n() const { return per_edge * per_edge * per_edge; }
};

/// A number in [-1, 1) of i and j, the same for j and i.
double noise(std::uint64_t i, std::uint64_t j) {
  std::uint64_t x = std::min(i, j) * 0x9E3779B97F4A7C15u + std::max(i, j) * 0xC2B2AE3D27D4EB4Fu;
  x = (x ^ (x >> 31)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 29)) * 0x94D049BB133111EBu;
  return ((x ^ (x >> 32)) >> 11) * 0x1p-52 - 1;
}

Box make_box(int per_edge, int orbitals, double range) {
  Box box;
  box.per_edge = per_edge;
  box.orbitals = orbitals;
  box.range = range;
  const double spacing = std::cbrt(29.9), edge = spacing * per_edge;
  std::vector<double> x;
  for (int i = 0; i < box.n(); ++i) {
    const int at[3] = {i / per_edge / per_edge, i / per_edge % per_edge, i % per_edge};
    for (int d = 0; d < 3; ++d) x.push_back(spacing * (at[d] + 0.3 * noise(i, 1000000 + d)));
  }
  for (int i = 0; i < box.n(); ++i) {
    box.size.push_back(orbitals);
    for (int j = 0; j < box.n(); ++j) {
      double squares = 0;
      for (int d = 0; d < 3; ++d) {
        double dx = std::abs(x[3 * i + d] - x[3 * j + d]);
        dx = std::min(dx, edge - dx);
        squares += dx * dx;
      }
      if (squares > range * range) continue;
      box.column.push_back(j);
      box.offset.push_back(box.value.size());
      const double strength = 0.05 * std::exp(-std::sqrt(squares) / 1.5);
      for (int c = 0; c < orbitals; ++c)
        for (int r = 0; r < orbitals; ++r)
          box.value.push_back(i == j ? (r == c ? (r < 4 ? -0.7 : 0.6) : 0)
                                     : strength * noise(i * orbitals + r, j * orbitals + c));
    }
    box.row_begin.push_back(box.column.size());
  }
  return box;
}

/// Columns `own` of function 0 of one submatrix, by the recurrence in a plain loop.
std::vector<double> plain(const Box& box, const WantedColumns& task, const SeriesView& series) {
  const int n = static_cast<int>(task.blocks.size()) * box.orbitals;
  std::vector<int> local(box.size.size(), -1);
  for (std::size_t i = 0; i < task.blocks.size(); ++i) local[task.blocks[i]] = i;
  std::vector<double> result;
  for (const int own : task.own) {
    std::vector<double> now(n, 0.0), before(n, 0.0), sum(n, 0.0);
    now[own] = 1;
    for (std::size_t k = 0; k < series.coefficients[0].size(); ++k) {
      for (int i = 0; i < n; ++i) sum[i] += series.coefficients[0][k] * now[i];
      std::vector<double> next(n, 0.0);
      for (std::size_t i = 0; i < task.blocks.size(); ++i)
        for (auto p = box.row_begin[task.blocks[i]]; p < box.row_begin[task.blocks[i] + 1]; ++p) {
          const int j = local[box.column[p]];
          if (j < 0) continue;
          for (int c = 0; c < box.orbitals; ++c)
            for (int r = 0; r < box.orbitals; ++r)
              next[i * box.orbitals + r] +=
                  box.value[box.offset[p] + c * box.orbitals + r] * now[j * box.orbitals + c];
        }
      for (int i = 0; i < n; ++i) {
        next[i] = (k == 0 ? 1 : 2) * (next[i] - series.centre * now[i]) / series.half_width -
                  (k == 0 ? 0 : before[i]);
      }
      before.swap(now);
      now.swap(next);
    }
    result.insert(result.end(), sum.begin(), sum.end());
  }
  return result;
}

void measure(const Box& box, bool single, double peak_gflops, double copy_gbs) {
  std::vector<std::vector<std::int32_t>> blocks;
  std::vector<std::vector<int>> own;
  std::vector<WantedColumns> tasks;
  for (int i = 0; i < box.n(); ++i) {
    blocks.emplace_back(box.column.begin() + box.row_begin[i], box.column.begin() + box.row_begin[i + 1]);
    const auto place =
        std::lower_bound(blocks.back().begin(), blocks.back().end(), i) - blocks.back().begin();
    own.emplace_back(box.orbitals);
    std::iota(own.back().begin(), own.back().end(), static_cast<int>(place) * box.orbitals);
  }
  for (int i = 0; i < box.n(); ++i) tasks.push_back({blocks[i], own[i]});
  constexpr int degree = 40;
  std::vector<std::vector<double>> coefficients(2, std::vector<double>(degree + 1));
  for (int k = 0; k <= degree; ++k) {
    coefficients[0][k] = std::exp(-0.1 * k) * std::cos(k);
    coefficients[1][k] = std::exp(-0.1 * k);
  }
  const SeriesView series{0.0, 1.6, coefficients};
  const std::unique_ptr<DeviceSubmatrices> device(quintet_make_device_submatrices(4e9));
  device->set_matrix({box.size, box.row_begin, box.column, box.offset, box.value});
  double elements = 0, rows = 0, difference = 0;
  const auto run = [&] {
    elements = rows = 0;
    const double before = device->kernel_seconds();
    device->evaluate(tasks, series, single,
                     [&](std::size_t i, std::span<const double> columns, std::span<const double>, double n) {
                       elements += n;
                       rows += static_cast<double>(blocks[i].size()) * box.orbitals;
                       if (i == tasks.size() / 2) {
                         const auto expected = plain(box, tasks[i], series);
                         difference = 0;
                         for (std::size_t k = 0; k < expected.size(); ++k)
                           difference = std::max(difference, std::abs(expected[k] - columns[k]));
                       }
                       return true;
                     });
    return device->kernel_seconds() - before;
  };
  run();
  double seconds = 1e30;
  for (int repeat = 0; repeat < 3; ++repeat) seconds = std::min(seconds, run());
  const double n_tasks = tasks.size(), flops = 2 * elements * degree * box.orbitals,
               bytes = 8 * elements * degree;
  char name[100];
  std::snprintf(name, sizeof name, "%d submatrices of %.0f rows, %.0f %% full, degree %d, %s", box.n(),
                rows / n_tasks, 100 * elements / n_tasks / std::pow(rows / n_tasks, 2), degree,
                single ? "float32" : "float64");
  device_bench::Row("device_submatrix_series", name)
      .number("submatrices_per_s", n_tasks / seconds)
      .number("gflops", 1e-9 * flops / seconds)
      .number("share_of_peak", 1e-9 * flops / seconds / peak_gflops)
      .number("share_of_streaming_blocks", bytes / (1e9 * copy_gbs) / seconds)
      .number("difference", difference);
  if (!(difference < (single ? 1e-4 : 1e-12))) std::exit(3);
}

}  // namespace
}  // namespace quintet::electronic

int main(int argc, char** argv) {
  using namespace quintet;
  bool quick = false;
  double peak = 34e3, copy = 3000;
  for (int i = 1; i < argc; ++i) {
    quick = quick || std::strcmp(argv[i], "--quick") == 0;
    if (std::strcmp(argv[i], "--peak") == 0 && i + 1 < argc) peak = std::atof(argv[++i]);
    if (std::strcmp(argv[i], "--copy") == 0 && i + 1 < argc) copy = std::atof(argv[++i]);
  }
  const device_bench::Session session("device_submatrix_series");
  if (!session.ok()) return 4;
  using electronic::make_box;
  if (quick) {
    electronic::measure(make_box(6, 6, 7.0), false, peak, copy);
    return 0;
  }
  for (const auto& [per_edge, orbitals, range] :
       {std::tuple(10, 6, 7.5), std::tuple(10, 6, 10.6), std::tuple(16, 6, 10.6), std::tuple(10, 23, 6.5)}) {
    const auto box = make_box(per_edge, orbitals, range);
    electronic::measure(box, false, peak, copy);
    electronic::measure(box, true, 2 * peak, copy);
  }
  electronic::measure(make_box(12, 6, 13.0), false, peak, copy);
}
