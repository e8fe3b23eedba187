#include "surrogates/flow/training/flow_trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "io/log/error.hpp"
#include "surrogates/flow/training/learning_rate.hpp"
#include "surrogates/flow/training/step_needs.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/training/split_bf16.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/unit/flow/training/flow_sample.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::flow {
namespace {

FlowTrainerOptions small_options(LossNorm norm = LossNorm::l2) {
  FlowTrainerOptions options;
  options.loss = {norm, 0.3, 0.2, 5};
  options.batch = 4;
  options.seed = 5;
  return options;
}

template <class Real>
FlowTrainer<Real> small_trainer(const Comm& comm, const FlowTrainerOptions& options,
                                const FlowModelHeader& header = small_header(),
                                std::vector<float> parameters = {}) {
  return FlowTrainer<Real>(comm, {header, std::move(parameters), {}}, options, small_parameters());
}

template <class Real>
Batch own_crops(const FlowTrainer<Real>& trainer, int n_rows = 3) {
  return small_batch(trainer.first_crop(), trainer.n_crops(), 7, n_rows);
}

FlowTrainerOptions spectral_options(LossNorm norm = LossNorm::l2) {
  FlowTrainerOptions options = small_options(norm);
  options.loss.spectral = 0.4;
  options.loss.spectral_floor = 1e-2;
  return options;
}

void expect_gradient_of_differences(DecoderBase base, const FlowTrainerOptions& options = small_options(),
                                    std::size_t stride = 53) {
  const Comm comm = Comm::world();
  FlowModelHeader header = small_header(DecoderKind::continuous, base);
  auto trainer = small_trainer<double>(comm, options, header);
  const Batch batch = own_crops(trainer);
  const auto gradient = trainer.gradient(batch, 3);
  FlowModel start = trainer.model();
  start.parameters.resize(trainer.n_parameters());
  comm.broadcast(std::span(start.parameters));
  if (base != DecoderBase::none)  // a last layer of 0 would hide the layers before it
    for (std::size_t i = 0; i < start.parameters.size(); ++i)
      start.parameters[i] += 0.1f * std::sin(static_cast<float>(i));
  const auto loss_at = [&](std::size_t i, float value) {
    auto parameters = start.parameters;
    parameters[i] = value;
    auto other = small_trainer<double>(comm, options, header, parameters);
    FlowLosses losses;
    static_cast<void>(other.gradient(batch, 3, &losses));
    return losses.total;
  };
  // Weights that a float holds exactly, so that the model's precision does not matter.
  auto rounded = small_trainer<double>(comm, options, header, start.parameters);
  const auto exact = rounded.gradient(batch, 3);
  for (std::size_t i = 0; i < gradient.size(); i += stride) {
    const float up = start.parameters[i] + 2e-5f, down = start.parameters[i] - 2e-5f;
    const double slope = (loss_at(i, up) - loss_at(i, down)) / (static_cast<double>(up) - down);
    EXPECT_NEAR(exact[i], slope, 2e-4 * (1 + std::abs(slope))) << "parameter " << i;
  }
}

TEST(FlowTrainer, gradient_is_that_of_finite_differences) {
  if (Comm::world().size() > 1) GTEST_SKIP() << "long; the next test compares ranks";
  expect_gradient_of_differences(DecoderBase::none);
  expect_gradient_of_differences(DecoderBase::interpolation);
  FlowTrainerOptions on_device = small_options();
  on_device.device = test::device_session();
  expect_gradient_of_differences(DecoderBase::none, on_device, 113);
  expect_gradient_of_differences(DecoderBase::interpolation, spectral_options(), 71);
}

TEST(FlowTrainer, ranks_do_not_change_losses_gradient_and_steps) {
  const Comm comm = Comm::world();
  for (const auto& options : {small_options(LossNorm::l1), small_options(LossNorm::l2), spectral_options()}) {
    auto shared = small_trainer<double>(comm, options), alone = small_trainer<double>(Comm::self(), options);
    const Batch own = own_crops(shared), all = own_crops(alone);
    ASSERT_EQ(all.n_samples, 4);
    FlowLosses a, b;
    const auto gradient = shared.gradient(own, 2, &a), expected = alone.gradient(all, 2, &b);
    EXPECT_NEAR(a.total, b.total, 1e-12);
    EXPECT_NEAR(a.boundaries, b.boundaries, 1e-12);
    EXPECT_NEAR(a.spectra, b.spectra, 1e-11);
    EXPECT_EQ(a.spectra > 0, options.loss.spectral > 0);
    for (std::size_t i = 0; i < gradient.size(); ++i) ASSERT_NEAR(gradient[i], expected[i], 1e-10) << i;
    for (int step = 0; step < 3; ++step) {
      const double of_shared = shared.step(own, step, 1e-3).total,
                   of_alone = alone.step(all, step, 1e-3).total;
      EXPECT_NEAR(of_shared, of_alone, 1e-9);
    }
    EXPECT_NEAR(shared.evaluate(own, 0).total, alone.evaluate(all, 0).total, 1e-9);
  }
}

TEST(FlowTrainer, ranks_do_not_change_steps_of_Fourier_layers) {
  const Comm comm = Comm::world();
  auto shared = small_trainer<double>(comm, spectral_options(), small_fourier_header()),
       alone = small_trainer<double>(Comm::self(), spectral_options(), small_fourier_header());
  for (int step = 0; step < 3; ++step)
    EXPECT_NEAR(shared.step(own_crops(shared), step, 1e-3).total,
                alone.step(own_crops(alone), step, 1e-3).total, 1e-9);
  EXPECT_EQ(shared.model().statistics.size(), 0u);
}

/// What a GPU computes, or the same operators on the host's cores: losses, gradients and statistics are the
/// host's to round-off on any ranks, whatever the model, and each goes on from the other's checkpoint.
TEST(FlowTrainer, on_a_device_everything_is_as_on_the_host) {
  const Comm comm = Comm::world();
  const DeviceSession device = test::device_session();
  const SharedScratch scratch("flow_device");
  const std::string path = scratch / "a.h5";
  const auto expect_alike = [&](const FlowTrainerOptions& options, const FlowModelHeader& header,
                                const std::string& what) {
    FlowTrainerOptions there = options;
    there.device = device;
    auto host = small_trainer<double>(comm, options, header),
         other = small_trainer<double>(comm, there, header);
    EXPECT_EQ(host.account().residence, "");
    EXPECT_TRUE(other.account().is_resident) << what;
    const Batch batch = own_crops(host);
    FlowLosses a, b;
    const auto expected = host.gradient(batch, 2, &a), gradient = other.gradient(batch, 2, &b);
    EXPECT_NEAR(b.total, a.total, 1e-12 * (1 + a.total)) << what;
    EXPECT_NEAR(b.residuals, a.residuals, 1e-12 * (1 + a.residuals)) << what;
    EXPECT_NEAR(b.boundaries, a.boundaries, 1e-12 * (1 + a.boundaries)) << what;
    double largest = 0;
    for (const double one : expected) largest = std::max(largest, std::abs(one));
    EXPECT_GT(largest, 0) << what;
    for (std::size_t i = 0; i < gradient.size(); ++i)
      ASSERT_NEAR(gradient[i], expected[i], 1e-11 * largest) << what << ", parameter " << i;
    for (int step = 0; step < 3; ++step) {
      const double of_host = host.step(batch, step, 1e-3).total;
      ASSERT_NEAR(other.step(batch, step, 1e-3).total, of_host, 1e-9 * (1 + of_host)) << what;
    }
    const double validated = host.evaluate(batch, 0).total;
    EXPECT_NEAR(other.evaluate(batch, 0).total, validated, 1e-9 * (1 + validated)) << what;
    const auto host_model = host.model(), other_model = other.model();
    // Biases before a normalisation change no output but its mean. Their gradients are nothing but round-off,
    // which Adam enlarges.
    for (std::size_t i = 0; i < host_model.statistics.size(); ++i)
      EXPECT_NEAR(other_model.statistics[i], host_model.statistics[i], 1e-7 * (1 + host_model.statistics[i]));

    for (auto* first : {&host, &other}) {  // on from one's checkpoint on the other
      {
        hdf5::File file = hdf5::File::create(comm, path);
        first->save(file.root());
        file.close();
      }
      auto again = small_trainer<double>(comm, first == &host ? there : options, header);
      {
        const hdf5::File file = hdf5::File::open(comm, path);
        again.restore(file.root());
      }
      const double of_first = first->step(batch, 3, 1e-3).total;
      EXPECT_NEAR(again.step(batch, 3, 1e-3).total, of_first, 1e-9 * (1 + of_first)) << what;
      EXPECT_NEAR(again.step(batch, 4, 1e-3).total, first->step(batch, 4, 1e-3).total, 1e-9) << what;
    }
    comm.barrier();
  };
  FlowTrainerOptions options = small_options();
  expect_alike(options, small_header(DecoderKind::continuous, DecoderBase::interpolation), "corrections");
  expect_alike(spectral_options(), small_header(), "spectra");
  options.loss.norm = LossNorm::l1;
  options.parallel = {ParallelStrategy::sharded, 1};
  expect_alike(options, small_header(), "l1, states divided");
  options.parallel = {ParallelStrategy::sharded, 2, 0.0005};
  options.offload.optimiser = OffloadKind::host;
  expect_alike(options, small_header(), "l1, gradients divided");
  options.offload = {};
  FlowModelHeader header = small_header();
  header.options.encoder.block = ResidualMiddle::perturb;
  options.parallel = {ParallelStrategy::sharded, 3, 0.0005, Holder::rank, Progress::blocks};
  options.loss.norm = LossNorm::l2;
  expect_alike(options, header, "perturbed, weights divided");
  options.parallel = {};
  expect_alike(options, small_fourier_header(), "Fourier layers");
  header = small_header(DecoderKind::convolutional);
  header.equations.boundaries.clear();
  options.loss.gamma = options.loss.boundary = 0;
  expect_alike(options, header, "convolutional");
  header = small_fourier_header(DecoderKind::convolutional);
  header.equations.boundaries.clear();
  expect_alike(options, header, "Fourier layers on the fine grid");
  // Every function that equations may call, at values that have one.
  header = small_header();
  header.equations.interior = {
      {"one",
       FormulaText(
           "dt(b) + min(u, b) + max(u, b)*abs(u) + sin(b)*cos(u) + tan(0.3*sin(u)) + sign(b) + step(u)")},
      {"two",
       FormulaText(
           "dz(u) + asin(0.9*sin(b)) + acos(0.9*sin(u)) + atan(u) + sinh(0.1*u) + cosh(0.1*b) + tanh(u)")},
      {"three",
       FormulaText("dx(b)/(2 + u*u) + log(2 + b*b) + log10(2 + u*u) + sqrt(1 + b*b) + erf(u) + gauss(b) + "
                   "floor(u) + exp(-b*b)")},
      {"four", FormulaText("dxx(b) + u^4 + (1 + b*b)^1.5 + (1 + b*b)^u + atan2(1 + b*b, u) + b*z + t")}};
  options.loss = {LossNorm::l2, 0.3, 0.2, 5};
  expect_alike(options, header, "functions");

  options.device = device;
  options.memory = {std::nullopt, ActivationPolicy::recompute};
  EXPECT_THROW(small_trainer<double>(comm, options), InputError);
}

/// Gradients are in the memory that ranks of a node share.
TEST(FlowTrainer, a_step_sends_what_the_formula_says) {
  const Comm comm = Comm::world();
  const FlowModelHeader header = small_header();
  auto trainer = small_trainer<float>(comm, small_options(), header);
  const Batch batch = own_crops(trainer);
  static_cast<void>(trainer.step(batch, 0, 1e-3));
  comm.reset_counters();
  static_cast<void>(trainer.step(batch, 1, 1e-3));
  const auto sent = comm.counter(Comm::Call::reduce);

  const auto needs = step_needs(header, 4, comm.size());
  EXPECT_EQ(static_cast<double>(sent.messages), needs.sums);
  EXPECT_EQ(static_cast<double>(sent.bytes), needs.bytes_summed);
  EXPECT_EQ(needs.crops, comm.maximum(trainer.n_crops()));
  // By hand: crops (all, two walls), losses (two fields, two equations, two walls).
  EXPECT_EQ(step_needs(header, 4, 1).bytes_summed, 8 * (3 + 6));
  auto spectral = small_trainer<float>(comm, spectral_options(), header);
  static_cast<void>(spectral.step(batch, 0, 1e-3));
  comm.reset_counters();
  static_cast<void>(spectral.step(batch, 1, 1e-3));
  EXPECT_EQ(static_cast<double>(comm.counter(Comm::Call::reduce).bytes),
            step_needs(header, 4, comm.size(), true).bytes_summed);
  EXPECT_EQ(comm.counter(Comm::Call::point_to_point).messages, 0);
  EXPECT_EQ(comm.counter(Comm::Call::gather).messages, 0);
  EXPECT_EQ(comm.counter(Comm::Call::broadcast).messages, 0);
}

TEST(FlowTrainer, steps_make_the_loss_smaller) {
  const Comm comm = Comm::world();
  if (comm.size() > 1) GTEST_SKIP() << "long; another test compares the steps of ranks";
  for (const DecoderKind kind : {DecoderKind::continuous, DecoderKind::convolutional}) {
    FlowTrainerOptions options = small_options();
    FlowModelHeader header = small_header(kind);
    if (kind == DecoderKind::convolutional) {
      options.loss.gamma = 0;
      options.loss.boundary = 0;
      header.equations.boundaries.clear();
    }
    auto trainer = small_trainer<float>(comm, options, header);
    const Batch batch = own_crops(trainer);
    const double first = trainer.step(batch, 0, 1e-2).total;
    double last = first;
    for (int step = 1; step < 200; ++step) last = trainer.step(batch, step, 1e-2).total;
    EXPECT_LT(last, 0.5 * first);
  }
}

TEST(FlowTrainer, without_gamma_no_equation_counts) {
  const Comm comm = Comm::world();
  FlowTrainerOptions options = small_options();
  options.loss.gamma = options.loss.boundary = 0;
  FlowModelHeader without = small_header();
  without.equations = {};
  auto with = small_trainer<double>(comm, options), plain = small_trainer<double>(comm, options, without);
  const Batch batch = own_crops(with);
  FlowLosses a, b;
  const auto gradient = with.gradient(batch, 0, &a), expected = plain.gradient(batch, 0, &b);
  EXPECT_EQ(a.total, b.total);
  EXPECT_EQ(gradient, expected);
  EXPECT_EQ(a.residuals, 0);
  // A validation tells residuals all the same.
  EXPECT_GT(with.evaluate(batch, 0).residuals, 0);
}

TEST(FlowTrainer, without_their_weight_no_row_counts) {
  const Comm comm = Comm::world();
  FlowTrainerOptions spectral = spectral_options(), none = small_options();
  auto with_rows = small_trainer<float>(comm, none), without = small_trainer<float>(comm, none),
       weighted = small_trainer<float>(comm, spectral);
  for (int step = 0; step < 3; ++step) {
    const auto a = with_rows.step(own_crops(with_rows), step, 1e-2),
               b = without.step(own_crops(without, 0), step, 1e-2);
    EXPECT_EQ(a.total, b.total);
    EXPECT_EQ(a.spectra, 0);
    EXPECT_GT(weighted.step(own_crops(weighted), step, 1e-2).spectra, 0);
  }
  EXPECT_EQ(with_rows.model().parameters, without.model().parameters);
  const FlowModel other = weighted.model(), same = without.model();
  EXPECT_EQ(other.parameters == same.parameters, !comm.is_root()) << "they are on rank 0";
  EXPECT_THROW(static_cast<void>(weighted.gradient(own_crops(weighted, 0), 0)), InternalError);
}

TEST(FlowTrainer, restart_is_the_uninterrupted_run_to_the_bit) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_trainer");
  const std::string path = scratch / "a.h5";
  auto whole = small_trainer<float>(comm, spectral_options());
  const Batch batch = own_crops(whole);
  for (int step = 0; step < 3; ++step) static_cast<void>(whole.step(batch, step, 1e-2));
  {
    hdf5::File file = hdf5::File::create(comm, path);
    whole.save(file.root());
    file.close();
  }
  auto again = small_trainer<float>(comm, spectral_options());
  {
    const hdf5::File file = hdf5::File::open(comm, path);
    again.restore(file.root());
  }
  for (int step = 3; step < 6; ++step)
    EXPECT_EQ(whole.step(batch, step, 1e-2).total, again.step(batch, step, 1e-2).total);
  EXPECT_EQ(whole.model().parameters, again.model().parameters);
  EXPECT_EQ(whole.model().statistics, again.model().statistics);
}

