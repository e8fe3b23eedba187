#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/vlasov/setup/setup.hpp"
#include "apps/vlasov/setup/theory_branches.hpp"
#include "physics/kinetics/theory/growth_fit.hpp"

namespace quintet::vlasov {

/// Prediction of linear theory for a run, and where to look for it: the branch that is compared.
struct Theory : Branch {
  std::vector<Branch> branches;  ///< all that a signal may show, in descending order of growth rates
  std::string quantity, label;
  std::optional<kinetics::Window> given_window;  ///< theory.window
  std::optional<kinetics::Window> window;        ///< until the recurrence
  /// Split collisions: the rate at which they damp heat flux (3 nu of lbo, nu of bgk); else 0.
  double split_rate = 0;

  /// Compare with branches[i] from now on.
  void choose(std::size_t i);
  /// Those beside the chosen one that a signal may show: growing at half its rate or more, or damped no more
  /// than twice as much.
  [[nodiscard]] std::vector<Branch> others() const;
};

/// The theory of the options, if there is one: of the run's operator of collisions and, where the input names
/// none, of its collision frequency and its Maxwellians. Throws InputError for values without meaning and for
/// those that the run contradicts, NumericalError where no root is found.
[[nodiscard]] std::optional<Theory> make_theory(const RunOptions& options, const Setup& setup);

/// The wave of the theory in the field that its quantity is made of; nothing without theory, or of another
/// quantity.
[[nodiscard]] std::optional<WaveSignal> wave_signal(const RunOptions& options, const Formulas& formulas,
                                                    const kinetics::PhaseGrid& grid);

}  // namespace quintet::vlasov
