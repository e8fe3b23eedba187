#include "physics/ocean/sources/netcdf_fields.hpp"

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include <fmt/ranges.h>

#include "io/config/suggest.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/stored_chunks.hpp"

namespace quintet::ocean {
namespace {

constexpr std::uint64_t most_cells = std::uint64_t{1} << 28U;
constexpr std::uint64_t most_times = 10'000'000;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

enum class Axis { time, latitude, longitude, other };

/// What a coordinate is, by CF conventions 1.8, sections 4.1, 4.2 and 4.4.
Axis axis_of(const netcdf::Variable& coordinate) {
  const auto units = lower(coordinate.text("units").value_or("")),
             name = lower(coordinate.text("standard_name").value_or(""));
  if (name == "latitude" || units.starts_with("degrees_n") || units.starts_with("degree_n") ||
      units == "degreesn" || units == "degreen")
    return Axis::latitude;
  if (name == "longitude" || units.starts_with("degrees_e") || units.starts_with("degree_e") ||
      units == "degreese" || units == "degreee")
    return Axis::longitude;
  if (name == "time" || lower(coordinate.name) == "time" || units.find(" since ") != std::string::npos)
    return Axis::time;
  return Axis::other;
}

/// The coordinate variable of two dimensions that a curvilinear grid has, "" where there is none.
std::string two_dimensional(const netcdf::File& file, const netcdf::Variable& field) {
  for (const auto& other : file.variables())
    if (&other != &field && other.shape.size() == 2 && other.holds_numbers() &&
        axis_of(other) != Axis::other && axis_of(other) != Axis::time)
      return fmt::format("{}({})", other.name, name_list(other.dimensions));
  return "";
}

}  // namespace

NetcdfFields::NetcdfFields(const std::string& path, const std::string& variable,
                           const netcdf::UnpackingOptions& options, bool was_checked)
    : file_(std::make_shared<netcdf::File>(netcdf::File::open(
          path, was_checked ? netcdf::Checks::made_before : netcdf::Checks::all, variable))),
      variable_(variable) {
  const auto& field = file_->variable(variable);
  const auto what = fmt::format("{}: {}", path, variable);
  QUINTET_CHECK(field.holds_numbers(), "{}: {}", what, field.refusal);
  auto& layout = *layout_;
  layout.shape_ = field.shape;
  find_axes(what);
  const auto axis = [&](int d, auto order) {
    const auto& name = field.dimensions[d];
    auto ordered = order(file_->read_unpacked(file_->variable(name)), fmt::format("{}: {}", path, name));
    if (!ordered.note.empty()) reading_.assume(ordered.note);
    return ordered;
  };
  auto latitude = axis(layout.at_latitude_, ordered_latitudes),
       longitude = axis(layout.at_longitude_, ordered_longitudes);
  grid_ = {std::move(latitude.coordinates), std::move(longitude.coordinates)};
  layout.latitude_source_ = std::move(latitude.source),
  layout.longitude_source_ = std::move(longitude.source);
  layout.in_order_ = layout.at_time_ < layout.at_latitude_ && layout.at_latitude_ < layout.at_longitude_ &&
                     std::is_sorted(layout.latitude_source_.begin(), layout.latitude_source_.end()) &&
                     std::is_sorted(layout.longitude_source_.begin(), layout.longitude_source_.end());
  units_ = field.text("units").value_or("");
  layout.unpacking_ = unpacking_of(field, options);
  layout.is_unsigned_ = field.is_unsigned;
  reading_.add(layout.unpacking_.reading);
  take_chunks();
  note_what_is_left(variable);
}

/// Find which dimension is time, latitude and longitude. @param what the variable, for messages
void NetcdfFields::find_axes(const std::string& what) {
  const auto& field = file_->variable(variable_);
  auto& layout = *layout_;
  for (std::size_t d = 0; d < field.dimensions.size(); ++d) {
    const auto& name = field.dimensions[d];
    const auto* coordinate = file_->find(name);
    const bool usable = coordinate != nullptr && coordinate->holds_numbers() && coordinate->shape.size() == 1;
    const Axis axis = usable ? axis_of(*coordinate) : Axis::other;
    int* at = axis == Axis::time        ? &layout.at_time_
              : axis == Axis::latitude  ? &layout.at_latitude_
              : axis == Axis::longitude ? &layout.at_longitude_
                                        : nullptr;
    if (at == nullptr) {
      const auto curvilinear = field.shape[d] == 1 ? std::string() : two_dimensional(*file_, field);
      QUINTET_CHECK(curvilinear.empty(),
                    "{}: is on a curvilinear grid, {}: interpolate it to latitudes and longitudes first, for "
                    "example by cdo remapbil,r360x180 IN.nc OUT.nc",
                    what, curvilinear);
      QUINTET_CHECK(field.shape[d] == 1,
                    "{}: its dimension {} of {} elements is no time, latitude or longitude: they are known "
                    "by a coordinate "
                    "{}({}) with units such as degrees_north",
                    what, name, field.shape[d], name, name);
      continue;
    }
    QUINTET_CHECK(*at < 0, "{}: has two axes of one kind, {} and {}", what,
                  field.dimensions[std::max(*at, 0)], name);
    *at = d;
  }
  QUINTET_CHECK(layout.at_latitude_ >= 0 && layout.at_longitude_ >= 0,
                "{}: its dimensions ({}) are no latitude and longitude with coordinates of their own", what,
                name_list(field.dimensions));
  const auto size = [&](int d) { return field.shape[d]; };
  QUINTET_CHECK(size(layout.at_latitude_) > 0 && size(layout.at_longitude_) > 0 &&
                    size(layout.at_latitude_) <= most_cells / size(layout.at_longitude_),
                "{}: has {} latitudes and {} longitudes", what, size(layout.at_latitude_),
                size(layout.at_longitude_));
  if (layout.at_time_ >= 0) {
    time_ = field.dimensions[layout.at_time_];
    QUINTET_CHECK(size(layout.at_time_) >= 1 && size(layout.at_time_) <= most_times, "{}: has {} times", what,
                  size(layout.at_time_));
    n_times_ = size(layout.at_time_);
  }
}

void NetcdfFields::take_chunks() {
  const auto* map = file_->chunk_map();
  auto& layout = *layout_;
  if (map == nullptr || !netcdf::can_unpack(*map) || map->shape != layout.shape_) return;
  // Fields are asked for one after another: a chunk of many would be unpacked for each of them.
  if (layout.at_time_ >= 0 && map->chunk[layout.at_time_] != 1) return;
  places_ = map->places;
  layout.map_ = *map;
  layout.map_.places.clear();
  if (layout.at_time_ >= 0) layout.map_.shape[layout.at_time_] = 0;  // each file has its own
}

void NetcdfFields::note_what_is_left(const std::string& variable) {
  const auto& field = file_->variable(variable);
  std::vector<std::string> used = field.dimensions;
  used.push_back(variable);
  for (const auto& name : field.dimensions)
    if (const auto* coordinate = file_->find(name); coordinate != nullptr)
      if (const auto found = coordinate->attributes.find("bounds"); found != coordinate->attributes.end())
        used.push_back(found->second.text);
  for (const auto& other : file_->variables())
    if (std::find(used.begin(), used.end(), other.name) == used.end())
      reading_.leave(fmt::format("variable {}", other.name));
  // Those that say which numbers count, or what they are of.
  for (const char* name : {"flag_values", "flag_masks", "cell_methods", "ancillary_variables"})
    if (field.attributes.contains(name)) reading_.leave(fmt::format("attribute {}", name));
}

netcdf::Box FieldLayout::box(int first, int n) const {
  netcdf::Box box{std::vector<std::uint64_t>(shape_.size()), shape_};
  if (at_time_ >= 0) {
    box.start[at_time_] = first;
    box.count[at_time_] = n;
  }
  return box;
}

std::vector<double> FieldLayout::in_our_order(std::vector<double> stored, const netcdf::Box& box,
                                              int n) const {
  if (in_order_) return stored;
  const std::size_t n_dimensions = shape_.size();
  std::vector<std::size_t> stride(n_dimensions, 1);
  for (std::size_t d = n_dimensions; d-- > 1;) stride[d - 1] = stride[d] * box.count[d];
  const auto stride_of = [&](int d) { return d < 0 ? 0 : stride[d]; };
  const std::size_t along_time = stride_of(at_time_), along_latitude = stride_of(at_latitude_),
                    along_longitude = stride_of(at_longitude_);
  std::vector<double> values;
  values.reserve(stored.size());
  for (int t = 0; t < n; ++t)
    for (const std::size_t i : latitude_source_)
      for (const std::size_t j : longitude_source_)
        values.push_back(stored[t * along_time + i * along_latitude + j * along_longitude]);
  return values;
}

std::optional<std::vector<double>> FieldLayout::read(const std::string& path,
                                                     const std::vector<hdf5::ChunkMap::Place>& places,
                                                     int n_times, int first, int n) const {
  auto map = map_;
  map.places = places;
  if (at_time_ >= 0) map.shape[at_time_] = n_times;
  const auto part = box(first, n);
  auto stored = netcdf::unpacked_chunks(path, map, is_unsigned_, part, unpacking_);
  if (!stored) return std::nullopt;
  return in_our_order(std::move(*stored), part, n);
}

std::uint64_t FieldLayout::mark() const {
  const auto& u = unpacking_;
  const auto text = fmt::format(
      "{} {} {} {} {} {} | {} {} {} {} | {} {} {} {} {} {} {} | {} {}", map_.element_type, map_.is_shuffled,
      map_.is_deflated, fmt::join(map_.shape, ","), fmt::join(map_.chunk, ","), is_unsigned_, at_time_,
      at_latitude_, at_longitude_, in_order_, u.scale, u.offset, fmt::join(u.missing, ","), u.least, u.most,
      u.least_meant, u.most_meant, u.doubt ? u.doubt->first : 0.0, u.doubt ? u.doubt->last : 0.0);
  const auto bytes = [](const auto& values) { return std::as_bytes(std::span(values)); };
  return hdf5::xxh64(bytes(text),
                     hdf5::xxh64(bytes(latitude_source_), hdf5::xxh64(bytes(longitude_source_))));
}

std::vector<double> NetcdfFields::read(int first, int n) const {
  const auto part = layout_->box(first, n);
  return layout_->in_our_order(file_->read_unpacked(file_->variable(variable_), part, layout_->unpacking_),
                               part, n);
}

}  // namespace quintet::ocean
