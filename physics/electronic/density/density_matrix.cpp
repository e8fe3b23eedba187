#include "physics/electronic/density/density_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "io/log/error.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/block_vector.hpp"
#include "physics/electronic/matrix/spectrum.hpp"
#include "physics/electronic/submatrix/block_multiply.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

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
Defects defects_of(const BlockMatrix& p, SymmetricProduct& apply_p, SymmetricProduct& apply_a) {
  constexpr int n_vectors = 4;
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

/// DensityResult::rest and ::per_p.
struct Norms {
  double rest, per_p;
};
/// From vectors of random signs, to a few per cent where many rows share them.
Norms norms_of(const BlockMatrix& d, const BlockMatrix& z, SymmetricProduct& apply_p, double factor) {
  const int n_vectors = std::clamp(2048 / d.blocking->n_rows(), 4, 64);  // few rows share little scatter
  SymmetricProduct apply_z(z), apply_d(d);
  double sums[2] = {0, 0};
  for (int k = 0; k < n_vectors; ++k) {
    const Vector v = random_signs(d, k);
    Vector x, y, zpz, dv;
    apply_z(v, x);
    apply_z(x, y);
    sums[1] += sum_of_squares(y);
    apply_p(x, y);
    apply_z(y, zpz);
    apply_d(v, dv);
    for (double& value : zpz) value *= factor;
    sums[0] += sum_of_squares(difference(zpz, dv));
  }
  d.comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  return {std::sqrt(sums[0] / n_vectors), std::sqrt(sums[1] / (1.0 * n_vectors * d.blocking->n_rows()))};
}

/// The occupied levels' standard deviation (hartree): sqrt(Tr(P A A)/N - (Tr(P A)/N)^2).
double width_of_occupied(const BlockMatrix& p, SymmetricProduct& apply_p, SymmetricProduct& apply_a,
                         double n_pairs) {
  constexpr int n_vectors = 2;
  double sums[2] = {0, 0};
  for (int k = 0; k < n_vectors; ++k) {
    Vector pv, apv;
    apply_p(random_signs(p, k), pv);
    apply_a(pv, apv);
    for (std::size_t i = 0; i < pv.size(); ++i) sums[0] += pv[i] * apv[i], sums[1] += apv[i] * apv[i];
  }
  p.comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  const double mean = sums[0] / (n_vectors * n_pairs), squares = sums[1] / (n_vectors * n_pairs);
  return std::sqrt(std::max(squares - mean * mean, 0.0));
}

constexpr int most_unit = 256;  // rows that are few

/// Tr(X R) of DensityResult::error: from all unit vectors of few rows, else from 16 vectors of random signs.
/// Of few rows Tr(P R) is known too: what else D is `missing` (pairs) are products that were left out, at
/// `level` hartree.
Estimate first_order_of_overlap(const SubmatrixResult& sign, const Orthogonalised& basis,
                                const BlockMatrix& s, double missing, double level) {
  constexpr int lanes = 8;
  const int n_rows = s.blocking->n_rows(), first_row = s.blocking->begin[s.first];
  const bool unit = n_rows <= most_unit;
  const int n_packs = unit ? (n_rows + lanes - 1) / lanes : 2;
  const double t = sign.temperature, mu = sign.holds_pairs ? sign.mu : 0;
  const double c = sign.holds_pairs ? dot(sign.p, basis.a) / sign.n_pairs : 0;
  BlockProduct<Lanes8> apply_p(sign.p), apply_a(basis.a), apply_z(basis.inverse_sqrt), apply_s(s);
  std::vector<double> trace(n_packs * lanes, 0.0);
  double pairs = 0;  // Tr(P R)
  for (int k = 0; k < n_packs; ++k) {
    std::vector<Lanes8> v(apply_p.n_own()), x, y, rv;
    for (int lane = 0; lane < lanes; ++lane) {
      const int row = lanes * k + lane - first_row;
      if (unit) {
        if (row >= 0 && row < std::ssize(v)) v[row][lane] = 1;
        continue;
      }
      const Vector signs = random_signs(s, lanes * k + lane);
      for (std::size_t i = 0; i < v.size(); ++i) v[i][lane] = signs[i];
    }
    apply_z(v, x);
    apply_s(x, y);
    apply_z(y, rv);
    for (std::size_t i = 0; i < v.size(); ++i) rv[i] -= v[i];
    std::vector<Lanes8> pv, left;
    apply_p(v, pv);
    apply_a(pv, left);
    for (std::size_t i = 0; i < v.size(); ++i) left[i] -= c * pv[i];
    if (t > 0) {
      apply_p(pv, x);
      for (std::size_t i = 0; i < v.size(); ++i) x[i] = (pv[i] - x[i]) * (1 / t);
      apply_a(x, y);
      for (std::size_t i = 0; i < v.size(); ++i) x[i] = y[i] - mu * x[i];
      apply_a(x, y);
      for (std::size_t i = 0; i < v.size(); ++i) left[i] -= y[i];
    }
    for (std::size_t i = 0; i < v.size(); ++i)
      for (int lane = 0; lane < lanes; ++lane) {
        trace[lanes * k + lane] += left[i][lane] * rv[i][lane];
        pairs += pv[i][lane] * rv[i][lane];
      }
  }
  s.comm.reduce(std::span<double>(trace), Comm::Reduction::sum);
  pairs = s.comm.sum(pairs);
  if (unit) return {std::accumulate(trace.begin(), trace.end(), 0.0), std::abs(missing - pairs) * level};
  const double n = trace.size();
  const double mean = std::accumulate(trace.begin(), trace.end(), 0.0) / n;
  double squares = 0;
  for (const double x : trace) squares += (x - mean) * (x - mean);
  return {mean, std::sqrt(squares / (n * (n - 1)))};
}

/// D / (Tr(D S)/N), or the refusal to hide that more than S^-1/2's errors is missing.
void scale(DensityResult& result, double n_pairs, const Orthogonalised& basis, double threshold) {
  const double missing = result.n_pairs_unscaled - n_pairs;
  const int n = basis.a.blocking->n_rows();
  // |Tr(P (Z S Z - 1))| is at most the product of the norms; products that were left out add to it
  const double explained = 3 * basis.residual * std::sqrt(n * n_pairs) + 0.05 * threshold * n + 1e-9 * n;
  if (!(std::abs(missing) <= std::min(explained, 1e-3 * n_pairs)))
    throw NumericalError(fmt::format(
        "Tr(D S) = {:.9g} pairs where Tr P = {:.9g}: S^-1/2 (residual {:.1e}) explains a difference of "
        "{:.1e} at most; take a smaller threshold",
        result.n_pairs_unscaled, n_pairs, basis.residual, explained));
  const double factor = n_pairs / result.n_pairs_unscaled;
  for (double& value : result.d.value) value *= factor;
}

}  // namespace

