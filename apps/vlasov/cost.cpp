#include "apps/vlasov/cost.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/vlasov/state/simulation.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kinetics/space/rank_grids.hpp"
#include "physics/kinetics/system_needs.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The input on one rank, with 1/part of the cells along each direction of x, and an end that no timing
/// meets.
RunOptions part_of(RunOptions options, std::int64_t part) {
  const std::size_t cdim = options.grid.lower.size();
  for (std::size_t d = 0; d < std::min(cdim, options.grid.cells.size()); ++d)
    options.grid.cells[d] = std::max<std::int64_t>(1, options.grid.cells[d] / part);
  options.parallel.ranks.clear();
  options.time.steps.reset();
  options.time.end.text = fmt::format("1000*({})", options.time.end.text);
  return options;
}

/// Of a part of the input, on this rank.
struct Timing {
  double cells = 0;    ///< as RankNeeds counts them
  double seconds = 0;  ///< of a step, with its share of samples
  double spread = 0;
  int steps = 0;
  double frequency = 0;  ///< 1/(stable step)
  std::string what;
};

Timing time_part(Context& context, const RunOptions& options, std::int64_t part) {
  const RunOptions small = part_of(options, part);
  Setup setup = make_setup(context.comm(), small);
  DeviceSession device = open_device(context, Device::cpu, setup);
  const auto cells =
      needs_of(setup.basis, setup.species, setup.system, setup.decomposition.ranks(), {}).cells;
  const auto what = description(setup);
  Simulation simulation(context, std::move(device), small, std::move(setup));
  const double stable = simulation.system().stable_dt(Exec());
  const auto steps = time_steps([&] { simulation.advance(); });
  const auto samples = time_steps([&] { (void)simulation.system().sample(Exec()); }, 0.1, 2, 20);
  return {cells,        steps.median + samples.median / static_cast<double>(options.history_interval),
          steps.spread, steps.n,
          1 / stable,   what};
}

/// The least part that has few enough numbers to be timed.
std::int64_t timed_part(const RankNeeds& whole, int cdim) {
  constexpr double most_bytes = 2e8;
  std::int64_t part = 1;
  while (whole.bytes / std::pow(double(part), cdim) > most_bytes) part *= 2;
  return part;
}

/// frequency = A + B/part: each direction's share rises with its cells.
double whole_frequency(const Timing& large, std::int64_t part, const Timing& small) {
  const auto n = static_cast<double>(part);
  const double b = std::max(0.0, (large.frequency - small.frequency) * 2 * n);
  return large.frequency - b / n + b;
}

double steps_of(const RunOptions& options, const Setup& setup, double frequency) {
  const double dt = std::min({1 / frequency, setup.fixed_dt.value_or(1 / frequency), setup.end});
  const double steps = std::ceil(setup.end / dt * (1 - 1e-9));
  return options.time.steps ? std::min(steps, static_cast<double>(*options.time.steps)) : steps;
}

/// (order + 1)^2 points a cell of each x and v.
double picture_bytes(const Setup& setup, const PhaseGrid& grid) {
  double points = 0;
  for (int x = 0; x < grid.cdim; ++x)
    for (int v = grid.cdim; v < grid.dim(); ++v) points += double(grid.cells[at(x)]) * grid.cells[at(v)];
  return 8 * points * std::pow(setup.basis.order() + 1, 2);
}

/// f, moments M0 to M3 and fields as coefficients, fields at points, and pictures of f in every x and v.
double frame_bytes(const RunOptions& options, const Setup& setup) {
  const auto& conf = setup.basis.conf();
  double bytes = 0, conf_cells = 1;
  for (int d = 0; d < setup.basis.cdim(); ++d) conf_cells *= setup.species.front().grid.cells[at(d)];
  const double points = std::pow(conf.order() + 1, conf.dim());
  const int vdim = setup.basis.vdim();
  for (const auto& species : setup.species) {
    double cells = 1;
    for (int d = 0; d < setup.basis.dim(); ++d) cells *= species.grid.cells[at(d)];
    if (options.output.distribution)
      bytes += 8 * cells * setup.basis.size() + picture_bytes(setup, species.grid);
    bytes += 8 * conf_cells * ((2 + 2 * vdim) * conf.size() + (2 + 2 * vdim) * points);
  }
  return bytes + 8 * conf_cells * int{n_field} * (conf.size() + points);
}

double checkpoint_bytes(const Setup& setup) {
  double bytes = 0;
  for (const auto& species : setup.species) {
    double cells = 8.0 * setup.basis.size();
    for (int d = 0; d < setup.basis.dim(); ++d) cells *= species.grid.cells[at(d)];
    bytes += cells;
  }
  return bytes;
}

