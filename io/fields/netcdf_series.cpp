#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/ranges.h>

#include "io/fields/field_formats.hpp"
#include "io/fields/staggered.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

// Fields over time in netCDF files and zarr folders: variables with a dimension of time and one to three of
// space, known by coordinates of their names (xarray, CF); Oceananigans' are on a staggered grid.

namespace quintet::field_formats {
namespace {

constexpr const char* names_of_time[] = {"time", "t", "Time", "sim_time"};

std::string units_of(const netcdf::Variable& variable) { return variable.text("units").value_or(""); }

/// An axis of a field as the file has it.
struct Line {
  std::string dimension;  ///< "xC"
  std::string axis;       ///< "x"
  bool face = false, falls = false;
  std::vector<double> points;  ///< ascending, as read
};

class NetcdfSeries : public Source {
 public:
  NetcdfSeries(const std::string& path, const FieldSeriesOptions& options)
      : path_(path), file_(netcdf::File::open(path)), wanted_(options.fields) {
    header.name = "netcdf";
    reading.add(file_->reading());
    find_times(options);
    for (const auto& variable : file_->variables()) take(variable);
    choose_fields();
    for (const auto& axis : axes_) read_axis(axis, options);
    for (auto& place : places_) prepare(place);
    if (!netcdf::is_folder_of_arrays(path)) file_.reset();
  }

  void read(int field, std::uint64_t, const FieldBox& box, std::vector<float>& values) const override {
    const auto found = values_of(field, box);
    values.assign(found.begin(), found.end());
  }
  void read(int field, std::uint64_t, const FieldBox& box, std::vector<double>& values) const override {
    values = values_of(field, box);
  }

 private:
  /// A field: its variable, and its lines in the order of the axes.
  struct Place {
    netcdf::Variable variable;
    std::string name;
    std::vector<Line> lines;                            ///< [axis]
    std::vector<std::size_t> dimensions;                ///< [axis] of the variable
    std::vector<std::optional<LineWeights>> weights{};  ///< [axis] onto the points of the axis
  };

  std::string path_;
  std::optional<netcdf::File> file_;  ///< but for zarr, open only while it is read: see values_of()
  std::vector<std::string> wanted_;
  std::string time_;                   ///< its dimension
  std::map<std::string, Line> lines_;  ///< by dimension
  std::vector<std::string> axes_;
  std::vector<Place> places_;

  [[nodiscard]] const std::string& path() const { return path_; }

  /// The variable that says the times, and its dimension.
  void find_times(const FieldSeriesOptions& options) {
    const netcdf::Variable* found = nullptr;
    for (const auto& variable : file_->variables()) {
      if (variable.shape.size() != 1 || !variable.holds_numbers()) continue;
      const bool named = std::find(std::begin(names_of_time), std::end(names_of_time), variable.name) !=
                         std::end(names_of_time);
      const bool said = variable.attributes.contains("units") && variable.attributes.at("units").is_text &&
                        units_of(variable).find(" since ") != std::string::npos;
      if ((named || said) && (found == nullptr || variable.name == variable.dimensions[0])) found = &variable;
    }
    if (found != nullptr) {
      time_ = found->dimensions[0];
      times = file_->read_unpacked(*found);
      header.time_units = units_of(*found).empty() ? "1" : units_of(*found);
      if (!units_of(*found).empty()) reading.assume(fmt::format("times in {}, as numbers", units_of(*found)));
      return;
    }
    for (const auto* name : names_of_time)
      for (const auto& variable : file_->variables())
        for (std::size_t d = 0; d < variable.dimensions.size() && options.time_spacing && time_.empty(); ++d)
          if (variable.dimensions[d] == name && variable.shape.size() > 1) {
            time_ = name;
            for (std::uint64_t i = 0; i < variable.shape[d]; ++i)
              times.push_back((i + 1) * *options.time_spacing);
          }
    QUINTET_CHECK(
        !time_.empty(),
        "{}: has no times: expected a variable {} along one dimension (or, with a dimension of that name, "
        "describe_file(s).time_spacing)",
        path(), fmt::join(names_of_time, ", "));
  }

