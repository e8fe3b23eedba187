#include "apps/podlstm/setup/fields_options.hpp"

#include <algorithm>
#include <utility>

#include "io/files/matching_files.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/calendar.hpp"
#include "physics/ocean/stochastic_ocean.hpp"

namespace quintet::podlstm {
namespace {

std::unique_ptr<ocean::FieldSource> make_stochastic(const StochasticOptions& options) {
  ocean::StochasticOceanOptions made;
  if (!options.climatology.empty()) made.climatology = options.climatology;
  made.variable = options.variable;
  made.spacing = options.spacing;
  made.from = ocean::parse_date(options.start, "fields.stochastic.start");
  made.n_times = static_cast<int>(options.years * 365.2425 / 7);
  made.noise = options.noise;
  made.trend = options.trend;
  made.seed = static_cast<std::uint64_t>(options.seed);
  return ocean::stochastic_ocean(made);
}

}  // namespace

void describe(Schema& schema, MaskOptions& options) {
  schema
      .text("file", options.file,
            "A netCDF file or zarr folder of the same grid, its latitudes and longitudes in any order")
      .required()
      .existing_file();
  schema.text("variable", options.variable, "Name of the mask");
  schema.number("sea", options.sea, "Stored number that marks sea; all others are land");
}

void describe(Schema& schema, StochasticOptions& options) {
  schema
      .text("climatology", options.climatology,
            "A netCDF file of twelve monthly fields, land where a month has no value; empty: an analytic "
            "climatology with rough "
            "continents")
      .existing_file();
  schema.text("variable", options.variable, "Name of the variable in the file");
  schema.number("spacing", options.spacing, "Degrees between points of the analytic climatology")
      .at_least(0.25)
      .at_most(30);
  schema.number("years", options.years, "Length of the weekly record (years)").at_least(0.05).at_most(2000);
  schema.text("start", options.start, "First day");
  schema.integer("seed", options.seed, "Another number, another ocean").at_least(0);
  schema
      .number("noise", options.noise, "Standard deviation of independent noise at each point and week (degC)")
      .at_least(0)
      .at_most(10);
  schema.number("trend", options.trend, "degC a year").at_least(-1).at_most(1);
}

void describe(Schema& schema, RegionOptions& options) {
  schema.number("south", options.south, "Southern end (degrees north)").at_least(-90).at_most(90);
  schema.number("north", options.north, "Northern end").at_least(-90).at_most(90);
  schema.number("west", options.west, "Western end (degrees east, 280 is -80); absent: all around")
      .at_least(-360)
      .at_most(360);
  schema.number("east", options.east, "Eastern end: the region goes from west eastward to here")
      .at_least(-360)
      .at_most(720);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.south >= options.north) return "south must be less than north";
    if (options.west.has_value() != options.east.has_value()) return "give both west and east, or neither";
    return std::nullopt;
  });
}

