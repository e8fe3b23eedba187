#include <array>
#include <initializer_list>
#include <memory>
#include <utility>

#include "io/log/error.hpp"
#include "physics/convection/linear/elliptic.hpp"
#include "physics/convection/linear/row_bases.hpp"
#include "physics/transforms/column_elimination.hpp"

namespace quintet::convection {

namespace {

constexpr int column_block = 64;  ///< columns of a thread: their elimination stays in the cache

using MakeBasis = std::unique_ptr<RowBasis> (*)(const Problem&, const Grid&, Unknown);

class DirectSolver : public EllipticSolver {
 public:
  DirectSolver(const Problem& problem, const Grid& grid, MakeBasis make_basis)
      : problem_(problem),
        comm_(grid.comm()),
        n_(grid.x.n()),
        diffusion_(comm_, grid.z.n(), n_, 3),
        pressure_(comm_, grid.z.n(), n_) {
    for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b, Unknown::p}) {
      bases_.push_back(make_basis(problem, grid, unknown));
      lines_.push_back(z_operator(problem, grid, unknown));
    }
    const TridiagonalColumns poisson = equations(Unknown::p, 0.0, -1.0);
    pressure_.factorise({&poisson, 1});
    for (int j = 0; j < grid.rows_here(); ++j)
      heights_.push_back(grid.z.widths[grid.first_row() + j] / (grid.z.faces.back() - grid.z.faces[0]));
    std::size_t work = 0;
    for (const auto& basis : bases_) work = std::max(work, basis->work_size());
    work_size_ = (work + 7) / 8 * 8;
    work_.resize(work_size_ * Exec().concurrency());
    for (auto& q : coefficients_) q.resize(std::int64_t{grid.rows_here()} * n_);
  }

