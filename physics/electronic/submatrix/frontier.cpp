#include "physics/electronic/submatrix/frontier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "io/parallel/together.hpp"
#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/functions/occupation.hpp"
#include "physics/electronic/functions/tridiagonal.hpp"
#include "physics/electronic/matrix/block_vector.hpp"
#include "physics/electronic/matrix/local_matrix.hpp"
#include "physics/electronic/submatrix/submatrix_columns.hpp"
#include "physics/electronic/submatrix/submatrix_dense.hpp"

namespace quintet::electronic {

namespace {

constexpr int width = 8;
constexpr double infinity = std::numeric_limits<double>::infinity();
using Vectors = std::vector<Lanes8>;  ///< eight vectors, this rank's rows
using Square = std::array<double, width * width>;

/// x_l^T y_m of all pairs, at [l * width + m]. Collective.
Square products(const Comm& comm, const Vectors& x, const Vectors& y) {
  std::array<Lanes8, width> sum{};
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int l = 0; l < width; ++l) sum[l] += x[i][l] * y[i];
  Square result;
  for (int l = 0; l < width; ++l)
    for (int m = 0; m < width; ++m) result[l * width + m] = sum[l][m];
  comm.reduce(std::span<double>(result), Comm::Reduction::sum);
  return result;
}

/// X <- X M; M at [l * width + m].
void multiply_by(Vectors& x, const Square& matrix) {
  std::array<Lanes8, width> row;
  for (int l = 0; l < width; ++l)
    for (int m = 0; m < width; ++m) row[l][m] = matrix[l * width + m];
  for (Lanes8& value : x) {
    Lanes8 sum{};
    for (int l = 0; l < width; ++l) sum += value[l] * row[l];
    value = sum;
  }
}

Eigenpairs eigenpairs_of_square(const Square& matrix) {
  return eigenpairs_of(std::vector<double>(matrix.begin(), matrix.end()), {});
}

/// X <- X Q (Q^T X^T X Q)^-1/2: orthonormal, vectors that depend on others become 0.
void orthonormalise(const Comm& comm, Vectors& x) {
  for (int pass = 0; pass < 2; ++pass) {
    Square gram = products(comm, x, x);
    std::array<double, width> scale{};  // of equal length first
    for (int l = 0; l < width; ++l) {
      const double norm = std::sqrt(gram[l * width + l]);
      scale[l] = norm > 0 ? 1 / norm : 0;
    }
    for (int l = 0; l < width; ++l)
      for (int m = 0; m < width; ++m) gram[l * width + m] *= scale[l] * scale[m];
    const Eigenpairs pairs = eigenpairs_of_square(gram);
    Square turn{};
    for (int m = 0; m < width; ++m)
      for (int l = 0; l < width; ++l)
        if (pairs.value[m] > 1e-12)
          turn[l * width + m] = scale[l] * pairs.vector[m * width + l] / std::sqrt(pairs.value[m]);
    multiply_by(x, turn);
  }
}

/// Rayleigh-Ritz: X becomes Ritz vectors, A X what A makes of them. A vector that is 0 has no residual.
struct Ritz {
  std::array<double, width> value{}, residual{};
};
Ritz rayleigh_ritz(const Comm& comm, BlockProduct<Lanes8>& apply, Vectors& x, Vectors& ax) {
  apply(x, ax);
  const Eigenpairs pairs = eigenpairs_of_square(products(comm, x, ax));
  Square turn;
  for (int m = 0; m < width; ++m)
    for (int l = 0; l < width; ++l) turn[l * width + m] = pairs.vector[m * width + l];
  multiply_by(x, turn);
  multiply_by(ax, turn);
  Ritz ritz;
  std::array<double, 2 * width> sums{};
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int l = 0; l < width; ++l) {
      const double r = ax[i][l] - pairs.value[l] * x[i][l];
      sums[l] += r * r;
      sums[width + l] += x[i][l] * x[i][l];
    }
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  for (int l = 0; l < width; ++l) {
    const bool there = sums[width + l] > 0.5;
    ritz.value[l] = pairs.value[l];
    ritz.residual[l] = there ? std::sqrt(sums[l]) : infinity;
  }
  return ritz;
}

