#pragma once

#include "io/parallel/comm.hpp"

namespace quintet {

/// The ranks of a communicator of a host program, from its Fortran handle (MPI_Comm_c2f); duplicated, so that
/// no message of the host's meets one of ours. The host's MPI must be the one that this library is linked to.
/// Throws InputError where MPI is not up or the handle is that of no communicator. Collective over it.
[[nodiscard]] Comm comm_of_fortran(int handle);

}  // namespace quintet
