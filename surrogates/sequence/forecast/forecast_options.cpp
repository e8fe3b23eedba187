#include "surrogates/sequence/forecast/forecast_options.hpp"

#include <optional>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"

namespace quintet::sequence {

ForecastOptions::ForecastOptions() {
  network.nodes = {"16"};
  network.head = Head::last_state;
  training.epochs = 60;
  training.learning_rate = 3e-4;
  training.weight_decay = 0.1;
  training.zero_head = true;
}

namespace {

constexpr ForecastKindRow kinds[] = {{ForecastKind::hybrid, "hybrid"}, {ForecastKind::raw, "raw"}};

struct NetworkKindRow {
  NetworkKind value;
  const char* name;
};
constexpr NetworkKindRow network_kinds[] = {{NetworkKind::recurrent, "recurrent"},
                                            {NetworkKind::graph, "graph"}};

void describe_kind(Schema& schema, ForecastOptions& options) {
  schema.choice("kind", options.kind, choices_of(kinds),
                "hybrid: a linear base, corrected by networks of anomalies and season; raw: networks of the "
                "coefficients scaled to [0, 1], "
                "as in the SC20 paper (network.head: lstm, training.zero_head: false)");
  schema.choice("base", options.base, choices_of(references()),
                "What hybrid networks correct; see references");
  schema
      .integer("seasons", options.seasons,
               "Harmonics of the year whose phase hybrid networks are told at each step")
      .at_least(0)
      .at_most(12);
  schema.choice(
      "loss", options.loss,
      std::vector<std::pair<std::string, Loss>>{{"degrees", Loss::degrees}, {"deviations", Loss::deviations}},
      "Errors of hybrid networks in training: degrees counts them as on the map (RMSE), deviations each mode "
      "in units of the base's "
      "error (R2, where all outputs count alike)");
}

void describe_keep(Schema& schema, ForecastOptions& options) {
  schema
      .choice("keep_networks", options.keep,
              {{"earned", KeepNetworks::earned}, {"always", KeepNetworks::always}},
              "hybrid: whether the model has networks: earned, where trainings from rolling origins within "
              "training "
              "and validation beat the base on the times after them by two standard errors; else none are "
              "trained and the model is the base alone")
      .on_restart(OnRestart::free);
  schema
      .integer(
          "origins", options.origins,
          "Rolling origins that decide so: the second half of training and validation in so many blocks, "
          "at most two networks trained anew before each")
      .at_least(3)
      .at_most(100)
      .on_restart(OnRestart::free);
}

void describe_training(Schema& schema, ForecastOptions& options) {
  schema.section("training", options.training, "How they are trained");
}

void describe_ensemble(Schema& schema, ForecastOptions& options) {
  describe_kind(schema, options);
  schema
      .integer("members", options.members,
               "Networks of the ensemble, a seed each, where they are kept; 0: the base alone")
      .at_least(0)
      .at_most(1000);
  schema.integer("seed", options.seed, "Seed of the first network; the others follow").at_least(0);
}

void describe_networks(Schema& schema, ForecastOptions& options) {
  schema.section("network", options.network, "The networks' architecture");
  describe_training(schema, options);
  schema.check([&options]() -> std::optional<std::string> {
    const auto& training = options.training;
    if (!options.network.is_graph()) return std::nullopt;
    if (options.kind == ForecastKind::raw)
      return "network.kind: graph corrects a linear base, and kind is raw; set kind: hybrid";
    if (options.loss != Loss::degrees)
      return "network.kind: graph learns the field by area, loss: degrees; deviations are of modes, for "
             "recurrent networks";
    if (training.engine == Engine::torch)
      return "training.engine: torch has recurrent networks alone; network.kind: graph needs engine: kernels";
    if (training.precision == Precision::bf16)
      return "training.precision: bf16 is of recurrent networks; leave it out (network.graph.precision is of "
             "graph networks)";
    if (training.twin_biases)
      return "training.twin_biases: gates are of recurrent networks, and network.kind is graph; leave it out";
    return std::nullopt;
  });
}

}  // namespace

std::span<const ForecastKindRow> forecast_kinds() { return kinds; }

void describe(Schema& schema, NetworkOptions& options) {
  schema.choice(
      "kind", options.kind, choices_of(network_kinds),
      "recurrent: LSTMs of the coefficients, as nodes, skips and head say; graph: of the field, on a "
      "graph over the sea, which the modes file must have (hybrid models, loss: degrees)");
  describe(schema, static_cast<ArchitectureOptions&>(options));
  schema.section("graph", options.graph, "The graph and its network, where kind is graph; absent: as below")
      .on_restart(OnRestart::fixed);
  schema.check([&options, usual = static_cast<ArchitectureOptions>(options)]() -> std::optional<std::string> {
    if (!options.is_graph() && options.graph)
      return "graph: is of kind: graph, and kind is recurrent; set kind: graph, or leave the section out";
    if (options.is_graph() &&
        (options.nodes != usual.nodes || options.skips != usual.skips || options.head != usual.head))
      return "nodes, skips and head are of recurrent networks, and kind is graph; give graph.layers and "
             "graph.features";
    return std::nullopt;
  });
}

void describe(Schema& schema, ForecastOptions& options) {
  describe_ensemble(schema, options);
  describe_keep(schema, options);
  describe_networks(schema, options);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.kind == ForecastKind::hybrid || options.members > 0) return std::nullopt;
    return "kind raw without networks (members: 0) has nothing to forecast with";
  });
}

void describe_without_trial(Schema& schema, ForecastOptions& options) {
  describe_ensemble(schema, options);
  describe_networks(schema, options);
}

void describe_without_networks(Schema& schema, ForecastOptions& options) {
  describe_kind(schema, options);
  describe_keep(schema, options);
  describe_training(schema, options);
}

}  // namespace quintet::sequence
