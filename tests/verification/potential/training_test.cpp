#include <random>

#include <gtest/gtest.h>

#include "surrogates/potential/training/trainer.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

bool is_float(const ModelCase& item) { return item.name == "float32"; }

/// The case's configuration with labels: the model's own values, or those moved by random amounts.
Configuration labelled(const ModelCase& item, double energy_off, double force_off, unsigned seed = 5) {
  const auto values = evaluate(Comm::self(), field_of(item), item.reference.configuration);
  auto configuration = item.reference.configuration;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  configuration.energy = values.energy + energy_off;
  configuration.virial = values.virial;
  for (double& v : *configuration.virial) v += force_off * uniform(random);
  configuration.forces.clear();
  for (std::size_t i = 0; i < configuration.n_atoms(); ++i)
    configuration.forces.push_back({values.force[3 * i] + force_off * uniform(random),
                                    values.force[3 * i + 1] + force_off * uniform(random),
                                    values.force[3 * i + 2] + force_off * uniform(random)});
  return configuration;
}

constexpr LossPrefactors prefactors{0.7, 1.3, 0.4};

double loss(Trainer& trainer, const TrainingFrame& frame) {
  const TrainingFrame* one[] = {&frame};
  return trainer.evaluate(one, prefactors).loss;
}

TEST(Trainer, predicts_what_the_force_field_predicts) {
  for (const auto& item : model_cases()) {
    const Model model = read_dp(item.model);
    const auto trainer = Trainer::create(model, SelRule::per_type);
    const TrainingFrame frame = make_frame(labelled(item, 0, 0), model.rcut);
    const TrainingFrame* one[] = {&frame};
    const auto deviations = trainer->evaluate(one, prefactors);
    // Polynomials follow kinks (relu6) less closely than smooth functions; tables are not the networks
    // themselves.
    const double tolerance = is_float(item) ? 2e-4 : item.name == "relu6_linear" ? 2e-5 : 2e-9;
    EXPECT_LT(deviations.rmse_energy(), tolerance) << item.name;
    EXPECT_LT(deviations.rmse_force(), tolerance) << item.name;
    EXPECT_LT(deviations.rmse_virial(), tolerance) << item.name;
    EXPECT_EQ(deviations.with_virial, 1);
  }
}

TEST(Trainer, loss_is_what_its_definition_says) {
  const auto item = model_cases().front();
  const Model model = read_dp(item.model);
  const auto trainer = Trainer::create(model, SelRule::per_type);
  const auto configuration = labelled(item, 0.3, 0);
  const TrainingFrame frame = make_frame(configuration, model.rcut);
  const double n = static_cast<double>(configuration.n_atoms());
  EXPECT_NEAR(loss(*trainer, frame), prefactors.energy * 0.3 * 0.3 / n, 1e-9);
  const TrainingFrame* one[] = {&frame};
  LossPrefactors intensive = prefactors;
  intensive.intensive = true;
  EXPECT_NEAR(trainer->evaluate(one, intensive).loss, prefactors.energy * 0.3 * 0.3 / n / n, 1e-9);
}

/// Every parameter of a block in turn would take minutes for all models: random directions see all of them.
TEST(Trainer, gradient_is_the_derivative_of_the_loss_along_random_directions) {
  for (const auto& item : model_cases()) {
    if (is_float(item)) continue;
    const Model model = read_dp(item.model);
    const auto trainer = Trainer::create(model, SelRule::per_type);
    const TrainingFrame frame = make_frame(labelled(item, 0.8, 0.3), model.rcut);
    const TrainingFrame* one[] = {&frame};
    trainer->gradient(one, prefactors, 1);
    const auto gradient = trainer->gradient_values();
    const auto start = trainer->parameters();
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    for (int direction = 0; direction < 6; ++direction) {
      std::vector<double> along(start.size());
      double slope = 0;
      for (std::size_t i = 0; i < along.size(); ++i) {
        along[i] = normal(random);
        slope += along[i] * gradient[i];
      }
      const double h = 1e-6;
      double side[2];
      for (const int s : {0, 1}) {
        auto moved = start;
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += (s == 0 ? -h : h) * along[i];
        trainer->set_parameters(moved);
        side[s] = loss(*trainer, frame);
      }
      const double difference = (side[1] - side[0]) / (2 * h);
      EXPECT_NEAR(slope, difference, 2e-6 * std::abs(difference) + 2e-7) << item.name;
    }
  }
}

