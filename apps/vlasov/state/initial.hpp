#pragma once

#include <string>
#include <vector>

#include "apps/vlasov/setup/setup.hpp"

namespace quintet::vlasov {

/// Add the sum of `terms` to f of species s. Collective. Throws InputError that names key and place: negative
/// densities, values that are not numbers, files that do not fit.
void add_terms(const std::vector<InitialOptions>& terms, const Setup& setup, int s, const std::string& key,
               const kinetics::Distribution& f);

/// The initial f of all species. Collective. Throws InputError as above, and for an f without particles or
/// far below zero.
void fill_species(const RunOptions& options, const Setup& setup, kinetics::VlasovSystem& system);

/// Give the system its sources, on a start and on a restart. Collective.
void add_sources(const RunOptions& options, const Setup& setup, kinetics::VlasovSystem& system);

}  // namespace quintet::vlasov
