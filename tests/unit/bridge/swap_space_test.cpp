#include "surrogates/bridge/swap_space.hpp"
#include "surrogates/bridge/operators.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>

#include "io/log/error.hpp"
#include "io/tiers/disk_file.hpp"
#include "io/tiers/page_arena.hpp"
#include "surrogates/bridge/arena_allocator.hpp"
#include "surrogates/bridge/block_pass.hpp"
#include "surrogates/bridge/torch_memory.hpp"

namespace quintet {
namespace {

constexpr double fast = 1e12;  ///< bytes/s: as fast as copying goes

/// Whether the middle of a tensor's memory has a page.
bool has_page(const at::Tensor& tensor) {
  const auto place = reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) + tensor.nbytes() / 2;
  unsigned char page = 0;
  mincore(reinterpret_cast<void*>(place / 4096 * 4096), 1, &page);
  return (page & 1) != 0;
}

TEST(SwapSpace, what_is_away_has_no_memory_and_comes_back) {
  Ledger ledger;
  SwapSpace space(ledger, fast);
  TorchMemory memory(ledger);
  space.start(memory);
  const at::TensorOptions real(at::kDouble);
  const at::Tensor before = at::ones({5000}, real);
  space.begin();
  at::Tensor inner = at::arange(10000, real), passing = at::ones({9000}, real);
  const at::Tensor stays = inner * 2;
  passing.reset();
  const int bundle = space.end({stays});
  const auto held = memory.held();
  space.send(bundle);
  space.wait(bundle);
  EXPECT_EQ(memory.held(), held - 80000);
  EXPECT_EQ(ledger.current(Tier::host, ByteCategory::staging), 80000U);
  EXPECT_FALSE(has_page(inner));
  EXPECT_TRUE(has_page(stays));
  EXPECT_TRUE(at::equal(before, at::ones({5000}, real)));
  space.fetch(bundle);
  EXPECT_EQ(memory.held(), held);
  space.wait(bundle);
  EXPECT_EQ(ledger.current(Tier::host, ByteCategory::staging), 0U);
  EXPECT_TRUE(at::equal(inner, at::arange(10000, real)));
  EXPECT_EQ(space.traffic().bytes, 160000);
  inner.reset();
  EXPECT_EQ(memory.held(), held - 80000);
  space.start(memory);
}

/// Seconds for which wait() waited for the last of four copies, of 10 ms each.
double waited_for_copies() {
  Ledger ledger;
  SwapSpace space(ledger, 8e6);  // bytes/s: 80 kB in 10 ms
  TorchMemory memory(ledger);
  space.start(memory);
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::vector<at::Tensor> tensors;
  std::vector<int> bundles;
  for (int i = 0; i < 3; ++i) {
    space.begin();
    tensors.push_back(at::full({10000}, i, at::kDouble));
    bundles.push_back(space.end({}));
    space.send(bundles.back());
  }
  space.fetch(bundles[0]);
  const bool is_done = space.is_done(bundles[2]);
  EXPECT_FALSE(is_done && passed() < 0.029);  // a busy machine may ask late
  space.wait(bundles[0]);
  EXPECT_TRUE(space.is_done(bundles[2]));
  const double seconds = passed();
  EXPECT_GE(seconds, 0.039);
  // Four copies, none counted twice; each may come late on a busy machine.
  EXPECT_GE(space.traffic().link, 0.039);
  EXPECT_LE(space.traffic().link, seconds);
  EXPECT_LE(space.traffic().waited, seconds);
  EXPECT_EQ(tensors[0][7].item<double>(), 0);
  return space.traffic().waited;
}

TEST(SwapSpace, copies_take_the_time_of_the_link) {
  double waited = 0;  // less where others have the processor before wait()
  for (int i = 0; i < 50 && waited < 0.03; ++i) waited = waited_for_copies();
  EXPECT_GE(waited, 0.03);
}

class SwapFile : public ::testing::Test {
 protected:
  SwapFile() { std::filesystem::create_directory(folder_); }
  ~SwapFile() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::shared_ptr<DiskFile> file() const {
    auto made = std::make_shared<DiskFile>(DiskFile::Options{folder_, "activations"});
    made->take_space(1 << 20, "a test's tensors");
    return made;
  }
  std::string folder_ = "swap_space_test.files";
};

/// Large tensors go straight from their pages, small ones through a buffer; the file grows.
TEST_F(SwapFile, what_is_away_is_in_the_file_and_in_no_memory) {
  use_page_arena();
  Ledger ledger;
  SwapSpace space(ledger, file());
  TorchMemory memory(ledger);
  space.start(memory);
  const at::TensorOptions real(at::kDouble);
  space.begin();
  at::Tensor small = at::arange(10000, real), large = at::arange(1000001, real);
  const int bundle = space.end({});
  const auto resident = PageArena::of_process().use().live;
  const auto held = memory.held();
  space.send(bundle);
  space.wait(bundle);
  EXPECT_EQ(memory.held(), held - 80000 - 8000008);
  EXPECT_EQ(ledger.current(Tier::file, ByteCategory::activations), 80000U + 8000008U);
  EXPECT_FALSE(has_page(small));
  EXPECT_FALSE(has_page(large));
  EXPECT_EQ(PageArena::of_process().use().live, resident - 8003584);  // whole pages
  EXPECT_GE(std::filesystem::file_size(folder_ + "/activations"), 8080000U);
  space.fetch(bundle);
  space.wait(bundle);
  EXPECT_EQ(memory.held(), held);
  EXPECT_EQ(ledger.current(Tier::file, ByteCategory::activations), 0U);
  EXPECT_TRUE(at::equal(small, at::arange(10000, real)));
  EXPECT_TRUE(at::equal(large, at::arange(1000001, real)));
}

TEST_F(SwapFile, what_cannot_be_read_is_told_to_who_waits) {
  Ledger ledger;
  const auto disk = file();
  SwapSpace space(ledger, disk);
  TorchMemory memory(ledger);
  space.start(memory);
  space.begin();
  at::Tensor away = at::arange(100000, at::kDouble);
  const int bundle = space.end({});
  space.send(bundle);
  space.wait(bundle);
  std::filesystem::resize_file(disk->path(), 0);
  space.fetch(bundle);
  EXPECT_THROW(space.wait(bundle), ResourceError);
  away.reset();
  EXPECT_EQ(ledger.current(Tier::file, ByteCategory::activations), 0U);
}

/// All segments of a pass are sent away and fetched before their backward pass.
class SwapAll : public BlockPass::Guard {
 public:
  explicit SwapAll(SwapSpace& space) : space_(space) {}
  void forward_begins(std::size_t segment) override {
    if (segment == 0) bundles_.clear();
    if (segment < 3) space_.begin();  // the caller's graph stays
  }
  void forward_ends(std::size_t, const std::vector<at::Tensor>& stay) override {
    bundles_.push_back(space_.end(stay));
    space_.send(bundles_.back());
  }
  void backward_begins(std::size_t segment) override {
    if (segment == 3) return;
    space_.fetch(bundles_[segment]);
    space_.wait(bundles_[segment]);
  }
  void backward_ends(std::size_t) override {}

