#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "physics/electronic/device/dense_kernels.hpp"
#include "physics/electronic/device/device_submatrices.hpp"
#include "physics/electronic/device/series_kernels.hpp"
#include "physics/kernels/dense_multiply.hpp"

namespace quintet::electronic::device {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// Memory of the device that grows and is not given back.
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
    Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(to.data(), n),
                      Kokkos::subview(view_, std::pair<std::size_t, std::size_t>(0, n)));
  }
  T* data() const { return view_.data(); }

 private:
  Kokkos::View<T*, Memory> view_;
};

#ifdef KOKKOS_ENABLE_CUDA

/// c += a b for a [8, 4], b [4, 8], c [8, 8] spread over the lanes of a warp: lane holds a(lane / 4, lane %
/// 4), b(lane % 4, lane / 4), c(lane / 4, 2 (lane % 4)) and the element beside it.
__device__ inline void multiply_add(double (&c)[2], double a, double b) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
#else
  const int lane = threadIdx.x % 32, row = lane / 4, column = 2 * (lane % 4);
  for (int k = 0; k < 4; ++k) {
    const double element = __shfl_sync(0xffffffff, a, 4 * row + k);
    c[0] += element * __shfl_sync(0xffffffff, b, 4 * column + k);
    c[1] += element * __shfl_sync(0xffffffff, b, 4 * (column + 1) + k);
  }
#endif
}

/// A block of threads: a warp for each tile.
struct Block {
  int rank, size;
  __device__ void sync() const { __syncthreads(); }

  template <class Real>
  __device__ void advance(const Recurrence<Real>& kernel, const Place& s, const ColumnPack& columns, int k,
                          const Real* current, Real* next, double* to) const {
    const int lane = rank % 32;
    for (int t = rank / 32; t < s.n_tiles; t += size / 32) {
      const Tile tile = kernel.b.tile[s.tiles + t];
      const std::int64_t flat = s.blocks + tile.block;
      const std::int32_t first = kernel.b.begin[flat + columns.task],
                         rows = kernel.b.begin[flat + columns.task + 1] - first;
      const int row = lane / 4;
      double c[2] = {0, 0};
      multiply(kernel.b, flat, rows, tile.first + (row < tile.height ? row : 0), current, c);
      if (row >= tile.height) continue;  // such rows were those of row 0: not kept
      for (int i = 0; i < 2; ++i)
        kernel.finish(s, columns, k, first + tile.first + row, 2 * (lane % 4) + i, static_cast<Real>(c[i]),
                      current, next, to);
    }
  }

  /// c = rows of A times x, of which this lane takes row `at` and columns lane % 4, 4 + lane % 4, ...
  template <class Real>
  __device__ void multiply(const Batch& b, std::int64_t flat, int rows, int at, const Real* x,
                           double (&c)[2]) const {
    constexpr int steps = 4, lanes = Recurrence<Real>::lanes;
    const int lane = rank % 32, inner = lane % 4, column = lane / 4;
    for (std::int64_t e = b.entries_begin[flat]; e < b.entries_begin[flat + 1]; ++e) {
      const Entry entry = b.entry[e];
      const double* a = b.value + entry.offset + at;
      const Real* vector = x + entry.begin * lanes + column;
      for (int from = inner; from - inner < entry.count; from += 4 * steps) {
        double left[steps], right[steps];
#pragma unroll
        for (int i = 0; i < steps; ++i) {
          const bool has = from + 4 * i < entry.count;
          left[i] = has ? a[static_cast<std::ptrdiff_t>(from + 4 * i) * rows] : 0.0;
          right[i] = has ? static_cast<double>(vector[(from + 4 * i) * lanes]) : 0.0;
        }
#pragma unroll
        for (int i = 0; i < steps; ++i) multiply_add(c, left[i], right[i]);
      }
    }
  }
};
/// Packs first, first + blocks, ... below `end`. large: [blocks][2, lanes, n] where a block's own memory is
/// too small.
template <class Real>
__global__ void __launch_bounds__(1024) run_packs(Recurrence<Real> kernel, std::int64_t first,
                                                  std::int64_t end, Real* large, std::size_t stride) {
  extern __shared__ __align__(16) unsigned char own_memory[];
  Real* const shared = large == nullptr ? reinterpret_cast<Real*>(own_memory) : large + blockIdx.x * stride;
  for (std::int64_t p = first + blockIdx.x; p < end; p += gridDim.x)
    kernel.run(Block{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)}, p, shared);
}

