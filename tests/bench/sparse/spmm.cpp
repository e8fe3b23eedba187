// [mpirun -np N] spmm [--side N] [--repeat N] [--python FILE (with scipy)]
//
// Z = A H for the 27-point stencil on N^3 points (random values), H of 8, 16 and 32 columns, rows shared out
// over the ranks: SparseProduct in the layout that its own count chooses; beside PETSc's MatMatMult (aij x
// dense, MAT_REUSE_MATRIX) by turns in the same run, and scipy's A @ H (one rank) in a run of its own. Bytes:
// 12 nnz + 16 n f, the floor, over the ranks' bandwidth of y += x (24 bytes a number, all ranks at once).
// Flops: 2 nnz f. Also the kernel alone on a stencil that the second-level cache holds, and multiply-adds in
// registers: what the core, not memory, allows (each nonzero loads its value and a vector for each 8 columns,
// one load a cycle on Zen 4). Times: of the slowest rank, least of the repeats, by the clock and of the
// processor; rates and shares are by the latter. The last line is a JSON list.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/core_rate.hpp"
#include "physics/sparse/layout.hpp"
#include "physics/sparse/sparse_product.hpp"
#include "physics/sparse/spmm.hpp"
#ifdef QUINTET_WITH_PETSC
#include <petscmat.h>

#include "physics/solvers/petsc_error.hpp"
#include "physics/solvers/petsc_subsystem.hpp"
#endif

