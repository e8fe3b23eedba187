#include "surrogates/sequence/forecast/train_forecast.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/sequence/graph/graph_training.hpp"

namespace quintet::sequence {

ForecastTraining::ForecastTraining(const Comm& comm, const CoefficientSeries& series, const Split& split,
                                   Irregular irregular, const ForecastOptions& options,
                                   const ReferenceOptions& references)
    : ForecastTraining(comm, make_training_set(series, split, irregular, options, references), options) {}

ForecastTraining::ForecastTraining(const Comm& comm, TrainingSet set, const ForecastOptions& options,
                                   const ParallelOptions& parallel, const OffloadOptions& offload,
                                   const DeviceSession& device)
    : comm_(comm),
      options_(options),
      set_(std::move(set)),
      architecture_(architecture_for(set_.model, options.network)),
      parallel_(parallel),
      offload_(offload),
      device_(device),
      members_(options.members),
      current_(first()) {
  by_teams([&] { open_next(); });
  count_left();
}

std::size_t ForecastTraining::network_size() const {
  return (set_.model.graph ? graph_of(*set_.model.graph) : graph_of(architecture_)).n_parameters;
}

TrainingRanks ForecastTraining::team() const {
  if (is_one_team()) return {comm_, parallel_, offload_, device_};
  TrainingRanks alone{Comm::self(), parallel_, offload_, device_};
  alone.offload.rank = comm_.rank();
  return alone;
}

void ForecastTraining::by_teams(const std::function<void()>& action) const {
  if (is_one_team())
    action();
  else
    together(comm_, action);
}

Trainer ForecastTraining::trainer_of(int member, const TrainingRanks& ranks) const {
  if (set_.model.graph)
    return graph_trainer(comm_, set_.model.graph, set_.training(), set_.validation(), options_.training,
                         seed_of(member));
  return {architecture_,
          set_.model.shape.in,
          set_.training(),
          set_.validation(),
          options_.training,
          static_cast<std::uint64_t>(seed_of(member)),
          ranks};
}

void ForecastTraining::open_next() {
  trains_ = false;
  for (; current_ < options_.members; current_ += n_teams()) {
    if (trainer_) {
      const FlatAccount account = trainer_->account();
      moved_ += account.offload;
      bytes_sent_ += account.bytes_sent;
      trainer_.reset();  // its file, too, before the next one takes its place
    }
    const auto& [state, cpu_s] = members_[current_];
    trainer_.emplace(trainer_of(current_, team()));
    if (state) trainer_->restore(*state);
    cpu_before_ = cpu_s;
    epoch_ = state ? state->epoch : 0;
    trains_ = trainer_->stopped() == Stopped::not_yet;
    if (trains_) return;
    keep_state();
  }
}

void ForecastTraining::keep_state() {
  members_[current_] = {trainer_->state(), cpu_before_ + trainer_->result().cpu_s};
}

void ForecastTraining::count_left() {
  std::int64_t left = 0;
  if (trains_) {
    const auto later = (options_.members - 1 - current_) / n_teams();
    left = options_.training.epochs * (1 + later) - epoch_;
  }
  left_ = comm_.maximum(left);
}

void ForecastTraining::advance() {
  ++step_;
  by_teams([&] {
    if (!trains_) return;
    last_ = Last{seed_of(current_), trainer_->advance()};
    last_->losses.validation_outputs = {};
    epoch_ = last_->losses.epoch;
    if (trainer_->stopped() == Stopped::not_yet) return;
    keep_state();
    current_ += n_teams();
    open_next();
  });
  count_left();
}

void ForecastTraining::rehearse() const {
  by_teams([&] {
    TrainingRanks ranks = team();
    ranks.offload = {};  // files are the present network's
    Trainer trainer = trainer_of(std::min(current_, options_.members - 1), ranks);
    static_cast<void>(trainer.advance());
  });
}

std::optional<FlatAccount> ForecastTraining::account() const {
  if (!trainer_) return std::nullopt;
  FlatAccount account = trainer_->account();
  account.offload += moved_;
  account.bytes_sent += bytes_sent_;
  return account;
}

std::vector<ForecastTraining::Member> ForecastTraining::gathered() const {
  auto all = members_;
  if (trains_) all[current_] = {trainer_->state(), cpu_before_ + trainer_->result().cpu_s};
  if (is_one_team()) return all;
  const auto n = network_size();
  const auto send = [&](std::vector<double>& values, int owner) {
    values.resize(n);
    comm_.broadcast(std::span<double>(values), owner);
  };
  for (int k = 0; k < options_.members; ++k) {
    const int owner = k % comm_.size();
    auto& [state, cpu_s] = all[k];
    if (!comm_.broadcast(state.has_value(), owner)) {
      state.reset();
      continue;
    }
    if (!state) state.emplace();
    state->epoch = comm_.broadcast(state->epoch, owner);
    state->steps = comm_.broadcast(state->steps, owner);
    state->best_epoch = comm_.broadcast(state->best_epoch, owner);
    state->best_loss = comm_.broadcast(state->best_loss, owner);
    cpu_s = comm_.broadcast(cpu_s, owner);
    send(state->arrays.values, owner);
    for (auto& values : state->arrays.states) send(values, owner);
    send(state->best, owner);
    auto& pending = state->arrays.pending;
    pending.t = comm_.broadcast(pending.t, owner);
    pending.learning_rate = comm_.broadcast(pending.learning_rate, owner);
    if (pending.t > 0) send(pending.gradient, owner);
    state->history.resize(comm_.broadcast(static_cast<std::uint64_t>(state->history.size()), owner));
    comm_.broadcast(std::span<EpochLosses>(state->history), owner);
  }
  return all;
}

TrainedForecast ForecastTraining::result() const {
  TrainedForecast trained{set_.model, {}};
  trained.model.architecture = architecture_;
  auto all = gathered();
  for (int k = 0; k < options_.members; ++k) {
    auto state = all[k].state ? std::move(*all[k].state) : trainer_of(k, {}).state();
    auto& weights = options_.training.keep_best ? state.best : state.arrays.values;
    if (is_one_team()) {
      weights.resize(network_size());
      comm_.broadcast(std::span<double>(weights));
    }
    trained.model.members.push_back(std::move(weights));
    trained.history.push_back({seed_of(k), std::move(state.history), state.best_epoch, all[k].cpu_s});
  }
  return trained;
}

void ForecastTraining::save(hdf5::Group& root) const {
  auto group = root.group("training");
  group.set_attribute("step", step_);
  const auto all = gathered();
  const auto n = network_size();
  for (int k = 0; k < options_.members; ++k) {
    if (!all[k].state) continue;
    const auto& state = *all[k].state;
    auto member = group.group(fmt::format("network_{}", k + 1));
    member.set_attribute("seed", seed_of(k));
    member.set_attribute("epoch", state.epoch);
    member.set_attribute("steps", state.steps);
    member.set_attribute("best_epoch", state.best_epoch);
    const auto write = [&](const char* name, const std::vector<double>& values, std::size_t size,
                           const char* text) {
      member.write<double>(name, values, {size}, {"1", {"value"}, text});
    };
    write("best_loss", {state.best_loss}, 1, "Lowest loss so far");
    write("cpu_s", {all[k].cpu_s}, 1, "Seconds of a core so far");
    quintet::save(member, state.arrays, optimiser_of(options_.training), n, "Weights");
    write("best", state.best, n, "Weights of the best epoch");
    std::vector<double> history;
    for (const auto& epoch : state.history)
      history.insert(history.end(), {static_cast<double>(epoch.epoch), epoch.training, epoch.validation});
    if (!history.empty())
      write("history", history, history.size(),
            "Epoch, loss of training and loss of validation, one after the other");
  }
}

void ForecastTraining::restore(const hdf5::Group& root) {
  QUINTET_CHECK(root.has("training"), "the checkpoint is not one of 'podlstm train'");
  const auto group = root.open_group("training");
  step_ = group.integer_attribute("step");
  const auto n = network_size();
  for (int k = 0; k < options_.members; ++k) {
    const auto name = fmt::format("network_{}", k + 1);
    if (!group.has(name)) continue;
    const auto member = group.open_group(name);
    QUINTET_CHECK(member.integer_attribute("seed") == seed_of(k),
                  "the checkpoint's network {} is of seed {}, not {}", k + 1,
                  member.integer_attribute("seed"), seed_of(k));
    TrainingState state;
    state.epoch = member.integer_attribute("epoch");
    state.steps = member.integer_attribute("steps");
    state.best_epoch = member.integer_attribute("best_epoch");
    state.best_loss = member.read<double>("best_loss", {1})[0];
    state.arrays = read_flat_state(member, optimiser_of(options_.training), n);
    state.best = member.read<double>("best", {n});
    if (member.has("history")) {
      const auto history = member.read<double>("history");
      for (std::size_t i = 0; i + 2 < history.size(); i += 3)
        state.history.push_back({static_cast<int>(history[i]), history[i + 1], history[i + 2]});
    }
    members_[k] = {std::move(state), member.read<double>("cpu_s", {1})[0]};
  }
  current_ = first();
  by_teams([&] { open_next(); });
  count_left();
}

EnsembleNeeds ensemble_needs(int members, int n_ranks) {
  EnsembleNeeds needs{.networks = (members + n_ranks - 1) / n_ranks};
  needs.sums = (n_ranks > 1 ? 2.0 : 1.0) * needs.networks;
  needs.bytes_summed = (sizeof(std::int64_t) + (n_ranks > 1 ? sizeof(int) : 0.0)) * needs.networks;
  return needs;
}

EnsembleNeeds team_needs(int members, int n_ranks, int steps) {
  EnsembleNeeds needs{.networks = members};
  needs.sums = members * (1.0 + (n_ranks > 1 ? steps + 1 : 0));
  needs.bytes_summed = 8 * needs.sums;
  return needs;
}

EnsembleNeeds graph_team_needs(int members, const TrainingSet& set, std::int64_t batch) {
  const auto batches = (set.n_training + batch - 1) / batch;
  const double validates = set.n_validation > 0 ? 1 : 0;
  EnsembleNeeds needs{.networks = members};
  needs.sums = members * (2.0 * batches + validates + 1);
  needs.bytes_summed =
      8.0 * members * (batches * (1.0 + n_parameters(set.model)) + set.validation_targets.size() + 1);
  return needs;
}

TrainedForecast train_forecast(const Comm& comm, const CoefficientSeries& series, const Split& split,
                               Irregular irregular, const ForecastOptions& options,
                               const ReferenceOptions& references,
                               const std::function<bool(std::int64_t, const EpochReport&)>& epoch_done) {
  ForecastTraining training(comm, series, split, irregular, options, references);
  while (!training.finished()) {
    training.advance();
    if (!epoch_done) continue;
    const auto& last = training.last();
    if (comm.any(last && !epoch_done(last->seed, last->losses))) break;
  }
  return training.result();
}

}  // namespace quintet::sequence
