#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "physics/electronic/device/batches.hpp"
#include "physics/electronic/device/dense_kernels.hpp"
#include "physics/kernels/dense_eigen.hpp"
#include "physics/kernels/dense_multiply.hpp"

namespace quintet::electronic::device {

/// Newton-Schulz iterations and eigenpairs of submatrices as dense matrices, see DeviceSubmatrices.
class DenseFunctions {
 public:
  explicit DenseFunctions(Batches& batches) : batches_(batches) {}
  void newton_schulz(std::span<const WantedColumns> tasks, double mu, double error, int order,
                     const DeviceSubmatrices::DoneSign& done);
  void eigenpairs(std::span<const WantedColumns> tasks, const DeviceSubmatrices::DonePairs& done);
  [[nodiscard]] double kernel_seconds() const { return kernel_seconds_; }

 private:
  /// The submatrices of a batch as dense matrices.
  struct Dense {
    Batch b;
    int m, count;
    double* x;
  };
  template <class Visit>
  void by_size(std::span<const WantedColumns> tasks, const Visit& visit);
  template <class Kernel>
  void over(const char* label, std::int64_t items, const Kernel& kernel) const;
  Dense fill_dense();
  const double* norms(const Dense& d, int norm, const double* of);
  void diagonalise();
  void sorted_pairs(std::size_t i, std::vector<double>& values, std::vector<double>& vectors) const;
  std::vector<std::vector<double>> iterate(double mu, double error, int order);

  static constexpr int n_dense = 4, most_iterations = 60;
  Batches& batches_;
  Exec space_;
  quintet::device::DenseMultiplier<Exec> multiplier_{space_};
  quintet::device::DenseEigensolver<Exec> eigensolver_{space_};
  Buffer<double> dense_[n_dense], sums_, norms_, totals_, levels_, values_;
  Buffer<int> failed_;
  Buffer<char> goes_on_;
  Buffer<std::int32_t> device_task_of_own_;
  std::vector<double> host_vectors_, host_levels_, host_values_;
  std::vector<int> host_failed_;
  std::vector<std::vector<double>> histories_;
  double kernel_seconds_ = 0;
};

}  // namespace quintet::electronic::device