planning::StepCost row_of(const Setup& setup, const std::array<int, 6>& ranks, double base) {
  const int dim = setup.basis.dim();
  planning::StepCost row{.decomposition =
                             fmt::format("{}", fmt::join(ranks.begin(), ranks.begin() + dim, " x "))};
  row.ranks = 1;
  for (const int n : ranks) row.ranks *= n;
  row.impossible = what_needs_lack(setup.system, ranks, setup.basis.cdim());
  if (!row.impossible.empty()) {
    row.impossible = "not known: " + row.impossible;
    return row;
  }
  const auto needs = greatest_needs(setup.basis, setup.species, setup.system, ranks);
  row.work = needs.cells;
  row.memory = base + bytes_of_files + (row.ranks > 1 ? bytes_of_messages : 0) + needs.bytes;
  row.halo = {needs.neighbours.messages, needs.neighbours.bytes};
  for (const auto* sums : {&needs.velocity_sums, &needs.conf_sums, &needs.all_sums})
    row.sums += {sums->messages, sums->bytes};
  return row;
}

/// Of parallel.ranks; velocity directions that a wall turns round stay whole. 0: any number.
std::array<int, 6> given_ranks(const RunOptions& options, const Setup& setup) {
  std::array<int, 6> given{};
  for (std::size_t d = 0; d < options.parallel.ranks.size() && d < given.size(); ++d)
    given[d] = static_cast<int>(options.parallel.ranks[d]);
  for (const auto& species : setup.species)
    for (int d = 0; d < setup.basis.cdim(); ++d)
      if (species.mirrors(d, 0) || species.mirrors(d, 1)) given[at(setup.basis.cdim() + d)] = 1;
  return given;
}

/// The decompositions of p ranks that come nearest to the least work and halos; none: the reason.
void add_rows(const Setup& setup, const std::array<int, 6>& given, int p, double base,
              std::vector<planning::StepCost>& rows) {
  constexpr std::size_t most = 4;
  const auto grids = rank_grids(setup.species.front().grid, given, p);
  std::size_t n = 0;
  for (const auto& ranks : grids) {
    if (n == most) break;
    const bool fits = std::all_of(setup.species.begin(), setup.species.end(), [&](const Species& one) {
      for (int d = 0; d < one.grid.dim(); ++d)
        if (one.grid.cells[at(d)] < ranks[at(d)]) return false;
      return true;
    });
    if (!fits) continue;
    rows.push_back(row_of(setup, ranks, base));
    ++n;
  }
  if (n > 0) return;
  rows.push_back(
      {.ranks = p,
       .impossible = fmt::format("no grid of {} ranks shares {} in whole boxes", p, description(setup))});
}

}  // namespace

planning::CostModel cost(Context& context, const RunOptions& options, const std::vector<int>& ranks) {
  QUINTET_CHECK(context.comm().size() == 1, "the cost of a run is found on one rank; {} are here",
                context.comm().size());
  QUINTET_CHECK(options.device == Device::cpu || options.device == Device::automatic,
                "device: the cost of runs on a device is not known; expected device: cpu");
  const double base = 1e6 * peak_memory_mb();
  RunOptions alone = options;
  alone.parallel.ranks.clear();
  const Setup setup = make_setup(context.comm(), alone);
  const auto given = given_ranks(options, setup);

  const auto whole = needs_of(setup.basis, setup.species, setup.system, setup.decomposition.ranks(), {});
  const std::int64_t part = timed_part(whole, setup.basis.cdim());
  const Timing large = time_part(context, options, part), small = time_part(context, options, 2 * part);

  planning::CostModel model{.what = description(setup), .unit = "cell", .work = whole.cells};
  model.rate = planning::rate_of(small.cells, small.seconds, large.cells, large.seconds);
  model.rate.spread = large.spread;
  model.rate.timed =
      fmt::format("{} steps of {} and {} of {}", large.steps, large.what, small.steps, small.what);
  model.steps = steps_of(options, setup, whole_frequency(large, part, small));
  // At the start, at each interval, and at the end unless that is one.
  const double frames =
      setup.frame_interval > 0 ? 1 + std::ceil(setup.end / setup.frame_interval * (1 - 1e-9)) : 2;
  // A row of the history: sums over all, and about a dozen numbers of each species.
  const double row_bytes = 8 * (17 + 12 * double(setup.species.size()));
  model.output =
      frames * frame_bytes(options, setup) + *model.steps / double(options.history_interval) * row_bytes;
  model.checkpoint = checkpoint_bytes(setup);
  for (const int p : ranks) add_rows(setup, given, p, base, model.rows);
  return model;
}

}  // namespace quintet::vlasov
