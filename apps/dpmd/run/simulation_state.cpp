#include <algorithm>
#include <numeric>

#include "apps/dpmd/run/simulation.hpp"
#include "apps/dpmd/setup/checkpoint_configuration.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::dpmd {

namespace {

constexpr const char* layout = "atoms of rank 0 in their order, then of rank 1, ...";

template <class T, class View>
std::span<const T> rows(const View& view, int n, int columns) {
  return {view.data(), static_cast<std::size_t>(n) * columns};
}

/// Copy `values` into the first rows of a view with room for them.
template <class T, class View>
void fill(const std::vector<T>& values, View& view) {
  std::copy(values.begin(), values.end(), view.data());
}

}  // namespace

// Atoms go home first: then a restart on the same ranks finds each atom in the same place of the same rank,
// and is bitwise the same run.
void Simulation::save(hdf5::Group& root) const {
  const Comm& comm = domain_->comm();
  hdf5::Group state = root.group("state");
  bring_home(atoms_);
  const int n = atoms_.n_local;
  const auto counts = comm.all_gather(static_cast<std::int64_t>(n));
  const std::uint64_t offset = std::accumulate(counts.begin(), counts.begin() + comm.rank(), std::int64_t{0});
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto vectors = [&](const char* name, const Vectors& view, const char* units, const char* text) {
    state.write_distributed(name, rows<double>(view, n, 3), {total, 3}, offset,
                            {units, {"atom", "xyz"}, fmt::format("{} ({})", text, layout)});
  };
  vectors("position", atoms_.position, "angstrom", "Positions");
  vectors("velocity", atoms_.velocity, "angstrom/ps", "Velocities");
  vectors("built_position", domain_->built_positions(), "angstrom",
          "Positions at the last rebuild of the neighbour list");
  if (const std::uint64_t n_parameters = atoms_.n_parameters(); n_parameters > 0)
    state.write_distributed(
        "parameters", rows<double>(atoms_.parameters, n, n_parameters), {total, n_parameters}, offset,
        {"1", {"atom", "number"}, fmt::format("Numbers that models read (aparam) ({})", layout)});
  state.write_distributed("type", rows<std::int32_t>(atoms_.type, n, 1), {total}, offset,
                          {"1", {"atom"}, "Index into type_names"});
  state.write_distributed("id", rows<std::int64_t>(atoms_.id, n, 1), {total}, offset,
                          {"1", {"atom"}, "Identity of an atom, from 1"});
  state.write_distributed("image", rows<std::int32_t>(atoms_.image, n, 3), {total, 3}, offset,
                          {"1", {"atom", "row"}, "Periodic crossings: unwrapped = position + image * box"});
  state.write<std::int64_t>("rank_counts", counts, {counts.size()}, {"1", {"rank"}, "Atoms of each rank"});
  const auto& grid = domain_->rank_grid();
  state.write<std::int32_t>("rank_grid", std::vector<std::int32_t>(grid.begin(), grid.end()), {3},
                            {"1", {"row"}, "Grid of ranks along the cell's rows"});

  const auto matrix = [&](const char* name, const Mat3& m, const char* text) {
    state.write<double>(name, std::span<const double>(m), {3, 3}, {"angstrom", {"row", "xyz"}, text});
  };
  matrix("box", atoms_.box.rows(), "Cell rows a, b, c");
  matrix("built_box", domain_->built_box().rows(), "Cell rows at the last rebuild of the neighbour list");
  state.write<double>("origin", std::span<const double>(atoms_.box.origin()), {3},
                      {"angstrom", {"xyz"}, "Corner of the cell"});
  state.write<double>("built_origin", std::span<const double>(domain_->built_box().origin()), {3},
                      {"angstrom", {"xyz"}, "Corner of that cell"});
  const auto& p = atoms_.box.periodic();
  state.write<std::int32_t>("periodic", std::vector<std::int32_t>{p[0], p[1], p[2]}, {3},
                            {"1", {"row"}, "1 where periodic"});
  state.write<double>("mass", atoms_.masses, {atoms_.masses.size()}, {"amu", {"type"}, "Mass of each type"});
  state.write_text("type_names", join_lines(atoms_.type_names));

  if (rounds()) {
    const auto& reference = precision_->reference();
    const std::uint64_t n_types = atoms_.type_names.size();
    state.write<double>("rounding_reference", reference, {n_types, reference.size() / n_types},
                        {"1", {"type", "entry"}, "Descriptors about which products are rounded to bfloat16"});
  }
  if (const auto& frozen = system_->frozen; !frozen.none())
    state.write<std::int64_t>("frozen_ids", frozen.ids(), {frozen.ids().size()},
                              {"1", {"atom"}, "Atoms that stay"});

  const IntegratorState integrator = integrator_->state();
  state.set_attribute("step", step_);
  state.set_attribute("integrator", integrator.kind);
  state.write<double>("integrator_state", integrator.values, {integrator.values.size()},
                      {"1", {"value"}, "What the integrator remembers"});
  for (const auto& observer : observers_) {
    hdf5::Group group = state.group("observers/" + observer->name());
    observer->save(group);
  }
}

