#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/ocean/field_source.hpp"
#include "physics/ocean/svd/tall_matrix.hpp"

namespace quintet::ocean {

/// Treatment of points that have one value at all times.
enum class ConstantPoints {
  refuse,  ///< unless a mask says that they are sea, or they freeze at high latitude: sea under ice
  land,
  sea
};

/// Part of its sources that a record is to hold.
struct RecordOptions {
  std::optional<double> from, to;    ///< first and last day, both included
  double south = -90, north = 90;    ///< degrees
  std::optional<double> west, east;  ///< degrees east, in any turn: from west eastward to east
  bool drop_incomplete =
      false;               ///< sea points without a value at some time are left out; else they are refused
  bool keep_gaps = false;  ///< missing times are told of; else they are refused
  ConstantPoints constant_points = ConstantPoints::refuse;
};

/// A record of fields: sources that follow each other in time, on one grid, at the points of the sea.
///
/// Points are shared out over the ranks in blocks of their order. Each value is looked at before anything is
/// computed. One source is open at a time. Errors (InputError, in one line that names file, date and place):
/// other grids or units from file to file, times that overlap, gaps, times without any value, sea points with
/// values at some times or one value at all, values that are not finite or no temperature, no sea at all.
class Record {
 public:
  /// Collective. `mask`: what is sea; without it, where there is a value at every time.
  Record(const Comm& comm, std::vector<std::unique_ptr<FieldSource>> sources,
         const std::optional<MaskFile>& mask, const RecordOptions& options);

  [[nodiscard]] const OceanGrid& grid() const { return grid_; }
  [[nodiscard]] const std::vector<std::uint8_t>& mask() const { return mask_; }  ///< [lat, lon] 1 sea
  [[nodiscard]] const std::vector<double>& days() const { return days_; }
  [[nodiscard]] int n_times() const { return static_cast<int>(days_.size()); }
  [[nodiscard]] int n_points() const { return static_cast<int>(cells_.size()); }  ///< of all ranks
  [[nodiscard]] int first_point(int rank) const;  ///< of a rank; of all: n_points()
  [[nodiscard]] int n_mine() const { return first_point(comm_.rank() + 1) - first_point(comm_.rank()); }
  [[nodiscard]] const std::string& units() const { return sources_.front()->units; }
  [[nodiscard]] FieldQuantity quantity() const { return sources_.front()->quantity; }
  [[nodiscard]] const std::string& calendar() const { return sources_.front()->calendar; }
  [[nodiscard]] double latitude_of(int point) const;
  [[nodiscard]] const std::vector<std::string>& notes() const {
    return notes_;
  }  ///< what the user should know
  [[nodiscard]] std::string source_names() const;

  /// Values [this rank's points, n] from a time on. Ranks share the reading. Collective.
  [[nodiscard]] TallMatrix read(int first, int n) const;

 private:
  static constexpr int times_together = 16;  ///< that a rank reads before values travel
  struct Place {
    int source, time;
  };
  void compare_sources();
  void join_times(const RecordOptions& options);
  void select_region(const RecordOptions& options);
  void scan(const std::optional<MaskFile>& mask, const RecordOptions& options);
  /// Points that have one value at all times: `value` [cells of the region] where `constant` is 1.
  void judge_constant(std::vector<std::uint8_t> constant, const std::vector<double>& value,
                      std::vector<std::uint8_t>& candidate, bool has_mask, const RecordOptions& options);
  /// Take from `constant` what is sea under ice, and tell of it.
  void know_ice(std::vector<std::uint8_t>& constant, const std::vector<double>& value);
  void close_others(int source) const;
  [[nodiscard]] std::string place_of(std::size_t cell) const;
  [[nodiscard]] std::vector<double> fields(int first, int n) const;  ///< [n, cells of the region]

  Comm comm_;
  std::vector<std::unique_ptr<FieldSource>> sources_;
  OceanGrid grid_;
  std::vector<std::size_t> rows_, columns_;  ///< of the region in the sources' grid
  std::vector<double> days_;
  std::vector<Place> places_;       ///< [n_times]
  std::vector<std::size_t> cells_;  ///< [n_points] in the region
  std::vector<std::uint8_t> mask_;
  std::vector<std::string> notes_;
  mutable int open_ = -1;  ///< the source that is open
};

}  // namespace quintet::ocean