/// Kokkos gives a team 48 KB at most; the processor has more.
template <class Real>
void launch(const Recurrence<Real>& kernel, std::size_t begin, std::size_t end, int n, Buffer<char>& large) {
  const cudaDeviceProp& device = Exec().cuda_device_prop();
  const std::size_t bytes = Recurrence<Real>::shared_bytes(n);
  const int threads = n > 700 ? 1024 : n > 300 ? 512 : 256;
  const bool fits = bytes <= device.sharedMemPerBlockOptin;
  const auto blocks =
      static_cast<int>(fits ? end - begin : std::min<std::size_t>(end - begin, device.multiProcessorCount));
  cudaFuncSetAttribute(run_packs<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(device.sharedMemPerBlockOptin));
  run_packs<Real><<<blocks, threads, fits ? bytes : 0, Exec().cuda_stream()>>>(
      kernel, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end),
      fits ? nullptr : reinterpret_cast<Real*>(large.reserve(bytes * blocks)), bytes / sizeof(Real));
  if (const auto code = cudaGetLastError(); code != cudaSuccess)
    throw std::runtime_error(std::string("submatrices on the GPU: ") + cudaGetErrorString(code));
}

#else

/// One thread.
struct Alone {
  static constexpr int rank = 0, size = 1;
  void sync() const {}
  template <class Real>
  void advance(const Recurrence<Real>& kernel, const Place& s, const ColumnPack& columns, int k,
               const Real* current, Real* next, double* to) const {
    for (int t = 0; t < s.n_tiles; ++t)
      kernel.advance(s, columns, kernel.b.tile[s.tiles + t], k, current, next, to);
  }
};
template <class Real>
void launch(const Recurrence<Real>& kernel, std::size_t begin, std::size_t end, int n, Buffer<char>& large) {
  const auto threads = static_cast<std::size_t>(Exec().concurrency());
  const std::size_t bytes = (Recurrence<Real>::shared_bytes(n) + 63) / 64 * 64;
  char* const memory = large.reserve(bytes * threads);
  Kokkos::parallel_for("submatrix::series", Kokkos::RangePolicy<Exec>(0, threads), [=](std::size_t t) {
    for (std::size_t p = begin + t; p < end; p += threads)
      kernel.run(Alone{}, static_cast<std::int64_t>(p), reinterpret_cast<Real*>(memory + t * bytes));
  });
}

#endif

class Submatrices final : public DeviceSubmatrices {
 public:
  explicit Submatrices(double batch_bytes) : batch_bytes_(batch_bytes) {}

  void set_matrix(const BlockRowsView& a) override {
    size_.assign(a.size.begin(), a.size.end());
    row_begin_host_.assign(a.row_begin.begin(), a.row_begin.end());
    row_begin_.copy(a.row_begin);
    column_.copy(a.column);
    offset_.copy(a.offset);
    value_.copy(a.value);
  }