/// Stages and buckets change who holds and sends what, never a bit; what a restart reads knows neither.
TEST(FlowTrainer, sharded_training_is_data_parallel_training_to_the_bit) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_sharded");
  const std::string path = scratch / "a.h5";
  const auto options = [](ParallelStrategy strategy, int stage, double bucket, Holder holder,
                          Progress progress = Progress::none) {
    FlowTrainerOptions all = small_options();
    all.parallel = {strategy, stage, bucket, holder, progress};
    return all;
  };
  auto data = small_trainer<float>(comm, options(ParallelStrategy::data, 1, 1, Holder::node));
  const Batch batch = own_crops(data);
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) losses.push_back(data.step(batch, step, 1e-2).total);
  {
    hdf5::File file = hdf5::File::create(comm, path);
    data.save(file.root());
    file.close();
  }
  for (int step = 3; step < 5; ++step) losses.push_back(data.step(batch, step, 1e-2).total);
  const auto expected = data.model().parameters;
  for (const Holder holder : {Holder::node, Holder::rank})
    for (const int stage : {0, 1, 2, 3})
      for (const double bucket : {0.0, 0.0005}) {
        if (holder == Holder::node && (bucket == 0 || stage == 3)) continue;
        const auto chosen = options(stage == 0 ? ParallelStrategy::data : ParallelStrategy::sharded, stage,
                                    bucket, holder, bucket == 0 ? Progress::blocks : Progress::none);
        const std::string what = fmt::format("stage {}, bucket {} MB", stage, bucket);
        auto whole = small_trainer<float>(comm, chosen);
        for (int step = 0; step < 5; ++step)
          ASSERT_EQ(whole.step(batch, step, 1e-2).total, losses[step]) << what;
        if (stage == 3 && comm.size() > 1) {  // twice the values and once the sums: those of data and a half
          const auto& layout = whole.layout();
          EXPECT_EQ(whole.account().bytes_sent, static_cast<std::int64_t>(5 * 3 * sizeof(float)) *
                                                    (comm.size() - 1) *
                                                    static_cast<std::int64_t>(layout.slices()))
              << what;
        }
        EXPECT_EQ(whole.model().parameters, expected) << what;
        EXPECT_EQ(whole.account().bytes_sent > 0, comm.size() > 1 && holder == Holder::rank) << what;
        auto again = small_trainer<float>(comm, chosen);
        const hdf5::File file = hdf5::File::open(comm, path);
        again.restore(file.root());
        for (int step = 3; step < 5; ++step)
          ASSERT_EQ(again.step(batch, step, 1e-2).total, losses[step]) << what;
        EXPECT_EQ(again.model().parameters, expected) << what;
      }
}

