#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "surrogates/bridge/operator_recorder.hpp"
#include "surrogates/flow/training/flow_trainer.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/unit/bridge/replay_observer.hpp"
#include "tests/unit/flow/training/flow_sample.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

// Steps on a device are recorded where their shape comes again. Here the operators are called again in place
// of a GPU's graph, on the same tensors; on a GPU no observer sees them, and numbers alone are compared.
namespace quintet::flow {
namespace {

FlowTrainerOptions options_on(const DeviceSession& device, const FlowLossOptions& loss) {
  FlowTrainerOptions options;
  options.loss = loss;
  options.batch = 4;
  options.seed = 5;
  options.device = device;
  return options;
}

/// What a step is given.
struct Given {
  int crop = 0, n_points = 7;  ///< its numbers: of these crops
  bool reaches_upper = true;   ///< any crop does
  double rate = 1e-3;
};

Batch batch_of(const Given& given, const FlowTrainer<double>& trainer) {
  Batch batch = small_batch(given.crop + trainer.first_crop(), trainer.n_crops(), given.n_points);
  if (!given.reaches_upper)
    for (auto& axes : batch.axes) axes[1].wall_upper = false;
  return batch;
}

/// Shapes a (most), b (other points) and c (no upper wall); the crops that touch it vary in number.
std::vector<Given> course() {
  return {{0},     {1, 9},         {10, 7, true, 2e-3}, {20, 7, false}, {25},
          {31, 9}, {44, 7, false}, {47, 7, true, 5e-4}, {50, 9},        {63, 7, false},
          {70, 9}, {82, 7, true},  {90, 7, false},      {101}};
}

double near(double value) { return test::bound(1e-8, 1e-7) * (1 + std::abs(value)); }

void expect_the_hosts_course(const FlowModelHeader& header, const FlowLossOptions& loss,
                             const std::string& what) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("recorded_steps");
  const std::string path = scratch / "a.h5";
  const DeviceSession& device = test::device_session();
  const auto made = [&](const Comm& ranks, const DeviceSession& on) {
    return std::make_unique<FlowTrainer<double>>(ranks, FlowModel{header, {}, {}}, options_on(on, loss),
                                                 small_parameters());
  };
  auto host = made(Comm::self(), {}), other = made(comm, device);
  ReplayObserver observer;
  int step = 0;
  for (const Given& given : course()) {
    const double expected = host->step(batch_of(given, *host), step, given.rate).total;
    const FlowLosses found = other->step(batch_of(given, *other), step, given.rate);
    ASSERT_NEAR(found.total, expected, near(expected)) << what << ", step " << step;
    const Given another{200 + 3 * step, given.n_points, given.reaches_upper};
    if (step % 2 == 1) {  // between steps, also while they are recorded
      const double validated = host->evaluate(batch_of(another, *host), step).total;
      ASSERT_NEAR(other->evaluate(batch_of(another, *other), step).total, validated, near(validated))
          << what << ", step " << step;
    }
    if (step == 8) {  // recorded steps go on with what they are given
      {
        hdf5::File file = hdf5::File::create(comm, path);
        other->save(file.root());
        file.close();
      }
      static_cast<void>(other->step(batch_of(another, *other), step, 0.1));
      const hdf5::File file = hdf5::File::open(comm, path);
      other->restore(file.root());
    }
    ++step;
  }
  if (comm.size() == 1 && !test::on_gpu()) {
    EXPECT_GE(observer.n_replays, 8) << what;
    EXPECT_GT(observer.n_operators, 100 * observer.n_replays) << what;
  } else if (comm.size() > 1) {
    EXPECT_EQ(observer.n_replays, 0) << "normalisation sends messages in the middle of a step";
  }
  EXPECT_EQ(observer.refused, std::vector<std::string>()) << what;
  const auto statistics = host->model().statistics, found = other->model().statistics;
  for (std::size_t i = 0; i < statistics.size(); ++i)
    EXPECT_NEAR(found[i], statistics[i], 1e-6 * (1 + std::abs(statistics[i]))) << what;
  comm.barrier();
}

TEST(RecordedSteps, of_any_batches_are_those_of_the_host_on_one_rank) {
  if (test::on_gpu()) testing::internal::CaptureStdout();
  expect_the_hosts_course(small_header(), {LossNorm::l2, 0.3, 0.2, 5}, "equations");
  if (Comm::world().size() > 1) GTEST_SKIP() << "long; another test compares ranks for every kind of model";
  expect_the_hosts_course(small_header(DecoderKind::continuous, DecoderBase::interpolation),
                          {LossNorm::l1, 0.3, 0.2, 5}, "corrections");
  FlowModelHeader header = small_header();
  header.options.encoder.block = ResidualMiddle::perturb;
  expect_the_hosts_course(header, {LossNorm::l2, 0.3, 0, 5}, "perturbed");
  header = small_header(DecoderKind::convolutional);
  header.equations.boundaries = {{"z.upper", FormulaText("u*b"), 2}};
  expect_the_hosts_course(header, {LossNorm::l2, 0, 0.2, 5}, "convolutional");
  if (!test::on_gpu()) return;
  const std::string said = testing::internal::GetCapturedStdout();
  std::fputs(said.c_str(), stdout);
  EXPECT_EQ(said.find("not recorded as CUDA graphs"), std::string::npos) << "operators were called";
}

/// A graph has the addresses of what it reads: nothing may lie elsewhere the next time.
TEST(RecordedSteps, read_the_same_memory_each_time) {
  const Comm comm = Comm::world();
  if (comm.size() > 1) GTEST_SKIP() << "recorded on one rank alone";
  if (test::on_gpu()) GTEST_SKIP() << "a graph's operators are not seen";
  for (const auto block : {ResidualMiddle::convolution, ResidualMiddle::perturb})
    for (const auto kind : {DecoderKind::continuous, DecoderKind::convolutional}) {
      FlowModelHeader header = small_header(kind);
      header.options.encoder.block = block;
      if (kind == DecoderKind::convolutional) header.equations.boundaries.clear();
      const bool derives = kind == DecoderKind::continuous;
      FlowTrainer<double> trainer(
          comm, FlowModel{header, {}, {}},
          options_on(test::device_session(), {LossNorm::l2, derives ? 0.3 : 0, derives ? 0.2 : 0, 5}),
          small_parameters());
      ReplayObserver observer;
      std::set<const void*> of_steps, of_validations;
      for (int step = 0; step < 6; ++step) {
        static_cast<void>(trainer.step(batch_of({10 * step}, trainer), step, 1e-3));
        const auto places = observer.take_outside();
        if (step == 2) of_steps = places;
        static_cast<void>(trainer.evaluate(batch_of({7 * step}, trainer), step));
        const auto validated = observer.take_outside();
        if (step == 2) of_validations = validated;
        if (step < 2) continue;
        EXPECT_EQ(observer.n_replays, 2 * (step - 1));
        EXPECT_GE(places.size(), 4U);
        EXPECT_EQ(places, of_steps) << "step " << step;
        EXPECT_EQ(validated, of_validations) << "step " << step;
      }
    }
}

TEST(RecordedSteps, of_more_shapes_than_are_kept_are_those_of_the_host) {
  const Comm comm = Comm::world();
  if (comm.size() > 1) GTEST_SKIP() << "recorded on one rank alone";
  const auto made = [&](const DeviceSession& on) {
    return FlowTrainer<double>(comm, FlowModel{small_header(), {}, {}},
                               options_on(on, {LossNorm::l2, 0, 0, 5}), small_parameters());
  };
  auto host = made({}), other = made(test::device_session());
  ReplayObserver observer;
  int step = 0;
  for (int round = 0; round < 2; ++round)
    for (int n_points = 1; n_points <= 20; ++n_points)
      for (int times = 0; times < 3; ++times, ++step) {
        const Given given{10 * step, n_points};
        const double expected = host.step(batch_of(given, host), step, 1e-4).total;
        ASSERT_NEAR(other.step(batch_of(given, other), step, 1e-4).total, expected, near(expected)) << step;
      }
  if (test::on_gpu()) return;
  EXPECT_EQ(observer.n_replays, OperatorRecorder::most_recordings * (1 + 3)) << "the first ones stay";
}

/// The gradient is there before the loss is looked at.
TEST(RecordedSteps, a_loss_that_is_no_number_leaves_weights_and_gradient) {
  const Comm comm = Comm::world();
  const DeviceSession& device = test::device_session();
  const auto made = [&] {
    return FlowTrainer<double>(comm, FlowModel{small_header(), {}, {}},
                               options_on(device, {LossNorm::l2, 0.3, 0.2, 5}), small_parameters());
  };
  auto trainer = made(), plain = made();
  for (int step = 0; step < 4; ++step)
    for (auto* one : {&trainer, &plain})
      static_cast<void>(one->step(batch_of({10 * step}, *one), step, 1e-3));
  Batch bad = batch_of({40}, trainer);
  bad.targets[0] = std::numeric_limits<float>::quiet_NaN();
  const auto before = trainer.model().parameters;
  EXPECT_THROW(static_cast<void>(trainer.step(bad, 4, 1e-3)), NumericalError);
  EXPECT_EQ(trainer.model().parameters, before);
  const double expected = plain.step(batch_of({50}, plain), 4, 1e-3).total;
  EXPECT_NEAR(trainer.step(batch_of({50}, trainer), 4, 1e-3).total, expected, near(expected));
  const auto found = trainer.model().parameters, wanted = plain.model().parameters;
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i)  // a GPU adds in no order
    ASSERT_NEAR(found[i], wanted[i], test::bound(0, 1e-6)) << "nothing was left of that gradient";
}

}  // namespace
}  // namespace quintet::flow
