#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/pod.hpp"
#include "physics/ocean/sampling_error.hpp"
#include "tests/verification/ocean/array_source.hpp"

extern "C" void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a,
                        const int* lda, double* s, double* u, const int* ldu, double* vt, const int* ldvt,
                        double* work, const int* lwork, int* info);

namespace quintet::ocean {
namespace {

using namespace testing;

constexpr int n_times = 70, n_fit = 50;

PodOptions options_of(int modes, int fit_times = n_fit) {
  PodOptions options;
  options.n_modes = modes;
  options.n_fit = fit_times;
  return options;
}

/// What LAPACK makes of the same fields: plain loops over all points on each rank.
struct Reference {
  int n_points = 0;
  std::vector<double> values, modes;  ///< [min], [point, min] column-major, times 1/sqrt(weight)
  std::vector<double> mean;
};

Reference reference_of(const ArraySource& source, const std::vector<std::uint8_t>& mask,
                       const std::vector<double>& weights) {
  Reference reference;
  std::vector<double> x;  // [time][point]: to LAPACK [point, time]
  const std::size_t cells = source.grid.size();
  for (std::size_t c = 0; c < cells; ++c)
    if (mask[c] == 1) {
      double mean = 0;
      for (int t = 0; t < n_fit; ++t) mean += source.values[t * cells + c] / n_fit;
      reference.mean.push_back(mean);
    }
  reference.n_points = reference.mean.size();
  for (int t = 0; t < n_fit; ++t)
    for (std::size_t c = 0, p = 0; c < cells; ++c)
      if (mask[c] == 1) {
        x.push_back((source.values[t * cells + c] - reference.mean[p]) * std::sqrt(weights[p]));
        ++p;
      }
  const int m = reference.n_points, n = n_fit, least = std::min(m, n), size = 20 * (m + n);
  reference.values.resize(least);
  reference.modes.resize(std::int64_t{m} * least);
  std::vector<double> vt(std::int64_t{least} * n), work(size);
  int info = 0;
  dgesvd_("S", "S", &m, &n, x.data(), &m, reference.values.data(), reference.modes.data(), &m, vt.data(),
          &least, work.data(), &size, &info);
  EXPECT_EQ(info, 0);
  for (int k = 0; k < least; ++k)
    for (int p = 0; p < m; ++p) reference.modes[std::int64_t{k} * m + p] /= std::sqrt(weights[p]);
  return reference;
}

double inner(const OceanModes& modes, int m, const double* other) {
  double sum = 0;
  const std::size_t n = modes.n_points();
  for (std::size_t x = 0; x < n; ++x) sum += modes.weights[x] * modes.modes[m * n + x] * other[x];
  return sum;
}

TEST(Pod, is_lapacks_svd) {
  const Comm comm = Comm::world();
  const auto source = sample_source(n_times);
  const Record record(comm, sample_source(n_times), std::nullopt, {});
  for (const auto weights : {PodWeights::points, PodWeights::area})
    for (const auto method : {PodMethod::snapshots, PodMethod::randomised}) {
      auto options = options_of(8);
      options.weights = weights;
      options.method = method;
      const auto pod = make_pod(comm, record, options);
      const auto& modes = pod.modes;
      const auto reference = reference_of(*source, record.mask(), modes.weights);
      double total = 0;
      for (const double s : reference.values) total += s * s;
      double captured = 0;
      for (int m = 0; m < 8; ++m) {
        const double s = reference.values[m];
        captured += s * s;
        EXPECT_NEAR(modes.singular_values[m], s, 1e-12 * reference.values[0]);
        EXPECT_NEAR(std::abs(inner(modes, m, &reference.modes[m * modes.n_points()])), 1, 1e-12);
        for (int k = 0; k <= m; ++k)
          EXPECT_NEAR(inner(modes, m, &modes.modes[k * modes.n_points()]), k == m ? 1 : 0, 1e-12);
        double norm = 0, largest = 0;
        for (int t = 0; t < n_fit; ++t) {
          const double a = modes.series.row(t)[m];
          norm += a * a;
          if (std::abs(a) > std::abs(largest)) largest = a;
        }
        EXPECT_NEAR(std::sqrt(norm), s, 1e-12 * reference.values[0]);
        EXPECT_GT(largest, 0);
      }
      EXPECT_NEAR(modes.captured_variance, captured / total, 1e-12);
      for (std::size_t p = 0; p < modes.n_points(); ++p) EXPECT_NEAR(modes.mean[p], reference.mean[p], 1e-12);
    }
}

/// The sea points of a time, as the source has them.
std::vector<double> truth(const ArraySource& source, const std::vector<std::uint8_t>& mask, int t) {
  std::vector<double> values;
  for (std::size_t c = 0; c < mask.size(); ++c)
    if (mask[c] == 1) values.push_back(source.values[t * mask.size() + c]);
  return values;
}

TEST(Pod, all_modes_reproduce_the_fields) {
  const Comm comm = Comm::world();
  const auto source = sample_source(n_times);
  const Record record(comm, sample_source(n_times), std::nullopt, {});
  for (const auto background : {PodBackground::mean, PodBackground::climatology}) {
    auto options = options_of(0);
    options.background = background;
    options.harmonics = 1;
    options.n_modes = n_fit - (background == PodBackground::mean ? 1 : 3);
    const auto pod = make_pod(comm, record, options);
    EXPECT_NEAR(pod.modes.captured_variance, 1, 1e-12);
    EXPECT_NEAR(pod.variables[0].error_fit, 0, 1e-6);
    for (int t = 0; t < n_fit; ++t) {
      const auto field = expand(pod.modes, record.days()[t], pod.modes.series.row(t)),
                 expected = truth(*source, record.mask(), t);
      for (std::size_t p = 0; p < field.size(); ++p) ASSERT_NEAR(field[p], expected[p], 1e-11);
    }
  }
}

TEST(Pod, later_times_are_projected) {
  const Comm comm = Comm::world();
  const auto source = sample_source(n_times);
  const Record record(comm, sample_source(n_times), std::nullopt, {});
  auto options = options_of(4);
  options.weights = PodWeights::area;
  const auto pod = make_pod(comm, record, options);
  double missed = 0, weight = 0;
  for (const double w : pod.modes.weights) weight += w;
  for (int t = n_fit; t < n_times; ++t) {
    const auto field = expand(pod.modes, 0, pod.modes.series.row(t));
    auto rest = truth(*source, record.mask(), t);
    for (std::size_t p = 0; p < rest.size(); ++p) {
      rest[p] -= field[p];
      missed += pod.modes.weights[p] * rest[p] * rest[p] / weight / (n_times - n_fit);
    }
    for (int m = 0; m < 4; ++m) EXPECT_NEAR(inner(pod.modes, m, rest.data()), 0, 1e-11);
  }
  EXPECT_NEAR(pod.variables[0].error_later, std::sqrt(missed), 1e-11);
}

TEST(Pod, seasons_are_taken_from_anomalies) {
  const Comm comm = Comm::world();
  const Record record(comm, sample_source(160), std::nullopt, {});
  auto options = options_of(5, 157);
  options.background = PodBackground::climatology;
  options.harmonics = 2;
  const auto modes = make_pod(comm, record, options).modes;
  for (int m = 0; m < 5; ++m)
    for (std::size_t k = 0; k < 5; ++k) {
      double sum = 0;
      for (int t = 0; t < 157; ++t) {
        const auto season = season_of(modes.series.time[t], 2);
        sum += modes.series.row(t)[m] * (k == 0 ? 1 : season[k - 1]);
      }
      EXPECT_NEAR(sum, 0, 1e-9);
    }
}

TEST(Pod, does_not_depend_on_ranks) {
  const Record shared(Comm::world(), sample_source(n_times), std::nullopt, {}),
      own(Comm::self(), sample_source(n_times), std::nullopt, {});
  for (const auto method : {PodMethod::snapshots, PodMethod::randomised}) {
    auto options = options_of(6);
    options.method = method;
    const auto a = make_pod(Comm::world(), shared, options).modes,
               b = make_pod(Comm::self(), own, options).modes;
    const double scale = b.singular_values[0];
    for (int m = 0; m < 6; ++m) EXPECT_NEAR(a.singular_values[m], b.singular_values[m], 1e-12 * scale);
    for (std::size_t i = 0; i < a.series.values.size(); ++i)
      ASSERT_NEAR(a.series.values[i], b.series.values[i], 1e-8 * scale);
    for (std::size_t i = 0; i < a.modes.size(); ++i) ASSERT_NEAR(a.modes[i], b.modes[i], 1e-7);
  }
}

TEST(Pod, long_records_give_the_same_by_block_lanczos_and_lapack) {
  // Above 600 times the few leading eigenvectors are found by block Lanczos; with many modes by LAPACK.
  const Comm comm = Comm::world();
  const Record record(comm, sample_source(720), std::nullopt, {});
  const auto all = options_of(50, 720);
  EXPECT_EQ(chosen_method(all), PodMethod::snapshots);
  EXPECT_EQ(chosen_method(options_of(5, 720)), PodMethod::randomised);
  const auto many = make_pod(comm, record, all).modes;
  for (const auto method : {PodMethod::automatic, PodMethod::snapshots}) {
    auto options = options_of(5, 720);
    options.method = method;
    const auto few = make_pod(comm, record, options).modes;
    double captured = 0, captured_by_lapack = 0;
    for (int m = 0; m < 5; ++m) {
      const std::size_t i = m;
      EXPECT_NEAR(few.singular_values[i], many.singular_values[i], 1e-11 * many.singular_values[0]);
      captured += few.singular_values[i] * few.singular_values[i];
      captured_by_lapack += many.singular_values[i] * many.singular_values[i];
      for (std::size_t p = 0; p < few.n_points(); ++p)
        ASSERT_NEAR(few.modes[i * few.n_points() + p], many.modes[i * few.n_points() + p], 1e-9);
    }
    EXPECT_NEAR(captured / captured_by_lapack, 1, 1e-12);
  }
}

TEST(Pod, fields_of_low_rank_have_so_many_modes) {
  const Comm comm = Comm::world();
  auto source = sample_source(40);
  for (int t = 0; t < 40; ++t)
    for (std::size_t c = 0; c < source->grid.size(); ++c)
      source->values[t * source->grid.size() + c] =
          c % 7 == 3 ? NAN : std::sin(0.3 * t) * (c % 5) + std::cos(0.2 * t) * (c % 3);
  RecordOptions still;
  still.constant_points = ConstantPoints::sea;  // where modes are zero nothing varies
  const Record record(comm, std::move(source), std::nullopt, still);
  for (const auto method : {PodMethod::snapshots, PodMethod::randomised}) {
    auto options = options_of(2, 40);
    options.method = method;
    EXPECT_NEAR(make_pod(comm, record, options).modes.captured_variance, 1, 1e-12);
    options.n_modes = 3;
    EXPECT_THROW(static_cast<void>(make_pod(comm, record, options)), InputError);
  }
}

TEST(Pod, what_cannot_be_is_refused) {
  const Comm comm = Comm::world();
  const Record record(comm, sample_source(n_times), std::nullopt, {});
  EXPECT_THROW(static_cast<void>(make_pod(comm, record, options_of(n_fit))),
               InputError);  // more modes than snapshots
  EXPECT_THROW(static_cast<void>(make_pod(comm, record, options_of(3, n_times + 1))), InputError);
  EXPECT_THROW(static_cast<void>(make_pod(comm, record, options_of(3, 1))), InputError);
  auto seasons = options_of(2, 20);  // 20 weeks tell no seasons
  seasons.background = PodBackground::climatology;
  EXPECT_THROW(static_cast<void>(make_pod(comm, record, seasons)), InputError);
}

TEST(Pod, background_of_named_years_is_that_of_these_years_alone) {
  const Comm comm = Comm::world();
  const Record record(comm, sample_source(720), std::nullopt, {});  // 1981-10-29 on, weekly
  auto options = options_of(4, 600);                                // to 1993-04
  options.background = PodBackground::climatology;
  options.harmonics = 2;
  options.background_years = YearSpan{1985, 1988};
  const auto modes = make_pod(comm, record, options).modes;
  const auto& days = record.days();
  // Least squares: what is left is at right angles to every function of the background, over these years.
  const auto fields = record.read(0, 600);
  std::vector<double> products(5, 0.0);
  const std::vector<double> none(4, 0.0);
  double size = 0;
  for (int t = 0; t < 600; ++t) {
    if (days[t] < day_of({1985, 1, 1}) || days[t] >= day_of({1989, 1, 1})) continue;
    const auto background = expand(modes, days[t], none.data());
    const auto season = season_of(days[t], 2);
    for (int p = 0; p < record.n_mine(); ++p) {
      const double left = fields.row(p)[t] - background[record.first_point(comm.rank()) + p];
      if (p != 0) continue;  // each point by itself: the first of this rank
      products[0] += left;
      for (int k = 0; k < 4; ++k) products[k + 1] += left * season[k];
      size += left * left;
    }
  }
  for (const double product : products) EXPECT_NEAR(product, 0, 1e-9 * std::sqrt(size * 209));
  options.background_years.reset();
  EXPECT_GT(std::abs(make_pod(comm, record, options).modes.mean[0] - modes.mean[0]), 1e-4);
  for (const auto& [first, last, fits] :
       {std::tuple{1982, 1992, true}, {1981, 1990, false}, {1985, 1993, false}}) {
    options.background_years = YearSpan{first, last};
    if (fits)
      EXPECT_NO_THROW(check_pod({{&record}}, options)) << first;
    else
      EXPECT_THROW(check_pod({{&record}}, options), InputError) << first;
  }
}

TEST(Pod, projects_a_record_on_its_own_coefficients) {
  const Comm comm = Comm::world();
  const Record record(comm, sample_source(n_times), std::nullopt, {});
  for (const auto background : {PodBackground::mean, PodBackground::climatology}) {
    auto options = options_of(5);
    options.weights = PodWeights::area;
    options.background = background;
    options.harmonics = 1;
    const auto modes = make_pod(comm, record, options).modes;
    const auto again = project(comm, {{&record}}, modes);
    ASSERT_EQ(again.size(), modes.series.values.size());
    for (std::size_t i = 0; i < again.size(); ++i)
      EXPECT_NEAR(again[i], modes.series.values[i], 1e-10 * modes.singular_values[0]);
    auto other = modes;
    other.mask[0] ^= 1;
    EXPECT_THROW(static_cast<void>(project(comm, {{&record}}, other)), InputError);
  }
}

/// Modes of which nothing but coefficients matter: independent series x(t) = r x(t-1) + noise.
OceanModes series_of(const std::vector<double>& deviations, const std::vector<double>& persistence, int n,
                     std::uint64_t seed) {
  OceanModes modes;
  modes.series.n_modes = deviations.size();
  modes.n_fit = n;
  std::vector<double> state(deviations.size());
  modes.singular_values.assign(deviations.size(), 0.0);
  for (int t = -200; t < n; ++t) {
    for (std::size_t m = 0; m < state.size(); ++m) {
      double x = 0, y = 0;
      normal_pair(11, seed, m, t + 200, x, y);
      const double r = persistence[m];
      state[m] = r * state[m] + std::sqrt(1 - r * r) * x;
      if (t < 0) continue;
      modes.series.values.push_back(deviations[m] * state[m]);
      modes.singular_values[m] += std::pow(deviations[m] * state[m], 2);
    }
    if (t >= 0) modes.series.time.push_back(t);
  }
  for (double& s : modes.singular_values) s = std::sqrt(s);
  return modes;
}

TEST(SamplingErrors, are_the_scatter_of_variances_over_many_records) {
  constexpr int n = 600, n_records = 400;
  const std::vector<double> persistence{0.0, 0.6, 0.9};
  std::vector<double> sum(3), square(3), said(3);
  for (int k = 0; k < n_records; ++k) {
    const auto sampling = sampling_errors(series_of({1, 1, 1}, persistence, n, k));
    for (std::size_t m = 0; m < 3; ++m) {
      sum[m] += sampling[m].variance / n_records;
      square[m] += sampling[m].variance * sampling[m].variance / n_records;
      said[m] += sampling[m].error / n_records;
    }
  }
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_NEAR(sum[m], 1, 0.03);
    EXPECT_NEAR(said[m] / std::sqrt(square[m] - sum[m] * sum[m]), 1, 0.12)
        << persistence[m];  // 3.5 % of each
  }
}

TEST(SamplingErrors, tell_modes_that_cannot_be_told_apart) {
  constexpr int n = 400;  // the error is 7 %
  const auto close = sampling_errors(series_of({1.0, 1.0}, {0, 0}, n, 1));
  EXPECT_FALSE(close[0].separate && close[0].variance < 1.05 * close[1].variance);
  auto modes = series_of({2.0, 1.0}, {0, 0}, n, 1);
  EXPECT_TRUE(sampling_errors(modes)[0].separate);
  const double error = sampling_errors(modes)[0].error, variance = sampling_errors(modes)[0].variance;
  modes.singular_values[1] = std::sqrt((variance - 0.99 * error) * n);
  EXPECT_FALSE(sampling_errors(modes)[0].separate);
  modes.singular_values[1] = std::sqrt((variance - 1.01 * error) * n);
  EXPECT_TRUE(sampling_errors(modes)[0].separate);
}

}  // namespace
}  // namespace quintet::ocean
