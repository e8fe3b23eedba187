#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "physics/electronic/device/device_submatrices.hpp"
#include "physics/electronic/device/series_kernels.hpp"

namespace quintet::electronic::device {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// Memory of the device that grows.
template <class T>
class Buffer {
 public:
  T* reserve(std::size_t n) {
    if (n > view_.extent(0)) {
      view_ = {};
      view_ = Kokkos::View<T*, Memory>(
          Kokkos::view_alloc(std::string("submatrix::buffer"), Kokkos::WithoutInitializing), n + n / 8);
    }
    return view_.data();
  }
  T* copy(std::span<const T> from) {
    reserve(std::max<std::size_t>(from.size(), 1));
    if (!from.empty())
      Kokkos::deep_copy(
          Kokkos::subview(view_, std::pair<std::size_t, std::size_t>(0, from.size())),
          Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
    return view_.data();
  }
  void copy_to(std::vector<T>& to, std::size_t n) const {
    to.resize(n);
    copy_to(std::span<T>(to));
  }
  void copy_to(std::span<T> to) const {
    Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(to.data(), to.size()),
                      Kokkos::subview(view_, std::pair<std::size_t, std::size_t>(0, to.size())));
  }
  T* data() const { return view_.data(); }
  void give_back() { view_ = {}; }

 private:
  Kokkos::View<T*, Memory> view_;
};

/// The matrix on the device, and the submatrices of it that are worked on at a time: places and lists, on the
/// host and there.
class Batches {
 public:
  struct Wanted {
    std::size_t n_functions = 1;  ///< of which there are columns
    int n_dense = 0;              ///< dense matrices for each submatrix, which then have padded rows alike
  };

  /// @param bytes of results, lists and dense matrices at a time
  explicit Batches(double bytes) : bytes_(bytes) {}
  void set_matrix(const BlockRowsView& a);
  /// Bring tasks from `begin` on to the device, as many as the batch holds; returns their end.
  std::size_t load(std::span<const WantedColumns> tasks, std::size_t begin, const Wanted& wanted);
  /// The batch as kernels see it.
  [[nodiscard]] Batch view();

  [[nodiscard]] int rows_of(const WantedColumns& task) const;
  /// Rows of the dense matrices that submatrices of n rows are iterated in.
  static int padded(int n) { return (n + 15) / 16 * 16; }

  [[nodiscard]] const std::vector<Place>& places() const { return place_; }
  [[nodiscard]] const std::vector<ColumnPack>& packs() const { return pack_; }
  [[nodiscard]] std::size_t n_blocks() const { return block_.size(); }
  [[nodiscard]] std::size_t n_own() const { return own_.size(); }
  [[nodiscard]] std::size_t n_values() const { return n_values_; }

 private:
  [[nodiscard]] double bytes_of(const WantedColumns& task, int n, std::size_t n_functions) const;

  double bytes_;
  std::vector<std::int32_t> size_;
  std::vector<std::int64_t> row_begin_host_;
  Buffer<std::int64_t> row_begin_, offset_, entries_begin_;
  Buffer<std::int32_t> column_;
  Buffer<double> value_;
  Buffer<Place> device_place_;
  Buffer<std::int32_t> device_block_, device_begin_, device_task_of_, device_own_;
  Buffer<Tile> device_tile_;
  std::vector<Place> place_;
  std::vector<ColumnPack> pack_;
  std::vector<std::int32_t> block_, begin_, task_of_, own_;
  std::vector<Tile> tile_;
  std::int64_t n_values_ = 0;
};

}  // namespace quintet::electronic::device