  /// The points of a dimension; none where it has no coordinate.
  [[nodiscard]] std::optional<Line> line_of(const std::string& dimension) const {
    const auto* coordinate = file_->find(dimension);
    if (coordinate == nullptr || !coordinate->holds_numbers() || coordinate->shape.size() != 1)
      return std::nullopt;
    Line line{dimension, dimension, false, false, file_->read_unpacked(*coordinate)};
    if (const auto place = staggered_location(dimension)) line.axis = place->axis, line.face = place->face;
    line.falls = line.points.size() > 1 && line.points.front() > line.points.back();
    if (line.falls) std::reverse(line.points.begin(), line.points.end());
    return line;
  }

  /// A variable is a field over time, a parameter, a coordinate, or left out.
  void take(const netcdf::Variable& variable) {
    if (variable.shape.empty() && variable.holds_numbers()) {
      const auto value = file_->read_unpacked(variable);
      if (std::isfinite(value[0])) header.parameters[variable.name] = value[0];
      return;
    }
    const auto& names = variable.dimensions;
    if (std::find(names.begin(), names.end(), variable.name) != names.end()) return;  // a coordinate
    if (variable.shape.size() == 1 && names[0] == time_) return reading.leave(variable.name);
    const auto symbol = symbol_of(variable.name, wanted_);
    const bool is_wanted = std::find(wanted_.begin(), wanted_.end(), symbol) != wanted_.end();
    const auto why = why_no_field(variable);
    if (is_wanted) QUINTET_CHECK(why.empty(), "{}: {}: {}", path(), variable.name, why);
    if (!why.empty() && wanted_.empty())
      return reading.leave(fmt::format("{} ({})", variable.name, why.substr(0, why.find(". "))));
    if (!why.empty() || (!is_wanted && !wanted_.empty())) return reading.leave(variable.name);
    reading.add(netcdf::unpacking_of(variable).reading);
    Place place{variable, symbol, {}, {}};
    for (std::size_t d = 0; d < names.size(); ++d) {
      if (names[d] == time_) continue;
      if (variable.shape[d] == 1) {
        reading.leave(fmt::format("dimension {} of one point", names[d]));
        continue;
      }
      if (!lines_.contains(names[d])) lines_.emplace(names[d], *line_of(names[d]));
      place.lines.push_back(lines_.at(names[d]));
      place.dimensions.push_back(d);
    }
    places_.push_back(std::move(place));
  }

  [[nodiscard]] std::string why_no_field(const netcdf::Variable& variable) const {
    if (!variable.holds_numbers()) return variable.refusal;
    const auto& names = variable.dimensions;
    if (std::find(names.begin(), names.end(), time_) == names.end())
      return fmt::format("has no dimension {}", time_);
    std::size_t n_axes = 0;
    for (std::size_t d = 0; d < names.size(); ++d) {
      if (names[d] == time_ || variable.shape[d] == 1) continue;
      ++n_axes;
      const auto line = line_of(names[d]);
      if (!line) return fmt::format("its dimension {} has no coordinate of that name", names[d]);
      if (!std::all_of(line->points.begin(), line->points.end(), [](double x) { return std::isfinite(x); }))
        return fmt::format("the coordinate {} has missing values", names[d]);
    }
    if (n_axes < 1 || n_axes > 3) return fmt::format("has {} axes of space", n_axes);
    return "";
  }

