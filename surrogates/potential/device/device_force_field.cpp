#include "surrogates/potential/device/device_force_field.hpp"

#include <algorithm>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/device/resident_atoms.hpp"

namespace quintet::potential {

namespace {

DeviceModel tables_of(const Model& model, const DeepPotentialOptions& options,
                      const std::optional<RepulsionOptions>& repulsion) {
  DeviceModel tables = device_model(model, options);
  if (repulsion) tables.repulsion = nuclear_pairs(model.type_names, model.cutoff(), *repulsion);
  return tables;
}

}  // namespace

DeviceForceField::DeviceForceField(Model model, const DeepPotentialOptions& options,
                                   const std::optional<RepulsionOptions>& repulsion, Maker make,
                                   Require require)
    : model_(with_atom_parameters(with_frame_parameters(std::move(model), options.frame_parameters),
                                  options.atom_parameters)),
      repulsion_(repulsion),
      tables_(tables_of(model_, options, repulsion)),
      single_(is_single(model_, options)),
      require_(std::move(require)),
      engine_(make(tables_, single_)) {}

/// Ask before the first atoms go there, with some to spare, and again where more have come; all ranks ask.
void DeviceForceField::require_room(const Atoms& atoms, double range, bool by_atom) {
  if (!require_) return;
  double more = 0;
  if (atoms.n_all() > promised_) {
    const double before = promised_ == 0 ? 0 : device_bytes(tables_, single_, promised_, promised_, 0);
    const double listed = 4.18879 * range * range * range * atoms.n_global / atoms.box.volume();
    more = std::max(0.0, device_bytes(tables_, single_, atoms.n_local, atoms.n_all(), listed) - before);
    promised_ = atoms.n_all() + atoms.n_all() / 10;
  }
  if (by_atom && atoms.n_all() > promised_by_atom_) {
    // Virials in whole numbers and, where forces are, as reals; energies.
    constexpr double an_atom = 9 * 8 + 6 * 8, a_local_atom = 8;
    more += 1.06 * (an_atom * (atoms.n_all() - promised_by_atom_) + a_local_atom * atoms.n_local);
    promised_by_atom_ = atoms.n_all() + atoms.n_all() / 10;
  }
  require_(more, fmt::format("{} atoms and {} ghosts", atoms.n_local, atoms.n_ghost));
}

std::string DeviceForceField::description() const {
  return fmt::format("Deep Potential {}; evaluated on the device by {}{}", model_.summary(),
                     engine_->description(), repulsion_ ? "; " + in_words(*repulsion_) : "");
}

DeviceTotals DeviceForceField::compute_on_host(const Atoms& atoms, const NeighbourList& list,
                                               const ByAtom& by_atom) {
  if (list.version == 0 || list.version != built_) {
    // After a restart atoms have moved since their list was made: its own places must be the list's.
    const bool kept = list.built.extent(0) >= static_cast<std::size_t>(atoms.n_all());
    require_room(atoms, list.range, by_atom.energy.extent(0) > 0 || by_atom.virial.extent(0) > 0);
    engine_->build(
        {atoms.n_local, atoms.n_all(), kept ? list.built.data() : atoms.position.data(), atoms.type.data()},
        list.range);
    built_ = list.version;
    built_resident_ = 0;
  }
  return engine_->compute(atoms.position.data(), atoms.force.data(),
                          by_atom.energy.extent(0) > 0 ? by_atom.energy.data() : nullptr,
                          by_atom.virial.extent(0) > 0 ? by_atom.virial.data() : nullptr);
}

DeviceTotals DeviceForceField::compute_resident(const Atoms& atoms, const NeighbourList& list) {
  const ResidentRows rows = atoms.resident->rows();
  if (list.version != built_resident_) {
    require_room(atoms, list.range, false);
    engine_->build(rows, list.range);
    built_resident_ = list.version;
    built_ = 0;
  }
  return engine_->compute(rows);
}

Energetics DeviceForceField::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                                     const ByAtom& by_atom) {
  exec.fence();
  const bool energies = by_atom.energy.extent(0) > 0;
  QUINTET_ASSERT(!atoms.resident || (!energies && by_atom.virial.extent(0) == 0),
                 "sums by atom are for the host's rows: at_home()");
  const DeviceTotals found =
      atoms.resident ? compute_resident(atoms, list) : compute_on_host(atoms, list, by_atom);
  if (found.too_close >= 0)
    throw NumericalError(fmt::format(
        "two atoms came closer than 0.2 angstrom (a neighbour of atom index {}): overlapping atoms or "
        "too large a time step",
        found.too_close));
  if (found.too_strong >= 0)
    throw NumericalError(fmt::format(
        "the force of a pair is beyond 2000 eV/angstrom, or the repulsion of an atom's neighbours "
        "beyond 250000 (atom index {}): overlapping atoms or too large a time step; device: cpu "
        "has no such bounds",
        found.too_strong));
  Energetics total;
  total.energy = found.energy;
  total.virial = found.virial;
  for (int i = 0; energies && i < atoms.n_local; ++i) {
    const int t = atoms.type(i);
    if (model_.excluded_atoms[t] || model_.excluded_fitting[t])
      by_atom.energy(i) += model_.excluded_atoms[t] ? 0.0 : model_.output_bias[t];
  }
  total.overflowing = found.overflowing;
  if (found.overflowing > 0)
    total.warning = fmt::format(
        "{} more neighbours than the model's sel holds: the farthest are left out and the "
        "energy jumps when two of them swap places (train with a larger sel)",
        counted(found.overflowing, "atom has", "atoms have"));
  return total;
}

}  // namespace quintet::potential
