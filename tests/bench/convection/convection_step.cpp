#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/convection/initial.hpp"
#include "physics/convection/statistics.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/kernels/core_rate.hpp"

/// Whole steps (two stages each) of Rayleigh-Bénard convection, Ra = 1e6, periodic: CPU time of this process
/// a cell and step, minimum of repeats, on the grids that the peer was timed on: Dedalus 3.0.5 (Fourier x
/// Chebyshev, RK222, two stages too), recorded on one core of the same kind of machine, not in this run. Then
/// what accuracy costs, for spectral points say more than cells: a steady roll at Ra = 1e4 to time 60, its
/// error against the converged Nu 2.65250, CPU seconds. convection_peer runs the peer beside it where there
/// is one.
///
/// convection_step [--quick] [--case step|roll|growth NX NZ DT REPEATS]
namespace quintet::convection {
namespace {

/// A pair of rolls, and noise, on the conducting state; between side walls with the cells that their layers
/// ask for.
Boussinesq flow_of(const Problem& problem, double length, int nx, int nz, double roll = 0.1,
                   double noise = 1e-3) {
  const bool ring = problem.sides == Sides::periodic;
  const Grid grid(Comm::world(), make_axis(0, length, nx, ring ? Spacing::uniform : Spacing::tanh, 1.2, ring),
                  make_axis(-0.5, 0.5, nz, Spacing::tanh, 1.2, false));
  Boussinesq flow(problem, grid,
                  ring ? make_transform_solver(problem, grid) : make_modes_solver(problem, grid), 1);
  Start start;
  start.roll = roll;
  start.noise = noise;
  fill(problem, start, 1, flow, 0);
  flow.start(Exec());
  return flow;
}

/// Microseconds a cell and step.
double step_time(int nx, int nz, double dt, int repeats, Sides sides = Sides::periodic) {
  Problem problem;
  problem.sides = sides;
  problem.rayleigh = 1e6;
  Boussinesq flow = flow_of(problem, 4, nx, nz);
  const int steps = std::max(20, 1000000 / (nx * nz));
  double least = 1e300;
  for (int r = 0; r < repeats; ++r) {
    const double begin = cpu_seconds();
    for (int i = 0; i < steps; ++i) flow.advance(Exec(), dt * (1 + 1e-6 * i));  // steps differ, as in a run
    least = std::min(least, cpu_seconds() - begin);
  }
  return 1e6 * least / (static_cast<double>(steps) * nx * nz / Comm::world().size());
}

/// Bytes that a step reads or writes a cell, where each of its parts passes over all cells once (the table in
/// docs/measured.md).
constexpr double step_bytes = 8 * 127;

/// Bytes a second that a copy reads and writes, in turns over as much memory as flow and solver of so many
/// cells hold.
double copy_rate(int cells, int repeats) {
  const std::size_t half = static_cast<std::size_t>(Boussinesq::bytes(cells, 1) / 16);
  AlignedVector<double> from(half, 1.0), to(half, 2.0);
  const int turns = std::max<int>(2, 3e7 / half);
  double least = 1e300;
  for (int r = 0; r < repeats; ++r) {
    const double begin = cpu_seconds();
    for (int turn = 0; turn < turns; ++turn) {
      std::copy(from.begin(), from.end(), to.begin());
      from.swap(to);
    }
    least = std::min(least, cpu_seconds() - begin);
  }
  if (from[half / 2] != 1) throw InternalError("a copy that is none");
  return 16.0 * half * turns / least;
}

void advance_to(Boussinesq& flow, double time, double dt) {
  while (flow.time() < time - 1e-9) flow.advance(Exec(), dt);
}

/// A steady roll at Ra = 1e4, Pr = 0.71: CPU seconds to time 60, Nu there.
std::array<double, 2> roll(int nx, int nz, double dt) {
  Problem problem;
  problem.rayleigh = 1e4, problem.prandtl = 0.71;
  Boussinesq flow = flow_of(problem, 2.015788, nx, nz);
  const double begin = cpu_seconds();
  advance_to(flow, 60, dt);
  const double seconds = cpu_seconds() - begin;
  return {seconds, sample(Exec(), flow, 0).nusselt_volume};
}

/// The conducting layer at Ra = 1e4, Pr = 1, wavenumber pi: CPU seconds to time 12, growth rate from time 6
/// on.
std::array<double, 2> growth(int nx, int nz, double dt) {
  Problem problem;
  problem.rayleigh = 1e4, problem.prandtl = 1;
  Boussinesq flow = flow_of(problem, 2, nx, nz, 1e-6, 0);
  double seconds = -cpu_seconds();
  advance_to(flow, 6, dt);
  seconds += cpu_seconds();
  const double from = flow.time(), before = sample(Exec(), flow, 0).kinetic_energy;
  seconds -= cpu_seconds();
  advance_to(flow, 12, dt);
  seconds += cpu_seconds();
  const double after = sample(Exec(), flow, 0).kinetic_energy;
  return {seconds, 0.5 * std::log(after / before) / (flow.time() - from)};
}

struct Peer {
  int nx, nz;
  double us;
};
constexpr Peer peers[] = {{256, 64, 2.7}, {128, 48, 3.0}, {64, 32, 3.5}, {512, 128, 0}, {1024, 256, 0}};

}  // namespace

void bench(bool quick) {
  const bool speaks = Comm::world().is_root();
  std::string json;
  for (const auto& [nx, nz, us] : peers) {
    const double ours = step_time(nx, nz, 0.004, quick ? 2 : 5);
    if (!speaks) continue;
    std::printf("%4d x %-4d %8.4f us a cell and step", nx, nz, ours);
    if (us > 0) std::printf(", the peer's recorded %.2f: %.1f times", us, us / ours);
    const double rate = step_bytes / (1e-6 * ours), copy = copy_rate(nx * nz, quick ? 3 : 10);
    std::printf("; %.3g GB/s, %.0f %% of a copy's %.3g\n", 1e-9 * rate, 100 * rate / copy, 1e-9 * copy);
    json += fmt::format(
        R"({}{{"bench": "convection_step", "case": "{}x{}, rate and a copy's", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "GB/s"}})",
        json.empty() ? "" : ", ", nx, nz, 1e-9 * rate, 1e-9 * copy, rate / copy);
    if (us > 0)
      json += fmt::format(
          R"({}{{"bench": "convection_step", "case": "{}x{}", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "us/cell/step"}})",
          json.empty() ? "" : ", ", nx, nz, ours, us, us / ours);
  }
  for (const int nx : {128, 256, 512}) {
    const double ours = step_time(nx, 64, 0.004, quick ? 2 : 5, Sides::no_slip);
    if (speaks) std::printf("%4d x 64   %8.4f us a cell and step, unequal cells along x (modes)\n", nx, ours);
  }
  for (const int n : {16, 32, 64}) {
    if (quick && n == 64) continue;
    const auto [seconds, nusselt] = roll(2 * n, n, 1.6 / n);
    if (speaks)
      std::printf("steady roll, %3d x %-3d Nu %.5f, error %+.3f %%, %.2f CPU s\n", 2 * n, n, nusselt,
                  100 * (nusselt / 2.65250 - 1), seconds);
  }
  if (speaks) std::printf("[%s]\n", json.c_str());
}

/// One case for convection_peer.
void one_case(const std::string& name, int nx, int nz, double dt, int repeats) {
  std::array<double, 2> found{1e300, NAN};
  if (name == "step")
    found[0] = step_time(nx, nz, dt, repeats);
  else
    for (int r = 0; r < repeats; ++r) {
      const auto [seconds, result] = name == "roll" ? roll(nx, nz, dt) : growth(nx, nz, dt);
      found = {std::min(found[0], seconds), result};
    }
  const std::string result = std::isnan(found[1]) ? "null" : fmt::format("{:.9g}", found[1]);
  std::printf(R"({"seconds": %.6g, "result": %s})"
              "\n",
              found[0], result.c_str());
}

}  // namespace quintet::convection

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const bool quick = first == "--quick";
  const quintet::Runtime runtime(argc, argv, 1, {});
  if (first == "--case" && argc == 7)
    quintet::convection::one_case(argv[2], std::atoi(argv[3]), std::atoi(argv[4]), std::atof(argv[5]),
                                  std::atoi(argv[6]));
  else
    quintet::convection::bench(quick);
}
