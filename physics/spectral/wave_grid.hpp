#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/kernels/execution.hpp"
#include "physics/transforms/row_transform.hpp"
#include "physics/transforms/slab_transpose.hpp"

namespace quintet::spectral {

/// How products of fields are kept free of waves that the grid takes for others.
enum class Dealias { two_thirds, three_halves, none };
struct DealiasRow {
  Dealias value;
  const char *name, *doc;
  /// Highest wave of n cells along an axis, and points along it where products are made.
  int (*waves)(int n);
  int (*points)(int n);
};
[[nodiscard]] const std::vector<DealiasRow>& dealias_rows();

/// A doubly periodic box and its cells.
struct Box {
  double length_x = 0, length_y = 0;
  int n_x = 0, n_y = 0;  ///< cells
  Dealias dealias = Dealias::two_thirds;
};

/// Waves of a real field, [k_y, k_x]: k_y = 0, 1 ... K_y, -K_y ... -1, this rank's k_x among 0 ... K_x. The
/// others are complex conjugates.
struct Modes {
  Array<double> re, im;
};

/// Waves of a periodic box and the points of a grid, each shared out over the ranks:
///
///     f(x, y) = sum over |j| <= K_x, |l| <= K_y of F_jl exp(2 pi i (j x/L_x + l y/L_y))
///
/// Points are rows of equal y, [y, x] with x_i = i L_x/n_x; a rank has some of the rows, and some of the
/// columns of the waves. Transforms go row by row, transpose, then column by column (Fft, SlabTranspose).
class WaveGrid {
 public:
  /// `n_x`, `n_y` points, more than twice the waves. Throws InputError for numbers of points without a fast
  /// transform.
  WaveGrid(const Comm& comm, double length_x, double length_y, int waves_x, int waves_y, int n_x, int n_y);

  [[nodiscard]] const Comm& comm() const { return *comm_; }
  [[nodiscard]] int n_x() const { return n_x_; }
  [[nodiscard]] int n_y() const { return n_y_; }
  [[nodiscard]] int waves_x() const { return waves_x_; }
  [[nodiscard]] int waves_y() const { return waves_y_; }
  [[nodiscard]] double length_x() const { return length_x_; }
  [[nodiscard]] double length_y() const { return length_y_; }
  [[nodiscard]] int first_row() const { return re_->first_row(); }
  [[nodiscard]] int rows_here() const { return re_->rows_here(); }
  [[nodiscard]] int first_column() const { return re_->first_column(); }
  [[nodiscard]] int columns_here() const { return re_->columns_here(); }
  [[nodiscard]] std::size_t n_points() const;  ///< of this rank
  [[nodiscard]] std::size_t n_modes() const;   ///< of this rank
  /// Number of the wave along y in row `l` of the modes: 0 ... K_y, -K_y ... -1.
  [[nodiscard]] int wave_of_row(int l) const { return l <= waves_y_ ? l : l - (2 * waves_y_ + 1); }
  [[nodiscard]] double k_x(int column) const;  ///< of this rank's column, 2 pi j/L_x
  [[nodiscard]] double k_y(int row) const;
  /// How many waves a mode stands for: 1 for k_x = 0, else 2, itself and its complex conjugate.
  [[nodiscard]] double weight(int column) const { return first_column() + column == 0 ? 1 : 2; }

  [[nodiscard]] Modes make_modes() const;
  /// Values at this rank's points [rows_here, n_x]. Collective.
  void to_points(const Modes& modes, double* points);
  /// Waves of values; those above K_x, K_y are dropped. Collective.
  void to_modes(const double* points, const Modes& modes);
  /// Make the waves of k_x = 0 those of a real field, which round-off may leave. No communication.
  void make_real(const Modes& modes) const;

 private:
  void rows_to_points(double* points);
  void points_to_rows(const double* points);
  /// f(i, work space of the thread) for i = 0 ... n - 1.
  template <class Function>
  void for_batches(const char* label, int n, const Function& f);

  std::shared_ptr<const Comm> comm_;
  double length_x_, length_y_;
  int waves_x_, waves_y_, n_x_, n_y_;
  RowTransform along_x_;
  Fft along_y_;
  std::unique_ptr<SlabTranspose> re_, im_;
  std::size_t work_size_;
  AlignedVector<double> work_;
};

/// Bytes of a rank for the buffers of the grid's transforms.
[[nodiscard]] double bytes_of_transforms(const Box& box, int n_ranks);

/// The grid on which products are made, and that of the cells, with the same waves.
[[nodiscard]] WaveGrid product_grid(const Comm& comm, const Box& box);
[[nodiscard]] WaveGrid cell_grid(const Comm& comm, const Box& box);

}  // namespace quintet::spectral
