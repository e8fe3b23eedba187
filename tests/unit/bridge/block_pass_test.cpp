#include "surrogates/bridge/block_pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/bridge/torch_memory.hpp"

namespace quintet {
namespace {

using Policy = BlockPass::Policy;

/// What a pass through five blocks makes: `first` is read by `second` and, as a skip, by `last`; `noisy`
/// drops numbers at random, `counts` counts its calls.
struct Result {
  at::Tensor output;
  std::vector<at::Tensor> gradients;
  double next_random = 0;
  int calls = 0;
  std::int64_t held = 0;  ///< bytes between the forward and the backward pass
};

Result pass_through(const std::vector<Policy>& policies) {
  at::manual_seed(3);
  const std::int64_t n = 4000;
  const at::TensorOptions real(at::kDouble);
  std::vector<at::Tensor> weights;
  for (int i = 0; i < 3; ++i) weights.push_back((at::sin(at::arange(n, real) + i)).set_requires_grad(true));
  Result result;
  result.gradients.resize(3);
  Ledger ledger;
  TorchMemory memory(ledger);
  BlockPass pass(policies);
  pass.put("input", at::cos(at::arange(n, real)));
  const auto trained = [&](int i) { return BlockPass::Trained{i, weights[i]}; };
  pass.begin_segment();
  pass.run(trained(0), "first", {"input"}, [w = weights[0]](const auto& x) { return at::tanh(x[0] * w); });
  pass.release("input");
  pass.begin_segment();
  pass.run({}, "noisy", {"first"}, [](const auto& x) { return at::dropout(at::sin(x[0]), 0.4, true); });
  pass.run(trained(1), "second", {"noisy"}, [w = weights[1], &result](const auto& x) {
    ++result.calls;
    return at::exp(at::sin(x[0] * w) * w);
  });
  pass.release("noisy");
  pass.begin_segment();
  pass.run({}, "joined", {"second", "first"}, [](const auto& x) { return at::sin(x[0]) * at::cos(x[1]); });
  pass.release("second");
  pass.release("first");
  pass.run(trained(2), "last", {"joined"}, [w = weights[2]](const auto& x) { return at::tanh(x[0] * w); });
  const at::Tensor end = pass.take("last");
  result.held = memory.held();
  result.output = at::tanh(end);
  pass.backward(
      {result.output}, {at::ones_like(result.output)}, {}, [](int) {},
      [&](int number, const at::Tensor& gradient) { result.gradients[number] = gradient; });
  result.next_random = at::rand({1}, real).item<double>();
  return result;
}

TEST(BlockPass, recomputed_segments_give_the_same_bits) {
  const Result kept = pass_through({});
  EXPECT_EQ(kept.calls, 1);
  for (int mask = 1; mask < 8; ++mask) {
    std::vector<Policy> policies;
    for (int i = 0; i < 3; ++i) policies.push_back((mask >> i & 1) != 0 ? Policy::recompute : Policy::keep);
    const Result again = pass_through(policies);
    EXPECT_EQ(again.calls, (mask & 2) != 0 ? 2 : 1);
    EXPECT_TRUE(at::equal(kept.output, again.output)) << mask;
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_TRUE(at::equal(kept.gradients[i], again.gradients[i])) << mask << ", block " << i;
    EXPECT_EQ(kept.next_random, again.next_random) << mask;
    // The first segment has nothing that others do not hold.
    if (mask != 1) {
      EXPECT_LT(again.held, kept.held) << mask;
    }
  }
  // What is held then: inputs of three segments, one of them twice the skip, and the end.
  const Result all = pass_through({Policy::recompute, Policy::recompute, Policy::recompute});
  EXPECT_LT(all.held, 4 * 4000 * 8 + 3 * 6000) << "tensors, and states of random numbers";
}

TEST(BlockPass, a_tensor_that_was_given_up_is_missed) {
  BlockPass pass({Policy::recompute});
  pass.put("input", at::ones({2}));
  pass.run({}, "a", {"input"}, [](const auto& x) { return at::sin(x[0]); });
  pass.release("input");
  EXPECT_THROW(pass.run({}, "b", {"input"}, [](const auto& x) { return x[0]; }), InternalError);
}

TEST(BlockPass, tells_when_a_segment_is_done) {
  std::string seen;
  const at::Tensor weight = at::ones({4}).set_requires_grad(true);
  BlockPass pass({Policy::keep, Policy::recompute}, [&](BlockPass::Event event, std::size_t segment) {
    seen += "faBo"[static_cast<int>(event)] + std::to_string(segment);
  });
  pass.put("input", at::ones({4}));
  for (const int i : {0, 1}) {
    pass.begin_segment();
    pass.run({i, weight}, std::to_string(i), {i == 0 ? "input" : "0"},
             [&](const auto& x) { return at::sin(x[0] * weight); });
  }
  const at::Tensor end = pass.take("1");
  pass.backward(
      {at::sin(end)}, {at::ones({4})}, {}, [](int) {}, [](int, const at::Tensor&) {});
  EXPECT_EQ(seen, "f0f1o2a1B1B0");
}

}  // namespace
}  // namespace quintet
