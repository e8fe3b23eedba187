#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "io/fields/field_series.hpp"

namespace quintet::flow {

/// How a crop at low resolution is made of one at high resolution, along one axis.
enum class LowResolutionFilter {
  box,    ///< mean over `factor` points, weighted by the widths of their cells; the node is their centre
  point,  ///< one of `factor` points, the one before their middle
};

/// Split that is kept for validation and for the test.
enum class SplitBy {
  sample,  ///< whole samples, in the order of the files: the last ones for the test, those before for
           ///< validation
  time,    ///< the last frames of each sample, in the same order; no crop crosses from one part to another
};

/// Response to fields that do not satisfy their stated equations.
enum class DataCheck { refuse, warn, off };
[[nodiscard]] const std::vector<std::pair<std::string, DataCheck>>& data_check_names();
extern const char* const data_check_text;

/// Section `data.low_resolution`.
struct LowResolutionOptions {
  std::vector<std::int64_t> factor{4, 8, 8};  ///< [t, z, x], of volumes [z, y, x]; the reference's
  LowResolutionFilter time_filter = LowResolutionFilter::point;
  LowResolutionFilter space_filter = LowResolutionFilter::box;
  std::vector<std::string>
      files;  ///< [files] of independent coarse runs, one a file of `data.files`; empty: filter
};
void describe(Schema& schema, LowResolutionOptions& options);

/// Section `data.split`.
struct SplitOptions {
  SplitBy by = SplitBy::sample;
  double validation = 0.1, test = 0.1;  ///< shares of samples or frames
};
void describe(Schema& schema, SplitOptions& options);

/// Facts about an axis that a file lacks: one of section `data.describe_files.axes`.
struct FileAxisOptions {
  std::string name;
  std::optional<double> lower, upper;
  AxisFacts::Points points = AxisFacts::Points::stored;
  enum class Periodic { stored, yes, no } periodic = Periodic::stored;
};
void describe(Schema& schema, FileAxisOptions& options);

/// Facts that files lack: section `data.describe_files`.
struct FileOptions {
  std::string part;                                        ///< of a file with several series
  std::vector<std::pair<std::string, double>> parameters;  ///< "Ra": 1e6
  std::vector<FileAxisOptions> axes;
  std::optional<double> time_spacing;  ///< of files without times
};
void describe(Schema& schema, FileOptions& options);
/// How a file is read of which this is said; its axes and fields are still to be named.
[[nodiscard]] FieldSeriesOptions reader_options(const FileOptions& options);

/// Section `data` of `meshfreeflow train`.
struct FlowDataOptions {
  std::vector<std::string> files;
  std::vector<std::string> fields{"p", "b", "u", "w"};  ///< the channels, in this order
  std::vector<std::string> axes{"z", "x"};              ///< of space, slowest first; three: volumes
  std::vector<std::int64_t> crop{16, 128, 128};         ///< [t, z, x], or [z, y, x], at high resolution
  std::int64_t points = 512;                            ///< drawn in each crop
  LowResolutionOptions low_resolution;
  SplitOptions split;
  FileOptions describe_files;
  DataCheck check = DataCheck::refuse;
  /// [field] Taken off in double precision before values are rounded; no key: a model's, else found where a
  /// mean is too large for single precision.
  std::vector<double> offsets{};
  double memory = 4;  ///< (GB) that the fields of a node may take
  std::string memory_key = "data.memory";
  /// The reference's conventions, for comparison only: low resolution by interpolation at linspace(0, n - 1,
  /// n/factor), coordinates by index in [0, 1] whatever the grid, statistics over all frames.
  bool reference_compatible = false;

  /// Whether samples are volumes: each frame by itself, on three axes of space, in place of time and two.
  [[nodiscard]] bool of_volumes() const { return axes.size() == 3; }
};
void describe(Schema& schema, FlowDataOptions& options);

}  // namespace quintet::flow
