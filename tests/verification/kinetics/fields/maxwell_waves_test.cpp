#include <complex>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/fields/maxwell.hpp"
#include "tests/support/field_space.hpp"

using namespace quintet;
using namespace quintet::kinetics;
using fields::FieldSpace;
using fields::Point;

namespace {

constexpr double pi = std::numbers::pi;
using Vector = std::vector<std::complex<double>>;

/// Maxwell's equations without sources, advanced by the classical Runge-Kutta method of order 4.
struct Evolution {
  FieldSpace space;
  Maxwell maxwell;
  ConfField field, start, sum, rate, current, charge;

  Evolution(const PhaseGrid& grid, int order, Family family, const MaxwellOptions& options)
      : space(Comm::self(), grid, order, family),
        maxwell(space.decomposition, grid, space.basis, options),
        field(space.make(8)),
        start(space.make(8)),
        sum(space.make(8)),
        rate(space.make(8)),
        current(space.make(3)),
        charge(space.make(1)) {}

  static void axpy(const ConfField& y, double a, const ConfField& x) {
    for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] += a * x.data()[i];
  }
  void step(double dt) {
    Kokkos::deep_copy(start, field);
    Kokkos::deep_copy(sum, field);
    const double weight[4] = {dt / 6, dt / 3, dt / 3, dt / 6}, to[4] = {dt / 2, dt / 2, dt, 0};
    for (int stage = 0; stage < 4; ++stage) {
      maxwell.rate(Exec(), field, current, charge, rate);
      axpy(sum, weight[stage], rate);
      Kokkos::deep_copy(field, start);
      axpy(field, to[stage], rate);
    }
    Kokkos::deep_copy(field, sum);
  }
  void advance(double time, double cfl) {
    const int n = std::ceil(time * maxwell.frequency() * (2 * space.basis.order() + 1) / cfl);
    for (int i = 0; i < n; ++i) step(time / n);
  }
  [[nodiscard]] double energy() const {
    double total = 0;
    for (const double q : maxwell.integrals(Exec(), field)) total += 0.5 * q;
    return total;
  }
};

/// Error after a quarter of a period of a plane wave along the diagonal of all directions, c = 1.
double wave_error(int dim, int n, int order, bool upwind, Family family) {
  auto grid = fields::make_grid(std::vector<int>(dim, n), std::vector<double>(dim, 1.0), true);
  MaxwellOptions options;
  options.upwind = upwind;
  Evolution run(grid, order, family, options);
  // k = 2 pi (1, 1): E along z, B = k x E/|k|
  const double omega = 2 * pi * std::sqrt(dim);
  const auto wave = [&](double time) {
    return [=](const Point& x) { return std::cos(2 * pi * (x[0] + (dim > 1 ? x[1] : 0)) - omega * time); };
  };
  run.space.project(wave(0), run.field, field_ez);
  run.space.project([&](const Point& x) { return (dim > 1 ? 1 / std::sqrt(2) : 0) * wave(0)(x); }, run.field,
                    field_bx);
  run.space.project([&](const Point& x) { return (dim > 1 ? -1 / std::sqrt(2) : -1) * wave(0)(x); },
                    run.field, field_by);
  const double time = 0.5 * pi / omega;
  run.advance(time, 0.3);
  return run.space.error(run.field, field_ez, wave(time));
}

void expect_order(int dim, int n, int order, bool upwind, Family family, double expected) {
  const double coarse = wave_error(dim, n, order, upwind, family);
  const double fine = wave_error(dim, 2 * n, order, upwind, family);
  EXPECT_GT(std::log2(coarse / fine), expected - 0.25)
      << dim << "-D, order " << order << (upwind ? ", upwind: " : ", central: ") << coarse << ", " << fine;
  EXPECT_LT(coarse, 0.25);
}

/// Solve a x = b in place by elimination with pivots, small and dense, a [n, n].
void solve(std::vector<Vector> a, Vector& b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = c + 1; r < n; ++r) {
      const auto factor = a[r][c] / a[c][c];
      for (std::size_t k = c; k < n; ++k) a[r][k] -= factor * a[c][k];
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t c = n; c-- > 0;) {
    for (std::size_t k = c + 1; k < n; ++k) b[c] -= a[c][k] * b[k];
    b[c] /= a[c][c];
  }
}

