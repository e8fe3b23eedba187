#include "surrogates/bridge/block_pass.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"

namespace quintet {

namespace {

at::Tensor random_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}
void set_random_state(const at::Tensor& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace

void BlockPass::put(const std::string& name, const at::Tensor& value) { tensors_[name] = value.detach(); }

const at::Tensor& BlockPass::tensor(const std::string& name, const std::string& reader) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw InternalError(fmt::format("block {} reads no tensor {}", reader, name));
  return found->second;
}

void BlockPass::begin_segment() {
  std::vector<at::Tensor> stay;
  for (const auto& [name, tensor] : tensors_) stay.push_back(tensor);
  end_segment(stay);
  const std::size_t number = segments_.size();
  if (guard_) guard_->forward_begins(number);
  segments_.push_back({number < policies_.size() ? policies_[number] : Policy::keep, {}, {}, {}});
}

void BlockPass::end_segment(const std::vector<at::Tensor>& stay) {
  if (segments_.empty()) return;
  if (guard_) guard_->forward_ends(segments_.size() - 1, stay);
  tell(Event::forward, segments_.size() - 1);
}

void BlockPass::run(const Trained& trained, const std::string& name, const std::vector<std::string>& inputs,
                    const Forward& forward) {
  if (segments_.empty()) begin_segment();
  Segment& segment = segments_.back();
  Block& block = segment.blocks.emplace_back(Block{trained, name, {}, {}, forward});
  for (const auto& input : inputs) block.inputs.push_back({input, {}});
  if (segment.policy == Policy::recompute) return run_without_graph(segment, block);
  run_with_graph(block);
  block.forward = nullptr;
}

void BlockPass::run_with_graph(Block& block) {
  std::vector<at::Tensor> cut;
  for (auto& input : block.inputs) {
    const at::Tensor& value = tensor(input.name, block.name);
    input.cut = value.detach().requires_grad_(value.requires_grad());
    cut.push_back(input.cut);
  }
  block.output = block.forward(cut);
  tensors_[block.name] = block.output;
}

void BlockPass::run_without_graph(Segment& segment, Block& block) {
  const at::AutoGradMode no_graph(false);
  if (!segment.random.defined()) segment.random = random_state();
  std::vector<at::Tensor> values;
  bool depends = block.trained.parameters.defined();  // on something that is trained
  for (const auto& input : block.inputs) {
    const at::Tensor& value = tensor(input.name, block.name);
    depends = depends || value.requires_grad();
    const bool made_here = std::any_of(segment.blocks.begin(), segment.blocks.end(),
                                       [&](const Block& one) { return one.name == input.name; });
    if (!made_here) segment.inputs[input.name] = value;
    values.push_back(value.detach());
  }
  tensors_[block.name] = block.forward(values).detach().requires_grad_(depends);
}

void BlockPass::run_again(Segment& segment, const Begin& begin) {
  const at::AutoGradMode graph(true);
  const at::Tensor random = random_state();
  set_random_state(segment.random);
  tensors_ = std::exchange(segment.inputs, {});
  runs_again_ = true;
  int n_trained = 0;
  for (auto& block : segment.blocks) {
    if (block.trained.number >= 0) {
      if (++n_trained > 1) throw InternalError("a segment that is recomputed trains one block at most");
      begin(block.trained.number);
    }
    run_with_graph(block);
    block.forward = nullptr;
  }
  tensors_.clear();
  runs_again_ = false;
  set_random_state(random);
}

at::Tensor BlockPass::take(const std::string& name) {
  const at::Tensor made = tensors_.at(name);
  tensors_.clear();
  end_segment({made});
  if (guard_) guard_->forward_begins(segments_.size());
  taken_ = {name, made.detach().requires_grad_(made.requires_grad())};
  return taken_.cut;
}

void BlockPass::differentiate(std::vector<at::Tensor> outputs, std::vector<at::Tensor> bars,
                              const Trained& trained, const std::vector<Input>& inputs, const Begin& begin,
                              const Finish& finish) {
  std::vector<at::Tensor> by;
  for (const auto& [name, cut] : inputs) {
    if (!cut.requires_grad()) continue;
    by.push_back(cut);
    // What later blocks have found comes first, and this block's parts are added one by one, as in one graph.
    if (const auto found = bars_.extract(name)) {
      outputs.push_back(cut);
      bars.push_back(found.mapped());
    }
  }
  if (trained.parameters.defined()) by.push_back(trained.parameters);
  if (by.empty()) return;
  if (trained.number >= 0 && begin) begin(trained.number);
  const auto found = torch::autograd::grad(outputs, by, bars, /*retain_graph=*/std::nullopt,
                                           /*create_graph=*/false, /*allow_unused=*/true);
  auto next = found.begin();
  for (const auto& [name, cut] : inputs) {
    if (!cut.requires_grad()) continue;
    if (next->defined()) bars_[name] = *next;
    ++next;
  }
  if (trained.number >= 0) finish(trained.number, *next);
}

void BlockPass::backward(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& bars,
                         const Trained& own, const Begin& begin, const Finish& finish) {
  const at::AutoGradMode no_graph(false);
  differentiate(outputs, bars, own, {std::exchange(taken_, {})}, begin, finish);
  tell(Event::own, segments_.size());
  if (guard_) {
    guard_->backward_begins(segments_.size());
    guard_->backward_ends(segments_.size());
  }
  for (; !segments_.empty(); segments_.pop_back()) {
    Segment& segment = segments_.back();
    const std::size_t number = segments_.size() - 1;
    if (guard_) guard_->backward_begins(number);
    if (segment.policy == Policy::recompute) {
      run_again(segment, begin);
      tell(Event::again, number);
      segment.random.reset();  // now: a watch would count it as freed by the next segment
    }
    while (!segment.blocks.empty()) {
      const Block block = std::move(segment.blocks.back());
      segment.blocks.pop_back();
      const auto bar = bars_.extract(block.name);
      if (bar.empty()) throw InternalError(fmt::format("nothing depends on block {}", block.name));
      differentiate({block.output}, {bar.mapped()}, block.trained, block.inputs,
                    segment.policy == Policy::recompute ? Begin() : begin, finish);
    }
    tell(Event::backward, number);
    if (guard_) guard_->backward_ends(number);
  }
}

}  // namespace quintet
