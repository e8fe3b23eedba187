#include "surrogates/sequence/graph/graph_training.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/training/start_parameters.hpp"
#include "surrogates/sequence/training/trainer_implementation.hpp"
#include "surrogates/training/flat_parameters.hpp"

namespace quintet::sequence {

namespace {

/// Windows of a period with their own memory.
struct GraphWindows {
  int n = 0;
  std::size_t n_in = 0, n_out = 0;  ///< numbers of a window
  std::vector<double> inputs, targets;

  GraphWindows(const SequenceData& data, const GraphNetwork& network, const char* name)
      : n(data.n),
        n_in(std::int64_t{network.shape.in} * network.n_inputs()),
        n_out(std::int64_t{network.shape.out} * network.n_modes()),
        inputs(data.inputs.begin(), data.inputs.end()),
        targets(data.targets.begin(), data.targets.end()) {
    if (inputs.size() != n * n_in || targets.size() != n * n_out)
      throw InternalError(fmt::format("{} windows of {} and {} numbers are given {} and {}", n, n_in, n_out,
                                      inputs.size(), targets.size()));
    for (const auto* values : {&inputs, &targets})
      for (std::size_t i = 0; i < values->size(); ++i)
        QUINTET_CHECK(std::isfinite((*values)[i]), "{} window {} holds {}; expected finite numbers", name,
                      i / (values == &inputs ? n_in : n_out), (*values)[i]);
  }
};

class GraphTraining : public Trainer::Implementation {
 public:
  GraphTraining(const Comm& comm, std::shared_ptr<const GraphNetwork> network, const SequenceData& training,
                const SequenceData& validation, const TrainingOptions& options, std::uint64_t seed)
      : Implementation(options, validation.n),
        comm_(comm),
        seed_(seed),
        training_(training, *network, "training"),
        validation_(validation, *network, "validation"),
        passes_(graph_passes(comm, network, network->options.spmm)),
        weights_(Comm::self(), one_block("network", passes_->n_parameters()),
                 start_parameters(graph_of(*network), options.start, options.zero_head, seed),
                 optimiser_of(options)) {
    QUINTET_CHECK(training.n >= 1, "no window to train on");
    begin();
  }

  [[nodiscard]] TrainingState state() const override {
    TrainingState state = progress();
    state.arrays = flat_state(weights_);
    state.best = best_;
    return state;
  }

  void restore(const TrainingState& state) override {
    QUINTET_CHECK(state.best.size() == weights_.size(),
                  "a training of {} parameters cannot go on as one of {}", state.best.size(),
                  weights_.size());
    assign(weights_, state.arrays);
    best_ = state.best;
    restore_progress(state);
  }

  [[nodiscard]] TrainingResult result() const override {
    return {history_,    options_.keep_best ? best_ : weights_.all_values(),
            best_epoch_, best_loss_,
            stopped(),   Engine::kernels,
            cpu_s_};
  }

  [[nodiscard]] FlatAccount account() const override { return weights_.account(); }

  [[nodiscard]] std::string shared_out() const override { return passes_->reason(); }

 private:
  double epoch() override {
    const auto order = shuffled(training_.n, seed_, epoch_);
    const int batch = std::min<std::int64_t>(options_.batch, training_.n);
    double sum = 0;
    for (int first = 0; first < training_.n; first += batch) {
      const int n = std::min(batch, training_.n - first);
      passes_->refresh(weights_.values(0).data());
      double loss = 0;
      for (int i = first; i < first + n; ++i) {
        const std::size_t window = order[i];
        loss += passes_->loss_and_gradient(training_.inputs.data() + window * training_.n_in,
                                           training_.targets.data() + window * training_.n_out, 1.0 / n,
                                           weights_.gradient(0).data());
      }
      loss = comm_.sum(loss);
      if (!std::isfinite(loss))
        throw NumericalError(
            fmt::format("epoch {}, batch {}: the loss is {}; a lower learning_rate or clip may help", epoch_,
                        first / batch + 1, loss));
      comm_.reduce(weights_.gradient(0), Comm::Reduction::sum);
      weights_.finish(0);
      weights_.step(++steps_, options_.learning_rate);
      sum += loss;
    }
    return sum / training_.n;
  }

  double validate() override {
    passes_->refresh(weights_.values(0).data());
    outputs_ = passes_->forward(validation_.inputs);
    double sum = 0;
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      sum += (outputs_[i] - validation_.targets[i]) * (outputs_[i] - validation_.targets[i]);
    return checked_validation(sum / outputs_.size());
  }

  [[nodiscard]] std::span<const double> outputs() const override { return outputs_; }

  void keep_weights() override { best_ = weights_.copied_values(0); }

  Comm comm_;
  std::uint64_t seed_;
  GraphWindows training_, validation_;
  std::unique_ptr<GraphPasses> passes_;
  FlatParameters<double> weights_;  ///< every rank makes every step
  std::vector<double> outputs_, best_;
};

}  // namespace

Trainer graph_trainer(const Comm& comm, std::shared_ptr<const GraphNetwork> network,
                      const SequenceData& training, const SequenceData& validation,
                      const TrainingOptions& options, std::uint64_t seed) {
  return Trainer(
      std::make_unique<GraphTraining>(comm, std::move(network), training, validation, options, seed));
}

}  // namespace quintet::sequence
