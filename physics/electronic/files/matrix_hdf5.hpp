#pragma once

#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

/// Our HDF5 file of a matrix: attribute `n_rows`; `row`, `column` [n_elements] (from 0) and `value`
/// [n_elements] (its units); where known `block_size` [n_blocks] and `order` [n_rows]. Real-space matrices
/// lie in the group `real_space`: attribute `n_rows`; `shift` [n_shifts, 3], `begin` [n_shifts + 1], and
/// `row`, `column`, `value` [n_elements], those of shift s at begin[s] to begin[s + 1].
namespace quintet::electronic {

inline constexpr const char* matrix_schema = "quintet.matrix";
inline constexpr int matrix_schema_version = 1;

/// The attribute `n_rows`. Throws InputError if it is not a size.
[[nodiscard]] int rows_attribute(const hdf5::Group& group, const std::string& path);
/// Part `part` of `n_parts` of the lists row, column and value. Throws InputError. Collective.
[[nodiscard]] std::vector<Triplet> read_element_lists(const hdf5::Group& group, const std::string& path,
                                                      int n_rows, const Comm& comm, int part, int n_parts);

}  // namespace quintet::electronic
