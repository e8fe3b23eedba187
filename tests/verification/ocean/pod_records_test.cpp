#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coefficient_file.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/pod.hpp"
#include "tests/support/open_fields.hpp"
#include "tests/verification/ocean/array_source.hpp"

/// Records of real oceans, where they are at hand: the folder shared/data/ocean beside the sources, or above
/// them.
namespace quintet::ocean {
namespace {

using namespace testing;

std::string data_folder() {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  if (source == nullptr) return "";
  for (const char* place : {"/shared/data/ocean", "/../shared/data/ocean"})
    if (std::filesystem::exists(std::string(source) + place + "/sst_pod5_1deg.nc"))
      return std::string(source) + place;
  return "";
}

/// mean + sum_m a(t, m) mode_m of the file's five modes, north first as they are stored, turned by hand.
class ExpandedSource : public FieldSource {
 public:
  explicit ExpandedSource(const std::string& path) {
    const auto file = netcdf::File::open(path);
    const auto latitude = file.read_unpacked(file.variable("lat")),
               longitude = file.read_unpacked(file.variable("lon")),
               mask = file.read_unpacked(file.variable("mask"));
    name = path;
    for (std::size_t i = latitude.size(); i-- > 0;) grid.latitude.push_back(latitude[i]);
    grid.longitude = longitude;
    days = file.read_unpacked(file.variable("time"));
    a_ = file.read_unpacked(file.variable("a"));
    const auto modes = file.read_unpacked(file.variable("modes")),
               mean = file.read_unpacked(file.variable("mean"));
    for (std::size_t i = latitude.size(); i-- > 0;)
      for (std::size_t j = 0; j < longitude.size(); ++j) {
        const std::size_t c = i * longitude.size() + j;
        mean_.push_back(mask[c] == 1 ? mean[c] : NAN);
        for (std::size_t m = 0; m < 5; ++m) modes_.push_back(mask[c] == 1 ? modes[m * mask.size() + c] : NAN);
      }
  }
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    std::vector<double> values;
    for (int t = first; t < first + n; ++t)
      for (std::size_t c = 0; c < mean_.size(); ++c) {
        double value = mean_[c];
        for (std::size_t m = 0; m < 5; ++m) value += a_[std::int64_t{t} * 5 + m] * modes_[c * 5 + m];
        values.push_back(value);
      }
    return values;
  }

 private:
  std::vector<double> a_, mean_, modes_;
};

double mean_of(const std::vector<double>& field, const std::vector<double>& latitude, std::size_t n_lon,
               bool by_area) {
  double sum = 0, weight = 0;
  for (std::size_t c = 0; c < field.size(); ++c) {
    if (std::isnan(field[c])) continue;
    const double w = by_area ? std::cos(latitude[c / n_lon] * M_PI / 180) : 1;
    sum += w * field[c], weight += w;
  }
  return sum / weight;
}

TEST(RealRecords, the_papers_field_has_the_papers_singular_values) {
  const auto folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "no folder shared/data/ocean";
  const Comm comm = Comm::world();
  auto source = std::make_unique<ExpandedSource>(folder + "/sst_pod5_1deg.nc");
  const auto first = source->read(0, 1), last = source->read(1731, 1);
  EXPECT_NEAR(first[90 * 360 + 209], 26.591, 5e-4);  // 0.5N 209.5E
  EXPECT_NEAR(mean_of(first, source->grid.latitude, 360, false), 13.3894, 5e-5);
  EXPECT_NEAR(mean_of(last, source->grid.latitude, 360, false), 13.5685, 5e-5);
  EXPECT_NEAR(mean_of(first, source->grid.latitude, 360, true), 17.9251, 5e-5);
  EXPECT_NEAR(mean_of(last, source->grid.latitude, 360, true), 18.1264, 5e-5);
  source->days.resize(427);
  const Record record(comm, std::move(source), std::nullopt, {});
  EXPECT_EQ(record.n_points(), 44219);
  const auto coefficients = read_coefficients(comm, folder + "/sst_pod_coefficients_weekly.nc", "a");
  for (const auto method : {PodMethod::snapshots, PodMethod::randomised}) {
    PodOptions options;
    options.n_fit = 427;
    options.method = method;
    const auto pod = make_pod(comm, record, options);
    const std::vector<double> values{7351.583, 1488.039, 1401.043, 978.536, 681.055},
        shares{.9061, .0371, .0329, .0161, .0078};
    double sum = 0;
    for (const double s : pod.modes.singular_values) sum += s * s;
    for (std::size_t m = 0; m < 5; ++m) {
      const double s = pod.modes.singular_values[m];
      EXPECT_NEAR(s, values[m], 1e-4 * values[m]);
      EXPECT_NEAR(s * s / sum, shares[m], 6e-5);
    }
    EXPECT_NEAR(pod.modes.captured_variance, 1, 1e-12);  // the sixth is below 2e-4
    EXPECT_LT(pod.variables[0].error_fit * std::sqrt(44219.0 * 427), 2e-2);
    // The paper's own coefficients come back, but for signs.
    for (int m = 0; m < 5; ++m) {
      double product = 0, norm = 0;
      for (int t = 0; t < 427; ++t) {
        product += pod.modes.series.row(t)[m] * coefficients.series.row(t)[m];
        norm += coefficients.series.row(t)[m] * coefficients.series.row(t)[m];
      }
      EXPECT_NEAR(std::abs(product) / norm, 1, 1e-4) << m;
    }
  }
}

TEST(RealRecords, monthly_fields_of_another_analysis) {
  const auto folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "no folder shared/data/ocean";
  const Comm comm = Comm::world();
  auto source = test::open_fields(folder + "/ersst_v5_2deg_monthly_2010_2014.nc", "sst");
  RecordOptions chosen;
  chosen.constant_points = ConstantPoints::sea;  // -1.8 degrees Celsius under ice
  chosen.to = day_of({2014, 12, 31});
  const Record record(comm, std::move(source), std::nullopt, chosen);
  EXPECT_EQ(record.n_points(), 10988);
  EXPECT_EQ(record.n_times(), 60);
  EXPECT_EQ(date_text(record.days().front()), "2010-01-01");
  PodOptions options;
  options.n_fit = 60;
  const auto pod = make_pod(comm, record, options);
  const std::vector<double> values{1463.987, 292.424, 258.262, 173.744, 136.404},
      shares{.8759, .0349, .0273, .0123, .0076};
  for (std::size_t m = 0; m < 5; ++m) {
    const double s = pod.modes.singular_values[m];
    EXPECT_NEAR(s, values[m], 1e-4 * values[m]);
    EXPECT_NEAR(s * s / pod.variables[0].variance_fit / 60 / 10988, shares[m], 6e-5);
  }
}

TEST(RealRecords, the_papers_coefficients_are_read) {
  const auto folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "no folder shared/data/ocean";
  const auto file = read_coefficients(Comm::world(), folder + "/sst_pod_coefficients_weekly.nc", "a");
  EXPECT_EQ(file.series.n_times(), 1732);
  EXPECT_EQ(file.series.n_modes, 5);
  EXPECT_EQ(file.n_fit, 427);
  EXPECT_EQ(date_text(file.series.time[0]), "1981-10-29");
  EXPECT_EQ(date_text(file.series.time[426]), "1989-12-28");
  EXPECT_EQ(date_text(file.series.time[427]), "1989-12-31");
  EXPECT_EQ(date_text(file.series.time[1731]), "2014-12-28");
}

}  // namespace
}  // namespace quintet::ocean
