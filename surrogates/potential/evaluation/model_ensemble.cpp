#include "surrogates/potential/evaluation/model_ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "io/parallel/comm.hpp"

namespace quintet::potential {

namespace {

void copy_rows(const Exec& exec, const Vectors& from, int n, const Vectors& to) {
  Kokkos::parallel_for(
      "potential::copy_forces", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(int i) {
        for (int k = 0; k < 3; ++k) to(i, k) = from(i, k);
      });
}

/// Largest, least and mean over the atoms of all ranks. Collective.
std::array<double, 3> over_atoms(const Comm& comm, const Array<double>& values, int n,
                                 std::int64_t n_global) {
  double most = 0, least = std::numeric_limits<double>::infinity(), sum = 0;
  for (int i = 0; i < n; ++i) {
    most = std::max(most, values(i));
    least = std::min(least, values(i));
    sum += values(i);
  }
  if (!std::isfinite(sum)) most = std::numeric_limits<double>::infinity();  // maxima pass NaN over
  return {comm.maximum(most), comm.minimum(least), comm.sum(sum) / n_global};
}

}  // namespace

ModelEnsemble::ModelEnsemble(std::vector<std::unique_ptr<ForceField>> companions,
                             const DeviationMeasure& measure)
    : companions_(std::move(companions)), measure_(measure) {
  forces_.resize(n_models());
  virials_.resize(n_models());
  energies_.resize(n_models());
}

void ModelEnsemble::reserve(const Atoms& atoms) {
  const auto n = static_cast<std::size_t>(atoms.n_local);
  if (by_atom_.extent(0) >= n && by_atom_.extent(0) > 0) return;
  const std::size_t room = n + n / 8 + 1;
  by_atom_ = make_view<Array<double>>("potential::deviation", room);
  for (auto& force : forces_) force = make_view<Vectors>("potential::model_forces", room);
}

void ModelEnsemble::evaluate(const Exec& exec, Atoms& atoms, const Domain& domain, const Energetics& total) {
  copy_rows(exec, atoms.force, atoms.n_local, forces_[0]);
  virials_[0] = total.virial;
  energies_[0] = total.energy;
  for (std::size_t m = 1; m < n_models(); ++m) {
    Energetics part = companions_[m - 1]->compute(exec, atoms, domain.list());
    domain.return_forces(exec, atoms);
    copy_rows(exec, atoms.force, atoms.n_local, forces_[m]);
    exec.fence();
    domain.comm().reduce(std::span<double>(part.virial), Comm::Reduction::sum);
    virials_[m] = part.virial;
    energies_[m] = domain.comm().sum(part.energy);
  }
  copy_rows(exec, forces_[0], atoms.n_local, atoms.force);
}

Deviation ModelEnsemble::measure(const Exec& exec, Atoms& atoms, const Domain& domain,
                                 const Energetics& total) {
  reserve(atoms);
  evaluate(exec, atoms, domain, total);
  force_deviation(exec, forces_, atoms.n_local, measure_.relative_force, by_atom_);
  exec.fence();
  const auto n_atoms = static_cast<double>(atoms.n_global);
  const auto force = over_atoms(domain.comm(), by_atom_, atoms.n_local, atoms.n_global);
  const auto virial = virial_deviation(virials_, n_atoms, measure_.relative_virial);
  return {virial[0],
          virial[1],
          virial[2],
          force[0],
          force[1],
          force[2],
          spread_over_models(energies_).deviation / n_atoms};
}

}  // namespace quintet::potential
