#include "surrogates/sequence/training/training.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>
#include <utility>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/kernels/random.hpp"
#include "surrogates/sequence/network/network.hpp"
#include "surrogates/sequence/network/torch/torch_network.hpp"
#include "surrogates/sequence/training/start_parameters.hpp"
#include "surrogates/training/optimiser.hpp"

namespace quintet::sequence {

namespace {

constexpr std::uint32_t shuffle_stream = 0x5e02;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

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
                                          int steps) {
  QUINTET_CHECK(engine == Engine::kernels || products == Products::exact,
                "precision: bf16 is for engine: kernels");
  switch (engine) {
    case Engine::kernels:
      return std::make_unique<Network<Real>>(architecture, steps, products);
    case Engine::torch:
      return make_torch_network<Real>(architecture, steps);
  }
  throw InternalError("an engine without a kind");
}

/// The n numbers 0 .. n - 1 in an order that follows from (seed, epoch) (Fisher and Yates).
std::vector<int> shuffled(int n, std::uint64_t seed, int epoch) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) {
    double u, v;
    uniform_pair(seed, shuffle_stream, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(epoch), u,
                 v);
    std::swap(order[i], order[static_cast<int>(u * (i + 1))]);
  }
  return order;
}

/// Windows in the numbers of the network.
template <class Real>
struct Windows {
  int n = 0;
  std::ptrdiff_t n_in = 0, n_out = 0;  ///< numbers of a window
  std::vector<Real> inputs, targets;

