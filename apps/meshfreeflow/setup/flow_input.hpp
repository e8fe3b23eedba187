#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "io/config/schema.hpp"
#include "io/fields/field_series.hpp"
#include "io/parallel/interrupt.hpp"
#include "surrogates/flow/data/block.hpp"
#include "surrogates/flow/data/coarsen.hpp"
#include "surrogates/flow/data/data_options.hpp"
#include "surrogates/flow/model/flow_model.hpp"

/// Input of trained models, and the response to input beyond their training.
namespace quintet::meshfreeflow {

/// One sample of a file of fields over time.
struct FlowInputOptions {
  std::string file;
  int sample = 0;
  std::int64_t first_frame = 0;
  std::optional<std::int64_t> frames;
  flow::FileOptions describe_file;
};
void describe(Schema& schema, FlowInputOptions& options);

/// A sample in memory.
struct FlowInput {
  std::string name;  ///< "run.h5, sample 3"
  flow::FieldBlock block;
  std::map<std::string, double> parameters;
  std::vector<FieldWallValue> wall_values{};  ///< that the format knows
};

/// Return a header of the fields and axes that a file has, without network and equations, for what is judged
/// without a model. Collective. Throws InputError: no two axes of space.
[[nodiscard]] flow::FlowModelHeader header_of(const Comm& comm, const FlowInputOptions& options);

/// The named numbers of a sample ("Ra", "Pr"), without its fields. Collective. Throws InputError.
[[nodiscard]] std::map<std::string, double> read_flow_parameters(const Comm& comm,
                                                                 const FlowInputOptions& options);
/// How fields of a model are read from a file, in its order.
[[nodiscard]] flow::FlowDataOptions data_of(const FlowInputOptions& options,
                                            const flow::FlowModelHeader& model);
/// Read the fields of a model, in its order. Collective. Throws InputError as flow::Samples does, and for
/// samples and frames that are not there; Interrupted.
/// @param memory (GB) that they may take
[[nodiscard]] FlowInput read_flow(const Comm& comm, const FlowInputOptions& options,
                                  const flow::FlowModelHeader& model, double memory,
                                  const Interrupt& interrupt = {});

/// Keep frames first ... first + count - 1 of a block, whose time then ends there.
void keep_frames(flow::FieldBlock& block, int first, int count);
/// The block at low resolution; frames at the end that the factor does not divide are left out of both.
/// Throws InputError where the factors do not divide the points of space. @param names of the axes
/// @param where what the block was read from
[[nodiscard]] flow::FieldBlock made_coarser(flow::FieldBlock& block,
                                            const flow::LowResolutionOptions& options,
                                            const std::array<std::string, 3>& names,
                                            const std::string& where);
[[nodiscard]] flow::Coarsening coarsening(const flow::LowResolutionOptions& options);

/// An axis of a block as files have it.
[[nodiscard]] FieldAxis field_axis(const flow::BlockAxis& axis, const std::string& name,
                                   const std::string& units = "1");

/// Response to a prediction beyond the training.
enum class OutsideTraining { refuse, mark };
[[nodiscard]] const std::vector<std::pair<std::string, OutsideTraining>>& outside_training_names();
/// Refuse, with all reasons in one line, or warn and say so in the report. Throws InputError.
void judge_training(Context& context, const std::vector<std::string>& doubts, OutsideTraining choice,
                    const std::string& model);

}  // namespace quintet::meshfreeflow
