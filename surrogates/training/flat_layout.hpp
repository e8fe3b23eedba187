#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quintet {

/// A block of a network and its tensors, in their order.
struct BlockTensors {
  /// Where the numbers of a tensor are in the order of files: rows of `n` numbers, `stride` apart.
  struct Rows {
    std::size_t first = 0, n = 0, stride = 0;
  };
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::optional<Rows> rows = {};  ///< none: behind all tensors before it
    [[nodiscard]] std::size_t size() const;
  };
  /// A block that is a part of a layer of another one, which stands before it and stays at hand while its
  /// parts come and go. A forward pass takes a layer's parts row by row, a backward pass column by column and
  /// the last layer first.
  struct Part {
    int of = -1;  ///< the other block; -1: not a part
    int layer = 0, row = 0, column = 0;
  };
  std::string name;
  std::vector<Tensor> tensors;
  Part part = {};
  [[nodiscard]] std::size_t size() const;
};
/// Block of a single tensor of `n` numbers.
[[nodiscard]] std::vector<BlockTensors> one_block(const std::string& name, std::size_t n);

/// The way of a pass through the blocks.
enum class PassWay {
  forward,
  backward,
  again  ///< a block runs forward once more, before its backward pass
};

/// Numbers of a unit, and the unit that is at hand with it, see BlockTensors::Part.
struct UnitSize {
  UnitSize(double numbers, int inside = -1) : n(numbers), within(inside) {}  // NOLINT: most are a number
  double n;
  int within;
};
/// Numbers of a rank's slices of units, s_k = 16 ceil(Y_k/(16 N)).
struct SliceNumbers {
  double all = 0, largest = 0;
  double at_hand = 0;        ///< of the units that a network computes with at one time
  double with_the_next = 0;  ///< and of the next one, which is on its way
};
[[nodiscard]] SliceNumbers slice_numbers(std::span<const UnitSize> units, double n_ranks);

/// Where tensors lie in the flat arrays of a training (values, gradients, states), and how N ranks divide
/// them.
///
/// Blocks follow each other; as many as a bucket holds form a unit, which is reduced and gathered at once. A
/// part of a layer, and the block that it is a part of, are units by themselves.
/// Unit k of Y_k numbers takes N slices of
///
///     s_k = 16 ceil(Y_k/(16 N)),
///
/// whole packs and cache lines; what is left over at its end stays 0. `first` is a place in the array without
/// such padding. The order of files knows neither ranks nor parts.
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
    int within = -1;            ///< unit that stays at hand with it
    std::array<int, 3> next{};  ///< [PassWay] unit that a pass comes to after it; -1: none
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
  [[nodiscard]] std::vector<UnitSize> unit_sizes() const;
  /// Whether a layer is in parts.
  [[nodiscard]] bool has_parts() const { return !runs_.empty(); }

  /// Arrays without padding, from the order of blocks into that of files, and back.
  template <class Real>
  [[nodiscard]] std::vector<Real> to_file_order(std::vector<Real> values) const {
    return runs_.empty() ? std::move(values) : reordered<Real>(values, &Run::here, &Run::file);
  }
  /// @param room memory for it, where the orders differ
  template <class Real>
  [[nodiscard]] std::span<const Real> from_file_order(std::span<const Real> values,
                                                      std::vector<Real>& room) const {
    if (runs_.empty()) return values;
    return room = reordered<Real>(values, &Run::file, &Run::here);
  }

 private:
  struct Run {
    std::size_t here, file, n;
  };
  template <class Real>
  [[nodiscard]] std::vector<Real> reordered(std::span<const Real> values, std::size_t Run::*from,
                                            std::size_t Run::*to) const {
    if (values.empty()) return {};  // of a rank that has none
    std::vector<Real> made(n_parameters_);
    for (const Run& run : runs_) std::copy_n(&values[run.*from], run.n, &made[run.*to]);
    return made;
  }
  void find_runs(std::span<const BlockTensors> blocks);
  void find_ways(std::span<const BlockTensors> blocks);

  std::vector<Tensor> tensors_;
  std::vector<Block> blocks_;
  std::vector<Unit> units_;
  std::vector<Run> runs_;  ///< none: the order of files is that of blocks
  std::size_t n_parameters_ = 0, padded_ = 0, slices_ = 0, largest_slice_ = 0;
};

}  // namespace quintet