  /// Fields with the axes that most of them have.
  void choose_fields() {
    QUINTET_CHECK(
        !places_.empty(), "{}: has no field over time{}", path(),
        reading.not_used.empty() ? "" : fmt::format("; it has {}", fmt::join(reading.not_used, ", ")));
    const auto axes_of = [](const Place& place) {
      std::vector<std::string> names;
      for (const auto& line : place.lines) names.push_back(line.axis);
      return names;
    };
    std::map<std::vector<std::string>, std::size_t> counts;
    for (const auto& place : places_) ++counts[axes_of(place)];
    for (const auto& [axes, n] : counts)
      if (axes_.empty() || n > counts.at(axes_)) axes_ = axes;
    std::vector<Place> kept;
    for (auto& place : places_) {
      if (axes_of(place) == axes_) {
        kept.push_back(std::move(place));
        continue;
      }
      QUINTET_CHECK(wanted_.empty(), "{}: {} has axes {}, but other fields {}", path(), place.variable.name,
                    fmt::join(axes_of(place), ", "), fmt::join(axes_, ", "));
      reading.leave(fmt::format("{} (axes {})", place.variable.name, fmt::join(axes_of(place), ", ")));
    }
    places_ = std::move(kept);
    for (const auto& place : places_) {
      if (place.name != place.variable.name)
        reading.assume(fmt::format("{} is {}", place.variable.name, place.name));
      const auto& attributes = place.variable.attributes;
      const bool has_units = attributes.contains("units") && attributes.at("units").is_text;
      header.fields.push_back(
          {place.name, has_units && !units_of(place.variable).empty() ? units_of(place.variable) : "1", "",
           "", -1});
      header.double_precision = header.double_precision || place.variable.type == "double";
    }
    n_frames = {times.size()};
  }

  /// The line of an axis at the centres of cells, or at faces, if the file has one.
  [[nodiscard]] std::optional<Line> line_at(const std::string& axis, bool face) const {
    for (const auto& place : places_)
      for (const auto& line : place.lines)
        if (line.axis == axis && line.face == face) return line;
    for (const auto& variable : file_->variables()) {
      const auto place = staggered_location(variable.name);
      if (place && place->axis == axis && place->face == face)
        if (auto line = line_of(variable.name)) return line;
    }
    return std::nullopt;
  }

  // The ends of an axis come from the file's faces, from Chebyshev points, or are assumed and told: an
  // integral depends on them.
  void read_axis(const std::string& name, const FieldSeriesOptions& options) {
    FieldAxis axis;
    axis.name = name;
    const auto facts = options.facts.find(name);
    const bool given = facts != options.facts.end(),
               says_periodic = given && facts->second.periodic.has_value();
    bool known = false;
    const auto centres = line_at(name, false), faces = line_at(name, true);
    const auto& line = centres ? *centres : *faces;
    axis.coordinates = line.points;
    if (const auto* coordinate = file_->find(line.dimension))
      if (const auto found = coordinate->attributes.find("units");
          found != coordinate->attributes.end() && found->second.is_text && !units_of(*coordinate).empty())
        axis.units = units_of(*coordinate);
    if (staggered_location(line.dimension)) {
      known =
          read_cells(axis, centres, faces, given && facts->second.periodic.value_or(false), says_periodic);
    } else if (const auto ends = chebyshev_ends(axis.coordinates)) {
      known = true;
      std::tie(axis.lower, axis.upper) = *ends;
      if (!(given && facts->second.lower && facts->second.upper))
        reading.assume(fmt::format("axis {} has walls at {:.6g} and {:.6g}: its points are Chebyshev's", name,
                                   axis.lower, axis.upper));
    } else if (!says_periodic) {
      reading.assume(fmt::format(
          "axis {} not periodic (the file does not say; describe_file(s).axes changes it)", name));
    }
    complete_axis(axis, options, known, path(), reading);
    header.axes.push_back(std::move(axis));
  }

