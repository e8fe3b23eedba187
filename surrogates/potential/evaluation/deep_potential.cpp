#include "surrogates/potential/evaluation/deep_potential.hpp"

#include "surrogates/potential/evaluation/engine.hpp"

namespace quintet::potential {

DeepPotential::DeepPotential(Model model, const DeepPotentialOptions& options) {
  const bool single = options.precision == Precision::mixed || options.precision == Precision::bf16 ||
                      (options.precision == Precision::model && model.single_precision);
  model = with_frame_parameters(std::move(model), options.frame_parameters);
  model = with_atom_parameters(std::move(model), options.atom_parameters);
  if (single)
    engine_ = std::make_unique<TypedEngine<float>>(std::move(model), options);
  else
    engine_ = std::make_unique<TypedEngine<double>>(std::move(model), options);
}

DeepPotential::~DeepPotential() = default;

double DeepPotential::cutoff() const { return engine_->model.cutoff(); }
const std::vector<std::string>& DeepPotential::type_names() const { return engine_->model.type_names; }
std::string DeepPotential::description() const { return engine_->description(); }
int DeepPotential::n_atom_parameters() const { return engine_->model.atom_parameters.count(); }
const Model& DeepPotential::model() const { return engine_->model; }

bool DeepPotential::rounds() const { return engine_->rounds(); }
std::vector<double> DeepPotential::sum_descriptors(const Exec& exec, const Atoms& atoms,
                                                   const NeighbourList& list) {
  return engine_->sum_descriptors(exec, atoms, list);
}
void DeepPotential::round_about(std::span<const double> descriptors) { engine_->round_about(descriptors); }

Energetics DeepPotential::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                                  const ByAtom& by_atom) {
  return engine_->compute(exec, atoms, list, by_atom);
}

bool DeepPotential::finds_neighbours_of(const DeepPotential& other) const {
  return type_names() == other.type_names() && engine_->finds_neighbours_of(*other.engine_);
}

std::vector<Energetics> DeepPotential::compute_together(std::span<DeepPotential* const> potentials,
                                                        const Exec& exec, const Atoms& atoms,
                                                        const NeighbourList& list,
                                                        std::span<const Vectors> forces) {
  std::vector<Engine*> engines;
  for (const auto* potential : potentials) engines.push_back(potential->engine_.get());
  return engines.front()->compute_together(engines, exec, atoms, list, forces);
}

}  // namespace quintet::potential
