#include "physics/kinetics/collisions/bgk_target.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/dense_lu.hpp"

namespace quintet::kinetics {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// matrix <- 1 - exp(-dt matrix), n x n, by scaling and squaring: with X = dt matrix/2^k, 1 - exp(-X) by its
/// series, then k times 1 - (1 - Y)^2 = 2 Y - Y^2, which loses no digits of small Y.
void relaxation_factor(double* matrix, int n, double dt) {
  const auto multiply = [n](const double* a, const double* b, double* product) {
    for (int l = 0; l < n; ++l)
      for (int m = 0; m < n; ++m) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += a[l * n + k] * b[k * n + m];
        product[l * n + m] = sum;
      }
  };
  constexpr int most = BgkTarget::max_modes * BgkTarget::max_modes, n_terms = 14;
  double norm = 0, x[most], y[most], product[most];
  for (int l = 0; l < n; ++l) {
    double row = 0;
    for (int m = 0; m < n; ++m) row += std::abs(dt * matrix[l * n + m]);
    norm = std::max(norm, row);
  }
  int doublings = 0;
  for (; norm > 0.5; norm /= 2) ++doublings;
  for (int i = 0; i < n * n; ++i) x[i] = std::ldexp(dt * matrix[i], -doublings);
  // 1 - exp(-X) = X (1 - X/2 (1 - X/3 (...)))
  std::fill(y, y + n * n, 0.0);
  for (int term = n_terms; term >= 1; --term) {
    multiply(x, y, product);  // y: what the bracket of the next term lacks to 1
    for (int i = 0; i < n * n; ++i) y[i] = (x[i] - product[i]) / term;
  }
  for (int k = 0; k < doublings; ++k) {
    multiply(y, y, product);
    for (int i = 0; i < n * n; ++i) y[i] = 2 * y[i] - product[i];
  }
  std::copy(y, y + n * n, matrix);
}

}  // namespace

BgkTarget::BgkTarget(const PhaseBasis& basis)
    : vdim_(basis.vdim()),
      n_(basis.conf().size()),
      n_lin_(1 << basis.cdim()),
      n_moments_(vdim_ + 2),
      order_(basis.order()),
      mixed_(basis.n_full_groups() < basis.n_groups()),
      products_(basis.conf()),
      nodes_(std::vector<int>(at(basis.cdim()), basis.order() + 1)) {
  n_nodes_ = nodes_.size();
  for (int q = 0; q < n_nodes_; ++q)
    for (int a = 0; a < n_; ++a) values_.push_back(basis.conf().value(a, nodes_.at(q)));
}

/// target: [moment][mode]; value: of the modes at the point.
BgkTarget::State BgkTarget::state(const double (*target)[max_modes], const double* value) const {
  double at_point[max_moments] = {}, square = 0;
  for (int m = 0; m < n_moments_; ++m)
    for (int a = 0; a < n_; ++a) at_point[m] += value[a] * target[m][a];
  State result;
  result.density = at_point[0];
  for (int d = 0; d < vdim_; ++d) {
    result.drift[at(d)] = at_point[1 + d] / at_point[0];
    square += result.drift[at(d)] * result.drift[at(d)];
  }
  result.thermal_square = (at_point[vdim_ + 1] / at_point[0] - square) / vdim_;
  return result;
}

/// Moments that M shall have: those of f, and what A (M - f) is to bring besides. False: A cannot bring it.
bool BgkTarget::set_target(int conf, const CollisionMoments& moments, const MomentGain& gain,
                           const double* rate, double (*target)[max_modes]) const {
  for (int a = 0; a < n_; ++a) {
    target[0][a] = moments.density(conf)[a];
    for (int d = 0; d < vdim_; ++d) target[1 + d][a] = moments.momentum(conf, d)[a];
    target[vdim_ + 1][a] = moments.energy(conf)[a];
  }
  if (gain.size() == 0) return true;
  double matrix[max_modes * max_modes] = {};
  int pivot[max_modes];
  products_.add_matrix(rate, 1, matrix, n_);
  if (!lu_factorise(matrix, pivot, n_)) return false;
  for (int m = 1; m < n_moments_; ++m) {
    double more[max_modes];
    for (int a = 0; a < n_; ++a) more[a] = (m > vdim_ ? 2 : 1) * gain(conf, m - 1, a);
    lu_solve(matrix, pivot, more, n_);
    for (int a = 0; a < n_; ++a) target[m][a] += more[a];
  }
  return true;
}

/// Moment m of a product of tables: table[d] in direction d.
double BgkTarget::moment(const double* tables, int m, const std::array<int, 3>& table, bool linear) const {
  const auto product = [&](int direction, int power) {
    double result = 1;
    for (int d = 0; d < vdim_; ++d)
      result *=
          tables[((table[at(d)] * vdim_ + d) * 3 + (d == direction ? power : 0)) * 2 + (linear ? 1 : 0)];
    return result;
  };
  if (m == 0) return product(-1, 0);
  if (m <= vdim_) return product(m - 1, 1);
  double sum = 0;
  for (int d = 0; d < vdim_; ++d) sum += product(d, 2);
  return sum;
}

