#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/electronic/block_matrix.hpp"

/// The matrix files that users of Kohn-Sham codes hold. 1-based indices there, 0-based here; values
/// untouched.
namespace quintet::electronic {

enum class MatrixFormat {
  automatic,
  cp2k_text,
  cp2k_binary,
  elsi_csc,
  matrix_market,
  ntpoly_binary,
  quintet_hdf5
};

struct MatrixFile {
  int n_rows = 0;                 ///< the largest index where the format does not say (CP2K)
  std::vector<Triplet> elements;  ///< this rank's share of the file's elements, both triangles
  MatrixFormat format = MatrixFormat::automatic;
};

/// Read a share of the file on each rank (rank r the r-th part of its elements). `n_rows`: what the user
/// says; checked. Throws InputError with file and place: absent, truncated, not of the format, an index out
/// of range or "********", not finite, complex where real is wanted, one triangle of a matrix not marked
/// symmetric, duplicates. Collective.
[[nodiscard]] MatrixFile read_matrix(const Comm& comm, const std::string& path, MatrixFormat format,
                                     std::optional<int> n_rows);
/// Write; rank 0 streams (HDF5: collective). Collective.
void write_matrix(const BlockMatrix& matrix, const std::string& path, MatrixFormat format);

/// Real-space blocks M(0, s) of a crystal: element (i, j) couples orbital i of cell 0 with orbital j of cell
/// s.
struct RealSpaceMatrix {
  int n_rows = 0;                              ///< orbitals of a cell
  std::vector<std::array<int, 3>> shift;       ///< s
  std::vector<std::vector<Triplet>> elements;  ///< of each shift
};
/// Our HDF5 (group `real_space`), or a list of files, one a shift.
[[nodiscard]] RealSpaceMatrix read_real_space(const Comm& comm, const std::string& path);
/// Elements of the Gamma-point matrix of a supercell: M[c, d] = sum of M(0, s) over d = c + s (mod box),
/// cells x fastest, symmetrised; this rank's share (whole cells).
[[nodiscard]] MatrixFile fold(const Comm& comm, const RealSpaceMatrix& matrix,
                              const std::array<int, 3>& repeat);

}  // namespace quintet::electronic