/// The eigenvalue of d/dt next to -i k of right-going waves exp(i k x) on n cells of [0, 1], k = 2 pi.
std::complex<double> eigenvalue(int order, int n, bool upwind) {
  auto grid = fields::make_grid({n}, {1.0}, true);
  MaxwellOptions options;
  options.upwind = upwind;
  Evolution run(grid, order, Family::serendipity, options);
  const std::size_t size = static_cast<std::size_t>(order) + 1;
  const std::complex<double> i{0, 1}, shift = -2 * pi * i;
  std::vector<Vector> matrix(size, Vector(size));  // of the modes in cell 0, the others following by phase
  for (std::size_t mode = 0; mode < size; ++mode)
    for (const bool imaginary : {false, true}) {
      Kokkos::deep_copy(run.field, 0.0);
      for (int cell = 0; cell < n; ++cell) {
        const double phase = 2 * pi * cell / n;
        run.field(cell, field_ey, mode) = imaginary ? std::sin(phase) : std::cos(phase);
        run.field(cell, field_bz, mode) = run.field(cell, field_ey, mode);
      }
      run.maxwell.rate(Exec(), run.field, run.current, run.charge, run.rate);
      for (std::size_t row = 0; row < size; ++row)
        matrix[row][mode] += (imaginary ? i : 1.0) * run.rate(0, field_ey, row);
    }
  // Rayleigh: inverse iteration with a fixed shift a little off the eigenvalue
  const auto shifted = shift * (1 + 1e-3);
  auto a = matrix;
  for (std::size_t row = 0; row < size; ++row) a[row][row] -= shifted;
  Vector x(size, 0.3);
  x[0] = 1;
  std::complex<double> growth;
  for (int pass = 0; pass < 200; ++pass) {
    solve(a, x);
    growth = x[0];
    for (auto& value : x) value /= growth;
  }
  std::complex<double> applied = 0;
  for (std::size_t k = 0; k < size; ++k) applied += matrix[0][k] * x[k];
  return applied;
}

std::optional<std::string> shared_file(const std::string& name) {
  const char* root = std::getenv("QUINTET_SOURCE_DIR");
  const auto path = std::filesystem::path(root ? root : ".") / ".." / "shared" / "data" / "kinetics" / name;
  if (std::filesystem::exists(path)) return path.string();
  return std::nullopt;
}

}  // namespace

TEST(MaxwellWaves, upwind_converges_with_order_p_plus_1) {
  for (int order = 1; order <= 3; ++order) expect_order(1, 8, order, true, Family::serendipity, order + 1);
  for (const auto family : {Family::serendipity, Family::tensor}) {
    expect_order(2, 8, 1, true, family, 2);
    expect_order(2, 8, 2, true, family, 3);
  }
  expect_order(2, 4, 3, true, Family::tensor, 4);
}

TEST(MaxwellWaves, central_converges_with_order_p_plus_1_for_even_p_and_p_for_odd) {
  for (int order = 1; order <= 3; ++order)
    expect_order(1, 8, order, false, Family::serendipity, order % 2 == 0 ? order + 1 : order);
  for (const auto family : {Family::serendipity, Family::tensor}) {
    expect_order(2, 8, 1, false, family, 1);
    expect_order(2, 8, 2, false, family, 3);
  }
}

TEST(MaxwellWaves, phase_and_damping_are_those_of_the_dg_dispersion_relation) {
  const auto path = shared_file("dg_dispersion.json");
  if (!path) GTEST_SKIP() << "../shared/data/kinetics/dg_dispersion.json is not there";
  const auto table = read_yaml(*path);
  int n_compared = 0;
  for (const bool upwind : {true, false})
    for (int order = 1; order <= 3; ++order)
      for (const int n : {4, 8, 16, 32}) {
        const auto* entry = table.find((upwind ? "upwind p" : "central p") + std::to_string(order) +
                                       " cells/wavelength=" + std::to_string(n));
        if (!entry) continue;
        ++n_compared;
        const double phase = entry->at("rel_phase_error").as_number();
        const double damping = entry->at("damping_over_ck").as_number();
        const auto omega = std::complex<double>(0, 1) * eigenvalue(order, n, upwind) / (2 * pi);
        EXPECT_NEAR(omega.real() - 1, phase, 1e-6 * std::abs(phase) + 2e-14) << upwind << order << n;
        EXPECT_NEAR(omega.imag(), damping, 1e-6 * std::abs(damping) + 2e-14) << upwind << order << n;
      }
  EXPECT_GE(n_compared, 18);
}

TEST(MaxwellWaves, phase_is_superconvergent) {
  // Upwind: 2p + 2 in the phase, 2p + 1 in the damping; central: 2 for p = 1, 6 for p = 2.
  const auto error = [](int order, int n, bool upwind) {
    return std::complex<double>(0, 1) * eigenvalue(order, n, upwind) / (2 * pi) - 1.0;
  };
  for (int order = 1; order <= 2; ++order) {
    const auto coarse = error(order, 8, true), fine = error(order, 16, true);
    EXPECT_NEAR(std::log2(coarse.real() / fine.real()), 2 * order + 2, 0.2);
    EXPECT_NEAR(std::log2(coarse.imag() / fine.imag()), 2 * order + 1, 0.2);
    const auto central = error(order, 8, false), finer = error(order, 16, false);
    EXPECT_NEAR(std::log2(central.real() / finer.real()), order == 1 ? 2 : 6, 0.2);
    EXPECT_NEAR(finer.imag(), 0, 1e-14);
  }
}

