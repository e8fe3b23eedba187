#pragma once

#include <string>

/// The start and end of MPI itself; called by Runtime alone.
namespace quintet {

/// Start MPI with thread level FUNNELED, with or without mpirun; true if this call started it (false: it was
/// up).
bool start_mpi(int& argc, char**& argv);
/// End MPI. Communicators that live longer are dead, but may still be destroyed.
void stop_mpi();
/// True between start_mpi() and stop_mpi().
[[nodiscard]] bool mpi_is_up();
/// Name and version of the MPI library ("Open MPI 4.1.4").
[[nodiscard]] std::string mpi_version();

}  // namespace quintet