void Simulation::load(const Comm& comm, const hdf5::File& file) {
  hdf5::Group state = hdf5::File(file).root().open_group("state");
  const auto counts = state.read<std::int64_t>("rank_counts");
  const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  QUINTET_CHECK(state.shape("position") == (hdf5::Shape{static_cast<std::uint64_t>(total), 3}) && total > 0,
                "{}: its arrays do not hold the {} that it counts", file.path(), counted(total, "atom"));
  atoms_.type_names = force_field_->type_names();
  atoms_.masses = state.read<double>("mass", {atoms_.type_names.size()});
  atoms_.n_global = total;
  const auto& grid = domain_->rank_grid();
  if (std::ssize(counts) != comm.size() ||
      state.read<std::int32_t>("rank_grid", {3}) != std::vector<std::int32_t>(grid.begin(), grid.end()))
    return load_shared_out(comm, file.path());
  const auto offset = std::accumulate(counts.begin(), counts.begin() + comm.rank(), std::int64_t{0});
  load_in_place(state, offset, counts[comm.rank()]);
}

/// Load a checkpoint of the same grid of ranks: every atom gets the place it had.
void Simulation::load_in_place(hdf5::Group& state, std::uint64_t offset, std::uint64_t count) {
  require_fit(std::min<std::uint64_t>(count, most_rows + 1));
  atoms_.reserve(count + 1);
  atoms_.n_local = count;
  atoms_.n_ghost = 0;
  fill(state.read_rows<double>("position", offset, count), atoms_.position);
  fill(state.read_rows<double>("velocity", offset, count), atoms_.velocity);
  if (force_field_->n_atom_parameters() > 0 && state.has("parameters")) {
    const auto n_parameters = state.shape("parameters").at(1);
    atoms_.parameters = decltype(atoms_.parameters)("dpmd::parameters", atoms_.capacity(), n_parameters);
    fill(state.read_rows<double>("parameters", offset, count), atoms_.parameters);
  }
  fill(state.read_rows<std::int32_t>("type", offset, count), atoms_.type);
  fill(state.read_rows<std::int64_t>("id", offset, count), atoms_.id);
  fill(state.read_rows<std::int32_t>("image", offset, count), atoms_.image);
  Vectors built("dpmd::built_positions", count);
  fill(state.read_rows<double>("built_position", offset, count), built);
  const auto rows = state.read<double>("built_box", {3, 3});
  const auto origin = state.read<double>("built_origin", {3});
  Mat3 cell;
  std::copy(rows.begin(), rows.end(), cell.begin());
  domain_->restore(Exec(), atoms_, built,
                   Box(cell, atoms_.box.periodic(), {origin[0], origin[1], origin[2]}));
}

/// Another grid of ranks: rank 0 reads all atoms and shares them out.
void Simulation::load_shared_out(const Comm& comm, const std::string& path) {
  Configuration configuration;
  on_root(comm, [&] { configuration = read_checkpoint(path); });
  configuration.box = atoms_.box;
  if (force_field_->n_atom_parameters() == 0) configuration.parameters.clear();
  atoms_ = domain_->distribute(configuration);
  domain_->rebuild(Exec(), atoms_);
}

}  // namespace quintet::dpmd
