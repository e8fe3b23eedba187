#include "physics/convection/linear/row_bases.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "physics/transforms/line_modes.hpp"
#include "physics/transforms/row_transform.hpp"

namespace quintet::convection {

LineBasis line_basis(const Problem& problem, Unknown unknown) {
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

namespace {

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

}  // namespace

std::unique_ptr<RowBasis> transform_basis(const Problem& problem, const Grid& grid, Unknown unknown) {
  return std::make_unique<TransformBasis>(line_basis(problem, unknown), grid.x.n(), grid.x.widths[0]);
}

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

}  // namespace quintet::convection
