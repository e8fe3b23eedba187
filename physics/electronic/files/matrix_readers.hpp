#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/files/reading.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/electronic/files/file_bytes.hpp"
#include "physics/electronic/files/matrix_files.hpp"

/// Functions that the readers of single formats share. Not for other folders.
namespace quintet::electronic::reading {

/// A rank's share of a file, as it stands there.
struct FileShare {
  std::optional<int> n_rows;      ///< if the file says
  bool symmetric = false;         ///< the file says that it holds one triangle of a symmetric matrix
  std::vector<Triplet> elements;  ///< 0-based
  std::string units;              ///< "" where the file does not say
  std::optional<Blocking> blocking;
  Reading reading;
};

/// One line of text of what is wrong with an element (1-based row and column) of a matrix of n_rows rows, or
/// "".
[[nodiscard]] std::string complaint(std::int64_t row, std::int64_t column, double value, std::int64_t n_rows);

/// The format if the first bytes and the size leave no doubt.
[[nodiscard]] std::optional<MatrixFormat> format_of_contents(const FileBytes& file);

/// The readers of the table of formats: see MatrixFormatRow. Collective.
[[nodiscard]] FileShare read_cp2k_binary(const Comm& comm, const FileBytes& file, std::optional<int> n_rows);
[[nodiscard]] FileShare read_cp2k_text(const Comm& comm, const FileBytes& file, std::optional<int> n_rows);
[[nodiscard]] FileShare read_elsi_csc(const Comm& comm, const FileBytes& file, std::optional<int> n_rows);
[[nodiscard]] FileShare read_matrix_market(const Comm& comm, const FileBytes& file,
                                           std::optional<int> n_rows);
[[nodiscard]] FileShare read_ntpoly(const Comm& comm, const FileBytes& file, std::optional<int> n_rows);
[[nodiscard]] FileShare read_quintet(const Comm& comm, const FileBytes& file, std::optional<int> n_rows);

/// This rank's share of a file of a format, or of that which is found. Throws InputError if the file is
/// surely of another one. Collective.
[[nodiscard]] FileShare read_share(const Comm& comm, const std::string& path, MatrixFormat& format,
                                   std::optional<int> n_rows);

/// The memory of all that follows grows with the rows: throws InputError where a damaged or forged number of
/// them would claim it for nearly no elements (those of this rank are given). Collective.
void check_rows(const Comm& comm, const std::string& path, int n_rows, std::size_t n_elements_here);

/// Rows of the matrix: what the file says, what the user says (they must agree), or the largest index.
/// Collective.
[[nodiscard]] int agreed_rows(const Comm& comm, const std::string& path, const FileShare& share,
                              std::optional<int> n_rows);
/// Throws InputError if an element is in the file twice (or, of a symmetric matrix of which one triangle is
/// stored, its transposed). Collective.
void check_duplicates(const Comm& comm, const std::string& path, const std::vector<Triplet>& elements,
                      bool symmetric);
/// Add the transposed of each element off the diagonal.
void mirror(std::vector<Triplet>& elements);
/// Elements above and below the diagonal over all ranks. Collective.
struct TriangleCounts {
  long upper = 0, lower = 0;
};
[[nodiscard]] TriangleCounts count_triangles(const Comm& comm, const std::vector<Triplet>& elements);

}  // namespace quintet::electronic::reading