 private:
  SwapSpace& space_;
  std::vector<int> bundles_;
};

struct Result {
  at::Tensor output;
  std::vector<at::Tensor> gradients;
};

/// A skip from `first` to `last`. @param space null, or where all segments go
/// @param fails in the middle of the forward pass
Result pass_through(Ledger& ledger, SwapSpace* space, bool fails = false, std::int64_t n = 4000) {
  TorchMemory memory(ledger);
  if (space) space->start(memory);
  std::optional<SwapAll> guard;
  if (space) guard.emplace(*space);
  const at::TensorOptions real(at::kDouble);
  std::vector<at::Tensor> weights;
  for (int i = 0; i < 3; ++i) weights.push_back((at::sin(at::arange(n, real) + i)).set_requires_grad(true));
  Result result;
  result.gradients.resize(3);
  BlockPass pass({}, {}, guard ? &*guard : nullptr);
  pass.put("input", at::cos(at::arange(n, real)));
  const auto trained = [&](int i) { return BlockPass::Trained{i, weights[i]}; };
  pass.begin_segment();
  pass.run(trained(0), "first", {"input"},
           [w = weights[0]](const auto& x) { return at::relu(at::tanh(x[0] * w) * w); });
  pass.begin_segment();
  pass.run(trained(1), "second", {"first"},
           [w = weights[1]](const auto& x) { return at::exp(at::sin(x[0] * w) * w); });
  pass.begin_segment();
  pass.run({}, "joined", {"second", "first"}, [fails](const auto& x) {
    if (fails) throw std::runtime_error("in the middle");
    return at::sin(x[0]) * at::cos(x[1]);
  });
  pass.release("second");
  pass.release("first");
  pass.run(trained(2), "last", {"joined"}, [w = weights[2]](const auto& x) { return at::tanh(x[0] * w); });
  result.output = at::tanh(pass.take("last"));
  pass.backward(
      {result.output}, {at::ones_like(result.output)}, {}, [](int) {},
      [&](int number, const at::Tensor& gradient) { result.gradients[number] = gradient; });
  return result;
}

TEST(SwapSpace, segments_that_were_away_have_the_same_gradients) {
  Ledger ledger;
  const Result kept = pass_through(ledger, nullptr);
  SwapSpace space(ledger, 1e9);
  for (int pass = 0; pass < 2; ++pass) {
    const Result swapped = pass_through(ledger, &space);
    EXPECT_TRUE(at::equal(kept.output, swapped.output));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(at::equal(kept.gradients[i], swapped.gradients[i])) << i;
  }
  EXPECT_GT(space.traffic().bytes, 2 * 2 * 5 * 32000);
  EXPECT_EQ(ledger.current(Tier::host, ByteCategory::staging), 0U);
}

TEST_F(SwapFile, segments_that_were_in_a_file_have_the_same_gradients) {
  Ledger ledger;
  const Result kept = pass_through(ledger, nullptr, false, 40000);
  SwapSpace space(ledger, file());
  for (int pass = 0; pass < 2; ++pass) {
    const Result swapped = pass_through(ledger, &space, false, 40000);
    EXPECT_TRUE(at::equal(kept.output, swapped.output));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(at::equal(kept.gradients[i], swapped.gradients[i])) << i;
  }
  EXPECT_GT(space.traffic().bytes, 2 * 2 * 5 * 320000);
  EXPECT_THROW(pass_through(ledger, &space, true), std::runtime_error);
  EXPECT_EQ(ledger.current(Tier::file, ByteCategory::activations), 0U);
}

TEST(SwapSpace, a_pass_that_fails_leaves_nothing) {
  Ledger ledger;
  SwapSpace space(ledger, 1e8);
  EXPECT_THROW(pass_through(ledger, &space, true), std::runtime_error);
  EXPECT_EQ(ledger.current(Tier::host, ByteCategory::staging), 0U);
  EXPECT_EQ(ledger.current(Tier::host, ByteCategory::activations), 0U);
  EXPECT_TRUE(at::equal(pass_through(ledger, nullptr).output, pass_through(ledger, &space).output));
}

}  // namespace
}  // namespace quintet
