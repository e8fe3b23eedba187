#include "physics/ocean/sources/netcdf_fields.hpp"

#include <algorithm>
#include <cctype>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"

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
    : file_(std::make_shared<netcdf::File>(
          netcdf::File::open(path, was_checked ? netcdf::Checks::made_before : netcdf::Checks::all))),
      variable_(variable) {
  const auto& field = file_->variable(variable);
  const auto what = fmt::format("{}: {}", path, variable);
  QUINTET_CHECK(field.holds_numbers(), "{}: {}", what, field.refusal);
  for (std::size_t d = 0; d < field.dimensions.size(); ++d) {
    const auto& name = field.dimensions[d];
    const auto* coordinate = file_->find(name);
    const bool usable = coordinate != nullptr && coordinate->holds_numbers() && coordinate->shape.size() == 1;
    const Axis axis = usable ? axis_of(*coordinate) : Axis::other;
    int* at = axis == Axis::time        ? &at_time_
              : axis == Axis::latitude  ? &at_latitude_
              : axis == Axis::longitude ? &at_longitude_
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
  QUINTET_CHECK(at_latitude_ >= 0 && at_longitude_ >= 0,
                "{}: its dimensions ({}) are no latitude and longitude with coordinates of their own", what,
                name_list(field.dimensions));
  const auto size = [&](int d) { return field.shape[d]; };
  QUINTET_CHECK(size(at_latitude_) > 0 && size(at_longitude_) > 0 &&
                    size(at_latitude_) <= most_cells / size(at_longitude_),
                "{}: has {} latitudes and {} longitudes", what, size(at_latitude_), size(at_longitude_));
  if (at_time_ >= 0) {
    time_ = field.dimensions[at_time_];
    QUINTET_CHECK(size(at_time_) >= 1 && size(at_time_) <= most_times, "{}: has {} times", what,
                  size(at_time_));
    n_times_ = size(at_time_);
  }
  const auto axis = [&](int d, auto order) {
    const auto& name = field.dimensions[d];
    auto ordered = order(file_->read_unpacked(file_->variable(name)), fmt::format("{}: {}", path, name));
    if (!ordered.note.empty()) reading_.assume(ordered.note);
    return ordered;
  };
  auto latitude = axis(at_latitude_, ordered_latitudes), longitude = axis(at_longitude_, ordered_longitudes);
  grid_ = {std::move(latitude.coordinates), std::move(longitude.coordinates)};
  latitude_source_ = std::move(latitude.source), longitude_source_ = std::move(longitude.source);
  in_order_ = at_time_ < at_latitude_ && at_latitude_ < at_longitude_ &&
              std::is_sorted(latitude_source_.begin(), latitude_source_.end()) &&
              std::is_sorted(longitude_source_.begin(), longitude_source_.end());
  units_ = field.text("units").value_or("");
  unpacking_ = unpacking_of(field, options);
  reading_.add(unpacking_.reading);
  note_what_is_left(variable);
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

std::vector<double> NetcdfFields::read(int first, int n) const {
  const auto& field = file_->variable(variable_);
  const std::size_t n_dimensions = field.shape.size();
  netcdf::Box box{std::vector<std::uint64_t>(n_dimensions), field.shape};
  if (at_time_ >= 0) {
    box.start[at_time_] = first;
    box.count[at_time_] = n;
  }
  auto stored = file_->read_unpacked(field, box, unpacking_);
  if (in_order_) return stored;
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

}  // namespace quintet::ocean