/// What is run again, or was away, changes no number: neither losses, weights nor running statistics, at any
/// stage.
TEST(FlowTrainer, activations_that_are_made_again_are_the_same_to_the_bit) {
  const Comm comm = Comm::world();
  const auto options = [](ActivationPolicy policy, std::optional<double> megabytes, int stage) {
    FlowTrainerOptions all = small_options();
    all.memory = {megabytes, policy};
    if (stage > 0) all.parallel = {ParallelStrategy::sharded, stage, 0.0005, Holder::rank, Progress::blocks};
    return all;
  };
  struct Trained {
    std::vector<double> losses;
    FlowModel model;
    std::optional<ActivationsInForce> activations;
    std::size_t peak;
    std::int64_t bytes_sent;
  };
  FlowModelHeader header = small_header();
  header.options.encoder.width = 16;
  header.options.encoder.widest = 32;
  const auto train = [&](const FlowTrainerOptions& chosen) {
    auto trainer = small_trainer<float>(comm, chosen, header);
    const Batch batch = own_crops(trainer);
    trainer.plan_activations(batch);
    Trained trained;
    for (int step = 0; step < 4; ++step) trained.losses.push_back(trainer.step(batch, step, 1e-2).total);
    trained.losses.push_back(trainer.evaluate(batch, 0).total);
    trained.model = trainer.model();
    trained.activations = trainer.activations();
    trained.peak = trainer.account().ledger.peak(Tier::host, ByteCategory::activations);
    trained.bytes_sent = trainer.account().bytes_sent;
    return trained;
  };
  const Trained plain = train(options(ActivationPolicy::keep, std::nullopt, 0));
  EXPECT_FALSE(plain.activations);
  const auto expect_same = [&](const Trained& other, const std::string& what) {
    EXPECT_EQ(other.losses, plain.losses) << what;
    EXPECT_EQ(other.model.parameters, plain.model.parameters) << what;
    EXPECT_EQ(other.model.statistics, plain.model.statistics) << what;
  };
  std::int64_t least = 0;
  for (int stage = 0; stage <= 3; ++stage) {
    const Trained again = train(options(ActivationPolicy::recompute, std::nullopt, stage));
    expect_same(again, fmt::format("recompute, stage {}", stage));
    least = again.activations->plan.cost.peak;
    EXPECT_TRUE(again.activations->decoder_again);
    EXPECT_NEAR(comm.maximum(static_cast<std::int64_t>(again.peak)), least, 0.15 * least);
    if (stage < 3) continue;
    // Values are gathered no more often, and what measuring sends is not the training's.
    EXPECT_EQ(again.bytes_sent, train(options(ActivationPolicy::keep, std::nullopt, 3)).bytes_sent);
  }
  const Trained kept = train(options(ActivationPolicy::keep, 1e3, 0));
  const std::int64_t most = kept.activations->plan.cost.peak;
  EXPECT_GT(most, least);
  const double between = 0.5e-6 * (least + most);
  const Trained planned = train(options(ActivationPolicy::planned, between, 0));
  expect_same(planned, "planned");
  const auto& policies = planned.activations->plan.policies;
  const auto n_again = std::count(policies.begin(), policies.end(), planning::BlockPolicy::recompute);
  EXPECT_GT(n_again, 0);
  EXPECT_LT(n_again, std::ssize(policies) - 1);
  EXPECT_LE(1e-6 * planned.activations->plan.cost.peak, between);
  for (const Trained* one : {&kept, &planned}) {
    const double predicted = one->activations->plan.cost.peak;
    EXPECT_NEAR(comm.maximum(static_cast<std::int64_t>(one->peak)), predicted, 0.15 * predicted);
  }
  // Swapped, over links from fast to slow: the same bits, and never more than the plan says.
  int n_swapped = 0;
  struct Case {
    ActivationPolicy policy;
    double budget, link;  ///< 0: to a file
  };
  const std::string folder = fmt::format("flow_trainer_test.swapped_{}", comm.size());
  if (comm.is_root()) std::filesystem::create_directory(folder);
  comm.barrier();
  for (const auto& of : {Case{ActivationPolicy::swap, between, 0.02},
                         {ActivationPolicy::swap, between, 0},
                         {ActivationPolicy::planned, between, 1e3},
                         {ActivationPolicy::planned, 1.05e-6 * least, 1e3}}) {
    const bool all = of.policy == ActivationPolicy::swap;
    auto chosen = options(of.policy, of.budget, all ? 0 : 3);
    if (of.link > 0)
      chosen.memory.link = of.link;
    else
      chosen.memory.path = folder;
    const Trained swapped = train(chosen);
    expect_same(swapped, fmt::format("link of {} GB/s", of.link));
    const auto& found = *swapped.activations;
    const auto n =
        std::count(found.plan.policies.begin(), found.plan.policies.end(), planning::BlockPolicy::swap);
    if (!all) n_swapped += n;
    if (all) {
      EXPECT_EQ(n, std::ssize(found.chain) - 1);
      EXPECT_GT(found.bytes_swapped, 0);
    }
    const double peak = comm.maximum(static_cast<std::int64_t>(swapped.peak));
    EXPECT_LE(peak, 1.01 * found.plan.cost.peak);
    EXPECT_LE(1e-6 * peak, of.budget);
  }
  EXPECT_GT(comm.maximum(static_cast<std::int64_t>(n_swapped)), 0);
  comm.barrier();
  if (comm.is_root()) {
    EXPECT_EQ(std::filesystem::remove_all(folder), 1U);  // each file went with its run
  }
  EXPECT_THROW(train(options(ActivationPolicy::planned, 0.9e-6 * least, 0)), ResourceError);
  EXPECT_THROW(train(options(ActivationPolicy::keep, between, 0)), ResourceError);
}

