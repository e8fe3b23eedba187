#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/vlasov/setup/setup.hpp"
#include "apps/vlasov/state/history.hpp"

namespace quintet::vlasov {

/// Watches the samples of a run: warns where results begin to be doubtful, and ends a run that is no longer
/// physical.
class Health {
 public:
  /// `history`: with the rows before a restart.
  Health(const RunOptions& options, const Setup& setup, const History& history);

  /// Throws NumericalError on all ranks, naming species, place, step and time, if
  ///  - a sum is not finite, or f far below zero (limits.negative_f);
  ///  - particles have reached an end of velocity space (limits.edge_share, see VelocityEdge);
  ///  - Poisson's equation has no solution: walls that give the field's flux alone, and a charge that
  ///  differs;
  ///  - E has left Gauss's law (Maxwell): the field that epsilon0 div E - rho alone would make is beyond
  ///    limits.gauss_error of the greatest E so far (root mean squares over x);
  ///  - int f^2 has grown (limits.f_squared_growth) where the scheme can only lower it: without collisions,
  ///    sources and walls that let particles in.
  /// Warns once of edges and int f^2 from a tenth of the limit on, of Gauss's law from half of it, and of f
  /// that is negative in part (limits.negative_share). Collective.
  void check(const kinetics::Sample& sample, kinetics::VlasovSystem& system);

 private:
  struct Watch {
    bool square_falls = false;                  ///< int f^2 of the species cannot grow
    double first_square = 0, least_square = 0;  ///< int f^2 so far; 0: none yet
    bool warned_of_edge = false, warned_of_square = false, warned_of_negative = false;
  };
  void check_charge(const kinetics::Sample& sample, const kinetics::VlasovSystem& system);
  void check_edge(std::size_t s, const kinetics::Sample& sample, const kinetics::VlasovSystem& system);
  void check_negative_share(std::size_t s, const kinetics::Sample& sample,
                            const kinetics::VlasovSystem& system);
  void check_square(std::size_t s, const kinetics::Sample& sample, const kinetics::VlasovSystem& system);

  LimitOptions limits_;
  const Setup& setup_;
  std::vector<Watch> watches_;  ///< of each species
  double greatest_energy_ = 0;  ///< of E so far
  bool warned_of_gauss_ = false;
};

/// Throws InputError if the fields of the first sample cannot be: Poisson's equation without a solution, or a
/// given E that does not belong to the charge.
void check_first_field(const kinetics::Sample& sample, const RunOptions& options, const Setup& setup);

/// "upper end of vx (6): 1.3 % of the mean density is in the outermost cells at x = (0.5)".
[[nodiscard]] std::string edge_text(const kinetics::VelocityEdge& edge, const kinetics::PhaseGrid& grid);
/// Advice to the user on the edge of velocity space.
[[nodiscard]] std::string edge_advice(const kinetics::VelocityEdge& edge, std::size_t species);

/// "f of 'electrons' is not finite in cell ..." if a number is NaN, else where the field is strongest: what
/// to look at when steps shrink. Collective.
[[nodiscard]] std::string trouble_spot(const Setup& setup, kinetics::VlasovSystem& system);

}  // namespace quintet::vlasov
