#pragma once

#include <span>
#include <string>
#include <vector>

#include "physics/kinetics/basis/mode_list.hpp"

/// Modal bases of the discontinuous-Galerkin schemes: products of orthonormal Legendre polynomials.
namespace quintet::kinetics {

/// Family of a basis: the products that one of order p holds. With sdeg = the sum of the degrees that are 2
/// or more ("superlinear degree"): serendipity: sdeg <= p, each degree <= p; tensor: each degree <= p; hybrid
/// (p = 1 only): degree <= 1 in configuration space and serendipity of order 2 in velocity space, so that v^2
/// is in the basis. Arnold & Awanou, Found. Comput. Math. 11, 337 (2011), for serendipity.
enum class Family { serendipity, tensor, hybrid };
[[nodiscard]] std::string name(Family family);

/// Orthonormal functions on [-1, 1]^dim: w_i(xi) = prod_d phi_{k_d}(xi_d).
///
/// Order: by superlinear degree, then total degree, then the earlier directions first: 1, x, y, xy, x2, y2,
/// x2y, xy2. In 1-D and 2-D this is the order of Gkeyll's files.
class Basis {
 public:
  /// With dim 0: the constant alone. Family hybrid: the configuration part of a hybrid phase basis.
  Basis(int dim, int order, Family family);

  [[nodiscard]] int dim() const { return dim_; }
  [[nodiscard]] int order() const { return order_; }
  [[nodiscard]] Family family() const { return family_; }
  [[nodiscard]] int size() const { return modes_.size(); }
  [[nodiscard]] const MultiIndex& mode(int i) const { return modes_[i]; }
  [[nodiscard]] int find(const MultiIndex& mode) const;  ///< -1 if the basis lacks it
  [[nodiscard]] double value(int i, std::span<const double> xi) const;
  /// dw_i/dxi_direction.
  [[nodiscard]] double derivative(int i, int direction, std::span<const double> xi) const;

 private:
  int dim_, order_;
  Family family_;
  std::vector<MultiIndex> modes_;
};

/// Basis of phase space (x, v), ordered by velocity index: f[offset(g) + a] is the coefficient of
/// conf mode a times velocity function group(g).
///
/// Kernels are small because only two sets of configuration modes occur. The first n_full_groups() groups
/// have all modes of the configuration basis; the others (in serendipity of order 2 or 3 alone) have its
/// first 2^cdim, the products of degree at most 1.
class PhaseBasis {
 public:
  /// Throws InputError for combinations that have no kernels: see supported().
  PhaseBasis(int cdim, int vdim, int order, Family family);

  [[nodiscard]] int cdim() const { return conf_.dim(); }
  [[nodiscard]] int vdim() const { return vdim_; }
  [[nodiscard]] int dim() const { return cdim() + vdim_; }
  [[nodiscard]] int order() const { return order_; }
  [[nodiscard]] Family family() const { return family_; }
  [[nodiscard]] const Basis& conf() const { return conf_; }
  [[nodiscard]] int size() const { return modes_.size(); }
  /// Degrees in (x, v).
  [[nodiscard]] const MultiIndex& mode(int i) const { return modes_[i]; }
  [[nodiscard]] int find(const MultiIndex& mode) const;
  [[nodiscard]] double value(int i, std::span<const double> xi) const;

  [[nodiscard]] int n_groups() const { return groups_.size(); }
  [[nodiscard]] int n_full_groups() const { return n_full_; }
  /// Degrees in v of a group; group 0 is the constant.
  [[nodiscard]] const MultiIndex& group(int g) const { return groups_[g]; }
  [[nodiscard]] int find_group(const MultiIndex& velocity) const;
  [[nodiscard]] int offset(int g) const;
  [[nodiscard]] int n_conf(int g) const { return g < n_full_ ? conf_.size() : 1 << cdim(); }

  /// Where each mode stands in Gkeyll's files: theirs[gkeyll_order()[i]] = ours[i].
  [[nodiscard]] const std::vector<int>& gkeyll_order() const { return gkeyll_order_; }
  /// Gkeyll's name: "serendipity", "tensor" or "hybrid".
  [[nodiscard]] std::string gkeyll_name() const;

  /// Combinations with kernels, for messages: "1x1v: serendipity and tensor 1 to 3, hybrid 1; ...".
  [[nodiscard]] static std::string supported();

 private:
  int vdim_, order_;
  Family family_;
  Basis conf_;
  std::vector<MultiIndex> modes_, groups_;
  int n_full_ = 0;
  std::vector<int> gkeyll_order_;
};

}  // namespace quintet::kinetics
