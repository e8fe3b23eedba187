#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "apps/application/cli/application.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

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
  schema.text("kind", options.kind, "input, numerical, memory, standard or internal");
  schema.integer("at_step", options.at_step, "Step at which it happens");
  schema.integer("rank", options.rank, "Rank on which it happens; -1: on all");
}

struct Options {
  TimeOptions time;
  std::vector<ObserverOptions> observers;
  FailureOptions failure;
  int oscillators = 1;
  std::string force_file;
  int pause_ms = 0;
  double memory_gb = 0;
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
  schema.number("memory_gb", options.memory_gb, "Memory to ask for (GB)").on_restart(OnRestart::free);
}

struct State {
  std::int64_t step = 0;
  double x = 1, v = 0;
};

void save(Context& context, const State& state) {
  context.checkpoint(state.step, [&](hdf5::Group& root) {
    root.set_attribute("step", state.step);
    root.write<double>("state", std::vector<double>{state.x, state.v}, {2},
                       {"1", {"component"}, "Place and velocity"});
  });
}

State load(const Comm& comm, const std::string& file) {
  auto checkpoint = hdf5::File::open(comm, file);
  const auto values = checkpoint.root().read<double>("state", {2});
  const auto step = static_cast<std::int64_t>(checkpoint.root().number_attribute("step").at(0));
  return {step, values[0], values[1]};
}

void fail_if_told(const Context& context, const FailureOptions& failure, std::int64_t step) {
  if (step != failure.at_step || (failure.rank >= 0 && failure.rank != context.comm().rank())) return;
  if (failure.kind == "input") throw InputError("the file 'atoms.xyz' is truncated");
  if (failure.kind == "numerical") throw NumericalError(fmt::format("step {}: x is NaN", step));
  if (failure.kind == "memory") throw std::bad_alloc();
  if (failure.kind == "standard") throw std::out_of_range("vector::at");
  if (failure.kind == "internal") throw InternalError("unreachable");
}

void add_report(Context& context, const std::vector<double>& times, const std::vector<double>& places) {
  auto& report = context.report();
  report.section("Oscillator");
  Plot plot{"Place over time", "t (ps)", "x (1)", {}, false, false, "Decays to rest."};
  plot.curves.push_back({"x", times, places});
  report.plot(plot);
}

void run(Context& context, const Options& options) {
  context.require_memory(options.memory_gb * 1e9, "the oscillator");
  auto state = std::make_shared<State>();
  if (context.restart_file()) *state = load(context.comm(), *context.restart_file());
  if (!context.go_ahead({"frames/frame_*.txt"})) return;
  auto series = context.results().root().series<double>("place", {1}, {"1", {"time", "component"}, "Place"});
  series.truncate(std::min(series.size(), static_cast<std::uint64_t>(state->step)));
  context.on_failure([context, state]() mutable { save(context, *state); });

  const double dt = options.time.dt;
  std::vector<double> times, places;
  for (const std::int64_t step : context.steps(state->step + 1, options.time.steps)) {
    const auto timer = context.phase("step");
    fail_if_told(context, options.failure, step);
    {
      const auto pause = context.phase("pause");
      std::this_thread::sleep_for(std::chrono::milliseconds(options.pause_ms));
    }
    state->v -= dt * (state->x + 0.1 * state->v);
    state->x += dt * state->v;
    state->step = step;
    series.append<double>(std::vector<double>{state->x});
    times.push_back(dt * static_cast<double>(step));
    places.push_back(state->x);
    context.show("x", state->x, "");
  }
  save(context, *state);
  if (context.comm().is_root()) {
    std::filesystem::create_directories(context.path("frames"));
    write_text_file(context.path("frames/frame_1.txt"), "1\n");
  }
  context.summarise("x_final", state->x);
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
