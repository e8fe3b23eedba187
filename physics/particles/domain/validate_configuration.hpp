#pragma once

#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

/// Refuses what no run can start from, naming the first offending atom: zero atoms, NaN or huge coordinates,
/// duplicate ids, atoms closer than `least_distance` (angstrom) to one another (periodic images included).
void validate(const Configuration& configuration, double least_distance = 0.1);

}  // namespace quintet
