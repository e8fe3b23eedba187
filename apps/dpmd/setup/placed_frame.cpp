#include "apps/dpmd/setup/placed_frame.hpp"

#include <span>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/forces/evaluation_memory.hpp"

namespace quintet::dpmd {

namespace {
DomainOptions without_motion(double cutoff) {
  DomainOptions options;
  options.cutoff = cutoff;
  options.skin = 1e-3;  // (angstrom) no motion to allow for
  return options;
}
}  // namespace

PlacedFrame::PlacedFrame(const Comm& comm, const Configuration& frame, double cutoff)
    : domain(comm, without_motion(cutoff), frame.box), atoms(domain.distribute(frame)) {
  domain.rebuild(Exec(), atoms);
}

Energetics PlacedFrame::compute(ForceField& field, const ByAtom& by_atom) {
  const Exec exec;
  require_evaluation_memory(domain.comm(), field, exec, atoms, domain.list());
  Energetics total = field.compute(exec, atoms, domain.list(), by_atom);
  domain.return_forces(exec, atoms);
  if (domain.comm().any(by_atom.virial.extent(0) > 0))
    domain.return_rows(exec, atoms, by_atom.virial.data(), 9);
  total.energy = domain.comm().sum(total.energy);
  domain.comm().reduce(std::span<double>(total.virial), Comm::Reduction::sum);
  return total;
}

std::vector<Vec3> PlacedFrame::forces() const {
  QUINTET_ASSERT(atoms.n_local == atoms.n_global, "{} of {} are here", atoms.n_local,
                 counted(atoms.n_global, "atom"));
  std::vector<Vec3> forces(atoms.n_local);
  for (int i = 0; i < atoms.n_local; ++i)
    forces[atoms.id(i) - 1] = {atoms.force(i, 0), atoms.force(i, 1), atoms.force(i, 2)};
  return forces;
}

}  // namespace quintet::dpmd
