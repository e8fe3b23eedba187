#pragma once

#include <array>
#include <complex>
#include <optional>
#include <vector>

#include "apps/vlasov/setup/plasma_parts.hpp"
#include "apps/vlasov/setup/theory_setup.hpp"
#include "physics/kinetics/theory/theory.hpp"

/// Whether a theory is that of its run.
namespace quintet::vlasov {

/// A part of the plasma as a wave along k sees it.
[[nodiscard]] kinetics::DriftingMaxwellian along(const PlasmaPart& part, const std::array<double, 3>& k);

/// The species that hold a beam: those of its Maxwellian; if it is nobody's, those whose velocity cells are
/// made for it, or else all charged ones.
[[nodiscard]] std::vector<std::size_t> species_of(const kinetics::DriftingMaxwellian& beam,
                                                  const std::optional<std::vector<PlasmaPart>>& parts,
                                                  const Setup& setup, const std::array<double, 3>& k);

/// The Langmuir wave of the run's operator of collisions and its frequency. Throws InputError if
/// theory.collision_frequency differs, or without a formula.
[[nodiscard]] std::complex<double> collisional_mode(const RunOptions& options, const Setup& setup, double k,
                                                    const std::vector<kinetics::DriftingMaxwellian>& beams);

/// Throws InputError where the run has what the theory leaves out, to be seen in its rates: beams that no
/// species has, species that no beam is of (1 % of the square of the plasma frequency), collisions (1 % of
/// |omega|), a magnetic field across the wave (a gyration frequency of 3 % of |omega|). Warns of a mean
/// current that sets all particles swinging (Maxwell). Nothing is known of kind: given.
void check_theory(const RunOptions& options, const Setup& setup,
                  const std::vector<kinetics::DriftingMaxwellian>& beams,
                  const std::optional<std::vector<PlasmaPart>>& parts, const std::array<double, 3>& k,
                  const Theory& theory);

}  // namespace quintet::vlasov
