#include "physics/electronic/device/batches.hpp"

namespace quintet::electronic::device {

void Batches::set_matrix(const BlockRowsView& a) {
  size_.assign(a.size.begin(), a.size.end());
  row_begin_host_.assign(a.row_begin.begin(), a.row_begin.end());
  row_begin_.copy(a.row_begin);
  column_.copy(a.column);
  offset_.copy(a.offset);
  value_.copy(a.value);
}

int Batches::rows_of(const WantedColumns& task) const {
  int n = 0;
  for (const auto block : task.blocks) n += size_[block];
  return n;
}

double Batches::bytes_of(const WantedColumns& task, int n, std::size_t n_functions) const {
  double blocks = 0;
  for (const auto block : task.blocks) blocks += row_begin_host_[block + 1] - row_begin_host_[block];
  return 8.0 * n_functions * n * task.own.size() +
         sizeof(Entry) * std::min<double>(blocks, task.blocks.size() * task.blocks.size()) + 8.0 * n;
}

std::size_t Batches::load(std::span<const WantedColumns> tasks, std::size_t begin, const Wanted& wanted) {
  place_.clear();
  pack_.clear();
  block_.clear();
  begin_.clear();
  tile_.clear();
  task_of_.clear();
  own_.clear();
  n_values_ = 0;
  double bytes = 0;
  std::size_t end = begin;
  for (; end < tasks.size(); ++end) {
    const WantedColumns& task = tasks[end];
    const int n = rows_of(task);
    bytes += bytes_of(task, n, wanted.n_functions) + wanted.n_dense * 8.0 * padded(n) * padded(n);
    if (end > begin && (bytes > bytes_ || (wanted.n_dense > 0 && padded(n) != padded(place_.front().n))))
      break;
    const std::int32_t number = place_.size();
    place_.push_back({std::ssize(block_), std::ssize(tile_), n_values_,
                      static_cast<std::int32_t>(task.blocks.size()), 0, n,
                      static_cast<std::int32_t>(task.own.size()), static_cast<std::int32_t>(own_.size())});
    n_values_ += wanted.n_functions * n * task.own.size();
    int row = 0;
    for (std::size_t i = 0; i < task.blocks.size(); ++i) {
      const int rows = size_[task.blocks[i]];
      begin_.push_back(row);
      block_.push_back(task.blocks[i]);
      task_of_.push_back(number);
      for (int first = 0; first < rows; first += max_height)
        tile_.push_back({static_cast<std::int32_t>(i), first, std::min(max_height, rows - first)});
      row += rows;
    }
    begin_.push_back(row);
    place_.back().n_tiles =
        static_cast<std::int32_t>(tile_.size()) - static_cast<std::int32_t>(place_.back().tiles);
    own_.insert(own_.end(), task.own.begin(), task.own.end());
    for (int first = 0; first < std::ssize(task.own); first += 8)
      pack_.push_back(
          {number, first, std::min<std::int32_t>(8, static_cast<std::int32_t>(task.own.size()) - first)});
  }
  // The largest first: the last ones to start are short. Those of one size share a launch's fast memory.
  std::stable_sort(pack_.begin(), pack_.end(), [this](const ColumnPack& a, const ColumnPack& b) {
    return place_[a.task].n > place_[b.task].n;
  });
  return end;
}

Batch Batches::view() {
  return {row_begin_.data(),
          column_.data(),
          offset_.data(),
          value_.data(),
          device_place_.copy(place_),
          device_block_.copy(block_),
          device_begin_.copy(begin_),
          device_tile_.copy(tile_),
          device_task_of_.copy(task_of_),
          device_own_.copy(own_),
          entries_begin_.reserve(block_.size() + 1),
          nullptr};
}

}  // namespace quintet::electronic::device
