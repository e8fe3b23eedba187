#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/electronic/functions/occupation.hpp"
#include "physics/electronic/matrix/diagonalise.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;

constexpr double ev = 1 / 27.211386245988;

/// S^-1/2 K S^-1/2 of a ring with hopping t1 and t2 in turn and overlap s1 and s2 (hartree).
Dense polyene(int n, double t1, double t2, double s1, double s2) {
  Dense k(n), s(n);
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    k(i, j) = k(j, i) = i % 2 == 0 ? t1 : t2;
    s(i, j) = s(j, i) = i % 2 == 0 ? s1 : s2;
    s(i, i) = 1;
  }
  const Dense z = function_of(diagonalise(s), [](double x) { return 1 / std::sqrt(x); });
  Dense a = z * k * z;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) a(i, j) = a(j, i) = std::abs(a(i, j)) < 1e-12 ? 0 : a(j, i);
  return a;
}

/// A honeycomb torus, +-m on its two kinds of sites.
Dense honeycomb(int nx, int ny, double t, double m) {
  Dense a(2 * nx * ny);
  const auto site = [=](int x, int y, int kind) { return 2 * ((y + ny) % ny * nx + (x + nx) % nx) + kind; };
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      const int p = site(x, y, 0);
      a(p, p) = m;
      a(site(x, y, 1), site(x, y, 1)) = -m;
      for (const int q : {site(x, y, 1), site(x - 1, y, 1), site(x, y - 1, 1)}) a(p, q) = a(q, p) = t;
    }
  return a;
}

/// A chain whose bonds alternate the more the further one goes: its columns' errors differ by decades.
Dense uneven_chain(int n) {
  Dense a(n);
  for (int i = 0; i + 1 < n; ++i)
    a(i, i + 1) = a(i + 1, i) = i % 2 == 0 ? -3.0 * ev : -(2.6 - 1.6 * i / n) * ev;
  return a;
}

struct Model {
  const char* name;
  Dense a;
  int block;
  double threshold;
  double mu = 0;
  double temperature = 0;
};

class Truncation : public ::testing::TestWithParam<Model> {};

