#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/machine/detect.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/files/matrix_files.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/kernels/core_rate.hpp"
#include "physics/kernels/pack.hpp"

/// CPU seconds of this process (of the slowest rank) for S^-1/2, for A, for the sign evaluation alone and for
/// the density matrix of K and S from files, with the error of Tr(DK) against a given energy; minimum of
/// repeats. The rate of the sign evaluation (no empty lanes counted) stands beside the multiply-adds this
/// core can do.
///
/// submatrix_bench K S [--cells 2,2,2] [--block 6] [--mu 0.07 | --pairs N] [--thresholds 1e-3,1e-4,...]
/// [--energy E] [--error E] [--kernel polynomial|eigen|newton_schulz] [--single] [--together G] [--repeat 3]
/// [--quick]
///
/// --cells: K and S are real-space blocks of a cell (our HDF5), repeated so often.
namespace quintet::electronic {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::vector<double> thresholds = {1e-3, 1e-4, 1e-5, 1e-6};
  std::optional<std::array<int, 3>> cells;
  int block = 6, repeat = 3;
  std::optional<double> energy;
  SubmatrixOptions options;
};

SubmatrixKernel kernel_of(const std::string& name) {
  for (const auto& row : submatrix_kernels)
    if (row.name == name) return row.value;
  throw UsageError(
      fmt::format("kernel {}: expected one of {}", name, name_list(names_of(submatrix_kernels))));
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> list;
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find(',', at), text.size() - 1) + 1)
    list.push_back(std::atof(text.c_str() + at));
  return list;
}

std::array<int, 3> cells_of(const std::string& text) {
  const auto list = numbers(text);
  if (list.size() != 3) throw UsageError(fmt::format("--cells {}: expected three numbers", text));
  return {static_cast<int>(list[0]), static_cast<int>(list[1]), static_cast<int>(list[2])};
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (flag == "--block")
      a.block = std::stoi(value());
    else if (flag == "--cells")
      a.cells = cells_of(value());
    else if (flag == "--mu")
      a.options.mu = std::stod(value());
    else if (flag == "--pairs")
      a.options.n_pairs = std::stod(value());
    else if (flag == "--thresholds")
      a.thresholds = numbers(value());
    else if (flag == "--error")
      a.options.polynomial_error = std::stod(value());
    else if (flag == "--energy")
      a.energy = std::stod(value());
    else if (flag == "--kernel")
      a.options.kernel = kernel_of(value());
    else if (flag == "--single")
      a.options.single_precision = true;
    else if (flag == "--together")
      a.options.columns_together = std::stoi(value());
    else if (flag == "--repeat")
      a.repeat = std::stoi(value());
    else if (flag == "--quick")
      a.thresholds = {1e-3, 1e-4}, a.repeat = 1;
    else
      a.files.push_back(flag);
  }
  if (a.files.size() != 2) throw UsageError("expected two files: K and S");
  if (!a.options.mu && !a.options.n_pairs) a.options.mu = 0.07;
  return a;
}

/// CPU seconds of the slowest rank for one call.
template <class Action>
double timed(const Comm& comm, Action&& action) {
  const double start = cpu_seconds();
  action();
  return comm.maximum(cpu_seconds() - start);
}

struct Measured {
  double root = std::numeric_limits<double>::infinity(), basis = root, sign = root, density = root;
};

