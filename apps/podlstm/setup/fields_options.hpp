#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/config/schema.hpp"
#include "physics/ocean/record.hpp"

/// What the user writes of a record of fields, and the record.
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

enum class IncompletePoints { refuse, drop };
enum class Gaps { refuse, keep };

/// Section `fields`.
struct FieldsOptions {
  std::vector<std::string> files;
  std::string variable = "sst";
  ocean::FieldUnits units = ocean::FieldUnits::from_file;
  std::optional<MaskOptions> mask;
  std::optional<StochasticOptions> stochastic;
  std::string from, to;
  RegionOptions region;
  IncompletePoints incomplete_points = IncompletePoints::refuse;
  Gaps gaps = Gaps::refuse;
};
void describe(Schema& schema, FieldsOptions& options);

/// Open all files and look at every value. Collective. Throws InputError.
[[nodiscard]] ocean::Record open_record(const Comm& comm, const FieldsOptions& options);

}  // namespace quintet::podlstm
