#pragma once

#include <cstdint>
#include <string>

#include "apps/vlasov/setup.hpp"

namespace quintet::vlasov {

/// Throws NumericalError on all ranks if a sum is not finite or f far below zero, naming species, cell,
/// place, step and time. Collective.
void check_health(const kinetics::Sample& sample, const Setup& setup, const LimitOptions& limits,
                  kinetics::VlasovSystem& system);

/// "f of 'electrons' is not finite in cell ..." if a number is none, else where the field is strongest: what
/// to look at when steps shrink. Collective.
[[nodiscard]] std::string trouble_spot(const Setup& setup, kinetics::VlasovSystem& system);

}  // namespace quintet::vlasov
