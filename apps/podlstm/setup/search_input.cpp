#include "apps/podlstm/setup/search_input.hpp"

#include "apps/podlstm/setup/forecast_input.hpp"

namespace quintet::podlstm {

void describe(Schema& schema, CandidateOptions& options) {
  describe_without_networks(schema, options.forecast);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.forecast.training.epochs > 0) return std::nullopt;
    return "training.epochs: a candidate that is not trained cannot be chosen; expected at least 1";
  });
}

void describe(Schema& schema, SpaceOptions& options) {
  describe(schema, options.networks);
  schema
      .numbers("learning_rates", options.learning_rates,
               "Step sizes of Adam to choose from; none: that of forecast.training")
      .above(0);
  schema
      .integers("batches", options.batches,
                "Windows in a batch, one step of the optimiser to choose from; none: as forecast.training")
      .at_least(1)
      .at_most(1e9);
}

void describe(Schema& schema, RetrainOptions& options) {
  schema
      .integer("members", options.members,
               "Networks of the best candidate's ensemble, a seed each; 0: none are trained")
      .at_least(0)
      .at_most(1000);
  schema.integer("epochs", options.epochs, "Passes through all windows; 0: as many as in the search")
      .at_least(0)
      .at_most(1e9);
  schema.integer("seed", options.seed, "Seed of the first network; the others follow").at_least(0);
}

SearchInput::SearchInput() { space.networks.head = candidate.forecast.network.head; }

void describe(Schema& schema, SearchInput& input) {
  schema.text("modes", input.modes, "modes.h5 as `podlstm fit` writes it")
      .required()
      .existing_file()
      .on_restart(OnRestart::fixed);
  describe_points(schema, input.points).on_restart(OnRestart::free);
  schema.section("window", input.window, "Length of a forecast's past and future")
      .on_restart(OnRestart::fixed);
  schema
      .section("split", input.split,
               "What trains, and what chooses. Later times, left for tests, are not read by a search")
      .on_restart(OnRestart::fixed);
  schema.section("forecast", input.candidate, "What every candidate is, whatever its network")
      .on_restart(OnRestart::fixed);
  schema
      .section("space", input.space,
               "What is chosen among: each node's units and the skips, as in the SC20 paper")
      .on_restart(OnRestart::fixed);
  schema.section("search", input.search, "How candidates are proposed and evaluated");
  schema
      .integer("judged", input.judged,
               "Best candidates that are judged beside their base after rolling origins "
               "(forecast.keep_networks: earned); the one that gains most is trained again, where it earns "
               "its place")
      .at_least(1)
      .at_most(100)
      .on_restart(OnRestart::free);
  schema.section("retrain", input.retrain, "The best candidate is trained again, from new seeds: model.h5")
      .on_restart(OnRestart::free);
  schema
      .texts("beside", input.beside,
             "Trial stores (trials.h5) of other searches of the same space and data, by other methods or "
             "seeds: the report compares them with this one")
      .existing_file()
      .on_restart(OnRestart::free);
  schema.integer("leaderboard", input.leaderboard, "Candidates in log, leaderboard.csv and report")
      .at_least(1)
      .at_most(1000)
      .on_restart(OnRestart::free);
  describe_block(schema, input.block).on_restart(OnRestart::free);
  schema
      .section("references", input.references,
               "Linear forecasts: the base, and what stands beside the best candidate")
      .on_restart(OnRestart::fixed);
}

}  // namespace quintet::podlstm
