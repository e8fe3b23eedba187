#include "apps/dpmd/run/trajectory.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "apps/application/life/context.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/formats/extended_xyz.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

namespace {

bool writes(const TrajectoryOptions& options, TrajectoryFormat format) {
  return options.format == format || options.format == TrajectoryFormat::both;
}

/// The whole frames at the start of an extended XYZ file that Trajectory wrote.
struct XyzFrames {
  std::uint64_t n = 0;
  std::uintmax_t bytes = 0;
};

/// Those up to `step`; none of a file that is not there.
XyzFrames xyz_frames_up_to(const std::string& path, std::int64_t step) {
  std::ifstream file(path, std::ios::binary);
  XyzFrames whole;
  for (std::string line; std::getline(file, line);) {
    const long long n_atoms = std::atoll(line.c_str());
    std::string comment;
    if (n_atoms <= 0 || !std::getline(file, comment)) break;
    const auto at = comment.find("step=");
    if (at == std::string::npos || std::atoll(comment.c_str() + at + 5) > step) break;
    long long n = 0;
    while (n < n_atoms && std::getline(file, line)) ++n;
    if (n < n_atoms || file.eof()) break;  // a kill has cut it
    whole.bytes = file.tellg();
    ++whole.n;
  }
  return whole;
}

}  // namespace

Trajectory::Trajectory(Context& context, const std::optional<TrajectoryOptions>& options,
                       const Simulation& simulation)
    : comm_(context.comm()), options_(options) {
  if (!options_) return;
  // A run that goes on in another folder, or had no trajectory so far, begins one.
  if (writes(*options_, TrajectoryFormat::xyz)) begin_xyz(context, simulation.step());
  if (!writes(*options_, TrajectoryFormat::h5md)) return;
  H5mdOptions h5md;
  h5md.velocities = options_->velocities;
  h5md.forces = options_->forces;
  h5md.single_precision = options_->single_precision;
  h5md.provenance = context.provenance();
  const std::string name = "trajectory.h5";
  if (goes_on_with(context, name)) h5md.restart_step = simulation.step();
  h5md.restart_frames = context.recorded_rows(name);
  h5md_.emplace(comm_, context.path(name), simulation.atoms(), h5md);
  if (!h5md_->altered().empty())
    context.lose(name, fmt::format("{}: damaged, and kept as it is", h5md_->altered()));
  count_.emplace(context, name, static_cast<std::uint64_t>(h5md_->n_frames()));
}

void Trajectory::begin_xyz(Context& context, std::int64_t step) {
  const std::string name = "trajectory.xyz";
  xyz_ = context.path(name);
  XyzFrames whole;
  if (context.restart_file()) on_root(comm_, [&] { whole = xyz_frames_up_to(xyz_, step); });
  whole.n = comm_.broadcast(whole.n);
  const auto recorded = context.recorded_rows(name).value_or(0);
  const bool is_there = comm_.any(comm_.is_root() && fs::exists(xyz_));
  if (is_there && whole.n < recorded) {  // what is behind the damage would be cut away
    context.put_aside(
        name, fmt::format("{} of its {} whole", whole.n, counted(recorded, "frame is", "frames are")));
    whole = {};
  }
  on_root(comm_, [&] {
    if (whole.n > 0) return fs::resize_file(xyz_, whole.bytes);
    if (!std::ofstream(xyz_)) throw ResourceError(fmt::format("{}: cannot be written", xyz_));
  });
  xyz_count_.emplace(context, name, whole.n);
}

Schedule Trajectory::schedule() const {
  return options_ ? at_start() | every_steps(options_->interval) : Schedule();
}

void Trajectory::add(const Simulation& simulation, double time) {
  if (h5md_) {
    h5md_->append(simulation.step(), time, simulation.atoms());
    count_->set(h5md_->n_frames());
  }
  if (xyz_.empty()) return;
  add_xyz(simulation, time);
  xyz_count_->add_one();
}

void Trajectory::add_xyz(const Simulation& simulation, double time) const {
  // By parts in the order of ids, as rank 0 may have no room for all atoms.
  constexpr std::int64_t part = 1 << 19;
  const auto& atoms = simulation.atoms();
  std::int64_t first_id = std::numeric_limits<std::int64_t>::max(), last_id = 0;
  for (int i = 0; i < atoms.n_local; ++i) {
    first_id = std::min(first_id, atoms.id(i));
    last_id = std::max(last_id, atoms.id(i));
  }
  first_id = comm_.minimum(first_id);
  last_id = comm_.maximum(last_id);
  ExtendedXyzOptions xyz;
  xyz.append = true;
  xyz.keys = fmt::format("step={} time={:.17g}", simulation.step(), time);
  xyz.n_frame = atoms.n_global;
  for (std::int64_t first = first_id; first <= last_id; first += part) {
    Configuration frame = simulation.domain().gather(atoms, options_->unwrapped, first, first + part - 1);
    xyz.continues = first > first_id;
    on_root(comm_, [&] {
      frame.energy = simulation.system().total.energy;
      frame.virial = simulation.system().total.virial;
      if (!options_->velocities) frame.velocities.clear();
      // The same in all frames, and trajectory.h5 or the input has them; ASE divides momenta by them.
      if (frame.velocities.empty()) frame.masses.clear();
      if (!options_->forces) frame.forces.clear();
      write_extended_xyz(xyz_, frame, xyz);
    });
  }
}

void Trajectory::flush() {
  if (h5md_) h5md_->flush();
}

}  // namespace quintet::dpmd
