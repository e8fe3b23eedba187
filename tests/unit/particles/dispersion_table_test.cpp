#include "physics/particles/interactions/dispersion_table.hpp"

#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/particles/interactions/dispersion_kernels.hpp"
#include "physics/particles/interactions/dispersion_parameters.hpp"
#include "physics/particles/interactions/pair_potential.hpp"
#include "tests/support/dispersion_case.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// What reading a made-up archive says after a change of it.
std::string message_after(const std::function<void(dispersion_case::Made&)>& change) {
  const Scratch scratch("dispersion_table");
  auto made = dispersion_case::made();
  change(made);
  dispersion_case::write(scratch / "d3.npz", made);
  return message_of([&] { (void)read_dispersion_table(scratch / "d3.npz", {"C", "O"}); });
}

TEST(DispersionTable, holds_the_references_of_its_types) {
  const Scratch scratch("dispersion_table");
  auto made = dispersion_case::made();
  dispersion_case::write(scratch / "d3.npz", made);
  const auto table = read_dispersion_table(scratch / "d3.npz", {"O", "C"});
  ASSERT_EQ(table.n_types, 2);
  EXPECT_EQ(table.n_references, (std::vector<int>{dispersion_case::count(8), dispersion_case::count(6)}));
  const int m = table.most_references;
  EXPECT_EQ(table.c6[(1 * m + 2) * m + 0], made.entry(8, 6, 2, 0, 0));
  EXPECT_EQ(table.c6[((1 * 2 + 0) * m + 0) * m + 2], made.entry(6, 8, 0, 2, 0));
  EXPECT_EQ(table.coordination[0 * m + 1], made.entry(8, 8, 1, 1, 1));
  EXPECT_NEAR(table.covalent_radius[0], made.covalent[8], 1e-6);
}

TEST(DispersionTable, takes_published_digits_where_the_archive_has_rounded_them) {
  const Scratch scratch("dispersion_table");
  auto made = dispersion_case::made();
  made.covalent[6] = 4.0 / 3 * 0.75 / 0.52917726;  // carbon's, as programs of 2010 converted it
  made.moment[6] = std::sqrt(0.5 * 7.8715 * std::sqrt(6.0)) * (1 + 3e-8);
  made.radius[6 * dispersion_case::n_rows + 6] = 2.9103 / 0.52917726;
  dispersion_case::write(scratch / "d3.npz", made);
  const auto table = read_dispersion_table(scratch / "d3.npz", {"C"});
  EXPECT_DOUBLE_EQ(table.covalent_radius[0], 1.0 / 0.529177210903);
  EXPECT_DOUBLE_EQ(table.moment_ratio[0], std::sqrt(0.5 * 7.8715 * std::sqrt(6.0)));
  EXPECT_DOUBLE_EQ(table.triple_radius[0], 2.9103 / 0.529177210903);
}

TEST(DispersionTable, refuses_what_is_damaged_and_says_where_whole_ones_are) {
  EXPECT_EQ(message_after([](auto&) {}), "");
  const auto says = [](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_NE(text.find("pip download --no-deps torch-dftd"), std::string::npos) << text;
  };
  says(message_after([](auto& m) { m.entry(6, 8, 0, 1, 0) = -3; }), "c6ab of elements 6 and 8");
  says(message_after([](auto& m) { m.entry(6, 8, 0, 1, 0) = NAN; }), "c6ab of elements 6 and 8");
  says(message_after([](auto& m) { m.entry(8, 6, 1, 0, 0) += 1; }), "c6ab of elements 6 and 8");
  says(message_after([](auto& m) { m.entry(6, 8, 0, 1, 2) += 0.1; }), "c6ab of elements 6 and 8");
  says(message_after([](auto& m) { m.covalent[8] = 0; }), "rcov and r2r4 of O");
  says(message_after([](auto& m) { m.moment[8] = -1; }), "rcov and r2r4 of O");
  says(message_after([](auto& m) { m.radius[8 * dispersion_case::n_rows + 6] = INFINITY; }),
       "r0ab of elements");
  EXPECT_NE(message_after([](auto& m) { m.covalent.pop_back(); }).find("rcov.npy: the file is truncated"),
            std::string::npos);
}

TEST(DispersionTable, refuses_other_files_and_elements_beyond_its_own) {
  const Scratch scratch("dispersion_table");
  EXPECT_NE(
      message_of([&] { (void)read_dispersion_table(scratch / "none.npz", {"C"}); }).find("no such file"),
      std::string::npos);
  zip::write(scratch / "text.npz", "hello");
  EXPECT_NE(message_of([&] { (void)read_dispersion_table(scratch / "text.npz", {"C"}); }).find("text.npz"),
            std::string::npos);
  zip::write(scratch / "other.npz", zip::archive({{"c6ab.npy", "x"}}, true, false));
  EXPECT_NE(message_of([&] { (void)read_dispersion_table(scratch / "other.npz", {"C"}); }).find("other.npz"),
            std::string::npos);
  dispersion_case::write(scratch / "d3.npz", dispersion_case::made());
  EXPECT_EQ(message_of([&] { (void)read_dispersion_table(scratch / "d3.npz", {"Cu"}); }), "");
  EXPECT_NE(message_of([&] {
              (void)read_dispersion_table(scratch / "d3.npz", {"Zn"});
            }).find("no references of Zn"),
            std::string::npos);
}

