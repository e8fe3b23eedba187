#include "surrogates/flow/training/flow_trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "surrogates/flow/training/step_needs.hpp"
#include "surrogates/training/split_bf16.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/unit/flow/training/small_trainer.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::flow {
namespace {

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

}  // namespace
}  // namespace quintet::flow
