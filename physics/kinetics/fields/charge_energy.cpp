#include "physics/kinetics/fields/charge_energy.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace quintet::kinetics {
namespace {

constexpr double pi = std::numbers::pi;

/// An orthonormal series of n numbers along one direction: function j at cell i, and its wave number.
class Series {
 public:
  Series(int n, double length, bool periodic) : n_(n), length_(length), periodic_(periodic) {
    const int period = periodic ? n : 4 * n;
    for (int i = 0; i < period; ++i) cosine_.push_back(std::cos(2 * pi * i / period));
  }
  /// 0: constant; then cos and sin in turn (periodic), or cosines alone.
  [[nodiscard]] double value(int j, int i) const {
    if (j == 0) return std::sqrt(1.0 / n_);
    if (!periodic_) return std::sqrt(2.0 / n_) * cosine(std::int64_t{j} * (2 * i + 1));
    const std::int64_t m = (j + 1) / 2;
    if (2 * m == n_) return std::sqrt(1.0 / n_) * (i % 2 == 0 ? 1 : -1);
    const double angle = 2 * pi * (m * i % n_) / n_;
    return std::sqrt(2.0 / n_) * (j % 2 == 1 ? cosine(m * i) : std::sin(angle));
  }
  [[nodiscard]] double wave_number(int j) const {
    return periodic_ ? 2 * pi * ((j + 1) / 2) / length_ : pi * j / length_;
  }

 private:
  [[nodiscard]] double cosine(std::int64_t i) const { return cosine_[i % std::ssize(cosine_)]; }
  int n_;
  double length_;
  bool periodic_;
  std::vector<double> cosine_;  ///< of a whole period
};

/// Replace each line along a direction by its series' coefficients.
void transform(const Series& series, int n_outer, int n, int n_inner, std::vector<double>& values) {
  std::vector<double> line(n), table(std::int64_t{n} * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) table[std::int64_t{j} * n + i] = series.value(j, i);
  for (int outer = 0; outer < n_outer; ++outer)
    for (int inner = 0; inner < n_inner; ++inner) {
      const auto at = [&](int i) { return (std::size_t(outer) * n + i) * n_inner + inner; };
      for (int i = 0; i < n; ++i) line[i] = values[at(i)];
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += table[std::int64_t{j} * n + i] * line[i];
        values[at(j)] = sum;
      }
    }
}

}  // namespace

ChargeField charge_field(const ChargeBox& box, std::span<const double> means) {
  std::vector<double> values(means.begin(), means.end());
  const auto [n_x, n_y, n_z] = box.cells;
  std::vector<Series> series;
  for (std::size_t d = 0; d < 3; ++d) series.emplace_back(box.cells[d], box.length[d], box.periodic[d]);
  transform(series[0], 1, n_x, n_y * n_z, values);
  transform(series[1], n_x, n_y, n_z, values);
  transform(series[2], n_x * n_y, n_z, 1, values);
  double sum = 0, squares = 0;  // of rho_k/k and rho_k/k^2
  std::size_t at = 0;
  for (int i = 0; i < n_x; ++i)
    for (int j = 0; j < n_y; ++j)
      for (int l = 0; l < n_z; ++l, ++at) {
        double square = 0;
        for (const double k : {series[0].wave_number(i), series[1].wave_number(j), series[2].wave_number(l)})
          square += k * k;
        if (!(square > 0)) continue;
        sum += values[at] * values[at] / square;
        squares += std::pow(values[at] / square, 2);
      }
  const double n_cells = double(n_x) * n_y * n_z;
  const double cell = box.length[0] * box.length[1] * box.length[2] / n_cells;
  return {sum * cell / (2 * box.epsilon0), std::sqrt(squares / n_cells) / box.epsilon0};
}

}  // namespace quintet::kinetics