/// The Ritz values next to mu whose residuals tell their side of it.
FrontierLevels nearest(const Ritz& ritz, double mu, double tolerance) {
  FrontierLevels levels{-infinity, infinity, infinity, infinity};
  for (int l = 0; l < width; ++l) {
    const double value = ritz.value[l], residual = ritz.residual[l];
    if (!(residual < std::max(0.4 * std::abs(value - mu), tolerance))) continue;
    if (value <= mu && value > levels.homo) levels.homo = value, levels.homo_error = residual;
    if (value > mu && value < levels.lumo) levels.lumo = value, levels.lumo_error = residual;
  }
  return levels;
}

/// Four vectors that have the outermost eigenvalues, highest or lowest, of A in the range of P or of 1 - P.
///
/// There HOMO and LUMO are extreme, so that few steps find them: q_{k+1} is P (A - alpha) q_k made orthogonal
/// to all q before it. Orbitals that P should not hold have eigenvalue 0 in P (A - alpha): alpha, the
/// Rayleigh quotient, lies inside the band.
class OutermostVectors {
 public:
  OutermostVectors(const BlockMatrix& a, SymmetricProduct& by_a, SymmetricProduct& by_p, bool occupied,
                   int n_steps)
      : comm_(a.comm), apply_(by_a), project_(by_p), occupied_(occupied) {
    const unsigned long long first = a.blocking->begin[a.first];
    Vector q;
    for (int i = 0; i < apply_.n_own(); ++i) q.push_back(scrambled(first + static_cast<unsigned>(i)));
    const double before = norm(q);
    project(q);
    if (!(norm(q) > 1e-4 * before)) return;
    while (std::ssize(basis_) < n_steps && orthonormalise(q)) step(q);
  }

  /// To lanes [lane, lane + 4) of x.
  void store(Vectors& x, int lane) {
    const int m = basis_.size();
    if (m == 0) return;
    std::vector<double> matrix(std::int64_t{m} * m);
    for (int k = 0; k < m; ++k)
      for (int l = 0; l <= k; ++l) matrix[k * m + l] = matrix[l * m + k] = h_[k][l];
    const Eigenpairs pairs = eigenpairs_of(std::move(matrix), {});
    for (int v = 0; v < std::min(m, width / 2); ++v) {
      const double* c = pairs.vector.data() + std::int64_t{occupied_ ? m - 1 - v : v} * m;
      for (std::size_t i = 0; i < x.size(); ++i) {
        double sum = 0;
        for (int k = 0; k < m; ++k) sum += c[k] * basis_[k][i];
        x[i][lane + v] = sum;
      }
    }
  }

 private:
  using Vector = std::vector<double>;

  /// x^T y of each y of the basis.
  Vector overlaps(const Vector& x) const {
    Vector sums;
    for (const Vector& y : basis_) sums.push_back(std::inner_product(x.begin(), x.end(), y.begin(), 0.0));
    comm_.reduce(std::span<double>(sums), Comm::Reduction::sum);
    return sums;
  }
  [[nodiscard]] double norm(const Vector& x) const {
    return std::sqrt(comm_.sum(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)));
  }
  void project(Vector& x) {
    project_(x, y_);
    if (!occupied_)
      for (std::size_t i = 0; i < x.size(); ++i) y_[i] = x[i] - y_[i];
    x.swap(y_);
  }
  /// Twice, as rounding wants it. False if errors of P would be all that is left.
  bool orthonormalise(Vector& x) const {
    const double before = norm(x);
    for (int pass = 0; pass < 2; ++pass) {
      const Vector overlap = overlaps(x);
      for (std::size_t k = 0; k < basis_.size(); ++k)
        for (std::size_t i = 0; i < x.size(); ++i) x[i] -= overlap[k] * basis_[k][i];
    }
    const double after = norm(x);
    if (!(after > 1e-4 * before)) return false;
    for (double& value : x) value /= after;
    return true;
  }
  void step(Vector& q) {
    basis_.push_back(q);
    apply_(basis_.back(), q);
    h_.push_back(overlaps(q));
    const double alpha = h_.back().back();
    for (std::size_t i = 0; i < q.size(); ++i) q[i] -= alpha * basis_.back()[i];
    project(q);
  }

  const Comm& comm_;
  SymmetricProduct &apply_, &project_;
  bool occupied_;
  std::vector<Vector> basis_, h_;
  Vector y_;
};

