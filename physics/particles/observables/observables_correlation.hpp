#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "physics/particles/observables/observables_homes.hpp"
#include "physics/particles/observables/observables_options.hpp"

namespace quintet {

/// Averages a product of two times, <a(0), a(t)>, over atoms of each type and over time origins.
///
/// A new origin is taken every `origin_interval` samples and followed for `length` samples; floor(length /
/// origin_interval) + 1 origins are alive, each 24 bytes an id on its home rank.
class TimeCorrelation {
 public:
  enum class Product {
    squared_difference,  ///< |a(t) - a(0)|^2
    dot                  ///< a(0) . a(t)
  };
  TimeCorrelation(const CorrelationOptions& options, Product product);

  /// Add a sample, one vector an atom; n_types types, n_atoms atoms in all. Collective.
  ///
  /// Returns the averages `[n_types, length + 1]` of an origin that was followed to its end, if there is one.
  std::optional<std::vector<double>> add(const Exec& exec, const Comm& comm,
                                         const std::vector<AtomSample>& samples, const Atoms& atoms);

  [[nodiscard]] std::size_t n_lags() const { return options_.length + 1; }
  [[nodiscard]] int n_types() const { return n_of_type_.size(); }
  [[nodiscard]] const std::vector<std::int64_t>& n_of_type() const {
    return n_of_type_;
  }  ///< atoms of each type
  [[nodiscard]] const std::vector<std::string>& type_names() const { return type_names_; }
  [[nodiscard]] const std::vector<double>& masses() const { return masses_; }  ///< of each type (amu)
  /// Number of lags seen so far (from 0 on without a gap).
  [[nodiscard]] std::size_t n_seen() const;
  /// Average at lags 0..n_seen() - 1 over the atoms of a type (0 for a type without atoms).
  [[nodiscard]] std::vector<double> average(int type) const;

  void save(hdf5::Group& group) const;
  void restore(const Comm& comm, const hdf5::Group& group);

 private:
  void begin(const Comm& comm, const Atoms& atoms);
  [[nodiscard]] std::int64_t n_slots() const { return options_.length / options_.origin_interval + 1; }
  [[nodiscard]] std::vector<std::int64_t> live_origins() const;
  [[nodiscard]] double sum_of_type(const Exec& exec, int type, std::int64_t slot) const;
  [[nodiscard]] std::size_t curve(std::int64_t slot, int type) const {
    return (slot * n_types() + type) * n_lags();
  }

  CorrelationOptions options_;
  Product product_;
  std::int64_t n_samples_ = 0;
  std::vector<std::string> type_names_;
  std::vector<double> masses_;
  std::vector<std::int64_t> n_of_type_;
  AtomHomes homes_;
  std::vector<double> value_;            ///< [count, 3] of the present sample
  std::vector<int> type_;                ///< [count]
  std::vector<double> origin_;           ///< [n_slots, count, 3]
  std::vector<double> curve_;            ///< [n_slots, n_types, n_lags] of live origins, averages over atoms
  std::vector<double> sum_;              ///< [n_types, n_lags] over origins
  std::vector<std::int64_t> n_origins_;  ///< [n_lags] origins in sum_
};

}  // namespace quintet
