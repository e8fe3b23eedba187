#pragma once

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/application/life/context_implementation.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

/// A run of a toy, as launch() makes it, for what takes part in a run's life.
namespace quintet::toy {

struct Options {
  std::int64_t steps = 10;
};
inline void describe(Schema& schema, Options& options) {
  schema.integer("steps", options.steps, "Steps").on_restart(OnRestart::free);
}

/// A number a rank, which its steps mix up; each call is noted.
class Toy {
 public:
  Toy(Comm comm, std::int64_t last_step, const std::optional<std::string>& checkpoint)
      : comm_(std::move(comm)), last_step_(last_step), x_(comm_.rank() + 1) {
    if (!checkpoint) return;
    const auto file = hdf5::File::open(comm_, *checkpoint);
    step_ = file.root().integer_attribute("step");
    x_ = file.root().read<double>("x").at(comm_.rank());
  }

  void advance() {
    if (step_ + 1 == fails_in) throw NumericalError("the toy is broken");
    if (pause_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    ++step_;
    x_ = std::sin(3 * x_ + step_);
    if (step_ == signal_in && comm_.rank() == comm_.size() - 1) std::raise(SIGTERM);
    calls.push_back("step " + std::to_string(step_));
  }
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] std::int64_t last_step() const { return guess.value_or(last_step_); }
  [[nodiscard]] bool finished() const { return step_ >= last_step_ || step_ == converges_in; }
  /// Steps become longer.
  [[nodiscard]] double time() const { return 0.1 * std::pow(static_cast<double>(step_), 1.5); }
  void save(hdf5::Group& root) const {
    const auto all = comm_.all_gather(x_);
    root.set_attribute("step", step_);
    root.write<double>("x", all, {all.size()}, {"1", {"rank"}, "The toy"});
    calls.push_back("save " + std::to_string(step_));
  }
  [[nodiscard]] double x() const { return x_; }

  std::int64_t fails_in = -1, signal_in = -1, converges_in = -1;
  std::optional<std::int64_t> guess;  ///< of the last step
  int pause_ms = 0;
  mutable std::vector<std::string> calls;

 private:
  Comm comm_;
  std::int64_t last_step_, step_ = 0;
  double x_;
};
static_assert(TimedStepper<Toy>);

/// A run as launch() makes it, its directory owned until it dies.
class ToyRun {
 public:
  explicit ToyRun(Request asked, std::int64_t steps = 10)
      : options_{steps},
        runtime_(argc_, argv_, 1, {}),
        request_(std::move(asked)),
        directory_(runtime_.comm(), request_),
        implementation_(runtime_, request_, directory_, described(options_)),
        context(implementation_) {
    toy = std::make_shared<Toy>(context.comm(), steps, context.restart_file());
    (void)context.go_ahead();
  }
  ~ToyRun() { implementation_.close(); }
  ToyRun(const ToyRun&) = delete;
  ToyRun& operator=(const ToyRun&) = delete;

  /// As a numerical failure ends a run; whether something was kept.
  [[nodiscard]] bool fail() {
    if (!implementation_.failure_action) return false;
    implementation_.failure_action();
    return true;
  }
  [[nodiscard]] const Context::Implementation& implementation() const { return implementation_; }
  [[nodiscard]] std::vector<std::int64_t> checkpoints() const { return context.checkpoints().steps(); }

 private:
  int argc_ = 1;
  char name_[5] = "test";
  char* arguments_[2] = {name_, nullptr};
  char** argv_ = arguments_;
  Options options_;
  Runtime runtime_;
  Request request_;
  RunDirectory directory_;
  Context::Implementation implementation_;

 public:
  Context context;
  std::shared_ptr<Toy> toy;
};

}  // namespace quintet::toy
