#pragma once

#include <array>
#include <memory>
#include <vector>

#include "physics/kernels/aligned.hpp"
#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/distribution.hpp"
#include "physics/kinetics/space/velocity_weights.hpp"

namespace quintet::kinetics {

/// A sum of products of functionals, one of each velocity direction: one component of a moment.
using FunctionalSum = std::vector<std::array<Functional, 3>>;

/// Sums moments of f over this rank's velocity space: MomentSweep on the host, another where f is resident.
class MomentSums {
 public:
  virtual ~MomentSums() = default;
  /// out [n_conf, >= first + n_components, n_conf_modes]: components first ... are overwritten with this
  /// rank's part.
  virtual void run(const Exec& exec, const Distribution& f, const ConfField& out, int first) const = 0;
  /// Sum as run() does, but the sums may stay where f is until fetch() copies them to `out`.
  virtual void sum(const Exec& exec, const Distribution& f, const ConfField& out) const {
    run(exec, f, out, 0);
  }
  virtual void fetch(const ConfField&) const {}
  /// Replace sums that stayed by those of several ranks.
  virtual void replace(const ConfField&) const {}
};

/// Several moments of f in one pass over phase space.
///
///     out_c[a] = sum over terms t of c, groups g, velocity cells: f[offset(g) + a] prod_d w_{t_d}(k_d,
///     cell_d)
///
/// The sum is factorised. Along a row of cells f is summed with the weights of the last direction alone, once
/// for each set of degrees in the other directions; these row sums then enter the components with a factor.
class MomentSweep final : public MomentSums {
 public:
  MomentSweep(const PhaseBasis& basis, const PhaseBlock& block, const std::vector<FunctionalSum>& components);

  void run(const Exec& exec, const Distribution& f, const ConfField& out, int first = 0) const override;

  static constexpr int max_conf_modes = 9, max_components = 16, max_row_sums = 32, max_uses = 160;

 private:
  using Value = Pack<double>;
  /// Sum along a row: f times a weight of the last direction, over degrees of that direction.
  struct RowSum {
    MultiIndex degrees{};  ///< in the other directions
    Functional last = Functional::v0;
    friend bool operator==(const RowSum&, const RowSum&) = default;
  };
  /// One group's part of a row sum.
  struct Part {
    int offset, n_conf, row_sum;
    const double* weight;  ///< of the last direction
    int first_pack, last_pack;
  };
  /// Row sums enter components with the product of the other directions' weights.
  struct Use {
    int row_sum, component;
    std::array<const double*, 2> weight;
  };

  const double* weights(const PhaseBlock& block, Functional functional, int d, int degree);
  int row_sum(const PhaseBasis& basis, const PhaseBlock& block, const RowSum& wanted);
  void add_term(const PhaseBasis& basis, const PhaseBlock& block, const std::array<Functional, 3>& term,
                int component);
  void run_cell(const Distribution& f, const ConfField& out, int first, int conf) const;
  [[nodiscard]] bool row_factors(const PhaseBlock& block, int row, double* factors) const;

  struct Table {
    Functional functional;
    int d;
    AlignedVector<double> values;
  };
  int vdim_, n_conf_modes_, n_degrees_, n_components_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<RowSum> row_sums_;
  std::vector<Part> parts_;
  std::vector<Use> uses_;
};

}  // namespace quintet::kinetics
