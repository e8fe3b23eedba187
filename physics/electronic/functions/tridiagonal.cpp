#include "physics/electronic/functions/tridiagonal.hpp"

#include <cstddef>
#include <cstdint>

#include "io/log/error.hpp"

extern "C" {
void dsteqr_(const char* compz, const int* n, double* d, double* e, double* z, const int* ldz, double* work,
             int* info);
}

namespace quintet::electronic {

RitzValues ritz_values(std::span<const double> diagonal, std::span<const double> off_diagonal) {
  const int n = diagonal.size();
  const std::int64_t size = n;
  RitzValues ritz{{diagonal.begin(), diagonal.end()}, {}, {}};
  std::vector<double> e(off_diagonal.begin(), off_diagonal.end()), z(size * size), work(2 * size + 1);
  e.resize(size, 0.0);
  int info = 0;
  dsteqr_("I", &n, ritz.value.data(), e.data(), z.data(), &n, work.data(), &info);
  if (info != 0) throw NumericalError(fmt::format("dsteqr did not converge (info {}, n {})", info, n));
  for (std::int64_t i = 0; i < size; ++i) {
    ritz.first.push_back(z[i * size]);
    ritz.last.push_back(z[i * size + size - 1]);
  }
  return ritz;
}

double scrambled(unsigned long long index) {
  unsigned long long z = (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return (z >> 11) * 0x1p-52 - 1.0;
}

}  // namespace quintet::electronic
