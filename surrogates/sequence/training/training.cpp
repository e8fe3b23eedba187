#include "surrogates/sequence/training/training.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/resident/late/late_parameters.hpp"
#include "surrogates/sequence/network/network.hpp"
#include "surrogates/sequence/network/torch/torch_network.hpp"
#include "surrogates/sequence/training/start_parameters.hpp"
#include "surrogates/sequence/training/trainer_implementation.hpp"
#include "surrogates/training/flat_parameters.hpp"

namespace quintet::sequence {

namespace {

struct StoppedRow {
  Stopped value;
  const char* name;
};
constexpr StoppedRow reasons[] = {{Stopped::not_yet, "not yet"},
                                  {Stopped::all_epochs, "all epochs"},
                                  {Stopped::patience, "patience"},
                                  {Stopped::callback, "callback"}};

Products products_of(Precision precision) {
  return precision == Precision::bf16 ? Products::bf16 : Products::exact;
}

template <class Real>
std::unique_ptr<Passes<Real>> make_passes(Engine engine, Products products, const Architecture& architecture,
                                          int steps, const DeviceSession& device = {}, Real* values = nullptr,
                                          Real* gradient = nullptr) {
  QUINTET_CHECK(engine == Engine::kernels || products == Products::exact,
                "precision: bf16 is for engine: kernels");
  switch (engine) {
    case Engine::kernels:
      return std::make_unique<Network<Real>>(architecture, steps, products);
    case Engine::torch:
      return make_torch_network<Real>(architecture, steps, device, values, gradient);
  }
  throw InternalError("an engine without a kind");
}

/// Windows in the numbers of the network.
template <class Real>
struct Windows {
  int n = 0;
  std::ptrdiff_t n_in = 0, n_out = 0;  ///< numbers of a window
  std::vector<Real> inputs, targets;

  Windows(const SequenceData& data, std::ptrdiff_t in, std::ptrdiff_t out, const char* name)
      : n(data.n), n_in(in), n_out(out) {
    if (std::ssize(data.inputs) != n * in || std::ssize(data.targets) != n * out)
      throw InternalError(fmt::format("{} windows of {} and {} numbers are given {} and {}", n, in, out,
                                      data.inputs.size(), data.targets.size()));
    take(data.inputs, inputs, in, name, "input");
    take(data.targets, targets, out, name, "target");
  }
  static void take(std::span<const double> from, std::vector<Real>& to, std::ptrdiff_t size, const char* name,
                   const char* part) {
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<Real>(from[i]);
      QUINTET_CHECK(std::isfinite(to[i]), "{} window {}: {} {} is {}; expected a finite number", name,
                    static_cast<std::ptrdiff_t>(i) / size, part, static_cast<std::ptrdiff_t>(i) % size,
                    from[i]);
    }
  }
};

}  // namespace

OptimiserOptions optimiser_of(const TrainingOptions& options) {
  return {.beta1 = options.beta1,
          .beta2 = options.beta2,
          .epsilon = options.epsilon,
          .clip = options.clip,
          .kind = OptimiserKind::adamw,
          .weight_decay = options.weight_decay};
}

const char* name_of(Stopped stopped) { return row_of(reasons, stopped).name; }

namespace {

/// Numbers [begin, end) of n that are this rank's: contiguous, in rank order, sizes that differ by one at
/// most.
struct Share {
  int begin = 0, end = 0;
  Share(const Comm& comm, int n) : begin(place(comm, n, comm.rank())), end(place(comm, n, comm.rank() + 1)) {}
  [[nodiscard]] int size() const { return end - begin; }