void describe(Schema& schema, FieldsOptions& options) {
  schema
      .texts("files", options.files,
             "Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or "
             "fields over time of "
             "ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc")
      .existing_file();
  schema.text("variable", options.variable, "Name of the field");
  schema.choice("units", options.units,
                {{"from_file", ocean::FieldUnits::from_file},
                 {"degree_Celsius", ocean::FieldUnits::degree_celsius},
                 {"kelvin", ocean::FieldUnits::kelvin}},
                "Units of the variable; kelvin are converted to degrees Celsius");
  schema.choice("quantity", options.quantity,
                {{"from_file", ocean::FieldQuantity::from_file},
                 {"temperature", ocean::FieldQuantity::temperature},
                 {"anomaly", ocean::FieldQuantity::anomaly}},
                "What its numbers are; anomalies in kelvin stay as they are. from_file: as units_metadata, "
                "standard_name or long_name say, else temperatures");
  schema.choice("valid_range", options.valid_range,
                {{"from_file", netcdf::Limits::from_file},
                 {"stored", netcdf::Limits::stored},
                 {"unpacked", netcdf::Limits::unpacked},
                 {"ignored", netcdf::Limits::ignored}},
                "What valid_range, valid_min and valid_max of a packed variable are in: numbers as they are "
                "stored, as they are meant, or as their type says");
  schema
      .numbers("missing", options.missing,
               "Numbers, in the units of the file, that mark missing values, too: those of land")
      .example("[-1000, 0]");
  schema.section("mask", options.mask, "What is sea; absent: points that have a value at every time");
  schema.section("stochastic", options.stochastic,
                 "Instead of files: a made-up ocean with observed seasons, for trials");
  schema.text("from", options.from,
              "First day that is used, such as 1981-10-29; empty: the first of the record");
  schema.text("to", options.to, "Last day that is used");
  schema.section("region", options.region, "Part of the grid");
  schema.choice("incomplete_points", options.incomplete_points,
                {{"refuse", IncompletePoints::refuse}, {"drop", IncompletePoints::drop}},
                "Sea points that have no value at some times");
  schema.choice("gaps", options.gaps, {{"refuse", Gaps::refuse}, {"keep", Gaps::keep}},
                "Times that are missing: steps of more than one and a half times the usual one; keep: they "
                "are told of");
  schema.choice(
      "constant_points", options.constant_points,
      {{"refuse", ocean::ConstantPoints::refuse},
       {"land", ocean::ConstantPoints::land},
       {"sea", ocean::ConstantPoints::sea}},
      "Points that have one value at five or more times, all there are: land that no value marks as "
      "missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC "
      "(within 0.05) from 50 degrees north or south on, which is sea under ice");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.files.empty() != options.stochastic.has_value()) return "give either files or stochastic";
    return std::nullopt;
  });
}

namespace {

/// The files of a pattern in the order of their times; one file stands for itself.
std::vector<std::unique_ptr<ocean::FieldSource>> sources_of(const std::string& pattern,
                                                            const FieldsOptions& options) {
  const ocean::FieldOptions said{
      options.units, options.quantity, {options.valid_range, options.missing, "fields.valid_range"}};
  std::vector<std::unique_ptr<ocean::FieldSource>> sources;
  for (const auto& file : matching_files(pattern))
    sources.push_back(ocean::open_field_source(file, options.variable, said));
  const auto begin = [](const auto& source) { return source->days.empty() ? 0 : source->days.front(); };
  std::stable_sort(sources.begin(), sources.end(),
                   [&](const auto& a, const auto& b) { return begin(a) < begin(b); });
  return sources;
}

}  // namespace

ocean::Record open_record(const Comm& comm, const FieldsOptions& options) {
  std::vector<std::unique_ptr<ocean::FieldSource>> sources;
  std::optional<ocean::MaskFile> mask;
  ocean::RecordOptions chosen;
  together(comm, [&] {
    if (!options.from.empty()) chosen.from = ocean::parse_date(options.from, "fields.from");
    if (!options.to.empty())
      chosen.to = ocean::parse_date(options.to, "fields.to") + 1 - 1e-9;  // that day to its end
    if (options.stochastic) sources.push_back(make_stochastic(*options.stochastic));
    for (const auto& pattern : options.files)
      for (auto& source : sources_of(pattern, options)) sources.push_back(std::move(source));
    if (options.mask) mask = ocean::read_mask(options.mask->file, options.mask->variable, options.mask->sea);
  });
  if (mask && !mask->reading.empty()) log::info("{}: {}", options.mask->file, mask->reading.text());
  chosen.south = options.region.south, chosen.north = options.region.north;
  chosen.west = options.region.west, chosen.east = options.region.east;
  chosen.drop_incomplete = options.incomplete_points == IncompletePoints::drop;
  chosen.keep_gaps = options.gaps == Gaps::keep;
  chosen.constant_points = options.constant_points;
  return ocean::Record(comm, std::move(sources), mask, chosen);
}

}  // namespace quintet::podlstm