/// X <- f(A) X.
void apply_series(BlockProduct<Lanes8>& apply, const ChebyshevSeries& series, Vectors& x) {
  const auto& c = series.coefficients.front();
  const double factor = 2 / series.half_width, shift = series.centre;
  Vectors before, current = x, next;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= c[0];
  for (std::size_t k = 1; k < c.size(); ++k) {
    apply(current, next);
    for (std::size_t i = 0; i < x.size(); ++i) {
      next[i] = factor * (next[i] - shift * current[i]);
      next[i] = k == 1 ? 0.5 * next[i] : next[i] - before[i];
      x[i] += c[k] * next[i];
    }
    before.swap(current);
    current.swap(next);
  }
}

// A filter of Chebyshev polynomials narrows on the gap: each round keeps vectors near the levels found, until
// both are as close as asked.
FrontierLevels filtered_levels(const BlockMatrix& a, const BlockMatrix& p, double mu,
                               const FrontierOptions& options) {
  const SpectrumBounds bounds = spectrum_bounds(a);
  const double span = bounds.upper - bounds.lower;
  const Band band{bounds.lower, bounds.upper};
  BlockProduct<Lanes8> apply(a, options.device, options.least_on_device);
  Vectors x(apply.n_own(), Lanes8{}), ax;
  {
    SymmetricProduct by_a(a, options.device, options.least_on_device),
        by_p(p, options.device, options.least_on_device);
    for (const bool occupied : {true, false})
      OutermostVectors(a, by_a, by_p, occupied, options.n_steps).store(x, occupied ? 0 : width / 2);
  }
  orthonormalise(a.comm, x);
  FrontierLevels levels = nearest(rayleigh_ritz(a.comm, apply, x, ax), mu, options.tolerance), best = levels;
  double gap = 0.4 * span, centre = mu;
  const auto error = [](const FrontierLevels& l) { return std::max(l.homo_error, l.lumo_error); };
  for (int round = 0; round < options.n_rounds && error(levels) > options.tolerance; ++round) {
    if (std::isfinite(levels.lumo - levels.homo)) {
      gap = levels.lumo - levels.homo;
      centre = 0.5 * (levels.lumo + levels.homo);
    } else {
      gap *= 0.6;
    }
    const double c = std::max(gap / 5, span / 300);
    const std::function<double(double)> window[] = {
        [=](double e) { return std::exp(-(e - centre) * (e - centre) / (c * c)); }};
    apply_series(apply, fit(std::span(&band, 1), window, 1e-5, 5000), x);
    orthonormalise(a.comm, x);
    levels = nearest(rayleigh_ritz(a.comm, apply, x, ax), mu, options.tolerance);
    if (error(levels) < error(best)) best = levels;
  }
  return best;
}

/// From all eigenvalues, found on the first rank.
FrontierLevels dense_levels(const BlockMatrix& a, const Occupation& occupation) {
  const double mu = occupation.mu;
  std::vector<BlockRows> rows;
  if (a.comm.is_root()) {
    rows.emplace_back(a.blocking->n_blocks());
    std::iota(rows[0].begin(), rows[0].end(), 0);
  }
  const GatheredMatrix gathered = gather(a, rows);
  std::array<double, 5> levels{-infinity, infinity, 0, 0, 0};
  together(a.comm, [&] {
    if (rows.empty()) return;
    LocalMatrix<double> local;
    local.assign(gathered, rows[0], 0, 1);
    std::vector<double> matrix;
    local.dense(matrix);
    for (const double e : eigenpairs_of(std::move(matrix), {}).value) {
      if (e <= mu) levels[0] = e, levels[3] += 1;
      if (e > mu) levels[1] = std::min(levels[1], e);
      levels[2] = std::max(levels[2], std::abs(e));
      levels[4] += occupation(e);
    }
  });
  a.comm.broadcast(std::span<double>(levels));
  const double rounding = 1e-14 * levels[2];
  return {levels[0], levels[1], rounding, rounding, static_cast<int>(levels[3]), levels[4]};
}

}  // namespace

FrontierLevels frontier_levels(const BlockMatrix& a, const BlockMatrix& p, double mu,
                               const FrontierOptions& options) {
  if (a.blocking->n_rows() <= std::max(options.dense_rows, width))
    return dense_levels(a, {.mu = mu, .temperature = options.temperature});
  return filtered_levels(a, p, mu, options);
}

}  // namespace quintet::electronic
