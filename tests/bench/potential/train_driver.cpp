#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/core_rate.hpp"
#include "surrogates/potential/training/frame.hpp"
#include "surrogates/potential/training/trainer.hpp"
#include "tests/bench/potential/driver_arguments.hpp"
#include "tests/bench/potential/water_training.hpp"

/// Times our training as the peer's is timed: each step by itself, batches of one frame a rank or one in all.
///
///   dpmd_train_driver --data SYSTEM [--precision double|single] [--sharing frames|atoms] [--steps 15]
///                     [--engine kernels|torch]      torch: LibTorch's operators on the host's cores
///
/// Prints one JSON object: seconds of each step (wall; CPU of the slowest rank), memory, what a frame's
/// neighbours cost once.
namespace {

using namespace quintet;
using namespace quintet::potential;

std::vector<TrainingFrame> frames_of(const LabelledSystem& system, double cutoff, double& seconds_a_frame) {
  const double before = cpu_seconds();
  std::vector<TrainingFrame> frames;
  for (const auto& configuration : system.frames) frames.push_back(make_frame(configuration, cutoff));
  seconds_a_frame = (cpu_seconds() - before) / frames.size();
  return frames;
}

std::string list_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += fmt::format("{}{:.6f}", text.empty() ? "" : ", ", value);
  return "[" + text + "]";
}

struct Times {
  std::vector<double> wall, cpu;  ///< (s) a step
  Deviations last;
};

/// Steps at the loss and rate of the start; the first few, not timed, warm up.
Times time_steps(const Comm& comm, Trainer& trainer, const std::vector<TrainingFrame>& frames,
                 Sharing sharing, int steps) {
  constexpr int warm_up = 4;
  const LossPrefactors prefactors{.energy = 0.02, .force = 1000};
  const int batch = sharing == Sharing::frames ? comm.size() : 1;
  Times times;
  for (int step = -warm_up; step < steps; ++step) {
    const int at = (step + warm_up) * batch + (sharing == Sharing::frames ? comm.rank() : 0);
    const TrainingFrame* own[] = {&frames[at % frames.size()]};
    comm.barrier();
    Kokkos::Timer timer;
    const double before = cpu_seconds();
    times.last = trainer.gradient(own, prefactors, batch, sharing);
    trainer.update(1e-3);
    const double used = cpu_seconds() - before, elapsed = timer.seconds();
    const double slowest[2] = {comm.maximum(elapsed), comm.maximum(used)};
    if (step < 0) continue;
    times.wall.push_back(slowest[0]);
    times.cpu.push_back(slowest[1]);
  }
  return times;
}

void run(const Comm& comm, const DriverArguments& arguments) {
  const auto systems = read_water(arguments.text("--data"));
  const Model model = water_model(systems, arguments.text("--precision", "double") == "single");
  double frame_seconds = 0;
  const auto frames = frames_of(systems.front(), model.rcut, frame_seconds);
  const bool torch = arguments.text("--engine", "kernels") == "torch";
  const DeviceSession device(torch ? Device::portable : Device::cpu, comm);
  const auto trainer = Trainer::create(model, SelRule::per_type, {}, comm, {}, {}, {device});
  trainer->cover(model.least_distance.value());
  const Bracket<double> bracket;
  const bool atoms = arguments.text("--sharing", "frames") == "atoms";
  const Times times = time_steps(comm, *trainer, frames, atoms ? Sharing::atoms : Sharing::frames,
                                 std::stoi(arguments.text("--steps", "15")));
  const Core core = bracket.close();
  const double core_peak = comm.minimum(core.peak), slots = comm.minimum(core.slots);
  const double peak = peak_memory_mb(), all = comm.sum(peak), largest = comm.maximum(peak);
  if (!comm.is_root()) return;
  std::printf(
      "{\"atoms\": %d, \"ranks\": %d, \"parameters\": %zu, \"wall\": %s, \"cpu\": %s, \"frame_seconds\": "
      "%.6f, "
      "\"memory_mb\": %.1f, \"memory_mb_largest_rank\": %.1f, \"core_gflops\": %.1f, \"issue_slots_per_s\": "
      "%.4e, \"force_rmse_ev_per_angstrom\": %.6f}\n",
      frames.front().n_atoms, comm.size(), trainer->n_parameters(), list_of(times.wall).c_str(),
      list_of(times.cpu).c_str(), frame_seconds, all, largest, 1e-9 * core_peak, slots,
      times.last.rmse_force());
}

}  // namespace

int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  try {
    run(runtime.comm(), DriverArguments(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dpmd_train_driver: %s\n", error.what());
    std::_Exit(1);
  }
}
