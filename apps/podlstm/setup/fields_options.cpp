#include "apps/podlstm/setup/fields_options.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/files/matching_files.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/sources/coarse_source.hpp"
#include "physics/ocean/sources/field_cache.hpp"
#include "physics/ocean/sources/field_files.hpp"
#include "physics/ocean/sources/joined_source.hpp"
#include "physics/ocean/stochastic_ocean.hpp"

namespace quintet::podlstm {
namespace {

std::unique_ptr<ocean::FieldSource> make_stochastic(const StochasticOptions& options) {
  ocean::StochasticOceanOptions made;
  if (!options.climatology.empty()) made.climatology = options.climatology;
  made.variable = options.variable;
  made.spacing = options.spacing;
  made.from = ocean::parse_date(options.start, "fields.stochastic.start");
  made.n_times = options.years * 365.2425 / 7;
  made.noise = options.noise;
  made.trend = options.trend;
  made.seed = options.seed;
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

namespace {

/// What is wrong with the name of a further variable; nothing where it can name one in netCDF files.
std::optional<std::string> name_wrong(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= ocean::longest_variable_name && name.front() >= 'a' &&
                     name.front() <= 'z' &&
                     name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  if (!plain)
    return fmt::format(
        "name: '{}' is no name; expected small letters, digits and _, a letter first, at most {}", name,
        ocean::longest_variable_name);
  if (!ocean::is_free_name(name))
    return fmt::format("name: '{}' means something else in forecast.nc; choose another", name);
  return std::nullopt;
}

std::optional<std::string> also_wrong(const FieldsOptions& options) {
  if (options.also.empty()) return std::nullopt;
  std::set<std::string> names, caches{options.cache};
  for (const auto& one : options.also) {
    if (!names.insert(one.name).second)
      return fmt::format("also: two variables have the name {}; give each its own", one.name);
    if (!one.cache.empty() && !caches.insert(one.cache).second)
      return fmt::format("also: {}: cache: {} is the file of another variable; give each its own", one.name,
                         one.cache);
  }
  return std::nullopt;
}

// What a file does not say of its numbers, the user may: each variable has these keys, the first one and
// those of `also`.
Key describe_files(Schema& schema, VariableOptions& options) {
  auto key = schema.texts(
      "files", options.files,
      "Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or "
      "fields over time of "
      "ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc");
  key.existing_file();
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
  return key;
}

void describe_incomplete(Schema& schema, VariableOptions& options) {
  schema.choice("incomplete_points", options.incomplete_points,
                {{"refuse", ocean::IncompletePoints::refuse},
                 {"drop", ocean::IncompletePoints::drop},
                 {"dineof", ocean::IncompletePoints::dineof}},
                "Sea points that have no value at some times; dineof: what is missing is filled by the modes "
                "of the rest (DINEOF), of all variables, in podlstm fit and hindcast");
}

void describe_means(Schema& schema, VariableOptions& options) {
  schema.choice(
      "mean", options.mean, choices_of(ocean::mean_periods),
      "Means over periods in place of the times of the files, such as those of daily ones; at their "
      "first days");
  schema.choice("week_begins", options.week_begins, choices_of(ocean::weekdays),
                "Day on which weeks begin, where mean is week");
  schema
      .integer(
          "coarsen", options.coarsen,
          "Boxes of so many by so many points become one, the mean of their sea by area; 4 makes 1 degree "
          "of 0.25. What is sea: mask, where it is of the files' grid, else points with a value at the "
          "first time. Boxes are sea from half of their area on")
      .at_least(1)
      .at_most(1000);
  schema.text("cache", options.cache,
              "HDF5 file that keeps the means and boxes, so that files are read once, and later only those "
              "that are new or have changed; beside it FILE.files keeps what is known of them. Empty: none");
  schema.choice(
      "constant_points", options.constant_points,
      {{"refuse", ocean::ConstantPoints::refuse},
       {"land", ocean::ConstantPoints::land},
       {"sea", ocean::ConstantPoints::sea}},
      "Points that have one value at five or more times, all there are: land that no value marks as "
      "missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC "
      "(within 0.05) from 50 degrees north or south on, which is sea under ice");
}

}  // namespace

void describe(Schema& schema, AlsoOptions& options) {
  schema
      .text("name", options.name,
            "Its name in modes.h5, modes.nc, forecast.nc and reports: small letters, digits and _")
      .example("sea_level")
      .required();
  schema
      .number("weight", options.weight,
              "How much its total variance counts in the modes, where that of the first variable counts 1")
      .at_least(1e-6)
      .at_most(1e6);
  describe_files(schema, options).length(1).required();
  schema.section("region", options.region, "Part of its grid; absent: fields.region");
  describe_incomplete(schema, options);
  describe_means(schema, options);
  schema.check([&options] { return name_wrong(options.name); });
}

void describe(Schema& schema, FieldsOptions& options) {
  describe_files(schema, options);
  schema.section("stochastic", options.stochastic,
                 "Instead of files: a made-up ocean with observed seasons, for trials");
  schema.text("from", options.from,
              "First day that is used, such as 1981-10-29; empty: the first of the record");
  schema.text("to", options.to, "Last day that is used");
  schema.section("region", options.region, "Part of the grid");
  describe_incomplete(schema, options);
  schema
      .number("least_values", options.least_values,
              "Share of the times that such a point has values at, else it is left out, where "
              "incomplete_points is dineof")
      .at_least(0.01)
      .at_most(1);
  describe_means(schema, options);
  schema.choice("gaps", options.gaps, {{"refuse", Gaps::refuse}, {"keep", Gaps::keep}},
                "Times that are missing: steps of more than one and a half times the usual one; keep: they "
                "are told of");
  schema.sections(
      "also", options.also,
      "Further variables at the same times, such as sea level or heat content, on grids of their own: modes "
      "are joint (combined EOFs), each variable scaled by its total standard deviation. from, to and gaps "
      "are those of the section");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.files.empty() != options.stochastic.has_value()) return "give either files or stochastic";
    if (!options.cache.empty() && options.stochastic)
      return "cache: there are no files to read; leave it out";
    return also_wrong(options);
  });
}

