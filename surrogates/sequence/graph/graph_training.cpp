#include "surrogates/sequence/graph/graph_training.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/log/error.hpp"
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
      : comm_(comm),
        options_(options),
        seed_(seed),
        training_(training, *network, "training"),
        validation_(validation, *network, "validation"),
        passes_(comm, network, network->options.spmm),
        weights_(Comm::self(), one_block("network", passes_.n_parameters()),
                 start_parameters(graph_of(*network), options.start, options.zero_head, seed),
                 optimiser_of(options)) {
    QUINTET_CHECK(training.n >= 1, "no window to train on");
    keep_weights();
    best_loss_ = std::numeric_limits<double>::infinity();
    if (validation.n > 0) keep({0, std::numeric_limits<double>::quiet_NaN(), validate()});
  }

  EpochReport advance() override {
    const std::clock_t begin = std::clock();
    ++epoch_;
    const double training = epoch();
    keep({epoch_, training, validation_.n > 0 ? validate() : std::numeric_limits<double>::quiet_NaN()});
    EpochReport report;
    static_cast<EpochLosses&>(report) = history_.back();
    report.validation_outputs = outputs_;
    cpu_s_ += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return report;
  }

  [[nodiscard]] Stopped stopped() const override {
    if (epoch_ >= options_.epochs) return Stopped::all_epochs;
    return options_.patience > 0 && epoch_ - best_epoch_ >= options_.patience ? Stopped::patience
                                                                              : Stopped::not_yet;
  }

  [[nodiscard]] TrainingState state() const override {
    return {epoch_, steps_, flat_state(weights_), best_, best_epoch_, best_loss_, history_};
  }

  void restore(const TrainingState& state) override {
    QUINTET_CHECK(state.best.size() == weights_.size(),
                  "a training of {} parameters cannot go on as one of {}", state.best.size(),
                  weights_.size());
    assign(weights_, state.arrays);
    best_ = state.best;
    epoch_ = state.epoch;
    steps_ = state.steps;
    best_epoch_ = state.best_epoch;
    best_loss_ = state.best_loss;
    history_ = state.history;
  }

  [[nodiscard]] TrainingResult result() const override {
    return {history_,    options_.keep_best ? best_ : weights_.all_values(),
            best_epoch_, best_loss_,
            stopped(),   Engine::kernels,
            cpu_s_};
  }

  [[nodiscard]] FlatAccount account() const override { return weights_.account(); }

  [[nodiscard]] std::string shared_out() const override { return passes_.reason(); }

 private:
  /// One pass through all windows; the mean loss of the batches as they came.
  double epoch() {
    const auto order = shuffled(training_.n, seed_, epoch_);
    const int batch = std::min<std::int64_t>(options_.batch, training_.n);
    double sum = 0;
    for (int first = 0; first < training_.n; first += batch) {
      const int n = std::min(batch, training_.n - first);
      passes_.refresh(weights_.values(0).data());
      double loss = 0;
      for (int i = first; i < first + n; ++i) {
        const std::size_t window = order[i];
        loss += passes_.loss_and_gradient(training_.inputs.data() + window * training_.n_in,
                                          training_.targets.data() + window * training_.n_out, 1.0 / n,
                                          weights_.gradient(0).data());
      }
      loss = comm_.sum(loss);
      if (!std::isfinite(loss))
        throw NumericalError(
            fmt::format("epoch {}, batch {}: the loss is {}; a lower learning_rate or clip may help", epoch_,
                        first / batch + 1, loss));
      weights_.finish(0);
      weights_.step(++steps_, options_.learning_rate);
      sum += loss;
    }
    return sum / training_.n;
  }

  /// Outputs of the validation windows, and their loss.
  double validate() {
    passes_.refresh(weights_.values(0).data());
    outputs_ = passes_.forward(validation_.inputs);
    double sum = 0;
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      sum += (outputs_[i] - validation_.targets[i]) * (outputs_[i] - validation_.targets[i]);
    const double loss = sum / outputs_.size();
    if (!std::isfinite(loss))
      throw NumericalError(fmt::format(
          "epoch {}: the loss of validation is {}; a lower learning_rate or clip may help", epoch_, loss));
    return loss;
  }

  void keep(const EpochLosses& losses) {
    history_.push_back(losses);
    const double loss = validation_.n > 0 ? losses.validation : losses.training;
    if (!(loss < best_loss_ - options_.min_improvement)) return;
    best_loss_ = loss;
    best_epoch_ = losses.epoch;
    keep_weights();
  }

  void keep_weights() { best_ = weights_.copied_values(0); }

  Comm comm_;
  TrainingOptions options_;
  std::uint64_t seed_;
  GraphWindows training_, validation_;
  GraphPasses passes_;
  FlatParameters<double> weights_;  ///< every rank makes every step
  std::vector<double> outputs_, best_;
  int epoch_ = 0, best_epoch_ = 0;
  std::int64_t steps_ = 0;
  double best_loss_ = 0, cpu_s_ = 0;
  std::vector<EpochLosses> history_;
};

}  // namespace

Trainer graph_trainer(const Comm& comm, std::shared_ptr<const GraphNetwork> network,
                      const SequenceData& training, const SequenceData& validation,
                      const TrainingOptions& options, std::uint64_t seed) {
  return Trainer(
      std::make_unique<GraphTraining>(comm, std::move(network), training, validation, options, seed));
}

}  // namespace quintet::sequence
