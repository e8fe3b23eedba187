#include "surrogates/sequence/forecast/train_forecast.hpp"

#include "io/parallel/together.hpp"
#include "surrogates/sequence/forecast/training_set.hpp"

namespace quintet::sequence {

TrainedForecast train_forecast(const Comm& comm, const CoefficientSeries& series, const Split& split,
                               Irregular irregular, const ForecastOptions& options,
                               const ReferenceOptions& references,
                               const std::function<bool(std::int64_t, const EpochReport&)>& epoch_done) {
  const auto set = make_training_set(series, split, irregular, options, references);
  TrainedForecast trained{set.model, {}};
  auto& model = trained.model;
  model.architecture = architecture_for(model, options.network);
  if (options.members == 0) return trained;

  const auto n_parameters = graph_of(model.architecture).n_parameters;
  model.members.assign(options.members, std::vector<double>(n_parameters, 0.0));
  trained.history.resize(options.members);
  together(comm, [&] {
    for (int k = comm.rank(); k < options.members; k += comm.size()) {
      const auto seed = options.seed + k;
      const auto result =
          train(model.architecture, model.shape.in, set.training(), set.validation(), options.training,
                static_cast<std::uint64_t>(seed),
                [&](const EpochReport& report) { return !epoch_done || epoch_done(seed, report); });
      model.members[k] = result.parameters;
      trained.history[k] = {seed, result.history, result.best_epoch, result.cpu_s};
    }
  });
  // Everybody gets every network from the rank that has trained it.
  for (int k = 0; k < options.members; ++k) {
    const int owner = k % comm.size();
    comm.broadcast(std::span<double>(model.members[k]), owner);
    auto& history = trained.history[k];
    auto n = comm.broadcast(static_cast<std::uint64_t>(history.epochs.size()), owner);
    history.epochs.resize(n);
    comm.broadcast(std::span<EpochLosses>(history.epochs), owner);
    history.seed = options.seed + k;
    history.best_epoch = comm.broadcast(history.best_epoch, owner);
    history.cpu_s = comm.broadcast(history.cpu_s, owner);
  }
  return trained;
}

}  // namespace quintet::sequence