namespace quintet {
namespace {

using Clock = std::chrono::steady_clock;

/// Least seconds of the slowest rank: by the clock, and of the processor, which others on a busy machine do
/// not lengthen so much.
struct Least {
  double wall = 1e9, cpu = 1e9;
};
template <class Action>
void keep_least(const Comm& comm, Least& least, const Action& action) {
  comm.barrier();
  const auto start = Clock::now();
  const double cpu = cpu_seconds();
  action();
  least.cpu = std::min(least.cpu, comm.maximum(cpu_seconds() - cpu));
  least.wall =
      std::min(least.wall, comm.maximum(std::chrono::duration<double>(Clock::now() - start).count()));
}

/// Rows first .. last - 1.
CsrMatrix stencil(int side, int first, int last) {
  CsrMatrix a;
  a.n_columns = side * side * side;
  for (int row = first; row < last; ++row) {
    const int x = row % side, y = row / side % side, z = row / side / side;
    for (int k = std::max(z - 1, 0); k <= std::min(z + 1, side - 1); ++k)
      for (int j = std::max(y - 1, 0); j <= std::min(y + 1, side - 1); ++j)
        for (int i = std::max(x - 1, 0); i <= std::min(x + 1, side - 1); ++i) {
          a.column.push_back((k * side + j) * side + i);
          a.value.push_back(std::sin(row + 0.1 * a.column.back()));
        }
    a.row_begin.push_back(a.column.size());
  }
  return a;
}

/// Bytes a second of y += x on arrays that no cache holds, all ranks at once.
double bandwidth(const Comm& comm, int repeats) {
  constexpr std::size_t n = 16 << 20;
  AlignedVector<double> x(n, 1.0), y(n, 0.0);
  Least seconds;
  for (int r = 0; r < repeats; ++r)
    keep_least(comm, seconds, [&] {
      for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
    });
  return 24.0 * n * comm.size() / seconds.cpu;
}

/// Flops a second of the kernel on a stencil of 12^3 points, which stays in the second-level cache.
double rate_in_cache(int f, int repeats) {
  const CsrMatrix a = stencil(12, 0, 12 * 12 * 12);
  AlignedVector<double> h(std::int64_t{a.n_columns} * f, 1.0), z(h.size(), 0.0);
  Least seconds;
  for (int r = 0; r < 10 * repeats; ++r)
    keep_least(Comm::self(), seconds,
               [&] { multiply(a, a.value.data(), h.data(), z.data(), f, 0, a.n_rows()); });
  return 2.0 * a.column.size() * f / seconds.cpu;
}

#ifdef QUINTET_WITH_PETSC
/// Z = A H by PETSc, column-major panels.
class Peer {
 public:
  Peer(const Comm& comm, const CsrMatrix& a, const AlignedVector<double>& h, int f)
      : starts_(a.row_begin.begin(), a.row_begin.end()),
        columns_(a.column.begin(), a.column.end()),
        values_(a.value.begin(), a.value.end()),
        n_(a.n_rows()) {
    const int n_all = a.n_columns;
    if (comm.size() == 1) {
      check_petsc(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n_, n_all, starts_.data(), columns_.data(),
                                            values_.data(), &a_),
                  "MatCreateSeqAIJWithArrays");
      check_petsc(MatCreateSeqDense(PETSC_COMM_SELF, n_, f, nullptr, &h_), "MatCreateSeqDense");
    } else {
      check_petsc(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, n_, n_, n_all, n_all, starts_.data(),
                                            columns_.data(), values_.data(), &a_),
                  "MatCreateMPIAIJWithArrays");
      check_petsc(MatCreateDense(PETSC_COMM_WORLD, n_, PETSC_DECIDE, n_all, f, nullptr, &h_),
                  "MatCreateDense");
    }
    double* to = nullptr;
    check_petsc(MatDenseGetArray(h_, &to), "MatDenseGetArray");
    for (int i = 0; i < n_; ++i)
      for (int c = 0; c < f; ++c) to[std::int64_t{c} * n_ + i] = h[std::int64_t{i} * f + c];
    check_petsc(MatDenseRestoreArray(h_, &to), "MatDenseRestoreArray");
    check_petsc(MatAssemblyBegin(h_, MAT_FINAL_ASSEMBLY), "MatAssemblyBegin");
    check_petsc(MatAssemblyEnd(h_, MAT_FINAL_ASSEMBLY), "MatAssemblyEnd");
    check_petsc(MatMatMult(a_, h_, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &z_), "MatMatMult");
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    for (Mat* m : {&z_, &h_, &a_}) MatDestroy(m);
  }
  void multiply() { check_petsc(MatMatMult(a_, h_, MAT_REUSE_MATRIX, PETSC_DEFAULT, &z_), "MatMatMult"); }
  /// Largest difference from Z, row-major.
  double difference(const AlignedVector<double>& z, int f) const {
    const double* from = nullptr;
    check_petsc(MatDenseGetArrayRead(z_, &from), "MatDenseGetArrayRead");
    double largest = 0;
    for (int i = 0; i < n_; ++i)
      for (int c = 0; c < f; ++c)
        largest = std::max(largest, std::abs(from[std::int64_t{c} * n_ + i] - z[std::int64_t{i} * f + c]));
    check_petsc(MatDenseRestoreArrayRead(z_, &from), "MatDenseRestoreArrayRead");
    return largest;
  }

 private:
  std::vector<PetscInt> starts_, columns_;
  std::vector<PetscScalar> values_;
  int n_;
  Mat a_ = nullptr, h_ = nullptr, z_ = nullptr;
};
#endif

