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
    if (transform) {
      transform->forward(rows, n, to, n, n_rows, work);
      for (int row = 0; row < n_rows; ++row)  // its sines run the other way round
        for (int c = 2; c < n; c += 2) to[row * n + c] = -to[row * n + c];
      return;
    }
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
  const int n = axis.size();
  state_ = std::make_unique<State>(State{n, axis.length(), nullptr});
  if (Fft::possible(n)) state_->transform = std::make_unique<RowTransform>(LineBasis::periodic, n);
}
LineSpectrum::~LineSpectrum() = default;
LineSpectrum::LineSpectrum(LineSpectrum&&) noexcept = default;

bool LineSpectrum::possible(const FieldAxis& axis) {
  if (!axis.periodic || axis.size() < 2) return false;
  const double spacing = axis.length() / axis.size();
  for (std::size_t i = 1; i < axis.size(); ++i)
    if (std::abs(axis.coordinates[i] - axis.coordinates[i - 1] - spacing) > 1e-4 * spacing) return false;
  return true;
}

int LineSpectrum::n_modes() const { return state_->n / 2 + 1; }
double LineSpectrum::wavenumber(int mode) const { return 2 * std::numbers::pi * mode / state_->length; }

std::vector<double> LineSpectrum::coefficients(std::span<const double> lines) const {
  const int n = state_->n, batch = RowTransform::batch, n_rows = static_cast<int>(lines.size()) / n;
  std::vector<double> result(lines.size());
  AlignedVector<double> work(state_->transform ? state_->transform->work_size() : 0);
  for (int first = 0; first < n_rows; first += batch) {
    const std::size_t begin = std::int64_t{first} * n;
    state_->coefficients(lines.data() + begin, std::min(batch, n_rows - first), result.data() + begin,
                         work.data());
  }
  return result;
}

std::vector<double> LineSpectrum::power(std::span<const double> lines) const {
  const int n = state_->n, n_rows = static_cast<int>(lines.size()) / n;
  const auto c = coefficients(lines);
  std::vector<double> result(std::int64_t{n_rows} * n_modes());
  for (int row = 0; row < n_rows; ++row)
    for (int i = 0; i < n; ++i)
      result[std::int64_t{row} * n_modes() + (i + 1) / 2] += c[row * n + i] * c[row * n + i] / n;
  return result;
}

std::vector<double> lines_of(const RectilinearGrid& grid, std::span<const double> f, int axis) {
  if (axis == 1) return {f.begin(), f.end()};
  std::vector<double> lines(f.size());
  for (int i = 0; i < grid.size(0); ++i)
    for (int j = 0; j < grid.size(1); ++j) lines[j * grid.size(0) + i] = f[i * grid.size(1) + j];
  return lines;
}

std::vector<double> field_power(const LineSpectrum& spectrum, const RectilinearGrid& grid,
                                std::span<const double> f, int axis) {
  return spectrum.power(lines_of(grid, f, axis));
}

}  // namespace quintet::flow
