#include <array>
#include <cmath>
#include <optional>

#include "io/log/error.hpp"
#include "physics/convection/elliptic.hpp"
#include "physics/transforms/row_transform.hpp"

namespace quintet::convection {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

LineBasis basis_of(const Problem& problem, Unknown unknown) {
  if (problem.sides == Sides::periodic) return LineBasis::periodic;
  switch (unknown) {
    case Unknown::u:
      return LineBasis::sine_faces;
    case Unknown::w:
      return problem.sides == Sides::no_slip ? LineBasis::sine_centres : LineBasis::cosine;
    case Unknown::b:
      return problem.heated == Heated::sides ? LineBasis::sine_centres : LineBasis::cosine;
    case Unknown::p:
      break;
  }
  return LineBasis::cosine;
}

/// Elimination along z, for many columns side by side: pivots of (shift + c k_m - c L_z), c and shift
/// numbers.
struct Elimination {
  LineOperator line;
  int first_row = 0;                 ///< 1 where row 0 is a wall
  AlignedVector<double> inverse;     ///< [n_z, columns] of the pivots
  std::vector<double> below, above;  ///< [n_z] off-diagonal elements

  /// Rows are shift - c (L_z - k2_m) for column m. A pivot of nothing but round-off (constant pressure)
  /// becomes 0's inverse: that unknown is set to 0.
  void factorise(double shift, double c, std::span<const double> k2) {
    const std::size_t n = line.weight.size(), columns = k2.size();
    inverse.resize(n * columns);
    below.assign(n, 0.0);
    above.assign(n, 0.0);
    for (std::size_t j = at(first_row); j < n; ++j) {
      below[j] = -c * line.lower[j] / line.weight[j];
      above[j] = -c * line.upper[j] / line.weight[j];
      const double diagonal = shift + c * (line.lower[j] + line.upper[j] + line.wall[j]) / line.weight[j];
      const bool first = j == at(first_row);
      const double product = first ? 0 : below[j] * above[j - 1];
      double* const pivot = inverse.data() + j * columns;
      const double* const before = first ? pivot : pivot - columns;
      for (std::size_t m = 0; m < columns; ++m) {
        const double eliminated = first ? 0.0 : product * before[m];
        const double value = diagonal + c * k2[m] - eliminated;
        pivot[m] = std::abs(value) > 1e-12 * std::abs(diagonal) ? 1 / value : 0.0;
      }
    }
  }

