#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "tests/support/deep_potential_case.hpp"
#include "tests/support/kept.hpp"

/// The project's models with a configuration each: the small variants of tests/data and copper.
struct ModelCase {
  std::string name, model;
  DeepPotentialCase reference;
  std::vector<double> frame_parameters{};
};

inline std::string source(const std::string& path) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/" + path;
}

inline DeepPotentialCase case_named(const std::string& path, const std::vector<std::string>& types,
                                    const std::string& name) {
  for (auto& item : read_cases(path, types))
    if (item.name.find(name) != std::string::npos) return item;
  throw std::runtime_error(path + " has no case " + name);
}

inline std::vector<ModelCase> model_cases(const std::string& configuration = "triclinic") {
  std::vector<ModelCase> cases;
  for (const char* name : {"oneside", "twoside", "gelu", "sigmoid_softplus", "silu_relu", "relu6_linear",
                           "equalwidth_noresnetdt", "idt_protection_outstd", "exclude_types", "pair_exclude",
                           "atom_exclude", "oneside_compressed", "twoside_compressed", "float32"}) {
    const std::string model = source("tests/data/deep_potential/" + std::string(name));
    cases.push_back({name, model + ".dp", case_named(model + ".ref.json", {"O", "H"}, configuration)});
  }
  const std::string copper = source("inputs/dpmd/copper/");
  cases.push_back(
      {"copper", copper + "copper.dp", read_cases(copper + "peer_reference.json", {"Cu"}).front()});
  return cases;
}

/// Those, which all have the descriptor se_e2_a, and models with others, hybrids, parameters of frames and of
/// atoms.
inline std::vector<ModelCase> all_model_cases(const std::string& configuration = "triclinic") {
  auto cases = model_cases(configuration);
  for (const char* name : {"se_e2_r",
                           "dpa1_concat",
                           "dpa1_concat_exclude",
                           "dpa1_strip",
                           "dpa1_strip_davg",
                           "dpa1_strip_exclude",
                           "dpa1_strip_oneside_rough",
                           "dpa1_ten_types",
                           "hybrid",
                           "hybrid_mixed",
                           "frame_parameters",
                           "dpa1_atom_energy",
                           "se_e3",
                           "se_e3_three_types",
                           "se_e3_exclude",
                           "hybrid_triplets",
                           "dpa1_strip_compressed",
                           "dpa1_strip_oneside_rough_compressed",
                           "se_e2_r_compressed",
                           "atom_parameters",
                           "dpa1_atom_parameters",
                           "hybrid_atom_parameters"}) {
    const std::string model = source("tests/data/deep_potential/" + std::string(name));
    const auto types = quintet::potential::read_dp(model + ".dp").type_names;
    cases.push_back({name, model + ".dp", case_named(model + ".ref.json", types, configuration),
                     numbers(quintet::read_yaml(model + ".ref.json").find("frame_parameters"))});
  }
  return cases;
}

/// Options that evaluate a case.
inline quintet::potential::DeepPotentialOptions options_of(
    const ModelCase& item, quintet::potential::Precision precision = quintet::potential::Precision::model,
    quintet::potential::Compression compression = quintet::potential::Compression::automatic) {
  return {precision, compression, quintet::potential::SelRule::per_type, item.frame_parameters};
}

/// The force field of a model as the file says it, made once.
inline quintet::potential::DeepPotential& field_of(const ModelCase& item) {
  using quintet::potential::DeepPotential;
  return Kept<DeepPotential>::get(item.model, [&] {
    return std::make_unique<DeepPotential>(quintet::potential::read_dp(item.model), options_of(item));
  });
}

/// The configuration with two pairs brought to 0.52 and 0.8 angstrom: where the repulsion of nuclei is whole
/// and where it is switched off.
inline quintet::Configuration crowded(quintet::Configuration configuration) {
  auto& x = configuration.positions;
  for (int k = 0; k < 3; ++k) {
    x[1][k] = x[0][k] + 0.3;
    x[3][k] = x[2][k] - (k == 2 ? 0.8 : 0);
  }
  return configuration;
}

/// The configuration under a strain_kl: x_k += strain x_l, component = 3k + l.
inline quintet::Configuration strained(const quintet::Configuration& start, int component, double strain) {
  quintet::Mat3 deformation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  deformation[3 * (component % 3) + component / 3] += strain;
  auto result = start;
  result.box = start.box.deformed(deformation);
  for (std::size_t i = 0; i < start.n_atoms(); ++i)
    result.positions[i] = result.box.to_cartesian(start.box.to_fractional(start.positions[i]));
  return result;
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

/// Virials by atom [N, 9] in the order of the configuration, with the ghosts' folded home; on all ranks.
inline std::vector<double> atom_virials(const quintet::Comm& comm, quintet::ForceField& field,
                                        const quintet::Configuration& configuration) {
  using namespace quintet;
  Domain domain(comm, {field.cutoff(), 0.5, {0, 0, 0}}, configuration.box);
  Atoms atoms = domain.distribute(configuration);
  const Exec exec;
  domain.rebuild(exec, atoms);
  const Tensors virials("virials", atoms.n_all());
  Kokkos::deep_copy(virials, 7.0);  // to be overwritten
  (void)field.compute(exec, atoms, domain.list(), {{}, virials});
  domain.return_rows(exec, atoms, virials.data(), 9);
  std::vector<double> all(9 * configuration.n_atoms(), 0.0);
  for (int i = 0; i < atoms.n_local; ++i)
    for (int k = 0; k < 9; ++k) all[9 * (static_cast<std::size_t>(atoms.id(i)) - 1) + k] = virials(i, k);
  comm.reduce(std::span<double>(all), Comm::Reduction::sum);
  return all;
}
