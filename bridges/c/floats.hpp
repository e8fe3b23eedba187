#pragma once

#include <cstddef>
#include <vector>

#include "bridges/c/potential.hpp"

namespace quintet::bridges {

/// A caller's float32 numbers as float64; nullptr stays nullptr.
class FromFloats {
 public:
  FromFloats(const float* values, std::size_t n) : is_given_(values != nullptr) {
    if (is_given_) values_.assign(values, values + n);
  }
  [[nodiscard]] const double* data() const { return is_given_ ? values_.data() : nullptr; }

 private:
  bool is_given_;
  std::vector<double> values_;
};

/// Results that go to a caller's float32 arrays once all are there; the energy stays float64, since float32
/// holds 7 digits of a number that grows with the system.
class ToFloats {
 public:
  /// Where to: as Results.
  struct Arrays {
    double* energy;
    float *forces, *virial, *atomic_energies, *atomic_virials;
  };
  /// @param n_owned rows of energies @param n_all rows of forces and virials
  ToFloats(std::size_t n_owned, std::size_t n_all, const Arrays& to);
  [[nodiscard]] Results results();
  /// Throws NumericalError where a number is beyond float32, before any is written.
  void hand_over() const;

 private:
  struct Part {
    const char* name;
    float* to;
    std::vector<double> values;
    [[nodiscard]] double* data() { return to == nullptr ? nullptr : values.data(); }
  };
  double* energy_to_;
  double energy_ = 0;
  Part forces_, virial_, atomic_energies_, atomic_virials_;
};

}  // namespace quintet::bridges
