#pragma once

#include <array>
#include <map>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/input/system_options.hpp"
#include "physics/electronic/files/matrix_files.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

/// K and S as they come from their files, and whether they belong together.
namespace quintet::submatrix {

/// A matrix as read, folded if its cells are to be repeated.
struct ReadMatrix {
  electronic::MatrixFile file;
  std::map<std::array<int, 3>, double> cells;  ///< of real-space blocks: largest |element| of each shift
};

/// Read one of the files. Throws InputError: what the readers throw. Collective.
[[nodiscard]] ReadMatrix read_file(Context& context, const MatricesOptions& options, const std::string& path);

/// Throws InputError if S overlaps with a cell that K has no elements with: K's range is that of S and more.
void check_cells(const MatricesOptions& options, const ReadMatrix& k, const ReadMatrix& s);
/// Throws InputError if both files say their blocks, and these are neither the same nor parts of each other:
/// they are atoms or molecules, so that others mean another order.
void check_blocks(const MatricesOptions& options, const electronic::MatrixFile& k,
                  const electronic::MatrixFile& s);
/// Throws InputError if K and S are not on the same functions in the same order, see compare_patterns();
/// warns of single rows. Collective.
void check_order(const MatricesOptions& options, const electronic::BlockMatrix& k,
                 const electronic::BlockMatrix& s);
/// Throws InputError for rows of S that are empty or twice there. Collective.
void check_overlap_rows(const std::string& path, const electronic::BlockMatrix& s);

/// Say what was assumed of K's file and, `with_overlap`, of that of S.
void tell_reading(const MatricesOptions& options, const electronic::MatrixFile& k,
                  const electronic::MatrixFile& s, bool guessed_unit, bool with_overlap);

}  // namespace quintet::submatrix
