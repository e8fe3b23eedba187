#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/pod.hpp"
#include "tests/verification/ocean/array_source.hpp"

namespace quintet::ocean {
namespace {

using namespace testing;

constexpr int n_times = 70, n_fit = 50, n_modes = 5;

PodOptions options_of(PodMethod method = PodMethod::snapshots) {
  PodOptions options;
  options.n_modes = n_modes;
  options.n_fit = n_fit;
  options.weights = PodWeights::area;
  options.method = method;
  return options;
}

/// The sample source, its numbers times `factor` about `offset`, in metres.
std::unique_ptr<ArraySource> scaled(double factor, double offset) {
  auto source = sample_source(n_times);
  for (double& value : source->values) value = factor * value + offset;
  source->units = "m";
  return source;
}

/// A variable of its own on a grid of its own: the sample's waves on fewer points, and a swing of its own.
std::unique_ptr<ArraySource> another(int times = n_times) {
  auto source = sample_source(times, 7, 12, 0.02);
  const std::size_t cells = source->grid.size();
  for (int t = 0; t < times; ++t)
    for (std::size_t c = 0; c < cells; ++c) {
      auto& value = source->values[t * cells + c];
      value = 0.01 * value + 0.05 * std::sin(0.9 * t) * static_cast<double>(c % 5);
    }
  source->units = "m";
  return source;
}

Record record_of(const Comm& comm, std::unique_ptr<FieldSource> source, const RecordOptions& options = {}) {
  return {comm, std::move(source), std::nullopt, options};
}

TEST(JointPod, of_a_variable_and_its_double_is_that_of_the_variable) {
  const Comm comm = Comm::world();
  const auto x = record_of(comm, sample_source(n_times)), twice = record_of(comm, scaled(2, 7));
  for (const auto method : {PodMethod::snapshots, PodMethod::randomised}) {
    const auto alone = make_pod(comm, x, options_of(method));
    const auto both = make_pod(comm, {{&x}, {&twice, "twice"}}, options_of(method));
    const auto &a = alone.modes, &b = both.modes;
    ASSERT_EQ(b.also.size(), 1U);
    const double root = std::sqrt(2), scale = a.singular_values[0];
    EXPECT_NEAR(b.captured_variance, a.captured_variance, 1e-12);
    EXPECT_NEAR(both.captured_later, alone.captured_later, 1e-12);
    for (int m = 0; m < n_modes; ++m)
      EXPECT_NEAR(b.singular_values[m], root * a.singular_values[m], 1e-11 * scale);
    for (std::size_t i = 0; i < a.series.values.size(); ++i)
      ASSERT_NEAR(b.series.values[i], root * a.series.values[i], 1e-8 * scale);
    for (std::size_t i = 0; i < a.modes.size(); ++i) {
      ASSERT_NEAR(b.modes[i], a.modes[i] / root, 1e-8);
      ASSERT_NEAR(b.also[0].modes[i], 2 * a.modes[i] / root, 1e-8);
    }
    for (std::size_t p = 0; p < a.n_points(); ++p) {
      EXPECT_EQ(b.weights[p], a.weights[p]);
      EXPECT_NEAR(b.also[0].weights[p], a.weights[p] / 4, 1e-14);
      EXPECT_NEAR(b.also[0].mean[p], 2 * a.mean[p] + 7, 1e-12);
    }
    for (std::size_t v = 0; v < 2; ++v) {
      const double factor = v == 0 ? 1 : 2;
      const auto &fit = both.variables[v], &of_x = alone.variables[0];
      EXPECT_NEAR(fit.captured, of_x.captured, 1e-12);
      EXPECT_NEAR(fit.variance_fit, factor * factor * of_x.variance_fit, 1e-11);
      EXPECT_NEAR(fit.error_fit, factor * of_x.error_fit, 1e-9);
      EXPECT_NEAR(fit.error_later, factor * of_x.error_later, 1e-9);
    }
    EXPECT_EQ(b.also[0].name, "twice");
    EXPECT_EQ(b.also[0].units, "m");
    EXPECT_EQ(b.units, "degree_Celsius");
  }
}

TEST(JointPod, modes_are_orthonormal_over_all_variables_and_reproduce_each_field) {
  const Comm comm = Comm::world();
  const auto x = record_of(comm, sample_source(n_times)), y = record_of(comm, another());
  auto options = options_of();
  options.n_modes = n_fit - 1;
  const auto modes = make_pod(comm, {{&x}, {&y, "y"}}, options).modes;
  const auto variables = variables_of(modes);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) {
      double product = 0;
      for (const auto* one : variables)
        for (std::size_t p = 0, n = one->n_points(); p < n; ++p)
          product += one->weights[p] * one->modes[i * n + p] * one->modes[j * n + p];
      EXPECT_NEAR(product, i == j ? 1 : 0, 1e-11);
    }
  const auto sources = {sample_source(n_times), another()};
  for (int t : {0, 17, n_fit - 1}) {
    std::size_t v = 0;
    for (const auto& source : sources) {
      const auto& one = *variables[v++];
      const auto field = expand(one, x.days()[t], modes.series.row(t));
      for (std::size_t c = 0, p = 0; c < one.mask.size(); ++c)
        if (one.mask[c] == 1) {
          ASSERT_NEAR(field[p], source->values[t * one.mask.size() + c], 1e-9);
          ++p;
        }
    }
  }
}

/// Total variance of a variable in the modes' inner product over the fit's times.
double total_of(const VariableFit& fit, const FieldModes& modes) {
  double weight = 0;
  for (const double w : modes.weights) weight += w;
  return fit.variance_fit * weight;
}

TEST(JointPod, variables_count_as_much_as_their_weights_say) {
  const Comm comm = Comm::world();
  const auto x = record_of(comm, sample_source(n_times)), y = record_of(comm, another());
  for (const double weight : {1.0, 0.25}) {
    const auto pod = make_pod(comm, {{&x}, {&y, "y", weight}}, options_of());
    EXPECT_NEAR(total_of(pod.variables[1], pod.modes.also[0]), weight * total_of(pod.variables[0], pod.modes),
                1e-9);
  }
  // One that counts next to nothing leaves the modes of the other as they are.
  const auto alone = make_pod(comm, x, options_of()).modes;
  const auto nearly = make_pod(comm, {{&x}, {&y, "y", 1e-12}}, options_of()).modes;
  for (std::size_t i = 0; i < alone.modes.size(); ++i) ASSERT_NEAR(nearly.modes[i], alone.modes[i], 1e-6);
}

TEST(JointPod, the_order_of_variables_does_not_matter) {
  const Comm comm = Comm::world();
  const auto x = record_of(comm, sample_source(n_times)), y = record_of(comm, another());
  const auto first = make_pod(comm, {{&x}, {&y, "y"}}, options_of()),
             turned = make_pod(comm, {{&y}, {&x, "x"}}, options_of());
  EXPECT_NEAR(first.modes.captured_variance, turned.modes.captured_variance, 1e-12);
  EXPECT_NEAR(first.captured_later, turned.captured_later, 1e-12);
  EXPECT_NEAR(first.variables[1].error_later, turned.variables[0].error_later, 1e-11);
  for (int t : {3, n_times - 1})
    for (int v = 0; v < 2; ++v) {
      const auto& a = *variables_of(first.modes)[v];
      const auto& b = *variables_of(turned.modes)[1 - v];
      const auto one = expand(a, x.days()[t], first.modes.series.row(t)),
                 two = expand(b, x.days()[t], turned.modes.series.row(t));
      ASSERT_EQ(one.size(), two.size());
      for (std::size_t p = 0; p < one.size(); ++p) ASSERT_NEAR(one[p], two[p], 1e-8);
    }
}

TEST(JointPod, does_not_depend_on_ranks) {
  const Comm world = Comm::world(), self = Comm::self();
  const auto x = record_of(world, sample_source(n_times)), y = record_of(world, another()),
             x1 = record_of(self, sample_source(n_times)), y1 = record_of(self, another());
  const auto shared = make_pod(world, {{&x}, {&y, "y"}}, options_of()),
             own = make_pod(self, {{&x1}, {&y1, "y"}}, options_of());
  const auto &a = shared.modes, &b = own.modes;
  const double scale = b.singular_values[0];
  for (int m = 0; m < n_modes; ++m) EXPECT_NEAR(a.singular_values[m], b.singular_values[m], 1e-12 * scale);
  for (std::size_t i = 0; i < a.series.values.size(); ++i)
    ASSERT_NEAR(a.series.values[i], b.series.values[i], 1e-8 * scale);
  for (std::size_t i = 0; i < a.also[0].modes.size(); ++i)
    ASSERT_NEAR(a.also[0].modes[i], b.also[0].modes[i], 1e-8);
  for (int v = 0; v < 2; ++v)
    EXPECT_NEAR(shared.variables[v].error_later, own.variables[v].error_later, 1e-11);
  const auto projected = project(world, {{&x}, {&y, "y"}}, a);
  for (std::size_t i = 0; i < projected.size(); ++i)
    ASSERT_NEAR(projected[i], a.series.values[i], 1e-10 * scale);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(JointPod, other_times_are_named) {
  const Comm comm = Comm::world();
  const auto x = record_of(comm, sample_source(n_times));
  const auto told = [&](std::unique_ptr<ArraySource> source, const RecordOptions& options = {}) {
    const auto y = record_of(comm, std::move(source), options);
    return refusal([&] { check_joint({{&x}, {&y, "level"}}); });
  };
  auto later = another(), nearly = another();
  for (double& day : later->days) day += 1;
  for (double& day : nearly->days) day += 0.005;
  const auto message = told(std::move(later));
  for (const std::string part : {"level", "1981-10-29", "1981-10-30", "fields.from"})
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
  EXPECT_EQ(told(std::move(nearly)), "");
  EXPECT_EQ(told(another()), "");
  const auto shorter = told(another(n_times - 1));
  EXPECT_NE(shorter.find("the first alone has 1983-02-24"), std::string::npos) << shorter;
  EXPECT_EQ(shorter.find("level alone"), std::string::npos) << shorter;
  EXPECT_NE(told(another(n_times + 1)).find("level alone has 1983-03-03"), std::string::npos);
}

TEST(JointPod, months_are_the_same_whatever_day_dates_them) {
  const Comm comm = Comm::world();
  const auto monthly = [](int day, int first_month) {
    auto source = another(24);
    for (int t = 0; t < 24; ++t)
      source->days[t] = day_of({1990 + (t + first_month) / 12, (t + first_month) % 12 + 1, day});
    return source;
  };
  const auto x = record_of(comm, monthly(15, 0));
  const auto told = [&](std::unique_ptr<ArraySource> source) {
    const auto y = record_of(comm, std::move(source));
    return refusal([&] { check_joint({{&x}, {&y, "y"}}); });
  };
  for (int day : {1, 15, 28}) EXPECT_EQ(told(monthly(day, 0)), "") << day;
  EXPECT_NE(told(monthly(15, 1)).find("y alone has 1992-01-15"), std::string::npos);
  EXPECT_EQ(joint_from(x.days(), 3), day_of({1990, 4, 1}));
  const auto weekly = record_of(comm, another());
  EXPECT_LT(joint_from(weekly.days(), 3), weekly.days()[3]);
  EXPECT_GT(joint_from(weekly.days(), 3), weekly.days()[3] - 1);
}

TEST(JointPod, gaps_to_be_projected_other_variables_and_still_ones_are_refused) {
  const Comm comm = Comm::world();
  const auto x = record_of(comm, sample_source(n_times)), y = record_of(comm, another());
  const JointRecords both{{&x}, {&y, "y"}};
  const auto modes = make_pod(comm, both, options_of()).modes;
  const auto told = [&](const JointRecords& records) {
    return refusal([&] { static_cast<void>(project(comm, records, modes)); });
  };
  EXPECT_EQ(told(both), "");
  EXPECT_NE(told({{&x}}).find("[], the modes [y]"), std::string::npos) << told({{&x}});
  EXPECT_NE(told({{&x}, {&y, "z"}}).find("[z], the modes [y]"), std::string::npos);
  EXPECT_NE(told({{&x}, {&x, "y"}}).find("fields.also: y: are on a grid"), std::string::npos);
  auto celsius = another();
  celsius->units = "degree_Celsius";
  const auto other_units = record_of(comm, std::move(celsius));
  EXPECT_NE(told({{&x}, {&other_units, "y"}}).find("are in degree_Celsius, the modes of m"),
            std::string::npos);

  auto gaps = another();
  gaps->values[gaps->grid.size()] = NAN;
  RecordOptions fill;
  fill.incomplete_points = IncompletePoints::dineof;
  const auto incomplete = record_of(comm, std::move(gaps), fill);
  ASSERT_EQ(incomplete.n_missing(), 1);
  EXPECT_EQ(refusal([&] { check_joint({{&x}, {&incomplete, "y"}}); }), "");
  EXPECT_NE(told({{&x}, {&incomplete, "y"}}).find("fields.also: y: 1 value is missing"), std::string::npos);

  auto still = another();
  const std::size_t cells = still->grid.size();
  for (std::size_t i = 0; i < still->values.size(); ++i) still->values[i] = still->values[i % cells];
  RecordOptions sea;
  sea.constant_points = ConstantPoints::sea;
  const auto constant = record_of(comm, std::move(still), sea);
  EXPECT_NE(refusal([&] {
              static_cast<void>(make_pod(comm, {{&x}, {&constant, "y"}}, options_of()));
            }).find("fields.also: y: the fields do not change"),
            std::string::npos);
}

}  // namespace
}  // namespace quintet::ocean
