#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quintet {

/// A block of a network and its tensors, in their order.
struct BlockTensors {
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    [[nodiscard]] std::size_t size() const;
  };
  std::string name;
  std::vector<Tensor> tensors;
  [[nodiscard]] std::size_t size() const;
};
/// What is one tensor to those who divide it: `n` numbers.
[[nodiscard]] std::vector<BlockTensors> one_block(const std::string& name, std::size_t n);

/// Where tensors lie in the flat arrays of a training (values, gradients, states), and how N ranks divide
/// them.
///
/// Blocks follow each other; as many as a bucket holds form a unit, which is reduced and gathered at once.
/// Unit k of Y_k numbers takes N slices of
///
///     s_k = 16 ceil(Y_k/(16 N)),
///
/// whole packs and cache lines; what is left over at its end stays 0. `first` is a place in the array without
/// such padding: the order of files, which knows no ranks.
class FlatLayout {
 public:
  struct Tensor {
    int block = 0;
    std::string name;
    std::size_t offset = 0;
    std::vector<std::int64_t> shape;
  };
  struct Block {
    std::string name;
    int unit = 0;
    std::size_t offset = 0, first = 0, size = 0;
  };
  struct Unit {
    int first_block = 0;
    std::size_t offset = 0, first = 0, size = 0, slice = 0;
  };

  /// @param bucket numbers: going backwards, as gradients become complete, a unit ends with the block that
  /// fills it; 0: each block for itself. Throws InputError for fewer numbers than ranks.
  FlatLayout(std::span<const BlockTensors> blocks, int n_ranks, std::size_t bucket);

  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<Unit>& units() const { return units_; }
  [[nodiscard]] std::size_t n_parameters() const { return n_parameters_; }
  [[nodiscard]] std::size_t padded() const { return padded_; }
  /// Sum over units of a rank's slice, and the largest one.
  [[nodiscard]] std::size_t slices() const { return slices_; }
  [[nodiscard]] std::size_t largest_slice() const { return largest_slice_; }

 private:
  std::vector<Tensor> tensors_;
  std::vector<Block> blocks_;
  std::vector<Unit> units_;
  std::size_t n_parameters_ = 0, padded_ = 0, slices_ = 0, largest_slice_ = 0;
};

}  // namespace quintet
