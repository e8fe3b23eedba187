#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {
class DeviceProduct;
class DeviceProducts;
}  // namespace quintet

namespace quintet::electronic {

/// y = A x for a symmetric block matrix and a vector shared out like its columns; each row of the vector may
/// be a pack, which makes it several vectors for about the time of one.
///
/// The constructor asks once for the rows of x that this rank's blocks touch and other ranks own; each
/// product then moves exactly these. Construction and products are collective.
template <class Value>
class BlockProduct {
 public:
  /// Elements from which on a core takes longer to go through a matrix than two copies of a vector and a
  /// launch: some 0.1 ms.
  static constexpr std::size_t least_on_device = std::size_t{1} << 17;
  /// @param device multiplies in place of this core, where it has memory for the matrix and that has `least`
  /// elements
  explicit BlockProduct(const BlockMatrix& a, DeviceProducts* device = nullptr,
                        std::size_t least = least_on_device);

  [[nodiscard]] int n_own() const { return n_own_; }  ///< rows of this rank
  /// y = A x, both [n_own].
  void operator()(const std::vector<Value>& x, std::vector<Value>& y);

 private:
  const BlockMatrix& a_;
  int n_own_ = 0;
  std::vector<int> place_;                        ///< first row of each block in x_, or -1
  std::vector<Value> x_;                          ///< own rows, then those of others
  std::vector<std::vector<std::int32_t>> asked_;  ///< blocks of this rank that each rank needs
  std::vector<std::vector<Value>> send_;
  std::shared_ptr<DeviceProduct> device_;
};
using SymmetricProduct = BlockProduct<double>;
using Lanes8 = Pack<double, 8>;

/// This rank's rows of the k-th vector of random signs +-1, the same however the matrix is shared out.
[[nodiscard]] std::vector<double> random_signs(const BlockMatrix& a, int k);

}  // namespace quintet::electronic
