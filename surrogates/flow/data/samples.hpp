#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/fields/field_series.hpp"
#include "io/parallel/interrupt.hpp"
#include "io/parallel/shared_array.hpp"
#include "surrogates/flow/data/block.hpp"
#include "surrogates/flow/data/data_options.hpp"

namespace quintet::flow {

/// One run in memory; of volumes one frame of it.
struct Sample {
  std::string name;  ///< "run.h5, sample 3", "run.h5, frame 7"
  std::size_t file = 0;
  std::optional<int> frame;  ///< that this is of its run; none: all of them, time is an axis
  double time = 0;           ///< of that frame
  BlockAxes axes;            ///< all frames, the whole domain; widths filled in
  std::map<std::string, double> parameters;
  std::vector<FieldWallValue> wall_values;  ///< that the format knows
  const float* values = nullptr;            ///< [field][t][z][x]
  std::vector<double> own_times;  ///< of the file's frames, where these are interpolated; else empty

  [[nodiscard]] int n_frames() const { return frame ? 1 : axes[0].size(); }
  [[nodiscard]] std::array<int, 3> extent() const { return {axes[0].size(), axes[1].size(), axes[2].size()}; }
  [[nodiscard]] std::size_t n_points() const {
    return axes[0].size() * axes[1].coordinates.size() * axes[2].coordinates.size();
  }
};

/// What is wanted of a file: some frames of one run.
struct SampleChoice {
  std::uint64_t sample = 0;
  int first_frame = 0, n_frames = 0;
};

/// A run of a file: a sample, or as many as it has frames.
struct Run {
  std::string name;
  std::size_t first = 0;  ///< number of its first sample
  int n_frames = 0;
  std::uint64_t number = 0;  ///< in its file
  int first_frame = 0;       ///< where not all are wanted
};

/// The samples of several files, their values once a node.
class Samples {
 public:
  /// Collective. Throws InputError: see FlowDataset; Interrupted, asked before each part that is read.
  /// @param choice what alone is read; none: all. Of frames that must be interpolated all are read.
  Samples(const Comm& comm, const std::vector<std::string>& files, const FlowDataOptions& options,
          const Interrupt& interrupt = {}, const std::optional<SampleChoice>& choice = {});

  [[nodiscard]] std::size_t size() const { return samples_.size(); }
  [[nodiscard]] const Sample& operator[](std::size_t i) const { return samples_[i]; }
  [[nodiscard]] const std::vector<std::string>& field_units() const { return field_units_; }
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  /// [field] What was taken off in double precision: 0 unless a mean is too large for single precision.
  [[nodiscard]] const std::vector<double>& offsets() const { return offsets_; }

 private:
  void add_run(const FieldSeriesReader& reader, std::uint64_t s, std::size_t file,
               const FlowDataOptions& options, const std::optional<SampleChoice>& choice);
  void read(const Comm& comm, const std::vector<std::string>& files, const FlowDataOptions& options,
            const Interrupt& interrupt);

  std::vector<Sample> samples_;
  std::vector<Run> runs_;
  std::vector<std::string> field_units_;
  std::vector<double> offsets_;
  std::unique_ptr<SharedArray<float>> memory_;
};

}  // namespace quintet::flow
