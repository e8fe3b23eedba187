#include "surrogates/bridge/operator_recorder.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/fixed_inputs.hpp"
#include "surrogates/bridge/operators.hpp"
#include "tests/unit/bridge/replay_observer.hpp"

namespace quintet {
namespace {

TEST(OperatorRecorder, calls_then_records_and_replays) {
  at::Tensor x = at::zeros({3}), sum = at::zeros({3});
  OperatorRecorder recorder(at::kCPU, true);
  RepeatedOperators of;
  const ReplayObserver observer;
  for (int call = 0; call < 5; ++call) {
    x.fill_(call);
    recorder.compute(of, [&] { sum.add_(x); });
    EXPECT_EQ(of.recording != nullptr, call >= 2);
  }
  EXPECT_EQ(sum[0].item<double>(), 0 + 1 + 2 + 3 + 4) << "each once";
  EXPECT_EQ(observer.n_replays, 3);
  EXPECT_EQ(recorder.take_notice(), "");

  OperatorRecorder plain(at::kCPU, false);
  RepeatedOperators called;
  for (int call = 0; call < 5; ++call) plain.compute(called, [&] { sum.add_(1); });
  EXPECT_EQ(called.recording, nullptr);
}

TEST(OperatorRecorder, makes_so_many_recordings_and_no_more) {
  int n_tries = 0;
  OperatorRecorder recorder([&](std::function<void()> operators) {
    ++n_tries;
    return TorchRecorder(at::kCPU).record(std::move(operators));
  });
  constexpr int n = OperatorRecorder::most_recordings + 3;
  std::vector<RepeatedOperators> all(n);
  double sum = 0;
  for (int call = 0; call < 4; ++call)
    for (auto& of : all) recorder.compute(of, [&] { sum += 1; });
  EXPECT_EQ(sum, 4 * n);
  EXPECT_EQ(n_tries, OperatorRecorder::most_recordings);
  EXPECT_EQ(all.back().recording, nullptr);
  EXPECT_NE(all.front().recording, nullptr);
  EXPECT_EQ(recorder.take_notice(), "");
}

TEST(OperatorRecorder, what_cannot_be_recorded_is_called_ever_after) {
  int n_tries = 0;
  OperatorRecorder recorder([&](const std::function<void()>&) -> std::unique_ptr<TorchRecording> {
    ++n_tries;
    TORCH_CHECK(false, "operation not permitted when stream is capturing\nwith more");
  });
  RepeatedOperators first, second;
  double sum = 0;
  for (int call = 1; call <= 5; ++call) {
    recorder.compute(first, [&] { sum += call; });
    recorder.compute(second, [&] { sum += 100 * call; });
  }
  EXPECT_EQ(sum, 101 * 15);
  EXPECT_EQ(n_tries, 1);
  EXPECT_EQ(recorder.take_notice(), "operation not permitted when stream is capturing");
  EXPECT_EQ(recorder.take_notice(), "") << "once";
}

TEST(FixedInputs, stay_where_they_are) {
  const auto numbers = [](double by) {
    return std::vector<at::Tensor>{at::arange(6, at::kDouble).view({2, 3}) * by,
                                   at::arange(5, at::kLong) * static_cast<std::int64_t>(by),
                                   at::empty({0, 4}, at::kFloat), (at::ones({3, 1}, at::kFloat) * by).t()};
  };
  FixedInputs inputs(at::kCPU, numbers(1));
  std::vector<const void*> places;
  for (const auto& tensor : inputs.there()) places.push_back(tensor.const_data_ptr());
  for (const double by : {2., 3.}) {
    const auto given = numbers(by);
    inputs.fill(given);
    for (std::size_t i = 0; i < given.size(); ++i) {
      EXPECT_TRUE(at::equal(inputs.there()[i], given[i])) << i;
      EXPECT_EQ(inputs.there()[i].const_data_ptr(), places[i]) << i;
    }
  }
  auto other = numbers(1);
  other[0] = other[0].to(at::kFloat);
  EXPECT_THROW(inputs.fill(other), InternalError);
  other[0] = at::zeros({3, 2}, at::kDouble);
  EXPECT_THROW(inputs.fill(other), InternalError);
  other.pop_back();
  EXPECT_THROW(inputs.fill(other), InternalError);
}

}  // namespace
}  // namespace quintet
