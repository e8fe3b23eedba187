#include "physics/kinetics/collisions/bgk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/dense_lu.hpp"
#include "physics/kinetics/initial/maxwellian_tables.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::kinetics {

namespace {

constexpr int lanes = PhaseBlock::lanes;
constexpr int max_conf_modes = 9, max_nodes = 9, max_moments = 5, max_groups = 27;
constexpr int max_functions = max_nodes + MaxwellianTables::n_powers;
using Value = Pack<double>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// What is worked out for one configuration cell; one a thread.
struct Work {
  MaxwellianTables tables;
  /// What M - f becomes when multiplied by A: [full or lin groups][function][conf mode].
  double amplitude[2][max_nodes][max_conf_modes];
  double correction[2][max_moments][max_conf_modes];
};

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
  constexpr int most = max_conf_modes * max_conf_modes, n_terms = 14;
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

struct Bgk::Implementation {
  const PhaseBasis basis;
  PhaseBlock block;
  bool uniform_rate;
  int vdim, n, n_lin, n_moments, n_degrees, n_nodes;
  ConfProducts products;
  TensorNodes nodes;
  std::vector<double> values;  ///< [n_nodes, n] of the basis functions
  AlignedVector<double> valid;
  std::vector<double> rates;
  std::vector<std::unique_ptr<Work>> idle;
  std::mutex mutex;

  Implementation(const PhaseBasis& b, const PhaseBlock& block_, bool uniform)
      : basis(b),
        block(block_),
        uniform_rate(uniform),
        vdim(b.vdim()),
        n(b.conf().size()),
        n_lin(1 << b.cdim()),
        n_moments(vdim + 2),
        n_degrees(velocity_degree(b) + 1),
        products(b.conf()),
        nodes(std::vector<int>(at(b.cdim()), b.order() + 1)),
        rates(at(block.n_conf())) {
    n_nodes = nodes.size();
    for (int q = 0; q < n_nodes; ++q)
      for (int a = 0; a < n; ++a) values.push_back(basis.conf().value(a, nodes.at(q)));
    valid.assign(at(block.n_packs() * lanes), 0.0);
    for (int i = 0; i < block.n_last(); ++i) valid[at(i)] = 1;
  }

  /// Density, drift and vth^2 at a point, from the moments' values there.
  struct State {
    double density = 0, thermal_square = 0;
    std::array<double, 3> drift{};
  };
  /// target: [moment][mode]; value: of the modes at the point.
  [[nodiscard]] State state(const double (*target)[max_conf_modes], const double* value) const {
    double at_point[max_moments] = {}, square = 0;
    for (int m = 0; m < n_moments; ++m)
      for (int a = 0; a < n; ++a) at_point[m] += value[a] * target[m][a];
    State result;
    result.density = at_point[0];
    for (int d = 0; d < vdim; ++d) {
      result.drift[at(d)] = at_point[1 + d] / at_point[0];
      square += result.drift[at(d)] * result.drift[at(d)];
    }
    result.thermal_square = (at_point[vdim + 1] / at_point[0] - square) / vdim;
    return result;
  }

  /// Moments that M shall have: those of f, and what A (M - f) is to bring besides. False: A cannot bring it.
  bool set_target(int conf, const CollisionMoments& moments, const MomentGain& gain, const double* rate,
                  double (*target)[max_conf_modes]) const {
    for (int a = 0; a < n; ++a) {
      target[0][a] = moments.density(conf)[a];
      for (int d = 0; d < vdim; ++d) target[1 + d][a] = moments.momentum(conf, d)[a];
      target[vdim + 1][a] = moments.energy(conf)[a];
    }
    if (gain.size() == 0) return true;
    double matrix[max_conf_modes * max_conf_modes] = {};
    int pivot[max_conf_modes];
    products.add_matrix(rate, 1, matrix, n);
    if (!lu_factorise(matrix, pivot, n)) return false;
    for (int m = 1; m < n_moments; ++m) {
      double more[max_conf_modes];
      for (int a = 0; a < n; ++a) more[a] = (m > vdim ? 2 : 1) * gain(conf, m - 1, a);
      lu_solve(matrix, pivot, more, n);
      for (int a = 0; a < n; ++a) target[m][a] += more[a];
    }
    return true;
  }

