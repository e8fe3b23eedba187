#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "io/config/tree.hpp"
#include "io/machine/detect.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "operations.hpp"
#include "physics/kernels/core_rate.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"

/// Whole SSP-RK3 steps of Vlasov-Maxwell (one species, perturbed drifting Maxwellian, periodic) on the grids
/// that the peer was timed on: ns a cell and right-hand side, DOF updates a second, share of the FMA peak
/// measured in the same run, and the ratio to the peer's recorded figure
/// (../shared/data/kinetics/gkeyll_timings.json; without that file no ratio). CPU time of this process,
/// minimum of repeats.
///
/// vlasov_rhs [--quick] [--flux upwind|lax_friedrichs|central] [--collisions lbo|bgk] [--case TEXT]
/// [--timings FILE]
namespace quintet::kinetics {
namespace {

struct Case {
  const char *dims, *basis;
  int cdim, vdim, order;
  Family family;
  std::vector<int> cells;
  double target;  ///< DOF updates a second and core
};

const std::vector<Case> cases{
    {"1x1v", "ser p2", 1, 1, 2, Family::serendipity, {64, 128}, 3e8},
    {"1x1v", "ser p2", 1, 1, 2, Family::serendipity, {256, 512}, 3e8},
    {"1x1v", "hybrid p1", 1, 1, 1, Family::hybrid, {64, 128}, 0},
    {"1x1v", "tensor p2", 1, 1, 2, Family::tensor, {64, 128}, 0},
    {"1x2v", "ser p2", 1, 2, 2, Family::serendipity, {32, 32, 32}, 2.2e8},
    {"1x2v", "hybrid p1", 1, 2, 1, Family::hybrid, {32, 32, 32}, 0},
    {"1x3v", "ser p2", 1, 3, 2, Family::serendipity, {16, 16, 16, 16}, 8e7},
    {"1x3v", "hybrid p1", 1, 3, 1, Family::hybrid, {16, 16, 16, 16}, 0},
    {"2x2v", "ser p2", 2, 2, 2, Family::serendipity, {16, 16, 16, 16}, 8e7},
    {"2x2v", "hybrid p1", 2, 2, 1, Family::hybrid, {16, 16, 16, 16}, 0},
    {"2x2v", "tensor p2", 2, 2, 2, Family::tensor, {12, 12, 12, 12}, 0},
    {"2x3v", "hybrid p1", 2, 3, 1, Family::hybrid, {8, 8, 10, 10, 10}, 0},
    {"2x3v", "tensor p1", 2, 3, 1, Family::tensor, {8, 8, 10, 10, 10}, 0},
    {"2x3v", "ser p2", 2, 3, 2, Family::serendipity, {6, 6, 8, 8, 8}, 4e7},
    {"2x3v", "tensor p2", 2, 3, 2, Family::tensor, {4, 4, 8, 8, 8}, 0},
};

struct Arguments {
  bool quick = false;
  Flux flux = Flux::upwind;
  std::string collisions, only, timings;
  std::array<int, 6> ranks{};
};

std::unique_ptr<VlasovSystem> make_system(const Comm& comm, const Case& c, const Arguments& arguments) {
  Species species;
  species.name = "electron";
  species.grid.cdim = c.cdim;
  species.grid.vdim = c.vdim;
  for (int d = 0; d < c.cdim + c.vdim; ++d) {
    const std::size_t i = d;
    const bool x = d < c.cdim;
    species.grid.lower[i] = x ? 0 : -6;
    species.grid.upper[i] = x ? 4 * M_PI : 6;
    species.grid.cells[i] = c.cells[i];
    species.grid.periodic[i] = x;
  }
  SystemOptions options;
  options.flux = arguments.flux;
  options.background_charge = 1;
  options.ranks = arguments.ranks;
  if (!arguments.collisions.empty()) {
    CollisionOptions collisions;
    collisions.kind = arguments.collisions == "bgk" ? CollisionOptions::Operator::bgk
                                                    : CollisionOptions::Operator::lenard_bernstein;
    collisions.frequency = {{0.01}};
    options.collisions = collisions;
  }
  const PhaseBasis basis(c.cdim, c.vdim, c.order, c.family);
  auto system = std::make_unique<VlasovSystem>(comm, basis, std::vector{species}, options);
  MaxwellianProfile profile;
  profile.density = [](std::span<const double> x) { return 1 + 0.1 * std::cos(0.5 * x[0]); };
  for (std::size_t d = 0; d < 3; ++d) {
    profile.drift[d] = [](std::span<const double>) { return 0.3; };
    profile.thermal_speed[d] = [](std::span<const double>) { return 1.2; };
  }
  add_maxwellian(system->decomposition(), basis, profile, false, system->f(0), "f");
  for (int component = 0; component < 6; ++component)
    project_conf(
        system->f(0).block, basis.conf(),
        [&](std::span<const double> x) {
          return 0.1 * std::sin(0.5 * x[0] + component) + (component > 2 ? 0.05 : 0);
        },
        system->field(), component, "field");
  system->start(Exec(), 0);
  return system;
}

/// CPU seconds of the fastest step; all ranks take as many.
double time_step(VlasovSystem& system, double budget) {
  const Exec exec;
  const double dt = 0.1 * system.stable_dt(exec);
  double best = 1e300;
  system.advance(exec, dt);
  const double start = cpu_seconds();
  const auto& comm = system.decomposition().comm();
  for (int n = 0; n < 5 || comm.any(cpu_seconds() - start < budget); ++n) {
    const double before = cpu_seconds();
    system.advance(exec, dt);
    exec.fence();
    best = std::min(best, cpu_seconds() - before);
  }
  return best;
}

/// "6x6x8^3": as the peer's record writes grids.
std::string grid_text(const std::vector<int>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i;
    while (end < cells.size() && cells[end] == cells[i]) ++end;
    if (!text.empty()) text += "x";
    text += end - i < 3 ? fmt::format("{}", fmt::join(cells.begin() + i, cells.begin() + end, "x"))
                        : fmt::format("{}^{}", cells[i], end - i);
    i = end;
  }
  return text;
}

/// ns a cell and right-hand side of the peer on this case; 0 where no record is at hand.
double peer_ns(const Case& c, const std::string& file) {
  std::ifstream stream(file);
  if (!stream) return 0;
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string grid = grid_text(c.cells);
  const Tree document = parse_yaml(text.str(), file);
  for (const Tree& row : document.at("rows").items()) {
    const auto basis = row.at("basis").as_text();
    if (row.at("dims").as_text() == c.dims && basis.starts_with(c.basis) && row.at("grid").as_text() == grid)
      return row.at("ns_per_cell_rhs").as_number();
  }
  return 0;
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  a.timings = QUINTET_TIMINGS;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--quick") a.quick = true;
    if (flag == "--flux")
      a.flux = value == "central"          ? Flux::central
               : value == "lax_friedrichs" ? Flux::lax_friedrichs
                                           : Flux::upwind;
    if (flag == "--collisions") a.collisions = value;
    if (flag == "--case") a.only = value;
    if (flag == "--timings") a.timings = value;
    if (flag == "--ranks") {
      std::istringstream stream(value);
      for (std::size_t d = 0; d < 6 && stream; ++d) stream >> a.ranks[d];
    }
  }
  return a;
}

