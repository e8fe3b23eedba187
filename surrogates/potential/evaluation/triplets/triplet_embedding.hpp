#pragma once

#include "surrogates/networks/chain.hpp"
#include "surrogates/potential/evaluation/embedding.hpp"
#include "surrogates/potential/evaluation/quintic_rows.hpp"
#include "surrogates/potential/evaluation/triplets/triplet_table.hpp"

namespace quintet::potential {

/// The embedding of se_e3, of an atom with two neighbours j, k:
///
///     T_0m = sum_{t <= u} 1/(sel_t sel_u) sum_{j of t, k of u} theta_jk G^tu_m(theta_jk),
///     theta_jk = R_j1 R_k1 + R_j2 R_k2 + R_j3 R_k3,
///
/// over all slots of the types t and u, j = k and empty slots too; G^tu does not depend on the centre's type.
/// Of one type each pair of different neighbours is visited once, and counted twice.
///
/// G is a polynomial on each interval of theta (TripletLayout), so that pairs enter through moments
/// M_pk = sum theta x^k and the sum over channels does not grow with them; or the networks themselves, or
/// a compressed file's tables, are run pair by pair. Source: DeePMD-kit, descriptor se_e3; Zeng et al.
/// (2023), J. Chem. Phys. 159, 054801.
template <class Real>
class TripletEmbedding : public Embedding<Real> {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  /// @param layout of polynomials; none: the networks are run, or a compressed file's tables stand for them
  TripletEmbedding(const DescriptorModel& model, const std::optional<TripletLayout>& layout,
                   bool use_tables = false);
  void forward(Batch<Real>& batch, Scratch& scratch) const override;
  void backward(Batch<Real>& batch, int b, Scratch& scratch) const override;
  [[nodiscard]] std::string description() const override;

 protected:
  /// What the sum over two types of neighbours needs, t <= u.
  struct TypePair {
    int t, u;
    Real scale;  ///< 1/(sel_t sel_u)
    networks::Chain<Real> network;
    AlignedVector<Real> table;              ///< [n_intervals, order, stride]; empty: the network is run
    std::optional<QuinticRows<Real>> rows;  ///< of a compressed file, instead of the network
  };
  void gather(const Batch<Real>& batch, int b, Scratch& scratch) const;
  template <class OnTable, class OnNetwork>
  void sort_pairs(const TypePair& types, Scratch& scratch, OnTable&& on_table, OnNetwork&& on_network) const;
  void begin_intervals(Scratch& scratch) const;
  template <class Set>
  Real* numbers_of(int interval, Scratch& scratch, Set&& set) const;
  /// M of two types of neighbours; on_network() as of sort_pairs().
  template <class OnNetwork>
  void accumulate_moments(const TypePair& types, Scratch& scratch, OnNetwork&& on_network) const;
  void add_moments(const TypePair& types, const Scratch& scratch, Real* t) const;
  /// Take c[n_intervals, order, n_channels] for the coefficients of the network of a pair of types.
  void set_table(TypePair& types, const double* c) const;

  std::optional<TripletLayout> layout_;
  std::vector<TypePair> pairs_;
  std::vector<Real> x_by_theta_;            ///< [n_intervals] dx/dtheta
  std::vector<std::array<Real, 3>> empty_;  ///< [centre] R of an empty slot
  int n_types_, n_channels_, stride_;

 private:
  template <class Visit>
  static void visit_pairs(const TypePair& types, Scratch& scratch, Visit&& visit);
  const Real* evaluate_pairs(const TypePair& types, Scratch& scratch) const;
  void add_pairs(const TypePair& types, Scratch& scratch, Real* t) const;
  void add_pair_slopes(const TypePair& types, const Real* dt, Scratch& scratch) const;
  void add_slopes(const TypePair& types, const Real* dt, Scratch& scratch) const;
  void contract_back(const TypePair& types, int interval, const Real* dt, Real* moments) const;
};

}  // namespace quintet::potential
