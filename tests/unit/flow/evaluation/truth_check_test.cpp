#include "surrogates/flow/evaluation/truth_check.hpp"

#include <gtest/gtest.h>

#include "evaluation_support.hpp"

#include "io/config/tree.hpp"

namespace quintet::flow {
namespace {

constexpr double pi = std::numbers::pi;

/// A field that decays between walls at 0, and is carried along x:
/// f = exp(-P (pi^2 + 4) t) cos(pi z) cos(2 (x - t)), at z from -1/2 to 1/2.
struct Wave {
  RectilinearGrid grid;
  std::vector<double> times;
  std::vector<float> values;

  explicit Wave(int n = 32, double interval = 0.02, int n_frames = 12)
      : grid({clustered("z", n), ring("x", n, 2 * pi)}) {
    for (int i = 0; i < n_frames; ++i) times.push_back(i * interval);
    for (const double t : times)
      for (const double value : sampled(grid, [&](double z, double x) {
             return std::exp(-0.1 * (pi * pi + 4) * t) * std::cos(pi * z) * std::cos(2 * (x - t));
           }))
        values.push_back(value);
  }
  [[nodiscard]] FieldsOverTime fields() const { return {&grid, times, values}; }
};

PdeSystem system_of(const std::string& text) { return {{{"f", text, "f"}}, {{"f"}, {"t", "z", "x"}, {"P"}}}; }

EquationCheck check_of(const Wave& wave, const std::string& text, double constant = 0.1) {
  return check_equations(system_of(text), {constant}, wave.fields(), 4).at(0);
}

const char* const equation = "dt(f) + dx(f) = P*(dxx(f) + dzz(f))";

TEST(TruthCheck, terms_are_those_that_are_added_up) {
  using Texts = std::vector<std::string>;

  EXPECT_EQ(terms_of("dt(b) + u*dx(b) = P*(dxx(b) + dzz(b))"),
            (Texts{"dt(b)", "u*dx(b)", "-P*(dxx(b)+dzz(b))"}));
  EXPECT_EQ(terms_of("-b + 1.5e-3*u - -w"), (Texts{"-b", "1.5e-3*u", "w"}));
  EXPECT_EQ(terms_of("a = -b - c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(terms_of("a*-b + c^-2"), (Texts{"a*-b", "c^-2"}));
}

TEST(TruthCheck, terms_add_up_to_the_residual) {
  const Wave wave;
  for (const char* text :
       {equation, "-f + 1.5e-3*dx(f) - -dz(f)", "dx(f) = -f - P", "f*-f + f^-2 - sin(x)"}) {
    std::string sum;
    for (const auto& term : terms_of(text)) sum += (sum.empty() ? "(" : " + (") + term + ")";

    const auto twice =
        check_equations(system_of(std::string(text) + " - (" + sum + ")" +
                                  (std::string(text).find('=') == std::string::npos ? "" : "*-1")),
                        {0.1}, wave.fields(), 1);

    EXPECT_LT(twice.at(0).residual, 1e-9) << text;
  }
}

TEST(TruthCheck, a_solution_obeys) {
  const auto check = check_of(Wave(), equation);

  EXPECT_FALSE(check.contradicted());
  EXPECT_LT(check.residual, 0.02 * check.largest());
  ASSERT_EQ(check.terms.size(), 3U);
  EXPECT_NEAR(check.terms[1].rms / check.terms[2].rms, 2 / (0.1 * (pi * pi + 4)), 0.05);
}

TEST(TruthCheck, other_constants_signs_axes_and_times_do_not) {
  const Wave wave;
  Wave late = wave;
  for (auto& t : late.times) t *= 1.5;

  EXPECT_TRUE(check_of(wave, equation, 0.2).contradicted());
  EXPECT_TRUE(check_of(wave, "dt(f) - dx(f) = P*(dxx(f) + dzz(f))").contradicted());
  EXPECT_TRUE(check_of(wave, "dt(f) + dz(f) = P*(dxx(f) + dzz(f))").contradicted());
  EXPECT_TRUE(check_of(late, equation).contradicted());
}

TEST(TruthCheck, the_bound_is_a_tenth_of_the_largest_term) {
  // dt(f) and dx(f) are the largest terms, nearly equal: a part more or less of one of them.
  EXPECT_FALSE(check_of(Wave(), "dt(f) + 1.09*dx(f) = P*(dxx(f) + dzz(f))").contradicted());
  EXPECT_TRUE(check_of(Wave(), "dt(f) + 1.18*dx(f) = P*(dxx(f) + dzz(f))").contradicted());
}

TEST(TruthCheck, what_differences_cannot_tell_is_not_held_against_the_data) {
  EXPECT_FALSE(check_of(Wave(8), equation).contradicted());
  EXPECT_FALSE(
      check_of(Wave(32, 0.8), equation).contradicted());  // a quarter of a period from frame to frame
  EXPECT_FALSE(check_of(Wave(32, 20), equation).contradicted());
  Wave noisy;
  for (std::size_t i = 0; i < noisy.values.size(); ++i)
    noisy.values[i] += 0.01F * static_cast<float>(std::sin(1e4 * std::sin(double(i))));
  EXPECT_FALSE(check_of(noisy, equation).contradicted());
  EXPECT_GT(check_of(noisy, equation).residual, check_of(noisy, equation).largest() / 4);
}

TEST(TruthCheck, nothing_is_said_of_too_little) {
  EXPECT_TRUE(check_equations(system_of(equation), {0.1}, Wave(32, 0.02, 4).fields(), 4).empty());
  EXPECT_EQ(check_equations(system_of(equation), {0.1}, Wave(32, 0.02, 5).fields(), 4).size(), 1U);
}

TEST(TruthCheck, walls_hold_what_the_points_near_them_say) {
  const Wave wave;
  const auto at_wall = [&](const std::string& text, int end) {
    return check_wall(system_of(text), {0.1}, wave.fields(), 0, end, 4).at(0);
  };

  for (const int end : {0, 1}) {
    EXPECT_FALSE(at_wall("f", end).contradicted());
    EXPECT_FALSE(at_wall("f - 0.03", end).contradicted());  // f varies by 0.4
    EXPECT_TRUE(at_wall("f - 0.06", end).contradicted());
    EXPECT_TRUE(at_wall("dz(f)", end).contradicted());
  }
}

TEST(TruthCheck, a_wall_value_is_read_off_the_field) {
  Wave wave;
  for (auto& value : wave.values) value += 3;

  const auto value = wall_value(wave.fields(), 0, 0, 1);

  EXPECT_NEAR(value.mean, 3, 1e-3);
  EXPECT_TRUE(value.is_constant());
  EXPECT_FALSE(value.contradicts(3.02));
  EXPECT_TRUE(value.contradicts(3.1));
  EXPECT_TRUE(value.contradicts(0.5));
}

TEST(TruthCheck, a_wall_along_which_the_field_varies_has_no_value) {
  Wave wave;
  const std::size_t n = wave.grid.size(1);
  for (std::size_t i = 0; i < wave.values.size(); ++i)
    wave.values[i] += static_cast<float>(std::sin(2 * pi * (i % n) / n));

  EXPECT_FALSE(wall_value(wave.fields(), 0, 0, 0).is_constant());
}

}  // namespace
}  // namespace quintet::flow
