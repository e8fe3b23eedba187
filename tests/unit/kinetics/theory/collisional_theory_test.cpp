#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "physics/kinetics/theory/growth_fit.hpp"
#include "physics/kinetics/theory/theory.hpp"

/// The second way to collisional Landau damping, with Lenard-Bernstein and BGK collisions: f1 on a grid of
/// velocities, by differences of sixth order, in time.
namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;
enum class Kind { plain, conserving, bgk };

Complex theory_of(double k, double nu, Kind kind, int dimensions) {
  if (kind == Kind::bgk) return bgk_landau_mode(k, nu, dimensions);
  return collisional_landau_mode(
      k, nu,
      kind == Kind::plain ? CollisionInvariants::density : CollisionInvariants::density_momentum_energy,
      dimensions);
}

/// f1(v_x, v_y) exp(i k x) about a Maxwellian f0 of unit density, thermal speed and plasma frequency, on nx
/// by ny points of [-7, 7]^2 (ny = 1: 1-D).
class LinearVlasov {
 public:
  LinearVlasov(double k, double nu, Kind kind, int ny) : k_(k), nu_(nu), kind_(kind), ny_(ny) {
    for (int i = 0; i < nx; ++i)
      for (int j = 0; j < ny; ++j) f0_.push_back(maxwellian(vx(i)) * (ny > 1 ? maxwellian(vy(j)) : 1));
  }

  /// |E|^2 at times 0, dt, ... of the perturbation f1 = f0 at t = 0.
  std::vector<double> field_energy(double dt, int n_steps) const {
    std::vector<Complex> f(f0_.begin(), f0_.end());
    std::vector<double> energy;
    for (int n = 0; n < n_steps; ++n) {
      energy.push_back(std::norm(moments(f)[0] / k_));
      auto stage = f;  // classical Runge-Kutta, f linear: Horner's rule of exp
      for (const double part : {1.0 / 4, 1.0 / 3, 1.0 / 2, 1.0}) {
        const auto rate = right_hand_side(stage);
        for (std::size_t i = 0; i < f.size(); ++i) stage[i] = f[i] + part * dt * rate[i];
      }
      f = stage;
    }
    return energy;
  }

 private:
  static constexpr int nx = 121;
  static double maxwellian(double v) { return std::exp(-0.5 * v * v) / std::sqrt(2 * std::numbers::pi); }
  static double vx(int i) { return -7 + 14.0 * i / (nx - 1); }
  [[nodiscard]] double vy(int j) const { return ny_ > 1 ? -7 + 14.0 * j / (ny_ - 1) : 0; }
  [[nodiscard]] double cell() const { return 14.0 / (nx - 1) * (ny_ > 1 ? 14.0 / (ny_ - 1) : 1); }

  /// n, n u_x, int v^2 f1 (over all directions).
  [[nodiscard]] std::array<Complex, 3> moments(const std::vector<Complex>& f) const {
    std::array<Complex, 3> m{};
    for (int i = 0; i < nx; ++i)
      for (int j = 0; j < ny_; ++j) {
        const Complex share = f[i * ny_ + j] * cell();
        m[0] += share;
        m[1] += share * vx(i);
        m[2] += share * (vx(i) * vx(i) + vy(j) * vy(j));
      }
    return m;
  }

  /// d(v f + df/dv)/dv along one direction: n points `stride` apart.
  static Complex lenard_bernstein(const std::vector<Complex>& f, int at, int i, int n, int stride, double v) {
    const double h = 14.0 / (n - 1);
    const auto value = [&](int m) { return i + m < 0 || i + m >= n ? Complex(0) : f[at + m * stride]; };
    const Complex slope =
        (45.0 * (value(1) - value(-1)) - 9.0 * (value(2) - value(-2)) + value(3) - value(-3)) / (60 * h);
    const Complex curvature = (270.0 * (value(1) + value(-1)) - 27.0 * (value(2) + value(-2)) +
                               2.0 * (value(3) + value(-3)) - 490.0 * value(0)) /
                              (180 * h * h);
    return value(0) + v * slope + curvature;
  }

