#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/meshfreeflow/evaluate/evaluate_options.hpp"
#include "io/parallel/interrupt.hpp"
#include "surrogates/flow/evaluation/flow_statistics.hpp"
#include "surrogates/flow/evaluation/rectilinear_grid.hpp"
#include "surrogates/flow/model/flow_model.hpp"
#include "surrogates/flow/prediction/flow_predictor.hpp"

namespace quintet::meshfreeflow {

/// A model to be judged.
struct JudgedModel {
  JudgedModelOptions options;
  flow::FlowModel model;
  std::size_t decoder_bytes = 0,
              decoder_bytes_float = 0;  ///< of a decoder of codes: its bytes, and as floats
};

/// Meaning of the fields in numbers, for one case.
struct FlowMeaning {
  flow::FlowFields roles;
  flow::FlowConstants constants;
};

/// A flow at high and at low resolution; this rank judges some of its frames.
struct CaseData {
  std::string name, text;
  flow::FieldBlock truth, coarse;  ///< the truth's frames are those that the coarse fields reach
  std::map<std::string, double> parameters;
  flow::RectilinearGrid grid;
  std::vector<std::string> fields;
  std::vector<flow::FieldWalls> walls;  ///< [field][axis]
  std::optional<FlowMeaning> meaning;
  int first = 0, end = 0;            ///< frames of this rank
  int first_held = 0, end_held = 0;  ///< and those around them that differences in time need

  [[nodiscard]] int n_frames() const { return truth.axes[0].size(); }
  [[nodiscard]] int n_held() const { return end_held - first_held; }
  [[nodiscard]] std::vector<double> held_times() const;
};

/// Number of a field. Throws InputError that names the key.
[[nodiscard]] int field_of(const std::vector<std::string>& fields, const std::string& name, const char* key);

/// Read a case, and make it coarse. Collective. Throws InputError, Interrupted.
[[nodiscard]] CaseData load_case(const Comm& comm, const CaseOptions& options, const EvaluateOptions& all,
                                 const flow::FlowModelHeader& model, const Interrupt& interrupt);

/// Points [point][axis] of the truth's grid at the time of a frame.
[[nodiscard]] std::vector<double> points_of(const CaseData& data, int frame);

/// Fields of a case as somebody has them, on the truth's grid, for the frames held by this rank.
struct CaseFields {
  std::string name;                         ///< "truth", "trilinear", "tricubic" or the model's
  std::vector<std::vector<double>> fields;  ///< [field][held frame][point]
  /// Residuals by the decoder's own derivatives, [equation][held frame][point]; empty where it has none.
  std::vector<std::vector<double>> residuals;
  std::vector<std::string> doubts{};

  [[nodiscard]] std::vector<std::span<const double>> spans() const;
};

[[nodiscard]] CaseFields true_fields(const CaseData& data);
/// By lines, "trilinear", or by cubics, "tricubic". Throws Interrupted.
[[nodiscard]] CaseFields interpolated_fields(const CaseData& data, bool by_cubics,
                                             const Interrupt& interrupt);
/// By a model, as the options say. Throws Interrupted.
[[nodiscard]] CaseFields predicted_fields(const CaseData& data, const JudgedModel& judged,
                                          const flow::PredictionOptions& options);

}  // namespace quintet::meshfreeflow
