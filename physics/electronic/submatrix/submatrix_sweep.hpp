#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "io/parallel/interrupt.hpp"
#include "physics/electronic/device/device_submatrices.hpp"
#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/submatrix/submatrix_dense.hpp"
#include "physics/electronic/submatrix/submatrix_plan.hpp"
#include "physics/electronic/submatrix/submatrix_polynomial.hpp"

namespace quintet::electronic {

/// Evaluates functions of this rank's submatrices: the wanted values of each function, what is known of the
/// spectrum, and what it cost. Only share_columns_of() communicates.
class Sweep {
 public:
  using Functions = std::span<const std::function<double(double)>>;

  /// `pattern` gets no values; all arguments must outlive the sweep.
  Sweep(const BlockMatrix& pattern, const GatheredMatrix& gathered, const std::vector<Submatrix>& work)
      : pattern_(pattern), gathered_(gathered), work_(work) {}
  /// Ask this before each submatrix; once it says so, the remaining ones are left out.
  void ask(const Interrupt& interrupt) { interrupt_ = interrupt; }
  /// On this device (null: on this core).
  void compute_on(DeviceSubmatrices* device) { device_ = device; }

  /// Start again with this many functions.
  void clear(std::size_t n_functions);
  /// Submatrices `which` by a Chebyshev series, in float32 if wanted. Where the first function is not
  /// idempotent to `tolerance` a column, eigenvalues lie off the bands: these are returned, not stored.
  [[nodiscard]] std::vector<int> polynomial(std::span<const int> which, const ChebyshevSeries& series,
                                            double tolerance, bool single_precision);
  /// Submatrices `which` by eigendecomposition; `keep`: eigenpairs stay for transform().
  void eigen(std::span<const int> which, Functions functions, bool keep);
  /// Evaluate other functions with the eigenpairs that eigen() has kept.
  void transform(Functions functions);
  /// Submatrices `which` by Newton-Schulz iterations: the first function is a step at mu.
  void newton_schulz(std::span<const int> which, double mu, double error, int order);

  /// Values of each function: the wanted block columns of one submatrix after the other.
  [[nodiscard]] const std::vector<AlignedVector<double>>& values() const { return values_; }
  /// Bring such columns to the ranks that own them: `to` are the values of the pattern's blocks. Collective.
  void share_columns_of(const AlignedVector<double>& values, AlignedVector<double>& to) const;
  /// Sum over the columns c of this rank's submatrices of f_cc.
  [[nodiscard]] double trace(std::size_t function) const;
  /// Sums over own columns of e_c^T T_k e_c, of all that went through polynomial().
  [[nodiscard]] const std::vector<double>& moments() const { return moments_; }
  /// Eigenvalues and weights in the own columns, of all that went through eigen().
  [[nodiscard]] const SpectralMeasure& levels() const { return levels_; }
  [[nodiscard]] double flops() const { return flops_; }

 private:
  template <class Real>
  std::vector<int> polynomial_of(std::span<const int> which, const ChebyshevSeries& series, double tolerance);
  std::vector<int> polynomial_on_device(std::span<const int> which, const ChebyshevSeries& series,
                                        double tolerance, bool single_precision);
  void eigen_on_device(std::span<const int> which, Functions functions, bool keep);
  /// Levels and values of submatrix `which`, whose own rows are at hand; `keep` takes the pairs away.
  void take_pairs(int which, Eigenpairs& pairs, Functions functions, bool keep);
  void newton_schulz_on_device(std::span<const int> which, double mu, double error, int order);
  /// Submatrices as the device is told of them.
  struct Tasks {
    std::vector<std::vector<int>> own;
    std::vector<WantedColumns> wanted;
  };
  [[nodiscard]] Tasks tasks_of(std::span<const int> which);
  /// Keep the columns of submatrix i if they are idempotent; whether they are.
  bool keep(int i, const OwnColumns& columns, double tolerance);
  void load_dense(const Submatrix& s, std::vector<double>& matrix);
  void store(int which, std::size_t function, const std::vector<double>& columns);
  void own_rows(const Submatrix& s);
  [[nodiscard]] bool must_stop() const { return interrupt_ && interrupt_(); }

  const BlockMatrix& pattern_;
  const GatheredMatrix& gathered_;
  const std::vector<Submatrix>& work_;
  Interrupt interrupt_;
  DeviceSubmatrices* device_ = nullptr;
  std::vector<AlignedVector<double>> values_;
  std::vector<std::size_t> values_begin_;  ///< of each submatrix
  std::vector<double> moments_;
  SpectralMeasure levels_;
  double flops_ = 0;
  std::vector<int> begin_, own_;  ///< first local row of each block and the own rows of the submatrix at hand
  LocalMatrix<double> dense_source_;
  struct Kept {
    int which;
    Eigenpairs pairs;
  };
  std::vector<Kept> kept_;
};

}  // namespace quintet::electronic
