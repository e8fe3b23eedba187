#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "physics/electronic/block_multiply.hpp"
#include "physics/electronic/block_vector.hpp"
#include "physics/electronic/submatrix.hpp"

namespace quintet::electronic {

namespace {

using Vector = std::vector<double>;

/// a - b
Vector difference(const Vector& a, const Vector& b) {
  Vector c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] - b[i];
  return c;
}

double sum_of_squares(const Vector& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return sum;
}

struct Defects {
  double idempotency, commutator;
};

/// ||P P - P||_F and ||P A - A P||_F from vectors v of random signs: E |X v|^2 = ||X||_F^2. Their relative
/// error is about 1/sqrt(n_vectors n), n the rows among which the defect is spread; the products themselves
/// would cost more than D.
Defects defects_of(const BlockMatrix& p, const BlockMatrix& a) {
  constexpr int n_vectors = 4;
  SymmetricProduct apply_p(p), apply_a(a);
  double sums[2] = {0, 0};
  for (int k = 0; k < n_vectors; ++k) {
    const Vector v = random_signs(p, k);
    Vector pv, ppv, av, pav, apv;
    apply_p(v, pv);
    apply_p(pv, ppv);
    apply_a(v, av);
    apply_p(av, pav);
    apply_a(pv, apv);
    sums[0] += sum_of_squares(difference(ppv, pv));
    sums[1] += sum_of_squares(difference(pav, apv));
  }
  p.comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  return {std::sqrt(sums[0] / n_vectors), std::sqrt(sums[1] / n_vectors)};
}

}  // namespace

DensityResult density_matrix(const SubmatrixResult& sign, const Orthogonalised& basis, const BlockMatrix& k,
                             const BlockMatrix& s, double threshold) {
  const BlockMatrix& z = basis.inverse_sqrt;
  // products that are left out take pairs away, all of one sign: far fewer of them than of small blocks of P
  // Z
  const double drop = 0.1 * threshold, error = 0.001 * threshold;
  const BlockMatrix pz = multiply(sign.p, z, {.threshold = drop, .error = error});
  DensityResult result(multiply(z, pz, {.error = error, .symmetric = true, .pattern = &k}));
  result.n_pairs = result.n_pairs_unscaled = dot(result.d, s);
  if (sign.holds_pairs) {
    const double scale = sign.n_pairs / result.n_pairs_unscaled;
    for (double& value : result.d.value) value *= scale;
    result.n_pairs = dot(result.d, s);
  }
  result.tr_dk = dot(result.d, k);
  const Defects defects = defects_of(sign.p, basis.a);
  result.idempotency = defects.idempotency;
  result.commutator = defects.commutator;
  return result;
}

}  // namespace quintet::electronic