std::string run_threshold(const Comm& comm, const Arguments& arguments, const BlockMatrix& k,
                          const BlockMatrix& s, double threshold) {
  auto options = arguments.options;
  options.threshold = threshold;
  std::optional<Orthogonalised> basis;
  std::optional<SubmatrixResult> sign;
  std::optional<DensityResult> density;
  Measured best;
  const Bracket<double> bracket;
  for (int repeat = 0; repeat < arguments.repeat; ++repeat) {
    best.root = std::min(best.root, timed(comm, [&] { (void)inverse_sqrt(s, threshold); }));
    best.basis = std::min(best.basis, timed(comm, [&] { basis = orthogonalise(k, s, threshold); }));
    best.sign = std::min(best.sign, timed(comm, [&] { sign = evaluate_submatrices(basis->a, options); }));
    best.density = std::min(best.density,
                            timed(comm, [&] { density = density_matrix(*sign, *basis, k, s, threshold); }));
  }
  const double error =
      arguments.energy ? density->tr_dk - *arguments.energy : std::numeric_limits<double>::quiet_NaN();
  const Core core = bracket.close();
  const double gflops = 1e-9 * sign->flops / best.sign / comm.size(), peak = comm.minimum(1e-9 * core.peak),
               slots = comm.minimum(Bracket<double>::share_of_slots(core));
  if (comm.is_root())
    fmt::print(
        "{:7.0e} {:6} {:6} {:4} {:8.3f} {:8.3f} {:8.3f} {:8.3f} {:8.3f} {:7.1f} {:7.1f} {:5.0f} % {:11.3e} "
        "{:14.8f} "
        "{:10.2e} "
        "{:9.1e}\n",
        threshold, sign->n_mean, sign->n_max, sign->degree, best.root, best.basis - best.root, best.sign,
        sign->predicted_seconds, best.density, gflops, peak, 100 * slots, error, density->n_pairs,
        density->idempotency, basis->residual);
  std::fflush(stdout);
  return fmt::format(
      R"({{"bench": "submatrix_bench", "case": "{} rows, threshold {:.0e}, {} ranks", "ours": {:.4f}, "peer": null, "ratio": null, "unit": "CPU s sign", "root_s": {:.4f}, "a_s": {:.4f}, "density_s": {:.4f}, "gflops": {:.1f}, "peak_gflops": {:.1f}, "issue_slots": {:.3f}, "tr_dk_error": {}}})",
      k.blocking->n_rows(), threshold, comm.size(), best.sign, best.root, best.basis - best.root,
      best.density, gflops, peak, slots, arguments.energy ? fmt::format("{:.4e}", error) : "null");
}

/// K or S from its file, or folded from the blocks of a cell.
MatrixFile read(const Comm& comm, const Arguments& arguments, std::size_t which, std::optional<int> n_rows) {
  const std::string& path = arguments.files.at(which);
  if (arguments.cells) return fold(comm, read_real_space(comm, path), *arguments.cells);
  return read_matrix(comm, path, MatrixFormat::automatic, n_rows);
}

void run(const Arguments& arguments) {
  const Comm comm = Comm::world();
  const auto k_file = read(comm, arguments, 0, std::nullopt),
             s_file = read(comm, arguments, 1, k_file.n_rows);
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(k_file.n_rows, arguments.block));
  const auto shares = share_columns(comm, *blocking);
  const BlockMatrix k = assemble(comm, blocking, k_file.elements, shares, 1e-8);
  const BlockMatrix s = assemble(comm, blocking, s_file.elements, shares, 1e-8);
  if (comm.is_root())
    fmt::print(
        "{}; {} rows in {} blocks, {}; seconds of CPU\n{:>7} {:>6} {:>6} {:>4} {:>8} {:>8} {:>8} "
        "{:>8} "
        "{:>8} "
        "{:>7} {:>7} {:>7} {:>11} {:>14} {:>10} {:>9}\n",
        processor_name(), k_file.n_rows, blocking->n_blocks(), counted(comm.size(), "rank"), "eps", "n",
        "n max", "deg", "S^-1/2", "A", "sign", "(model)", "density", "GFLOP/s", "(peak)", "slots", "Tr(DK)-E",
        "Tr(DS)", "||PP-P||", "ZSZ-1");
  std::vector<std::string> records;
  for (const double threshold : arguments.thresholds)
    records.push_back(run_threshold(comm, arguments, k, s, threshold));
  if (comm.is_root()) fmt::print("[{}]\n", fmt::join(records, ", "));
}

}  // namespace
}  // namespace quintet::electronic

int main(int argc, char** argv) {
  const quintet::Runtime runtime(argc, argv, 1, {});
  try {
    quintet::electronic::run(quintet::electronic::parse(argc, argv));
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
