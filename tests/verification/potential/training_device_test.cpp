#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "surrogates/bridge/torch_memory.hpp"
#include "surrogates/potential/training/data.hpp"
#include "surrogates/potential/training/initialise.hpp"
#include "surrogates/potential/training/torch/torch_passes.hpp"
#include "surrogates/potential/training/trainer.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/support/tensor_copies.hpp"
#include "tests/verification/potential/models.hpp"

// Steps by LibTorch on the device of tests beside those of our kernels.
namespace quintet::potential {
namespace {

constexpr LossPrefactors prefactors{0.7, 1.3, 0.4};

TrainingDevice training_device(std::size_t kept_bytes = std::size_t{1} << 30) {
  return {test::device_session(), kept_bytes};
}

std::unique_ptr<Trainer> on_device(const Model& model, const Comm& comm = Comm::self(),
                                   const TrainingDevice& device = training_device(),
                                   SelRule rule = SelRule::per_type) {
  return Trainer::create(model, rule, {}, comm, {}, {}, device);
}

ParallelOptions at_stage(int stage) {
  ParallelOptions parallel;
  parallel.holder = Holder::rank;
  return parallel.at_stage(stage);
}

/// A configuration with labels at random, none of them the model's.
Configuration labelled(Configuration configuration, unsigned seed, double moved = 0) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (auto& x : configuration.positions)
    for (double& component : x) component += moved * uniform(random);
  configuration.energy = 3 * uniform(random);
  configuration.virial.emplace();
  for (double& v : *configuration.virial) v = uniform(random);
  configuration.forces.clear();
  for (std::size_t i = 0; i < configuration.n_atoms(); ++i)
    configuration.forces.push_back({uniform(random), uniform(random), uniform(random)});
  return configuration;
}

/// The first n atoms of a configuration.
Configuration cut(Configuration configuration, std::size_t n) {
  configuration.positions.resize(n);
  configuration.types.resize(n);
  return configuration;
}

/// Relative error of the kernels' polynomials where functions have kinks; else round-off.
double tolerance_of(const ModelCase& item) {
  if (item.name == "float32") return 1e-4;
  return item.name == "relu6_linear" || item.name == "silu_relu" ? 3e-3 : 1e-9;
}

void expect_same(const Deviations& a, const Deviations& b, double tolerance, const std::string& what) {
  EXPECT_NEAR(a.loss, b.loss, tolerance * b.loss) << what;
  EXPECT_NEAR(a.rmse_energy(), b.rmse_energy(), tolerance * (b.rmse_energy() + 1)) << what;
  EXPECT_NEAR(a.rmse_force(), b.rmse_force(), tolerance * (b.rmse_force() + 1)) << what;
  EXPECT_NEAR(a.rmse_virial(), b.rmse_virial(), tolerance * (b.rmse_virial() + 1)) << what;
  EXPECT_EQ(a.with_energy, b.with_energy);
  EXPECT_EQ(a.with_force, b.with_force);
  EXPECT_EQ(a.with_virial, b.with_virial);
  EXPECT_EQ(a.overflowing, b.overflowing) << what;
}

void expect_same_step(const Model& model, const std::vector<TrainingFrame>& frames, double tolerance,
                      const std::string& what, SelRule rule = SelRule::per_type) {
  std::vector<const TrainingFrame*> all;
  for (const auto& frame : frames) all.push_back(&frame);
  const auto kernels = Trainer::create(model, rule);
  const auto torch = on_device(model, Comm::self(), training_device(), rule);
  for (int step = 0; step < 2; ++step) {  // the second one with parameters that have changed, rows kept
    const auto expected = kernels->gradient(all, prefactors, all.size());
    const auto found = torch->gradient(all, prefactors, all.size());
    expect_same(found, expected, tolerance, what);
    const auto gradient = kernels->gradient_values();
    EXPECT_LT(largest_difference(torch->gradient_values(), gradient), tolerance * largest(gradient)) << what;
    kernels->update(1e-3);
    torch->set_parameters(kernels->parameters());
    torch->update(0);  // the gradient is 0 again
    torch->set_parameters(kernels->parameters());
    expect_same(torch->evaluate(all, prefactors), kernels->evaluate(all, prefactors), tolerance, what);
  }
}

TEST(TrainerOnDevice, steps_are_those_of_the_kernels_for_every_kind_of_model) {
  for (const auto& item : model_cases()) {
    const Model model = read_dp(item.model);
    const std::vector<TrainingFrame> one{make_frame(labelled(item.reference.configuration, 3), model.rcut)};
    expect_same_step(model, one, tolerance_of(item), item.name);
  }
}

TEST(TrainerOnDevice, steps_are_those_of_the_kernels_for_water_and_silica) {
  const std::vector<std::vector<std::string>> systems{
      {"water/water.dp", "water/data/valid_400k", "water/data/valid_spread"},
      {"silica/silica.dp", "silica/data/valid_quartz", "silica/data/valid_cristobalite"}};
  for (const auto& names : systems) {
    const Model model = read_dp(source("inputs/dpmd/" + names[0]));
    DataOptions options;
    options.type_map = model.type_names;
    std::vector<TrainingFrame> frames;
    for (std::size_t i = 1; i < names.size(); ++i)
      frames.push_back(make_frame(
          read_systems({source("inputs/dpmd/" + names[i])}, options).front().frames.front(), model.rcut));
    expect_same_step(model, frames, model.single_precision ? 1e-4 : 1e-9, names[0]);
  }
}

TEST(TrainerOnDevice, frames_of_different_sizes_and_labels_pass_together) {
  for (const auto& item : model_cases()) {
    if (item.name != "oneside" && item.name != "twoside" && item.name != "atom_exclude") continue;
    const Model model = read_dp(item.model);
    const auto& whole = item.reference.configuration;
    auto without_virial = labelled(whole, 5, 0.05), without_energy = labelled(cut(whole, 3), 6, 0.05);
    without_virial.virial.reset();
    without_energy.energy.reset();
    auto without_forces = labelled(cut(whole, whole.n_atoms() - 1), 7, 0.05);
    without_forces.forces.clear();
    std::vector<TrainingFrame> frames;
    for (const auto& configuration :
         {labelled(whole, 4), without_virial, without_energy, without_forces, labelled(cut(whole, 1), 8)})
      frames.push_back(make_frame(configuration, model.rcut));
    expect_same_step(model, frames, 1e-9, item.name);
  }
}

TEST(TrainerOnDevice, neighbours_beyond_sel_are_left_out_alike) {
  for (const auto& item : model_cases()) {
    if (item.name != "twoside" && item.name != "copper") continue;
    for (const SelRule rule : {SelRule::per_type, SelRule::two_stage}) {
      Model model = read_dp(item.model);
      for (int& sel : model.sel) sel = 3;
      const std::vector<TrainingFrame> one{make_frame(labelled(item.reference.configuration, 9), model.rcut)};
      EXPECT_GT(on_device(model, Comm::self(), training_device(), rule)
                    ->evaluate(std::vector<const TrainingFrame*>{one.data()}, prefactors)
                    .overflowing,
                0);
      expect_same_step(model, one, 1e-9, item.name, rule);
    }
  }
}

TEST(TrainerOnDevice, gradient_is_the_derivative_of_the_loss) {
  for (const auto& item : model_cases()) {
    if (item.name == "float32") continue;
    const Model model = read_dp(item.model);
    const auto trainer = on_device(model);
    const TrainingFrame frame = make_frame(labelled(item.reference.configuration, 5), model.rcut);
    const TrainingFrame* one[] = {&frame};
    trainer->gradient(one, prefactors, 1);
    const auto gradient = trainer->gradient_values(), start = trainer->parameters();
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    for (int direction = 0; direction < 3; ++direction) {
      std::vector<double> along(start.size());
      double slope = 0;
      for (std::size_t i = 0; i < along.size(); ++i) slope += (along[i] = normal(random)) * gradient[i];
      double side[2];
      const double h = 1e-6;
      for (const int s : {0, 1}) {
        auto moved = start;
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += (s == 0 ? -h : h) * along[i];
        trainer->set_parameters(moved);
        side[s] = trainer->evaluate(one, prefactors).loss;
      }
      const double difference = (side[1] - side[0]) / (2 * h);
      EXPECT_NEAR(slope, difference, 2e-6 * std::abs(difference) + 2e-7) << item.name;
    }
  }
}

TEST(TrainerOnDevice, ranks_share_out_frames_and_atoms) {
  const Comm comm = Comm::world();
  for (const auto& item : model_cases()) {
    if (item.name != "oneside" && item.name != "atom_exclude" && item.name != "copper") continue;
    const Model model = read_dp(item.model);
    std::vector<TrainingFrame> frames;
    for (unsigned seed = 1; seed <= 4; ++seed)
      frames.push_back(make_frame(labelled(item.reference.configuration, seed, 0.05), model.rcut));
    std::vector<const TrainingFrame*> all, own, last{&frames.back()};
    for (int i = 0; i < 3; ++i) {
      all.push_back(&frames[i]);
      if (i % comm.size() == comm.rank()) own.push_back(all.back());
    }
    all.push_back(last.front());
    const auto alone = on_device(model), shared = on_device(model, comm);
    const auto whole = alone->gradient(all, prefactors, 4);
    auto part = shared->gradient(own, prefactors, 4);
    part += shared->gradient(last, prefactors, 4, Sharing::atoms);
    part = sum(comm, part);
    EXPECT_EQ(part.frames, 4);
    EXPECT_NEAR(part.loss, whole.loss, 1e-11 * whole.loss) << item.name;
    const auto expected = alone->gradient_values();
    EXPECT_LT(largest_difference(shared->gradient_values(), expected), 1e-11 * largest(expected))
        << item.name;
  }
}

/// The sum over ranks and Adam, on the device at every stage: what our kernels and the host's optimiser make
/// of all frames on one rank.
TEST(TrainerOnDevice, makes_the_hosts_steps_on_any_ranks_and_stage) {
  const Comm comm = Comm::world();
  const auto item = model_cases().front();
  const Model model = read_dp(item.model);
  std::vector<TrainingFrame> frames;
  for (unsigned seed = 1; seed <= 4; ++seed)
    frames.push_back(make_frame(labelled(item.reference.configuration, seed, 0.05), model.rcut));
  const auto steps = [&](Trainer& trainer, const Comm& sharers) {
    std::vector<const TrainingFrame*> own, last{&frames.back()};
    for (int i = 0; i < 3; ++i)
      if (i % sharers.size() == sharers.rank()) own.push_back(&frames[i]);
    for (int step = 0; step < 5; ++step) {
      trainer.gradient(own, prefactors, 4);
      trainer.gradient(last, prefactors, 4, Sharing::atoms);
      trainer.update(1e-3);
    }
  };
  const auto host = Trainer::create(model, SelRule::per_type);
  steps(*host, Comm::self());
  for (const int stage : {0, 1, 2}) {
    const auto there =
        Trainer::create(model, SelRule::per_type, {}, comm, at_stage(stage), {}, training_device());
    EXPECT_TRUE(there->account().is_resident);
    EXPECT_EQ(there->account().residence, "on the device");
    steps(*there, comm);
    EXPECT_LT(largest_difference(there->parameters(), host->parameters()), 1e-8) << stage;
    OffloadOptions offload;
    offload.optimiser = OffloadKind::host;
    const auto offloaded =
        Trainer::create(model, SelRule::per_type, {}, comm, at_stage(stage), offload, training_device());
    EXPECT_EQ(offloaded->account().held.optimiser, 0);
    steps(*offloaded, comm);
    EXPECT_LT(largest_difference(offloaded->parameters(), host->parameters()), 1e-8) << stage;
    EXPECT_GT(largest_difference(parameters_of(model, ParameterLayout(model)), there->parameters()), 1e-3);
  }
}

/// The error is thrown in the library with LibTorch, and is ours here.
TEST(TrainerOnDevice, a_gradient_that_is_no_number_leaves_the_weights) {
  const auto item = model_cases().front();
  const Model model = read_dp(item.model);
  auto bad = labelled(item.reference.configuration, 5);
  const TrainingFrame good = make_frame(bad, model.rcut);
  bad.energy = std::numeric_limits<double>::infinity();
  const TrainingFrame frame = make_frame(bad, model.rcut);
  const TrainingFrame* one[] = {&frame};
  const auto trainer = on_device(model, Comm::world());
  const auto before = trainer->parameters();
  trainer->gradient(one, prefactors, 1);
  EXPECT_THROW(trainer->update(1e-3), NumericalError);
  EXPECT_EQ(trainer->parameters(), before);
  one[0] = &good;
  trainer->gradient(one, prefactors, 1);
  trainer->update(1e-3);
  EXPECT_NE(trainer->parameters(), before);
}

TEST(TrainerOnDevice, no_gradient_and_no_weight_travels_in_a_step) {
  const auto item = model_cases().front();
  const Model model = read_dp(item.model);
  const TrainingFrame frame = make_frame(labelled(item.reference.configuration, 5), model.rcut);
  const TrainingFrame* one[] = {&frame};
  const auto copies_of = [&](const OffloadOptions& offload) {
    const auto trainer =
        Trainer::create(model, SelRule::per_type, {}, Comm::self(), {}, offload, training_device());
    const auto step = [&] {
      trainer->gradient(one, prefactors, 1);
      trainer->update(1e-3);
    };
    step();  // the frame's rows go there
    const std::int64_t bytes = trainer->account().bytes_copied;
    const test::TensorCopies copies(trainer->n_parameters());
    for (int i = 0; i < 3; ++i) step();
    EXPECT_EQ(trainer->account().bytes_copied, bytes);
    return copies.so_far();
  };
  EXPECT_EQ(copies_of({}), 0);
  OffloadOptions offload;
  offload.delayed_update.emplace();
  EXPECT_GE(copies_of(offload), 3) << "the test sees those of arrays that are the host's";
}

TEST(TrainerOnDevice, what_is_kept_of_frames_changes_no_bit) {
  const auto item = model_cases().front();
  const Model model = read_dp(item.model);
  std::vector<std::vector<double>> gradients;
  for (const std::size_t room : {std::size_t{0}, std::size_t{40000}, std::size_t{1} << 30}) {
    const auto trainer = on_device(model, Comm::self(), training_device(room));
    for (int step = 0; step < 3; ++step)
      for (unsigned seed = 1; seed <= 3; ++seed) {  // frames that die: others may take their place in memory
        const TrainingFrame frame = make_frame(labelled(item.reference.configuration, seed, 0.1), model.rcut);
        const TrainingFrame* one[] = {&frame};
        trainer->gradient(one, prefactors, 3);
      }
    gradients.push_back(trainer->gradient_values());
  }
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_EQ(gradients[0], gradients[2]);
}

/// More shapes than are recorded, which come in turn, and batches of frames of different sizes in another
/// order.
TEST(TrainerOnDevice, steps_of_shapes_that_come_again_are_those_of_the_kernels) {
  for (const auto& item : model_cases()) {
    if (item.name != "oneside" && item.name != "twoside") continue;
    const Model model = read_dp(item.model);
    const auto& whole = item.reference.configuration;
    std::vector<TrainingFrame> frames;
    for (std::size_t i = 0; i < most_recorded_shapes + 2; ++i)
      frames.push_back(make_frame(
          labelled(cut(whole, whole.n_atoms() - i % 5), 20 + static_cast<unsigned>(i), 0.05), model.rcut));
    const auto kernels = Trainer::create(model, SelRule::per_type), torch = on_device(model);
    const auto expect_same_gradient = [&](const std::vector<const TrainingFrame*>& batch) {
      const auto expected = kernels->gradient(batch, prefactors, 4);
      expect_same(torch->gradient(batch, prefactors, 4), expected, 1e-9, item.name);
      const auto gradient = kernels->gradient_values();
      EXPECT_LT(largest_difference(torch->gradient_values(), gradient), 1e-9 * largest(gradient))
          << item.name;
      kernels->update(1e-3);
      torch->update(0);
      torch->set_parameters(kernels->parameters());
    };
    for (int again = 0; again < 3; ++again) {
      expect_same_gradient({&frames[0], &frames[1], &frames[7]});
      expect_same_gradient({&frames[2], &frames[6], &frames[5]});
      expect_same_gradient({&frames[1], &frames[0], &frames[2]});
      for (std::size_t i = 0; again > 0 && i + 1 < frames.size(); ++i)
        expect_same_gradient({&frames[i], &frames[i + 1], &frames[0], &frames[i / 2]});
    }
  }
}

TEST(TrainerOnDevice, goes_on_from_the_cpu_and_back) {
  const Comm comm = Comm::self();
  const auto item = model_cases()[1];
  const Model model = read_dp(item.model);
  const TrainingFrame frame = make_frame(labelled(item.reference.configuration, 5), model.rcut);
  const TrainingFrame* one[] = {&frame};
  const auto steps = [&](Trainer& trainer, int n) {
    for (int i = 0; i < n; ++i) {
      trainer.gradient(one, prefactors, 1);
      trainer.update(1e-3);
    }
  };
  const std::string path = fmt::format("moves_{}_{}.h5", Comm::world().size(), Comm::world().rank());
  const auto passed_on = [&](const Trainer& from, std::unique_ptr<Trainer> to) {
    {
      auto file = hdf5::File::create(comm, path);
      auto group = file.root().group("trainer");
      from.save(group);
    }
    const auto file = hdf5::File::open(comm, path);
    auto group = file.root().open_group("trainer");
    to->load(group);
    return to;
  };
  const auto whole = Trainer::create(model, SelRule::per_type);
  steps(*whole, 6);
  auto first = Trainer::create(model, SelRule::per_type);
  steps(*first, 2);
  auto second = passed_on(*first, on_device(model));
  steps(*second, 2);
  auto third = passed_on(*second, Trainer::create(model, SelRule::per_type));
  steps(*third, 2);
  EXPECT_LT(largest_difference(third->parameters(), whole->parameters()), 1e-7);
  // On one device to the bit.
  const auto there = on_device(model);
  steps(*there, 4);
  auto begun = on_device(model);
  steps(*begun, 2);
  auto resumed = passed_on(*begun, on_device(model));
  steps(*resumed, 2);
  EXPECT_EQ(resumed->parameters(), there->parameters());
  std::filesystem::remove(path);
}

/// The usual sizes of networks: the smallest are all overhead.
TEST(TrainerOnDevice, takes_the_bytes_that_it_says) {
  if (test::on_gpu()) GTEST_SKIP() << "TorchMemory counts the host's bytes";
  const auto item = model_cases().front();
  for (const bool single : {false, true})
    for (const bool one_side : {true, false}) {
      NetworkOptions options;
      options.type_map = {"O", "H"};
      options.sel = {40, 80};
      options.embedding = {25, 50, 100};
      options.fitting = {60, 60};
      options.axis_neuron = 16;
      options.type_one_side = one_side;
      options.single_precision = single;
      const LabelledSystem system{"", {labelled(item.reference.configuration, 1)}};
      const Model model = initial_model(options, {system});
      std::vector<TrainingFrame> frames(3, make_frame(system.frames.front(), model.rcut));
      std::vector<const TrainingFrame*> all;
      for (const auto& frame : frames) all.push_back(&frame);
      Ledger ledger;
      const TorchMemory memory(ledger);
      const auto trainer = on_device(model);
      for (int step = 0; step < 3; ++step) trainer->gradient(all, prefactors, 3);  // the later ones recorded
      trainer->update(1e-3);
      const auto account = trainer->account();
      EXPECT_EQ(account.ledger.peak(Tier::host), account.held.total()) << "on the host nothing beside";
      // Three frames that are one, and of the shapes that may be recorded one.
      const double said =
          account.held.total() + bytes_of_torch_step(model, 3, frames.front().n_atoms, true) +
          bytes_of_recordings(model, 3, frames.front().n_atoms, 1, test::device()) / most_recorded_shapes +
          bytes_of_kept_frame(model, frames.front().n_atoms);
      const double peak = ledger.peak(Tier::host, ByteCategory::activations);
      EXPECT_GT(said, peak) << single << one_side;
      EXPECT_LT(said, 1.8 * peak) << single << one_side;
    }
}

}  // namespace
}  // namespace quintet::potential
