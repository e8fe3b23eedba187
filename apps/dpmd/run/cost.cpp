#include "apps/dpmd/run/cost.hpp"

#include <algorithm>
#include <numeric>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/dpmd/run/simulation.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/particles/domain/brick_needs.hpp"
#include "physics/particles/domain/domain_grid.hpp"

namespace quintet::dpmd {
namespace {

double product(const std::vector<std::int64_t>& n) {
  return std::accumulate(n.begin(), n.end(), 1.0,
                         [](double all, std::int64_t one) { return all * double(one); });
}

/// Half as many copies along the row that has most; the same if there is one copy.
std::vector<std::int64_t> halved(std::vector<std::int64_t> copies) {
  auto& most = *std::max_element(copies.begin(), copies.end());
  most = std::max<std::int64_t>(1, most / 2);
  return copies;
}

/// Times of some copies of the cell, on this rank.
struct Timing {
  double atoms = 0, volume = 0;
  StepTimes steps{};
  double rebuilds = 0;       ///< a step
  planning::Traffic sums{};  ///< reductions of a step
  double range = 0;          ///< cutoff + skin (angstrom)
  double list_range = 0;     ///< the same of rows of neighbours
  std::vector<std::string> type_names{};
  double memory = 0;  ///< of this process so far (bytes)
};

/// The input on one rank with other copies of its cell.
Simulation simulation_of(const Context& context, const DeviceSession& session, RunOptions options,
                         const std::vector<std::int64_t>& copies) {
  options.system.replicate = copies;
  options.domain.ranks = {0, 0, 0};
  return {context.comm(), options, session};
}

Timing time_copies(const Context& context, const DeviceSession& session, const RunOptions& options,
                   const std::vector<std::int64_t>& copies) {
  Simulation simulation = simulation_of(context, session, options, copies);
  const Comm& comm = context.comm();
  const auto first_step = simulation.step(), first_rebuild = simulation.domain().rebuilds();
  comm.reset_counters();
  Timing timing{.atoms = double(simulation.atoms().n_global), .volume = simulation.atoms().box.volume()};
  timing.steps = time_steps([&] { simulation.advance(); }, 2.0, 5, 1000, double(options.time.steps));
  const double n = simulation.step() - first_step;
  const auto& counter = comm.counter(Comm::Call::reduce);
  timing.sums = {double(counter.messages) / n, double(counter.bytes) / n};
  timing.rebuilds = double(simulation.domain().rebuilds() - first_rebuild) / n;
  timing.range = simulation.system().force_field.cutoff() + options.domain.skin;
  timing.list_range = simulation.system().force_field.list_cutoff() + options.domain.skin;
  timing.type_names = simulation.system().force_field.type_names();
  timing.memory = 1e6 * peak_memory_mb();
  return timing;
}

/// The atoms of all copies: where they are, if they can be counted for each brick, and how many.
struct PlannedAtoms {
  Box box;
  double n = 0;
  FractionalAtoms places{};  ///< or none
};

PlannedAtoms atoms_of(const Context& context, const RunOptions& options, const Timing& timing) {
  SystemOptions one = options.system;
  one.replicate = {1, 1, 1};
  const System cell = read_system(context.comm(), one, timing.type_names, timing.range, timing.list_range);
  Copies copies;
  for (std::size_t k = 0; k < 3; ++k) copies[k] = options.system.replicate[k];
  constexpr double most = 2e5;
  PlannedAtoms atoms{.box = replicated(cell.box, copies),
                     .n = double(cell.n_atoms) * product(options.system.replicate)};
  if (atoms.n <= most) atoms.places = fractional_atoms(atoms.box, replicated(cell.cell, copies).positions);
  return atoms;
}

/// The greatest of each of all ranks, or of as many as can be counted in a moment.
BrickNeeds greatest_needs(const PlannedAtoms& atoms, double range, const std::array<int, 3>& grid) {
  if (atoms.places.s[0].empty()) return mean_brick_needs(atoms.box, atoms.n, range, grid);
  const int n_ranks = grid[0] * grid[1] * grid[2];
  const int step = std::max<int>(1, n_ranks * atoms.n / 1e7);
  BrickNeeds most;
  for (int rank = 0; rank < n_ranks; rank += step) {
    const BrickNeeds one = brick_needs(atoms.places, range, grid, rank);
    for (const auto number : {&BrickNeeds::own, &BrickNeeds::ghosts, &BrickNeeds::sent, &BrickNeeds::received,
                              &BrickNeeds::messages_sent, &BrickNeeds::messages_received, &BrickNeeds::sides})
      most.*number = std::max(most.*number, one.*number);
  }
  return most;
}

/// Messages and bytes of a step: positions to ghosts, their forces back; a share of a rebuild: sizes, then
/// position, id and type. Atoms that change hands are not counted.
planning::Traffic halo_of(const BrickNeeds& needs, double rebuilds) {
  constexpr double vector_bytes = 24, border_bytes = 40, size_bytes = 8;
  return {needs.messages_sent + needs.messages_received + rebuilds * 2 * needs.sides,
          vector_bytes * (needs.sent + needs.received) +
              rebuilds * (size_bytes * needs.sides + border_bytes * needs.sent)};
}

planning::StepCost row_of(const RunOptions& options, const PlannedAtoms& atoms, const Timing& timing, int p) {
  planning::StepCost row{.ranks = p};
  std::array<int, 3> grid{};
  try {
    grid = choose_rank_grid(p, grid_of(options.domain), timing.range, atoms.box);
  } catch (const InputError& error) {
    row.impossible = error.what();
    return row;
  }
  const BrickNeeds needs = greatest_needs(atoms, timing.range, grid);
  row.decomposition = fmt::format("{} x {} x {}", grid[0], grid[1], grid[2]);
  row.work = needs.own;
  row.halo = halo_of(needs, timing.rebuilds);
  row.sums = timing.sums;
  row.memory = timing.memory + bytes_of_files + (p > 1 ? bytes_of_messages : 0) +
               memory_of(atoms.n, atoms.box.volume(), p, timing.range, timing.list_range) -
               memory_of(timing.atoms, timing.volume, 1, timing.range, timing.list_range);
  return row;
}

double output_bytes(const RunOptions& options, double n_atoms) {
  if (!options.trajectory) return 0;
  const auto& given = *options.trajectory;
  const double frames = 1 + double(options.time.steps / given.interval);
  const double vectors = 1 + (given.velocities ? 1 : 0) + (given.forces ? 1 : 0);
  constexpr double image = 12, line = 20;  // of xyz: a name, 20 letters a number
  double bytes = 0;
  if (given.format != TrajectoryFormat::xyz) bytes += vectors * (given.single_precision ? 12 : 24) + image;
  if (given.format != TrajectoryFormat::h5md) bytes += 3 * vectors * line;
  return frames * n_atoms * bytes;
}

}  // namespace

planning::CostModel cost(Context& context, const RunOptions& options, const std::vector<int>& ranks) {
  QUINTET_CHECK(context.comm().size() == 1, "steps are timed on one rank, but {} were started",
                context.comm().size());
  QUINTET_CHECK(options.device == Device::cpu || options.device == Device::automatic,
                "device: the cost of runs on a device is not known; expected device: cpu");
  const DeviceSession session = context.open_device(Device::cpu);
  constexpr double most_atoms = 4000;
  auto copies = options.system.replicate;
  const auto cell = double(simulation_of(context, session, options, {1, 1, 1}).atoms().n_global);
  while (cell * product(copies) > most_atoms && product(copies) > 1) copies = halved(copies);
  const Timing large = time_copies(context, session, options, copies);
  const Timing small = product(copies) > 1 ? time_copies(context, session, options, halved(copies)) : large;
  const PlannedAtoms atoms = atoms_of(context, options, large);

  planning::CostModel model{
      .what = fmt::format("{:.0f} atoms in {:.4g} angstrom^3", atoms.n, atoms.box.volume()),
      .unit = "atom",
      .work = atoms.n,
      .steps = double(options.time.steps)};
  model.rate = small.atoms < large.atoms
                   ? planning::rate_of(small.atoms, small.steps.mean, large.atoms, large.steps.mean)
                   : planning::CostModel::Rate{.per_unit = large.steps.mean / large.atoms};
  model.rate.spread = large.steps.spread;
  model.rate.timed = fmt::format(
      "{} of {:.0f} atoms and {} of {:.0f}; neighbours listed anew in {:.2g} % of them",
      counted(large.steps.n, "step"), large.atoms, small.steps.n, small.atoms, 100 * large.rebuilds);
  model.output = output_bytes(options, atoms.n);
  constexpr double checkpoint_row = 3 * 24 + 4 + 8 + 12;  // three vectors, type, id, image
  model.checkpoint = checkpoint_row * atoms.n;
  for (const int p : ranks) model.rows.push_back(row_of(options, atoms, large, p));
  return model;
}

}  // namespace quintet::dpmd
