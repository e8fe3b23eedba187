#include "physics/ocean/sources/coarse_source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"
#include "physics/ocean/sources/joined_source.hpp"

namespace quintet::ocean {
namespace {

constexpr double least_sea = 0.5;  ///< share of a box's area from which on it is sea

/// sin of the northern less that of the southern edge of each latitude's band: its share of the sphere's
/// area, but for a factor.
std::vector<double> bands(const std::vector<double>& latitude) {
  const auto sine = [](double degrees) {
    return std::sin(std::clamp(degrees, -90.0, 90.0) * std::numbers::pi / 180);
  };
  std::vector<double> areas;
  for (std::size_t i = 0, n = latitude.size(); i < n; ++i) {
    const double below = i > 0 ? latitude[i] - latitude[i - 1] : n > 1 ? latitude[1] - latitude[0] : 1;
    const double above = i + 1 < n ? latitude[i + 1] - latitude[i] : below;
    areas.push_back(sine(latitude[i] + above / 2) - sine(latitude[i] - below / 2));
  }
  return areas;
}

/// Means of `factor` neighbours, which must be neighbours.
std::vector<double> middles(const std::vector<double>& values, int factor, const char* what,
                            const std::string& section, const std::string& region) {
  double narrowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < values.size(); ++i) narrowest = std::min(narrowest, values[i] - values[i - 1]);
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); i += factor) {
    double sum = 0;
    for (std::size_t k = i; k < i + factor; ++k) {
      QUINTET_CHECK(
          k == i || values[k] - values[k - 1] < 1.5 * narrowest,
          "{}.coarsen: {} of a box have a gap between {} and {}: choose a {} that lies on one side of it",
          section, what, values[std::max<std::size_t>(k, 1) - 1], values[k], region);
      sum += values[k];
    }
    means.push_back(sum / factor);
  }
  return means;
}

