#pragma once

#include <string>

namespace quintet::submatrix {

/// Describe a file of a matrix, or of real-space images (HDF5, or a list of files), in lines: format, rows,
/// elements, diagonal, symmetry, units, blocks, images, what was assumed and not used.
///
/// A file of one triangle, or with images that are missing, is described where a calculation would refuse it:
/// the line says what the calculation asks for. Reads the file whole, on one rank. Throws InputError as
/// read_matrix() and read_real_space().
[[nodiscard]] std::string describe_matrix(const std::string& path);

}  // namespace quintet::submatrix
