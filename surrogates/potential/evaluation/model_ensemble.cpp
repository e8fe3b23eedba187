#include "surrogates/potential/evaluation/model_ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/forces/evaluation_memory.hpp"

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

/// Potentials that find the same neighbours, and what they gave last.
class SharedPass {
 public:
  void add(std::unique_ptr<DeepPotential> potential) {
    all_.push_back(potential.get());
    potentials_.push_back(std::move(potential));
    forces_.emplace_back();
  }
  [[nodiscard]] const DeepPotential& potential(std::size_t m) const { return *potentials_[m]; }

  Energetics compute(std::size_t m, const Exec& exec, Atoms& atoms, const NeighbourList& list) {
    QUINTET_ASSERT(m == 0 || m == next_, "potentials of one pass are computed in their order");
    next_ = 0;
    if (m == 0) evaluate(exec, atoms, list);
    next_ = m + 1;
    std::copy_n(forces_[m].data(), 3 * std::int64_t{atoms.n_all()}, atoms.force.data());
    return totals_[m];
  }

 private:
  void evaluate(const Exec& exec, const Atoms& atoms, const NeighbourList& list) {
    const int n = atoms.n_all();
    if (forces_.front().extent(0) < static_cast<std::size_t>(n) || n == 0)
      for (auto& force : forces_) force = make_view<Vectors>("potential::shared_forces", n + n / 8 + 1);
    totals_ = DeepPotential::compute_together(all_, exec, atoms, list, forces_);
  }

  std::vector<std::unique_ptr<DeepPotential>> potentials_;
  std::vector<DeepPotential*> all_;
  std::vector<Vectors> forces_;  ///< of each
  std::vector<Energetics> totals_;
  std::size_t next_ = 0;
};

class PotentialOfPass final : public ForceField {
 public:
  PotentialOfPass(std::shared_ptr<SharedPass> pass, std::size_t place)
      : pass_(std::move(pass)), place_(place) {}
  [[nodiscard]] double cutoff() const override { return pass_->potential(place_).cutoff(); }
  [[nodiscard]] const std::vector<std::string>& type_names() const override {
    return pass_->potential(place_).type_names();
  }
  [[nodiscard]] std::string description() const override { return pass_->potential(place_).description(); }
  [[nodiscard]] int n_atom_parameters() const override {
    return pass_->potential(place_).n_atom_parameters();
  }
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override {
    QUINTET_ASSERT(by_atom.energy.extent(0) == 0 && by_atom.virial.extent(0) == 0,
                   "a shared pass tells nothing by atom");
    return pass_->compute(place_, exec, atoms, list);
  }

 private:
  std::shared_ptr<SharedPass> pass_;
  std::size_t place_;
};

}  // namespace

ModelEnsemble::ModelEnsemble(std::vector<std::unique_ptr<ForceField>> companions,
                             const DeviationMeasure& measure)
    : companions_(std::move(companions)), measure_(measure) {
  forces_.resize(n_models());
  virials_.resize(n_models());
  energies_.resize(n_models());
}

DomainOptions ModelEnsemble::widened(DomainOptions domain) const {
  double rows = domain.list_cutoff.value_or(domain.cutoff);
  for (const auto& field : companions_) {
    domain.cutoff = std::max(domain.cutoff, field->cutoff());
    if (field->needs_list()) rows = std::max(rows, field->list_cutoff());
  }
  domain.list_cutoff = rows < domain.cutoff ? std::optional(rows) : std::nullopt;
  domain.rows = true;  // the cores evaluate them, by rows of the host's
  return domain;
}

void ModelEnsemble::reserve(const Atoms& atoms) {
  const std::size_t n = atoms.n_local;
  if (by_atom_.extent(0) >= n && by_atom_.extent(0) > 0) return;
  const std::size_t room = n + n / 8 + 1;
  by_atom_ = make_view<Array<double>>("potential::deviation", room);
  for (auto& force : forces_) force = make_view<Vectors>("potential::model_forces", room);
}

void ModelEnsemble::require_memory(const Exec& exec, const Atoms& atoms, const Domain& domain) {
  for (const auto& field : companions_)
    require_evaluation_memory(domain.comm(), *field, exec, atoms, domain.list());
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
  require_memory(exec, atoms, domain);
  evaluate(exec, atoms, domain, total);
  force_deviation(exec, forces_, atoms.n_local, measure_.relative_force, by_atom_);
  exec.fence();
  const double n_atoms = atoms.n_global;
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

std::vector<std::unique_ptr<ForceField>> with_shared_neighbours(
    std::vector<std::unique_ptr<DeepPotential>> potentials) {
  std::vector<std::unique_ptr<ForceField>> fields(potentials.size());
  for (std::size_t i = 0; i < potentials.size(); ++i) {
    if (!potentials[i]) continue;
    std::vector<std::size_t> alike{i};
    for (std::size_t j = i + 1; j < potentials.size(); ++j)
      if (potentials[j] && potentials[j]->finds_neighbours_of(*potentials[i])) alike.push_back(j);
    if (alike.size() == 1) {
      fields[i] = std::move(potentials[i]);
      continue;
    }
    auto pass = std::make_shared<SharedPass>();
    for (std::size_t place = 0; place < alike.size(); ++place) {
      pass->add(std::move(potentials[alike[place]]));
      fields[alike[place]] = std::make_unique<PotentialOfPass>(pass, place);
    }
  }
  return fields;
}

}  // namespace quintet::potential
