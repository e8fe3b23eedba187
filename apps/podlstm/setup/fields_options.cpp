#include "apps/podlstm/setup/fields_options.hpp"

#include <cmath>
#include <filesystem>

#include "io/log/error.hpp"
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
      .text("file", options.file, "A netCDF file of the same grid, its latitudes and longitudes in any order")
      .required()
      .existing_file();
  schema.text("variable", options.variable, "Name of the mask");
  schema.number("sea", options.sea, "The stored number that marks sea; all others are land");
}

void describe(Schema& schema, StochasticOptions& options) {
  schema
      .text("climatology", options.climatology,
            "A netCDF file of twelve monthly fields, land where a month has no value; empty: an analytic "
            "climatology with rough "
            "continents")
      .existing_file();
  schema.text("variable", options.variable, "Name of the field in it");
  schema.number("spacing", options.spacing, "Degrees between points of the analytic climatology")
      .at_least(0.25)
      .at_most(30);
  schema.number("years", options.years, "Length of the record of weeks").at_least(0.05).at_most(2000);
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
    if (options.south >= options.north) return "south is not south of north";
    if (options.west.has_value() != options.east.has_value()) return "give both west and east, or neither";
    return std::nullopt;
  });
}

void describe(Schema& schema, FieldsOptions& options) {
  schema
      .texts("files", options.files,
             "Files that follow each other in time: netCDF of CF (time, lat, lon), or fields over time of "
             "ours (HDF5)")
      .existing_file();
  schema.text("variable", options.variable, "Name of the field");
  schema.choice("units", options.units,
                {{"from_file", ocean::FieldUnits::from_file},
                 {"degree_Celsius", ocean::FieldUnits::degree_celsius},
                 {"kelvin", ocean::FieldUnits::kelvin}},
                "What its numbers are in; kelvin become degrees Celsius");
  schema.section("mask", options.mask, "What is sea; absent: points that have a value at every time");
  schema.section("stochastic", options.stochastic,
                 "Instead of files: a made-up ocean with observed seasons, for trials");
  schema.text("from", options.from, "First day that is used, as 1981-10-29; empty: the first there is");
  schema.text("to", options.to, "Last day that is used");
  schema.section("region", options.region, "Part of the grid");
  schema.choice("incomplete_points", options.incomplete_points,
                {{"refuse", IncompletePoints::refuse}, {"drop", IncompletePoints::drop}},
                "Sea points that have no value at some times");
  schema.choice("gaps", options.gaps, {{"refuse", Gaps::refuse}, {"keep", Gaps::keep}},
                "Times that are missing: steps of more than one and a half times the usual one; keep: they "
                "are told of");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.files.empty() != options.stochastic.has_value()) return "give either files or stochastic";
    return std::nullopt;
  });
}

ocean::Record open_record(const Comm& comm, const FieldsOptions& options) {
  std::vector<std::unique_ptr<ocean::FieldSource>> sources;
  std::optional<ocean::MaskFile> mask;
  ocean::RecordOptions chosen;
  together(comm, [&] {
    if (!options.from.empty()) chosen.from = ocean::parse_date(options.from, "fields.from");
    if (!options.to.empty())
      chosen.to = ocean::parse_date(options.to, "fields.to") + 1 - 1e-9;  // that day to its end
    if (options.stochastic) sources.push_back(make_stochastic(*options.stochastic));
    for (const auto& file : options.files)
      sources.push_back(ocean::open_field_source(file, options.variable, options.units));
    if (options.mask) mask = ocean::read_mask(options.mask->file, options.mask->variable, options.mask->sea);
  });
  chosen.south = options.region.south, chosen.north = options.region.north;
  chosen.west = options.region.west, chosen.east = options.region.east;
  chosen.drop_incomplete = options.incomplete_points == IncompletePoints::drop;
  chosen.keep_gaps = options.gaps == Gaps::keep;
  return ocean::Record(comm, std::move(sources), mask, chosen);
}

}  // namespace quintet::podlstm