  void evaluate(std::span<const WantedColumns> tasks, const SeriesView& series, bool single_precision,
                const Done& done) override {
    std::vector<double> coefficient;
    for (const auto& function : series.coefficients)
      coefficient.insert(coefficient.end(), function.begin(), function.end());
    coefficient_.copy(coefficient);
    for (std::size_t begin = 0; begin < tasks.size();) {
      const std::size_t end = load(tasks, begin, series.coefficients.size());
      if (single_precision)
        run<float>(series);
      else
        run<double>(series);
      if (!hand_over(begin, end, series, done)) return;
      begin = end;
    }
  }
  void newton_schulz(std::span<const WantedColumns> tasks, double mu, double error, int order,
                     const DoneSign& done) override {
    by_size(tasks, [&](std::size_t task, std::size_t i) {
      if (i == 0) {
        histories_ = iterate(mu, error, order);
        values_.copy_to(host_values_, static_cast<std::size_t>(n_values_));
      }
      const Place& s = place_[i];
      const std::size_t size = has_converged(histories_[i], s.n, error)
                                   ? static_cast<std::size_t>(s.n) * static_cast<std::size_t>(s.n_own)
                                   : 0;
      return done(task, std::span(host_values_).subspan(static_cast<std::size_t>(s.values), size),
                  histories_[i]);
    });
  }

  void eigenpairs(std::span<const WantedColumns> tasks, const DonePairs& done) override {
    std::vector<double> values, vectors;
    by_size(tasks, [&](std::size_t task, std::size_t i) {
      if (i == 0) rotate();
      sorted_pairs(i, values, vectors);
      return done(task, values, vectors);
    });
  }
  double kernel_seconds() const override { return kernel_seconds_; }