namespace {

ocean::FieldOptions said_of(const VariableOptions& options, const std::string& section) {
  return {options.units,
          options.quantity,
          {options.valid_range, options.missing, section + ".valid_range"},
          section};
}

/// What decides how the values of a file are read.
std::string settings_of(const VariableOptions& options) {
  return fmt::format("variable {}, units {}, quantity {}, valid_range {}, missing [{}]", options.variable,
                     static_cast<int>(options.units), static_cast<int>(options.quantity),
                     static_cast<int>(options.valid_range), fmt::join(options.missing, ", "));
}

/// The files of all patterns, each pattern's in the order of their times. Collective.
std::unique_ptr<ocean::FieldSource> files_of(const Comm& comm, const VariableOptions& options,
                                             const std::string& section) {
  const auto said = said_of(options, section);
  const auto settings = settings_of(options);
  if (!options.cache.empty()) ocean::check_cache(comm, options.cache, section);
  const auto list = options.cache.empty() ? std::string() : options.cache + ".files";
  const auto known = list.empty() ? ocean::KnownFiles{} : ocean::read_known_files(list, settings);
  std::vector<ocean::FieldFile> all;
  std::vector<std::string> notes;
  for (const auto& pattern : options.files) {
    std::vector<std::string> paths;
    together(comm, [&] { paths = matching_files(pattern); });
    auto files = ocean::look_at_files(comm, paths, options.variable, said, known);
    const auto said_of_them = ocean::put_in_order(files);
    notes.insert(notes.end(), said_of_them.begin(), said_of_them.end());
    std::move(files.begin(), files.end(), std::back_inserter(all));
  }
  if (!list.empty()) on_root(comm, [&] { ocean::write_known_files(list, settings, all); });
  std::vector<std::unique_ptr<ocean::FieldSource>> sources;
  for (auto& file : all) sources.push_back(ocean::source_of(std::move(file), options.variable, said));
  auto joined = ocean::joined(std::move(sources));
  joined->notes.insert(joined->notes.end(), notes.begin(), notes.end());
  return joined;
}

/// The source that the record is of: its fields coarsened, averaged, kept. A mask of the files' grid is used
/// up where they are coarsened. Collective.
std::unique_ptr<ocean::FieldSource> source_of_record(const Comm& comm, const VariableOptions& options,
                                                     const std::string& section,
                                                     const std::optional<StochasticOptions>& stochastic,
                                                     const ocean::RecordOptions& chosen,
                                                     std::optional<ocean::MaskFile>& mask) {
  std::unique_ptr<ocean::FieldSource> source;
  if (stochastic)
    together(comm, [&] {
      std::vector<std::unique_ptr<ocean::FieldSource>> one;
      one.push_back(make_stochastic(*stochastic));
      source = ocean::joined(std::move(one));
    });
  else
    source = files_of(comm, options, section);
  auto settings = fmt::format("{}, coarsen {}, mean {}", settings_of(options), options.coarsen,
                              row_of(ocean::mean_periods, options.mean).name);
  together(comm, [&] {
    if (options.coarsen > 1) {
      std::optional<std::vector<std::uint8_t>> sea;
      if (mask && same_grid(mask->grid, source->grid)) {
        sea = std::move(mask->sea);
        mask.reset();
      }
      auto boxes = ocean::coarse(std::move(source), options.coarsen, chosen.region, sea);
      settings += fmt::format(", sea {:016x}", boxes.sea_checksum);
      source = std::move(boxes.source);
    }
    if (options.mean == ocean::MeanPeriod::none) return;
    if (options.mean == ocean::MeanPeriod::week)
      settings += fmt::format(" from {} on", row_of(ocean::weekdays, options.week_begins).name);
    source = ocean::means_of(std::move(source),
                             {options.mean, options.week_begins, chosen.keep_gaps, chosen.from, chosen.to});
  });
  if (options.cache.empty()) return source;
  return ocean::kept_in(comm, options.cache, settings, std::move(source));
}

/// The mask that was of a region, on all of the grid: beside the region it is land. Throws InputError where
/// the region of the grid has other points than the mask.
ocean::MaskFile on_grid(const ocean::FieldSource& source, const ocean::GridRegion& region,
                        const RecordPart& part) {
  const auto& grid = source.grid;
  const auto inside = ocean::part_of(grid, region);
  ocean::OceanGrid now;
  for (const auto i : inside.rows) now.latitude.push_back(grid.latitude[i]);
  for (const auto j : inside.columns) now.longitude.push_back(grid.longitude[j]);
  const auto& before = part.mask->grid;
  QUINTET_CHECK(
      same_grid(before, now),
      "{0}: are on a grid of {1} x {2} points, those of {3} on one of {4} x {5} or with other places: "
      "give the files, {0}.coarsen and {6} that `podlstm fit` had for it",
      source.section, now.latitude.size(), now.longitude.size(), part.mask_file, before.latitude.size(),
      before.longitude.size(), region.key);
  ocean::MaskFile mask{grid, std::vector<std::uint8_t>(grid.size())};
  auto sea = part.mask->sea.begin();
  for (const auto i : inside.rows)
    for (const auto j : inside.columns) mask.sea[i * grid.longitude.size() + j] = *sea++;
  return mask;
}

/// The record of a variable. Collective.
/// @param section of the input file that the variable's keys are in
ocean::Record open_record(const Comm& comm, const VariableOptions& options, const std::string& section,
                          const std::optional<StochasticOptions>& stochastic, ocean::RecordOptions chosen,
                          const RecordPart& part) {
  std::optional<ocean::MaskFile> mask;
  together(comm, [&] {
    if (options.mask) mask = ocean::read_mask(options.mask->file, options.mask->variable, options.mask->sea);
  });
  if (mask && !mask->reading.empty()) log::info("{}: {}", options.mask->file, mask->reading.text());
  chosen.incomplete_points = options.incomplete_points;
  chosen.constant_points = options.constant_points;
  auto source = source_of_record(comm, options, section, stochastic, chosen, mask);
  if (part.from) chosen.from = part.from;
  if (part.mask) mask = on_grid(*source, chosen.region, part);
  return {comm, std::move(source), mask, chosen};
}

ocean::GridRegion region_of(const RegionOptions& region, const std::string& section) {
  return {region.south, region.north, region.west, region.east, section + ".region"};
}

/// What all variables have in common, and the region of the first. Collective.
ocean::RecordOptions common_to_all(const Comm& comm, const FieldsOptions& options) {
  ocean::RecordOptions chosen;
  together(comm, [&] {
    if (!options.from.empty()) chosen.from = ocean::parse_date(options.from, "fields.from");
    if (!options.to.empty())
      chosen.to = ocean::parse_date(options.to, "fields.to") + 1 - 1e-9;  // that day to its end
  });
  chosen.region = region_of(options.region, "fields");
  chosen.least_values = options.least_values;
  chosen.keep_gaps = options.gaps == Gaps::keep;
  return chosen;
}

}  // namespace

