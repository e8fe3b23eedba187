#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "surrogates/flow/prediction/error_bars.hpp"

namespace quintet::meshfreeflow {

/// Files that superresolve writes, besides run.log and report: NAME.h5 and what ParaView opens.
inline constexpr const char* frames_file = "fields.h5";

/// Names of the residuals in files: "residual_buoyancy".
[[nodiscard]] std::string residual_name(const std::string& equation);

/// Names of error bars in files: "error_bar_b".
[[nodiscard]] std::string error_bar_name(const std::string& field);

/// Memory (bytes) that a rank needs for its rows of a frame on this grid.
[[nodiscard]] double frame_bytes(const Comm& comm, const flow::BlockAxes& grid, int n_columns);

/// Fields, residuals and error bars (null: none) on a grid, frame by frame into fields.h5; each rank has rows
/// of every frame. Pictures of the middle one, and rms residuals and bars, go to report and summary.
/// Collective.
void predict_frames(Context& context, flow::FlowPredictor& predictor, flow::ErrorBars* bars,
                    const flow::BlockAxes& grid, const std::map<std::string, double>& parameters);

}  // namespace quintet::meshfreeflow
