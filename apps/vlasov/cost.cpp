#include "apps/vlasov/cost.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/vlasov/setup/writing_needs.hpp"
#include "apps/vlasov/state/history.hpp"
#include "apps/vlasov/state/simulation.hpp"
#include "io/hdf5/series_bytes.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kinetics/space/rank_grids.hpp"
#include "physics/kinetics/system_needs.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

constexpr double endless = 1000;  ///< times the end: no timing meets it

/// The input on one rank, with 1/part of the cells along each direction of x, and an end that no timing
/// meets.
RunOptions part_of(RunOptions options, std::int64_t part) {
  const std::size_t cdim = options.grid.lower.size();
  for (std::size_t d = 0; d < std::min(cdim, options.grid.cells.size()); ++d)
    options.grid.cells[d] = std::max<std::int64_t>(1, options.grid.cells[d] / part);
  options.parallel.ranks.clear();
  options.time.steps.reset();
  options.time.end.text = fmt::format("{}*({})", endless, options.time.end.text);
  return options;
}

/// Times of a part of the input, on this rank.
struct Timing {
  double cells = 0;    ///< as RankNeeds counts them
  double seconds = 0;  ///< of a step, with its share of samples
  double spread = 0;
  int steps = 0;
  double frequency = 0;         ///< 1/(stable step)
  planning::Traffic samples{};  ///< reductions of a sample: as many on any ranks
  std::string what;
};

/// What a number costs that is appended to a series of run.h5, and what it costs more where ranks write it
/// together: HDF5's own work, measured in the runs of docs/measured.md (s).
constexpr double append_seconds = 7e-6, append_seconds_together = 14e-6;

/// What is reduced or gathered by all communicators of a decomposition.
planning::Traffic traffic_so_far(const Decomposition& decomposition) {
  planning::Traffic sum;
  for (const Comm* comm : {&decomposition.comm(), &decomposition.conf_comm(), &decomposition.velocity_comm()})
    for (const auto call : {Comm::Call::reduce, Comm::Call::gather})
      sum += {double(comm->counter(call).messages), double(comm->counter(call).bytes)};
  return sum;
}

/// Steps without an end that would cut them, but no more than the run has; its samples apart.
Timing time_part(Context& context, const DeviceSession& device, const RunOptions& options,
                 std::int64_t part) {
  const RunOptions small = part_of(options, part);
  Setup setup = make_setup(context.comm(), small);
  use_device(device, setup);
  const auto cells =
      needs_of(setup.basis, setup.species, setup.system, setup.decomposition.ranks(), {}).cells;
  const auto what = description(setup);
  const double columns = history_columns(setup).size(), end = setup.end / endless;
  Simulation simulation(context, device, small, std::move(setup));
  const double stable = simulation.system().stable_dt(Exec());
  const double of_run = std::min(std::ceil(end / stable), double(options.time.steps.value_or(1LL << 50)));
  const auto steps = time_steps([&] { simulation.advance(); }, 0.5, 5, 1000, of_run);
  const auto& decomposition = simulation.system().decomposition();
  const auto before = traffic_so_far(decomposition);
  const auto sample = [&] { static_cast<void>(simulation.system().sample(Exec())); };
  sample();
  planning::Traffic of_sample = traffic_so_far(decomposition);
  of_sample += -1.0 * before;
  const auto samples = time_steps(sample, 0.1, 2, 20);
  const double row = samples.median + append_seconds * columns;
  return {.cells = cells,
          .seconds = steps.median + row / options.history_interval,
          .spread = steps.spread,
          .steps = steps.n,
          .frequency = 1 / stable,
          .samples = of_sample,
          .what = what};
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
  const double n = part;
  const double b = std::max(0.0, (large.frequency - small.frequency) * 2 * n);
  return large.frequency - b / n + b;
}

double steps_of(const RunOptions& options, const Setup& setup, double frequency) {
  const double dt = std::min({1 / frequency, setup.fixed_dt.value_or(1 / frequency), setup.end});
  const double steps = std::ceil(setup.end / dt * (1 - 1e-9));
  return options.time.steps ? std::min<double>(steps, *options.time.steps) : steps;
}

/// Bytes of so many entries of n numbers, in whole chunks of the file.
double series(double numbers, double entries) {
  return hdf5::series_bytes({static_cast<std::uint64_t>(numbers)}, sizeof(double), entries);
}

/// Moments M0 to M3 and fields as coefficients and at points, f with its pictures where it is wanted.
double frames_bytes(const RunOptions& options, const Setup& setup, double frames) {
  const auto& conf = setup.basis.conf();
  const int cdim = setup.basis.cdim(), dim = setup.basis.dim(), vdim = setup.basis.vdim();
  const double conf_cells = cells_of(setup.species.front().grid, 0, cdim),
               points = conf_cells * std::pow(conf.order() + 1, conf.dim());
  double bytes = 0;
  for (const auto& species : setup.species) {
    for (const int components : {1, vdim, 1, vdim})
      bytes += series(conf_cells * conf.size() * components, frames);
    // Density, temperature, velocity, temperatures, heat flux, pressure.
    bytes += (2 + 3 * vdim + vdim * (vdim + 1) / 2) * series(points, frames);
    if (!options.output.distribution) continue;
    bytes += frames * 8 * cells_of(species.grid, 0, dim) * setup.basis.size();  // a dataset a frame
    for (const double picture : picture_points(setup, species.grid)) bytes += series(picture, frames);
  }
  if (setup.system.field == FieldModel::none) return bytes;
  const int shown = setup.system.field == FieldModel::maxwell ? 6 : cdim + 1;
  return bytes + series(conf_cells * conf.size() * int{n_field}, frames) + shown * series(points, frames);
}

