#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/gaps/fill_by_modes.hpp"
#include "physics/ocean/gaps/known_values.hpp"
#include "physics/ocean/pod.hpp"
#include "tests/verification/ocean/array_source.hpp"

namespace quintet::ocean {
namespace {

using namespace testing;

constexpr int points = 150, times = 60;
constexpr double noise = 0.1;
const double none = std::numeric_limits<double>::quiet_NaN();

/// Three waves at a point and time, amplitudes 3, 2 and 1.
double wave(int p, int t) {
  return 3 * std::sin(0.05 * p + 0.3) * std::cos(0.21 * t) + 2 * std::cos(0.11 * p) * std::sin(0.37 * t + 1) +
         std::sin(0.23 * p) * std::cos(0.05 * t);
}
double noisy(int p, int t) {
  double x = 0, y = 0;
  normal_pair(3, 1, p, t, x, y);
  return wave(p, t) + noise * x;
}
/// A cloud over half of the points at every fourth time, and single values: 30 % in all.
bool is_gap(int p, int t) {
  double u = 0, v = 0;
  uniform_pair(5, 2, p, t, u, v);
  const bool cloud = t % 4 == 1 && (p / 75 + t / 4) % 2 == 0;
  return cloud || u < 0.2;
}

/// A rank's points, times in the given order, gaps as NaN.
struct Sample {
  int first = 0;
  TallMatrix x;
  std::vector<double> scale, days;
  std::vector<int> points;
};
Sample sample(const Comm& comm, const std::vector<int>& order, double of_scale = 1) {
  Sample one;
  one.first = points * comm.rank() / comm.size();
  const int mine = points * (comm.rank() + 1) / comm.size() - one.first;
  one.x = TallMatrix(mine, static_cast<int>(order.size()));
  one.scale.assign(mine, of_scale);
  for (int p = 0; p < mine; ++p) one.points.push_back(one.first + p);
  for (const int t : order) one.days.push_back(70000 + 7 * t);
  for (int p = 0; p < mine; ++p)
    for (std::size_t k = 0; k < order.size(); ++k)
      one.x.row(p)[k] = is_gap(one.first + p, order[k]) ? none : of_scale * noisy(one.first + p, order[k]);
  return one;
}
std::vector<int> in_order() {
  std::vector<int> order(times);
  std::iota(order.begin(), order.end(), 0);
  return order;
}
GapFilling fill(const Comm& comm, Sample& one, double tolerance = 1e-5) {
  DineofOptions options;
  options.most_modes = 4;
  options.held_out = 0.03;
  options.tolerance = tolerance;
  options.most_iterations = 3000;
  return fill_by_dineof(comm, one.x, one.scale, one.points, one.days, options);
}

TEST(Gaps, of_few_waves_are_filled_to_less_than_the_noise) {
  const Comm comm = Comm::world();
  auto one = sample(comm, in_order());
  const auto found = fill(comm, one);
  EXPECT_EQ(found.modes, 3);
  EXPECT_TRUE(found.converged);
  ASSERT_GT(found.errors.size(), 3U);
  EXPECT_NEAR(found.errors[3], noise, 0.3 * noise);  // single values: their own noise and a little
  EXPECT_GT(found.errors[0], 1.5);
  EXPECT_GT(found.errors[2], 4 * noise);
  double sums[2] = {0, 0};
  for (int p = 0; p < one.x.rows(); ++p)
    for (int t = 0; t < times; ++t) {
      if (is_gap(one.first + p, t))
        sums[0] += std::pow(one.x.row(p)[t] - wave(one.first + p, t), 2), sums[1] += 1;
      else
        EXPECT_EQ(one.x.row(p)[t], noisy(one.first + p, t));  // what is known stays
    }
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  EXPECT_NEAR(sums[1] / (points * times), 0.3, 0.02);
  EXPECT_EQ(sums[1], static_cast<double>(found.filled));
  EXPECT_LT(std::sqrt(sums[0] / sums[1]), 0.8 * noise);
}

TEST(Gaps, are_filled_alike_in_any_order_of_times_and_on_any_number_of_ranks) {
  auto order = in_order();
  auto one = sample(Comm::self(), order), world = sample(Comm::world(), order);
  const auto found = fill(Comm::self(), one, 1e-8), shared = fill(Comm::world(), world, 1e-8);
  std::reverse(order.begin(), order.begin() + 40);
  std::rotate(order.begin(), order.begin() + 31, order.end());
  auto turned = sample(Comm::self(), order);
  const auto other = fill(Comm::self(), turned, 1e-8);
  EXPECT_EQ(found.modes, other.modes);
  EXPECT_EQ(found.modes, shared.modes);
  EXPECT_EQ(found.held_out, other.held_out);
  EXPECT_EQ(found.held_out, shared.held_out);
  EXPECT_EQ(found.filled, shared.filled);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(found.errors[k], other.errors[k], 1e-6);
    EXPECT_NEAR(found.errors[k], shared.errors[k], 1e-6);
  }
  for (int p = 0; p < points; ++p)
    for (int k = 0; k < times; ++k) EXPECT_NEAR(turned.x.row(p)[k], one.x.row(p)[order[k]], 1e-6);
  for (int p = 0; p < world.x.rows(); ++p)
    for (int t = 0; t < times; ++t) EXPECT_NEAR(world.x.row(p)[t], one.x.row(world.first + p)[t], 1e-6);
}

TEST(Gaps, errors_are_in_the_unit_of_the_unscaled_values) {
  auto one = sample(Comm::self(), in_order()), scaled = sample(Comm::self(), in_order(), 0.25);
  const auto a = fill(Comm::self(), one, 1e-5), b = fill(Comm::self(), scaled, 1e-5);
  EXPECT_EQ(a.modes, b.modes);
  EXPECT_NEAR(a.errors[3], b.errors[3], 1e-6);
}

TEST(Gaps, need_twenty_held_out_values) {
  auto one = sample(Comm::self(), in_order());
  DineofOptions options;
  options.most_modes = 1;
  options.held_out = 0.0015;  // of 6300
  auto few = one;
  EXPECT_THROW(
      static_cast<void>(fill_by_dineof(Comm::self(), few.x, few.scale, few.points, few.days, options)),
      InputError);
  options.held_out = 0.006;
  EXPECT_GE(fill_by_dineof(Comm::self(), one.x, one.scale, one.points, one.days, options).held_out, 20);
}

TEST(Gaps, without_structure_no_mode_is_taken) {
  TallMatrix x(60, 60);
  std::vector<double> days;
  for (int t = 0; t < 60; ++t) days.push_back(70000 + t);
  for (int p = 0; p < 60; ++p)
    for (int t = 0; t < 60; ++t) {
      double ignored = 0, u = 0;
      normal_pair(9, 4, p, t, x.row(p)[t], ignored);
      uniform_pair(9, 5, p, t, u, ignored);
      if (u < 0.3) x.row(p)[t] = none;
    }
  DineofOptions options;
  options.held_out = 0.1;
  const std::vector<double> scale(60, 1.0);
  std::vector<int> numbers(60);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto found = fill_by_dineof(Comm::self(), x, scale, numbers, days, options);
  EXPECT_EQ(found.modes, 0);
  EXPECT_NEAR(found.errors[0], 1, 0.15);
}

TEST(Gaps, of_later_times_are_filled_by_the_most_probable_coefficients) {
  // Two orthonormal modes over all points; half of the points are known.
  TallMatrix modes(points, 2), x(points, 2);
  for (int p = 0; p < points; ++p) {
    modes.row(p)[0] = std::sqrt(2.0 / points) * std::cos(2 * M_PI * 3 * p / points);
    modes.row(p)[1] = std::sqrt(2.0 / points) * std::sin(2 * M_PI * 3 * p / points);
    x.row(p)[0] = x.row(p)[1] = 5 * modes.row(p)[0] - 2 * modes.row(p)[1];
    if (p % 3 != 0) x.row(p)[1] = none;
  }
  const auto before = x;
  EXPECT_EQ(fill_by_modes(Comm::self(), x, modes, {25, 4}, 1e-10), 100);
  for (int p = 0; p < points; ++p) {
    EXPECT_EQ(x.row(p)[0], before.row(p)[0]);
    EXPECT_NEAR(x.row(p)[1], x.row(p)[0], 1e-8);
  }
  // Where noise hides all, the most probable is nothing.
  x = before;
  fill_by_modes(Comm::self(), x, modes, {25, 4}, 1e10);
  EXPECT_NEAR(x.row(1)[1], 0, 1e-6);
}

TEST(Gaps, of_a_background_are_refused_where_nothing_tells_of_it) {
  SmallMatrix functions(104, 3);
  TallMatrix x(1, 104);
  for (int t = 0; t < 104; ++t) {
    functions.at(t, 0) = 1;
    functions.at(t, 1) = std::cos(2 * M_PI * t / 52), functions.at(t, 2) = std::sin(2 * M_PI * t / 52);
    x.row(0)[t] = 3 + functions.at(t, 1) - 2 * functions.at(t, 2);
  }
  const auto place = [](int) { return std::string("here"); };
  const auto fit = [&](int missing) {
    auto y = x;
    for (int t = 0; t < 104; ++t)
      if (t % 52 < missing) y.row(0)[t] = none;
    return fit_known(Comm::self(), y, functions, functions, place);
  };
  for (const int missing : {0, 10, 20}) {
    const auto c = fit(missing);
    EXPECT_NEAR(c.at(0, 0), 3, 1e-9);
    EXPECT_NEAR(c.at(1, 0), 1, 1e-9);
    EXPECT_NEAR(c.at(2, 0), -2, 1e-9);
  }
  EXPECT_THROW(static_cast<void>(fit(40)), InputError);  // three quarters of each year
  EXPECT_THROW(static_cast<void>(fit(52)), InputError);  // all
  // Behind the background is the first year alone, of which less than half is known; a gap of the second
  // year.
  auto first = functions;
  for (int t = 52; t < 104; ++t)
    for (int k = 0; k < 3; ++k) first.at(t, k) = 0;
  auto y = x;
  for (int t = 14; t < 52; ++t) y.row(0)[t] = none;
  y.row(0)[52 + 33] = none;
  EXPECT_THROW(static_cast<void>(fit_known(Comm::self(), y, first, functions, place)), InputError);
  for (int t = 14; t < 52; ++t) y.row(0)[t] = x.row(0)[t];
  EXPECT_NEAR(fit_known(Comm::self(), y, first, functions, place).at(2, 0), -2, 1e-9);
}

TEST(Gaps, a_small_system_is_solved_and_a_singular_one_seen) {
  SmallMatrix a(2, 2);
  a.values = {4, 2, 2, 3};
  std::vector<double> b = {2, 5};
  ASSERT_TRUE(solve_positive(a, b));
  EXPECT_NEAR(b[0], -0.5, 1e-15);
  EXPECT_NEAR(b[1], 2, 1e-15);
  a.values = {1, 1, 1, 1};
  EXPECT_FALSE(solve_positive(a, b));
}

/// The sample record with a share of single values missing at most points.
std::unique_ptr<ArraySource> with_gaps(double share, int n_times = 70) {
  auto source = sample_source(n_times);
  for (std::size_t i = 0; i < source->values.size(); ++i) {
    double u = 0, v = 0;
    uniform_pair(8, 3, i, 0, u, v);
    if (u < share) source->values[i] = none;
  }
  return source;
}
RecordOptions filled() {
  RecordOptions options;
  options.incomplete_points = IncompletePoints::dineof;
  return options;
}
PodOptions pod_options(int n_fit) {
  PodOptions options;
  options.n_modes = 6;
  options.n_fit = n_fit;
  options.filling.held_out = 0.03;
  options.filling.most_modes = 12;
  return options;
}

TEST(Gaps, a_record_without_any_has_the_same_modes_to_the_bit) {
  const Comm comm = Comm::world();
  const Record plain(comm, sample_source(70), std::nullopt, {}),
      other(comm, sample_source(70), std::nullopt, filled());
  EXPECT_EQ(other.n_missing(), 0);
  const auto a = make_pod(comm, plain, pod_options(50)), b = make_pod(comm, other, pod_options(50));
  EXPECT_FALSE(b.filling);
  EXPECT_EQ(a.modes.modes, b.modes.modes);
  EXPECT_EQ(a.modes.series.values, b.modes.series.values);
  EXPECT_EQ(a.modes.mean, b.modes.mean);
}

TEST(Gaps, modes_are_given_up_on_all_ranks_where_one_is_asked_to) {
  const Comm comm = Comm::world();
  const Record record(comm, with_gaps(0.3, 70), std::nullopt, filled());
  auto options = pod_options(50);
  options.filling.most_modes = 4;
  const auto expected = make_pod(comm, record, options);
  int asked = 0, patience = 1000000;
  options.interrupt = [&] { return ++asked > patience && comm.is_root(); };
  EXPECT_EQ(make_pod(comm, record, options).modes.modes, expected.modes.modes);
  const int times = asked;
  EXPECT_GT(times, 20);  // within the filling, too
  for (const int allowed : {0, times / 2, times - 1}) {
    asked = 0, patience = allowed;
    EXPECT_THROW(static_cast<void>(make_pod(comm, record, options)), Interrupted) << allowed;
  }
}

TEST(Gaps, modes_of_a_record_with_gaps_are_nearly_those_of_the_whole) {
  const Comm comm = Comm::world();
  const Record whole(comm, sample_source(140), std::nullopt, {}),
      record(comm, with_gaps(0.3, 140), std::nullopt, filled());
  ASSERT_EQ(record.n_points(), whole.n_points());
  EXPECT_NEAR(record.share_missing(), 0.3, 0.02);
  auto options = pod_options(110);
  options.weights = PodWeights::area;
  const auto a = make_pod(comm, whole, options), b = make_pod(comm, record, options);
  ASSERT_TRUE(b.filling);
  EXPECT_GE(b.filling->modes, 6);
  EXPECT_GT(b.filled_later, 0);
  EXPECT_LT(b.filling->errors[b.filling->modes], 0.05);  // noise 0.01; anomalies have 2
  for (int m = 0; m < 6; ++m)
    EXPECT_NEAR(b.modes.singular_values[m] / a.modes.singular_values[m], 1, 0.02) << m;
  for (const int m : {0, 1}) {
    double product = 0;
    for (std::size_t x = 0; x < a.modes.n_points(); ++x)
      product += a.modes.weights[x] * a.modes.modes[m * a.modes.n_points() + x] *
                 b.modes.modes[m * a.modes.n_points() + x];
    EXPECT_GT(std::abs(product), 0.999);
  }
  // Coefficients of later times, whose gaps the fit never saw.
  double error = 0, size = 0;
  for (int t = 110; t < 140; ++t) {
    std::vector<double> x = expand(a.modes, 0, a.modes.series.row(t)),
                        y = expand(b.modes, 0, b.modes.series.row(t));
    for (std::size_t i = 0; i < x.size(); ++i)
      error += std::pow(x[i] - y[i], 2), size += std::pow(x[i] - a.modes.mean[i], 2);
  }
  EXPECT_LT(std::sqrt(error / size), 0.06);
}

TEST(Gaps, the_fit_does_not_see_later_times) {
  const Comm comm = Comm::world();
  auto source = with_gaps(0.2), other = with_gaps(0.2);
  for (std::size_t i = 50 * source->grid.size(); i < other->values.size(); ++i) other->values[i] += 1.5;
  const Record a(comm, std::move(source), std::nullopt, filled()),
      b(comm, std::move(other), std::nullopt, filled());
  const auto x = make_pod(comm, a, pod_options(50)), y = make_pod(comm, b, pod_options(50));
  EXPECT_EQ(x.modes.modes, y.modes.modes);
  EXPECT_EQ(x.modes.singular_values, y.modes.singular_values);
  EXPECT_NE(x.modes.series.values, y.modes.series.values);
}

TEST(Gaps, points_with_too_few_values_are_left_out_and_told_of) {
  const Comm comm = Comm::world();
  const auto n_points = [&](int missing, double least) {
    auto source = sample_source(70);
    for (int t = 0; t < missing; ++t) source->values[t * source->grid.size() + 20] = none;
    auto options = filled();
    options.least_values = least;
    return Record(comm, std::move(source), std::nullopt, options).n_points();
  };
  const int all = n_points(0, 0.5);
  EXPECT_EQ(n_points(35, 0.5), all);
  EXPECT_EQ(n_points(36, 0.5), all - 1);
  EXPECT_THROW(Record(comm, with_gaps(0.1), std::nullopt, {}), InputError);
}

/// The sample's anomalies in metres, upside down: what temperatures are, they say, but for their noise.
std::unique_ptr<ArraySource> level(int n_times) {
  auto source = sample_source(n_times);
  for (std::size_t i = 0; i < source->values.size(); ++i) {
    double x = 0, y = 0;
    normal_pair(11, 1, i, 0, x, y);
    source->values[i] = -0.02 * source->values[i] + 0.0002 * x;
  }
  source->units = "m";
  return source;
}

/// The sample under a cloud that hides half of its points for a third of the times, all at once.
std::unique_ptr<ArraySource> clouded(int n_times) {
  auto source = sample_source(n_times);
  const std::size_t cells = source->grid.size();
  for (int t = 0; t < n_times; ++t)
    for (std::size_t c = 0; c < cells; ++c)
      if (t % 3 == 1 && c % source->grid.longitude.size() < 9) source->values[t * cells + c] = none;
  return source;
}

/// Root mean square of the error of coefficients, over the size of anomalies, at times that have a cloud.
double error_under_clouds(const Pod& made, const Pod& whole, int first, int last) {
  double error = 0, size = 0;
  for (int t = first; t < last; ++t) {
    if (t % 3 != 1) continue;
    const auto x = expand(made.modes, 0, made.modes.series.row(t)),
               y = expand(whole.modes, 0, whole.modes.series.row(t));
    for (std::size_t i = 0; i < x.size(); ++i)
      error += std::pow(x[i] - y[i], 2), size += std::pow(y[i] - whole.modes.mean[i], 2);
  }
  return std::sqrt(error / size);
}

TEST(Gaps, of_one_variable_are_filled_by_what_another_says) {
  const Comm comm = Comm::world();
  const int n = 150, n_fit = 110;
  const Record whole(comm, sample_source(n), std::nullopt, {}),
      cloudy(comm, clouded(n), std::nullopt, filled()), other(comm, level(n), std::nullopt, {});
  ASSERT_GT(cloudy.n_missing(), 0);
  auto options = pod_options(n_fit);
  options.weights = PodWeights::area;
  const auto truth = make_pod(comm, {{&whole}, {&other, "level"}}, options),
             made = make_pod(comm, {{&cloudy}, {&other, "level"}}, options),
             alone = make_pod(comm, {{&cloudy}}, options);
  ASSERT_TRUE(made.filling);
  EXPECT_GT(made.filled_later, 0);
  const double joint = error_under_clouds(made, truth, 0, n_fit),
               later = error_under_clouds(made, truth, n_fit, n);
  EXPECT_LT(joint, 0.03);
  // Errors of held-out values are in degrees.
  EXPECT_LT(made.filling->errors[made.filling->modes], 0.05);
  EXPECT_GT(made.filling->errors[0], 1);
  // The variable alone has half of the points to go by.
  const auto own = make_pod(comm, {{&whole}}, options);
  EXPECT_GT(error_under_clouds(alone, own, 0, n_fit), 5 * joint);
  EXPECT_GT(error_under_clouds(alone, own, n_fit, n), 5 * later);
}

TEST(Gaps, of_further_variables_are_filled_too_on_any_number_of_ranks) {
  const int n = 60;
  const auto made_on = [&](const Comm& comm) {
    const Record first(comm, level(n), std::nullopt, {}), second(comm, clouded(n), std::nullopt, filled());
    auto options = pod_options(50);
    options.filling.most_modes = 6;
    options.filling.tolerance = 1e-6;
    return make_pod(comm, {{&first}, {&second, "cloudy"}}, options);
  };
  const auto a = made_on(Comm::self()), b = made_on(Comm::world());
  ASSERT_TRUE(a.filling && b.filling);
  EXPECT_EQ(a.filling->filled, b.filling->filled);
  EXPECT_EQ(a.filling->held_out, b.filling->held_out);
  EXPECT_EQ(a.filling->modes, b.filling->modes);
  for (std::size_t m = 0; m < a.modes.singular_values.size(); ++m)
    EXPECT_NEAR(a.modes.singular_values[m], b.modes.singular_values[m], 1e-5 * a.modes.singular_values[0]);
}

TEST(Gaps, joint_records_without_any_have_the_same_modes_to_the_bit) {
  const Comm comm = Comm::world();
  const Record first(comm, sample_source(70), std::nullopt, {}), other(comm, level(70), std::nullopt, {}),
      same(comm, level(70), std::nullopt, filled());
  const auto a = make_pod(comm, {{&first}, {&other, "level"}}, pod_options(50)),
             b = make_pod(comm, {{&first}, {&same, "level"}}, pod_options(50));
  EXPECT_FALSE(b.filling);
  EXPECT_EQ(a.modes.modes, b.modes.modes);
  EXPECT_EQ(a.modes.series.values, b.modes.series.values);
}

TEST(Gaps, are_refused_where_fields_are_projected) {
  const Comm comm = Comm::world();
  const Record record(comm, with_gaps(0.1), std::nullopt, filled());
  const auto made = make_pod(comm, record, pod_options(70));
  EXPECT_THROW(static_cast<void>(project(comm, {{&record}}, made.modes)), InputError);
}

}  // namespace
}  // namespace quintet::ocean
