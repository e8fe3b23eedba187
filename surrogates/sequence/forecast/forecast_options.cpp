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

}  // namespace

std::span<const ForecastKindRow> forecast_kinds() { return kinds; }

void describe(Schema& schema, ForecastOptions& options) {
  describe_kind(schema, options);
  schema
      .integer("members", options.members,
               "Networks of the ensemble, a seed each, where they are kept; 0: the base alone")
      .at_least(0)
      .at_most(1000);
  schema.integer("seed", options.seed, "Seed of the first network; the others follow").at_least(0);
  describe_keep(schema, options);
  schema.section("network", options.network, "The networks' architecture");
  describe_training(schema, options);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.kind == ForecastKind::hybrid || options.members > 0) return std::nullopt;
    return "kind raw without networks (members: 0) has nothing to forecast with";
  });
}

void describe_without_networks(Schema& schema, ForecastOptions& options) {
  describe_kind(schema, options);
  describe_keep(schema, options);
  describe_training(schema, options);
}

}  // namespace quintet::sequence
