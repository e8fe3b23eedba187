#include <array>
#include <cmath>
#include <optional>

#include "io/log/error.hpp"
#include "physics/convection/elliptic.hpp"
#include "physics/transforms/line_modes.hpp"
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

/// Fourier, cosine or sine transforms of equal cells.
class TransformBasis : public RowBasis {
 public:
  TransformBasis(LineBasis basis, int n, double spacing) : transform_(basis, n) {
    for (const double angle : transform_.angles()) {
      const double half = std::sin(0.5 * angle);
      squares_.push_back(4 * half * half / (spacing * spacing));
    }
  }
  [[nodiscard]] int size() const override { return transform_.size(); }
  [[nodiscard]] const std::vector<double>& squares() const override { return squares_; }
  [[nodiscard]] int batch() const override { return RowTransform::batch; }
  [[nodiscard]] std::size_t work_size() const override { return transform_.work_size(); }
  void forward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride, int n_rows,
               double* work) const override {
    transform_.forward(from, from_stride, to, to_stride, n_rows, work);
  }
  void backward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride, int n_rows,
                double* work) const override {
    transform_.backward(from, from_stride, to, to_stride, n_rows, work);
  }

 private:
  RowTransform transform_;
  std::vector<double> squares_;
};

std::unique_ptr<RowBasis> transform_basis(const Problem& problem, const Grid& grid, Unknown unknown) {
  return std::make_unique<TransformBasis>(basis_of(problem, unknown), grid.x.n(), grid.x.widths[0]);
}

/// Eigenvectors of the differences along x, whatever its cells.
std::unique_ptr<RowBasis> modes_basis(const Problem& problem, const Grid& grid, Unknown unknown) {
  if (grid.x.periodic) return std::make_unique<LineModes>(grid.x.n(), grid.x.widths[0]);
  const LineOperator line = x_operator(problem, grid, unknown);
  std::vector<double> diagonal, off_diagonal;
  for (std::size_t i = 0; i < line.weight.size(); ++i) {
    diagonal.push_back(line.lower[i] + line.upper[i] + line.wall[i]);
    if (i + 1 < line.weight.size()) off_diagonal.push_back(-line.upper[i]);
  }
  return std::make_unique<LineModes>(diagonal, off_diagonal, line.weight, unknown == Unknown::u ? 1 : 0,
                                     unknown == Unknown::p);
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

using MakeBasis = std::unique_ptr<RowBasis> (*)(const Problem&, const Grid&, Unknown);

class DirectSolver : public EllipticSolver {
 public:
  DirectSolver(const Problem& problem, const Grid& grid, MakeBasis make_basis)
      : problem_(problem),
        n_(grid.x.n()),
        transpose_(grid.comm, grid.z.n(), grid.x.n()),
        weights_(grid.z.widths) {
    for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b, Unknown::p}) {
      bases_.push_back(make_basis(problem, grid, unknown));
      const auto& squares = bases_.back()->squares();
      auto& k2 = k2_[at(static_cast<int>(unknown))];
      for (int m = 0; m < transpose_.columns_here(); ++m)
        k2.push_back(squares[at(transpose_.first_column() + m)]);
      auto& elimination = eliminations_[at(static_cast<int>(unknown))];
      elimination.line = z_operator(problem, grid, unknown);
      elimination.first_row = unknown == Unknown::w ? 1 : 0;
    }
    of(Unknown::p).factorise(0.0, -1.0, k2_[at(static_cast<int>(Unknown::p))]);
    std::size_t work = 0;
    for (const auto& basis : bases_) work = std::max(work, basis->work_size());
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
    const RowBasis& basis = *bases_[at(static_cast<int>(unknown))];
    const auto stride = at(field.stride), n = at(n_);
    double* const rows = transpose_.rows();
    const int most = basis.batch(), n_batches = (field.rows + most - 1) / most;
    const auto each_batch = [&](const char* label, const auto& action) {
      const Kokkos::Experimental::UniqueToken<Exec>
          tokens;  // a thread's number, for its share of the work space
      Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, n_batches), [&](int batch) {
        const int first = batch * most;
        const auto token = tokens.acquire();
        action(first, std::min(most, field.rows - first), work_.data() + at(token) * work_size_);
        tokens.release(token);
      });
    };
    each_batch("rows to coefficients", [&](int first, int count, double* work) {
      basis.forward(field.row(first), stride, rows + at(first) * n, n, count, work);
    });
    transpose_.to_columns();
    sweep(unknown);
    transpose_.to_rows();
    each_batch("coefficients to rows", [&](int first, int count, double* work) {
      basis.backward(rows + at(first) * n, n, field.row(first), stride, count, work);
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
  std::vector<std::unique_ptr<RowBasis>> bases_;
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
  return std::make_unique<DirectSolver>(problem, grid, transform_basis);
}

std::unique_ptr<EllipticSolver> make_modes_solver(const Problem& problem, const Grid& grid) {
  return std::make_unique<DirectSolver>(problem, grid, modes_basis);
}

}  // namespace quintet::convection
