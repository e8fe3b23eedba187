#include "surrogates/potential/model/repulsion/repulsion.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "physics/particles/dynamics/dynamics_kernels.hpp"
#include "surrogates/potential/model/repulsion/repulsion_kernels.hpp"

namespace quintet::potential {

namespace {

/// Add the repulsion of the local atoms to `force` and to what `by_atom` asks for; returns its energy and
/// virial.
///
/// The list is full, so that an atom finds all its pairs itself: the whole force of a pair, half of its
/// energy and virial, nothing for ghosts. Reads the list and 24 bytes a neighbour.
std::array<double, 10> add_repulsion(const Exec& exec, const Vectors& position, const Array<int>& type,
                                     const NeighbourList& list, const Array<NuclearPair>& pairs, int n_types,
                                     double outer, int n_local, const Vectors& force, const ByAtom& by_atom) {
  const Array<double> atom_energy = by_atom.energy;
  const Tensors atom_virial = by_atom.virial;
  const bool energies = atom_energy.extent(0) > 0, virials = atom_virial.extent(0) > 0;
  return blocked_sum<10>(exec, "potential::repulsion", n_local, [=](int i, std::array<double, 10>& sum) {
    const NuclearPair* const of_i = pairs.data() + type(i) * n_types;
    double own = 0;
    for (std::size_t c = list.offset(i); c < list.offset(i + 1); ++c) {
      const int j = list.neighbour(c);
      const double d[3] = {position(j, 0) - position(i, 0), position(j, 1) - position(i, 1),
                           position(j, 2) - position(i, 2)};
      const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (r2 >= outer * outer) continue;
      const double r = std::sqrt(r2);
      const Radial v = switched_repulsion(of_i[type(j)], r);
      own += 0.5 * v.value;
      for (int k = 0; k < 3; ++k) {
        force(i, k) += v.slope * d[k] / r;  // -dV/dx_i = V' d/r, d from i to j
        for (int l = 0; l < 3; ++l) {
          const double w = -0.5 * v.slope * d[k] * d[l] / r;
          sum[1 + 3 * k + l] += w;
          if (virials) atom_virial(i, 3 * k + l) += w;
        }
      }
    }
    sum[0] += own;
    if (energies) atom_energy(i) += own;
  });
}

}  // namespace

Repulsion::Repulsion(std::unique_ptr<ForceField> model, const RepulsionOptions& options)
    : model_(std::move(model)), options_(options) {
  const auto pairs = nuclear_pairs(model_->type_names(), model_->cutoff(), options);
  pairs_ = Array<NuclearPair>("potential::nuclear_pairs", pairs.size());
  std::copy(pairs.begin(), pairs.end(), pairs_.data());
}

std::string Repulsion::description() const { return model_->description() + "; " + in_words(options_); }

Energetics Repulsion::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                              const ByAtom& by_atom) {
  Energetics total = model_->compute(exec, atoms, list, by_atom);
  const auto added = add_repulsion(exec, atoms.position, atoms.type, list, pairs_, type_names().size(),
                                   options_.outer, atoms.n_local, atoms.force, by_atom);
  total.energy += added[0];
  for (int k = 0; k < 9; ++k) total.virial[k] += added[1 + k];
  return total;
}

}  // namespace quintet::potential
