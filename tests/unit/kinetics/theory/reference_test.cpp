#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "physics/kinetics/theory/growth_fit.hpp"
#include "physics/kinetics/theory/theory.hpp"
#include "tests/support/dg_dispersion.hpp"
#include "tests/support/inflate.hpp"
#include "tests/support/kinetics_reference.hpp"
#include "tests/support/plasma_theory.hpp"

/// Theory and fits against the tables and the other code's series in ../shared.
namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;

/// The map under the first key that begins so.
const Tree& table(const Tree& document, const char* begin) {
  for (const auto& [key, value] : document.entries())
    if (key.starts_with(begin)) return value;
  throw std::runtime_error(std::string("no table ") + begin);
}

class TheoryTables : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!reference_here("theory.json")) GTEST_SKIP() << reference_absent("theory.json");
    document_ = reference_json("theory.json");
  }
  Tree document_;
};

TEST_F(TheoryTables, landau) {
  for (const auto& [key, value] : table(document_, "Landau damping").entries()) {
    const Complex root = landau_mode(std::stod(key));
    EXPECT_NEAR(root.real(), value.items()[0].as_number(), 2e-14) << key;
    EXPECT_NEAR(root.imag(), value.items()[1].as_number(), 2e-14) << key;
  }
}

TEST_F(TheoryTables, two_stream) {
  for (const auto& [key, value] : table(document_, "two-stream").entries()) {
    double k = 0, u = 0, vt = 0;
    ASSERT_EQ(std::sscanf(key.c_str(), "k=%lf,u0=%lf,vt=%lf", &k, &u, &vt), 3);
    EXPECT_NEAR(two_stream_mode(k, u, vt).imag(), value.at("gamma").as_number(), 1e-13) << key;
    EXPECT_NEAR(two_stream_mode(k, u, 0).imag(), value.at("gamma_cold").as_number(), 1e-13) << key;
  }
}

TEST_F(TheoryTables, weibel) {
  for (const auto& [key, value] : table(document_, "Weibel/filamentation").entries()) {
    double k = 0, u = 0, vt = 0;
    ASSERT_EQ(std::sscanf(key.c_str(), "k=%lf,u=%lf,vt=%lf", &k, &u, &vt), 3);
    const auto rate = [&](double vth) {
      return weibel_rate(k, 1, std::array{TransverseMaxwellian{1, vth, u * u + vth * vth}});
    };
    EXPECT_NEAR(rate(vt), value.at("gamma").as_number(), 1e-13) << key;
    EXPECT_NEAR(rate(0), value.at("gamma_cold").as_number(), 1e-13) << key;
  }
  const double vth = 0.02 / std::numbers::sqrt2;
  EXPECT_NEAR(weibel_rate(1.25, 1, std::array{TransverseMaxwellian{1, vth, 12 * vth * vth}}),
              table(document_, "Weibel bi-Maxwellian").at("gamma").as_number(), 1e-13);
}

TEST_F(TheoryTables, collisional_landau) {
  for (const auto& [key, value] : table(document_, "collisional Landau").entries()) {
    double k = 0, nu = 0;
    ASSERT_EQ(std::sscanf(key.c_str(), "k=%lf,nu=%lf", &k, &nu), 2);
    const auto kind = key.find("plain") != std::string::npos ? CollisionInvariants::density
                                                             : CollisionInvariants::density_momentum_energy;
    const Complex root = collisional_landau_mode(k, nu, kind);
    EXPECT_NEAR(root.real(), value.items()[0].as_number(), 2e-13) << key;
    EXPECT_NEAR(root.imag(), value.items()[1].as_number(), 2e-13) << key;
  }
}

TEST(DgDispersion, converges_at_the_orders_of_theory) {
  for (const int p : {1, 2, 3}) {
    const auto coarse = dg_dispersion(p, 8, false), fine = dg_dispersion(p, 16, false);
    EXPECT_NEAR(std::log2(coarse.phase_error / fine.phase_error), 2 * p + 2, 0.2) << p;
    EXPECT_NEAR(std::log2(coarse.damping / fine.damping), 2 * p + 1, 0.1) << p;
    const auto central = dg_dispersion(p, 8, true), central_fine = dg_dispersion(p, 16, true);
    EXPECT_NEAR(std::log2(central.phase_error / central_fine.phase_error), p == 1 ? 2 : 6, 0.2) << p;
    EXPECT_NEAR(central.damping, 0, 1e-14);
  }
}

TEST(DgDispersion, has_the_tabled_values) {
  if (!reference_here("dg_dispersion.json")) GTEST_SKIP() << reference_absent("dg_dispersion.json");
  const Tree document = reference_json("dg_dispersion.json");
  for (const auto& [key, value] : document.entries()) {
    char flux[16];
    int p = 0, cells = 0;
    ASSERT_EQ(std::sscanf(key.c_str(), "%15s p%d cells/wavelength=%d", flux, &p, &cells), 3);
    const auto errors = dg_dispersion(p, cells, std::string(flux) == "central");
    EXPECT_NEAR(errors.phase_error, value.at("rel_phase_error").as_number(), 2e-14) << key;
    EXPECT_NEAR(errors.damping, value.at("damping_over_ck").as_number(), 2e-14) << key;
  }
}