std::vector<double> days_of(const Comm& comm, const FieldsOptions& options) {
  const auto chosen = common_to_all(comm, options);
  std::optional<ocean::MaskFile> mask;
  auto days = source_of_record(comm, options, "fields", options.stochastic, chosen, mask)->days;
  std::erase_if(days, [&](double day) {
    return (chosen.from && day < *chosen.from) || (chosen.to && day > *chosen.to);
  });
  return days;
}

std::vector<OpenRecord> open_records(const Comm& comm, const FieldsOptions& options,
                                     const std::vector<RecordPart>& parts) {
  const auto chosen = common_to_all(comm, options);
  QUINTET_CHECK(parts.empty() || parts.size() == options.also.size() + 1,
                "fields.also: has {}, the modes have {} beside the first; give those that `podlstm "
                "fit` has read",
                counted(options.also.size(), "variable"), parts.size() - 1);
  const auto part = [&](std::size_t v) { return parts.empty() ? RecordPart{} : parts[v]; };
  std::vector<OpenRecord> records;
  records.push_back({"", 1, open_record(comm, options, "fields", options.stochastic, chosen, part(0))});
  for (std::size_t v = 0; v < options.also.size(); ++v) {
    const auto& one = options.also[v];
    const auto section = fmt::format("fields.also[{}]", v);
    auto own = chosen;
    if (one.region) own.region = region_of(*one.region, section);
    records.push_back(
        {one.name, one.weight, open_record(comm, one, section, std::nullopt, own, part(records.size()))});
  }
  return records;
}

ocean::JointRecords joint(const std::vector<OpenRecord>& records) {
  ocean::JointRecords all;
  for (const auto& one : records) all.push_back({&one.record, one.name, one.weight});
  return all;
}

std::vector<std::string> notes_of(const std::vector<OpenRecord>& records) {
  std::vector<std::string> notes;
  for (const auto& one : records)
    for (const auto& note : one.record.notes())
      notes.push_back(one.name.empty() ? note : fmt::format("{}: {}", one.name, note));
  return notes;
}

}  // namespace quintet::podlstm
