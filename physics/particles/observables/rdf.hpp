#pragma once

#include "physics/particles/observables/observables_options.hpp"

namespace quintet {

/// Radial distribution function of each pair of types and of all atoms, and coordination numbers.
///
/// g_ab(r) = <n_ab(r)> / (N_a (N_b - delta_ab) 4/3 pi (r_2^3 - r_1^3) / V), n_ab the ordered pairs with a
/// distance in the bin [r_1, r_2), all periodic images counted; coordination number: <n_ab> / N_a, summed
/// over bins. Up to the force field's cutoff pairs are those of its list. Beyond it they are found by a cell
/// search of its own: the atoms of each rank are passed round in a ring. A sample then costs O(N) look-ups on
/// every rank and the memory of two ranks' atoms.
class RadialDistribution : public Observer {
 public:
  explicit RadialDistribution(const RdfOptions& options) : Observer(options.interval), options_(options) {}
  [[nodiscard]] std::string name() const override { return "rdf"; }
  [[nodiscard]] std::vector<Table> tables() const override;
  void save(hdf5::Group& group) const override;
  void restore(const Comm& comm, const hdf5::Group& group) override;

 protected:
  /// Throws InputError if the cell has an open direction: g(r) is not defined there.
  void sample(const Exec& exec, const Atoms& atoms, const Domain& domain) override;

 private:
  [[nodiscard]] std::size_t n_bins() const;
  void begin(const Comm& comm, const Atoms& atoms);
  [[nodiscard]] Column distribution(int a, int b) const;
  [[nodiscard]] Column coordination(int a, int b) const;
  [[nodiscard]] double ordered_pairs(int a, int b) const;
  [[nodiscard]] double count(int a, int b, std::size_t bin) const;

  RdfOptions options_;
  std::vector<std::string> type_names_;
  std::vector<std::int64_t> n_of_type_;
  std::vector<std::int64_t> count_;  ///< [n_types, n_types, n_bins] ordered pairs, all ranks and samples
  std::int64_t n_samples_ = 0;
  double inverse_volume_ = 0;  ///< sum over samples (1/angstrom^3)
};

}  // namespace quintet
