#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "physics/ocean/joint_records.hpp"
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

/// Keys that each variable of a record has.
struct VariableOptions {
  std::vector<std::string> files;
  std::string variable = "sst";
  ocean::FieldUnits units = ocean::FieldUnits::from_file;
  ocean::FieldQuantity quantity = ocean::FieldQuantity::from_file;
  netcdf::Limits valid_range = netcdf::Limits::from_file;
  std::vector<double> missing;
  std::optional<MaskOptions> mask;
  ocean::MeanPeriod mean = ocean::MeanPeriod::none;
  ocean::Weekday week_begins = ocean::Weekday::sunday;
  std::int64_t coarsen = 1;
  std::string cache;
  ocean::IncompletePoints incomplete_points = ocean::IncompletePoints::refuse;
  ocean::ConstantPoints constant_points = ocean::ConstantPoints::refuse;
};

/// An entry of `fields.also`: a further variable.
struct AlsoOptions : VariableOptions {
  std::string name;
  double weight = 1;
  std::optional<RegionOptions> region;
};
void describe(Schema& schema, AlsoOptions& options);

/// Section `fields`.
struct FieldsOptions : VariableOptions {
  std::optional<StochasticOptions> stochastic;
  std::string from, to;
  RegionOptions region;
  double least_values = ocean::RecordOptions().least_values;
  Gaps gaps = Gaps::refuse;
  std::vector<AlsoOptions> also;
};
void describe(Schema& schema, FieldsOptions& options);

/// Times and points of a record, where not those of the input decide.
struct RecordPart {
  std::optional<double> from;           ///< first day
  std::optional<ocean::MaskFile> mask;  ///< what is sea
  std::string mask_file;                ///< from which it is
};

/// A variable's record.
struct OpenRecord {
  std::string name;  ///< of a further variable; empty: of the first
  double weight = 1;
  ocean::Record record;
};

/// Look at every value of all files, of all variables. What was taken for granted stands in the records'
/// notes. Collective. Throws InputError.
/// @param parts of each variable, in their order; empty: the input decides
[[nodiscard]] std::vector<OpenRecord> open_records(const Comm& comm, const FieldsOptions& options,
                                                   const std::vector<RecordPart>& parts = {});
/// Days of the times that the first variable's record has, from looking at its files and at no value of them.
/// Collective. Throws InputError.
[[nodiscard]] std::vector<double> days_of(const Comm& comm, const FieldsOptions& options);
/// The records as they have modes in common; they must outlive it.
[[nodiscard]] ocean::JointRecords joint(const std::vector<OpenRecord>& records);
/// What the user should know of them, each variable's name in front.
[[nodiscard]] std::vector<std::string> notes_of(const std::vector<OpenRecord>& records);

}  // namespace quintet::podlstm
