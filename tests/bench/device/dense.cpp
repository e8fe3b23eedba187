#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/bench.hpp"
#include "tests/bench/device/dense_case.hpp"

/// Dense kernels of submatrices on a device: Newton-Schulz iterations of batches, eigenpairs.
///
///   device_dense CASES check            columns of the density matrix, levels and vectors beside LAPACK's
///   device_dense CASES time [CHOICE]    submatrices a second by their number of rows
///
/// CASES comes from build/tests/bench/submatrix_device_case. Times are of kernels alone (kernel_seconds());
/// flops of Newton-Schulz are those of its products, 2 n^3 each.
namespace quintet::electronic {
namespace {

using device_bench::Row;
using Cases = std::vector<DenseCase>;
constexpr int order = 3;
constexpr double error = 1e-10;

/// `count` submatrices of so many molecules, from each molecule on in turn.
struct Tasks {
  std::vector<std::vector<std::int32_t>> blocks;
  std::vector<int> own;
  std::vector<WantedColumns> wanted;
  Tasks(int n_blocks, int count) : own(DenseRing::own(n_blocks)) {
    for (int i = 0; i < count; ++i) blocks.push_back(DenseRing::blocks(i, n_blocks));
    for (const auto& b : blocks) wanted.push_back({b, own});
  }
};

std::unique_ptr<DeviceSubmatrices> make_engine(const DenseRing& ring) {
  std::unique_ptr<DeviceSubmatrices> engine(quintet_make_device_submatrices(4e9));
  engine->set_matrix(ring.view());
  return engine;
}

/// The largest of |A v - level v| and |v.w - (v is w)| over a few vectors.
double residual(const std::vector<double>& a, std::span<const double> levels,
                std::span<const double> vectors) {
  const std::size_t n = levels.size();
  double most = 0;
  for (std::size_t v = 0; v < n; v += std::max<std::size_t>(1, n / 16)) {
    const double* const x = vectors.data() + v * n;
    for (std::size_t k = 0; k < n; ++k) {
      double product = 0, overlap = k == v ? -1 : 0;
      for (std::size_t i = 0; i < n; ++i) {
        product += a[k * n + i] * x[i];  // A is symmetric
        overlap += vectors[k * n + i] * x[i];
      }
      const double worse = std::max(std::abs(product - levels[v] * x[k]), std::abs(overlap));
      if (!(worse <= most)) most = std::isnan(worse) ? HUGE_VAL : worse;
    }
  }
  return most;
}

std::vector<double> copied(std::span<const double> from) { return {from.begin(), from.end()}; }

int check(const Cases& cases, const DenseRing& ring) {
  int bad = cases.empty() ? 1 : 0;
  const auto engine = make_engine(ring);
  for (const auto& c : cases) {
    // More than one, so that they are a batch; the first is the case's.
    const Tasks tasks(c.n_blocks, 3);
    double of_columns = HUGE_VAL, of_levels = HUGE_VAL, of_vectors = HUGE_VAL;
    std::size_t iterations = 0;
    engine->newton_schulz(tasks.wanted, 0, error, order, [&](std::size_t i, auto columns, auto history) {
      if (i == 0) of_columns = device_bench::relative_difference(copied(columns), c.columns);
      iterations = std::max(iterations, history.size());
      return true;
    });
    engine->eigenpairs(tasks.wanted, [&](std::size_t i, auto levels, auto vectors) {
      if (i != 0) return true;
      of_levels = device_bench::relative_difference(copied(levels), c.levels);
      if (of_levels < 1) of_vectors = residual(ring.submatrix(tasks.blocks[0]), levels, vectors);
      return true;
    });
    const bool good = of_columns < 1e-8 && of_levels < 1e-11 && of_vectors < 1e-10;
    if (!good) bad = 1;
    Row("device_dense", "check n = " + std::to_string(c.levels.size()))
        .text("same", good ? "yes" : "NO")
        .number("newton_schulz_difference", of_columns)
        .number("iterations", iterations)
        .number("levels_difference", of_levels)
        .number("residual_of_vectors", of_vectors);
  }
  return bad;
}

/// Least seconds of the kernels in three runs, or in one where it takes long.
template <class Run>
double kernel_seconds(DeviceSubmatrices& engine, const Run& run) {
  double least = HUGE_VAL;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double before = engine.kernel_seconds();
    run();
    least = std::min(least, engine.kernel_seconds() - before);
    if (least > 2) break;
  }
  return least;
}

void time_sizes(const Cases& cases, const DenseRing& ring, const device_bench::Choice& choice) {
  const bool quick = choice.quick;
  for (const auto& c : cases) {
    const std::string name = ", n = " + std::to_string(c.levels.size());
    const auto engine = make_engine(ring);
    const double n = c.levels.size(), cube = n * n * n;
    if ((quick && n > 100) || (choice.large && n < 999) || !choice.wants(name)) continue;
    // Two teraflop of Newton-Schulz; eigenpairs of enough matrices for all multiprocessors.
    const int products = quick ? 4 : std::clamp(static_cast<int>(2e12 / (2 * order * 6 * cube)), 32, 8192);
    const int solved = quick ? 2 : std::clamp(static_cast<int>(1e10 / cube), 132, 4096);
    double iterations = 0;
    const Tasks batch(c.n_blocks, products);
    const double schulz = kernel_seconds(*engine, [&] {
      iterations = 0;
      engine->newton_schulz(batch.wanted, 0, error, order, [&](std::size_t, auto, auto history) {
        iterations = std::max(iterations, static_cast<double>(history.size()));
        return true;
      });
    });
    const double flops = 2 * cube * order * iterations;
    Row("device_dense", "Newton-Schulz" + name)
        .number("matrices", products)
        .number("matrices_per_s", products / schulz)
        .number("tflops", 1e-12 * products * flops / schulz)
        .number("iterations", iterations)
        .number("flops", flops)
        .number("h200_floor_matrices_per_s", device_bench::h200_matrix / flops);
    const Tasks teams(c.n_blocks, solved);
    const double eigen = kernel_seconds(
        *engine, [&] { engine->eigenpairs(teams.wanted, [](std::size_t, auto, auto) { return true; }); });
    Row("device_dense", "eigenpairs" + name)
        .number("matrices", solved)
        .number("matrices_per_s", solved / eigen)
        .number("tera_n_cubed_per_s", 1e-12 * solved * cube / eigen);
  }
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "device_dense CASES check | CASES time [--quick] [--large] [--only TEXT]\n");
    return 1;
  }
  const auto cases = device_bench::read_cases<Cases>(argv[1]);
  const DenseRing ring;
  if (std::strcmp(argv[2], "check") == 0) return check(cases, ring);
  time_sizes(cases, ring, device_bench::Choice(argc, argv, 3));
  return 0;
}

}  // namespace
}  // namespace quintet::electronic

int main(int argc, char** argv) {
  const device_bench::Session session("device_dense");
  if (!session.ok()) return 4;
  return device_bench::guarded("device_dense", [&] { return quintet::electronic::run(argc, argv); });
}
