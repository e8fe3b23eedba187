#pragma once

#include <array>
#include <cmath>

#include <Kokkos_Core.hpp>

#include "physics/kinetics/basis/dense_lu.hpp"
#include "physics/kinetics/collisions/collision_tables.hpp"

namespace quintet::kinetics {

/// The formulas of BgkTarget in one configuration cell, wherever its fields are; plain data.
struct BgkCell {
  static constexpr int max_modes = 9, max_nodes = 9, max_moments = 5;

  struct State {
    double density = 0, thermal_square = 0;
    std::array<double, 3> drift{};
  };
  /// Between start() and finish().
  struct Work {
    double matrix[max_modes * max_modes];   ///< M - f is multiplied by it: A, or 1 - exp(-A dt)
    double target[max_moments][max_modes];  ///< moments that M shall have
    double amplitude[max_nodes][max_modes];
    State mean, node[max_nodes];
    double scratch[3][max_modes * max_modes];  ///< not on a GPU's stacks, which are as many as its threads
  };
  /// Factors of the functions, multiplied by the cell's matrix: [full or lin groups][function][conf mode].
  struct Factors {
    double amplitude[2][max_nodes][max_modes];
    double correction[2][max_moments][max_modes];
  };

  int vdim, n, n_lin, n_moments, n_nodes;
  bool mixed;
  double constant;
  const double *triple, *values, *weights;

  explicit BgkCell(const BgkTables& t)
      : vdim(t.vdim),
        n(t.n),
        n_lin(t.n_lin),
        n_moments(t.vdim + 2),
        n_nodes(t.n_nodes),
        mixed(t.mixed),
        constant(t.constant),
        triple(t.triple.data()),
        values(t.values.data()),
        weights(t.weights.data()) {}

  [[nodiscard]] KOKKOS_INLINE_FUNCTION static bool collides(const double* rate, int n_modes) {
    for (int a = 0; a < n_modes; ++a)
      if (rate[a] != 0) return true;
    return false;
  }

  /// BgkTarget::start(). @param moments M0, M1, M2, [n_moments, n] @param gain [n_moments - 1, n], null: none
  /// @param rate [n]
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool start(const double* moments, const double* gain,
                                                  const double* rate, double relax_time, Work& cell) const {
    make_matrix(rate, cell.matrix);
    if (relax_time > 0) make_relaxation_factor(cell, relax_time);
    if (!set_target(moments, gain, rate, cell)) return false;
    double of_mean[max_modes] = {};
    of_mean[0] = constant;
    cell.mean = state(cell.target, of_mean);
    if (!(cell.mean.density > 0 && cell.mean.thermal_square > 0)) return false;
    for (int q = 0; q < n_nodes; ++q) {
      const double* const value = values + q * n;
      const State here = cell.node[q] = state(cell.target, value);
      if (!(here.density > 0 && here.thermal_square > 0)) return false;
      for (int a = 0; a < n; ++a) cell.amplitude[q][a] = weights[q] * value[a] * here.density;
    }
    return true;
  }
  /// BgkTarget::finish(): put(linear, function, mode, value) takes the factors, functions in the order of
  /// amplitudes, then corrections.
  template <class Put>
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool finish(const double* tables, const Work& cell,
                                                   const Put& put) const {
    double correction[max_moments][max_modes];
    const int full = mixed ? n_lin : n;
    if (!correct(tables, cell, 0, full, false, correction) ||
        (mixed && !correct(tables, cell, full, n, true, correction)))
      return false;
    for (int linear = 0; linear < 2; ++linear)
      for (int q = 0; q < n_nodes + n_moments; ++q) {
        const double* const from = q < n_nodes ? cell.amplitude[q] : correction[q - n_nodes];
        for (int l = 0; l < n; ++l) put(linear, q, l, applied(cell.matrix, from, l, linear == 1 ? n_lin : n));
      }
    return true;
  }

