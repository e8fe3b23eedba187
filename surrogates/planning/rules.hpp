#pragma once

#include <optional>

#include "surrogates/planning/links.hpp"

namespace quintet::planning {

/// Where the ParaDL authors' analysis script departs from the table of strategies. Plans are made without
/// any: the defaults. With them tests meet the authors' logged projections, which span several states of the
/// script.
struct Rules {
  /// Data that neighbours exchange at the faces of a spatial split.
  enum class Halo {
    faces,        ///< x forward and dy backward, with all channels and samples
    input_faces,  ///< x both ways; a window of two sends a message of no bytes
    rows,         ///< a row of the width of y forward and of x backward, without channels; of all samples
    rows_of_one   ///< the same, of one sample
  };
  Halo halo = Halo::faces;
  bool halo_of_whole_layers = false;  ///< layers that are not split exchange faces too
  bool flops_of_authors = false;      ///< LayerKindRow::authors
  bool whole_steps = false;           ///< steps, samples and items of a rank are rounded up
  bool forgets_rectifiers = false;    ///< no memory for x, y of rectifiers and normalisations, unless spatial
  bool divides_weights_twice = false;  ///< of a split by weights: their memory
  bool forgets_tail = false;           ///< nothing behind the last split layer costs anything
  bool gathers_whole = false;          ///< the gather of a spatial split sends p times its parts
  bool reduces_whole_weights = false;  ///< data+filter: gradients of all weights, not of a rank's part
  std::optional<Link> halo_link{}, gather_link{};  ///< instead of those of the group
};

}  // namespace quintet::planning
