#pragma once

#include "surrogates/potential/evaluation/embedding.hpp"
#include "surrogates/potential/evaluation/moment_packs.hpp"

namespace quintet::potential {

/// G(s) as polynomials of degree order-1 on equal intervals, contracted with moments of the neighbours.
///
/// On interval p, G_m(s) = sum_k c_pkm x^k with x in [-1, 1], so that
///   T_am = sum_p sum_k c_pkm M_pka,   M_pka = sum_{j in p} x_j^k R_ja:
/// neighbours enter through the moments M alone and the sum over channels is a small matrix product, whose
/// cost does not grow with the number of neighbours. The wide intervals (high order) keep the table in the
/// first cache levels: a smooth network needs order 16 on intervals of 1.6 for round-off. Backwards: dM = c
/// dT, then Horner per neighbour. Of distances alone (se_e2_r) R_ja = delta_a0: moments are of x.
struct SpectralLayout {
  int order = 16;      ///< coefficients an interval, a multiple of the pack width
  double width = 1.6;  ///< of an interval, in normalised s
  double lower = 0;    ///< left end of interval 0
  int n_intervals = 1;
  double error = 0;        ///< largest |G - polynomial| found, relative to the largest |G|
  double slope_error = 0;  ///< the same of G'
};

constexpr double closest_distance = 0.2;  ///< (angstrom) that tables reach down to

/// Coefficients of x^k of the Chebyshev polynomials T_0 .. T_{n-1}: [n, n].
[[nodiscard]] std::vector<double> chebyshev_to_power(int n);

/// Coefficients c[n_intervals, order, n_channels] of a network on a layout, by Chebyshev interpolation.
[[nodiscard]] std::vector<double> spectral_coefficients(const Network& network, const SpectralLayout& layout);

/// The cheapest layout that reaches `tolerance` on all networks; error > tolerance in the result if none
/// does. Covers s from the cutoff to r = closest (angstrom).
[[nodiscard]] SpectralLayout choose_layout(const DescriptorModel& model, int pack, double tolerance,
                                           double closest = closest_distance);

/// The two of them, made once by the runs of a warm program (io/runtime/kept_values.hpp).
[[nodiscard]] SpectralLayout kept_layout(const DescriptorModel& model, int pack, double tolerance);
[[nodiscard]] std::vector<double> kept_coefficients(const Network& network, const SpectralLayout& layout);

template <class Real>
class SpectralEmbedding : public Embedding<Real> {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  /// @param more_groups of neighbours beside the types
  SpectralEmbedding(const DescriptorModel& model, const SpectralLayout& layout, int more_groups = 0);
  void forward(Batch<Real>& batch, Scratch& scratch) const override;
  void backward(Batch<Real>& batch, int b, Scratch& scratch) const override;
  [[nodiscard]] std::string description() const override;

 protected:
  struct Table {
    AlignedVector<Real> forward;   ///< [n_intervals, order, stride]
    AlignedVector<Real> backward;  ///< [n_intervals, n_channels, order]
  };
  void locate(const Batch<Real>& batch, int begin, int end, int type, Scratch& scratch) const;
  void accumulate_moments(const Batch<Real>& batch, int b, Scratch& scratch) const;
  /// Moments of types weighted with gates w, and those of all neighbours in the group after them; and what
  /// dE/dM of the weighted ones adds to dE/dR. In gated_embedding.cpp.
  void accumulate_gated(const Batch<Real>& batch, int b, Scratch& scratch) const;
  void add_gated_gradient(Batch<Real>& batch, int b, const Scratch& scratch) const;
  /// R of the neighbours: the batch's rows, of se_e2_r constants.
  [[nodiscard]] const Real* columns(const Batch<Real>& batch, const Scratch& scratch) const {
    return empty_.is_radial ? scratch.ones.data() : batch.row.data();
  }
  /// Room for a batch's intervals and one atom's moments.
  void reserve(const Batch<Real>& batch, Scratch& scratch) const;
  /// T of the neighbours alone from an atom's moments.
  void contract(int centre, const Scratch& scratch, Real* t) const {
    contract({0, n_types_}, centre, scratch, t);
  }
  /// Groups of neighbours that have moments of their own: types, and what a derived class adds.
  struct Groups {
    int begin, end;
  };
  void contract(Groups groups, int centre, const Scratch& scratch, Real* t) const;
  template <int packs>
  void contract_packs(Groups groups, int centre, int first_pack, const Scratch& scratch, Real* t) const;
  void add_empty_slots(const Batch<Real>& batch, int b, Real* t) const;
  /// Take c[n_intervals, order, n_channels] for the coefficients of a network.
  void set_table(int network, const double* c);
  void contract_back(Groups groups, int centre, const Real* dt, Scratch& scratch) const;
  /// dE/dR of some rows by the moments of their group.
  void differentiate(RowRange rows, int group, Batch<Real>& batch, const Scratch& scratch) const;
  /// The list of intervals that rows begin .. end occupy, after their moments were overwritten.
  void relist(int begin, int end, int group, Scratch& scratch) const;
  /// The group after the types, of all neighbours.
  [[nodiscard]] Groups all() const { return {n_types_, n_types_ + 1}; }
  [[nodiscard]] const Table& table(int centre, int group) const {
    return tables_[index_[centre * n_groups_ + group]];
  }

  SpectralLayout layout_;
  EmptySlots<Real> empty_;
  int n_types_, n_groups_, n_channels_, stride_;
  std::vector<int> index_;  ///< [centre, group] table; that of a group beside the types is the first
  std::vector<Table> tables_;
};

}  // namespace quintet::potential