void run(const Arguments& arguments) {
  const auto comm = Comm::world();
  measure_core<double>();  // the first one wakes the core
  if (comm.is_root())
    fmt::print(
        "{}, {:.1f} GFLOP/s; {} rank{}\n{:6} {:10} {:>16} {:>4} {:>10} {:>9} {:>9} {:>8} "
        "{:>6} "
        "{:>6} {:>9} {:>6}\n",
        processor_name(), 1e-9 * measure_core<double>().peak, comm.size(), comm.size() == 1 ? "" : "s",
        "case", "basis", "grid", "Np", "ns/cell", "DOF/s", "fma/cell", "Gfma/s", "peak", "slots", "peer ns",
        "ratio");
  std::vector<std::string> records;
  for (const auto& c : cases) {
    const std::string name = fmt::format("{} {}", c.dims, c.basis);
    if (name.find(arguments.only) == std::string::npos) continue;
    auto system = make_system(comm, c, arguments);
    const double cells = [&] {
      double n = 1;
      for (const int i : c.cells) n *= i;
      return n;
    }();
    const Bracket<double> bracket;
    const double seconds = comm.maximum(time_step(*system, arguments.quick ? 0.3 : 2.0));
    const double ns = 1e9 * seconds / (3 * cells), n_modes = system->basis().size();
    const double operations = multiply_adds(system->basis()), rate = operations / ns;
    const Core core = bracket.close();
    const double slots = Bracket<double>::share_of_slots(core), theirs = peer_ns(c, arguments.timings);
    if (!comm.is_root()) continue;
    fmt::print("{:6} {:10} {:>16} {:>4} {:10.2f} {:9.3g} {:9.0f} {:8.2f} {:5.0f}% {:5.0f}% {:9.1f} {:6.1f}\n",
               c.dims, c.basis, grid_text(c.cells), n_modes, ns, n_modes / ns * 1e9, operations, rate,
               200e9 * rate / core.peak, 100 * slots, theirs, theirs / ns);
    std::fflush(stdout);
    records.push_back(fmt::format(
        R"({{"bench": "vlasov_rhs", "case": "{} {}", "ours": {:.3f}, "peer": {}, "ratio": {}, "unit": "ns/cell/RHS", "share_of_peak": {:.3f}, "issue_slots": {:.3f}}})",
        name, grid_text(c.cells), ns, theirs > 0 ? fmt::format("{:.1f}", theirs) : "null",
        theirs > 0 ? fmt::format("{:.2f}", theirs / ns) : "null", 2e9 * rate / core.peak, slots));
  }
  if (comm.is_root()) fmt::print("[{}]\n", fmt::join(records, ", "));
}

}  // namespace
}  // namespace quintet::kinetics

int main(int argc, char** argv) {
  const quintet::Runtime runtime(argc, argv, 1, {});
  quintet::kinetics::run(quintet::kinetics::parse(argc, argv));
}
