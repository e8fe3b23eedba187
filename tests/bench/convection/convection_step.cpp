#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "io/runtime/runtime.hpp"
#include "physics/convection/initial.hpp"
#include "physics/convection/statistics.hpp"

/// Whole steps (two stages each) of Rayleigh-Bénard convection, Ra = 1e6, periodic: CPU time of this process
/// a cell and step, minimum of repeats, on the grids that the peer was timed on: Dedalus 3.0.5 (Fourier x
/// Chebyshev, RK222, two stages too), recorded on one core of the same kind of machine, not in this run. Then
/// what accuracy costs, for spectral points say more than cells: a steady roll at Ra = 1e4 to time 60, its
/// error against the converged Nu 2.65250, CPU seconds.
///
/// convection_step [--quick]
namespace quintet::convection {
namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Boussinesq flow_of(const Problem& problem, double length, int nx, int nz) {
  const Grid grid(Comm::world(), make_axis(0, length, nx, Spacing::uniform, 0, true),
                  make_axis(-0.5, 0.5, nz, Spacing::tanh, 1.2, false));
  Boussinesq flow(problem, grid, make_transform_solver(problem, grid), 1);
  Start start;
  start.roll = 0.1;
  fill(problem, start, 1, flow, 0);
  flow.start(Exec());
  return flow;
}

/// Microseconds a cell and step.
double step_time(int nx, int nz, int repeats) {
  Problem problem;
  problem.rayleigh = 1e6;
  Boussinesq flow = flow_of(problem, 4, nx, nz);
  const int steps = std::max(20, 1000000 / (nx * nz));
  double least = 1e300;
  for (int r = 0; r < repeats; ++r) {
    const double begin = cpu_seconds();
    for (int i = 0; i < steps; ++i)
      flow.advance(Exec(), 0.004 * (1 + 1e-6 * i));  // steps differ, as in a run
    least = std::min(least, cpu_seconds() - begin);
  }
  return 1e6 * least / (static_cast<double>(steps) * nx * nz / Comm::world().size());
}

struct Peer {
  int nx, nz;
  double us;
};
constexpr Peer peers[] = {{256, 64, 2.7}, {128, 48, 3.0}, {64, 32, 3.5}, {512, 128, 0}};

}  // namespace

void bench(bool quick) {
  const bool speaks = Comm::world().is_root();
  std::string json;
  for (const auto& [nx, nz, us] : peers) {
    const double ours = step_time(nx, nz, quick ? 2 : 5);
    if (!speaks) continue;
    std::printf("%4d x %-4d %8.4f us a cell and step", nx, nz, ours);
    if (us > 0) std::printf(", the peer's recorded %.2f: %.1f times", us, us / ours);
    std::printf("\n");
    if (us > 0)
      json += fmt::format(
          R"({}{{"bench": "convection_step", "case": "{}x{}", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "us/cell/step"}})",
          json.empty() ? "" : ", ", nx, nz, ours, us, us / ours);
  }
  for (const int n : {16, 32, 64}) {
    if (quick && n == 64) continue;
    Problem problem;
    problem.rayleigh = 1e4, problem.prandtl = 0.71;
    Boussinesq flow = flow_of(problem, 2.015788, 2 * n, n);
    const double begin = cpu_seconds(), dt = 1.6 / n;
    while (flow.time() < 60) flow.advance(Exec(), dt);
    const double seconds = cpu_seconds() - begin;
    const Sample now = sample(Exec(), flow, 0);
    if (speaks)
      std::printf("steady roll, %3d x %-3d Nu %.5f, error %+.3f %%, %.2f CPU s\n", 2 * n, n,
                  now.nusselt_volume, 100 * (now.nusselt_volume / 2.65250 - 1), seconds);
  }
  if (speaks) std::printf("[%s]\n", json.c_str());
}

}  // namespace quintet::convection

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const quintet::Runtime runtime(argc, argv, 1, {});
  quintet::convection::bench(quick);
}
