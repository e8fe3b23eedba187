#include "surrogates/bridge/block_pass.hpp"

#include <optional>
#include <utility>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "io/log/error.hpp"

namespace quintet {

void BlockPass::put(const std::string& name, const at::Tensor& value) { tensors_[name] = value.detach(); }

void BlockPass::run(const Trained& trained, const std::string& name, const std::vector<std::string>& inputs,
                    const Forward& forward) {
  Block block{trained, name, {}, {}};
  std::vector<at::Tensor> cut;
  for (const auto& input : inputs) {
    const auto found = tensors_.find(input);
    if (found == tensors_.end()) throw InternalError(fmt::format("block {} reads no tensor {}", name, input));
    cut.push_back(found->second.detach().requires_grad_(found->second.requires_grad()));
    block.inputs.push_back({input, cut.back()});
  }
  block.output = forward(cut);
  tensors_[name] = block.output;
  blocks_.push_back(std::move(block));
}

at::Tensor BlockPass::take(const std::string& name) {
  const at::Tensor made = tensors_.at(name);
  tensors_.clear();
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
  if (trained.number >= 0) begin(trained.number);
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
  while (!blocks_.empty()) {
    const Block block = std::move(blocks_.back());
    blocks_.pop_back();
    const auto bar = bars_.extract(block.name);
    if (bar.empty()) throw InternalError(fmt::format("nothing depends on block {}", block.name));
    differentiate({block.output}, {bar.mapped()}, block.trained, block.inputs, begin, finish);
  }
}

}  // namespace quintet
