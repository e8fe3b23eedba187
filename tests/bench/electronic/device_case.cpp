#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <vector>

#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/dense_case.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

/// submatrix_device_case FILE [MOST]: levels and columns of the density matrix of submatrices of 32 to 1000
/// (or MOST) rows, by LAPACK, for build/tests/bench/device_dense.
namespace quintet::electronic {
namespace {

DenseCase make_case(const DenseRing& ring, int n_blocks) {
  DenseCase result;
  result.n_blocks = n_blocks;
  reference::Dense a(n_blocks * DenseRing::orbitals);
  a.value = ring.submatrix(DenseRing::blocks(0, n_blocks));
  const auto eigen = reference::diagonalise(a);
  result.levels = eigen.value;
  for (const int own : DenseRing::own(n_blocks))
    for (int i = 0; i < a.n; ++i) {
      double sum = 0;
      for (int k = 0; k < a.n; ++k)
        if (eigen.value[k] < 0) sum += eigen.vector(i, k) * eigen.vector(own, k);
      result.columns.push_back(sum);
    }
  return result;
}

}  // namespace
}  // namespace quintet::electronic

int main(int argc, char** argv) {
  using namespace quintet::electronic;
  try {
    if (argc < 2) throw std::runtime_error("an argument is needed: the file to write");
    const int most = argc > 2 ? std::atoi(argv[2]) : 1000;
    const DenseRing ring;
    std::vector<DenseCase> cases;
    for (const int n_blocks : {4, 12, 32, 63, 125})
      if (n_blocks * DenseRing::orbitals <= most) cases.push_back(make_case(ring, n_blocks));
    device_bench::write_cases(cases, argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "submatrix_device_case: %s\n", error.what());
    return 1;
  }
}