  void set_step(double a) override {
    if (a_ == a) return;
    a_ = a;
    std::vector<TridiagonalColumns> all;
    for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b})
      all.push_back(equations(unknown, 1.0, a * diffusivity(problem_, unknown)));
    diffusion_.factorise(all);
  }

  void diffuse(Unknown unknown, const Field& field) override { solve(diffusion_, {{unknown, &field}}); }

  void diffuse(const BoussinesqState& state) override {
    if (comm_.size() > 1)
      return solve(diffusion_, {{Unknown::u, &state.u}, {Unknown::w, &state.w}, {Unknown::b, &state.b}});
    EllipticSolver::diffuse(state);  // one after the other: coefficients stay in the cache
  }

  void poisson(const Field& field) override { solve(pressure_, {{Unknown::p, &field}}); }

 private:
  using Tile = ColumnElimination::Tile;

  /// Rows are shift - c (L_z - k2_m) for column m. Row 0 of w is a wall.
  [[nodiscard]] TridiagonalColumns equations(Unknown unknown, double shift, double c) const {
    const LineOperator& line = lines_[static_cast<int>(unknown)];
    const std::size_t n = line.weight.size();
    TridiagonalColumns rows;
    for (auto* row : {&rows.below, &rows.diagonal, &rows.above}) row->assign(n, 0.0);
    for (std::size_t j = unknown == Unknown::w ? 1 : 0; j < n; ++j) {
      rows.below[j] = -c * line.lower[j] / line.weight[j];
      rows.above[j] = -c * line.upper[j] / line.weight[j];
      rows.diagonal[j] = shift + c * (line.lower[j] + line.upper[j] + line.wall[j]) / line.weight[j];
    }
    for (const double k2 : basis(unknown).squares()) rows.shift.push_back(c * k2);
    return rows;
  }

  void solve(ColumnElimination& elimination, std::initializer_list<std::pair<Unknown, const Field*>> fields) {
    const auto coefficients = [&](Unknown unknown) {
      return coefficients_[fields.size() == 1 ? 0 : static_cast<int>(unknown)].data();
    };
    for (const auto& [unknown, field] : fields)
      transform_and_eliminate(elimination, unknown, *field, coefficients(unknown));
    elimination.solve_ends();
    for (const auto& [unknown, field] : fields)
      substitute_and_transform(elimination, unknown, coefficients(unknown), *field);
  }

  void transform_and_eliminate(ColumnElimination& elimination, Unknown unknown, const Field& field,
                               double* q) {
    const auto transform = [&](int first, int rows, double* work) {
      basis(unknown).forward(field.row(first), field.stride, q + std::int64_t{first} * n_, n_, rows, work);
    };
    sweep(elimination, basis(unknown).batch(), Way::up, elimination.whole(), transform,
          [&](const Tile& tile) { elimination.eliminate(matrix_of(unknown), q, tile); });
  }
  void substitute_and_transform(ColumnElimination& elimination, Unknown unknown, double* q,
                                const Field& field) {
    const auto transform = [&](int first, int rows, double* work) {
      basis(unknown).backward(q + std::int64_t{first} * n_, n_, field.row(first), field.stride, rows, work);
    };
    Tile rest = elimination.whole();
    if (unknown == Unknown::p) {
      rest.column = 1;
      Tile constants = elimination.whole();
      constants.column_end = 1;
      elimination.substitute(0, q, constants);
      take_mean_away(q);
    }
    sweep(elimination, basis(unknown).batch(), Way::down, rest, transform,
          [&](const Tile& tile) { elimination.substitute(matrix_of(unknown), q, tile); });
  }

  /// Rows are transformed in batches, and a batch is eliminated right after (Way::up) or substituted right
  /// before (Way::down), while it is in the cache. Several threads take batches first, then columns.
  enum class Way { up, down };
  template <class Transform, class Eliminate>
  void sweep(const ColumnElimination& elimination, int batch, Way way, const Tile& tile,
             const Transform& transform, const Eliminate& eliminate) {
    const int n_batches = (tile.row_end + batch - 1) / batch;
    const auto rows_of = [&](int i) {
      Tile rows = tile;
      rows.row = i * batch;
      rows.row_end = std::min(rows.row + batch, tile.row_end);
      return rows;
    };
    const auto transform_batch = [&](int i, double* work) {
      const Tile rows = rows_of(i);
      transform(std::min(elimination.row_of(rows.row), elimination.row_of(rows.row_end - 1)),
                rows.row_end - rows.row, work);
    };
    if (Exec().concurrency() == 1) {
      for (int i = 0; i < n_batches && way == Way::up; ++i) {
        transform_batch(i, work_.data());
        eliminate(rows_of(i));
      }
      for (int i = n_batches; i-- > 0 && way == Way::down;) {
        eliminate(rows_of(i));
        transform_batch(i, work_.data());
      }
      return;
    }
    const auto transform_all = [&] {
      const Kokkos::Experimental::UniqueToken<Exec>
          tokens;  // a thread's number, for its share of the work space
      Kokkos::parallel_for("transforms of rows", Kokkos::RangePolicy<Exec>(0, n_batches), [&](int i) {
        const auto token = tokens.acquire();
        transform_batch(i, work_.data() + token * work_size_);
        tokens.release(token);
      });
    };
    if (way == Way::up) transform_all();
    const int n_blocks = (tile.column_end - tile.column + column_block - 1) / column_block;
    Kokkos::parallel_for("elimination along z", Kokkos::RangePolicy<Exec>(0, n_blocks), [&](int i) {
      Tile columns = tile;
      columns.column += i * column_block;
      columns.column_end = std::min(columns.column + column_block, tile.column_end);
      eliminate(columns);
    });
    if (way == Way::down) transform_all();
  }

  /// The constant is the first coefficient of each row: of the pressure it is free.
  void take_mean_away(double* q) const {
    double mean = 0;
    for (std::size_t j = 0; j < heights_.size(); ++j) mean += heights_[j] * q[j * n_];
    mean = comm_.sum(mean);
    for (std::size_t j = 0; j < heights_.size(); ++j) q[j * n_] -= mean;
  }

  /// Its place in the elimination.
  [[nodiscard]] static int matrix_of(Unknown unknown) {
    return unknown == Unknown::p ? 0 : static_cast<int>(unknown);
  }
  [[nodiscard]] const RowBasis& basis(Unknown unknown) const { return *bases_[static_cast<int>(unknown)]; }

  Problem problem_;
  Comm comm_;
  int n_;
  std::vector<std::unique_ptr<RowBasis>> bases_;       ///< of each unknown
  std::vector<LineOperator> lines_;                    ///< L_z of each unknown
  ColumnElimination diffusion_, pressure_;             ///< of u, w and b; of p
  std::vector<double> heights_;                        ///< of the rows here, of the whole
  std::array<AlignedVector<double>, 3> coefficients_;  ///< [rows here, n_]
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