/// Bytes of the report's pictures: at the start, halfway and at the end.
double pictures_bytes(const Setup& setup) {
  double points = 0;
  for (const auto& species : setup.species)
    for (const double picture : picture_points(setup, species.grid)) points += picture;
  return 3 * 8 * points;
}

double checkpoint_bytes(const Setup& setup) {
  double bytes = 0;
  for (const auto& species : setup.species) {
    bytes += 8 * cells_of(species.grid, 0, setup.basis.dim()) * setup.basis.size();
  }
  return bytes;
}

/// `samples`: reductions of the history, a step; `rows` of it in the whole run
planning::StepCost row_of(const RunOptions& options, const Setup& setup, const std::array<int, 6>& ranks,
                          double base, const planning::Traffic& samples, double rows) {
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
  constexpr double always = 10e6;  // HDF5, pictures and the report, libraries included: docs/measured.md
  row.memory = base + always + writing_bytes(setup, ranks, row.ranks) +
               (row.ranks > 1 ? bytes_of_messages : 0) + needs.bytes +
               bytes_of_series(history_columns(setup).size(), rows);
  row.halo = {needs.neighbours.messages, needs.neighbours.bytes};
  for (const auto* sums : {&needs.velocity_sums, &needs.conf_sums, &needs.all_sums})
    row.sums += {sums->messages, sums->bytes};
  row.sums += samples;
  if (row.ranks > 1)
    row.files = append_seconds_together * history_columns(setup).size() / options.history_interval;
  return row;
}

/// Read parallel.ranks; velocity directions that a wall turns round stay whole. 0: any number.
std::array<int, 6> given_ranks(const RunOptions& options, const Setup& setup) {
  std::array<int, 6> given{};
  for (std::size_t d = 0; d < options.parallel.ranks.size() && d < given.size(); ++d)
    given[d] = options.parallel.ranks[d];
  for (const auto& species : setup.species)
    for (int d = 0; d < setup.basis.cdim(); ++d)
      if (species.mirrors(d, 0) || species.mirrors(d, 1)) given[setup.basis.cdim() + d] = 1;
  return given;
}

/// The decompositions of p ranks that come nearest to the least work and halos; none: the reason.
void add_rows(const RunOptions& options, const Setup& setup, const std::array<int, 6>& given, int p,
              double base, const planning::Traffic& samples, double history_rows,
              std::vector<planning::StepCost>& rows) {
  constexpr std::size_t most = 4;
  const auto grids = rank_grids(setup.species.front().grid, given, p);
  std::size_t n = 0;
  for (const auto& ranks : grids) {
    if (n == most) break;
    const bool fits = std::all_of(setup.species.begin(), setup.species.end(), [&](const Species& one) {
      for (int d = 0; d < one.grid.dim(); ++d)
        if (one.grid.cells[d] < ranks[d]) return false;
      return true;
    });
    if (!fits) continue;
    rows.push_back(row_of(options, setup, ranks, base, samples, history_rows));
    ++n;
  }
  if (n > 0) return;
  rows.push_back(
      {.ranks = p,
       .impossible = fmt::format("no grid of {} ranks shares {} in whole boxes", p, description(setup))});
}

}  // namespace

planning::CostModel cost(Context& context, const RunOptions& options, const std::vector<int>& ranks) {
  QUINTET_CHECK(context.comm().size() == 1, "steps are timed on one rank, but {} were started",
                context.comm().size());
  const double base = 1e6 * peak_memory_mb();
  RunOptions alone = options;
  alone.parallel.ranks.clear();
  Setup setup = make_setup(context.comm(), alone);
  const DeviceSession device = open_device(context, options.device, setup);
  const auto given = given_ranks(options, setup);

  const auto whole = needs_of(setup.basis, setup.species, setup.system, setup.decomposition.ranks(), {});
  const std::int64_t part = timed_part(whole, setup.basis.cdim());
  const Timing large = time_part(context, device, options, part),
               small = time_part(context, device, options, 2 * part);

  planning::CostModel model{.what = description(setup),
                            .unit = "cell",
                            .work = whole.cells,
                            .engine = {device.description(), device.device() == Device::gpu}};
  model.rate = planning::rate_of(small.cells, small.seconds, large.cells, large.seconds);
  model.rate.spread = large.spread;
  model.rate.timed =
      fmt::format("{} of {} and {} of {}", counted(large.steps, "step"), large.what, small.steps, small.what);
  model.steps = steps_of(options, setup, whole_frequency(large, part, small));
  // At the start, at each interval, and at the end unless that is one.
  const double frames =
      setup.frame_interval > 0 ? 1 + std::ceil(setup.end / setup.frame_interval * (1 - 1e-9)) : 2;
  const double rows = std::ceil(*model.steps / double(options.history_interval)) + 1;
  model.output = frames_bytes(options, setup, frames) + pictures_bytes(setup) +
                 double(history_columns(setup).size()) * hdf5::series_bytes({}, 8, std::uint64_t(rows));
  model.checkpoint = checkpoint_bytes(setup);
  const auto samples = 1 / double(options.history_interval) * large.samples;
  for (const int p : ranks)
    if (device.device() == Device::gpu && p > device.count())
      model.rows.push_back(
          {.ranks = p,
           .impossible = fmt::format("not known: {} ranks on {}", p, counted(device.count(), "GPU"))});
    else
      add_rows(options, setup, given, p, base, samples, rows, model.rows);
  if (device.device() == Device::portable) {  // in the same memory
    const double there = VlasovSystem::device_bytes_needed(context.comm(), setup.basis, setup.species,
                                                           setup.system, setup.has_source);
    for (auto& row : model.rows) row.memory += there / row.ranks;
  }
  return model;
}

}  // namespace quintet::vlasov
