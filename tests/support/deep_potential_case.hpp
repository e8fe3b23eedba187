#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "io/config/tree.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/domain/domain.hpp"
#include "physics/particles/forces/force_field.hpp"

/// A configuration with the energies another program found for it (a case of a `.ref.json` file).
struct DeepPotentialCase {
  std::string name;
  quintet::Configuration configuration;
  double energy = 0;
  std::vector<double> force, virial,
      atom_energy;  ///< [3 N] (eV/angstrom), [9] (eV), [N] (eV); empty if not given
};

inline std::vector<double> numbers(const quintet::Tree* list) {
  std::vector<double> values;
  if (list && list->is_list())
    for (const auto& item : list->items()) values.push_back(item.as_number());
  return values;
}

inline std::vector<DeepPotentialCase> read_cases(const std::string& path,
                                                 const std::vector<std::string>& type_names) {
  std::vector<DeepPotentialCase> cases;
  const quintet::Tree document = quintet::read_yaml(path);
  for (const auto& tree : (document.has("cases") ? document.at("cases") : document).items()) {
    DeepPotentialCase item;
    item.name = tree.at("name").as_text();
    item.energy = tree.at("energy").as_number();
    item.force = numbers(tree.find("force"));
    item.virial = numbers(tree.find("virial"));
    item.atom_energy = numbers(tree.find("atom_energy"));
    auto& configuration = item.configuration;
    configuration.type_names = type_names;
    for (double t : numbers(tree.find("type"))) configuration.types.push_back(t);
    const auto coord = numbers(tree.find("coord"));
    for (std::size_t i = 0; i + 2 < coord.size(); i += 3)
      configuration.positions.push_back({coord[i], coord[i + 1], coord[i + 2]});
    configuration.parameters = numbers(tree.find("atom_parameters"));
    const auto box = numbers(tree.find("box"));
    quintet::Mat3 rows{50, 0, 0, 0, 50, 0, 0, 0, 50};
    if (box.size() == 9) std::copy(box.begin(), box.end(), rows.begin());
    const bool periodic = box.size() == 9;
    configuration.box = quintet::Box(rows, {periodic, periodic, periodic});
    cases.push_back(std::move(item));
  }
  return cases;
}

/// Energies of a configuration, gathered from all ranks, in the order of its atoms.
struct Evaluated {
  double energy = 0;
  quintet::Mat3 virial{};
  std::vector<double> force, atom_energy;
  std::string warning;
};

inline Evaluated evaluate(const quintet::Comm& comm, quintet::ForceField& field,
                          const quintet::Configuration& configuration, double skin = 0.5) {
  using namespace quintet;
  DomainOptions options;
  options.cutoff = field.cutoff();
  if (field.list_cutoff() < field.cutoff()) options.list_cutoff = field.list_cutoff();
  options.skin = skin;
  Domain domain(comm, options, configuration.box);
  Atoms atoms = domain.distribute(configuration);
  const Exec exec;
  domain.rebuild(exec, atoms);
  Array<double> atom_energy("atom_energy", atoms.n_local);
  const Energetics part = field.compute(exec, atoms, domain.list(), atom_energy);
  domain.return_forces(exec, atoms);

  Evaluated result;
  result.energy = comm.sum(part.energy);
  for (int k = 0; k < 9; ++k) result.virial[k] = comm.sum(part.virial[k]);
  result.force.assign(3 * configuration.n_atoms(), 0.0);
  result.atom_energy.assign(configuration.n_atoms(), 0.0);
  for (int i = 0; i < atoms.n_local; ++i) {
    const std::size_t at = static_cast<std::size_t>(atoms.id(i)) - 1;
    result.atom_energy[at] = atom_energy(i);
    for (int k = 0; k < 3; ++k) result.force[3 * at + k] = atoms.force(i, k);
  }
  comm.reduce(std::span<double>(result.force), Comm::Reduction::sum);
  comm.reduce(std::span<double>(result.atom_energy), Comm::Reduction::sum);
  result.warning = part.warning;
  return result;
}
