#pragma once

#include <string>
#include <string_view>

#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/files/gkyl_writer.hpp"
#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

/// Fill f from a .gkyl file of Gkeyll or of ours (format version 1; file type 1, or 3 as written by several
/// ranks).
///
/// Grid, number of modes and, where the file names them, basis and order must be the run's. Rank 0 reads,
/// some megabytes at a time. Returns the file's meta data (time, frame, ...). Collective over
/// decomposition.comm(). Throws InputError: no such file, not of this format, cut off, another grid or basis
/// (both are printed), a value that is not finite.
GkylMeta read_gkyl(const std::string& path, const Decomposition& decomposition, const PhaseBasis& basis,
                   const Distribution& f);

/// Numbers and texts of a MessagePack map; entries of other kinds end the reading.
[[nodiscard]] GkylMeta message_unpack(std::string_view bytes);

}  // namespace quintet::kinetics
