#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "physics/electronic/device/batches.hpp"
#include "physics/electronic/device/dense_functions.hpp"
#include "physics/electronic/device/device_submatrices.hpp"
#include "physics/electronic/device/product_kernels.hpp"
#include "physics/electronic/device/series_kernels.hpp"

namespace quintet::electronic::device {
namespace {

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
          left[i] = has ? a[std::int64_t{from + 4 * i} * rows] : 0.0;
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
  const int blocks = fits ? end - begin : std::min<std::size_t>(end - begin, device.multiProcessorCount);
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
  const std::size_t threads = Exec().concurrency();
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
  explicit Submatrices(double batch_bytes) : batches_(batch_bytes) {}

  void set_matrix(const BlockRowsView& a) override { batches_.set_matrix(a); }
  void evaluate(std::span<const WantedColumns> tasks, const SeriesView& series, bool single_precision,
                const Done& done) override {
    std::vector<double> coefficient;
    for (const auto& function : series.coefficients)
      coefficient.insert(coefficient.end(), function.begin(), function.end());
    coefficient_.copy(coefficient);
    for (std::size_t begin = 0; begin < tasks.size();) {
      const std::size_t end = batches_.load(tasks, begin, {.n_functions = series.coefficients.size()});
      if (single_precision)
        run<float>(series);
      else
        run<double>(series);
      if (!hand_over(begin, end, series, done)) return;
      begin = end;
    }
  }
  [[nodiscard]] std::unique_ptr<DeviceProduct> product_with(const BlockColumnsView& a, std::size_t n_rows,
                                                            int n_vectors) override {
    return std::make_unique<ProductOnSpace>(a, n_rows, n_vectors);
  }
  void multiply(const BlockFactorsView& factors, std::span<double> c) override {
    multiply_blocks(factors, c);
  }
  void newton_schulz(std::span<const WantedColumns> tasks, double mu, double error, int order,
                     const DoneSign& done) override {
    dense_.newton_schulz(tasks, mu, error, order, done);
  }
  void eigenpairs(std::span<const WantedColumns> tasks, const DonePairs& done) override {
    dense_.eigenpairs(tasks, done);
  }
  double kernel_seconds() const override { return kernel_seconds_ + dense_.kernel_seconds(); }

 private:
  void find_entries(Batch& b) {
    const std::int64_t n = batches_.n_blocks();
    Kokkos::deep_copy(Kokkos::View<std::int64_t, Memory, Kokkos::MemoryUnmanaged>(b.entries_begin),
                      std::int64_t{0});
    std::int64_t n_entries = 0;
    Kokkos::parallel_scan("submatrix::count_entries", Kokkos::RangePolicy<Exec>(0, n), CountEntries{b},
                          n_entries);
    b.entry = entry_.reserve(static_cast<std::size_t>(n_entries) + 1);
    Kokkos::parallel_for("submatrix::fill_entries", Kokkos::RangePolicy<Exec>(0, n),
                         FillEntries{b, elements_.reserve(batches_.n_blocks())});
  }

  template <class Real>
  void run(const SeriesView& series) {
    const int n_terms = series.coefficients.front().size();
    Batch b = batches_.view();
    Recurrence<Real> kernel{b,
                            device_pack_.copy(batches_.packs()),
                            coefficient_.data(),
                            static_cast<int>(series.coefficients.size()),
                            n_terms,
                            series.centre,
                            series.half_width,
                            values_.reserve(batches_.n_values()),
                            moments_.reserve(batches_.packs().size() * n_terms)};
    Kokkos::fence();
    const Kokkos::Timer timer;
    find_entries(b);
    kernel.b = b;
    // Launches by size: a group's memory is that of the largest of a launch, and small groups leave room for
    // others.
    for (std::size_t begin = 0; begin < batches_.packs().size();) {
      const int n = batches_.places()[batches_.packs()[begin].task].n;
      std::size_t end = begin + 1;
      while (end < batches_.packs().size() && batches_.places()[batches_.packs()[end].task].n * 4 >= n * 3)
        ++end;
      launch(kernel, begin, end, n, shared_);
      begin = end;
    }
    Kokkos::fence();
    kernel_seconds_ += timer.seconds();
  }

  bool hand_over(std::size_t begin, std::size_t end, const SeriesView& series, const Done& done) {
    const std::size_t n_terms = series.coefficients.front().size();
    values_.copy_to(host_values_, batches_.n_values());
    moments_.copy_to(host_moments_, batches_.packs().size() * n_terms);
    elements_.copy_to(host_elements_, batches_.n_blocks());
    std::vector<double> sums(batches_.places().size() * n_terms, 0.0);
    for (std::size_t p = 0; p < batches_.packs().size(); ++p)
      for (std::size_t k = 0; k < n_terms; ++k)
        sums[batches_.packs()[p].task * n_terms + k] += host_moments_[p * n_terms + k];
    for (std::size_t i = begin; i < end; ++i) {
      const Place& s = batches_.places()[i - begin];
      double n_elements = 0;
      for (std::int32_t k = 0; k < s.n_blocks; ++k) n_elements += host_elements_[s.blocks + k];
      const auto n_values = series.coefficients.size() * s.n * s.n_own;
      if (!done(i, std::span(host_values_).subspan(s.values, n_values),
                std::span(sums).subspan((i - begin) * n_terms, n_terms), n_elements))
        return false;
    }
    return true;
  }

  Batches batches_;
  DenseFunctions dense_{batches_};
  double kernel_seconds_ = 0;
  Buffer<std::int64_t> elements_;
  Buffer<double> coefficient_, values_, moments_;
  Buffer<Entry> entry_;
  Buffer<char> shared_;  ///< of groups whose own memory is too small
  Buffer<ColumnPack> device_pack_;
  std::vector<std::int64_t> host_elements_;
  std::vector<double> host_values_, host_moments_;
};

}  // namespace
}  // namespace quintet::electronic::device

quintet::electronic::DeviceSubmatrices* quintet_make_device_submatrices(double batch_bytes) {
  return new quintet::electronic::device::Submatrices(batch_bytes);
}
