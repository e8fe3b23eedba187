#include "io/fields/series_text.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "io/fields/dedalus_sets.hpp"
#include "io/fields/field_formats.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

std::string axis_text(const FieldAxis& axis) {
  const bool equal = field_formats::equal_spacing(axis.coordinates, 1e-4).has_value();
  return fmt::format("  axis {}: {} points from {:.6g} to {:.6g} ({}), {}; {} from {:.6g} to {:.6g}\n",
                     axis.name, axis.size(), axis.coordinates.front(), axis.coordinates.back(), axis.units,
                     equal ? "equally spaced" : "unequally spaced", axis.periodic ? "a period" : "walls",
                     axis.lower, axis.upper);
}

std::string times_text(const FieldSeriesReader& reader) {
  const auto& times = reader.times();
  const auto spacing = reader.time_spacing();
  return fmt::format("  times: {} from {:.6g} to {:.6g} ({}){}\n", times.size(), times.front(), times.back(),
                     reader.header().time_units,
                     times.size() < 2 ? ""
                     : spacing        ? fmt::format(", {:.6g} apart", *spacing)
                                      : ", unequally spaced");
}

/// Name, units, and the range in the first frame, if that can be read.
std::string field_text(const FieldSeriesReader& reader, int field) {
  const auto& info = reader.header().fields[field];
  try {
    const auto values = reader.read<double>(field, 0, {0, 1, {}});
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return fmt::format("  field {} ({}): {:.6g} to {:.6g} in the first frame\n", info.name, info.units,
                       *least, *most);
  } catch (const InputError& error) {
    return fmt::format("  field {} ({}): {}\n", info.name, info.units, error.what());
  }
}

std::string reader_text(const FieldSeriesReader& reader) {
  const auto& header = reader.header();
  std::string text = fmt::format("Fields over time: {} sample{} of {} frames\n", header.n_samples,
                                 header.n_samples == 1 ? "" : "s", reader.times().size());
  for (const auto& axis : header.axes) text += axis_text(axis);
  text += times_text(reader);
  for (std::size_t i = 0; i < header.fields.size(); ++i) text += field_text(reader, i);
  for (const auto& [name, value] : reader.parameters(0))
    text += fmt::format("  parameter {}: {:.6g}\n", name, value);
  for (const auto& assumed : reader.reading().assumed) text += fmt::format("  assumed: {}\n", assumed);
  if (const auto& left = reader.reading().not_used; !left.empty())
    text += fmt::format("  not used: {}\n", fmt::join(left, ", "));
  return text;
}

}  // namespace

bool may_be_field_series(const std::string& path) {
  if (std::filesystem::is_directory(path))
    return field_formats::is_netcdf_folder(path) || field_formats::is_dedalus_folder(path);
  auto stream = open_input_file(path);
  std::string front(4, '\0');
  stream.read(front.data(), 4);
  if (front == "PK\3\4" || front.starts_with("CDF")) return true;
  return front == "\x89HDF" && field_formats::has_known_format(path);
}

std::string field_series_text(const std::string& path) {
  try {
    return reader_text(FieldSeriesReader::open(Comm::self(), path));
  } catch (const InputError& error) {
    return fmt::format("Not read as fields over time: {}\n", error.what());
  }
}

}  // namespace quintet
