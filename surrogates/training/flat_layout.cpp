#include "surrogates/training/flat_layout.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "io/log/error.hpp"

namespace quintet {

std::size_t BlockTensors::Tensor::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::size_t BlockTensors::size() const {
  std::size_t n = 0;
  for (const auto& tensor : tensors) n += tensor.size();
  return n;
}

std::vector<BlockTensors> one_block(const std::string& name, std::size_t n) {
  return {{name, {{"parameters", {static_cast<std::int64_t>(n)}}}}};
}

SliceNumbers slice_numbers(std::span<const UnitSize> units, double n_ranks) {
  const auto slice = [&](double n) { return 16 * std::ceil(n / (16 * n_ranks)); };
  SliceNumbers numbers;
  struct Outer {
    double slice, largest_part = 0;
  };
  std::vector<Outer> outer;
  for (const auto& unit : units) {
    const double one = slice(unit.n);
    numbers.all += one;
    numbers.largest = std::max(numbers.largest, one);
    if (unit.within < 0)
      outer.push_back({one});
    else
      outer.back().largest_part = std::max(outer.back().largest_part, one);
  }
  for (std::size_t u = 0; u < outer.size(); ++u) {
    const double here = outer[u].slice + outer[u].largest_part;
    double next = outer[u].largest_part;
    if (u > 0) next = std::max(next, outer[u - 1].slice);
    if (u + 1 < outer.size()) next = std::max(next, outer[u + 1].slice);
    numbers.at_hand = std::max(numbers.at_hand, here);
    numbers.with_the_next = std::max(numbers.with_the_next, here + next);
  }
  return numbers;
}

namespace {

/// Blocks that are units by themselves: parts, and what they are parts of.
std::vector<bool> alone(std::span<const BlockTensors> blocks) {
  std::vector<bool> is_alone(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (const int of = blocks[b].part.of; of >= 0) is_alone[b] = is_alone[of] = true;
  return is_alone;
}

}  // namespace

FlatLayout::FlatLayout(std::span<const BlockTensors> blocks, int n_ranks, std::size_t bucket) {
  constexpr std::size_t grain = 16;  // numbers: 64 bytes of float
  const std::size_t ranks = n_ranks;
  // Units, last first: gradients are complete from the end.
  std::vector<std::size_t> unit_sizes;
  std::vector<std::size_t> unit_of(blocks.size());
  bool is_open = false;
  const auto is_alone = alone(blocks);
  for (std::size_t b = blocks.size(); b-- > 0;) {
    if (!is_open || is_alone[b]) unit_sizes.push_back(0);
    unit_sizes.back() += blocks[b].size();
    unit_of[b] = unit_sizes.size() - 1;
    is_open = unit_sizes.back() < bucket && !is_alone[b];
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const int number = unit_sizes.size() - 1 - unit_of[b];
    if (number == std::ssize(units_)) {
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
  find_runs(blocks);
  find_ways(blocks);
}

void FlatLayout::find_runs(std::span<const BlockTensors> blocks) {
  std::size_t here = 0;
  bool differs = false;
  for (const auto& block : blocks)
    for (const auto& tensor : block.tensors) {
      const auto rows = tensor.rows.value_or(BlockTensors::Rows{here, tensor.size(), 0});
      differs = differs || tensor.rows;
      std::size_t file = rows.first;
      for (const std::size_t end = here + tensor.size(); here < end; here += rows.n, file += rows.stride)
        runs_.push_back({here, file, rows.n});
    }
  if (!differs) return runs_.clear();
  auto by_file = runs_;
  std::sort(by_file.begin(), by_file.end(), [](const Run& a, const Run& b) { return a.file < b.file; });
  std::size_t file = 0;
  for (const Run& run : by_file) {
    if (run.file != file) throw InternalError("tensors do not cover the order of files");
    file += run.n;
  }
}

void FlatLayout::find_ways(std::span<const BlockTensors> blocks) {
  using Part = BlockTensors::Part;
  const int n = units_.size();
  std::vector<int> backward;  // units in that order
  for (int last = n; last > 0;) {
    int first = last - 1;
    const auto part_of = [&](int unit) -> const Part& { return blocks[units_[unit].first_block].part; };
    while (part_of(first).of >= 0) --first;
    std::vector<int> parts(last - first - 1);
    std::iota(parts.begin(), parts.end(), first + 1);
    for (const int part : parts) units_[part].within = first;
    std::sort(parts.begin(), parts.end(), [&](int a, int b) {
      const Part &x = part_of(a), &y = part_of(b);
      return std::tuple(-x.layer, x.column, x.row) < std::tuple(-y.layer, y.column, y.row);
    });
    backward.push_back(first);
    backward.insert(backward.end(), parts.begin(), parts.end());
    last = first;
  }
  const auto set = [&](int unit, PassWay way, int next) {
    units_[unit].next[static_cast<std::size_t>(way)] = next;
  };
  for (std::size_t i = 0; i < backward.size(); ++i) {
    const int unit = backward[i], next = i + 1 < backward.size() ? backward[i + 1] : -1;
    set(unit, PassWay::backward, next);
    set(unit, PassWay::forward, unit + 1 < n ? unit + 1 : -1);
    set(unit, PassWay::again, next);
  }
  // Once more: a block's parts as in the forward pass, then the first that goes backward.
  for (int unit = 0; unit + 1 < n; ++unit)
    if (units_[unit + 1].within >= 0) set(unit, PassWay::again, unit + 1);
  for (const int first : backward) {
    int last = first;
    while (last + 1 < n && units_[last + 1].within == first) ++last;
    if (last > first)
      set(last, PassWay::again, units_[first].next[static_cast<std::size_t>(PassWay::backward)]);
  }
}

std::vector<UnitSize> FlatLayout::unit_sizes() const {
  std::vector<UnitSize> sizes;
  for (const auto& unit : units_) sizes.push_back({static_cast<double>(unit.size), unit.within});
  return sizes;
}

}  // namespace quintet