 private:
  static int place(const Comm& comm, int n, int rank) { return std::int64_t{n} * rank / comm.size(); }
};

/// LSTM gates' biases.
template <class Real>
std::vector<typename FlatParameters<Real>::Twins> biases_of(const Graph& graph) {
  std::vector<typename FlatParameters<Real>::Twins> biases;
  for (const auto& operation : graph.operations)
    if (operation.kind == Operation::Kind::lstm) {
      const auto n = 4 * static_cast<std::size_t>(operation.n_out);
      biases.push_back({operation.first + operation.n_parameters - n, n});
    }
  return biases;
}

/// Training in one precision.
template <class Real>
class Training : public Trainer::Implementation {
 public:
  Training(const Architecture& architecture, int steps, const SequenceData& training,
           const SequenceData& validation, const TrainingOptions& options, std::uint64_t seed,
           const TrainingRanks& ranks)
      : Implementation(options, validation.n),
        seed_(seed),
        comm_(ranks.comm),
        training_(training, std::ptrdiff_t{steps} * architecture.n_inputs,
                  std::ptrdiff_t{architecture.steps_out} * architecture.n_outputs, "training"),
        validation_(validation, training_.n_in, training_.n_out, "validation"),
        validated_(comm_, validation.n),
        batch_(std::min<std::int64_t>(options.batch, training.n)),
        shared_(comm_, one_block("network", graph_of(architecture).n_parameters),
                start_parameters(graph_of(architecture), options.start, options.zero_head, seed),
                optimiser_of(options), ranks.parallel, ranks.offload, {},
                options.engine == Engine::torch ? late_device_parameters<Real>(ranks.device)
                                                : ResidentMaker<Real>()),
        passes_(make_passes<Real>(options.engine, products_of(options.precision), architecture, steps,
                                  ranks.device, shared_.is_resident() ? shared_.values(0).data() : nullptr,
                                  shared_.is_resident() ? shared_.gradient(0).data() : nullptr)) {
    QUINTET_CHECK(training.n >= 1, "no window to train on");
    QUINTET_CHECK(comm_.size() <= batch_, "{} ranks share out {} of a batch; expected one each at least",
                  comm_.size(), counted(batch_, "window"));
    QUINTET_CHECK(ranks.parallel.zero_stage() < 3, "parallel.stage: 3 {}; choose 1 or 2",
                  trainer_traits.no_stage_3);
    const int most = (batch_ + comm_.size() - 1) / comm_.size();
    batch_inputs_.resize(most * training_.n_in);
    batch_targets_.resize(most * training_.n_out);
    outputs_.resize(validated_.size() * validation_.n_out);
    if (comm_.size() == 1) outputs_double_.resize(outputs_.size());
    // Of two biases each sees the same gradient and makes the same step: their sum makes it twice.
    if (options.twin_biases) shared_.count_twice(biases_of<Real>(graph_of(architecture)));
    begin();
  }

  [[nodiscard]] TrainingState state() const override {
    TrainingState state = progress();
    state.arrays = flat_state(shared_);
    state.best.assign(best_.begin(), best_.end());
    return state;
  }

  void restore(const TrainingState& state) override {
    assign(shared_, state.arrays);
    QUINTET_CHECK(state.best.size() == shared_.size(),
                  "a training of {} parameters cannot go on as one of {}", state.best.size(), shared_.size());
    if (comm_.is_root())
      std::transform(state.best.begin(), state.best.end(), best_.begin(),
                     [](double value) { return static_cast<Real>(value); });
    restore_progress(state);
  }

  [[nodiscard]] TrainingResult result() const override {
    const auto kept = options_.keep_best ? best_ : shared_.all_values();
    return {history_, {kept.begin(), kept.end()}, best_epoch_, best_loss_, stopped(), options_.engine,
            cpu_s_};
  }

  [[nodiscard]] FlatAccount account() const override { return shared_.account(); }

 private:
  double epoch() override {
    const auto order = shuffled(training_.n, seed_, epoch_);
    double sum = 0;
    for (int first = 0; first < training_.n; first += batch_) {
      const int n = std::min(batch_, training_.n - first);
      const Share own(comm_, n);
      for (int i = 0; i < own.size(); ++i) {
        const int window = order[first + own.begin + i];
        std::copy_n(training_.inputs.data() + window * training_.n_in, training_.n_in,
                    batch_inputs_.data() + i * training_.n_in);
        std::copy_n(training_.targets.data() + window * training_.n_out, training_.n_out,
                    batch_targets_.data() + i * training_.n_out);
      }
      sum += step(own.size(), n, first / batch_ + 1) * n;
    }
    return sum / training_.n;
  }

  /// Compute the loss of `n` windows, of which this rank has the first `own` of its arrays, and step.
  double step(int own, int n, int batch) {
    shared_.begin_step();  // delayed updates: w(t) from the gradient of t - 1, beside this one at w(t - 1)
    Real* const gradient = shared_.gradient(0).data();
    double loss = 0;
    if (own > 0) {
      passes_->refresh(shared_.values(0).data());
      loss = passes_->loss_and_gradient(batch_inputs_.data(), batch_targets_.data(), own, gradient, n);
      if (const std::string notice = passes_->take_notice(); !notice.empty())
        log::info("Steps are not recorded as CUDA graphs but called operator by operator: {}", notice);
    }
    if (comm_.size() > 1) loss = comm_.sum(loss);
    if (!std::isfinite(loss)) {
      shared_.settle();  // the update under way is a good one
      throw NumericalError(fmt::format(
          "epoch {}, batch {}: the loss is {}; a lower learning_rate or clip may help", epoch_, batch, loss));
    }
    shared_.finish(0);
    shared_.step(++steps_, options_.learning_rate);
    return loss;
  }