  /// f1' = -i k v f1 - E v f0 + nu C, i k E = -n; C = plain operator + (u v + dT (v^2 - D)) f0, or (n + u v +
  /// dT (v^2 - D)/2) f0 - f1 for BGK.
  [[nodiscard]] std::vector<Complex> right_hand_side(const std::vector<Complex>& f) const {
    const auto m = moments(f);
    const double d = ny_ > 1 ? 2 : 1;
    const Complex e = Complex(0, 1) * m[0] / k_, du = kind_ == Kind::plain ? 0 : m[1],
                  dt = kind_ == Kind::plain ? 0 : (m[2] - d * m[0]) / d;
    std::vector<Complex> rate(f.size());
    for (int i = 0; i < nx; ++i)
      for (int j = 0; j < ny_; ++j) {
        const int at = i * ny_ + j;
        const std::size_t n = at;
        const double x = vx(i), y = vy(j);
        const double energy = x * x + y * y - d;
        Complex collisions = (m[0] + du * x + 0.5 * dt * energy) * f0_[n] - f[n];
        if (kind_ != Kind::bgk) {
          collisions = (du * x + dt * energy) * f0_[n] + lenard_bernstein(f, at, i, nx, ny_, x);
          if (ny_ > 1) collisions += lenard_bernstein(f, at, j, ny_, 1, y);
        }
        rate[n] = -Complex(0, 1) * k_ * x * f[n] - e * x * f0_[n] + nu_ * collisions;
      }
    return rate;
  }

  double k_, nu_;
  Kind kind_;
  int ny_;
  std::vector<double> f0_;
};

void expect_agreement(double k, double nu, Kind kind, int ny) {
  const double dt = 0.02, begin = 9;
  const auto energy = LinearVlasov(k, nu, kind, ny).field_energy(dt, ny > 1 ? 1000 : 1600);
  std::vector<double> t;
  for (std::size_t i = 0; i < energy.size(); ++i) t.push_back(dt * i);
  const Complex theory = theory_of(k, nu, kind, ny > 1 ? 2 : 1);

  const auto fit = fit_damped_oscillation(t, energy, Window{begin, t.back()});

  ASSERT_TRUE(fit) << fit.reason;
  EXPECT_NEAR(fit.omega, theory.real(), 1e-3) << "nu = " << nu;
  EXPECT_NEAR(fit.gamma, theory.imag(), 5e-4) << "nu = " << nu;
}

TEST(CollisionalLandau, agrees_with_the_initial_value_problem_1v) {
  for (const double nu : {0.05, 0.2})
    for (const Kind kind : {Kind::plain, Kind::conserving, Kind::bgk}) expect_agreement(0.5, nu, kind, 1);
}
TEST(CollisionalLandau, agrees_with_the_initial_value_problem_2v) {
  expect_agreement(0.5, 0.2, Kind::conserving, 51);
  expect_agreement(0.5, 0.2, Kind::bgk, 51);
}

TEST(CollisionalLandau, has_the_tabled_roots) {
  constexpr auto conserving = Kind::conserving, density = Kind::plain;
  const struct {
    double k, nu, omega, gamma;
    Kind kind;
  } table[] = {{0.5, 0.05, 1.401251, -0.124314, conserving}, {0.5, 0.1, 1.388729, -0.105369, conserving},
               {0.5, 0.2, 1.370266, -0.082273, conserving},  {0.5, 0.05, 1.389299, -0.181898, density},
               {0.5, 0.1, 1.364254, -0.210741, density},     {0.5, 0.2, 1.317904, -0.268143, density},
               {0.3, 0.05, 1.151114, -0.013502, conserving}, {0.3, 0.1, 1.145733, -0.013599, conserving},
               {0.3, 0.2, 1.139338, -0.012752, conserving}};
  for (const auto& row : table) {
    const Complex root = theory_of(row.k, row.nu, row.kind, 1);
    EXPECT_NEAR(root.real(), row.omega, 6e-7) << row.k << " " << row.nu;
    EXPECT_NEAR(root.imag(), row.gamma, 6e-7) << row.k << " " << row.nu;
  }
}

TEST(CollisionalLandau, tends_to_landau_without_collisions) {
  const Complex landau = landau_mode(0.5);
  for (const Kind kind : {Kind::plain, Kind::conserving, Kind::bgk})
    for (const int d : {1, 2, 3}) {
      EXPECT_EQ(theory_of(0.5, 0, kind, d), landau);
      const Complex first = theory_of(0.5, 1e-4, kind, d) - landau,
                    second = theory_of(0.5, 2e-4, kind, d) - landau;
      EXPECT_LT(std::abs(first), 3e-4);
      EXPECT_LT(std::abs(second - 2.0 * first), 1e-2 * std::abs(first)) << "linear in nu";
    }
}

/// Many collisions make a gas: omega^2 = omega_p^2 + gamma k^2 vth^2 with gamma = (d + 2)/d, less and less
/// damped.
TEST(CollisionalLandau, tends_to_a_sound_wave_of_the_gas) {
  for (const Kind kind : {Kind::conserving, Kind::bgk})
    for (const int d : {1, 2, 3}) {
      const double k = 0.3, sound = std::sqrt(1 + (d + 2.0) / d * k * k);
      EXPECT_LT(std::abs(theory_of(k, 20, kind, d) - sound), 8e-3) << d;
      EXPECT_LT(theory_of(k, 20, kind, d).imag(), 0) << d;
    }
}

}  // namespace
}  // namespace quintet::kinetics
