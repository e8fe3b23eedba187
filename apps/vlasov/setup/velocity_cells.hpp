#pragma once

#include <string>
#include <vector>

#include "apps/vlasov/input/formulas.hpp"
#include "apps/vlasov/input/species_options.hpp"
#include "physics/kinetics/space/phase_grid.hpp"

/// Velocity cells that are not equal.
namespace quintet::vlasov {

/// Edges of n cells from `low` to `high`, finest at `finest`, the widest `ratio` times as wide as the finest:
///
///     edge_i = finest + c sinh(a s_i - b),   s_i = -1 + 2 i/n,   tanh b = m tanh a,
///
/// m: place of `finest` in the box, -1 to 1; a by bisection, so that the ratio of the cells' widths is exact.
/// The cell that holds `finest` is the narrowest. `where`: the key, for messages. Throws InputError where
/// `finest` is outside the box, the ratio below 1, too great for n cells, or so great that a cell would have
/// less than 1e-6 of the mean width.
[[nodiscard]] std::vector<double> stretched_edges(double low, double high, int n, double finest, double ratio,
                                                  const std::string& where);

/// Set the edges of a species' velocity cells as its mapping, or finest and ratio, say; equal cells without
/// them.
void set_velocity_edges(const Formulas& formulas, const VelocityOptions& velocity, const std::string& key,
                        kinetics::PhaseGrid& grid);

}  // namespace quintet::vlasov
