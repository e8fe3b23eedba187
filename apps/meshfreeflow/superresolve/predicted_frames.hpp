#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/setup/volume_input.hpp"
#include "surrogates/flow/prediction/error_bars.hpp"

namespace quintet::meshfreeflow {

/// Files that superresolve writes, besides run.log and report: NAME.h5 and what ParaView opens.
inline constexpr const char* frames_file = "fields.h5";

/// Names of the residuals in files: "residual_buoyancy".
[[nodiscard]] std::string residual_name(const std::string& equation);

/// Names of error bars in files: "error_bar_b".
[[nodiscard]] std::string error_bar_name(const std::string& field);

/// This rank's rows of the first axis of space.
struct RankRows {
  int first, count;
  RankRows(const Comm& comm, int n);
};

/// Frames that are wanted.
struct OutputFrames {
  flow::BlockAxes grid;                  ///< time and two axes of space, or three of space
  const VolumeInput* volumes = nullptr;  ///< where each frame is a volume by itself, what they are made of
  int rows_at_a_time = 0;                ///< of the first axis of space, on a rank

  [[nodiscard]] std::size_t first_space() const { return volumes == nullptr ? 1 : 0; }
  [[nodiscard]] const flow::BlockAxis& rows() const { return grid[first_space()]; }
  [[nodiscard]] const std::vector<double>& times() const;
  /// Points [row][...][axis] of so many rows from `first` on.
  [[nodiscard]] std::vector<double> points(int first, int count, double time) const;
  /// Take as many rows at a time as half of what max_memory leaves beside `least` (bytes). Throws InputError
  /// where that is no row.
  void choose_rows(const Comm& comm, double max_memory, double least, int n_columns);
  /// Rows of a rank, at most.
  [[nodiscard]] int most_rows(const Comm& comm) const;
  /// Memory (bytes) that a rank needs for so many of its rows.
  [[nodiscard]] double bytes(int n_rows, int n_columns) const;
  /// Whether values on this grid are those of the file that was made coarser.
  [[nodiscard]] bool has_truth() const;
};

/// Fields, residuals and error bars (null: none) on a grid, frame by frame into fields.h5; each rank has rows
/// of every frame, some at a time. Pictures of the middle one, of volumes its middle row, and rms residuals
/// and bars, go to report and summary; where the truth is known, errors beside those of linear interpolation.
/// Collective.
void predict_frames(Context& context, flow::FlowPredictor& predictor, flow::ErrorBars* bars,
                    const OutputFrames& frames, const std::map<std::string, double>& parameters);

}  // namespace quintet::meshfreeflow
