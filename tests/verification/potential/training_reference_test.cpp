#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "io/config/tree.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "surrogates/potential/training/frame.hpp"
#include "surrogates/potential/training/trainer.hpp"
#include "tests/support/deep_potential_case.hpp"
#include "tests/verification/potential/models.hpp"

/// Training against DeePMD-kit's: same initial weights, frames and learning rates, 100 steps in double (data
/// of tests/data/deep_potential/training/make_reference.py).
namespace quintet::potential {
namespace {

/// The recorded steps of one case, the models before and after them, and the frames of the only batch.
struct Recorded {
  Tree reference;
  Model start, end;
  std::vector<TrainingFrame> frames;
};

Recorded recorded(const std::string& name) {
  const std::string folder = source("tests/data/deep_potential/training/"), stem = folder + name;
  Recorded r{read_yaml(stem + ".ref.json"), read_dp(stem + "_start.dp"), read_dp(stem + "_end.dp"), {}};
  ReadOptions options;
  options.all_frames = true;
  for (const auto& configuration : read_configurations(folder + r.reference.at("data").as_text(), options))
    r.frames.push_back(make_frame(configuration, r.start.rcut));
  return r;
}

/// Prefactors at a rate: limit + (start - limit) rate / (rate of step 0), with the roundings of the peer's
/// PyTorch backend, 3e-8 of the loss: prefactors and 1/N are float32 there.
LossPrefactors prefactors(const Tree& options, double fraction, int n_atoms) {
  const auto rounded = [](double value) { return static_cast<double>(static_cast<float>(value)); };
  const auto at = [&](const std::string& term) {
    const double start = options.at("start_pref_" + term).as_number();
    const double limit = options.at("limit_pref_" + term).as_number();
    return rounded(limit + (start - limit) * fraction);
  };
  const double inverse = rounded(1.0 / n_atoms) * n_atoms;
  return {.energy = at("e") * inverse, .force = at("f"), .virial = at("v") * inverse};
}

/// What a step says, as the reference lists it.
struct Step {
  double loss, energy, force, virial;
};

/// Run the recorded schedule, frames dealt out to the ranks in turn; one entry a step.
std::vector<Step> train(Trainer& trainer, const Recorded& r, const Comm& comm) {
  std::vector<const TrainingFrame*> mine;
  for (std::size_t i = 0; i < r.frames.size(); ++i)
    if (static_cast<int>(i) % comm.size() == comm.rank()) mine.push_back(&r.frames[i]);
  const auto rates = numbers(r.reference.find("learning_rate"));
  const double n = r.frames.size(), n_atoms = r.frames.front().n_atoms;
  std::vector<Step> steps;
  for (const double rate : rates) {
    const auto weights =
        prefactors(r.reference.at("loss_options"), rate / rates.front(), r.frames.front().n_atoms);
    const auto all = sum(comm, trainer.gradient(mine, weights, r.frames.size()));
    trainer.update(rate);
    steps.push_back({all.loss / n, all.energy / n * n_atoms * n_atoms, all.force / n,
                     all.virial / n * n_atoms * n_atoms});
  }
  return steps;
}

double largest_difference(const std::vector<Network>& a, const std::vector<Network>& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    for (std::size_t k = 0; k < a[i].layers.size(); ++k) {
      const auto &x = a[i].layers[k], &y = b[i].layers[k];
      for (const auto& [u, v] : {std::pair(&x.weight, &y.weight), std::pair(&x.bias, &y.bias),
                                 std::pair(&x.timestep, &y.timestep)})
        most = std::max(most, ::largest_difference(*u, *v));
    }
  return most;
}

class TrainingReference : public testing::TestWithParam<const char*> {};

TEST_P(TrainingReference, a_hundred_steps_have_the_losses_and_end_at_the_weights_of_the_peer) {
  const Recorded r = recorded(GetParam());
  const auto trainer = Trainer::create(r.start, SelRule::two_stage, {}, Comm::world());
  const auto loss = numbers(r.reference.find("loss")), energy = numbers(r.reference.find("energy"));
  const auto force = numbers(r.reference.find("force")), virial = numbers(r.reference.find("virial"));

  const auto steps = train(*trainer, r, Comm::world());

  ASSERT_EQ(steps.size(), 100u);
  ASSERT_EQ(loss.size(), steps.size());
  double worst = 0;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    worst = std::max(worst, std::abs(steps[t].loss / loss[t] - 1));
    ASSERT_NEAR(steps[t].loss, loss[t], 1e-9 * loss[t]) << "step " << t;
    ASSERT_NEAR(steps[t].energy, energy[t], 1e-9 * energy[t]) << "step " << t;
    ASSERT_NEAR(steps[t].force, force[t], 1e-9 * force[t]) << "step " << t;
    if (!virial.empty()) {
      ASSERT_NEAR(steps[t].virial, virial[t], 1e-9 * virial[t]) << "step " << t;
    }
  }
  const Model trained = trainer->model();
  EXPECT_LT(largest_difference(trained.embedding, r.end.embedding), 1e-9);
  EXPECT_LT(largest_difference(trained.fitting, r.end.fitting), 1e-9);
  if (trained.readers) {
    const auto &ours = *trained.readers, &theirs = *r.end.readers;
    EXPECT_LT(largest_difference({ours.types, ours.gate}, {theirs.types, theirs.gate}), 1e-9);
    EXPECT_GT(largest_difference({ours.types}, {r.start.readers->types}), 0.01);
  }
  // The weights did move: the comparison above says something.
  EXPECT_GT(largest_difference(trained.fitting, r.start.fitting), 0.05);
  std::printf("%s: relative difference of the losses %.1e, of the weights %.1e\n", GetParam(), worst,
              std::max(largest_difference(trained.embedding, r.end.embedding),
                       largest_difference(trained.fitting, r.end.fitting)));
}

/// DeePMD-kit's TensorFlow backend adds Adam's epsilon before the bias correction and keeps the rate in
/// float32: close, not equal.
TEST_P(TrainingReference, tensorflows_losses_are_within_its_own_adam) {
  const Recorded r = recorded(GetParam());
  if (!r.reference.has("tensorflow")) GTEST_SKIP() << "it has no such model";
  const auto trainer = Trainer::create(r.start, SelRule::two_stage, {}, Comm::world());
  const auto loss = numbers(r.reference.at("tensorflow").find("loss"));

  const auto steps = train(*trainer, r, Comm::world());

  ASSERT_GE(loss.size(), steps.size());
  for (std::size_t t = 0; t < steps.size(); ++t)
    ASSERT_NEAR(steps[t].loss, loss[t], 5e-6 * loss[t]) << "step " << t;
}

INSTANTIATE_TEST_SUITE_P(Cases, TrainingReference,
                         testing::Values("copper", "water", "water_strip", "water_concat"),
                         [](const auto& item) { return std::string(item.param); });

}  // namespace
}  // namespace quintet::potential
