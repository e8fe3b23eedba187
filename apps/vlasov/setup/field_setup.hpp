#pragma once

#include <vector>

#include "apps/vlasov/input/field_options.hpp"
#include "apps/vlasov/input/formulas.hpp"
#include "apps/vlasov/input/species_options.hpp"
#include "physics/kinetics/system.hpp"

namespace quintet::vlasov {

/// Everything that `field` says, as the system takes it: model, units, boundaries (periodic where `grid` is),
/// given fields and current. Throws InputError for what does not fit together.
void set_field(const FieldOptions& options, const Formulas& formulas, const kinetics::PhaseBasis& basis,
               const kinetics::Decomposition& decomposition, const kinetics::PhaseGrid& grid,
               kinetics::SystemOptions& system);

/// The given accelerations of all species.
void set_acceleration(const std::vector<SpeciesOptions>& species, const Formulas& formulas,
                      const kinetics::PhaseBasis& basis, const kinetics::Decomposition& decomposition,
                      const kinetics::PhaseGrid& grid, kinetics::SystemOptions& system);

/// Fill the field of a Maxwell system whose f is filled: formulas, or E = -grad phi of the charge.
/// Collective.
void fill_field(const FieldOptions& options, const Formulas& formulas,
                const kinetics::SystemOptions& settings, kinetics::VlasovSystem& system);

/// Charge density of all species and the background: [n_conf, 1, n_modes]. Collective.
[[nodiscard]] kinetics::ConfField charge_density(const Exec& exec, const kinetics::SystemOptions& settings,
                                                 kinetics::VlasovSystem& system);

}  // namespace quintet::vlasov