class CoarseSource : public FieldSource {
 public:
  CoarseSource(std::unique_ptr<FieldSource> fine, int factor, const GridRegion& region,
               const std::optional<std::vector<std::uint8_t>>& sea)
      : FieldSource(static_cast<const FieldFacts&>(*fine)), fine_(std::move(fine)), factor_(factor) {
    notes = fine_->notes;
    part_ = part_of(fine_->grid, region);
    const auto check = [&](std::size_t n, const char* what) {
      QUINTET_CHECK(
          n % factor == 0,
          "{}.coarsen: {} {} do not make boxes of {}; choose a divisor, or a {} that leaves {} of them out",
          section, n, what, factor, region.key, n % factor);
    };
    check(part_.rows.size(), "latitudes"), check(part_.columns.size(), "longitudes");
    std::vector<double> latitude, longitude;
    for (const auto i : part_.rows) latitude.push_back(fine_->grid.latitude[i]);
    for (const auto j : part_.columns) longitude.push_back(fine_->grid.longitude[j]);
    grid = {middles(latitude, factor, "latitudes", section, region.key),
            middles(longitude, factor, "longitudes", section, region.key)};
    areas_ = bands(latitude);
    share_out(sea ? *sea : sea_of_first());
  }

  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    const std::size_t n_boxes = grid.size();
    std::vector<double> values(n * n_boxes, 0.0);
    const std::size_t n_fine = fine_->grid.size();
    for (int begin = 0; begin < n; begin += times_at_once()) {
      const int some = std::min(times_at_once(), n - begin);
      const auto fields = fine_->read(first + begin, some);
      each_at_once(some, [&](int k) {
        double* boxes = values.data() + (begin + k) * n_boxes;
        add_up(fields.data() + k * n_fine, boxes);
        for (std::size_t box = 0; box < n_boxes; ++box)
          boxes[box] =
              sea_area_[box] > 0 ? boxes[box] / sea_area_[box] : std::numeric_limits<double>::quiet_NaN();
      });
    }
    return values;
  }
  [[nodiscard]] std::uint64_t sea_checksum() const { return hdf5::xxh64(std::as_bytes(std::span(is_sea_))); }
  void close() const override { fine_->close(); }
  [[nodiscard]] std::string place(int time) const override { return fine_->place(time); }
  [[nodiscard]] std::optional<std::uint64_t> stamp(int time) const override { return fine_->stamp(time); }
  [[nodiscard]] double bytes_of_reading() const override {
    return fine_->bytes_of_reading() + times_at_once() * 8.0 * fine_->grid.size() + is_sea_.size();
  }

 private:
  /// Sums over the sea of each box, times the area of a row's points.
  void add_up(const double* field, double* boxes) const {
    const std::size_t n_lon = fine_->grid.longitude.size(), n_columns = grid.longitude.size();
    const std::uint8_t* is_sea = is_sea_.data();
    for (std::size_t i = 0; i < part_.rows.size(); ++i) {
      const double* row = field + part_.rows[i] * n_lon;
      double* box = boxes + i / factor_ * n_columns;
      for (std::size_t b = 0; b < n_columns; ++b) {
        const double* value = row + part_.columns[b * factor_];  // the columns of a box are neighbours
        double sum = 0;
        for (std::size_t j = 0; j < factor_; ++j) sum += is_sea[j] != 0 ? value[j] : 0.0;
        box[b] += areas_[i] * sum;
        is_sea += factor_;
      }
    }
  }

  [[nodiscard]] std::vector<std::uint8_t> sea_of_first() const {
    const auto field = fine_->read(0, 1);
    fine_->close();
    std::vector<std::uint8_t> sea;
    for (const double value : field) sea.push_back(std::isnan(value) ? 0 : 1);
    QUINTET_CHECK(std::find(sea.begin(), sea.end(), 1) != sea.end(), "{}: has no value at its first time",
                  fine_->place(0));
    return sea;
  }

  /// Which points make up which box, and with which areas.
  void share_out(const std::vector<std::uint8_t>& sea) {
    std::vector<double> total(grid.size());
    sea_area_.assign(grid.size(), 0.0);
    const auto box_of = [&](std::size_t i, std::size_t j) {
      return i / factor_ * grid.longitude.size() + j / factor_;
    };
    for (std::size_t i = 0; i < part_.rows.size(); ++i)
      for (std::size_t j = 0; j < part_.columns.size(); ++j) {
        is_sea_.push_back(sea[part_.rows[i] * fine_->grid.longitude.size() + part_.columns[j]] != 0 ? 1 : 0);
        total[box_of(i, j)] += areas_[i];
        sea_area_[box_of(i, j)] += areas_[i] * is_sea_.back();
      }
    std::size_t n_sea = 0, n_coast = 0;
    for (std::size_t box = 0; box < total.size(); ++box) {
      const bool is_sea = sea_area_[box] >= least_sea * total[box] * (1 - 1e-12);
      n_sea += is_sea ? 1U : 0U;
      n_coast += !is_sea && sea_area_[box] > 0 ? 1U : 0U;
      if (!is_sea) sea_area_[box] = 0;
    }
    QUINTET_CHECK(n_sea > 0, "{}.coarsen: no box of {} x {} points is half sea", section, factor_, factor_);
    notes.push_back(fmt::format(
        "boxes of {} x {} points: means over their sea by area, {} boxes are sea; {} with some sea are land, "
        "as less than half of their area is sea",
        factor_, factor_, n_sea, n_coast));
  }

  std::unique_ptr<FieldSource> fine_;
  std::size_t factor_;
  GridPart part_;
  std::vector<double> areas_;         ///< of a point in each row
  std::vector<std::uint8_t> is_sea_;  ///< [rows, columns] of the part
  std::vector<double> sea_area_;      ///< of each box; 0 on land
};

}  // namespace

Coarse coarse(std::unique_ptr<FieldSource> fine, int factor, const GridRegion& region,
              const std::optional<std::vector<std::uint8_t>>& sea) {
  auto source = std::make_unique<CoarseSource>(std::move(fine), factor, region, sea);
  const auto checksum = source->sea_checksum();
  return {std::move(source), checksum};
}

}  // namespace quintet::ocean