/// Layers in tiles change who has what at hand, never a bit; checkpoints know nothing of them.
TEST(FlowTrainer, layers_in_tiles_train_like_whole_ones_to_the_bit) {
  at::set_num_threads(1);  // of several torch's kernels share sums out by the number of channels
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_tiles");
  const std::string path = scratch / "a.h5";
  FlowModelHeader header = small_header();
  header.options.encoder.width = 32;
  header.options.encoder.widest = 72;
  const auto options = [](int stage, const LayerTiles& tile) {
    FlowTrainerOptions all = small_options();
    all.tile = tile;
    all.parallel.bucket = 0.0005;
    all.parallel.holder = Holder::rank;
    all.parallel = all.parallel.at_stage(stage);
    return all;
  };
  // conv2 of the middle is 64 x 64 x 27, the shortcut of merge_1 is 128 to 32.
  const LayerTiles tiles{
      {"middle.conv2", 4}, {"merge_1.shortcut", 2}, {"middle.conv1", 3}, {"down_1.conv3", 1}};
  const auto save = [&](FlowTrainer<float>& trainer) {
    hdf5::File file = hdf5::File::create(comm, path);
    trainer.save(file.root());
    file.close();
  };
  auto plain = small_trainer<float>(comm, options(0, {}), header);
  const Batch batch = own_crops(plain);
  std::vector losses{plain.step(batch, 0, 1e-2).total};
  save(plain);
  for (int step = 1; step < 3; ++step) losses.push_back(plain.step(batch, step, 1e-2).total);
  losses.push_back(plain.evaluate(batch, 0).total);
  const FlowModel expected = plain.model();
  const auto goes_on = [&](FlowTrainer<float>& trainer, int first, const std::string& what) {
    for (int step = first; step < 3; ++step)
      ASSERT_EQ(trainer.step(batch, step, 1e-2).total, losses[step]) << what;
    EXPECT_EQ(trainer.evaluate(batch, 0).total, losses.back()) << what;
    EXPECT_EQ(trainer.model().parameters, expected.parameters) << what;
    EXPECT_EQ(trainer.model().statistics, expected.statistics) << what;
  };
  for (const int stage : {2, 3}) {
    auto tiled = small_trainer<float>(comm, options(stage, tiles), header);
    if (stage == 3 && comm.size() > 1) {  // no more words than whole layers send
      auto counted = small_trainer<float>(comm, options(stage, tiles), header);
      static_cast<void>(counted.step(batch, 0, 1e-2));
      EXPECT_EQ(counted.account().bytes_sent, static_cast<std::int64_t>(3 * sizeof(float)) *
                                                  (comm.size() - 1) *
                                                  static_cast<std::int64_t>(counted.layout().slices()));
      // The unit at hand is a tile's part and the rest of its block.
      const auto whole = small_trainer<float>(comm, options(stage, {}), header).account().held;
      EXPECT_LT(counted.account().held.live, whole.live);
      planning::Division division{.units = counted.layout().unit_sizes(), .shares_node = false};
      EXPECT_EQ(static_cast<double>(counted.account().held.total()),
                planning::stages()[3].bytes(division, comm.size(), 1));
    }
    goes_on(tiled, 0, fmt::format("stage {}", stage));
    if (stage == 2) continue;
    auto restarted = small_trainer<float>(comm, options(stage, tiles), header);
    const hdf5::File file = hdf5::File::open(comm, path);
    restarted.restore(file.root());
    goes_on(restarted, 1, fmt::format("restarted, stage {}", stage));
  }
  // What tiles have written goes on without them, and with activations that are made again.
  FlowTrainerOptions again = options(3, tiles);
  again.memory = {std::nullopt, ActivationPolicy::recompute};
  auto recomputed = small_trainer<float>(comm, again, header);
  recomputed.plan_activations(batch);
  ASSERT_EQ(recomputed.step(batch, 0, 1e-2).total, losses[0]);
  save(recomputed);
  goes_on(recomputed, 1, "recomputed");
  {
    auto whole = small_trainer<float>(comm, options(1, {}), header);
    const hdf5::File file = hdf5::File::open(comm, path);
    whole.restore(file.root());
    goes_on(whole, 1, "whole again");
  }
  // Halves: another training, the same one with and without tiles.
  std::vector<double> of_halves;
  for (const bool in_tiles : {false, true}) {
    FlowTrainerOptions halves = options(in_tiles ? 3 : 0, in_tiles ? tiles : LayerTiles{});
    halves.precision.parameters = ParameterPrecision::split_bf16;
    auto trainer = small_trainer<float>(comm, halves, header);
    for (int step = 0; step < 2; ++step) {
      const double loss = trainer.step(batch, step, 1e-2).total;
      if (in_tiles)
        EXPECT_EQ(loss, of_halves[step]);
      else
        of_halves.push_back(loss);
    }
  }
}

