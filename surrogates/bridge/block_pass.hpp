#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
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
///
/// Blocks that follow each other may be a segment which is recomputed: of its forward pass nothing stays but
/// the tensors that it reads from outside (and, being their inputs, those that others read of it). Before its
/// backward pass it is run once more, with the state that torch's random numbers (CPU) had, which go on
/// afterwards as if nothing had been; gradients are the same to the last bit.
/// Source: Chen et al. 2016 (arXiv 1604.06174); Wahib et al. 2020 (SC20).
class BlockPass {
 public:
  /// Makes a block's output. Where the block is recomputed it is called twice, with the same inputs, the
  /// second time during backward(); what it refers to lives as long, and it keeps what it changes elsewhere
  /// (running statistics) from changing twice.
  using Forward = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;
  /// Called with a block's number before its values are read in the backward pass.
  using Begin = std::function<void(int number)>;
  /// Called with a block's number and gradient (undefined: 0), as soon as it is complete.
  using Finish = std::function<void(int number, const at::Tensor& gradient)>;
  /// The number of a block that is trained, and its parameters, one tensor. -1 and undefined: it has none.
  struct Trained {
    int number = -1;
    at::Tensor parameters;
  };

  enum class Policy {
    keep,      ///< all that the backward pass reads
    recompute  ///< what comes from outside
  };
  /// Event of a segment.
  enum class Event {
    forward,   ///< its forward pass
    again,     ///< once more, for a recomputed one
    backward,  ///< its backward pass
    own        ///< the backward pass of the caller's graph; no segment
  };
  using Watch = std::function<void(Event event, std::size_t segment)>;
  /// Has the word before and after a segment's passes, and so the say about where its tensors are meanwhile.
  /// The caller's own graph counts as one segment more, the last.
  class Guard {
   public:
    virtual ~Guard() = default;
    virtual void forward_begins(std::size_t segment) = 0;
    /// @param stay tensors that others may still read
    virtual void forward_ends(std::size_t segment, const std::vector<at::Tensor>& stay) = 0;
    virtual void backward_begins(std::size_t segment) = 0;
    virtual void backward_ends(std::size_t segment) = 0;
  };

  BlockPass() = default;
  /// @param policies [segment]; keep for those that follow @param guard null, or one that outlives this
  explicit BlockPass(std::vector<Policy> policies, Watch watch = {}, Guard* guard = nullptr)
      : policies_(std::move(policies)), watch_(std::move(watch)), guard_(guard) {}

  /// A tensor to begin with; no gradient by it is formed.
  void put(const std::string& name, const at::Tensor& value);
  /// Blocks from here on are a new segment. One that is recomputed trains one block at most.
  void begin_segment();
  /// Run a block: `forward` of tensors that were put or made before makes tensor `name`.
  void run(const Trained& trained, const std::string& name, const std::vector<std::string>& inputs,
           const Forward& forward);
  /// No block to come reads this tensor.
  void release(const std::string& name) { tensors_.erase(name); }
  /// Tensor `name`, nobody's input any more, from which the caller goes on in a graph of his own.
  [[nodiscard]] at::Tensor take(const std::string& name);
  /// The caller's graph, from `outputs` with adjoints `bars` back to the tensor taken, then the blocks.
  /// @param own what the caller's graph trains @param begin, finish called for blocks that are trained
  void backward(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& bars,
                const Trained& own, const Begin& begin, const Finish& finish);
  /// Whether blocks are running forward once more now, in the backward pass.
  [[nodiscard]] bool runs_again() const { return runs_again_; }

 private:
  struct Input {
    std::string name;
    at::Tensor cut;
  };
  struct Block {
    Trained trained;
    std::string name;
    std::vector<Input> inputs;
    at::Tensor output;  ///< undefined: it has no graph
    Forward forward;    ///< of one that is recomputed
  };
  struct Segment {
    Policy policy = Policy::keep;
    std::vector<Block> blocks;
    std::map<std::string, at::Tensor> inputs;  ///< of a recomputed one, from outside
    at::Tensor random;                         ///< state of random numbers before it
  };
  [[nodiscard]] const at::Tensor& tensor(const std::string& name, const std::string& reader) const;
  void run_with_graph(Block& block);
  void run_without_graph(Segment& segment, Block& block);
  void run_again(Segment& segment, const Begin& begin);
  void end_segment(const std::vector<at::Tensor>& stay);
  void tell(Event event, std::size_t segment) const {
    if (watch_) watch_(event, segment);
  }
  void differentiate(std::vector<at::Tensor> outputs, std::vector<at::Tensor> bars, const Trained& trained,
                     const std::vector<Input>& inputs, const Begin& begin, const Finish& finish);

  std::vector<Policy> policies_;
  Watch watch_;
  Guard* guard_ = nullptr;
  std::map<std::string, at::Tensor> tensors_, bars_;
  std::vector<Segment> segments_;
  Input taken_;
  bool runs_again_ = false;
};

}  // namespace quintet
