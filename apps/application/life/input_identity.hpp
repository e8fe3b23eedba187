#pragma once

#include <string>

#include "io/config/schema.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {

/// The files that the options name, with size and checksum, as hdf5::Provenance::inputs: of a folder or a
/// pattern all that is in it, hidden files and run directories left out. Collective.
[[nodiscard]] std::string identify_inputs(const Comm& comm, const Describe& describe);

}  // namespace quintet
