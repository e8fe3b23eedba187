#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "io/files/reading.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/electronic/files/matrix_format.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

/// The matrix files that users of Kohn-Sham codes hold. 1-based indices there, 0-based here; values
/// untouched.
namespace quintet::electronic {

/// Triangle of a symmetric matrix that a file holds.
enum class Triangle {
  both,  ///< all; a file with elements on one side of the diagonal only is refused unless it says `symmetric`
  one    ///< those of one triangle (CP2K's UPPER_TRIANGULAR); the other is made from them
};

struct MatrixFile {
  int n_rows = 0;                 ///< the largest index where the format does not say (CP2K)
  std::vector<Triplet> elements;  ///< this rank's share of the file's elements, both triangles
  MatrixFormat format = MatrixFormat::automatic;
  std::string units;                 ///< of the values, "" where the file does not say
  std::optional<Blocking> blocking;  ///< where the file says (our HDF5)
  Reading reading;                   ///< what was assumed of the file
};

/// Read a share of the file on each rank (rank r the r-th part of its elements). `n_rows`: what the user
/// says; checked. Throws InputError with file and place: absent, truncated, not of the format, an index out
/// of range or "********", not finite, complex where real is wanted, one triangle of a matrix not marked
/// symmetric, duplicates. The error is the same on all ranks. Collective.
[[nodiscard]] MatrixFile read_matrix(const Comm& comm, const std::string& path, MatrixFormat format,
                                     std::optional<int> n_rows, Triangle triangle = Triangle::both);
/// Rows of two matrices of one system. Throws InputError, naming both files, if they differ.
[[nodiscard]] int common_rows(const MatrixFile& a, const std::string& a_path, const MatrixFile& b,
                              const std::string& b_path);
/// Labels of the values in a written file; kept by our HDF5, as a comment by MatrixMarket.
struct MatrixLabels {
  std::string units = "1";  ///< "hartree", ...
  std::string description = "Elements of a matrix.";
  hdf5::Provenance provenance;
  double n_electrons = 0;  ///< for ELSI's header; 0: not said
};
/// Write both triangles, sorted by rows and columns (ELSI, NTPoly: columns and rows), without zeros off the
/// diagonal; rank 0 streams (HDF5: collective). By way of a temporary name, so that no reader sees half of
/// it. Throws ResourceError if the disk is full, InputError if an index does not fit the format. Collective.
void write_matrix(const BlockMatrix& matrix, const std::string& path, MatrixFormat format,
                  const MatrixLabels& labels = {});

/// Real-space blocks M(0, s) of a crystal: element (i, j) couples orbital i of cell 0 with orbital j of cell
/// s.
struct RealSpaceMatrix {
  int n_rows = 0;                              ///< orbitals of a cell
  std::vector<std::array<int, 3>> shift;       ///< s
  std::vector<std::vector<Triplet>> elements;  ///< of each shift
  std::string units;                           ///< of the values, "" where the files do not say
  Reading reading;                             ///< what was assumed of the files
};
/// Our HDF5 (group `real_space`), or a list of files, one a shift: a text of lines `s_x s_y s_z FILE` (FILE
/// relative to the list, '#' begins a comment), each in one of the formats of read_matrix, whole: K(0, s) of
/// itself is not symmetric. A file of a shift other than 0 0 0 may be empty. Each rank gets all of it.
/// `format`: of the listed files; `n_rows`: orbitals of a cell, as the user says. Throws InputError as
/// read_matrix, and for a shift given twice, no shift, or files of different sizes or units. Collective.
[[nodiscard]] RealSpaceMatrix read_real_space(const Comm& comm, const std::string& path,
                                              MatrixFormat format = MatrixFormat::automatic,
                                              std::optional<int> n_rows = {});
/// Compare M(0, s)_ij with M(0, -s)_ji, which must be equal, before fold() takes their mean; what is absent
/// counts as 0. Shifts that are all cells of the box 0 <= s < repeat are compared modulo the box, provided
/// that some s is not its own opposite. Triangle::one: what is absent is made from its transposed. Throws
/// InputError, which names the shift that is missing or the two elements that differ most, by more than
/// `asymmetry`. No communication.
void compare_images(const std::string& path, RealSpaceMatrix& matrix, const std::array<int, 3>& repeat,
                    double asymmetry, Triangle triangle = Triangle::both);
/// Write as our HDF5; all ranks hold the same. Collective.
void write_real_space(const Comm& comm, const RealSpaceMatrix& matrix, const std::string& path,
                      const MatrixLabels& labels = {});
/// Elements of the Gamma-point matrix of a supercell of repeat[0] x repeat[1] x repeat[2] cells: M[c, d] =
/// sum of M(0, s) over all s with d = c + s (mod box), then (M + M^T)/2, which is bitwise symmetric
/// (compare_images() tells how far M was from it); cell c =
/// (z n_y + y) n_x + x, orbital i of cell c is row c n_rows + i. This rank's share is of whole cells (rows).
/// Throws InputError if a repetition is not positive or the rows exceed 32 bits. No communication.
[[nodiscard]] MatrixFile fold(const Comm& comm, const RealSpaceMatrix& matrix,
                              const std::array<int, 3>& repeat);

}  // namespace quintet::electronic
