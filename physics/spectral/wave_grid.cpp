#include "physics/spectral/wave_grid.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::spectral {

namespace {

constexpr int lanes = Fft::lanes;

int same(int n) { return n; }
int half(int n) { return (n - 1) / 2; }
int third(int n) { return (n - 1) / 3; }
int three_halves(int n) { return Fft::next_possible(3 * ((n + 1) / 2)); }

}  // namespace

const std::vector<DealiasRow>& dealias_rows() {
  static const std::vector<DealiasRow> rows{
      {Dealias::two_thirds, "two_thirds", "products on the cells, waves below a third of the cells are kept",
       third, same},
      {Dealias::three_halves, "three_halves",
       "all waves that the cells hold are kept (below half of them), products are made on 3/2 as many points",
       half, three_halves},
      {Dealias::none, "none",
       "all waves are kept and products are made on the cells: for what is well resolved", half, same}};
  return rows;
}

WaveGrid::WaveGrid(const Comm& comm, double length_x, double length_y, int waves_x, int waves_y, int n_x,
                   int n_y)
    : comm_(std::make_shared<const Comm>(comm)),
      length_x_(length_x),
      length_y_(length_y),
      waves_x_(waves_x),
      waves_y_(waves_y),
      n_x_(n_x),
      n_y_(n_y),
      along_x_(LineBasis::periodic, n_x),
      along_y_(n_y),
      re_(std::make_unique<SlabTranspose>(comm, n_y, waves_x + 1)),
      im_(std::make_unique<SlabTranspose>(comm, n_y, waves_x + 1)) {
  QUINTET_ASSERT(2 * waves_x < n_x && 2 * waves_y < n_y, "{} x {} waves on {} x {} points", waves_x, waves_y,
                 n_x, n_y);
  const std::size_t rows = along_x_.work_size() + std::int64_t{RowTransform::batch} * n_x_;
  const std::size_t columns = std::int64_t{2} * n_y_ * lanes + along_y_.work_size();
  work_size_ = (std::max(rows, columns) + 7) / 8 * 8;
  work_.resize(work_size_ * Exec().concurrency());
}

std::size_t WaveGrid::n_points() const { return std::int64_t{rows_here()} * n_x_; }
std::size_t WaveGrid::n_modes() const { return std::int64_t{2 * waves_y_ + 1} * columns_here(); }
double WaveGrid::k_x(int column) const {
  return 2 * std::numbers::pi * (first_column() + column) / length_x_;
}
double WaveGrid::k_y(int row) const { return 2 * std::numbers::pi * wave_of_row(row) / length_y_; }

Modes WaveGrid::make_modes() const {
  return {Array<double>("re", n_modes()), Array<double>("im", n_modes())};
}

template <class Function>
void WaveGrid::for_batches(const char* label, int n, const Function& f) {
  if (Exec().concurrency() == 1) {
    for (int i = 0; i < n; ++i) f(i, work_.data());
    return;
  }
  const Kokkos::Experimental::UniqueToken<Exec> tokens;  // a thread's number, for its share of the work space
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, n), [&](int i) {
    const auto token = tokens.acquire();
    f(i, work_.data() + token * work_size_);
    tokens.release(token);
  });
}

/// Rows of coefficients 1, cos 1, -sin 1, ... (RowTransform) are real and imaginary parts but for their norm.
void WaveGrid::points_to_rows(const double* points) {
  const int rows = rows_here(), n_batches = (rows + RowTransform::batch - 1) / RowTransform::batch;
  const std::size_t n = n_x_, n_columns = waves_x_ + 1;
  const double norm = 1 / std::sqrt(2.0 * n_x_), first = 1 / std::sqrt(1.0 * n_x_);
  for_batches("waves along x", n_batches, [&](int batch, double* space) {
    const int begin = batch * RowTransform::batch, n_rows = std::min(rows - begin, RowTransform::batch);
    double *const work = space, *const row = work + along_x_.work_size();
    along_x_.forward(points + begin * n, n, row, n, n_rows, work);
    for (int r = 0; r < n_rows; ++r) {
      const double* const c = row + r * n;
      double* const re = re_->rows() + (begin + r) * n_columns;
      double* const im = im_->rows() + (begin + r) * n_columns;
      re[0] = first * c[0];
      im[0] = 0;
      for (std::size_t k = 1; k < n_columns; ++k) {
        re[k] = norm * c[2 * k - 1];
        im[k] = norm * c[2 * k];
      }
    }
  });
}

