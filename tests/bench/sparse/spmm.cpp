// spmm [--side N] [--repeat N] [--python FILE (with scipy)]
//
// Z += A H for the 27-point stencil on N^3 points (random values), H of 8, 16 and 32 columns, one core: our
// rows of scalars; beside PETSc's MatMatMult (aij x dense, MAT_REUSE_MATRIX, Z = A H) by turns in the same
// run, and scipy's A @ H in a run of its own. Bytes: 12 nnz + 16 n f, the floor, over this core's bandwidth
// of y += x (24 bytes a number). Flops: 2 nnz f. Least of the repeats.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/sparse/spmm.hpp"
#ifdef QUINTET_WITH_PETSC
#include <petscmat.h>

#include "physics/solvers/petsc_error.hpp"
#include "physics/solvers/petsc_subsystem.hpp"
#endif

namespace quintet {
namespace {

using Clock = std::chrono::steady_clock;

template <class Action>
void keep_least(double& least, const Action& action) {
  const auto start = Clock::now();
  action();
  least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
}

CsrMatrix stencil(int side) {
  CsrMatrix a;
  a.n_columns = side * side * side;
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        for (int k = std::max(z - 1, 0); k <= std::min(z + 1, side - 1); ++k)
          for (int j = std::max(y - 1, 0); j <= std::min(y + 1, side - 1); ++j)
            for (int i = std::max(x - 1, 0); i <= std::min(x + 1, side - 1); ++i) {
              a.column.push_back((k * side + j) * side + i);
              a.value.push_back(std::sin(static_cast<double>(a.value.size())));
            }
        a.row_begin.push_back(static_cast<std::int64_t>(a.column.size()));
      }
  return a;
}

/// Bytes a second of y += x on arrays that no cache holds, least time of the repeats.
double bandwidth(int repeats) {
  constexpr std::size_t n = 16 << 20;
  AlignedVector<double> x(n, 1.0), y(n, 0.0);
  double seconds = 1e9;
  for (int r = 0; r < repeats; ++r)
    keep_least(seconds, [&] {
      for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
    });
  return 24.0 * n / seconds;
}

#ifdef QUINTET_WITH_PETSC
/// Z = A H by PETSc, column-major panels.
class Peer {
 public:
  Peer(const CsrMatrix& a, const AlignedVector<double>& h, int f)
      : starts_(a.row_begin.begin(), a.row_begin.end()),
        columns_(a.column.begin(), a.column.end()),
        values_(a.value.begin(), a.value.end()),
        n_(a.n_rows()) {
    check_petsc(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n_, n_, starts_.data(), columns_.data(),
                                          values_.data(), &a_),
                "MatCreateSeqAIJWithArrays");
    check_petsc(MatCreateSeqDense(PETSC_COMM_SELF, n_, f, nullptr, &h_), "MatCreateSeqDense");
    double* to = nullptr;
    check_petsc(MatDenseGetArray(h_, &to), "MatDenseGetArray");
    for (int i = 0; i < n_; ++i)
      for (int c = 0; c < f; ++c)
        to[static_cast<std::size_t>(c) * n_ + i] = h[static_cast<std::size_t>(i) * f + c];
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
        largest = std::max(largest, std::abs(from[static_cast<std::size_t>(c) * n_ + i] -
                                             z[static_cast<std::size_t>(i) * f + c]));
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

void run(int side, int repeats, const std::string& python) {
  const CsrMatrix a = stencil(side);
  check_csr(a);
  const auto nnz = static_cast<double>(a.column.size()), n = static_cast<double>(a.n_rows());
  const double rate = bandwidth(repeats);
  fmt::print("{} rows, {} nonzeros; y += x: {:.1f} GB/s\n", a.n_rows(), a.column.size(), rate * 1e-9);
  for (const int f : {8, 16, 32}) {
    AlignedVector<double> h(static_cast<std::size_t>(a.n_columns) * f), z(h.size(), 0.0);
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = std::cos(static_cast<double>(i));
    double ours = 1e9;
    multiply_add(a, h.data(), z.data(), f);
#ifdef QUINTET_WITH_PETSC
    double petsc = 1e9;
    Peer peer(a, h, f);
    const double difference = peer.difference(z, f);
    QUINTET_CHECK(difference < 1e-12, "PETSc's product differs by {}", difference);
#endif
    for (int r = 0; r < repeats; ++r) {
      keep_least(ours, [&] { multiply_add(a, h.data(), z.data(), f); });
#ifdef QUINTET_WITH_PETSC
      keep_least(petsc, [&] { peer.multiply(); });
#endif
    }
    fmt::print("{:2} columns: {:.2f} ms, {:.1f} GFLOP/s, {:.0f} % of the floor's bandwidth", f, 1e3 * ours,
               2e-9 * nnz * f / ours, 100 * (12 * nnz + 16 * n * f) / (ours * rate));
#ifdef QUINTET_WITH_PETSC
    fmt::print("; PETSc {:.2f} ms: ours takes {:.2f} of it", 1e3 * petsc, ours / petsc);
#endif
    fmt::print("\n");
    std::fflush(stdout);
  }
  if (python.empty()) return;
  fmt::print("scipy's A @ H, columns and ms:\n");
  std::fflush(stdout);
  const auto command = fmt::format("'{}' '{}' {} {} 8 16 32", python, QUINTET_PEER, side, repeats);
  QUINTET_CHECK(std::system(command.c_str()) == 0, "{} failed", command);
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
    quintet::run(side, repeats, python);
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
