#pragma once

#include "physics/particles/observables/observables_options.hpp"

namespace quintet {

/// Distributions of bond lengths of each pair of types, and of bond angles of each triple.
///
/// Two atoms are bonded while their distance is below the cutoff of their types. Over all samples
///
///     p_ab(r) = n_ab(r) / (N_ab dr),   p_bac(theta) = n_bac(theta) / (N_bac dtheta),
///
/// n_ab the bonds with a length in a bin, n_bac the pairs of bonds of an atom a, to b and to c, with an angle
/// in a bin, each pair once; N their sums, so that each density has the integral 1. Columns have the centre
/// in the middle: H_O_H. Pairs and triples that were never seen have none. Bins of angles have their middle
/// at multiples of the width: 60, 90 and 180 degrees, those of crystals, are no edges. The first and the last
/// one are half as wide.
///
/// Bonds are found as RadialDistribution finds pairs, at any distance and in open cells, too. Beyond the
/// force field's cutoff a sample costs O(N) look-ups on every rank and the memory of two ranks' atoms; a bond
/// takes 40 bytes.
class BondGeometry : public Observer {
 public:
  explicit BondGeometry(const BondOptions& options) : Observer(options.interval), options_(options) {}
  [[nodiscard]] std::string name() const override { return "bonds"; }
  [[nodiscard]] std::vector<Table> tables() const override;
  void save(hdf5::Group& group) const override;
  void restore(const Comm& comm, const hdf5::Group& group) override;

 protected:
  /// Throws InputError if `pairs` names what is no pair of types, or one twice.
  void sample(const Exec& exec, const Atoms& atoms, const Domain& domain) override;

 private:
  void begin(const Comm& comm, const Atoms& atoms);
  void set_cutoffs();
  [[nodiscard]] double cutoff_of(const std::string& a, const std::string& b) const;
  [[nodiscard]] std::vector<double> widths() const;  ///< bin_width and angle_bins
  [[nodiscard]] std::size_t n_types() const { return type_names_.size(); }
  [[nodiscard]] std::size_t n_lengths() const;
  [[nodiscard]] std::size_t n_angles() const { return options_.angle_bins + 1; }
  [[nodiscard]] Table lengths() const;
  [[nodiscard]] Table angles() const;

  BondOptions options_;
  std::vector<std::string> type_names_;     ///< of types that there are atoms of
  std::vector<double> cutoffs_;             ///< [n_types, n_types] (angstrom)
  double longest_ = 0;                      ///< of the cutoffs (angstrom)
  std::vector<std::int64_t> length_count_;  ///< [n_types, n_types, n_lengths] all ranks and samples
  std::vector<std::int64_t> angle_count_;   ///< [centre, end, end not before it, n_angles]
  std::int64_t n_samples_ = 0;
};

}  // namespace quintet
