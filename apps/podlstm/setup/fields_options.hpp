#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "physics/ocean/record.hpp"
#include "physics/ocean/sources/mean_source.hpp"

/// Options of a record of fields, and the record.
namespace quintet::podlstm {

/// Section `fields.mask`.
struct MaskOptions {
  std::string file, variable = "mask";
  double sea = 1;
};
void describe(Schema& schema, MaskOptions& options);

/// Section `fields.stochastic`.
struct StochasticOptions {
  std::string climatology, variable = "SST";
  double spacing = 2;
  double years = 33;
  std::string start = "1981-10-29";
  std::int64_t seed = 1;
  double noise = 0.25, trend = 0.01;
};
void describe(Schema& schema, StochasticOptions& options);

/// Section `fields.region`.
struct RegionOptions {
  double south = -90, north = 90;
  std::optional<double> west, east;
};
void describe(Schema& schema, RegionOptions& options);

enum class Gaps { refuse, keep };

/// Section `fields`.
struct FieldsOptions {
  std::vector<std::string> files;
  std::string variable = "sst";
  ocean::FieldUnits units = ocean::FieldUnits::from_file;
  ocean::FieldQuantity quantity = ocean::FieldQuantity::from_file;
  netcdf::Limits valid_range = netcdf::Limits::from_file;
  std::vector<double> missing;
  std::optional<MaskOptions> mask;
  std::optional<StochasticOptions> stochastic;
  std::string from, to;
  RegionOptions region;
  ocean::MeanPeriod mean = ocean::MeanPeriod::none;
  ocean::Weekday week_begins = ocean::Weekday::sunday;
  std::int64_t coarsen = 1;
  std::string cache;
  ocean::IncompletePoints incomplete_points = ocean::IncompletePoints::refuse;
  double least_values = ocean::RecordOptions().least_values;
  Gaps gaps = Gaps::refuse;
  ocean::ConstantPoints constant_points = ocean::ConstantPoints::refuse;
};
void describe(Schema& schema, FieldsOptions& options);

/// Times and points of a record, where not those of the input decide.
struct RecordPart {
  std::optional<double> from;           ///< first day
  std::optional<ocean::MaskFile> mask;  ///< what is sea
  std::string mask_file;                ///< from which it is
};

/// Look at every value of all files. What was taken for granted stands in the record's notes. Collective.
/// Throws InputError.
[[nodiscard]] ocean::Record open_record(const Comm& comm, const FieldsOptions& options,
                                        const RecordPart& part = {});

}  // namespace quintet::podlstm