TEST(ReferenceSeries, landau_fit_is_that_of_the_table) {
  const std::string name = "landau_vp_1x1v_p2.";
  if (!reference_here(name + "csv")) GTEST_SKIP() << reference_absent(name + "csv");
  const CsvTable series = reference_csv(name + "csv");
  const Tree known = reference_json(name + "json").at("derived");

  const auto fit = fit_damped_oscillation(series["t"], series["int_Ex2"], Window{4, 24});
  const auto by_itself = fit_damped_oscillation(series["t"], series["int_Ex2"]);

  ASSERT_TRUE(fit && by_itself);
  EXPECT_EQ(fit.n_maxima, known.at("npeaks").as_integer());
  EXPECT_NEAR(fit.omega, known.at("fit_omega").as_number(), 3e-5);
  EXPECT_NEAR(fit.gamma, known.at("fit_gamma").as_number(), 3e-5);
  EXPECT_NEAR(by_itself.omega, 1.41566, 2e-3);
  EXPECT_NEAR(by_itself.gamma, -0.153359, 1e-3);
}

TEST(ReferenceSeries, two_stream_fit_is_that_of_the_table) {
  const std::string name = "twostream_vm_1x1v_p2.";
  if (!reference_here(name + "csv")) GTEST_SKIP() << reference_absent(name + "csv");
  const CsvTable series = reference_csv(name + "csv");
  const Tree known = reference_json(name + "json").at("derived");

  const auto fit = fit_growth(series["t"], series["int_Ex2"], Window{15, 25});
  const auto by_itself = fit_growth(series["t"], series["int_Ex2"]);

  ASSERT_TRUE(fit && by_itself);
  EXPECT_NEAR(fit.rate, known.at("fit_gamma(t=15..25)").as_number(), 5e-5);  // over every fifth step only
  EXPECT_NEAR(by_itself.rate, 0.3199435, 0.01 * 0.32);
}

/// Sums over the modes of an archive are the columns of the series: M0 by the cell means c_0/sqrt(2), L2 =
/// sum c^2 dx dv/4.
void expect_archive(const std::string& name, std::size_t n_arrays, const std::vector<std::string>& species) {
  if (!reference_here(name + "_dg_coeffs.npz")) GTEST_SKIP() << reference_absent(name + "_dg_coeffs.npz");
  const auto arrays = reference_npz(name + "_dg_coeffs.npz");
  const auto series = reference_csv(name + ".csv");
  const Tree parameters = reference_json(name + ".json");
  const auto extent = [&](const std::string& key) {
    return parameters.at(key).items()[1].as_number() - parameters.at(key).items()[0].as_number();
  };
  const std::size_t nx = parameters.at("Nx").as_integer();
  const std::size_t nv = parameters.at("Nv").as_integer();
  const double dx = extent("x") / nx, dv = extent("v") / nv;
  EXPECT_EQ(arrays.size(), n_arrays);
  for (const auto& s : species) {
    const auto &m0 = arrays.at(s + "_M0_frame0"), &f = arrays.at(s + "_f_frame0");
    ASSERT_EQ(m0.shape, (std::vector<std::size_t>{nx, 3}));
    ASSERT_EQ(f.shape, (std::vector<std::size_t>{nx, nv, 8}));
    double particles = 0, from_f = 0, square = 0;
    for (std::size_t i = 0; i < nx; ++i) particles += m0.at(i, 0) / std::numbers::sqrt2 * dx;
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t j = 0; j < nv; ++j) from_f += f.at(i, j, 0) / 2 * dx * dv;
    for (const double c : f.values) square += c * c * dx * dv / 4;
    EXPECT_NEAR(particles, series[s + "_M0"][0], 1e-12);
    EXPECT_NEAR(from_f, series[s + "_M0"][0], 1e-12);
    EXPECT_NEAR(square, series[s + "_L2"][0], 1e-12);
  }
}

TEST(ReferenceArchive, landau_belongs_to_its_series) { expect_archive("landau_vp_1x1v_p2", 22, {"elc"}); }
TEST(ReferenceArchive, two_stream_belongs_to_its_series) {
  expect_archive("twostream_vm_1x1v_p2", 22, {"elc"});
}
TEST(ReferenceArchive, relaxation_belongs_to_its_series) {
  expect_archive("lbo_relax_1x1v_p2", 34, {"square", "bump"});
}

/// "quintet" three times and a stored block, packed with Python's zlib.
TEST(Inflate, unpacks_each_kind_of_block) {
  using namespace std::string_literals;
  EXPECT_EQ(inflate("\x01\x03\x00\xfc\xff\x61\x62\x63"s), "abc");
  EXPECT_EQ(inflate("\x2b\x2c\xcd\xcc\x2b\x49\x2d\x29\x44\xa1\x00"s), "quintetquintetquintet");
  EXPECT_THROW((void)inflate("\x07"s), std::runtime_error);
  EXPECT_THROW((void)inflate("\x01\x03"s), std::runtime_error);
}

}  // namespace
}  // namespace quintet::kinetics