void run(const Comm& comm, int side, int repeats, const std::string& python) {
  const RowShares shares = even_rows(side * side * side, comm.size());
  const CsrMatrix a = stencil(side, shares.rank_begin[comm.rank()], shares.rank_begin[comm.rank() + 1]);
  check_csr(a);
  const SparseRows rows{shares, a.row_begin, a.column, {}, a.value.data()};
  const double nnz = comm.sum(a.column.size()), n = a.n_columns;
  const double rate = bandwidth(comm, repeats), peak = measure_core<double>().peak;
  if (comm.is_root())
    fmt::print(
        "{:.0f} rows, {:.0f} nonzeros, {} ranks; y += x: {:.1f} GB/s; multiply-adds of one core: {:.1f} "
        "GFLOP/s\n",
        n, nnz, comm.size(), rate * 1e-9, peak * 1e-9);
  std::string json;
  for (const int f : {8, 16, 32}) {
    AlignedVector<double> h(std::int64_t{a.n_rows()} * f), z;
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = std::cos(static_cast<double>(i));
    const SpmmChoice choice = choose_layout(comm, rows, f, SpmmKind::automatic, {});
    SparseProduct<double> product(comm, rows, choice.layout);
    QUINTET_CHECK(product.part().n_rows() == a.n_rows() && product.part().groups == 1,
                  "{}: not the rows that PETSc has", choice.layout.name());
    Least ours;
    product(h, z, f);
#ifdef QUINTET_WITH_PETSC
    Least petsc;
    Peer peer(comm, a, h, f);
    const double difference = comm.maximum(peer.difference(z, f));
    QUINTET_CHECK(difference < 1e-12, "PETSc's product differs by {}", difference);
#endif
    for (int r = 0; r < repeats; ++r) {
      keep_least(comm, ours, [&] { product(h, z, f); });
#ifdef QUINTET_WITH_PETSC
      keep_least(comm, petsc, [&] { peer.multiply(); });
#endif
    }
    const double in_cache = rate_in_cache(f, repeats), share = (12 * nnz + 16 * n * f) / (ours.cpu * rate);
    if (!comm.is_root()) continue;
    const double gflops = 2e-9 * nnz * f / ours.cpu;
    const double cached_share = share * in_cache * comm.size() / (1e9 * gflops);  // if memory took no time
    fmt::print(
        "{:2} columns, {}: {:.2f} ms ({:.2f} of the processor), {:.1f} GFLOP/s, {:.0f} % of the floor's "
        "bandwidth; in the cache {:.1f} GFLOP/s a core, as if {:.0f} %",
        f, choice.layout.name(), 1e3 * ours.wall, 1e3 * ours.cpu, gflops, 100 * share, 1e-9 * in_cache,
        100 * cached_share);
    json += fmt::format(
        "{}{{\"ranks\": {}, \"columns\": {}, \"ms\": {:.3f}, \"cpu_ms\": {:.3f}, \"gflops\": {:.2f}, "
        "\"floor_share\": {:.3f}, \"in_cache_gflops\": {:.2f}, \"peak_gflops\": {:.1f}",
        json.empty() ? "" : ", ", comm.size(), f, 1e3 * ours.wall, 1e3 * ours.cpu, gflops, share,
        1e-9 * in_cache, 1e-9 * peak);
#ifdef QUINTET_WITH_PETSC
    fmt::print("; PETSc {:.2f} ms ({:.2f}): ours takes {:.2f} of its processor time", 1e3 * petsc.wall,
               1e3 * petsc.cpu, ours.cpu / petsc.cpu);
    json +=
        fmt::format(", \"petsc_ms\": {:.3f}, \"petsc_cpu_ms\": {:.3f}", 1e3 * petsc.wall, 1e3 * petsc.cpu);
#endif
    json += "}";
    fmt::print("\n");
    std::fflush(stdout);
  }
  if (!comm.is_root()) return;
  if (!python.empty()) {
    fmt::print("scipy's A @ H, columns and ms:\n");
    std::fflush(stdout);
    const auto command = fmt::format("'{}' '{}' {} {} 8 16 32", python, QUINTET_PEER, side, repeats);
    QUINTET_CHECK(std::system(command.c_str()) == 0, "{} failed", command);
  }
  fmt::print("[{}]\n", json);
}

}  // namespace
}  // namespace quintet

int main(int argc, char** argv) {
  try {
    int side = 60, repeats = 7;
    std::string python;
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string flag = argv[i];
      if (flag == "--side")
        side = std::atoi(argv[i + 1]);
      else if (flag == "--repeat")
        repeats = std::atoi(argv[i + 1]);
      else if (flag == "--python")
        python = argv[i + 1];
      else
        throw quintet::UsageError("spmm [--side N] [--repeat N] [--python FILE (with scipy)]");
    }
    if (side < 2 || side > 400 || repeats < 1)
      throw quintet::UsageError("--side 2 to 400, --repeat 1 or more");
    std::vector<quintet::Subsystem> subsystems;
#ifdef QUINTET_WITH_PETSC
    subsystems.push_back(quintet::petsc_subsystem());
#endif
    const quintet::Runtime runtime(argc, argv, 1, subsystems);
    quintet::run(runtime.comm(), side, repeats, python);
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
