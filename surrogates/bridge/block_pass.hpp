#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace quintet {

/// A forward pass through the named blocks of a network, and its backward pass block by block, last first.
///
/// Each block has a graph of its own, on inputs cut off from the graphs before it, so that the caller has the
/// word between two blocks of the backward pass: a block's gradient is complete, and its graph is gone,
/// before the next one begins. A tensor that several blocks read (a skip) adds their gradients, the later
/// block's first. Gradients pass from block to block in the memory layout that torch gave them, so that sums
/// are those of one graph to the last bit (where a leaf keeps a gradient, torch may lay it out anew).
class BlockPass {
 public:
  using Forward = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;
  /// Called with a block's number before its backward pass.
  using Begin = std::function<void(int number)>;
  /// Called with a block's number and gradient (undefined: 0), as soon as it is complete.
  using Finish = std::function<void(int number, const at::Tensor& gradient)>;
  /// The number of a block that is trained, and its parameters, one tensor. -1 and undefined: it has none.
  struct Trained {
    int number = -1;
    at::Tensor parameters;
  };

  /// A tensor to begin with; no gradient by it is formed.
  void put(const std::string& name, const at::Tensor& value);
  /// Run a block: `forward` of tensors that were put or made before makes tensor `name`.
  void run(const Trained& trained, const std::string& name, const std::vector<std::string>& inputs,
           const Forward& forward);
  /// Tensor `name`, nobody's input any more, from which the caller goes on in a graph of his own.
  [[nodiscard]] at::Tensor take(const std::string& name);
  /// The caller's graph, from `outputs` with adjoints `bars` back to the tensor taken, then the blocks.
  /// @param own what the caller's graph trains @param begin, finish called for blocks that are trained
  void backward(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& bars,
                const Trained& own, const Begin& begin, const Finish& finish);

 private:
  struct Input {
    std::string name;
    at::Tensor cut;
  };
  struct Block {
    Trained trained;
    std::string name;
    std::vector<Input> inputs;
    at::Tensor output;
  };
  void differentiate(std::vector<at::Tensor> outputs, std::vector<at::Tensor> bars, const Trained& trained,
                     const std::vector<Input>& inputs, const Begin& begin, const Finish& finish);

  std::map<std::string, at::Tensor> tensors_, bars_;
  std::vector<Block> blocks_;
  Input taken_;
};

}  // namespace quintet
