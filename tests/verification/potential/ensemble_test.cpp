#include "surrogates/potential/evaluation/model_ensemble.hpp"

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

std::unique_ptr<ForceField> model(const char* name) {
  const std::string path = source("tests/data/deep_potential/" + std::string(name) + ".dp");
  return std::make_unique<DeepPotential>(read_dp(path), DeepPotentialOptions{});
}

/// A configuration with the driving model's forces, as a run holds it.
struct Driven {
  explicit Driven(ForceField& field, const Configuration& configuration) {
    DomainOptions options;
    options.cutoff = field.cutoff();
    options.skin = 0.5;
    domain = std::make_unique<Domain>(Comm::world(), options, configuration.box);
    atoms = domain->distribute(configuration);
    domain->rebuild(exec, atoms);
    total = field.compute(exec, atoms, domain->list());
    domain->return_forces(exec, atoms);
    total.energy = Comm::world().sum(total.energy);
    Comm::world().reduce(std::span<double>(total.virial), Comm::Reduction::sum);
  }
  Exec exec;
  std::unique_ptr<Domain> domain;
  Atoms atoms;
  Energetics total;
};

ModelEnsemble ensemble_of(const std::vector<const char*>& names) {
  std::vector<std::unique_ptr<ForceField>> companions;
  for (const auto* name : names) companions.push_back(model(name));
  return {std::move(companions), {}};
}

TEST(ModelEnsemble, deviation_is_that_of_separate_evaluations) {
  const auto configuration = model_cases().front().reference.configuration;
  const std::vector<const char*> names{"oneside", "twoside", "gelu"};
  std::vector<Evaluated> alone;
  for (const auto* name : names) alone.push_back(evaluate(Comm::self(), *model(name), configuration));
  double worst = 0, sum = 0, e_mean = 0, e_square = 0;
  const std::size_t n = configuration.n_atoms();
  for (std::size_t i = 0; i < n; ++i) {
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      double mean = 0;
      for (const auto& one : alone) mean += one.force[3 * i + k] / 3;
      for (const auto& one : alone) square += std::pow(one.force[3 * i + k] - mean, 2) / 3;
    }
    worst = std::max(worst, std::sqrt(square));
    sum += std::sqrt(square);
  }
  for (const auto& one : alone) e_mean += one.energy / 3;
  for (const auto& one : alone) e_square += std::pow(one.energy - e_mean, 2) / 3;

  auto driver = model(names[0]);
  Driven driven(*driver, configuration);
  auto ensemble = ensemble_of({names[1], names[2]});
  const Deviation found = ensemble.measure(driven.exec, driven.atoms, *driven.domain, driven.total);

  EXPECT_GT(worst, 1e-3);
  EXPECT_NEAR(found.max_force, worst, 1e-10 * worst);
  EXPECT_NEAR(found.mean_force, sum / n, 1e-10 * worst);
  EXPECT_LT(found.min_force, found.mean_force);
  EXPECT_NEAR(found.energy, std::sqrt(e_square) / n, 1e-9);
}

TEST(ModelEnsemble, leaves_the_drivers_forces_as_they_were) {
  const auto configuration = model_cases().front().reference.configuration;
  auto driver = model("oneside");
  Driven driven(*driver, configuration);
  const int n = driven.atoms.n_all();
  std::vector<double> before(driven.atoms.force.data(), driven.atoms.force.data() + 3 * n);
  auto ensemble = ensemble_of({"twoside"});
  (void)ensemble.measure(driven.exec, driven.atoms, *driven.domain, driven.total);

  EXPECT_EQ(before, std::vector<double>(driven.atoms.force.data(), driven.atoms.force.data() + 3 * n));
}

TEST(ModelEnsemble, of_equal_models_agrees_to_round_off) {
  const auto configuration = model_cases().front().reference.configuration;
  auto driver = model("oneside");
  Driven driven(*driver, configuration);
  auto ensemble = ensemble_of({"oneside", "oneside"});
  const Deviation found = ensemble.measure(driven.exec, driven.atoms, *driven.domain, driven.total);

  EXPECT_LE(found.max_force, 1e-12);
  EXPECT_LE(found.max_virial, 1e-12);
  EXPECT_LE(found.energy, 1e-12);
}

}  // namespace
}  // namespace quintet::potential
