#include "apps/submatrix/input/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "io/config/table.hpp"
#include "io/files/input_file.hpp"
#include "io/files/reading.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/density/basis_check.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

ReadMatrix read_folded(Context& context, const MatricesOptions& options, const std::string& path,
                       std::optional<int> n_rows) {
  const Comm& comm = context.comm();
  ReadMatrix result;
  auto cell = read_real_space(comm, path, options.format, n_rows);
  const std::array box{static_cast<int>(options.repeat[0]), static_cast<int>(options.repeat[1]),
                       static_cast<int>(options.repeat[2])};
  double elements = 0, cells = 1;
  for (const auto& list : cell.elements) elements += list.size();
  for (const auto n : options.repeat) cells *= n;
  QUINTET_CHECK(cells * cell.n_rows < 2147483647.0, "{}: {} cells of {} orbitals are too many rows", path,
                cells, cell.n_rows);
  context.require_memory(6 * sizeof(Triplet) * elements * cells / comm.size(),
                         fmt::format("{} in {}", path, counted(cells, "cell")));
  compare_images(path, cell, box, options.asymmetry, options.triangle);
  for (std::size_t q = 0; q < cell.shift.size(); ++q) {
    double& largest = result.cells[cell.shift[q]];
    for (const auto& e : cell.elements[q]) largest = std::max(largest, std::abs(e.value));
  }
  result.file = fold(comm, cell, box);
  return result;
}

}  // namespace

ReadMatrix read_file(Context& context, const MatricesOptions& options, const std::string& path) {
  const Comm& comm = context.comm();
  double bytes = 0;
  together(comm, [&] { bytes = check_input_file(path); });
  std::optional<int> n_rows;
  if (options.n_rows) n_rows = static_cast<int>(*options.n_rows);
  if (!options.repeat.empty()) return read_folded(context, options, path, n_rows);
  context.require_memory(4 * bytes / comm.size(), path);
  ReadMatrix result{read_matrix(comm, path, options.format, n_rows, options.triangle), {}};
  if (!n_rows && !row_of(matrix_formats(), result.file.format).tells_rows)
    result.file.reading.assume(fmt::format("{}, the largest index (matrices.n_rows changes it)",
                                           counted(result.file.n_rows, "row")));
  return result;
}

void check_cells(const MatricesOptions& options, const ReadMatrix& k, const ReadMatrix& s) {
  constexpr double overlapping = 1e-3;
  for (const auto& [shift, largest] : s.cells) {
    const auto same = k.cells.find(shift);
    QUINTET_CHECK(
        largest < overlapping || (same != k.cells.end() && same->second > 0),
        "{} has overlaps up to {:.3g} with the cell {}, with which {} has no elements: are both of one "
        "crystal, and is its list whole? If so, say matrices.order: trusted",
        *options.overlap, largest, fmt::join(shift, " "), options.kohn_sham);
  }
}

namespace {

/// Sizes of the first blocks.
std::string sizes_text(const Blocking& blocking) {
  constexpr int most = 6;
  std::vector<int> sizes;
  for (int b = 0; b < std::min(most, blocking.n_blocks()); ++b) sizes.push_back(blocking.size(b));
  return fmt::format("{}{}", fmt::join(sizes, ", "), blocking.n_blocks() > most ? ", ..." : "");
}

/// True if each block of `fine` lies in one block of `coarse`.
bool refines(const Blocking& fine, const Blocking& coarse) {
  const auto row_of_coarse = blocked_rows(coarse);
  const auto block_of_coarse = block_of_rows(coarse);
  const auto block_of = [&](int blocked) {
    const int users = fine.order.empty() ? blocked : fine.order[blocked];
    return block_of_coarse[row_of_coarse[users]];
  };
  for (int b = 0; b < fine.n_blocks(); ++b)
    for (int i = fine.begin[b] + 1; i < fine.begin[b + 1]; ++i)
      if (block_of(i) != block_of(i - 1)) return false;
  return true;
}

}  // namespace

void check_blocks(const MatricesOptions& options, const MatrixFile& k, const MatrixFile& s) {
  if (!k.blocking || !s.blocking || k.blocking->n_rows() != s.blocking->n_rows()) return;
  QUINTET_CHECK(
      refines(*k.blocking, *s.blocking) || refines(*s.blocking, *k.blocking),
      "{} has blocks of {} rows, but {} of {}: are the atoms of both in one order? If so, give the blocks "
      "(blocks.size, sizes or file)",
      options.kohn_sham, sizes_text(*k.blocking), *options.overlap, sizes_text(*s.blocking));
}

void check_order(const MatricesOptions& options, const BlockMatrix& k, const BlockMatrix& s) {
  const auto found = compare_patterns(k, s);
  if (found.n_rows == 0) return;
  const auto what = fmt::format("{} and {}: {} of {} rows contradict each other; {}", options.kohn_sham,
                                *options.overlap, found.n_rows, found.n_judged, found.first);
  QUINTET_CHECK(
      !found.is_of_order(),
      "{}. Are the functions of both in one order (atoms as well)? If so, say matrices.order: trusted", what);
  log::warning("{}. Too few rows to be sure that it is another order of the functions", what);
}

void check_overlap_rows(const std::string& path, const BlockMatrix& s) {
  try {
    check_functions(s);
  } catch (const InputError& error) {
    throw InputError(fmt::format("matrices.overlap: {}: {}", path, error.what()));
  }
}

void tell_reading(const MatricesOptions& options, const MatrixFile& k, const MatrixFile& s, bool guessed_unit,
                  bool with_overlap) {
  Reading of_k;
  if (k.format != MatrixFormat::automatic) of_k.assume(std::string(row_of(matrix_formats(), k.format).doc));
  if (guessed_unit)
    of_k.assume("in hartree (the file does not say; matrices.units changes it)");
  else if (!k.units.empty() && options.units != EnergyUnit::from_file)
    of_k.leave(fmt::format("its unit, {} (matrices.units is given)", k.units));
  else if (!k.units.empty())
    of_k.assume(fmt::format("in {}, as the file says", k.units));
  of_k.add(k.reading);
  if (with_overlap && !options.kohn_sham_down)
    of_k.assume("of both spins (matrices.kohn_sham_down gives that of spin down)");
  if (!of_k.empty()) log::info("{}: {}", options.kohn_sham, of_k.text());
  if (with_overlap && options.overlap && !s.reading.empty())
    log::info("{}: {}", *options.overlap, s.reading.text());
}

}  // namespace quintet::submatrix
