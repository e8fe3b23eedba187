#include "surrogates/training/flat_layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "io/log/error.hpp"

namespace quintet {

std::size_t BlockTensors::Tensor::size() const {
  return static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

std::size_t BlockTensors::size() const {
  std::size_t n = 0;
  for (const auto& tensor : tensors) n += tensor.size();
  return n;
}

std::vector<BlockTensors> one_block(const std::string& name, std::size_t n) {
  return {{name, {{"parameters", {static_cast<std::int64_t>(n)}}}}};
}

FlatLayout::FlatLayout(std::span<const BlockTensors> blocks, int n_ranks, std::size_t bucket) {
  constexpr std::size_t grain = 16;  // numbers: 64 bytes of float
  const auto ranks = static_cast<std::size_t>(n_ranks);
  // Units, last first: gradients are complete from the end.
  std::vector<std::size_t> unit_sizes;
  std::vector<std::size_t> unit_of(blocks.size());
  bool is_open = false;
  for (std::size_t b = blocks.size(); b-- > 0;) {
    if (!is_open) unit_sizes.push_back(0);
    unit_sizes.back() += blocks[b].size();
    unit_of[b] = unit_sizes.size() - 1;
    is_open = unit_sizes.back() < bucket;
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto number = static_cast<int>(unit_sizes.size() - 1 - unit_of[b]);
    if (number == static_cast<int>(units_.size())) {
      const std::size_t size = unit_sizes[unit_of[b]];
      const std::size_t slice = grain * ((size + grain * ranks - 1) / (grain * ranks));
      units_.push_back({static_cast<int>(b), padded_, n_parameters_, size, slice});
      padded_ += slice * ranks;
      slices_ += slice;
      largest_slice_ = std::max(largest_slice_, slice);
    }
    const Unit& unit = units_.back();
    Block& block = blocks_.emplace_back(Block{
        blocks[b].name, number, unit.offset + n_parameters_ - unit.first, n_parameters_, blocks[b].size()});
    std::size_t offset = block.offset;
    for (const auto& tensor : blocks[b].tensors) {
      tensors_.push_back({static_cast<int>(b), tensor.name, offset, tensor.shape});
      offset += tensor.size();
    }
    n_parameters_ += block.size;
  }
  QUINTET_CHECK(n_parameters_ >= ranks,
                "{} parameters cannot be divided among {} ranks; expected at least one a rank", n_parameters_,
                n_ranks);
}

}  // namespace quintet
