#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/parallel/interrupt.hpp"
#include "surrogates/flow/data/batch.hpp"
#include "surrogates/flow/data/data_options.hpp"
#include "surrogates/flow/data/row_kind.hpp"
#include "surrogates/flow/data/samples.hpp"

namespace quintet::flow {

enum class Split { train, validation, test };

/// Frames first ... first + n - 1 of a run.
struct RunFrames {
  std::string name;  ///< "run.h5, sample 3"
  int first = 0, n = 0;
};

/// Fields over time as a model is trained on them: parts, statistics, crops, points.
///
/// All that is drawn comes from counter-based random numbers of (seed, step, number of the crop in the step):
/// the same on any ranks, and after a restart. Fields are held once a node. Of volumes each frame is a
/// sample, whose first axis is one of space in place of time.
class FlowDataset {
 public:
  /// Collective. Throws InputError, one line each: what FieldSeriesReader refuses; fields or parameters that
  /// a file lacks; other axes or grid spacing than the first file's; unequal time spacing; crops larger than
  /// the data or than a part of the split; crops that the factors do not divide; a part without a crop; more
  /// than `memory`. Throws Interrupted, asked before each part that is read.
  FlowDataset(const Comm& comm, const FlowDataOptions& options, const Interrupt& interrupt = {});
  ~FlowDataset();
  FlowDataset(FlowDataset&&) noexcept;

  [[nodiscard]] const FlowDataOptions& options() const;
  [[nodiscard]] const std::vector<std::string>& field_names() const;
  [[nodiscard]] const std::vector<std::string>& field_units() const;
  [[nodiscard]] const std::vector<std::string>& axis_names() const;  ///< "t", then those of space; or these
  [[nodiscard]] const std::vector<std::string>& parameter_names() const;  ///< sorted
  /// Statistics of the fields in the train split alone.
  [[nodiscard]] const FieldStatistics& statistics() const;
  /// Continue with the statistics of a model that was trained before.
  void set_statistics(const FieldStatistics& statistics);

  /// Range for which a model is trained: smallest and largest of all samples in the train split.
  struct Range {
    double least = 0, most = 0;
  };
  [[nodiscard]] std::vector<Range> parameter_ranges() const;      ///< [parameter]
  [[nodiscard]] std::array<Range, 3> low_spacing_ranges() const;  ///< [axis] between nodes of low resolution
  [[nodiscard]] std::array<bool, 3> periodic() const;             ///< [axis] of the domain
  [[nodiscard]] std::array<int, 3> low_shape() const;             ///< nodes of a crop at low resolution

  /// All that was read, whatever part it belongs to.
  [[nodiscard]] const Samples& samples() const;
  /// Frames of a split known again, ascending: see fingerprints.hpp.
  [[nodiscard]] std::vector<std::int64_t> fingerprints(Split split) const;
  /// Frames that runs give to a split.
  [[nodiscard]] std::vector<RunFrames> runs(Split split) const;
  [[nodiscard]] std::int64_t n_samples(Split split) const;  ///< samples of which the split has frames
  [[nodiscard]] std::int64_t n_crops(Split split) const;    ///< places where a crop can begin, in all samples
  /// Crops first, ..., first + count - 1 of step `step`, as any rank may ask for them. Every place is equally
  /// likely. @param n_rows rows of each crop for its spectra, see rows()
  [[nodiscard]] Batch batch(Split split, std::uint64_t seed, std::uint64_t step, int first, int count,
                            int n_rows = 0) const;
  /// Rows that a crop can give. Throws InputError as row_kind() does.
  [[nodiscard]] RowKind rows() const;

  /// All frames of a sample that belong to the split, at high resolution, and the same at low resolution as
  /// crops have it (frames that the factor does not divide are left out at the end); physical values.
  [[nodiscard]] FieldBlock high(Split split, std::int64_t sample) const;
  [[nodiscard]] FieldBlock low(Split split, std::int64_t sample) const;
  [[nodiscard]] std::vector<double> parameters(Split split, std::int64_t sample) const;  ///< [parameter]
  [[nodiscard]] std::string name(Split split, std::int64_t sample) const;  ///< "run.h5, sample 3"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quintet::flow
