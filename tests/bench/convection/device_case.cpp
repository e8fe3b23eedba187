#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/convection/device/flow_setup.hpp"
#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/flows_case.hpp"
#include "tests/support/convection_cases.hpp"

/// convection_device_case FILE: flows between several walls and what the host's engine makes of them, and
/// setups of larger ones, for build/tests/bench/device_flows.
namespace quintet::convection {
namespace {

using namespace testing;

FlowFields fields_of(const BoussinesqState& state) {
  FlowFields result;
  const Field* const fields[] = {&state.u, &state.w, &state.b, &state.p};
  for (std::size_t which = 0; which < result.size(); ++which)
    for (int j = 0; j < fields[which]->rows; ++j)
      result[which].insert(result[which].end(), fields[which]->row(j),
                           fields[which]->row(j) + fields[which]->n);
  return result;
}

enum class By { transforms, modes, multigrid };

DeviceFlowSetup setup_of(const Problem& problem, const Grid& grid, int n_flows, By by, double tolerance) {
  return device_flow_setup(problem, grid, n_flows, by == By::transforms, by == By::multigrid ? tolerance : 0);
}

std::string name_of(const Problem& problem, const DeviceFlowSetup& setup, By by) {
  const char* const sides = problem.sides == Sides::periodic  ? "periodic"
                            : problem.sides == Sides::no_slip ? "no slip"
                                                              : "free slip";
  return std::to_string(setup.n_members) + " x " + std::to_string(setup.n_x) + " x " +
         std::to_string(setup.n_z) + ", " + sides +
         (by == By::transforms ? ""
          : by == By::modes    ? ", modes"
                               : ", multigrid");
}

/// Flows after some steps have made them far from their start.
FlowsCase make_case(const Problem& problem, const Grid& grid, int n_flows, By by) {
  Boussinesq flows = make_rolls(problem, grid, n_flows, by == By::transforms);
  FlowsCase result;
  result.setup = setup_of(problem, grid, n_flows, by, 1e-13);
  result.name = name_of(problem, result.setup, by);
  for (int m = 0; m < n_flows; ++m) result.before.push_back(fields_of(flows.state(m)));
  result.steps = {0.05, 0.05, 0.03, 0.04, 0.05};
  for (const double dt : result.steps) flows.advance(Exec(), dt);
  for (int m = 0; m < n_flows; ++m) result.after.push_back(fields_of(flows.state(m)));
  result.courant_rate = flows.courant_rate(Exec());
  const std::unique_ptr<DeviceFlows> engine(quintet_make_device_flows(result.setup));
  for (std::size_t m = 0; m < result.after.size(); ++m) {
    const auto& [u, w, b, p] = result.after[m];
    engine->put(m, {u, w, b, p});
  }
  result.tallies = engine->tallies();
  result.powers = engine->powers();
  return result;
}

FlowsCases make_cases() {
  FlowsCases cases;
  for (const Problem& problem : all_walls())
    cases.checked.push_back(
        make_case(problem, make_grid(Comm::self(), problem, 1.5, 20, 13), 2, By::transforms));
  Problem ring, box;
  box.sides = Sides::no_slip;
  for (const int n_x : {7, 22, 26, 210})
    for (const Problem& problem : {ring, box})
      cases.checked.push_back(
          make_case(problem, make_grid(Comm::self(), problem, 1.1, n_x, 8), 1, By::transforms));
  for (const By by : {By::modes, By::multigrid})
    cases.checked.push_back(make_case(box, make_grid(Comm::self(), box, 0.7, 17, 11, 1.2, 0.9), 2, by));
  cases.checked.push_back(make_case(ring, make_grid(Comm::self(), ring, 2, 256, 64), 3, By::transforms));
  cases.checked.push_back(
      make_case(box, make_grid(Comm::self(), box, 2, 130, 200, 1.2, 1.5), 1, By::multigrid));

  const auto time = [&](const Problem& problem, int n_x, int n_z, int n_flows, By by) {
    const Grid grid = make_grid(Comm::self(), problem, 2, n_x, n_z, 1.2, by == By::transforms ? 0 : 0.9);
    const auto setup = setup_of(problem, grid, n_flows, by, 1e-10);
    cases.timed.push_back({name_of(problem, setup, by), setup});
  };
  time(ring, 128, 64, 1, By::transforms);
  time(ring, 128, 64, 100, By::transforms);
  time(ring, 512, 256, 32, By::transforms);
  time(box, 512, 256, 32, By::transforms);
  time(ring, 2048, 1024, 4, By::transforms);
  for (const By by : {By::modes, By::multigrid}) {
    time(box, 128, 64, 100, by);
    time(box, 256, 256, 16, by);
  }
  time(box, 2048, 1024, 1, By::multigrid);
  return cases;
}

}  // namespace
}  // namespace quintet::convection

int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  try {
    if (argc != 2) throw std::runtime_error("one argument is needed: the file to write");
    auto cases = quintet::convection::make_cases();
    device_bench::write_cases(cases, argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convection_device_case: %s\n", error.what());
    std::_Exit(1);
  }
}