/// The estimates against the truth: within a factor of three where the truth is above rounding.
TEST_P(Truncation, errors_are_estimated_within_a_factor_of_three) {
  const Model& model = GetParam();
  const auto a = distribute(Comm::world(), model.a,
                            std::make_shared<const Blocking>(uniform_blocking(model.a.n, model.block)));
  const auto eigen = diagonalise(model.a);
  const Occupation f{model.mu, model.temperature, 0};
  const Dense exact = function_of(eigen, f);
  const double n_exact = trace(exact), energy_exact = trace(exact * model.a);
  for (const bool fixed_pairs : {false, true}) {
    SubmatrixOptions options;
    options.threshold = model.threshold;
    options.temperature = model.temperature;
    options.estimate_error = true;
    (fixed_pairs ? options.n_pairs : options.mu) = fixed_pairs ? n_exact : model.mu;

    const auto result = evaluate_submatrices(a, options);

    const Dense p = collect(result.p);
    double squares = 0;
    for (std::size_t i = 0; i < p.value.size(); ++i) squares += std::pow(p.value[i] - exact.value[i], 2);
    const double energy = std::abs(trace(p * model.a) - energy_exact), distance = std::sqrt(squares);
    EXPECT_GT(result.error.n_columns, 0);
    EXPECT_LT(energy, 3 * result.error.energy.size() + 1e-9);
    EXPECT_LT(result.error.energy.size(), 3 * energy + 1e-9);
    EXPECT_LT(distance, 3 * result.error.p + 1e-7);
    EXPECT_LT(result.error.p, 3 * distance + 1e-7);
    if (fixed_pairs) {
      EXPECT_NEAR(result.n_pairs, n_exact, 1e-8);
    }
    EXPECT_LT(std::abs(result.n_pairs - result.n_pairs_put - n_exact), 3 * result.error.n_pairs + 1e-6);
    if (fixed_pairs && model.temperature > 0) {
      EXPECT_LT(std::abs(result.mu - model.mu), 3 * result.error.mu + 1e-9);
      EXPECT_LT(result.error.mu, 3 * std::abs(result.mu - model.mu) + 1e-9);
    } else {
      EXPECT_EQ(result.error.mu, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Truncation,
    ::testing::Values(Model{"boron_nitride", honeycomb(8, 12, -2.3 * ev, 2.2 * ev), 16, 1e-6},
                      Model{"boron_nitride_wider", honeycomb(8, 12, -2.3 * ev, 2.2 * ev), 32, 1e-6},
                      Model{"pairs", polyene(240, -1.5 * ev, -1.0 * ev, 0, 0), 10, 1e-6},
                      Model{"polyene", polyene(240, -3.2 * ev, -2.6 * ev, 0.1, 0.08), 20, 1e-6, 0.01},
                      Model{"polyene_narrow", polyene(240, -3.2 * ev, -2.6 * ev, 0.1, 0.08), 6, 1e-3, 0.01},
                      Model{"metal", polyene(240, -2.5 * ev, -2.5 * ev, 0, 0), 20, 1e-6, 0.03, 0.0095},
                      Model{"metal_cold", polyene(240, -2.5 * ev, -2.5 * ev, 0, 0), 20, 1e-6, 0.03, 0.003},
                      Model{"metal_cold_narrow", polyene(240, -2.5 * ev, -2.5 * ev, 0.1, 0.1), 6, 1e-4, 0.01,
                            0.002},
                      Model{"uneven", uneven_chain(240), 6, 1e-3, 0.01},
                      Model{"molecules", ring(60, {3, 1, 6, 2}, 0.06, 0.8).a, 3, 3e-3},
                      Model{"molecules_finer", ring(60, {3, 1, 6, 2}, 0.06, 0.8).a, 3, 3e-4},
                      Model{"whole", ring(12, {3, 1, 6, 2}, 0.06, 0.8).a, 3, 0}),
    [](const auto& info) { return std::string(info.param.name); });

/// Pairs of a ring at zero temperature: what cuts into a band.
class Filling : public ::testing::Test {
 protected:
  const Dense matrix =
      polyene(120, -0.12, -0.06, 0, 0);  // 60 levels below a gap of 0.12, degenerate in pairs
  /// All on one rank; several ranks have to agree on a refusal, which the first one shows.
  static std::vector<double> some_of(std::vector<double> all) {
    if (Comm::world().size() > 1) all.resize(1);
    return all;
  }
  [[nodiscard]] SubmatrixResult filled(const Dense& a, int block, double n_pairs,
                                       SubmatrixKernel kernel = SubmatrixKernel::automatic) const {
    SubmatrixOptions options;
    options.threshold = 1e-9;
    options.n_pairs = n_pairs;
    options.kernel = kernel;
    return evaluate_submatrices(
        distribute(Comm::world(), a, std::make_shared<const Blocking>(uniform_blocking(a.n, block))),
        options);
  }
};

TEST_F(Filling, at_the_gap_is_done) {
  for (const auto kernel :
       {SubmatrixKernel::automatic, SubmatrixKernel::polynomial, SubmatrixKernel::eigen}) {
    const auto result = filled(matrix, 20, 60, kernel);

    EXPECT_NEAR(result.n_pairs, 60, 1e-8);
    EXPECT_NEAR(result.mu, 0, 0.05);
    EXPECT_GT(result.lumo - result.homo, 0.1);
  }
}

TEST_F(Filling, inside_a_band_is_refused_and_the_gap_is_named) {
  for (const auto kernel : {SubmatrixKernel::automatic, SubmatrixKernel::polynomial, SubmatrixKernel::eigen})
    for (const double n : some_of({56.0, 57.0, 62.0})) try {
        static_cast<void>(filled(matrix, 20, n, kernel));
        ADD_FAILURE() << n << " pairs were taken";
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("cut into a band"), std::string::npos) << error.what();
        const bool by_levels = kernel != SubmatrixKernel::polynomial;
        EXPECT_NE(std::string(error.what())
                      .find(by_levels ? "the nearest number with a gap is 60" : "the eigen kernel names"),
                  std::string::npos)
            << error.what();
      }
}

/// The whole matrix has the levels of a ring in pairs: none may be filled by half, by no kernel and no dense
/// way.
TEST_F(Filling, of_a_part_of_equal_levels_is_refused_on_all_ways) {
  for (const auto kernel : {SubmatrixKernel::automatic, SubmatrixKernel::polynomial, SubmatrixKernel::eigen})
    for (const double n : some_of({58.0, 56.0, 62.0}))
      EXPECT_THROW(static_cast<void>(filled(matrix, 120, n, kernel)), InputError) << n;
  const std::vector<double> level = diagonalise(matrix).value;
  for (const double n : {58.0, 56.0, 62.0})
    EXPECT_THROW(static_cast<void>(fill(level, {}, n, 0)), InputError);
  for (const double n : {57.0, 55.0})
    EXPECT_NEAR(filled(matrix, 120, n, SubmatrixKernel::eigen).mu, fill(level, {}, n, 0).mu, 1e-8) << n;
}

TEST_F(Filling, of_whole_matrices_is_exact_inside_a_band) {
  Dense uneven = matrix;
  for (int i = 0; i < uneven.n; ++i) uneven(i, i) += 0.01 * noise(i, i);  // no level is degenerate
  const auto eigen = diagonalise(uneven);
  for (const int n : {55, 59, 60, 61}) {
    const double mu = 0.5 * (eigen.value[static_cast<std::size_t>(n) - 1] + eigen.value[n]);
    const Dense exact = function_of(eigen, [=](double x) { return x < mu ? 1.0 : 0.0; });

    const auto result = filled(uneven, 120, n);

    EXPECT_LT(largest_difference(collect(result.p), exact), 1e-7) << n;
    EXPECT_NEAR(result.n_pairs, n, 1e-8);
    EXPECT_NEAR(result.lumo - result.homo, eigen.value[n] - eigen.value[static_cast<std::size_t>(n) - 1],
                1e-8);
  }
}

}  // namespace
}  // namespace quintet::electronic
