#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/ocean/pod.hpp"
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
      for (int t = 0; t < n_fit; ++t) mean += source.values[static_cast<std::size_t>(t) * cells + c] / n_fit;
      reference.mean.push_back(mean);
    }
  reference.n_points = static_cast<int>(reference.mean.size());
  for (int t = 0; t < n_fit; ++t)
    for (std::size_t c = 0, p = 0; c < cells; ++c)
      if (mask[c] == 1) {
        x.push_back((source.values[static_cast<std::size_t>(t) * cells + c] - reference.mean[p]) *
                    std::sqrt(weights[p]));
        ++p;
      }
  const int m = reference.n_points, n = n_fit, least = std::min(m, n), size = 20 * (m + n);
  reference.values.resize(least);
  reference.modes.resize(static_cast<std::size_t>(m) * static_cast<std::size_t>(least));
  std::vector<double> vt(static_cast<std::size_t>(least) * static_cast<std::size_t>(n)),
      work(static_cast<std::size_t>(size));
  int info = 0;
  dgesvd_("S", "S", &m, &n, x.data(), &m, reference.values.data(), reference.modes.data(), &m, vt.data(),
          &least, work.data(), &size, &info);
  EXPECT_EQ(info, 0);
  for (int k = 0; k < least; ++k)
    for (int p = 0; p < m; ++p) reference.modes[static_cast<std::size_t>(k) * m + p] /= std::sqrt(weights[p]);
  return reference;
}

double inner(const OceanModes& modes, int m, const double* other) {
  double sum = 0;
  const std::size_t n = modes.n_points();
  for (std::size_t x = 0; x < n; ++x)
    sum += modes.weights[x] * modes.modes[static_cast<std::size_t>(m) * n + x] * other[x];
  return sum;
}

TEST(Pod, is_lapacks_svd) {
  const Comm comm = Comm::world();
  const auto source = sample_source(n_times);
  const Record record(comm, alone(sample_source(n_times)), std::nullopt, {});
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
        EXPECT_NEAR(
            std::abs(inner(modes, m, &reference.modes[static_cast<std::size_t>(m) * modes.n_points()])), 1,
            1e-12);
        for (int k = 0; k <= m; ++k)
          EXPECT_NEAR(inner(modes, m, &modes.modes[static_cast<std::size_t>(k) * modes.n_points()]),
                      k == m ? 1 : 0, 1e-12);
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
    if (mask[c] == 1) values.push_back(source.values[static_cast<std::size_t>(t) * mask.size() + c]);
  return values;
}

TEST(Pod, all_modes_reproduce_the_fields) {
  const Comm comm = Comm::world();
  const auto source = sample_source(n_times);
  const Record record(comm, alone(sample_source(n_times)), std::nullopt, {});
  for (const auto background : {PodBackground::mean, PodBackground::climatology}) {
    auto options = options_of(0);
    options.background = background;
    options.harmonics = 1;
    options.n_modes = n_fit - (background == PodBackground::mean ? 1 : 3);
    const auto pod = make_pod(comm, record, options);
    EXPECT_NEAR(pod.modes.captured_variance, 1, 1e-12);
    EXPECT_NEAR(pod.error_fit, 0, 1e-6);
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
  const Record record(comm, alone(sample_source(n_times)), std::nullopt, {});
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
  EXPECT_NEAR(pod.error_later, std::sqrt(missed), 1e-11);
}

TEST(Pod, seasons_are_taken_from_anomalies) {
  const Comm comm = Comm::world();
  const Record record(comm, alone(sample_source(160)), std::nullopt, {});
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
  const Record shared(Comm::world(), alone(sample_source(n_times)), std::nullopt, {}),
      own(Comm::self(), alone(sample_source(n_times)), std::nullopt, {});
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
  const Record record(comm, alone(sample_source(720)), std::nullopt, {});
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
      const auto i = static_cast<std::size_t>(m);
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
      source->values[static_cast<std::size_t>(t) * source->grid.size() + c] =
          c % 7 == 3 ? NAN
                     : std::sin(0.3 * t) * static_cast<double>(c % 5) +
                           std::cos(0.2 * t) * static_cast<double>(c % 3);
  RecordOptions still;
  still.constant_points = ConstantPoints::sea;  // where modes are zero nothing varies
  const Record record(comm, alone(std::move(source)), std::nullopt, still);
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
  const Record record(comm, alone(sample_source(n_times)), std::nullopt, {});
  EXPECT_THROW(static_cast<void>(make_pod(comm, record, options_of(n_fit))),
               InputError);  // more modes than snapshots
  EXPECT_THROW(static_cast<void>(make_pod(comm, record, options_of(3, n_times + 1))), InputError);
  EXPECT_THROW(static_cast<void>(make_pod(comm, record, options_of(3, 1))), InputError);
  auto seasons = options_of(2, 20);  // 20 weeks tell no seasons
  seasons.background = PodBackground::climatology;
  EXPECT_THROW(static_cast<void>(make_pod(comm, record, seasons)), InputError);
}

}  // namespace
}  // namespace quintet::ocean
