#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/bench.hpp"
#include "tests/bench/device/flows_case.hpp"

/// Steps of two-dimensional convection (Boussinesq) of many flows on a device.
///
///   device_flows CASES check            fields after some steps beside those of the host's engine
///   device_flows CASES time [CHOICE]    steps of several flows
///
/// CASES comes from build/tests/bench/convection_device_case.
namespace quintet::convection {
namespace {

using device_bench::Row;

/// Numbers that the kernels of a step read and write, a cell, neighbours not counted: right-hand sides of
/// both stages; in each stage rows, columns (there and back), rows, divergence, the same for one field,
/// projection.
constexpr double numbers_a_step = 10 + 13 + 2 * (6 + 18 + 6 + 5 + 2 + 6 + 2 + 7);

std::unique_ptr<DeviceFlows> make_engine(const DeviceFlowSetup& setup) {
  return std::unique_ptr<DeviceFlows>(quintet_make_device_flows(setup));
}
std::array<std::span<const double>, 4> spans(const FlowFields& f) { return {f[0], f[1], f[2], f[3]}; }

/// Sums, extremes and powers beside those of a case, relative to the greatest of each flow; a divergence is
/// round-off on both sides.
double numbers_differ(const DeviceFlows& engine, const FlowsCase& c) {
  const auto tallies = engine.tallies();
  std::vector<double> found, expected;
  for (std::size_t m = 0; m < c.tallies.size(); ++m)
    for (const auto& [from, to] : {std::pair{&tallies.at(m), &found}, {&c.tallies[m], &expected}}) {
      to->insert(to->end(), from->sums.begin(), from->sums.end());
      to->insert(to->end(), from->most.begin() + 1, from->most.end());
    }
  const auto powers = engine.powers();
  if (powers.size() != c.powers.size()) return HUGE_VAL;
  return std::max(device_bench::relative_difference(found, expected),
                  powers.empty() ? 0.0 : device_bench::relative_difference(powers, c.powers));
}

int check(const std::vector<FlowsCase>& cases) {
  int bad = cases.empty() ? 1 : 0;
  for (const auto& c : cases) {
    const auto engine = make_engine(c.setup);
    for (std::size_t m = 0; m < c.before.size(); ++m) engine->put(m, spans(c.before[m]));
    for (const double dt : c.steps) engine->advance(dt);
    double most = 0;
    for (std::size_t m = 0; m < c.after.size(); ++m) {
      FlowFields found = c.after[m];
      for (auto& field : found) std::fill(field.begin(), field.end(), 0.0);
      engine->take(m, {found[0], found[1], found[2], found[3]});
      for (std::size_t i = 0; i < found.size(); ++i)
        most = std::max(most, device_bench::relative_difference(found[i], c.after[m][i]));
    }
    const double of_rate = std::abs(engine->courant_rate() / c.courant_rate - 1),
                 of_numbers = numbers_differ(*engine, c);
    const bool good = most < 1e-10 && of_rate < 1e-10 && of_numbers < 1e-9;
    if (!good) bad = 1;
    Row("device_flows", "check " + c.name)
        .text("same", good ? "yes" : "NO")
        .number("fields_difference", most)
        .number("courant_rate_difference", of_rate)
        .number("numbers_difference", of_numbers);
  }
  return bad;
}

/// What Kokkos's profiling hooks see of a device between two resets.
struct Seen {
  long launches = 0, reductions = 0, copies = 0, fences = 0;
};
Seen seen;
void look() {
  using namespace Kokkos::Tools::Experimental;
  set_begin_parallel_for_callback([](const char*, std::uint32_t, std::uint64_t*) { ++seen.launches; });
  set_begin_parallel_reduce_callback([](const char*, std::uint32_t, std::uint64_t*) { ++seen.reductions; });
  set_begin_fence_callback([](const char*, std::uint32_t, std::uint64_t*) { ++seen.fences; });
  set_begin_deep_copy_callback([](Kokkos_Profiling_SpaceHandle, const char*, const void*,
                                  Kokkos_Profiling_SpaceHandle, const char*, const void*,
                                  std::uint64_t) { ++seen.copies; });
}

/// A gentle roll, another one in each flow.
FlowFields roll(const DeviceFlowSetup& s, int member) {
  FlowFields f;
  for (auto& field : f) field.assign(std::int64_t{s.n_x} * s.n_z, 0.0);
  for (int j = 1; j < s.n_z; ++j)
    for (int i = 1; i < s.n_x; ++i) {
      const std::size_t at = std::int64_t{j} * s.n_x + i;
      const double x = 2 * M_PI * i / s.n_x, z = M_PI * j / s.n_z;
      f[0][at] = 0.1 * std::sin(x) * std::cos(z);
      f[1][at] = -0.1 * std::cos(x) * std::sin(z);
      f[2][at] = 0.01 * std::cos(x + member) * std::sin(z);
    }
  return f;
}

int time_flows(const TimedFlows& t, double copy_rate) {
  const DeviceFlowSetup& s = t.setup;
  const double cells = double{1} * s.n_x * s.n_z * s.n_members, bytes = quintet_device_flows_bytes(s);
  if (!device_bench::has_room(bytes)) {
    Row("device_flows", t.name).number("cells", cells).text("skipped", "too little memory");
    return 0;
  }
  const auto engine = make_engine(s);
  for (int m = 0; m < s.n_members; ++m) engine->put(m, spans(roll(s, m)));
  constexpr int steps = 5;
  const double step = device_bench::median_seconds(10,
                                                   [&] {
                                                     for (int i = 0; i < steps; ++i) engine->advance(1e-4);
                                                   }) /
                      steps;
  const double rate = device_bench::median_seconds(10, [&] { (void)engine->courant_rate(); });
  const double numbers = device_bench::median_seconds(10, [&] {
    (void)engine->tallies();
    (void)engine->powers();
  });
  static_cast<void>(engine->take_solves());
  seen = {};
  engine->advance(1e-4);
  const Seen of_step = seen;
  const auto solves = engine->take_solves();
  Row row("device_flows", t.name);
  row.number("cells", cells).number("us_per_step", 1e6 * step).number("cells_per_s", cells / step);
  if (s.tolerance > 0) {
    row.number("iterations_per_step", solves.iterations);
    row.text("converged", solves.converged ? "yes" : "NO");
  } else {
    const double floor = 8 * numbers_a_step * cells;
    row.number("share_of_copy", floor / copy_rate / step);
    row.number("h200_floor_us", 1e6 * floor / device_bench::h200_copy);
  }
  row.number("launches_per_step", of_step.launches)
      .number("reductions_per_step", of_step.reductions)
      .number("copies_per_step", of_step.copies)
      .number("fences_per_step", of_step.fences)
      .number("courant_rate_us", 1e6 * rate)
      .number("numbers_us", 1e6 * numbers)
      .number("bytes_per_cell", bytes / cells);
  return std::isfinite(engine->courant_rate()) && solves.converged ? 0 : 1;
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "device_flows CASES check | CASES time [--quick] [--large] [--only TEXT]\n");
    return 1;
  }
  const auto cases = device_bench::read_cases<FlowsCases>(argv[1]);
  if (std::strcmp(argv[2], "check") == 0) return check(cases.checked);
  look();
  const device_bench::Choice choice(argc, argv, 3);
  const double rate = device_bench::copy_rate(choice.quick ? std::size_t{1} << 23 : std::size_t{1} << 27);
  int bad = 0;
  for (const auto& t : cases.timed) {
    const std::int64_t cells = std::int64_t{t.setup.n_x} * t.setup.n_z * t.setup.n_members;
    if ((choice.quick && cells > 100000) || (choice.large && cells < 1000000) || !choice.wants(t.name))
      continue;
    bad += time_flows(t, rate);
  }
  return bad > 0 ? 1 : 0;
}

}  // namespace
}  // namespace quintet::convection

int main(int argc, char** argv) {
  const device_bench::Session session("device_flows");
  if (!session.ok()) return 4;
  return device_bench::guarded("device_flows", [&] { return quintet::convection::run(argc, argv); });
}
