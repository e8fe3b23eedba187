#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "apps/application/cli/application.hpp"
#include "apps/application/life/context.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/report/report.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

/// A tiny application for the tests of what all applications share: a damped oscillator that can be told to
/// fail.
namespace quintet::demo {

struct TimeOptions {
  double dt = 0.01;
  std::int64_t steps = 100;
};

void describe(Schema& schema, TimeOptions& options) {
  schema.quantity("dt", options.dt, "ps", "Time step").above(0);
  schema.integer("steps", options.steps, "Number of steps").at_least(0).on_restart(OnRestart::free);
}

struct ObserverOptions {
  std::int64_t every = 1;
};

void describe(Schema& schema, ObserverOptions& options) {
  schema.integer("every", options.every, "Steps between two looks").at_least(1);
}

struct FailureOptions {
  std::string kind = "none";
  std::int64_t at_step = 0;
  int rank = -1;
};

void describe(Schema& schema, FailureOptions& options) {
  schema.text("kind", options.kind, "input, numerical, memory, file, standard or internal");
  schema.integer("at_step", options.at_step, "Step at which it happens");
  schema.integer("rank", options.rank, "Rank on which it happens; -1: on all");
}

struct Options {
  TimeOptions time;
  std::vector<ObserverOptions> observers;
  FailureOptions failure;
  int oscillators = 1;
  std::string force_file;
  int pause_ms = 0, repeats = 1;
  double memory_gb = 0;
  CheckpointOptions checkpoints{.interval = 1000000};
};

void describe(Schema& schema, Options& options) {
  schema.section("time", options.time, "Time steps");
  schema.sections("observers", options.observers, "What is looked at");
  schema.section("failure", options.failure, "Failure on purpose").on_restart(OnRestart::free);
  schema.integer("oscillators", options.oscillators, "How many").on_restart(OnRestart::fixed);
  schema.text("force_file", options.force_file, "What else pulls").existing_file();
  schema.integer("pause_ms", options.pause_ms, "Pause in each step (ms)")
      .at_least(0)
      .on_restart(OnRestart::free);
  schema.integer("repeats", options.repeats, "How often a place is written down")
      .on_restart(OnRestart::fixed);
  schema.number("memory_gb", options.memory_gb, "Memory to ask for (GB)").on_restart(OnRestart::free);
  describe(schema, options.checkpoints);
}

void fail_if_told(const Comm& comm, const FailureOptions& failure, std::int64_t step) {
  if (step != failure.at_step || (failure.rank >= 0 && failure.rank != comm.rank())) return;
  if (failure.kind == "input") throw InputError("the file 'atoms.xyz' is truncated");
  if (failure.kind == "numerical") throw NumericalError(fmt::format("step {}: x is NaN", step));
  if (failure.kind == "memory") throw std::bad_alloc();
  if (failure.kind == "file") std::filesystem::create_directories("/proc/none/x");
  if (failure.kind == "standard") throw std::out_of_range("vector::at");
  if (failure.kind == "internal") throw InternalError("unreachable");
}

class Oscillator {
 public:
  Oscillator(const Comm& comm, const Options& options, const std::optional<std::string>& checkpoint)
      : comm_(comm), options_(options) {
    if (!checkpoint) return;
    const auto file = hdf5::File::open(comm_, *checkpoint);
    const auto values = file.root().read<double>("state", {2});
    x_ = values[0], v_ = values[1];
    step_ = file.root().integer_attribute("step");
  }

  void advance() {
    fail_if_told(comm_, options_.failure, step_ + 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(options_.pause_ms));
    const double dt = options_.time.dt;
    v_ -= dt * (x_ + 0.1 * v_);
    x_ += dt * v_;
    ++step_;
  }
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] std::int64_t last_step() const { return options_.time.steps; }
  [[nodiscard]] bool finished() const { return step_ >= options_.time.steps; }
  [[nodiscard]] double time() const { return options_.time.dt * step_; }
  [[nodiscard]] double x() const { return x_; }
  void save(hdf5::Group& root) const {
    root.set_attribute("step", step_);
    root.write<double>("state", std::vector<double>{x_, v_}, {2}, {"1", {"component"}, "Place and velocity"});
  }

 private:
  Comm comm_;
  Options options_;
  std::int64_t step_ = 0;
  double x_ = 1, v_ = 0;
};

void add_report(Context& context, const std::vector<double>& times, const std::vector<double>& places) {
  auto& report = context.report();
  report.section("Oscillator");
  Plot plot{"Place over time", "t (ps)", "x (1)", {}, false, false, "Decays to rest."};
  plot.curves.push_back({"x", times, places});
  report.plot(plot);
}

void run(Context& context, const Options& options) {
  context.require_memory(options.memory_gb * 1e9, "the oscillator");
  const auto oscillator = context.timed(
      "start", [&] { return std::make_shared<Oscillator>(context.comm(), options, context.restart_file()); });
  announce_restart(context, oscillator->step(), oscillator->last_step(), "time.steps");
  if (!context.go_ahead({"frames/frame_*.txt"})) return;
  const std::uint64_t n = options.repeats;
  auto series = context.results().root().series<double>("place", {n}, {"1", {"time", "component"}, "Place"});
  series.truncate(std::min(series.size(), static_cast<std::uint64_t>(oscillator->step())));

  std::vector<double> times, places;
  const auto note = [&](const Instant& now) {
    series.append<double>(std::vector<double>(n, oscillator->x()));
    times.push_back(now.time);
    places.push_back(oscillator->x());
    context.show("x", oscillator->x(), "");
  };
  run_loop(context, oscillator, options.checkpoints, {{"place", every_steps(1), note}});

  if (context.comm().is_root()) {
    std::filesystem::create_directories(context.path("frames"));
    write_text_file(context.path("frames/frame_1.txt"), "1\n");
  }
  context.summarise("x_final", oscillator->x());
  add_report(context, times, places);
}

void measure(const Comm& comm, const Application::Arguments& arguments) {
  if (comm.is_root()) log::info("model {}, {} systems", arguments[0].front(), arguments[1].size());
}

}  // namespace quintet::demo

int main(int argc, char** argv) {
  namespace demo = quintet::demo;
  return quintet::Application("demo", "a damped oscillator")
      .command<demo::Options>("run", "Run the oscillator", demo::run)
      .plain_command("measure", "Measure something",
                     {{"--model", "the model", true, ""}, {"SYSTEM...", "the systems", true, ""}},
                     demo::measure)
      .execute(argc, argv);
}