  /// Moment m of a product of tables: table[d] in direction d.
  static double moment(const MaxwellianTables& t, int vdim, int m, const std::array<int, 3>& table,
                       bool linear) {
    const auto product = [&](int direction, int power) {
      double result = 1;
      for (int d = 0; d < vdim; ++d) result *= t.moment(table[at(d)], d, d == direction ? power : 0, linear);
      return result;
    };
    if (m == 0) return product(-1, 0);
    if (m <= vdim) return product(m - 1, 1);
    double sum = 0;
    for (int d = 0; d < vdim; ++d) sum += product(d, 2);
    return sum;
  }

  /// Moment m of correction function j, made of the tables `first` (G), first + 1 (w G), first + 2 ((w^2 - 1)
  /// G).
  [[nodiscard]] double correction_moment(const MaxwellianTables& t, int m, int j, bool linear) const {
    std::array<int, 3> table{n_nodes, n_nodes, n_nodes};
    if (j >= 1 && j <= vdim) table[at(j - 1)] += 1;
    if (j <= vdim) return moment(t, vdim, m, table, linear);
    double sum = 0;
    for (int d = 0; d < vdim; ++d) {
      auto one = table;
      one[at(d)] += 2;
      sum += moment(t, vdim, m, one, linear);
    }
    return sum;
  }

  /// Coefficients that bring the moments of modes a in [begin, end) to the target.
  bool correct(const Work& work, const double (*target)[max_conf_modes],
               const double (*amplitude)[max_conf_modes], double thermal_speed, int begin, int end,
               bool linear, double (*correction)[max_conf_modes]) const {
    double matrix[max_moments * max_moments], scale[max_moments], raw[max_nodes][max_moments];
    int pivot[max_moments];
    for (int m = 0; m < n_moments; ++m) {
      scale[m] = m == 0 ? 1 : m <= vdim ? 1 / thermal_speed : 1 / (thermal_speed * thermal_speed);
      for (int j = 0; j < n_moments; ++j)
        matrix[m * n_moments + j] = scale[m] * correction_moment(work.tables, m, j, linear);
      for (int q = 0; q < n_nodes; ++q) raw[q][m] = moment(work.tables, vdim, m, {q, q, q}, linear);
    }
    if (!lu_factorise(matrix, pivot, n_moments, 1e-12)) return false;
    for (int a = begin; a < end; ++a) {
      double right[max_moments];
      for (int m = 0; m < n_moments; ++m) {
        right[m] = target[m][a];
        for (int q = 0; q < n_nodes; ++q) right[m] -= amplitude[q][a] * raw[q][m];
        right[m] *= scale[m];
      }
      lu_solve(matrix, pivot, right, n_moments);
      for (int j = 0; j < n_moments; ++j) correction[j][a] = right[j];
    }
    return true;
  }

  /// values[a] := A values, where the first `size` modes exist.
  void multiply(const double* matrix, const double* from, int size, double* to) const {
    for (int l = 0; l < size; ++l) {
      to[l] = 0;
      for (int m = 0; m < size; ++m) to[l] += matrix[l * n + m] * from[m];
    }
  }