  /// Solve in place for columns [begin, end) of q [n_z, columns].
  void solve(double* q, std::size_t columns, std::size_t begin, std::size_t end) const {
    const std::size_t n = line.weight.size(), first = at(first_row);
    for (std::size_t j = first; j < n; ++j) {
      double* const row = q + j * columns;
      const double* const pivot = inverse.data() + j * columns;
      if (j == first) {
        for (std::size_t m = begin; m < end; ++m) row[m] *= pivot[m];
        continue;
      }
      const double* const before = row - columns;
      const double factor = below[j];
      for (std::size_t m = begin; m < end; ++m) row[m] = (row[m] - factor * before[m]) * pivot[m];
    }
    for (std::size_t j = n - 1; j-- > first;) {
      double* const row = q + j * columns;
      const double *const after = row + columns, *const pivot = inverse.data() + j * columns;
      const double factor = above[j];
      for (std::size_t m = begin; m < end; ++m) row[m] -= factor * pivot[m] * after[m];
    }
  }
};

constexpr std::size_t column_block = 64;  ///< columns whose elimination stays in the cache

class TransformSolver : public EllipticSolver {
 public:
  TransformSolver(const Problem& problem, const Grid& grid)
      : problem_(problem),
        n_(grid.x.n()),
        transpose_(grid.comm, grid.z.n(), grid.x.n()),
        weights_(grid.z.widths) {
    const double dx = grid.x.widths[0];
    for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b, Unknown::p}) {
      transforms_.emplace_back(basis_of(problem, unknown), n_);
      const auto& angles = transforms_.back().angles();
      auto& k2 = k2_[at(static_cast<int>(unknown))];
      for (int m = 0; m < transpose_.columns_here(); ++m) {
        const double half = std::sin(0.5 * angles[at(transpose_.first_column() + m)]);
        k2.push_back(4 * half * half / (dx * dx));
      }
      auto& elimination = eliminations_[at(static_cast<int>(unknown))];
      elimination.line = z_operator(problem, grid, unknown);
      elimination.first_row = unknown == Unknown::w ? 1 : 0;
    }
    of(Unknown::p).factorise(0.0, -1.0, k2_[at(static_cast<int>(Unknown::p))]);
    std::size_t work = 0;
    for (const auto& transform : transforms_) work = std::max(work, transform.work_size());
    work_size_ = (work + 7) / 8 * 8;
    work_.resize(work_size_ * at(Exec().concurrency()));
  }

  void set_step(double a) override {
    if (a_ == a) return;
    a_ = a;
    for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b})
      of(unknown).factorise(1.0, a * diffusivity(problem_, unknown), k2_[at(static_cast<int>(unknown))]);
  }

  void diffuse(Unknown unknown, const Field& field) override { solve(unknown, field); }

  void poisson(const Field& field) override { solve(Unknown::p, field); }

 private:
  [[nodiscard]] Elimination& of(Unknown unknown) { return eliminations_[at(static_cast<int>(unknown))]; }

  void solve(Unknown unknown, const Field& field) {
    const auto& transform = transforms_[at(static_cast<int>(unknown))];
    const auto stride = at(field.stride), n = at(n_);
    double* const rows = transpose_.rows();
    const int n_batches = (field.rows + RowTransform::batch - 1) / RowTransform::batch;
    const auto each_batch = [&](const char* label, const auto& action) {
      const Kokkos::Experimental::UniqueToken<Exec>
          tokens;  // a thread's number, for its share of the work space
      Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, n_batches), [&](int batch) {
        const int first = batch * RowTransform::batch;
        const auto token = tokens.acquire();
        action(first, std::min(RowTransform::batch, field.rows - first),
               work_.data() + at(token) * work_size_);
        tokens.release(token);
      });
    };
    each_batch("rows to coefficients", [&](int first, int count, double* work) {
      transform.forward(field.row(first), stride, rows + at(first) * n, n, count, work);
    });
    transpose_.to_columns();
    sweep(unknown);
    transpose_.to_rows();
    each_batch("coefficients to rows", [&](int first, int count, double* work) {
      transform.backward(rows + at(first) * n, n, field.row(first), stride, count, work);
    });
  }

  void sweep(Unknown unknown) {
    double* const q = transpose_.columns();
    const Elimination& elimination = of(unknown);
    const auto columns = at(transpose_.columns_here());
    const auto n_blocks = static_cast<int>((columns + column_block - 1) / column_block);
    Kokkos::parallel_for("elimination along z", Kokkos::RangePolicy<Exec>(0, n_blocks), [&](int block) {
      const std::size_t begin = at(block) * column_block;
      elimination.solve(q, columns, begin, std::min(begin + column_block, columns));
    });
    // The constant is the first coefficient of the first column: of the pressure it is free.
    if (unknown != Unknown::p || columns == 0 || transpose_.first_column() > 0) return;
    double mean = 0, length = 0;
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      mean += weights_[j] * q[j * columns];
      length += weights_[j];
    }
    for (std::size_t j = 0; j < weights_.size(); ++j) q[j * columns] -= mean / length;
  }

  Problem problem_;
  int n_;
  SlabTranspose transpose_;
  std::vector<double> weights_;
  std::vector<RowTransform> transforms_;
  std::array<std::vector<double>, 4> k2_;  ///< [columns_here] of each unknown
  std::array<Elimination, 4> eliminations_;
  AlignedVector<double> work_;
  std::size_t work_size_ = 0;
  double a_ = -1;
};

}  // namespace

std::unique_ptr<EllipticSolver> make_transform_solver(const Problem& problem, const Grid& grid) {
  QUINTET_CHECK(grid.x.uniform(),
                "transforms along x need equal cells; choose uniform spacing, or the general solver");
  return std::make_unique<TransformSolver>(problem, grid);
}

}  // namespace quintet::convection