TEST(MaxwellWaves, a_conductor_turns_a_pulse_round_and_keeps_its_energy) {
  auto grid = fields::make_grid({40}, {1.0}, false);
  for (const bool upwind : {false, true}) {
    MaxwellOptions options;
    options.upwind = upwind;
    options.boundary[0] = {FieldBoundary::conductor, FieldBoundary::conductor};
    Evolution run(grid, 2, Family::serendipity, options);
    const auto pulse = [](const Point& x) { return std::exp(-std::pow((x[0] - 0.5) / 0.1, 2)); };
    run.space.project(pulse, run.field, field_ey);
    run.space.project(pulse, run.field, field_bz);
    const double before = run.energy();

    run.advance(1, 0.15);  // to the wall and back

    // E_y has changed its sign, B_z has not: it runs the other way
    EXPECT_LT(run.space.error(run.field, field_ey, [&](const Point& x) { return -pulse(x); }), 2e-4);
    EXPECT_LT(run.space.error(run.field, field_bz, pulse), 2e-4);
    EXPECT_NEAR(run.energy(), before, (upwind ? 1e-4 : 1e-9) * before);
  }
}

TEST(MaxwellWaves, a_pulse_leaves_through_an_open_end) {
  auto grid = fields::make_grid({40}, {1.0}, false);
  for (const auto boundary : {FieldBoundary::open, FieldBoundary::fixed})
    for (const bool upwind : {false, true}) {
      MaxwellOptions options;
      options.upwind = upwind;
      options.boundary[0] = {boundary, boundary};
      Evolution run(grid, 2, Family::serendipity, options);
      const auto pulse = [](const Point& x) { return std::exp(-std::pow((x[0] - 0.5) / 0.1, 2)); };
      run.maxwell.hold_boundary(Exec(), run.field);  // nothing
      run.space.project(pulse, run.field, field_ey);
      run.space.project(pulse, run.field, field_bz);
      const double before = run.energy();

      run.advance(1.5, 0.3);

      EXPECT_LT(run.energy(), (upwind ? 1e-7 : 1e-5) * before);
    }
}

TEST(MaxwellWaves, cleaning_carries_false_divergence_away) {
  auto grid = fields::make_grid({16, 16}, {1.0, 1.0}, false);
  const auto blob = [](const Point& x) {
    return std::exp(-(std::pow(x[0] - 0.5, 2) + std::pow(x[1] - 0.5, 2)) / 0.02);
  };
  for (const int first : {static_cast<int>(field_ex), static_cast<int>(field_bx)}) {
    double left[2];  // of the curl-free field, without and with cleaning
    for (const bool cleaning : {false, true}) {
      MaxwellOptions options;
      options.upwind = true;
      options.electric_cleaning = options.magnetic_cleaning = cleaning ? 1 : 0;
      for (auto& ends : options.boundary) ends = {FieldBoundary::open, FieldBoundary::open};
      Evolution run(grid, 1, Family::serendipity, options);
      for (int d = 0; d < 2; ++d)  // the gradient of a blob: nothing but divergence
        run.space.project([&](const Point& x) { return -100 * (x[d] - 0.5) * blob(x); }, run.field,
                          first + d);
      const double before = run.energy();
      run.advance(1.5, 0.5);
      left[cleaning] = run.energy() / before;
    }
    EXPECT_GT(left[0], 0.8);
    EXPECT_LT(left[1], 0.02);
  }
}

TEST(MaxwellWaves, damped_cleaning_ends_errors_in_a_periodic_box) {
  // E = cos(k x) without charge is all error. Undamped it goes round for ever; critically damped it falls as
  // (1 + c k t) exp(-c k t), also of what is short, whatever the flux.
  for (const bool upwind : {false, true})
    for (const int wave : {1, 3}) {
      double left[2];
      for (const int damping : {0, 2}) {
        MaxwellOptions options;
        options.electric_cleaning = 1;
        options.cleaning_damping = damping;
        options.upwind = upwind;
        options.upwind_cleaning = false;
        Evolution run(fields::make_grid({12}, {2 * pi}, true), 2, Family::serendipity, options);
        run.space.project([&](const Point& x) { return std::cos(wave * x[0]); }, run.field, field_ex);
        const double before = run.energy();
        run.advance(2 * pi, 0.5);
        left[damping / 2] = run.energy() / before;
      }
      EXPECT_NEAR(left[0], 1, 1e-2) << upwind << wave;
      EXPECT_LT(left[1], 2e-4) << upwind << wave;
    }
}

TEST(MaxwellWaves, damping_takes_nothing_from_light) {
  MaxwellOptions options;
  options.electric_cleaning = options.magnetic_cleaning = 1;
  options.cleaning_damping = 2;
  Evolution run(fields::make_grid({8, 6}, {1, 2}, true), 2, Family::serendipity, options);
  run.space.project([](const Point& x) { return std::sin(2 * pi * x[0]); }, run.field, field_ey);
  run.space.project([](const Point& x) { return std::sin(2 * pi * x[0]); }, run.field, field_bz);
  const double before = run.energy();
  run.advance(1, 0.5);
  EXPECT_NEAR(run.energy() / before, 1, 1e-5);
}