  bool prepare(int conf, const CollisionMoments& moments, const MomentGain& gain, const double* rate,
               const double* matrix, Work& work) {
    double target[max_moments][max_conf_modes], amplitude[max_nodes][max_conf_modes],
        correction[max_moments][max_conf_modes];
    if (!set_target(conf, moments, gain, rate, target)) return false;
    double constant[max_conf_modes] = {products.constant()};
    const State mean = state(target, constant);
    if (!(mean.density > 0 && mean.thermal_square > 0)) return false;
    for (int q = 0; q < n_nodes; ++q) {
      const double* value = values.data() + at(q * n);
      const State here = state(target, value);
      if (!(here.density > 0 && here.thermal_square > 0)) return false;
      work.tables.compute(q, 1, here.drift, std::sqrt(here.thermal_square));
      for (int a = 0; a < n; ++a) amplitude[q][a] = nodes.weight[at(q)] * value[a] * here.density;
    }
    const double thermal_speed = std::sqrt(mean.thermal_square);
    work.tables.compute(n_nodes, MaxwellianTables::n_powers, mean.drift, thermal_speed);
    const bool mixed = basis.n_full_groups() < basis.n_groups();
    const int full = mixed ? n_lin : n;
    if (!correct(work, target, amplitude, thermal_speed, 0, full, false, correction) ||
        (mixed && !correct(work, target, amplitude, thermal_speed, full, n, true, correction)))
      return false;
    for (int linear = 0; linear < 2; ++linear) {
      const int size = linear == 1 ? n_lin : n;
      for (int q = 0; q < n_nodes; ++q) multiply(matrix, amplitude[q], size, work.amplitude[linear][q]);
      for (int j = 0; j < n_moments; ++j) multiply(matrix, correction[j], size, work.correction[linear][j]);
    }
    return true;
  }

  /// Factors of the functions of the last direction for a row of cells: [function][group][mode].
  void row_factors(const Work& work, const std::array<int, 3>& index, double* factors) const {
    const int size = basis.n_groups() * n;
    for (int g = 0; g < basis.n_groups(); ++g) {
      const auto& degrees = basis.group(g);
      const auto product = [&](int table, int direction, int power) {
        double result = 1;
        for (int d = 0; d < vdim - 1; ++d)
          result *= work.tables.row(table + (d == direction ? power : 0), d, degrees[at(d)])[index[at(d)]];
        return result;
      };
      const int linear = g < basis.n_full_groups() ? 0 : 1;
      const auto& amplitude = work.amplitude[linear];
      const auto& correction = work.correction[linear];
      for (int q = 0; q < n_nodes; ++q) {
        const double p = product(q, -1, 0);
        for (int a = 0; a < basis.n_conf(g); ++a) factors[q * size + g * n + a] = p * amplitude[q][a];
      }
      double plain = product(n_nodes, -1, 0), shifted[3] = {}, squared = 0;
      for (int d = 0; d < vdim - 1; ++d) {
        shifted[d] = product(n_nodes, d, 1);
        squared += product(n_nodes, d, 2);
      }
      for (int a = 0; a < basis.n_conf(g); ++a) {
        double of_plain = plain * correction[0][a] + squared * correction[vdim + 1][a];
        for (int d = 0; d < vdim - 1; ++d) of_plain += shifted[d] * correction[1 + d][a];
        double* to = factors + n_nodes * size + g * n + a;
        to[0] = of_plain;
        to[size] = plain * correction[vdim][a];
        to[2 * size] = plain * correction[vdim + 1][a];
      }
    }
  }

  void add_row(const Distribution& f, const double* matrix, const Work& work, double weight, int conf,
               int row, const Distribution& out) const {
    double factors[max_functions * max_groups * max_conf_modes];
    row_factors(work, block.row_index(row), factors);
    const int size = basis.n_groups() * n, n_functions = n_nodes + MaxwellianTables::n_powers;
    for (int p = 0; p < block.n_packs(); ++p) {
      const Value w = weight * load(valid.data() + p * lanes);
      const double* from = f.pack(conf, row, p);
      double* to = out.pack(conf, row, p);
      for (int g = 0; g < basis.n_groups(); ++g) {
        const int modes = basis.n_conf(g), degree = basis.group(g)[at(vdim - 1)];
        Value sum[max_conf_modes]{};
        for (int j = 0; j < n_functions; ++j) {
          const Value h = load(work.tables.row(j, vdim - 1, degree) + p * lanes);
          const double* factor = factors + j * size + g * n;
          for (int a = 0; a < modes; ++a) sum[a] += factor[a] * h;
        }
        if (uniform_rate)
          for (int a = 0; a < modes; ++a) sum[a] -= matrix[0] * load(from + a * lanes);
        else
          for (int l = 0; l < modes; ++l)
            for (int a = 0; a < modes; ++a) sum[l] -= matrix[l * n + a] * load(from + a * lanes);
        for (int a = 0; a < modes; ++a, from += lanes, to += lanes) store<double>(to, load(to) + w * sum[a]);
      }
    }
  }