  /// Cells between faces: one face more than cells is a bounded axis, as many a periodic one.
  bool read_cells(FieldAxis& axis, const std::optional<Line>& centres, const std::optional<Line>& faces,
                  bool periodic, bool says_periodic) {
    QUINTET_CHECK(centres.has_value(), "{}: has faces of axis {} and no centres of cells ({}C)", path(),
                  axis.name, axis.name);
    const auto n = centres->points.size();
    const auto spacing = equal_spacing(centres->points, 1e-4);
    QUINTET_CHECK(
        faces.has_value() || says_periodic,
        "{}: has no faces of axis {}, which would tell whether it is periodic: say periodic: yes or no in "
        "describe_file(s).axes",
        path(), axis.name);
    if (faces) {
      const auto n_faces = faces->points.size();
      QUINTET_CHECK(n_faces == n || n_faces == n + 1, "{}: axis {} has {} centres of cells and {} faces",
                    path(), axis.name, n, n_faces);
      if (!says_periodic) periodic = n_faces == n;
      QUINTET_CHECK(periodic == (n_faces == n),
                    "{}: axis {} has {} cells and {} faces, which is {}periodic, but periodic: {} is given",
                    path(), axis.name, n, n_faces, periodic ? "not " : "", periodic ? "yes" : "no");
      axis.lower = faces->points.front();
      axis.upper = faces->points.back();
    } else {
      QUINTET_CHECK(
          spacing.has_value(),
          "{}: axis {} has no faces, and its cells are unequal: state its ends in describe_file(s).axes",
          path(), axis.name);
      axis.lower = centres->points.front() - 0.5 * *spacing;
      axis.upper = centres->points.back() + 0.5 * *spacing;
    }
    axis.periodic = periodic;
    if (periodic) {
      QUINTET_CHECK(spacing.has_value(), "{}: axis {} is periodic and its cells are unequal", path(),
                    axis.name);
      axis.upper = axis.lower + n * *spacing;
    }
    reading.assume(fmt::format("axis {} {} from {:.6g} to {:.6g}, {}", axis.name,
                               periodic ? "periodic" : "has walls", axis.lower, axis.upper,
                               faces ? periodic ? "with as many faces as cells" : "its first and last face"
                                     : "half a cell beyond the first and last centre"));
    return true;
  }

  /// Whether points are those of an axis but for round-off: to a thousandth of their mean distance.
  static bool are_points_of(const std::vector<double>& points, const FieldAxis& axis) {
    const auto& known = axis.coordinates;
    const double slack = 1e-3 * std::abs(known.back() - known.front()) / static_cast<double>(known.size());
    return std::equal(points.begin(), points.end(), known.begin(), known.end(),
                      [&](double a, double b) { return std::abs(a - b) <= slack; });
  }

  /// Weights where a field does not lie at the points of an axis.
  void prepare(Place& place) {
    std::vector<std::string> faces;
    for (std::size_t d = 0; d < place.lines.size(); ++d) {
      const auto& axis = header.axes[d];
      const auto& line = place.lines[d];
      place.weights.emplace_back();
      if (are_points_of(line.points, axis)) continue;
      QUINTET_CHECK(line.face, "{}: {} has other points along {} than the fields before", path(),
                    place.variable.name, axis.name);
      place.weights.back() = cubic_weights(line.points, axis.coordinates, axis.periodic ? axis.length() : 0);
      faces.push_back(axis.name);
    }
    if (!faces.empty())
      reading.assume(fmt::format("{} interpolated from faces to centres along {}, by polynomials of degree 3",
                                 place.name, fmt::join(faces, ", ")));
  }