/// Moment m of correction function j, made of the tables `first` (G), first + 1 (w G), first + 2 ((w^2 - 1)
/// G).
double BgkTarget::correction_moment(const double* tables, int m, int j, bool linear) const {
  std::array<int, 3> table{n_nodes_, n_nodes_, n_nodes_};
  if (j >= 1 && j <= vdim_) table[at(j - 1)] += 1;
  if (j <= vdim_) return moment(tables, m, table, linear);
  double sum = 0;
  for (int d = 0; d < vdim_; ++d) {
    auto one = table;
    one[at(d)] += 2;
    sum += moment(tables, m, one, linear);
  }
  return sum;
}

/// Coefficients that bring the moments of modes a in [begin, end) to the target.
bool BgkTarget::correct(const double* tables, const Cell& cell, int begin, int end, bool linear,
                        double (*correction)[max_modes]) const {
  const double thermal_speed = std::sqrt(cell.mean.thermal_square);
  double matrix[max_moments * max_moments], scale[max_moments], raw[max_nodes][max_moments];
  int pivot[max_moments];
  for (int m = 0; m < n_moments_; ++m) {
    scale[m] = m == 0 ? 1 : m <= vdim_ ? 1 / thermal_speed : 1 / (thermal_speed * thermal_speed);
    for (int j = 0; j < n_moments_; ++j)
      matrix[m * n_moments_ + j] = scale[m] * correction_moment(tables, m, j, linear);
    for (int q = 0; q < n_nodes_; ++q) raw[q][m] = moment(tables, m, {q, q, q}, linear);
  }
  if (!lu_factorise(matrix, pivot, n_moments_, 1e-12)) return false;
  for (int a = begin; a < end; ++a) {
    double right[max_moments];
    for (int m = 0; m < n_moments_; ++m) {
      right[m] = cell.target[m][a];
      for (int q = 0; q < n_nodes_; ++q) right[m] -= cell.amplitude[q][a] * raw[q][m];
      right[m] *= scale[m];
    }
    lu_solve(matrix, pivot, right, n_moments_);
    for (int j = 0; j < n_moments_; ++j) correction[j][a] = right[j];
  }
  return true;
}

/// values[a] := A values, where the first `size` modes exist.
void BgkTarget::multiply(const double* matrix, const double* from, int size, double* to) const {
  for (int l = 0; l < size; ++l) {
    to[l] = 0;
    for (int m = 0; m < size; ++m) to[l] += matrix[l * n_ + m] * from[m];
  }
}

bool BgkTarget::collides(const ConfField& rate, int conf, int n_modes) {
  const double* a = &rate(conf, 0, 0);
  return std::any_of(a, a + n_modes, [](double one) { return one != 0; });
}

bool BgkTarget::start(int conf, const CollisionMoments& moments, const MomentGain& gain,
                      const ConfField& rate, double relax_time, Cell& cell) const {
  std::fill(cell.matrix, cell.matrix + n_ * n_, 0.0);
  products_.add_matrix(&rate(conf, 0, 0), 1, cell.matrix, n_);
  if (relax_time > 0) relaxation_factor(cell.matrix, n_, relax_time);
  if (!set_target(conf, moments, gain, &rate(conf, 0, 0), cell.target)) return false;
  const double constant[max_modes] = {products_.constant()};
  cell.mean = state(cell.target, constant);
  if (!(cell.mean.density > 0 && cell.mean.thermal_square > 0)) return false;
  for (int q = 0; q < n_nodes_; ++q) {
    const double* value = values_.data() + at(q * n_);
    const State here = cell.node[q] = state(cell.target, value);
    if (!(here.density > 0 && here.thermal_square > 0)) return false;
    for (int a = 0; a < n_; ++a) cell.amplitude[q][a] = nodes_.weight[at(q)] * value[a] * here.density;
  }
  return true;
}

bool BgkTarget::finish(const double* table_moments, const Cell& cell, Factors& factors) const {
  double correction[max_moments][max_modes];
  const int full = mixed_ ? n_lin_ : n_;
  if (!correct(table_moments, cell, 0, full, false, correction) ||
      (mixed_ && !correct(table_moments, cell, full, n_, true, correction)))
    return false;
  for (int linear = 0; linear < 2; ++linear) {
    const int size = linear == 1 ? n_lin_ : n_;
    for (int q = 0; q < n_nodes_; ++q)
      multiply(cell.matrix, cell.amplitude[q], size, factors.amplitude[linear][q]);
    for (int j = 0; j < n_moments_; ++j)
      multiply(cell.matrix, correction[j], size, factors.correction[linear][j]);
  }
  return true;
}

double BgkTarget::bound(const ConfField& rate, int conf) const {
  return products_.bounds(&rate(conf, 0, 0)).upper / (2.51 * (2 * order_ + 1));
}

void BgkTarget::refuse(const std::string& species, const CollisionMoments& moments, const PhaseBlock& block,
                       int conf) const {
  throw NumericalError(fmt::format(
      "collisions of {}: density (mean {:.6g}) or vth^2 is not positive in {}, or its Maxwellian lies "
      "outside the velocity grid",
      species, moments.density(conf)[0] * products_.constant(), describe_place(block, conf)));
}

}  // namespace quintet::kinetics
