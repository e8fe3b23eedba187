#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/ocean/coordinates/grid.hpp"
#include "physics/ocean/sources/field_source.hpp"
#include "physics/ocean/svd/tall_matrix.hpp"

namespace quintet::ocean {

/// Treatment of points that have one value at all times.
enum class ConstantPoints {
  refuse,  ///< unless a mask says that they are sea, or they freeze at high latitude: sea under ice
  land,
  sea
};

/// Treatment of sea points that have no value at some times.
enum class IncompletePoints {
  refuse,
  drop,
  dineof  ///< they are kept; read() gives NaN for what is missing, and make_pod() fills it
};

/// Part of its sources that a record is to hold.
struct RecordOptions {
  std::optional<double> from, to;  ///< first and last day, both included
  GridRegion region;
  IncompletePoints incomplete_points = IncompletePoints::refuse;
  double least_values = 0.2;  ///< share of the times that incomplete points have values at, to be kept
  bool keep_gaps = false;     ///< missing times are told of; else they are refused
  ConstantPoints constant_points = ConstantPoints::refuse;
};

/// A record of fields over time, at the points of the sea.
///
/// Points are shared out over the ranks in blocks of their order. Each value is looked at before anything is
/// computed. Errors (InputError, in one line that names file, date and place): gaps, times without any value,
/// sea points with values at some times or one value at all, values that are not finite or no temperature, no
/// sea at all.
class Record {
 public:
  /// Collective. `mask`: what is sea; without it, where there is a value at every time.
  Record(const Comm& comm, std::unique_ptr<FieldSource> source, const std::optional<MaskFile>& mask,
         const RecordOptions& options);

  [[nodiscard]] const OceanGrid& grid() const { return grid_; }
  [[nodiscard]] const std::vector<std::uint8_t>& mask() const { return mask_; }  ///< [lat, lon] 1 sea
  [[nodiscard]] const std::vector<double>& days() const { return days_; }
  [[nodiscard]] int n_times() const { return days_.size(); }
  [[nodiscard]] int n_points() const { return cells_.size(); }  ///< of all ranks
  [[nodiscard]] int first_point(int rank) const;                ///< of a rank; of all: n_points()
  /// Values that sea points lack; 0 unless they were to be kept.
  [[nodiscard]] std::int64_t n_missing() const { return n_missing_; }
  /// Share of all values that are missing.
  [[nodiscard]] double share_missing() const {
    return static_cast<double>(n_missing_) / (static_cast<double>(n_points()) * n_times());
  }
  /// A point in words: "0.5N 209.5E".
  [[nodiscard]] std::string place_of_point(int point) const { return place_of(cells_[point]); }
  [[nodiscard]] int n_mine() const { return first_point(rank_ + 1) - first_point(rank_); }
  [[nodiscard]] const std::string& units() const { return source_->units; }
  [[nodiscard]] FieldQuantity quantity() const { return source_->quantity; }
  [[nodiscard]] const VariableNames& variable() const { return source_->variable; }
  [[nodiscard]] const std::string& calendar() const { return source_->calendar; }
  [[nodiscard]] double latitude_of(int point) const;
  [[nodiscard]] const std::vector<std::string>& notes() const {
    return notes_;
  }  ///< what the user should know
  [[nodiscard]] const std::string& source_names() const { return source_->name; }
  /// Memory that reading takes on a rank, beside what read() returns (bytes).
  [[nodiscard]] double bytes_of_reading() const;

  /// Values [this rank's points, n] from a time on, NaN where they are missing. Ranks share the reading.
  /// Collective.
  [[nodiscard]] TallMatrix read(int first, int n) const;

 private:
  static constexpr int times_together = 16;  ///< that a rank reads before values travel
  void select_times(const RecordOptions& options);
  void check_steps(bool keep_gaps);
  void scan(const std::optional<MaskFile>& mask, const RecordOptions& options);
  void choose_points(const std::vector<std::uint8_t>& candidate, const std::vector<int>& missing,
                     bool has_mask, const RecordOptions& options);
  /// Points that have one value at all times: `value` [cells of the region] where `constant` is 1.
  void judge_constant(std::vector<std::uint8_t> constant, const std::vector<double>& value,
                      std::vector<std::uint8_t>& candidate, bool has_mask, const RecordOptions& options);
  /// Take from `constant` what is sea under ice, and tell of it.
  void know_ice(std::vector<std::uint8_t>& constant, const std::vector<double>& value);
  [[nodiscard]] std::string place_of(std::size_t cell) const;
  [[nodiscard]] std::vector<double> fields(int first, int n) const;  ///< [n, cells of the region]

  std::shared_ptr<const Comm> comm_;
  int rank_;
  std::unique_ptr<FieldSource> source_;
  OceanGrid grid_;
  GridPart part_;  ///< the region in the source's grid
  std::vector<double> days_;
  int first_time_ = 0;              ///< of the source: days_[0]
  std::vector<std::size_t> cells_;  ///< [n_points] in the region
  std::int64_t n_missing_ = 0;
  std::vector<std::uint8_t> mask_;
  std::vector<std::string> notes_;
};

}  // namespace quintet::ocean