  Windows(const SequenceData& data, std::ptrdiff_t in, std::ptrdiff_t out, const char* name)
      : n(data.n), n_in(in), n_out(out) {
    if (static_cast<std::ptrdiff_t>(data.inputs.size()) != n * in ||
        static_cast<std::ptrdiff_t>(data.targets.size()) != n * out)
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

const char* name_of(Stopped stopped) { return row_of(reasons, stopped).name; }

class Trainer::Implementation {
 public:
  virtual ~Implementation() = default;
  virtual EpochReport advance() = 0;
  [[nodiscard]] virtual TrainingState state() const = 0;
  virtual void restore(const TrainingState& state) = 0;
  [[nodiscard]] virtual Stopped stopped() const = 0;
  [[nodiscard]] virtual TrainingResult result() const = 0;
};

namespace {

/// Training in one precision.
template <class Real>
class Training : public Trainer::Implementation {
 public:
  Training(const Architecture& architecture, int steps, const SequenceData& training,
           const SequenceData& validation, const TrainingOptions& options, std::uint64_t seed)
      : options_(options),
        adamw_{options.beta1,
               options.beta2,
               options.epsilon,
               options.clip,
               OptimiserKind::adamw,
               options.weight_decay,
               0},
        seed_(seed),
        passes_(make_passes<Real>(options.engine, products_of(options.precision), architecture, steps)),
        training_(training, std::ptrdiff_t{steps} * architecture.n_inputs,
                  std::ptrdiff_t{architecture.steps_out} * architecture.n_outputs, "training"),
        validation_(validation, training_.n_in, training_.n_out, "validation") {
    QUINTET_CHECK(training.n >= 1, "no window to train on");
    const std::size_t batch = static_cast<std::size_t>(std::min<std::int64_t>(options.batch, training.n));
    batch_inputs_.resize(batch * static_cast<std::size_t>(training_.n_in));
    batch_targets_.resize(batch * static_cast<std::size_t>(training_.n_out));
    outputs_.resize(validation_.targets.size());
    outputs_double_.resize(outputs_.size());
    const auto start = start_parameters(graph_of(architecture), options.start, options.zero_head, seed);
    parameters_.assign(start.begin(), start.end());
    for (const auto& operation : graph_of(architecture).operations)
      if (operation.kind == Operation::Kind::lstm) {
        const auto n = 4 * static_cast<std::size_t>(operation.n_out);
        biases_.emplace_back(operation.first + operation.n_parameters - n, n);
      }
    gradient_.assign(start.size(), Real(0));
    moment1_ = moment2_ = gradient_;
    best_ = parameters_;
    best_loss_ = std::numeric_limits<double>::infinity();
    if (validation.n > 0) keep({0, none, validate()});
  }

  EpochReport advance() override {
    const std::clock_t begin = std::clock();
    ++epoch_;
    const double training = epoch();
    keep({epoch_, training, validation_.n > 0 ? validate() : none});
    EpochReport report;
    static_cast<EpochLosses&>(report) = history_.back();
    report.validation_outputs = outputs_double_;
    cpu_s_ += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return report;
  }

  [[nodiscard]] Stopped stopped() const override {
    if (epoch_ >= options_.epochs) return Stopped::all_epochs;
    return options_.patience > 0 && epoch_ - best_epoch_ >= options_.patience ? Stopped::patience
                                                                              : Stopped::not_yet;
  }

  [[nodiscard]] TrainingState state() const override {
    const auto wide = [](const auto& values) { return std::vector<double>(values.begin(), values.end()); };
    return {epoch_,      steps_,      wide(parameters_), wide(moment1_), wide(moment2_),
            wide(best_), best_epoch_, best_loss_,        history_};
  }

  void restore(const TrainingState& state) override {
    const auto take = [&](const std::vector<double>& from, auto& to) {
      QUINTET_CHECK(from.size() == to.size(), "a training of {} parameters cannot go on as one of {}",
                    from.size(), to.size());
      std::transform(from.begin(), from.end(), to.begin(),
                     [](double value) { return static_cast<Real>(value); });
    };
    take(state.parameters, parameters_);
    take(state.moment1, moment1_);
    take(state.moment2, moment2_);
    take(state.best, best_);
    epoch_ = state.epoch;
    steps_ = state.steps;
    best_epoch_ = state.best_epoch;
    best_loss_ = state.best_loss;
    history_ = state.history;
  }

  [[nodiscard]] TrainingResult result() const override {
    const auto& kept = options_.keep_best ? best_ : parameters_;
    return {history_, {kept.begin(), kept.end()}, best_epoch_, best_loss_, stopped(), options_.engine,
            cpu_s_};
  }

 private:
  /// One pass through all windows; the mean loss of the batches.
  double epoch() {
    const auto order = shuffled(training_.n, seed_, epoch_);
    const int batch = static_cast<int>(std::min<std::int64_t>(options_.batch, training_.n));
    double sum = 0;
    for (int first = 0; first < training_.n; first += batch) {
      const int n = std::min(batch, training_.n - first);
      for (int i = 0; i < n; ++i) {
        const int window = order[first + i];
        std::copy_n(training_.inputs.data() + window * training_.n_in, training_.n_in,
                    batch_inputs_.data() + i * training_.n_in);
        std::copy_n(training_.targets.data() + window * training_.n_out, training_.n_out,
                    batch_targets_.data() + i * training_.n_out);
      }
      passes_->refresh(parameters_.data());
      const double loss =
          passes_->loss_and_gradient(batch_inputs_.data(), batch_targets_.data(), n, gradient_.data());
      if (!std::isfinite(loss))
        throw NumericalError(
            fmt::format("epoch {}, batch {}: the loss is {}; a lower learning_rate or clip may help", epoch_,
                        first / batch + 1, loss));
      sum += loss * n;
      step();
    }
    return sum / training_.n;
  }

  void step() {
    if (options_.twin_biases) {
      const auto kept = static_cast<Real>(1 - options_.learning_rate * options_.weight_decay);
      before_ = parameters_;
      for (Real& value : before_) value *= kept;  // what the step begins with
    }
    optimiser_step<Real>(adamw_, ++steps_, options_.learning_rate,
                         {parameters_, gradient_, {moment1_, moment2_}});
    // Of two biases each sees the same gradient and makes the same step: their sum makes it twice.
    if (options_.twin_biases)
      for (const auto& [first, n] : biases_)
        for (std::size_t i = first; i < first + n; ++i) parameters_[i] += parameters_[i] - before_[i];
  }

  /// Outputs of the validation windows, and their loss.
  double validate() {
    passes_->refresh(parameters_.data());
    passes_->forward(validation_.inputs.data(), validation_.n, outputs_.data());
    double sum = 0;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const double error = static_cast<double>(outputs_[i]) - static_cast<double>(validation_.targets[i]);
      sum += error * error;
      outputs_double_[i] = outputs_[i];
    }
    const double loss = sum / static_cast<double>(outputs_.size());
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
    best_ = parameters_;
  }

  TrainingOptions options_;
  OptimiserOptions adamw_;
  std::uint64_t seed_;
  std::unique_ptr<Passes<Real>> passes_;
  Windows<Real> training_, validation_;
  std::vector<Real> batch_inputs_, batch_targets_, outputs_;
  std::vector<double> outputs_double_;
  AlignedVector<Real> parameters_, gradient_, moment1_, moment2_, best_, before_;
  std::vector<std::pair<std::size_t, std::size_t>> biases_;  ///< of LSTM gates: first and number
  int epoch_ = 0, best_epoch_ = 0;
  std::int64_t steps_ = 0;
  double best_loss_ = 0, cpu_s_ = 0;
  std::vector<EpochLosses> history_;
};

template <class Real>
std::vector<double> predict_in(const Architecture& architecture, int steps,
                               std::span<const double> parameters, std::span<const double> windows,
                               Engine engine, Products products) {
  const auto passes = make_passes<Real>(engine, products, architecture, steps);
  const std::size_t window =
      static_cast<std::size_t>(steps) * static_cast<std::size_t>(architecture.n_inputs);
  if (parameters.size() != passes->n_parameters() || windows.size() % window != 0)
    throw InternalError(fmt::format("a network of {} parameters is given {}, and {} numbers of windows of {}",
                                    passes->n_parameters(), parameters.size(), windows.size(), window));
  const std::vector<Real> weights(parameters.begin(), parameters.end()),
      inputs(windows.begin(), windows.end());
  const auto n = static_cast<int>(windows.size() / window);
  std::vector<Real> outputs(static_cast<std::size_t>(n) * architecture.steps_out * architecture.n_outputs);
  passes->refresh(weights.data());
  passes->forward(inputs.data(), n, outputs.data());
  return {outputs.begin(), outputs.end()};
}

}  // namespace

Trainer::Trainer(const Architecture& architecture, int steps, const SequenceData& training,
                 const SequenceData& validation, const TrainingOptions& options, std::uint64_t seed) {
  switch (options.precision) {
    case Precision::float32:
    case Precision::bf16:
      implementation_ =
          std::make_unique<Training<float>>(architecture, steps, training, validation, options, seed);
      return;
    case Precision::float64:
      implementation_ =
          std::make_unique<Training<double>>(architecture, steps, training, validation, options, seed);
      return;
  }
  throw InternalError("a precision without a kind");
}

Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Stopped Trainer::stopped() const { return implementation_->stopped(); }
EpochReport Trainer::advance() { return implementation_->advance(); }
TrainingState Trainer::state() const { return implementation_->state(); }
void Trainer::restore(const TrainingState& state) { implementation_->restore(state); }
TrainingResult Trainer::result() const { return implementation_->result(); }

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
