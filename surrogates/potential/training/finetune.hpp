#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "surrogates/potential/model/model.hpp"
#include "surrogates/potential/training/data.hpp"

/// Models that begin from another model.
namespace quintet::potential {

/// A model with these types, in this order, that has what `from` knows of its own ones; matched by name.
///
/// A new type has random networks of the same widths, statistics of the data, sel counted in them, and bias
/// 0. T is divided by sum(sel) and each empty slot adds G(s0) s0 to it, s0 = -davg/dstd of the centre; both
/// change with the number of slots. So the first layer of the known fitting networks takes the factor
/// (sum(sel)/sum(sel of from))^2, and networks of new neighbours begin with G(s0) = 0: energies of known
/// types alone are then those of `from`, exactly where networks depend on both types or one type is known,
/// and to the differences of s0 between centres otherwise.
///
/// Networks of dpa1 read numbers that stand for a type: new ones are drawn for new types, all else stays, sel
/// too, and energies of known types alone are those of `from`.
///
/// Throws InputError that names what cannot be carried over: a type of `from` that is missing; where types
/// come in, activations of the embedding that are not 0 at 0, and skips round the first layers of networks.
/// @param systems of the types `type_names` @param census of them, within from.rcut
/// @param frames_a_system for statistics of new types
[[nodiscard]] Model with_types(const Model& from, const std::vector<std::string>& type_names,
                               const std::vector<LabelledSystem>& systems, const NeighbourCensus& census,
                               int frames_a_system, std::uint64_t seed);

/// A frame of a list of systems.
struct FrameOfSystem {
  std::size_t system = 0, frame = 0;
};

/// Add to output_bias the minimum-norm least squares of (label - prediction) on the numbers of atoms of each
/// type. Source: DeePMD-kit, change_energy_bias ("change-by-statistic").
/// @param prediction energy of the model for a frame that has a label (eV)
/// @return what was added to each type (eV)
std::vector<double> change_energy_bias(Model& model, const std::vector<LabelledSystem>& systems,
                                       const std::vector<FrameOfSystem>& frames,
                                       const std::function<double(std::size_t)>& prediction);

}  // namespace quintet::potential