/// Tiles of a few channels, of any convolution and padding: the gradient of the whole layers to round-off.
TEST(FlowTrainer, tiles_of_any_layer_have_the_gradient_of_whole_ones) {
  const Comm comm = Comm::world();
  for (const auto middle : {ResidualMiddle::convolution, ResidualMiddle::perturb}) {
    FlowModelHeader header = small_header();
    header.options.encoder.block = middle;
    header.options.encoder.padding = {"replicate", "zeros", "circular"};
    FlowTrainerOptions options = small_options();
    auto whole = small_trainer<double>(comm, options, header);
    for (const auto& block : whole.layout().blocks())
      if (block.name != "decoder")
        for (const char* name : {"conv1", "conv2", "conv3", "shortcut"})
          options.tile.emplace_back(fmt::format("{}.{}", block.name, name), 2);
    options.tile.front().second = 1;
    options.parallel = {ParallelStrategy::sharded, 3, 0.0005, Holder::rank, Progress::blocks};
    auto tiled = small_trainer<double>(comm, options, header);
    const Batch batch = own_crops(whole);
    const auto expected = whole.gradient(batch, 1), found = tiled.gradient(batch, 1);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << i;
  }
}

TEST(FlowTrainer, tiles_of_no_layer_are_refused) {
  const Comm comm = Comm::world();
  const auto message = [&](const std::string& layer, double n) -> std::string {
    FlowTrainerOptions options = small_options();
    options.tile = {{layer, n}};
    try {
      static_cast<void>(small_trainer<float>(comm, options));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message("middle.conv2", 4), "accepted");
  EXPECT_NE(
      message("middle.conv2", 5).find("it has 4 outputs and 4 inputs; expected a whole number from 1 to 4"),
      std::string::npos);
  EXPECT_NE(message("middle.conv2", 1.5).find("in 1.5 tiles"), std::string::npos);
  EXPECT_NE(message("midle.conv2", 2).find("did you mean 'middle.conv2'?"), std::string::npos);
  EXPECT_NE(message("middle", 2).find("Expected one of enter.conv1, "), std::string::npos);
  EXPECT_NE(message("decoder", 2).find("the decoder's kernels hold all of its weights"), std::string::npos);
}

/// Masks are neither stored nor sent: ranks, stages, weights in halves, what is made again and a restart give
/// the bits of the plain run.
TEST(FlowTrainer, perturbed_blocks_train_alike_however_they_are_trained) {
  const Comm comm = Comm::world();
  FlowModelHeader header = small_header();
  header.options.encoder.block = ResidualMiddle::perturb;
  {
    auto shared = small_trainer<double>(comm, small_options(), header),
         alone = small_trainer<double>(Comm::self(), small_options(), header);
    const auto gradient = shared.gradient(own_crops(shared), 2),
               expected = alone.gradient(own_crops(alone), 2);
    for (std::size_t i = 0; i < gradient.size(); ++i) ASSERT_NEAR(gradient[i], expected[i], 1e-10) << i;
  }
  for (const auto kept : {ParameterPrecision::full, ParameterPrecision::split_bf16}) {
    FlowTrainerOptions options = small_options();
    options.precision.parameters = kept;
    auto plain = small_trainer<float>(comm, options, header);
    const Batch batch = own_crops(plain);
    options.parallel = {ParallelStrategy::sharded, 3, 0.0005, Holder::rank, Progress::blocks};
    options.memory = {std::nullopt, ActivationPolicy::recompute};
    auto other = small_trainer<float>(comm, options, header);
    other.plan_activations(batch);
    for (int step = 0; step < 4; ++step)
      ASSERT_EQ(other.step(batch, step, 1e-2).total, plain.step(batch, step, 1e-2).total);
    EXPECT_EQ(other.evaluate(batch, 0).total, plain.evaluate(batch, 0).total);
    EXPECT_EQ(other.model().parameters, plain.model().parameters);
    EXPECT_EQ(other.model().statistics, plain.model().statistics);
  }
}

/// Weights in halves: one training at all stages and after a restart; the model is what was computed with.
TEST(FlowTrainer, weights_in_halves_train_alike_at_all_stages_and_after_a_restart) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_halves");
  const std::string path = scratch / "a.h5";
  FlowTrainerOptions all = small_options();
  const auto floats = [&] {
    auto trainer = small_trainer<float>(comm, all);
    const Batch batch = own_crops(trainer);
    static_cast<void>(trainer.step(batch, 0, 1e-2));
    return trainer.step(batch, 1, 1e-2).total;
  }();
  all.precision.parameters = ParameterPrecision::split_bf16;
  auto data = small_trainer<float>(comm, all);
  const Batch batch = own_crops(data);
  std::vector<double> losses;
  for (int step = 0; step < 2; ++step) losses.push_back(data.step(batch, step, 1e-2).total);
  {
    hdf5::File file = hdf5::File::create(comm, path);
    data.save(file.root());
    file.close();
  }
  for (int step = 2; step < 4; ++step) losses.push_back(data.step(batch, step, 1e-2).total);
  EXPECT_NE(losses[1], floats);
  EXPECT_NEAR(losses[1], floats, 0.05 * floats);
  const auto expected = data.model();
  for (const float weight : expected.parameters) ASSERT_EQ(weight, as_bf16(weight));
  for (const int stage : {0, 1, 2, 3}) {
    all.parallel.bucket = 0.0005;
    all.parallel.holder = Holder::rank;
    all.parallel = all.parallel.at_stage(stage);
    auto again = small_trainer<float>(comm, all);
    const hdf5::File file = hdf5::File::open(comm, path);
    again.restore(file.root());
    for (int step = 2; step < 4; ++step)
      ASSERT_EQ(again.step(batch, step, 1e-2).total, losses[step]) << stage;
    EXPECT_EQ(again.model().parameters, expected.parameters) << stage;
  }
  // A model that is loaded validates as the training did.
  FlowModel model = expected;
  model.parameters.resize(data.n_parameters());
  comm.broadcast(std::span(model.parameters));
  FlowTrainer<float> loaded(comm, model, small_options(), small_parameters());
  EXPECT_EQ(loaded.evaluate(batch, 0).total, data.evaluate(batch, 0).total);
}

