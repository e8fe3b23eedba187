#include "apps/dpmd/evaluate/elastic_moduli.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace quintet::dpmd {

namespace {

constexpr std::array<std::pair<int, int>, 6> pairs{{{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}}};

/// Turn rows and columns p and q of a, and columns of v, so that a_pq becomes 0.
void rotate(Matrix6& a, Matrix6& v, int p, int q) {
  if (a[p][q] == 0) return;
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
  const double c = 1 / std::hypot(t, 1.0), s = t * c;
  const auto turn = [&](double& x, double& y) {
    const double old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  };
  for (int k = 0; k < 6; ++k) turn(a[k][p], a[k][q]);
  for (int k = 0; k < 6; ++k) turn(a[p][k], a[q][k]);
  for (int k = 0; k < 6; ++k) turn(v[k][p], v[k][q]);
}

}  // namespace

Mat3 voigt_deformation(const std::array<double, 6>& strain) {
  Mat3 deformation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (std::size_t j = 0; j < 6; ++j) {
    const auto [k, l] = pairs[j];
    deformation[3 * k + l] += k == l ? strain[j] : strain[j] / 2;
    if (k != l) deformation[3 * l + k] += strain[j] / 2;
  }
  return deformation;
}

Mat3 voigt_deformation(int j, double strain) {
  std::array<double, 6> all{};
  all[j] = strain;
  return voigt_deformation(all);
}

std::array<double, 6> voigt_stress(const Mat3& stress) {
  std::array<double, 6> result{};
  for (std::size_t i = 0; i < 6; ++i) {
    const auto [k, l] = pairs[i];
    result[i] = (stress[3 * k + l] + stress[3 * l + k]) / 2;
  }
  return result;
}

Spectrum6 spectrum_of(const Matrix6& symmetric) {
  constexpr int sweeps = 30;  // of which 6 to 8 do something
  Matrix6 a = symmetric, v{};
  for (int i = 0; i < 6; ++i) v[i][i] = 1;
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (int p = 0; p < 6; ++p)
      for (int q = p + 1; q < 6; ++q) rotate(a, v, p, q);
  Spectrum6 result;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 6; ++k) result.inverse[i][j] += v[i][k] * v[j][k] / a[k][k];
  for (int k = 0; k < 6; ++k) result.values[k] = a[k][k];
  std::sort(result.values.begin(), result.values.end());
  return result;
}

bool has_inverse(const Spectrum6& spectrum) {
  constexpr double rounding = 1e-6;
  double least = std::abs(spectrum.values[0]), largest = least;
  for (const double value : spectrum.values) {
    least = std::min(least, std::abs(value));
    largest = std::max(largest, std::abs(value));
  }
  return least > rounding * largest;
}

ElasticModuli moduli_of(const Matrix6& c, const Matrix6& s) {
  const auto sums = [](const Matrix6& m) {
    return std::array<double, 3>{m[0][0] + m[1][1] + m[2][2], m[0][1] + m[0][2] + m[1][2],
                                 m[3][3] + m[4][4] + m[5][5]};
  };
  const auto [a, b, d] = sums(c);
  const auto [sa, sb, sd] = sums(s);
  ElasticModuli m;
  m.bulk_voigt = (a + 2 * b) / 9;
  m.shear_voigt = (a - b + 3 * d) / 15;
  m.bulk_reuss = 1 / (sa + 2 * sb);
  m.shear_reuss = 15 / (4 * sa - 4 * sb + 3 * sd);
  m.bulk = (m.bulk_voigt + m.bulk_reuss) / 2;
  m.shear = (m.shear_voigt + m.shear_reuss) / 2;
  m.young = 9 * m.bulk * m.shear / (3 * m.bulk + m.shear);
  m.poisson = (3 * m.bulk - 2 * m.shear) / (2 * (3 * m.bulk + m.shear));
  m.anisotropy = 5 * m.shear_voigt / m.shear_reuss + m.bulk_voigt / m.bulk_reuss - 6;
  return m;
}

std::string symmetry_along_axes(const Matrix6& c, double tolerance) {
  double largest = 0;
  for (const auto& row : c)
    for (const double value : row) largest = std::max(largest, std::abs(value));
  const auto equal = [&](double x, double y) { return std::abs(x - y) <= tolerance * largest; };
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      if (i != j && (i > 2 || j > 2) && !equal(c[i][j], 0)) return "";
  const bool like_plane = equal(c[0][0], c[1][1]) && equal(c[0][2], c[1][2]) && equal(c[3][3], c[4][4]);
  if (!like_plane) return "";
  const bool turns = equal(c[5][5], (c[0][0] - c[0][1]) / 2);  // about z
  const bool like_axes = equal(c[0][0], c[2][2]) && equal(c[0][1], c[0][2]) && equal(c[3][3], c[5][5]);
  if (like_axes) return turns ? "isotropic" : "cubic";
  return turns ? "hexagonal" : "tetragonal";
}

}  // namespace quintet::dpmd
