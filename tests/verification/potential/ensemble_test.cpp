#include "surrogates/potential/evaluation/model_ensemble.hpp"

#include <gtest/gtest.h>

#include "io/log/error.hpp"
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

/// No forces, but arrays of so many bytes.
class Greedy final : public ForceField {
 public:
  Greedy(double bytes, std::vector<std::string> types) : bytes_(bytes), types_(std::move(types)) {}
  using ForceField::compute;
  double cutoff() const override { return 1; }
  const std::vector<std::string>& type_names() const override { return types_; }
  std::string description() const override { return "arrays"; }
  std::optional<double> memory_needed(const Exec&, const Atoms&, const NeighbourList&) override {
    return bytes_;
  }
  Energetics compute(const Exec&, Atoms&, const NeighbourList&, const ByAtom&) override { return {}; }

 private:
  double bytes_;
  std::vector<std::string> types_;
};

TEST(ModelEnsemble, asks_for_the_memory_of_each_model) {
  const auto configuration = model_cases().front().reference.configuration;
  auto driver = model("oneside");
  Driven driven(*driver, configuration);
  for (const double bytes : {1e3, 1e18}) {
    std::vector<std::unique_ptr<ForceField>> companions;
    companions.push_back(model("twoside"));
    companions.push_back(std::make_unique<Greedy>(bytes, driver->type_names()));
    ModelEnsemble ensemble(std::move(companions), {});
    if (bytes < 1e6)
      EXPECT_NO_THROW(ensemble.require_memory(driven.exec, driven.atoms, *driven.domain));
    else
      EXPECT_THROW(ensemble.require_memory(driven.exec, driven.atoms, *driven.domain), ResourceError);
  }
}

/// Weights and biases a little different.
Model retrained(Model model, double change) {
  const auto shift = [&](Network& network) {
    for (auto& layer : network.layers) {
      for (double& w : layer.weight) w *= 1 + change;
      for (double& b : layer.bias) b += change;
    }
  };
  for (auto& network : model.embedding) shift(network);
  for (auto& part : model.further)
    for (auto& network : part.embedding) shift(network);
  for (auto& network : model.fitting) shift(network);
  return model;
}

/// Other means and deviations of the environment matrix, as of other data.
Model renormalised(Model model) {
  for (auto& row : model.mean) row[0] += 0.01;
  for (auto& row : model.deviation) row = {1.1 * row[0], 1.2 * row[1], 1.2 * row[2], 1.2 * row[3]};
  return model;
}

/// A model of other neighbours.
Model reaching_less(Model model) {
  model.rcut *= 0.95;
  return model;
}

struct Result {
  std::vector<double> force, numbers;
  bool operator==(const Result&) const = default;
};

Result result_of(ForceField& field, Driven& driven) {
  const auto total = field.compute(driven.exec, driven.atoms, driven.domain->list());
  driven.exec.fence();
  Result result{{driven.atoms.force.data(), driven.atoms.force.data() + 3 * driven.atoms.n_all()},
                {total.energy, double(total.overflowing), double(total.most_neighbours)}};
  result.numbers.insert(result.numbers.end(), total.virial.begin(), total.virial.end());
  return result;
}

void expect_same_results_when_shared(const ModelCase& item, Precision precision) {
  SCOPED_TRACE(item.name);
  const Model model = read_dp(item.model);
  const std::vector<Model> models{retrained(model, 0.01), reaching_less(model), renormalised(model),
                                  retrained(model, -0.02), retrained(renormalised(model), 0.03)};
  auto& driver = field_of(item);
  Driven driven(driver, item.reference.configuration);
  std::vector<Result> alone;
  std::vector<std::unique_ptr<DeepPotential>> potentials;
  for (const auto& one : models) {
    potentials.push_back(std::make_unique<DeepPotential>(one, options_of(item, precision)));
    alone.push_back(result_of(*potentials.back(), driven));
  }
  EXPECT_TRUE(potentials[2]->finds_neighbours_of(*potentials[0]));
  EXPECT_FALSE(potentials[1]->finds_neighbours_of(*potentials[0]));
  const auto shared = with_shared_neighbours(std::move(potentials));
  for (int round = 0; round < 2; ++round)  // rows change hands, and come back
    for (std::size_t m = 0; m < models.size(); ++m)
      EXPECT_EQ(result_of(*shared[m], driven), alone[m]) << "model " << m << ", round " << round;
}

TEST(SharedNeighbours, change_no_result_in_double) {
  for (const auto& item : all_model_cases()) expect_same_results_when_shared(item, Precision::fp64);
}

TEST(SharedNeighbours, change_no_result_in_mixed_precision) {
  for (const auto& item : all_model_cases()) expect_same_results_when_shared(item, Precision::mixed);
}

TEST(SharedNeighbours, are_not_those_of_another_precision_or_sel) {
  const Model model = read_dp(source("tests/data/deep_potential/oneside.dp"));
  Model roomier = model;
  ++roomier.sel[0];
  const DeepPotential one(model, {}), wide(roomier, {});
  const DeepPotential single(model, {Precision::mixed});

  EXPECT_FALSE(wide.finds_neighbours_of(one));
  EXPECT_FALSE(single.finds_neighbours_of(one));
}

}  // namespace
}  // namespace quintet::potential
