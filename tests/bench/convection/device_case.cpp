#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

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

FlowFields fields_of(const State& state) {
  FlowFields result;
  const Field* const fields[] = {&state.u, &state.w, &state.b, &state.p};
  for (std::size_t which = 0; which < result.size(); ++which)
    for (int j = 0; j < fields[which]->rows; ++j)
      result[which].insert(result[which].end(), fields[which]->row(j),
                           fields[which]->row(j) + fields[which]->n);
  return result;
}

std::string name_of(const Problem& problem, const DeviceFlowSetup& setup, bool transforms) {
  const char* const sides = problem.sides == Sides::periodic  ? "periodic"
                            : problem.sides == Sides::no_slip ? "no slip"
                                                              : "free slip";
  return std::to_string(setup.n_members) + " x " + std::to_string(setup.n_x) + " x " +
         std::to_string(setup.n_z) + ", " + sides + (transforms ? "" : ", modes");
}

/// Flows after some steps have made them far from their start.
FlowsCase make_case(const Problem& problem, const Grid& grid, int n_flows, bool transforms) {
  Boussinesq flows = make_rolls(problem, grid, n_flows, transforms);
  FlowsCase result;
  result.setup = device_flow_setup(problem, grid, n_flows, transforms);
  result.name = name_of(problem, result.setup, transforms);
  for (int m = 0; m < n_flows; ++m) result.before.push_back(fields_of(flows.state(m)));
  result.steps = {0.05, 0.05, 0.03, 0.04, 0.05};
  for (const double dt : result.steps) flows.advance(Exec(), dt);
  for (int m = 0; m < n_flows; ++m) result.after.push_back(fields_of(flows.state(m)));
  result.courant_rate = flows.courant_rate(Exec());
  return result;
}

FlowsCases make_cases() {
  FlowsCases cases;
  for (const Problem& problem : all_walls())
    cases.checked.push_back(make_case(problem, make_grid(Comm::self(), problem, 1.5, 20, 13), 2, true));
  Problem ring, box;
  box.sides = Sides::no_slip;
  for (const int n_x : {7, 22, 26, 210})
    for (const Problem& problem : {ring, box})
      cases.checked.push_back(make_case(problem, make_grid(Comm::self(), problem, 1.1, n_x, 8), 1, true));
  cases.checked.push_back(make_case(box, make_grid(Comm::self(), box, 0.7, 17, 11, 1.2, 0.9), 2, false));
  cases.checked.push_back(make_case(ring, make_grid(Comm::self(), ring, 2, 256, 64), 3, true));

  const auto time = [&](const Problem& problem, int n_x, int n_z, int n_flows, bool transforms) {
    const auto setup =
        device_flow_setup(problem, make_grid(Comm::self(), problem, 2, n_x, n_z, 1.2, transforms ? 0 : 0.9),
                          n_flows, transforms);
    cases.timed.push_back({name_of(problem, setup, transforms), setup});
  };
  time(ring, 128, 64, 1, true);
  time(ring, 128, 64, 100, true);
  time(ring, 512, 256, 32, true);
  time(box, 512, 256, 32, true);
  time(ring, 2048, 1024, 4, true);
  time(box, 128, 64, 100, false);
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
