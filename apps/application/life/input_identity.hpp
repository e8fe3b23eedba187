#pragma once

#include <string>

#include "io/config/schema_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// Size and checksum of each file that the options name, in the form of hdf5::Provenance::inputs. A folder or
/// a pattern stands for all files in it, except hidden ones and run directories. The checksum is of contents;
/// of more than 1000 files with more than 1 GiB it is of names, sizes, beginnings and ends. Collective.
[[nodiscard]] std::string identify_inputs(const Comm& comm, const Describe& describe);

}  // namespace quintet