 private:
  /// Batches of submatrices of about a size: visit(task, i) for each that is number i of the batch at hand,
  /// until it returns false.
  template <class Visit>
  void by_size(std::span<const WantedColumns> tasks, const Visit& visit) {
    std::vector<std::size_t> order(tasks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rows_of(tasks[a]) > rows_of(tasks[b]); });
    std::vector<WantedColumns> sorted;
    for (const std::size_t i : order) sorted.push_back(tasks[i]);
    for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
      end = load(sorted, begin, 1, true);
      for (std::size_t i = begin; i < end; ++i)
        if (!visit(order[i], i - begin)) return;
    }
  }

  int rows_of(const WantedColumns& task) const {
    int n = 0;
    for (const auto block : task.blocks) n += size_[static_cast<std::size_t>(block)];
    return n;
  }
  /// Rows of the dense matrices that submatrices of n rows are iterated in.
  static int padded(int n) { return (n + 15) / 16 * 16; }
  static double dense_bytes(int m) { return n_dense * 8.0 * m * m; }
  static bool has_converged(const std::vector<double>& history, int n, double error) {
    return history.back() <= error * std::sqrt(static_cast<double>(n));
  }

  /// The submatrices of a batch as dense matrices.
  struct Dense {
    Batch b;
    int m, count;
    double* x;
  };
  Dense fill_dense() {
    const int m = padded(place_.front().n), count = static_cast<int>(place_.size());
    const std::int64_t n = std::int64_t{m} * m * count;
    const Dense d{batch(), m, count, dense_[0].reserve(static_cast<std::size_t>(n))};
    over("submatrix::clear", n, Scale{0, d.x, d.x, true});
    over("submatrix::fill_dense", static_cast<std::int64_t>(block_.size()) * FillDense::lanes,
         FillDense{d.b, m, d.x});
    Kokkos::fence();
    return d;
  }
  template <class Kernel>
  void over(const char* label, std::int64_t items, const Kernel& kernel) const {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(space_, 0, items), kernel);
  }
  /// Of each matrix the largest column sum (1) or the sum of squares (2).
  const double* norms(const Dense& d, int norm, const double* of) {
    const std::int64_t n_columns = std::int64_t{d.count} * d.m;
    double* const sums = sums_.reserve(static_cast<std::size_t>(n_columns));
    over("submatrix::column_sums", n_columns, ColumnSums{d.m, norm, of, sums});
    double* const result = norms_.reserve(place_.size());
    over("submatrix::norms", d.count, MatrixNorm{d.m, norm, sums, result});
    return result;
  }

  /// Eigenpairs of the batch, to sorted_pairs().
  void rotate() {
#ifdef KOKKOS_ENABLE_CUDA
    constexpr int threads = 16, lanes = 32;
#else
    constexpr int threads = 1, lanes = 1;
#endif
    const Dense d = fill_dense();
    const std::int64_t n_columns = std::int64_t{d.count} * d.m;
    const Kokkos::Timer timer;
    const double* const norm = norms(d, 1, d.x);
    over("submatrix::make_positive", n_columns, MakePositive{d.b, d.m, norm, d.x});
    Kokkos::parallel_for(
        "submatrix::jacobi", Kokkos::TeamPolicy<Exec>(space_, d.count, threads, lanes),
        Jacobi<Exec>{d.b, d.m, norm, d.x, levels_.reserve(static_cast<std::size_t>(n_columns)),
                     sweeps_.reserve(place_.size())});
    Kokkos::fence();
    kernel_seconds_ += timer.seconds();
    dense_[0].copy_to(host_vectors_, static_cast<std::size_t>(n_columns) * static_cast<std::size_t>(d.m));
    levels_.copy_to(host_levels_, static_cast<std::size_t>(n_columns));
    sweeps_.copy_to(host_sweeps_, place_.size());
  }

  /// Of number i of the batch; empty if it has not converged.
  void sorted_pairs(std::size_t i, std::vector<double>& values, std::vector<double>& vectors) const {
    const auto n = static_cast<std::size_t>(place_[i].n),
               m = static_cast<std::size_t>(padded(place_.front().n));
    values.clear();
    vectors.clear();
    const double* const level = host_levels_.data() + i * m;
    // A greatest cosine, as a GPU finds it, leaves out those that are no numbers.
    const bool is_finite = std::all_of(level, level + n, [](double one) { return std::isfinite(one); });
    if (!is_finite || host_sweeps_[i] > Jacobi<Exec>::most_sweeps) return;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return level[a] < level[b]; });
    for (const std::size_t c : order) {
      values.push_back(level[c]);
      const double* const column = host_vectors_.data() + (i * m + c) * m;
      vectors.insert(vectors.end(), column, column + n);
    }
  }

  /// The Newton-Schulz iteration of the batch; its columns are then in values_. History of each matrix.
  std::vector<std::vector<double>> iterate(double mu, double error, int order) {
    constexpr double coefficient[] = {1, 1.0 / 2, 3.0 / 8, 5.0 / 16};
    const Dense d = fill_dense();
    const int m = d.m, count = d.count;
    const std::int64_t size = std::int64_t{m} * m, n_columns = std::int64_t{count} * m, n = size * count;
    double *x = d.x, *r = dense_[1].reserve(n), *f = dense_[2].reserve(n), *next = dense_[3].reserve(n);
    std::vector<std::int32_t> task_of_own;
    for (std::size_t i = 0; i < place_.size(); ++i)
      task_of_own.insert(task_of_own.end(), static_cast<std::size_t>(place_[i].n_own), static_cast<int>(i));
    const std::int32_t* const device_task_of_own = device_task_of_own_.copy(task_of_own);
    double* const values = values_.reserve(static_cast<std::size_t>(n_values_));
    const Kokkos::Timer timer;
    over("submatrix::shift", n_columns, ShiftRows{d.b, m, mu, x});
    over("submatrix::normalise", n_columns, Normalise{d.b, m, norms(d, 1, x), x});

    std::vector<std::vector<double>> histories(place_.size());
    std::vector<double> squares;
    std::vector<char> goes_on(place_.size(), 1);
    const auto any = [&] { return std::find(goes_on.begin(), goes_on.end(), 1) != goes_on.end(); };
    for (int k = 0; any(); ++k) {
      multiplier_.multiply(space_, quintet::device::SquareProducts{x, x, r, m, count, -1});
      over("submatrix::add_to_diagonal", n_columns, AddToDiagonal{m, 1, r});
      (void)norms(d, 2, r);
      Kokkos::fence();
      norms_.copy_to(squares, place_.size());
      // Horner: c_0 + R (c_1 + R (c_2 + ...))
      over("submatrix::scale", n, Scale{coefficient[order - 1], r, f, false});
      for (int c = order - 2; c > 0; --c) {
        over("submatrix::add_to_diagonal", n_columns, AddToDiagonal{m, coefficient[c], f});
        multiplier_.multiply(space_, quintet::device::SquareProducts{r, f, next, m, count});
        std::swap(f, next);
      }
      over("submatrix::copy", n, Scale{1, x, next, false});
      multiplier_.multiply(space_, quintet::device::SquareProducts{x, f, next, m, count, 1, true});
      over("submatrix::take_next", n, TakeNext{size, goes_on_.copy(goes_on), next, x});
      for (std::size_t i = 0; i < place_.size(); ++i) {
        if (goes_on[i] == 0) continue;
        histories[i].push_back(std::sqrt(squares[i]));
        goes_on[i] = !has_converged(histories[i], place_[i].n, error) && k + 1 < most_iterations ? 1 : 0;
      }
    }
    over("submatrix::own_columns", static_cast<std::int64_t>(own_.size()) * m,
         OwnOfSign{d.b, m, device_task_of_own, x, values});
    Kokkos::fence();
    kernel_seconds_ += timer.seconds();
    return histories;
  }

  double bytes_of(const WantedColumns& task, int n, std::size_t n_functions) const {
    double blocks = 0;
    for (const auto block : task.blocks)
      blocks += static_cast<double>(row_begin_host_[block + 1] - row_begin_host_[block]);
    return 8.0 * static_cast<double>(n_functions) * n * static_cast<double>(task.own.size()) +
           sizeof(Entry) * std::min(blocks, static_cast<double>(task.blocks.size() * task.blocks.size())) +
           8.0 * n;
  }

  /// Bring tasks from `begin` on to the device, as many as the batch holds; returns their end.
  std::size_t load(std::span<const WantedColumns> tasks, std::size_t begin, std::size_t n_functions,
                   bool dense = false) {
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
      bytes += bytes_of(task, n, n_functions) + (dense ? dense_bytes(padded(n)) : 0);
      if (end > begin && (bytes > batch_bytes_ || (dense && padded(n) != padded(place_.front().n)))) break;
      const auto number = static_cast<std::int32_t>(place_.size());
      place_.push_back({static_cast<std::int64_t>(block_.size()), static_cast<std::int64_t>(tile_.size()),
                        n_values_, static_cast<std::int32_t>(task.blocks.size()), 0, n,
                        static_cast<std::int32_t>(task.own.size()), static_cast<std::int32_t>(own_.size())});
      n_values_ += static_cast<std::int64_t>(n_functions) * n * static_cast<std::int64_t>(task.own.size());
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
      for (int first = 0; first < static_cast<int>(task.own.size()); first += 8)
        pack_.push_back(
            {number, first, std::min<std::int32_t>(8, static_cast<std::int32_t>(task.own.size()) - first)});
    }
    // The largest first: the last ones to start are short. Those of one size share a launch's fast memory.
    std::stable_sort(pack_.begin(), pack_.end(), [this](const ColumnPack& a, const ColumnPack& b) {
      return place_[a.task].n > place_[b.task].n;
    });
    return end;
  }

  Batch batch() {
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

  void find_entries(Batch& b) {
    const auto n = static_cast<std::int64_t>(block_.size());
    Kokkos::deep_copy(Kokkos::View<std::int64_t, Memory, Kokkos::MemoryUnmanaged>(b.entries_begin),
                      std::int64_t{0});
    std::int64_t n_entries = 0;
    Kokkos::parallel_scan("submatrix::count_entries", Kokkos::RangePolicy<Exec>(0, n), CountEntries{b},
                          n_entries);
    b.entry = entry_.reserve(static_cast<std::size_t>(n_entries) + 1);
    Kokkos::parallel_for("submatrix::fill_entries", Kokkos::RangePolicy<Exec>(0, n),
                         FillEntries{b, elements_.reserve(block_.size())});
  }

  template <class Real>
  void run(const SeriesView& series) {
    const int n_terms = static_cast<int>(series.coefficients.front().size());
    Batch b = batch();
    Recurrence<Real> kernel{b,
                            device_pack_.copy(pack_),
                            coefficient_.data(),
                            static_cast<int>(series.coefficients.size()),
                            n_terms,
                            series.centre,
                            series.half_width,
                            values_.reserve(static_cast<std::size_t>(n_values_)),
                            moments_.reserve(pack_.size() * static_cast<std::size_t>(n_terms))};
    Kokkos::fence();
    const Kokkos::Timer timer;
    find_entries(b);
    kernel.b = b;
    // Launches by size: a group's memory is that of the largest of a launch, and small groups leave room for
    // others.
    for (std::size_t begin = 0; begin < pack_.size();) {
      const int n = place_[pack_[begin].task].n;
      std::size_t end = begin + 1;
      while (end < pack_.size() && place_[pack_[end].task].n * 4 >= n * 3) ++end;
      launch(kernel, begin, end, n, shared_);
      begin = end;
    }
    Kokkos::fence();
    kernel_seconds_ += timer.seconds();
  }

  bool hand_over(std::size_t begin, std::size_t end, const SeriesView& series, const Done& done) {
    const std::size_t n_terms = series.coefficients.front().size();
    values_.copy_to(host_values_, static_cast<std::size_t>(n_values_));
    moments_.copy_to(host_moments_, pack_.size() * n_terms);
    elements_.copy_to(host_elements_, block_.size());
    std::vector<double> sums(place_.size() * n_terms, 0.0);
    for (std::size_t p = 0; p < pack_.size(); ++p)
      for (std::size_t k = 0; k < n_terms; ++k)
        sums[static_cast<std::size_t>(pack_[p].task) * n_terms + k] += host_moments_[p * n_terms + k];
    for (std::size_t i = begin; i < end; ++i) {
      const Place& s = place_[i - begin];
      double n_elements = 0;
      for (std::int32_t k = 0; k < s.n_blocks; ++k)
        n_elements += static_cast<double>(host_elements_[static_cast<std::size_t>(s.blocks + k)]);
      const auto n_values =
          series.coefficients.size() * static_cast<std::size_t>(s.n) * static_cast<std::size_t>(s.n_own);
      if (!done(i, std::span(host_values_).subspan(static_cast<std::size_t>(s.values), n_values),
                std::span(sums).subspan((i - begin) * n_terms, n_terms), n_elements))
        return false;
    }
    return true;
  }

  static constexpr int n_dense = 4, most_iterations = 60;
  Exec space_;
  quintet::device::DenseMultiplier<Exec> multiplier_{space_};
  Buffer<double> dense_[n_dense], sums_, norms_, levels_;
  Buffer<int> sweeps_;
  std::vector<double> host_vectors_, host_levels_;
  std::vector<int> host_sweeps_;
  std::vector<std::vector<double>> histories_;
  Buffer<char> goes_on_;
  Buffer<std::int32_t> device_task_of_own_;
  double batch_bytes_, kernel_seconds_ = 0;
  std::vector<std::int32_t> size_;
  std::vector<std::int64_t> row_begin_host_;
  Buffer<std::int64_t> row_begin_, offset_, entries_begin_, elements_;
  std::vector<std::int64_t> host_elements_;
  Buffer<std::int32_t> column_;
  Buffer<double> value_, coefficient_, values_, moments_;
  Buffer<Entry> entry_;
  Buffer<char> shared_;  ///< of groups whose own memory is too small
  Buffer<Place> device_place_;
  Buffer<ColumnPack> device_pack_;
  Buffer<std::int32_t> device_block_, device_begin_, device_task_of_, device_own_;
  std::vector<Place> place_;
  std::vector<ColumnPack> pack_;
  std::vector<std::int32_t> block_, begin_, task_of_, own_;
  std::vector<Tile> tile_;
  Buffer<Tile> device_tile_;
  std::int64_t n_values_ = 0;
  std::vector<double> host_values_, host_moments_;
};

}  // namespace
}  // namespace quintet::electronic::device

quintet::electronic::DeviceSubmatrices* quintet_make_device_submatrices(double batch_bytes) {
  return new quintet::electronic::device::Submatrices(batch_bytes);
}