TEST(Trainer, gradient_is_the_derivative_of_the_loss_for_every_parameter) {
  for (const auto& item : model_cases()) {
    if (item.name != "oneside" && item.name != "idt_protection_outstd") continue;
    const Model model = read_dp(item.model);
    const auto trainer = Trainer::create(model, SelRule::per_type);
    const TrainingFrame frame = make_frame(labelled(item, 0.8, 0.3), model.rcut);
    const TrainingFrame* one[] = {&frame};
    trainer->gradient(one, prefactors, 1);
    const auto gradient = trainer->gradient_values();
    const double scale = largest(gradient);
    auto values = trainer->parameters();
    const std::size_t step = Comm::world().size();  // the ranks share the parameters out
    for (std::size_t i = Comm::world().rank(); i < values.size(); i += step) {
      const double h = 2e-5, kept = values[i];
      double side[2];
      for (const int s : {0, 1}) {
        values[i] = kept + (s == 0 ? -h : h);
        trainer->set_parameters(values);
        side[s] = loss(*trainer, frame);
      }
      values[i] = kept;
      ASSERT_NEAR(gradient[i], (side[1] - side[0]) / (2 * h), 1e-6 * scale)
          << item.name << ", parameter " << i;
    }
  }
}

TEST(Trainer, single_precision_has_the_same_gradient) {
  for (auto& item : model_cases()) {
    if (item.name != "float32") continue;
    Model model = read_dp(item.model);
    const TrainingFrame frame = make_frame(labelled(item, 0.8, 0.3), model.rcut);
    const TrainingFrame* one[] = {&frame};
    const auto single = Trainer::create(model, SelRule::per_type);
    model.single_precision = false;
    const auto twice = Trainer::create(model, SelRule::per_type);
    single->gradient(one, prefactors, 1);
    twice->gradient(one, prefactors, 1);
    const auto expected = twice->gradient_values();
    EXPECT_LT(largest_difference(single->gradient_values(), expected), 1e-4 * largest(expected));
  }
}

TEST(Trainer, frames_shared_out_over_ranks_give_the_gradient_of_all) {
  const auto item = model_cases()[1];
  const Model model = read_dp(item.model);
  std::vector<TrainingFrame> frames;
  for (unsigned seed = 1; seed <= 4; ++seed)
    frames.push_back(make_frame(labelled(item, 0.1 * seed, 0.2, seed), model.rcut));
  std::vector<const TrainingFrame*> all, own;
  const Comm comm = Comm::world();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    all.push_back(&frames[i]);
    if (static_cast<int>(i) % comm.size() == comm.rank()) own.push_back(&frames[i]);
  }
  const auto alone = Trainer::create(model, SelRule::per_type),
             shared = Trainer::create(model, SelRule::per_type, {}, comm);
  const auto whole = alone->gradient(all, prefactors, 4);
  const auto part = sum(comm, shared->gradient(own, prefactors, 4));
  EXPECT_NEAR(part.loss, whole.loss, 1e-11 * whole.loss);
  EXPECT_EQ(part.frames, whole.frames);
  const auto expected = alone->gradient_values();
  EXPECT_LT(largest_difference(shared->gradient_values(), expected), 1e-11 * largest(expected));
  alone->update(1e-3);
  shared->update(1e-3);
  EXPECT_LT(largest_difference(shared->parameters(), alone->parameters()), 1e-6);
}

TEST(Trainer, atoms_shared_out_over_ranks_give_the_gradient_of_all) {
  for (const auto& item : model_cases()) {
    if (item.name != "twoside" && item.name != "atom_exclude" && item.name != "copper") continue;
    const Model model = read_dp(item.model);
    const TrainingFrame frame = make_frame(labelled(item, 0.5, 0.2), model.rcut);
    const TrainingFrame* one[] = {&frame};
    const Comm comm = Comm::world();
    const auto alone = Trainer::create(model, SelRule::per_type),
               shared = Trainer::create(model, SelRule::per_type, {}, comm);
    const auto whole = alone->gradient(one, prefactors, 1);
    const auto part = sum(comm, shared->gradient(one, prefactors, 1, Sharing::atoms));
    EXPECT_EQ(part.frames, 1);
    EXPECT_NEAR(part.loss, whole.loss, 1e-11 * whole.loss) << item.name;
    const auto expected = alone->gradient_values();
    EXPECT_LT(largest_difference(shared->gradient_values(), expected), 1e-11 * largest(expected))
        << item.name;
  }
}

TEST(Trainer, learns_the_labels_of_a_frame) {
  const auto item = model_cases().front();
  const Model model = read_dp(item.model);
  const auto trainer = Trainer::create(model, SelRule::per_type);
  const TrainingFrame frame = make_frame(labelled(item, 0.5, 0.05), model.rcut);
  const TrainingFrame* one[] = {&frame};
  const double before = loss(*trainer, frame);
  for (int step = 0; step < 300; ++step) {
    trainer->gradient(one, prefactors, 1);
    trainer->update(1e-3);
  }
  EXPECT_LT(loss(*trainer, frame), 0.3 * before);
}

}  // namespace
}  // namespace quintet::potential