DensityResult density_matrix(const SubmatrixResult& sign, const Orthogonalised& basis, const BlockMatrix& k,
                             const BlockMatrix& s, double threshold, DeviceProducts* device,
                             DensityPattern wanted) {
  const BlockMatrix& z = basis.inverse_sqrt;
  // products that are left out take pairs away, all of one sign: far fewer of them than of small blocks of P
  // Z
  const double drop = 0.1 * threshold, error = 0.001 * threshold;
  const BlockMatrix pz = multiply(sign.p, z, {.threshold = drop, .error = error, .device = device});
  const BlockMatrix pattern = add(0, k, 0, s);  // traces with K and with S want all of their blocks
  if (sign.holds_pairs && sign.n_pairs == 0) return DensityResult(pattern);
  ProductOptions how{.error = error, .symmetric = true, .device = device};
  if (wanted == DensityPattern::of_k_and_s) how.pattern = &pattern;
  DensityResult result(multiply(z, pz, how));
  if (wanted == DensityPattern::whole) result.d = add(1, result.d, 0, pattern);
  result.n_pairs = result.n_pairs_unscaled = dot(result.d, s);
  const double missing = result.n_pairs_unscaled - sign.n_pairs;
  SymmetricProduct apply_p(sign.p, device), apply_a(basis.a, device);
  double level = width_of_occupied(sign.p, apply_p, apply_a, sign.n_pairs);
  if (sign.holds_pairs) {
    scale(result, sign.n_pairs, basis, threshold);
    result.n_pairs = dot(result.d, s);
  }
  result.tr_dk = dot(result.d, k);
  const Norms norms = norms_of(result.d, z, apply_p, result.n_pairs / result.n_pairs_unscaled);
  result.rest = norms.rest;
  result.per_p = norms.per_p;
  if (!sign.holds_pairs) level = std::hypot(level, result.tr_dk / sign.n_pairs);
  result.error = first_order_of_overlap(sign, basis, s, missing, level);
  const double unseen = std::abs(missing) * level;
  constexpr double seen = 0.5;  // deviation over value: beyond, the value is one of chance
  if (basis.a.blocking->n_rows() > most_unit &&
      result.error.deviation > std::max(seen * std::abs(result.error.value), 0.5 * unseen))
    result.error = {0, std::max(unseen, result.error.size() / 3)};
  const auto ritz = extreme_ritz_values(basis.a, 8);
  result.rounding_error = 8 * std::numeric_limits<double>::epsilon() * basis.a.blocking->n_rows() *
                          std::max(std::abs(ritz.lower), std::abs(ritz.upper)) * basis.condition;
  result.overlap_error = result.per_p * basis.residual * std::sqrt(std::max(sign.n_pairs, 0.0));
  // a level e moves by e x^T R x, twice the root mean square of R standing for x^T R x
  result.mu_error =
      2 * basis.residual * std::abs(sign.mu) + 0.01 * threshold +
      std::numeric_limits<double>::epsilon() * std::max(std::abs(ritz.lower), std::abs(ritz.upper));
  const Defects defects = defects_of(sign.p, apply_p, apply_a);
  result.idempotency = defects.idempotency;
  result.commutator = defects.commutator;
  return result;
}

}  // namespace quintet::electronic