  std::unique_ptr<Work> take() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return std::make_unique<Work>(Work{{block, n_degrees, n_nodes + 3}, {}, {}});
    auto work = std::move(idle.back());
    idle.pop_back();
    return work;
  }
  void give_back(std::unique_ptr<Work> work) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(work));
  }

  void bound(int conf, const ConfField& rate) {
    rates[at(conf)] = products.bounds(&rate(conf, 0, 0)).upper / (2.51 * (2 * basis.order() + 1));
  }

  /// relax_time > 0: for so long, with out = f; else add the rate times `weight`.
  bool run_cell(int conf, const Distribution& f, const CollisionMoments& moments, const MomentGain& gain,
                const ConfField& rate, double weight, const Distribution& out, double relax_time = 0) {
    double matrix[max_conf_modes * max_conf_modes] = {};
    products.add_matrix(&rate(conf, 0, 0), 1, matrix, n);
    if (relax_time > 0) relaxation_factor(matrix, n, relax_time);
    bound(conf, rate);
    if (std::all_of(&rate(conf, 0, 0), &rate(conf, 0, 0) + n, [](double a) { return a == 0; })) return true;
    auto work = take();
    const bool good = prepare(conf, moments, gain, &rate(conf, 0, 0), matrix, *work);
    for (int row = 0; row < block.n_rows() && good; ++row) add_row(f, matrix, *work, weight, conf, row, out);
    give_back(std::move(work));
    return good;
  }

  /// cell(conf) for all cells; the first that it returns false for is named.
  template <class Cell>
  void run(const Exec& exec, const std::string& species, const CollisionMoments& moments,
           const Cell& cell) const {
    int bad = std::numeric_limits<int>::max();
    Kokkos::parallel_reduce(
        "kinetics::bgk", Kokkos::RangePolicy<Exec>(exec, 0, block.n_conf()),
        [&](int conf, int& first) {
          if (!cell(conf)) first = std::min(first, conf);
        },
        Kokkos::Min<int>(bad));
    exec.fence();
    if (bad == std::numeric_limits<int>::max()) return;
    throw NumericalError(fmt::format(
        "collisions of {}: density (mean {:.6g}) or vth^2 is not positive in {}, or its Maxwellian lies "
        "outside the velocity grid",
        species, moments.density(bad)[0] * products.constant(), describe_place(block, bad)));
  }
};

Bgk::Bgk(const PhaseBasis& basis, const PhaseBlock& block, bool uniform_rate)
    : implementation_(std::make_unique<Implementation>(basis, block, uniform_rate)) {}
Bgk::~Bgk() = default;

void Bgk::apply(const Exec& exec, const Distribution& f, const CollisionMoments& moments,
                const MomentGain& gain, const ConfField& rate, const std::string& species, double weight,
                const Distribution& out) {
  auto& i = *implementation_;
  i.run(exec, species, moments,
        [&](int conf) { return i.run_cell(conf, f, moments, gain, rate, weight, out); });
}

void Bgk::relax(const Exec& exec, const Distribution& f, const CollisionMoments& moments,
                const ConfField& rate, const std::string& species, double dt) {
  auto& i = *implementation_;
  if (!(dt > 0)) return;
  i.run(exec, species, moments,
        [&](int conf) { return i.run_cell(conf, f, moments, MomentGain(), rate, 1, f, dt); });
}

void Bgk::bound(const ConfField& rate) {
  for (int conf = 0; conf < implementation_->block.n_conf(); ++conf) implementation_->bound(conf, rate);
}

double Bgk::frequency() const {
  return *std::max_element(implementation_->rates.begin(), implementation_->rates.end());
}

}  // namespace quintet::kinetics
