#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/hdf5/file_fwd.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

/// S^-1/2 for more than one K of one S: the next of a run, or that of the next run.
namespace quintet::electronic {

/// S^-1/2 as it is kept.
struct KeptRoot {
  InverseSqrt made;
  double threshold = 0;  ///< that it was made with (hartree)
  bool local = false;    ///< of B S B, see local_basis(), in place of S
};

/// A number of the elements of a matrix, the same for any blocks and any number of ranks: their sum modulo
/// 2^64, each mixed from row, column and the bits of its value. Zeros off the diagonal do not count.
/// Collective.
[[nodiscard]] std::uint64_t fingerprint(const BlockMatrix& matrix);

/// Write S^-1/2 of `s` as a file of a matrix (our HDF5) with attributes that say what it was made of: the
/// fingerprints of S and of its own elements, threshold (hartree), precision, residual, degree, condition.
/// Several processes may write one file at once: each writes beside it and gives it its name when it is
/// whole. Throws ResourceError, on all ranks; no part of a file is left then. Collective.
void write_root(const KeptRoot& root, const BlockMatrix& s, const std::string& path,
                const hdf5::Provenance& provenance);

/// Read what write_root() wrote. Throws InputError, which names the file, where it is damaged, or keeps
/// S^-1/2 of another S, of other blocks, or of a threshold above `threshold`. Collective.
[[nodiscard]] KeptRoot read_root(const std::string& path, const BlockMatrix& s, double threshold);

}  // namespace quintet::electronic