void WaveGrid::rows_to_points(double* points) {
  const int rows = rows_here(), n_batches = (rows + RowTransform::batch - 1) / RowTransform::batch;
  const std::size_t n = n_x_, n_columns = waves_x_ + 1;
  const double norm = std::sqrt(2.0 * n_x_), first = std::sqrt(1.0 * n_x_);
  for_batches("points along x", n_batches, [&](int batch, double* space) {
    const int begin = batch * RowTransform::batch, n_rows = std::min(rows - begin, RowTransform::batch);
    double *const work = space, *const row = work + along_x_.work_size();
    for (int r = 0; r < n_rows; ++r) {
      double* const c = row + r * n;
      const double* const re = re_->rows() + (begin + r) * n_columns;
      const double* const im = im_->rows() + (begin + r) * n_columns;
      c[0] = first * re[0];
      for (std::size_t k = 1; k < n_columns; ++k) {
        c[2 * k - 1] = norm * re[k];
        c[2 * k] = norm * im[k];
      }
      std::fill(c + 2 * n_columns - 1, c + n, 0.0);
    }
    along_x_.backward(row, n, points + begin * n, n, n_rows, work);
  });
}

void WaveGrid::to_modes(const double* points, const Modes& modes) {
  points_to_rows(points);
  re_->to_columns();
  im_->to_columns();
  const int columns = columns_here(), n_batches = (columns + lanes - 1) / lanes;
  const double norm = 1.0 / n_y_;
  for_batches("waves along y", n_batches, [&](int batch, double* space) {
    const int begin = batch * lanes, width = std::min(columns - begin, lanes);
    double *const re = space, *const im = re + std::int64_t{n_y_} * lanes,
                  *const work = im + std::int64_t{n_y_} * lanes;
    if (width < lanes) std::fill(re, work, 0.0);
    for (int j = 0; j < n_y_; ++j) {
      const std::size_t from = std::int64_t{j} * columns + begin, to = std::int64_t{j} * lanes;
      for (int i = 0; i < width; ++i) {
        re[to + i] = re_->columns()[from + i];
        im[to + i] = im_->columns()[from + i];
      }
    }
    const auto z = along_y_.transform(re, im, work);
    for (int l = 0; l < 2 * waves_y_ + 1; ++l) {
      const std::size_t from = std::int64_t{(wave_of_row(l) + n_y_) % n_y_} * lanes,
                        to = std::int64_t{l} * columns + begin;
      for (int i = 0; i < width; ++i) {
        modes.re(to + i) = norm * z.re[from + i];
        modes.im(to + i) = norm * z.im[from + i];
      }
    }
  });
}

void WaveGrid::to_points(const Modes& modes, double* points) {
  const int columns = columns_here(), n_batches = (columns + lanes - 1) / lanes;
  for_batches("points along y", n_batches, [&](int batch, double* space) {
    const int begin = batch * lanes, width = std::min(columns - begin, lanes);
    double *const re = space, *const im = re + std::int64_t{n_y_} * lanes,
                  *const work = im + std::int64_t{n_y_} * lanes;
    std::fill(re, work, 0.0);
    for (int l = 0; l < 2 * waves_y_ + 1; ++l) {
      const std::size_t to = std::int64_t{(wave_of_row(l) + n_y_) % n_y_} * lanes,
                        from = std::int64_t{l} * columns + begin;
      for (int i = 0; i < width; ++i) {
        re[to + i] = modes.re(from + i);
        im[to + i] = modes.im(from + i);
      }
    }
    const auto z = along_y_.inverse(re, im, work);
    for (int j = 0; j < n_y_; ++j) {
      const std::size_t to = std::int64_t{j} * columns + begin, from = std::int64_t{j} * lanes;
      for (int i = 0; i < width; ++i) {
        re_->columns()[to + i] = z.re[from + i];
        im_->columns()[to + i] = z.im[from + i];
      }
    }
  });
  re_->to_rows();
  im_->to_rows();
  rows_to_points(points);
}

void WaveGrid::make_real(const Modes& modes) const {
  if (columns_here() == 0 || first_column() != 0) return;
  const std::size_t stride = columns_here();
  modes.im(0) = 0;
  for (int l = 1; l <= waves_y_; ++l) {
    const std::size_t up = l * stride, down = (2 * waves_y_ + 1 - l) * stride;
    const double re = 0.5 * (modes.re(up) + modes.re(down)), im = 0.5 * (modes.im(up) - modes.im(down));
    modes.re(up) = modes.re(down) = re;
    modes.im(up) = im;
    modes.im(down) = -im;
  }
}

double bytes_of_transforms(const Box& box, int n_ranks) {
  const auto& row = row_of(dealias_rows(), box.dealias);
  const double numbers = 2.0 * row.points(box.n_y) * (row.waves(box.n_x) + 1) / n_ranks;
  return sizeof(double) * numbers * (n_ranks > 1 ? 6 : 1);
}

WaveGrid product_grid(const Comm& comm, const Box& box) {
  const auto& row = row_of(dealias_rows(), box.dealias);
  return {comm,
          box.length_x,
          box.length_y,
          row.waves(box.n_x),
          row.waves(box.n_y),
          row.points(box.n_x),
          row.points(box.n_y)};
}

WaveGrid cell_grid(const Comm& comm, const Box& box) {
  const auto& row = row_of(dealias_rows(), box.dealias);
  return {comm, box.length_x, box.length_y, row.waves(box.n_x), row.waves(box.n_y), box.n_x, box.n_y};
}

}  // namespace quintet::spectral
