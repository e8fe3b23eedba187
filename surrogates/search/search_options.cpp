#include "surrogates/search/search_options.hpp"

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"

namespace quintet::search {

void describe(Schema& schema, WorkersOptions& options) {
  schema.choice("kind", options.kind, choices_of(worker_kinds), "What a worker is");
  schema.integer("per_rank", options.per_rank, "Processes on each rank; 0: as many as a rank has threads")
      .at_least(0)
      .at_most(4096);
  schema.quantity("time_limit", options.time_limit_s, "s", "An evaluation that takes longer ends; 0 s: none")
      .at_least(0);
  schema.integer("tries", options.tries, "Times that an evaluation is begun whose worker is killed")
      .at_least(1)
      .at_most(1000);
}

void describe(Schema& schema, SearchOptions& options) {
  schema.choice("method", options.method, choices_of(methods), "How candidates are proposed")
      .on_restart(OnRestart::fixed);
  schema
      .integer("trials", options.trials,
               "Evaluations; candidates that had been evaluated before do not count")
      .required()
      .at_least(1)
      .at_most(10000000)
      .on_restart(OnRestart::free);
  schema
      .quantity("time_limit", options.time_limit_s, "s",
                "The search ends after this time, its runs taken together; 0 s: after its trials")
      .at_least(0)
      .on_restart(OnRestart::free);
  schema.integer("seed", options.seed, "Of candidates and evaluations")
      .at_least(0)
      .on_restart(OnRestart::fixed);
  schema.section("evolution", options.methods.evolution, "Ageing evolution").on_restart(OnRestart::fixed);
  schema.section("reinforcement", options.methods.reinforcement, "Reinforcement learning (PPO)")
      .on_restart(OnRestart::fixed);
  schema.section("stopping", options.stopping, "Hopeless candidates").on_restart(OnRestart::fixed);
  schema.section("workers", options.workers, "Who evaluates").on_restart(OnRestart::free);
  schema
      .text("replay", options.replay,
            "A trial store whose order of proposals and ends is followed, with its seed")
      .existing_file()
      .on_restart(OnRestart::free);
}

std::string SearchOptions::identity() const {
  std::string text = fmt::format("{}, seed {}", row_of(search::methods, method).name, seed);
  if (method == MethodKind::evolution)
    text += fmt::format(", population {}, sample {}", methods.evolution.population, methods.evolution.sample);
  if (method == MethodKind::reinforcement) {
    const auto& r = methods.reinforcement;
    text += fmt::format(", {} {} agents of {}, hidden {}, epochs {}, rate {}, clip {}, value {}, entropy {}",
                        r.agents, row_of(updates, r.update).name, r.batch, r.hidden, r.epochs,
                        r.learning_rate, r.ppo.clip, r.ppo.value, r.ppo.entropy);
  }
  if (stopping.rule != StoppingRule::none)
    text +=
        fmt::format(", stopping {} at [{}] after {}, factor {}", row_of(stopping_rules, stopping.rule).name,
                    fmt::join(stopping.epochs, ", "), stopping.after, stopping.factor);
  return text;
}

}  // namespace quintet::search