  /// Values [frame][axes of the box]. A file that the netCDF library holds open cannot be opened by HDF5
  /// beside it, which another reader may do.
  [[nodiscard]] std::vector<double> values_of(int field, const FieldBox& box) const {
    const auto& place = places_[field];
    const auto& variable = place.variable;
    const std::size_t n_axes = place.lines.size(), n_dimensions = variable.shape.size();
    netcdf::Box part{std::vector<std::uint64_t>(n_dimensions, 0),
                     std::vector<std::uint64_t>(n_dimensions, 1)};
    std::vector<std::size_t> order;  // dimensions of the variable: time, then the axes
    for (std::size_t d = 0; d < n_dimensions; ++d)
      if (variable.dimensions[d] == time_)
        order.push_back(d), part.start[d] = box.first_frame, part.count[d] = box.n_frames;
    for (std::size_t a = 0; a < n_axes; ++a) {
      const auto d = place.dimensions[a];
      const auto& line = place.lines[a];
      const auto n = line.points.size();
      order.push_back(d);
      part.count[d] = place.weights[a] ? n : box.space.count[a];
      part.start[d] = place.weights[a] ? 0
                      : line.falls     ? n - box.space.start[a] - box.space.count[a]
                                       : box.space.start[a];
    }
    const auto file = file_ ? *file_ : netcdf::File::open(path_);
    const auto& found = file.variable(variable.name);
    QUINTET_CHECK(found.shape == variable.shape, "{}: {} has another shape than when it was looked at first",
                  path_, variable.name);
    auto values = turned(file.read_unpacked(found, part), part.count, order);
    std::uint64_t outer = box.n_frames;
    for (std::size_t a = 0; a < n_axes; ++a) {
      const auto n = part.count[place.dimensions[a]];
      LineWeights some;
      if (place.weights[a]) {
        for (std::uint64_t i = 0; i < box.space.count[a]; ++i) {
          auto point = place.weights[a]->points[box.space.start[a] + i];
          for (auto& from : point.from) from = place.lines[a].falls ? n - 1 - from : from;
          some.points.push_back(point);
        }
      } else if (place.lines[a].falls) {
        for (std::uint64_t i = 0; i < n; ++i) some.points.push_back({{n - 1 - i, 0, 0, 0}, {1, 0, 0, 0}});
      }
      if (!some.points.empty()) values = along_line(values, outer, n, some);
      outer *= box.space.count[a];
    }
    return values;
  }

  /// Values of dimensions of these extents, as [order[0]][order[1]]...; those left out have one point.
  [[nodiscard]] static std::vector<double> turned(std::vector<double> values,
                                                  const std::vector<std::uint64_t>& extents,
                                                  const std::vector<std::size_t>& order) {
    if (std::is_sorted(order.begin(), order.end())) return values;
    std::vector<std::uint64_t> stride(extents.size(), 1), index(order.size(), 0);
    for (std::size_t d = extents.size(); d-- > 1;) stride[d - 1] = stride[d] * extents[d];
    std::vector<double> result;
    result.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint64_t at = 0;
      for (std::size_t k = 0; k < order.size(); ++k) at += index[k] * stride[order[k]];
      result.push_back(values[at]);
      for (std::size_t k = order.size(); k-- > 0;) {
        if (++index[k] < extents[order[k]]) break;
        index[k] = 0;
      }
    }
    return result;
  }
};

/// Each rank reads for itself, but an error of one is that of all.
class TogetherSeries : public Source {
 public:
  TogetherSeries(const Comm& comm, const std::string& path, const FieldSeriesOptions& options) : comm_(comm) {
    together(comm_, [&] { inner_ = std::make_unique<NetcdfSeries>(path, options); });
    header = inner_->header;
    times = inner_->times;
    reading = inner_->reading;
    n_frames = inner_->n_frames;
  }
  void read(int field, std::uint64_t sample, const FieldBox& box, std::vector<float>& values) const override {
    together(comm_, [&] { inner_->read(field, sample, box, values); });
  }
  void read(int field, std::uint64_t sample, const FieldBox& box,
            std::vector<double>& values) const override {
    together(comm_, [&] { inner_->read(field, sample, box, values); });
  }

 private:
  Comm comm_;
  std::unique_ptr<NetcdfSeries> inner_;
};

}  // namespace

bool is_netcdf_folder(const std::string& path) { return netcdf::is_folder_of_arrays(path); }

bool is_netcdf4(const hdf5::Group& root) {
  if (root.has_attribute("_NCProperties")) return true;
  if (root.has_attribute("schema")) return false;  // ours, whose coordinates are dimension scales, too
  const auto names = root.names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return !root.is_group(name) && (root.has_member_attribute(name, "DIMENSION_LIST") ||
                                    root.has_member_attribute(name, "REFERENCE_LIST"));
  });
}

std::unique_ptr<Source> open_netcdf_series(const Comm& comm, const std::string& path,
                                           const FieldSeriesOptions& options) {
  return std::make_unique<TogetherSeries>(comm, path, options);
}

}  // namespace quintet::field_formats