  double validate() override {
    passes_->refresh(shared_.values(0).data());
    passes_->forward(validation_.inputs.data() + validated_.begin * validation_.n_in, validated_.size(),
                     outputs_.data());
    const Real* const targets = validation_.targets.data() + validated_.begin * validation_.n_out;
    double sum = 0;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const double error = static_cast<double>(outputs_[i]) - static_cast<double>(targets[i]);
      sum += error * error;
    }
    std::copy_n(outputs_.begin(), outputs_double_.size(), outputs_double_.begin());
    if (comm_.size() > 1) sum = comm_.sum(sum);
    return checked_validation(sum / validation_.targets.size());
  }

  [[nodiscard]] std::span<const double> outputs() const override { return outputs_double_; }

  void keep_weights() override {
    if (comm_.is_root()) best_ = shared_.copied_values(0);
  }

  std::uint64_t seed_;
  Comm comm_;
  Windows<Real> training_, validation_;
  Share validated_;  ///< of the validation windows, those of this rank
  int batch_;
  FlatParameters<Real> shared_;
  std::unique_ptr<Passes<Real>> passes_;  ///< they know the places of arrays on a device
  std::vector<Real> batch_inputs_, batch_targets_, outputs_;
  std::vector<double> outputs_double_;
  std::vector<Real> best_;  ///< on rank 0
};

template <class Real>
std::vector<double> predict_in(const Architecture& architecture, int steps,
                               std::span<const double> parameters, std::span<const double> windows,
                               Engine engine, Products products) {
  const auto passes = make_passes<Real>(engine, products, architecture, steps);
  const std::size_t window = std::int64_t{steps} * architecture.n_inputs;
  if (parameters.size() != passes->n_parameters() || windows.size() % window != 0)
    throw InternalError(fmt::format("a network of {} parameters is given {}, and {} numbers of windows of {}",
                                    passes->n_parameters(), parameters.size(), windows.size(), window));
  const std::vector<Real> weights(parameters.begin(), parameters.end()),
      inputs(windows.begin(), windows.end());
  const int n = windows.size() / window;
  std::vector<Real> outputs(std::int64_t{n} * architecture.steps_out * architecture.n_outputs);
  passes->refresh(weights.data());
  passes->forward(inputs.data(), n, outputs.data());
  return {outputs.begin(), outputs.end()};
}

}  // namespace

Trainer::Trainer(const Architecture& architecture, int steps, const SequenceData& training,
                 const SequenceData& validation, const TrainingOptions& options, std::uint64_t seed,
                 const TrainingRanks& ranks) {
  switch (options.precision) {
    case Precision::float32:
    case Precision::bf16:
      implementation_ =
          std::make_unique<Training<float>>(architecture, steps, training, validation, options, seed, ranks);
      return;
    case Precision::float64:
      implementation_ =
          std::make_unique<Training<double>>(architecture, steps, training, validation, options, seed, ranks);
      return;
  }
  throw InternalError("a precision without a kind");
}

Trainer::Trainer(const Architecture& architecture, int steps, const SequenceData& training,
                 const SequenceData& validation, const TrainingOptions& options, std::uint64_t seed) {
  const TrainingRanks alone;
  *this = Trainer(architecture, steps, training, validation, options, seed, alone);
}
Trainer::Trainer(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Stopped Trainer::stopped() const { return implementation_->stopped(); }
EpochReport Trainer::advance() { return implementation_->advance(); }
TrainingState Trainer::state() const { return implementation_->state(); }
void Trainer::restore(const TrainingState& state) { implementation_->restore(state); }
TrainingResult Trainer::result() const { return implementation_->result(); }
FlatAccount Trainer::account() const { return implementation_->account(); }
std::string Trainer::shared_out() const { return implementation_->shared_out(); }

TrainingResult train(const Architecture& architecture, int steps, const SequenceData& training,
                     const SequenceData& validation, const TrainingOptions& options, std::uint64_t seed,
                     const EpochCallback& callback) {
  Trainer trainer(architecture, steps, training, validation, options, seed);
  while (trainer.stopped() == Stopped::not_yet) {
    const EpochReport report = trainer.advance();
    if (!callback || callback(report)) continue;
    TrainingResult result = trainer.result();
    result.stopped = Stopped::callback;
    return result;
  }
  return trainer.result();
}

std::vector<double> predict(const Architecture& architecture, int steps, std::span<const double> parameters,
                            std::span<const double> windows, Precision precision, Engine engine) {
  switch (precision) {
    case Precision::float32:
    case Precision::bf16:
      return predict_in<float>(architecture, steps, parameters, windows, engine, products_of(precision));
    case Precision::float64:
      return predict_in<double>(architecture, steps, parameters, windows, engine, Products::exact);
  }
  throw InternalError("a precision without a kind");
}

}  // namespace quintet::sequence