TEST(DispersionParameters, are_those_of_the_papers) {
  const auto pbe = damping_of("pbe", 1);
  EXPECT_EQ(pbe.s6, 1);
  EXPECT_EQ(pbe.s8, 0.7875);
  EXPECT_EQ(pbe.s9, 1);
  EXPECT_EQ(pbe.a1, 0.4289);
  EXPECT_EQ(pbe.a2, 4.4407);
  EXPECT_EQ(damping_of("b2plyp", 0).s6, 0.64);
  EXPECT_NE(message_of([] { (void)damping_of("pbee", 0); }).find("did you mean 'pbe'?"), std::string::npos);
}

TEST(DispersionKernels, slopes_are_the_derivatives_of_values) {
  using dispersion::P;
  const dispersion::PairDamping pair(1.0, 0.8, 0.43, 4.4, 7.0);
  const dispersion::Fade fade(9, 3);
  const double h = 1e-5;
  const auto at = [](double r) { return broadcast(r * r); };
  for (const double r : {1.3, 2.4, 6.1, 7.7, 8.9}) {
    EXPECT_NEAR(pair(at(r)).slope_by_r[0] * r,
                (pair(at(r + h)).value[0] - pair(at(r - h)).value[0]) / (2 * h), 1e-10);
    EXPECT_NEAR(fade(at(r)).slope_by_r[0] * r,
                (fade(at(r + h)).value[0] - fade(at(r - h)).value[0]) / (2 * h), 1e-8);
    const auto bond = [&](double x) { return dispersion::bond(at(x), 2.5); };
    EXPECT_NEAR(bond(r).slope_by_r[0] * r, (bond(r + h).value[0] - bond(r - h).value[0]) / (2 * h), 1e-8);
  }
  for (const double x : {1e-12, 0.003, 0.77, 1.0, 5.3, 1e9})
    EXPECT_NEAR(inverse_cube_root(broadcast(x))[0] * std::cbrt(x), 1, 1e-15) << x;
}

TEST(PairPotential, values_are_the_formulas_and_slopes_their_derivatives) {
  PairParameters parameters{PairFormula::morse, {"A", "B"}, 0.4, 1.7, 2.2, 5.0, 1.5};
  const PairPotential morse({parameters});
  EXPECT_EQ(morse.cutoff(), 5.0);
  const auto& rows = pair_formulas();
  PairEntry entry{rows[1].of, 0.4, 1.7, 2.2, 3.5, 5.0};
  EXPECT_NEAR(pair_value(entry, 1.7).value, -0.4, 1e-15);
  EXPECT_NEAR(pair_value(entry, 1.7).slope, 0, 1e-15);
  PairEntry other{rows[0].of, 0.4, 1.7, 0, 3.5, 5.0};
  EXPECT_NEAR(pair_value(other, 1.7).value, 0, 1e-15);
  EXPECT_NEAR(pair_value(other, 1.7 * std::pow(2, 1.0 / 6)).value, -0.4, 1e-15);
  const double h = 1e-6;
  for (const auto& e : {entry, other})
    for (const double r : {1.5, 2.9, 3.49, 3.9, 4.8})
      EXPECT_NEAR(pair_value(e, r).slope, (pair_value(e, r + h).value - pair_value(e, r - h).value) / (2 * h),
                  1e-7);
  EXPECT_EQ(pair_value(entry, 5.0).value, 0);
  EXPECT_EQ(pair_value(entry, 5.0).slope, 0);
}

TEST(PairPotential, refuses_numbers_that_make_no_sense) {
  const PairParameters whole{PairFormula::lennard_jones, {"A", "B"}, 0.4, 1.7, std::nullopt, 5.0, 1.5};
  EXPECT_EQ(problem_of(whole), "");
  auto odd = whole;
  odd.types = {"A"};
  EXPECT_NE(problem_of(odd).find("expected two"), std::string::npos);
  odd = whole;
  odd.switch_width = 5.0;
  EXPECT_NE(problem_of(odd).find("is not below cutoff"), std::string::npos);
  odd.switch_width = 4.9;
  EXPECT_EQ(problem_of(odd), "");
  EXPECT_NE(message_of([&] { PairPotential({whole, whole}); }).find("has two potentials"), std::string::npos);
}

}  // namespace
}  // namespace quintet
