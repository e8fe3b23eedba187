#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5/checksum.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/distribution.hpp"
#include "physics/kinetics/space/row_exchange.hpp"

/// How distributions and fields lie in files, whatever the ranks: the global grid in row-major order, modes
/// in Gkeyll's. Writing and reading move numbers and change no bit.
namespace quintet::kinetics {

/// Write f as a float64 dataset [N_x, (N_y, N_z), N_vx, (...), n_modes]. Beside f a rank needs memory for its
/// rows of the first axis, about as much again (more if there are more ranks than such rows), and some MB.
/// The dataset carries `grid`, `basis` and `modes` (degrees in x, v of each mode) as attributes. Collective
/// over decomposition.comm(). Throws ResourceError. Returns what this rank's values add to the checksum of a
/// frame (hdf5::RowChecksum) with this seed.
std::uint64_t write(hdf5::Group& group, const std::string& name, const Decomposition& decomposition,
                    const PhaseBasis& basis, const Distribution& f, const hdf5::Description& description,
                    std::uint64_t seed = 0);

/// Fill f from such a dataset, written on any number of ranks; holds some megabytes beside f. Collective over
/// decomposition.comm(). Throws InputError that prints both sides: shape, grid or basis differ; a value is
/// not finite.
void read(const hdf5::Group& group, const std::string& name, const Decomposition& decomposition,
          const PhaseBasis& basis, const Distribution& f);

/// Write a field as [N_x, (N_y, N_z), components, n_modes]; `grid` gives the configuration cells. Collective
/// over decomposition.comm(): the ranks with velocity rank 0 give their cells.
void write(hdf5::Group& group, const std::string& name, const Decomposition& decomposition,
           const PhaseGrid& grid, const PhaseBasis& basis, const ConfField& field,
           const hdf5::Description& description);
/// Fill a field on all ranks. Collective and errors as above.
void read(const hdf5::Group& group, const std::string& name, const Decomposition& decomposition,
          const PhaseGrid& grid, const PhaseBasis& basis, const ConfField& field);

/// f as rows of its first axis, each cell's modes in Gkeyll's order. `give` copies from f.
[[nodiscard]] RowExchange phase_rows(const Decomposition& decomposition, const Distribution& f,
                                     RowExchange::Owner owner,
                                     std::size_t chunk_bytes = std::size_t{1} << 24);
[[nodiscard]] RowExchange::Give give_modes(const PhaseBasis& basis, const Distribution& f);
[[nodiscard]] RowExchange::Take take_modes(const PhaseBasis& basis, const Distribution& f);  ///< copies to f
/// A field as rows of its first axis. `give` copies from it.
[[nodiscard]] RowExchange conf_rows(const Decomposition& decomposition, const PhaseGrid& grid,
                                    const ConfField& field, RowExchange::Owner owner);
[[nodiscard]] RowExchange::Give give_modes(const PhaseBlock& block, const ConfField& field);

/// "cells [64, 32], lower [0, -6], upper [12.566370614359172, 6]" of the first `dim` directions.
[[nodiscard]] std::string grid_text(const PhaseGrid& grid, int dim);
/// "serendipity of order 2 in 1x1v".
[[nodiscard]] std::string basis_text(const PhaseBasis& basis);
/// "00 10 01 11 20 02 21 12": degrees in each direction of the modes, in Gkeyll's order.
[[nodiscard]] std::string modes_text(const PhaseBasis& basis);
[[nodiscard]] std::string modes_text(const Basis& basis);

}  // namespace quintet::kinetics
