#pragma once

#include <string>
#include <vector>

#include "io/config/tree.hpp"

namespace quintet {

/// A point of a sweep: what --set gives it ("integrator.temperature=300 K").
using SweepPoint = std::vector<std::string>;

/// All combinations of the values of `sweep: {key.path: [values], ...}`, the last key fastest; one point
/// without settings where there is no sweep. Throws InputError with the place of an entry that is not a list
/// of values.
[[nodiscard]] std::vector<SweepPoint> sweep_points(const Tree& document);

/// The document without its sweep.
[[nodiscard]] Tree without_sweep(const Tree& document);

}  // namespace quintet