  /// State of least vth^2 among the mean and the Gauss points, or the first Gauss point whose density is not
  /// positive; of the target with a gain. @param rate [n], or null
  [[nodiscard]] State least_state(const double* moments, const double* gain, const double* rate) const {
    Work cell;
    if (!set_target(moments, gain, rate, cell)) return {};
    double of_mean[max_modes] = {};
    of_mean[0] = constant;
    State least = state(cell.target, of_mean);
    for (int q = 0; q < n_nodes; ++q) {
      const State here = state(cell.target, values + q * n);
      if (!(here.density > 0) || here.thermal_square < least.thermal_square) least = here;
      if (!(here.density > 0)) break;
    }
    return least;
  }

 private:
  /// Make the matrix of the weak product with a.
  KOKKOS_INLINE_FUNCTION void make_matrix(const double* a, double* matrix) const {
    for (int i = 0; i < n * n; ++i) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += triple[i * n + k] * a[k];
      matrix[i] = sum;
    }
  }
  KOKKOS_INLINE_FUNCTION void product_of(const double* a, const double* b, double* product) const {
    for (int l = 0; l < n; ++l)
      for (int m = 0; m < n; ++m) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += a[l * n + k] * b[k * n + m];
        product[l * n + m] = sum;
      }
  }
  /// matrix <- 1 - exp(-dt matrix), n x n, by scaling and squaring: with X = dt matrix/2^k, 1 - exp(-X) by
  /// its series, then k times 1 - (1 - Y)^2 = 2 Y - Y^2, which loses no digits of small Y.
  KOKKOS_INLINE_FUNCTION void make_relaxation_factor(Work& cell, double dt) const {
    constexpr int n_terms = 14;
    double norm = 0;
    double *const matrix = cell.matrix, *const x = cell.scratch[0], *const y = cell.scratch[1],
                  *const product = cell.scratch[2];
    for (int l = 0; l < n; ++l) {
      double row = 0;
      for (int m = 0; m < n; ++m) row += ::fabs(dt * matrix[l * n + m]);
      norm = norm < row ? row : norm;
    }
    int doublings = 0;
    for (; norm > 0.5 && doublings < 2000; norm /= 2) ++doublings;  // infinite: ends, too
    for (int i = 0; i < n * n; ++i) x[i] = ::ldexp(dt * matrix[i], -doublings);
    // 1 - exp(-X) = X (1 - X/2 (1 - X/3 (...)))
    for (int i = 0; i < n * n; ++i) y[i] = 0;
    for (int term = n_terms; term >= 1; --term) {
      product_of(x, y, product);  // y: what the bracket of the next term lacks to 1
      for (int i = 0; i < n * n; ++i) y[i] = (x[i] - product[i]) / term;
    }
    for (int k = 0; k < doublings; ++k) {
      product_of(y, y, product);
      for (int i = 0; i < n * n; ++i) y[i] = 2 * y[i] - product[i];
    }
    for (int i = 0; i < n * n; ++i) matrix[i] = y[i];
  }
  /// target: [moment][mode]; value: of the modes at the point.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION State state(const double (*target)[max_modes],
                                                   const double* value) const {
    double at_point[max_moments] = {}, square = 0;
    for (int m = 0; m < n_moments; ++m)
      for (int a = 0; a < n; ++a) at_point[m] += value[a] * target[m][a];
    State result;
    result.density = at_point[0];
    for (int d = 0; d < vdim; ++d) {
      const double drift = at_point[1 + d] / at_point[0];
      result.drift[d] = drift;
      square += drift * drift;
    }
    result.thermal_square = (at_point[vdim + 1] / at_point[0] - square) / vdim;
    return result;
  }
  /// Moments that M shall have: those of f, and what A (M - f) is to bring besides. False: A cannot bring it.
  KOKKOS_INLINE_FUNCTION bool set_target(const double* moments, const double* gain, const double* rate,
                                         Work& cell) const {
    for (int m = 0; m < n_moments; ++m)
      for (int a = 0; a < n; ++a) cell.target[m][a] = moments[m * n + a];
    if (gain == nullptr) return true;
    double* const matrix = cell.scratch[0];
    int pivot[max_modes];
    make_matrix(rate, matrix);
    if (!lu_factorise(matrix, pivot, n)) return false;
    for (int m = 1; m < n_moments; ++m) {
      double more[max_modes];
      for (int a = 0; a < n; ++a) more[a] = (m > vdim ? 2 : 1) * gain[(m - 1) * n + a];
      lu_solve(matrix, pivot, more, n);
      for (int a = 0; a < n; ++a) cell.target[m][a] += more[a];
    }
    return true;
  }

  /// Choice of the table in each direction.
  struct Choice {
    int table[3];
  };
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double product(const double* tables, const Choice& choice,
                                                      int direction, int power, bool linear) const {
    double result = 1;
    for (int d = 0; d < vdim; ++d)
      result *=
          tables[((choice.table[d] * vdim + d) * 3 + (d == direction ? power : 0)) * 2 + (linear ? 1 : 0)];
    return result;
  }
  /// Moment m of a product of tables.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double moment(const double* tables, int m, const Choice& choice,
                                                     bool linear) const {
    if (m == 0) return product(tables, choice, -1, 0, linear);
    if (m <= vdim) return product(tables, choice, m - 1, 1, linear);
    double sum = 0;
    for (int d = 0; d < vdim; ++d) sum += product(tables, choice, d, 2, linear);
    return sum;
  }
  /// Moment m of correction function j, made of the tables `first` (G), first + 1 (w G), first + 2
  /// ((w^2 - 1) G).
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double correction_moment(const double* tables, int m, int j,
                                                                bool linear) const {
    Choice choice{{n_nodes, n_nodes, n_nodes}};
    if (j >= 1 && j <= vdim) choice.table[j - 1] += 1;
    if (j <= vdim) return moment(tables, m, choice, linear);
    double sum = 0;
    for (int d = 0; d < vdim; ++d) {
      Choice one = choice;
      one.table[d] += 2;
      sum += moment(tables, m, one, linear);
    }
    return sum;
  }
  /// Coefficients that bring the moments of modes a in [begin, end) to the target.
  KOKKOS_INLINE_FUNCTION bool correct(const double* tables, const Work& cell, int begin, int end, bool linear,
                                      double (*correction)[max_modes]) const {
    const double thermal_speed = ::sqrt(cell.mean.thermal_square);
    double matrix[max_moments * max_moments], scale[max_moments], raw[max_nodes][max_moments];
    int pivot[max_moments];
    for (int m = 0; m < n_moments; ++m) {
      scale[m] = m == 0 ? 1 : m <= vdim ? 1 / thermal_speed : 1 / (thermal_speed * thermal_speed);
      for (int j = 0; j < n_moments; ++j)
        matrix[m * n_moments + j] = scale[m] * correction_moment(tables, m, j, linear);
      for (int q = 0; q < n_nodes; ++q) raw[q][m] = moment(tables, m, Choice{{q, q, q}}, linear);
    }
    if (!lu_factorise(matrix, pivot, n_moments, 1e-12)) return false;
    for (int a = begin; a < end; ++a) {
      double right[max_moments];
      for (int m = 0; m < n_moments; ++m) {
        right[m] = cell.target[m][a];
        for (int q = 0; q < n_nodes; ++q) right[m] -= cell.amplitude[q][a] * raw[q][m];
        right[m] *= scale[m];
      }
      lu_solve(matrix, pivot, right, n_moments);
      for (int j = 0; j < n_moments; ++j) correction[j][a] = right[j];
    }
    return true;
  }
  /// Mode l of A values, where the first `size` modes exist; 0 beyond.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double applied(const double* matrix, const double* from, int l,
                                                      int size) const {
    double sum = 0;
    for (int m = 0; m < size && l < size; ++m) sum += matrix[l * n + m] * from[m];
    return sum;
  }
};

}  // namespace quintet::kinetics