TEST(FlowTrainer, a_checkpoint_of_another_optimiser_or_layout_is_refused) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_refused");
  const std::string path = scratch / "a.h5";
  {
    const auto trainer = small_trainer<float>(comm, small_options());
    hdf5::File file = hdf5::File::create(comm, path);
    trainer.save(file.root());
    file.close();
  }
  const auto message = [&](const FlowTrainerOptions& options, const FlowModelHeader& header) -> std::string {
    auto trainer = small_trainer<float>(comm, options, header);
    const hdf5::File file = hdf5::File::open(comm, path);
    try {
      trainer.restore(file.root());
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  FlowTrainerOptions options = small_options();
  options.optimiser.kind = OptimiserKind::sgd;
  options.optimiser.momentum = 0.9;
  EXPECT_NE(message(options, small_header()).find("written with another optimiser"), std::string::npos);
  FlowModelHeader header = small_header();
  header.options.decoder.widths = {9, 6};
  EXPECT_NE(message(small_options(), header).find("parameters"), std::string::npos);
}

TEST(FlowTrainer, a_loss_that_is_no_number_ends_it_before_the_weights_move) {
  const Comm comm = Comm::world();
  auto trainer = small_trainer<float>(comm, small_options());
  Batch batch = own_crops(trainer);
  batch.targets[0] = std::nanf("");
  const auto before = trainer.model().parameters;
  EXPECT_THROW(static_cast<void>(trainer.step(batch, 0, 1e-2)), NumericalError);
  EXPECT_EQ(trainer.model().parameters, before);
}

TEST(FlowTrainer, what_cannot_be_trained_is_refused) {
  const Comm comm = Comm::world();
  const auto message = [&](const FlowTrainerOptions& options, const FlowModelHeader& header) -> std::string {
    try {
      static_cast<void>(small_trainer<float>(comm, options, header));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  FlowTrainerOptions options = small_options();
  options.batch = comm.size() - 1;
  EXPECT_NE(message(options, small_header()).find("cannot be shared out over"), std::string::npos);
  EXPECT_NE(message(small_options(), small_header(DecoderKind::convolutional)).find("has no derivatives"),
            std::string::npos);
  FlowModelHeader header = small_header();
  header.equations.interior.clear();
  EXPECT_NE(message(small_options(), header).find("but there are no equations"), std::string::npos);
  header = small_header();
  header.equations.boundaries[0].at = "x.lower";
  EXPECT_NE(message(small_options(), header).find("'x.lower' is no wall"), std::string::npos);
}

TEST(LearningRate, follows_its_schedule) {
  FlowRateOptions options;
  options.schedule = RateKind::exponential;
  options.start = 0.1;
  options.factor = 0.5;
  options.interval = 10;
  EXPECT_DOUBLE_EQ(LearningRate(options).rate(20), 0.025);
  options.least = 0.05;
  EXPECT_DOUBLE_EQ(LearningRate(options).rate(20), 0.05);
  options.schedule = RateKind::plateau;
  options.patience = 2;
  LearningRate plateau(options);
  for (const double loss : {1., 0.5, 0.6, 0.6}) plateau.observe(loss);
  EXPECT_DOUBLE_EQ(plateau.rate(0), 0.1);
  LearningRate restored(options);
  restored.restore(plateau.state());
  for (auto* one : {&plateau, &restored}) {
    one->observe(0.6);
    EXPECT_DOUBLE_EQ(one->rate(0), 0.05);
  }
}

}  // namespace
}  // namespace quintet::flow
