#include "surrogates/flow/evaluation/line_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/transforms/row_transform.hpp"

namespace quintet::flow {

struct LineSpectrum::State {
  int n;
  double length;
  std::unique_ptr<RowTransform> transform;  ///< none for lengths that it does not take

  /// Orthonormal coefficients 1, cos 1, sin 1, ... of up to RowTransform::batch rows.
  void coefficients(const double* rows, int n_rows, double* to, double* work) const {
    if (transform) return transform->forward(rows, n, to, n, n_rows, work);
    for (int row = 0; row < n_rows; ++row)
      for (int c = 0; c < n; ++c) {
        const int mode = (c + 1) / 2;
        const bool single = c == 0 || 2 * mode == n;
        double sum = 0;
        for (int i = 0; i < n; ++i) {
          const double angle = 2 * std::numbers::pi * (static_cast<long long>(mode) * i % n) / n;
          sum += rows[row * n + i] * (c % 2 == 1 || c == 0 ? std::cos(angle) : std::sin(angle));
        }
        to[row * n + c] = sum * std::sqrt((single ? 1.0 : 2.0) / n);
      }
  }
};

LineSpectrum::LineSpectrum(const FieldAxis& axis) {
  QUINTET_CHECK(possible(axis), "axis {}: spectra need a periodic axis of equally spaced points", axis.name);
  const int n = static_cast<int>(axis.size());
  state_ = std::make_unique<State>(State{n, axis.length(), nullptr});
  if (Fft::possible(n)) state_->transform = std::make_unique<RowTransform>(LineBasis::periodic, n);
}
LineSpectrum::~LineSpectrum() = default;
LineSpectrum::LineSpectrum(LineSpectrum&&) noexcept = default;

bool LineSpectrum::possible(const FieldAxis& axis) {
  if (!axis.periodic || axis.size() < 2) return false;
  const double spacing = axis.length() / static_cast<double>(axis.size());
  for (std::size_t i = 1; i < axis.size(); ++i)
    if (std::abs(axis.coordinates[i] - axis.coordinates[i - 1] - spacing) > 1e-4 * spacing) return false;
  return true;
}

int LineSpectrum::n_modes() const { return state_->n / 2 + 1; }
double LineSpectrum::wavenumber(int mode) const { return 2 * std::numbers::pi * mode / state_->length; }

std::vector<double> LineSpectrum::power(std::span<const double> lines) const {
  const int n = state_->n, batch = RowTransform::batch;
  const int n_rows = static_cast<int>(lines.size()) / n;
  std::vector<double> result(static_cast<std::size_t>(n_rows) * n_modes());
  AlignedVector<double> coefficients(static_cast<std::size_t>(batch) * n),
      work(state_->transform ? state_->transform->work_size() : 0);
  for (int first = 0; first < n_rows; first += batch) {
    const int rows = std::min(batch, n_rows - first);
    state_->coefficients(lines.data() + static_cast<std::size_t>(first) * n, rows, coefficients.data(),
                         work.data());
    for (int row = 0; row < rows; ++row)
      for (int c = 0; c < n; ++c)
        result[static_cast<std::size_t>(first + row) * n_modes() + (c + 1) / 2] +=
            coefficients[row * n + c] * coefficients[row * n + c] / n;
  }
  return result;
}

std::vector<double> field_power(const LineSpectrum& spectrum, const RectilinearGrid& grid,
                                std::span<const double> f, int axis) {
  if (axis == 1) return spectrum.power(f);
  std::vector<double> lines(f.size());
  for (int i = 0; i < grid.size(0); ++i)
    for (int j = 0; j < grid.size(1); ++j) lines[j * grid.size(0) + i] = f[i * grid.size(1) + j];
  return spectrum.power(lines);
}

}  // namespace quintet::flow
