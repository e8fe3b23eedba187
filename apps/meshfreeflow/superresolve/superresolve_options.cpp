#include "apps/meshfreeflow/superresolve/superresolve_options.hpp"

namespace quintet::meshfreeflow {

void describe(Schema& schema, RefinedOptions& options) {
  schema
      .integers(
          "factor", options.factor,
          "So many points for each coarse node along time and two axes of space; of volumes along three of "
          "space")
      .length(3, 3)
      .at_least(1)
      .at_most(4096)
      .example("[4, 8, 8]");
  schema
      .integers("grid", options.grid,
                "So many equally spaced points along the same axes: from end to end, walls among them; on a "
                "periodic axis from its lower end")
      .length(3, 3)
      .at_least(2)
      .at_most(1 << 24)
      .example("[192, 128, 512]");
  schema
      .text("like", options.like,
            "The grid and, within the input's time, the frames of another file of fields; of volumes the "
            "grid alone")
      .existing_file();
  schema
      .text(
          "points", options.points,
          "A list of points: a table of text with a line of names (those of the axes, time t first), or, "
          "in the "
          "model's order of axes, without; .npy [n, 3]; HDF5 with a dataset `points` [n, 3]. Not of volumes")
      .existing_file();
  schema.check([&options]() -> std::optional<std::string> {
    const int n = (options.factor.empty() ? 0 : 1) + (options.grid.empty() ? 0 : 1) + (options.like ? 1 : 0) +
                  (options.points ? 1 : 0);
    if (n == 1) return std::nullopt;
    return n == 0 ? "say where fields are wanted: one of factor, grid, like, points"
                  : "give one of factor, grid, like, points";
  });
}

const std::vector<std::pair<std::string, flow::EncoderCover>>& encoder_cover_names() {
  static const std::vector<std::pair<std::string, flow::EncoderCover>> names{
      {"blocks", flow::EncoderCover::blocks}, {"whole", flow::EncoderCover::whole}};
  return names;
}
const char* const encoder_cover_text =
    "blocks: the encoder sees blocks as large as in training, each half over the next, whose latents are "
    "averaged; "
    "whole: all nodes at once";

void describe(Schema& schema, SuperresolveOptions& options) {
  experts::describe_model(schema, options.model, options.experts, "What `meshfreeflow train` wrote");
  schema.section("input", options.input, "The coarse fields over time");
  schema.section("low_resolution", options.low_resolution,
                 "Make the input coarser first (a factor of 1: leave it)");
  schema.section("output", options.output, "Where fields are wanted");
  schema.section(
      "error_bars", options.error_bars,
      "Write how wrong each field may be at each point (error_bar_NAME), by an ensemble; absent: not");
  schema.choice("encoder", options.encoder, encoder_cover_names(), encoder_cover_text);
  schema.flag(
      "residuals", options.residuals,
      "Store the residual of each equation at each point as an error indicator; about five times the work");
  schema.choice(
      "outside_training", options.outside_training, outside_training_names(),
      "Where the input goes beyond what the model was trained for: refuse it, or mark it in file and report");
  schema
      .number("max_memory", options.max_memory,
              "Memory that a rank may use for fields, latents and points (GB)")
      .above(0)
      .on_restart(OnRestart::free);
  schema.choice("precision", options.precision,
                {{"fp32", flow::ProductPrecision::fp32}, {"bf16", flow::ProductPrecision::bf16}},
                "Numbers that the decoder's products are made of; bf16 (sums stay fp32) is faster where the "
                "processor has AMX or AVX512_BF16, and some points are compared with fp32");
  schema
      .number("precision_bound", options.precision_bound,
              "Refuse bf16 where it changes a field by more than so much of its standard deviation, or a "
              "residual by more than so much of itself (rms)")
      .above(0);
  describe_device(schema, options.device);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.low_resolution.files.empty()) return std::nullopt;
    return "low_resolution.files: name the coarse run as input.file";
  });
}

}  // namespace quintet::meshfreeflow
