#include "apps/submatrix/input/system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/submatrix/input/blocks.hpp"
#include "apps/submatrix/input/matrices.hpp"
#include "io/config/units.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/matrix_files.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

/// Factor from the file's energies to hartree.
double energy_factor(const MatricesOptions& options, const MatrixFile& file) {
  switch (options.units) {
    case EnergyUnit::hartree:
      return 1;
    case EnergyUnit::electronvolt:
      return 1 / ev_per_hartree;
    case EnergyUnit::rydberg:
      return 0.5;
    case EnergyUnit::from_file:
      break;
  }
  QUINTET_CHECK(file.units != "1",
                "matrices.kohn_sham: {}: has no energies but plain numbers (units '1'); are kohn_sham and "
                "overlap mixed up? If it is K, say matrices.units",
                options.kohn_sham);
  if (file.units.empty()) return 1;
  try {
    return unit_factor(file.units, "hartree");
  } catch (const InputError& error) {
    throw InputError(fmt::format("matrices.kohn_sham: {}: {}", options.kohn_sham, error.what()));
  }
}

bool says_units(const MatricesOptions& options, const MatrixFile& k) {
  return options.units != EnergyUnit::from_file || !k.units.empty();
}

/// Element (i, i), i = 0, of the diagonal block of local column c; the next one is size + 1 further.
const double* diagonal_block(const BlockMatrix& m, int c) {
  const auto begin = m.row.begin() + m.column_begin[c];
  const auto end = m.row.begin() + m.column_begin[c + 1];
  const auto p = std::lower_bound(begin, end, m.first + c) - m.row.begin();
  return m.value.data() + m.offset[p];
}

/// K_ii/S_ii, which levels reach beyond: of pseudopotentials some -5 to 5 hartree, 27 times that in eV. Told,
/// and refused where nobody named a unit and it cannot be guessed: valence levels in eV are where core levels
/// of all electrons are in hartree. Collective.
void check_unit(const BlockMatrix& k, const BlockMatrix& s, const std::string& path) {
  constexpr double lowest_plausible = -8, highest_plausible = 60;
  double lower = std::numeric_limits<double>::infinity(), upper = -lower;
  for (int c = 0; c < k.n_columns(); ++c) {
    const double *k_block = diagonal_block(k, c), *s_block = diagonal_block(s, c);
    const int n = k.blocking->size(k.first + c);
    for (int i = 0; i < n; ++i) {
      const double level = k_block[i * (n + 1)] / s_block[i * (n + 1)];
      lower = std::min(lower, level);
      upper = std::max(upper, level);
    }
  }
  lower = k.comm.minimum(lower);
  upper = k.comm.maximum(upper);
  QUINTET_CHECK(
      lower > lowest_plausible && upper < highest_plausible,
      "matrices.kohn_sham: {}: says no unit, and K_ii/S_ii from {:.4g} to {:.4g} fits valence levels in eV "
      "as well as core levels in hartree: say matrices.units: eV, hartree or Ry",
      path, lower, upper);
  log::info(
      "Nobody names K's unit: taken for hartree, K_ii/S_ii from {:.4g} to {:.4g} hartree ({:.4g} to {:.4g} "
      "eV); "
      "if these are eV, say matrices.units",
      lower, upper, lower * ev_per_hartree, upper * ev_per_hartree);
}

/// Refuse an S whose diagonal is not positive.
void check_overlap(const Comm& comm, const MatricesOptions& options, const MatrixFile& file) {
  QUINTET_CHECK(file.units.empty() || file.units == "1",
                "matrices.overlap: {}: its values are in '{}', but an overlap has no unit; are kohn_sham and "
                "overlap mixed up?",
                *options.overlap, file.units);
  std::string wrong;
  for (const auto& element : file.elements)
    if (wrong.empty() && element.row == element.column && element.value <= 0)
      wrong = fmt::format(
          "matrices.overlap: {}: diagonal element {} is {:.6g}, so this is no overlap matrix; are kohn_sham "
          "and overlap mixed up?",
          *options.overlap, element.row + 1, element.value);
  throw_together(comm, wrong);
}

/// Unit matrix: the share of this rank.
MatrixFile identity(const Comm& comm, int n_rows) {
  MatrixFile file;
  file.n_rows = n_rows;
  for (int i = comm.rank(); i < n_rows; i += comm.size()) file.elements.push_back({i, i, 1.0});
  return file;
}

BlockMatrix assembled(const Comm& comm, const std::shared_ptr<const Blocking>& blocking,
                      const MatrixFile& file, const std::vector<int>& shares, double asymmetry,
                      const std::string& path) {
  try {
    return assemble(comm, blocking, file.elements, shares, asymmetry);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace

System read_system(Context& context, const MatricesOptions& matrices, const BlocksOptions& blocks,
                   const System* other) {
  const auto phase = context.phase("read");
  const Comm& comm = context.comm();
  ReadMatrix k_read = read_file(context, matrices, matrices.kohn_sham);
  MatrixFile& k = k_read.file;
  ReadMatrix s_read = matrices.overlap ? read_file(context, matrices, *matrices.overlap)
                                       : ReadMatrix{identity(comm, std::max(k.n_rows, 1)), {}};
  MatrixFile& s = s_read.file;
  const std::string s_path = matrices.overlap.value_or("the unit matrix");
  const int n_rows = common_rows(k, matrices.kohn_sham, s, s_path);
  if (matrices.overlap) check_overlap(comm, matrices, s);
  const bool compared = matrices.overlap && matrices.order == Order::checked;
  if (compared) check_cells(matrices, k_read, s_read);
  if (compared && blocks.says_nothing()) check_blocks(matrices, k, s);
  const double factor = energy_factor(matrices, k);
  for (auto& element : k.elements) element.value *= factor;
  const auto n_elements = comm.sum(static_cast<long>(k.elements.size()));

  const auto of_file = k.blocking && k.blocking->n_rows() == n_rows ? k.blocking : s.blocking;
  const bool as_other = other != nullptr && other->blocking().n_rows() == n_rows;
  const Blocks made = as_other ? Blocks{other->blocking(), other->n_atoms}
                               : make_blocks(comm, blocks, n_rows, of_file, k.elements);
  if (of_file && blocks.says_nothing() && !as_other)
    k.reading.assume("blocks as the file of K or S says (`blocks` changes them)");
  const auto blocking = std::make_shared<const Blocking>(made.blocking);
  const auto shares = share_columns(comm, *blocking);
  BlockMatrix k_blocks =
      assembled(comm, blocking, k, shares, matrices.asymmetry * factor, matrices.kohn_sham);
  k.elements = {};
  BlockMatrix s_blocks = assembled(comm, blocking, s, shares, matrices.asymmetry, s_path);
  if (matrices.overlap) check_overlap_rows(*matrices.overlap, s_blocks);
  if (compared) check_order(matrices, k_blocks, s_blocks);
  const bool guessed_unit = !says_units(matrices, k);
  tell_reading(matrices, k, s, guessed_unit, other == nullptr);
  if (guessed_unit) check_unit(k_blocks, s_blocks, matrices.kohn_sham);
  return {std::move(k_blocks), std::move(s_blocks), made.n_atoms, n_elements, guessed_unit};
}

BlockMatrix read_further(Context& context, const MatricesOptions& matrices, const std::string& path,
                         const System& first) {
  const auto phase = context.phase("read");
  MatricesOptions options = matrices;
  options.kohn_sham = path;
  const int n_rows = first.blocking().n_rows();
  if (options.repeat.empty()) options.n_rows = n_rows;
  ReadMatrix read = read_file(context, options, path);
  MatrixFile& k = read.file;
  QUINTET_CHECK(k.n_rows == n_rows, "further_kohn_sham: {}: has {} rows, but {} has {}", path, k.n_rows,
                matrices.kohn_sham, n_rows);
  const double factor = energy_factor(options, k);
  for (auto& element : k.elements) element.value *= factor;
  BlockMatrix blocks =
      assembled(context.comm(), first.k.blocking, k, first.k.rank_begin, matrices.asymmetry * factor, path);
  if (matrices.overlap && matrices.order == Order::checked) check_order(options, blocks, first.s);
  const bool guessed_unit = !says_units(options, k);
  tell_reading(options, k, {}, guessed_unit, false);
  if (guessed_unit) check_unit(blocks, first.s, path);
  return blocks;
}

void share_by_cost(System& system, const SubmatrixOptions& options) {
  const Comm& comm = system.k.comm;
  if (comm.size() == 1) return;
  const auto blocking = system.k.blocking;
  const auto shares = share_columns(comm, *blocking, predicted_costs(system.k, options));
  if (shares == system.k.rank_begin) return;
  constexpr double any_asymmetry = -1;
  system.k = assemble(comm, blocking, elements(system.k), shares, any_asymmetry);
  system.s = assemble(comm, blocking, elements(system.s), shares, any_asymmetry);
}

MatricesOptions spin_down(const MatricesOptions& matrices) {
  MatricesOptions down = matrices;
  down.kohn_sham = *matrices.kohn_sham_down;
  down.kohn_sham_down.reset();
  return down;
}

bool is_trivial(double electrons_of_spin, int n_rows) {
  return electrons_of_spin == 0 || std::abs(electrons_of_spin - n_rows) < 1e-12 * n_rows;
}

std::optional<double> electrons_of_spin(const EnsembleOptions& ensemble, int n_rows, double temperature,
                                        int spin) {
  QUINTET_CHECK(spin != 0 || ensemble.unpaired == 0,
                "ensemble.unpaired: {} unpaired electrons need matrices.kohn_sham_down", ensemble.unpaired);
  if (!ensemble.electrons) return std::nullopt;
  const double electrons = 0.5 * (*ensemble.electrons + spin * ensemble.unpaired);
  if (is_trivial(electrons, n_rows)) return std::round(electrons);
  QUINTET_CHECK(electrons > ensemble.tolerance && electrons < n_rows - ensemble.tolerance,
                "ensemble.electrons: {} electrons do not fit into {} orbitals: {} of one spin, where none, "
                "{}, or a number "
                "between (by more than ensemble.tolerance = {}) is needed",
                *ensemble.electrons, n_rows, electrons, n_rows, ensemble.tolerance);
  QUINTET_CHECK(
      temperature > 0 || std::abs(electrons - std::round(electrons)) < 1e-12,
      "ensemble.electrons: {} electrons fill {} orbitals of one spin, which is no whole number; give "
      "another number, or a temperature",
      *ensemble.electrons, electrons);
  return electrons;
}

double electrons_of_both(const EnsembleOptions& ensemble, int n_rows, double temperature) {
  const double electrons = *ensemble.electrons;
  QUINTET_CHECK(electrons > ensemble.tolerance && electrons < 2.0 * n_rows - ensemble.tolerance,
                "ensemble.electrons: {} electrons do not fit into {} orbitals of two spins, where more than "
                "none and less than {} are needed (by more than ensemble.tolerance = {})",
                electrons, n_rows, 2 * n_rows, ensemble.tolerance);
  QUINTET_CHECK(temperature > 0 || std::abs(electrons - std::round(electrons)) < 1e-12,
                "ensemble.electrons: {} electrons are no whole number; give another number, or a temperature",
                electrons);
  return electrons;
}

void share_like(System& system, const System& other) {
  const auto &blocks = system.blocking(), &others = other.blocking();
  QUINTET_CHECK(blocks.begin == others.begin && blocks.order == others.order,
                "ensemble.common_mu: the matrices of the two spins got different blocks ({} and {}); give "
                "blocks.size, sizes or file",
                others.n_blocks(), blocks.n_blocks());
  constexpr double any_asymmetry = -1;
  for (auto* m : {&system.k, &system.s})
    *m = assemble(m->comm, other.k.blocking, elements(*m), other.k.rank_begin, any_asymmetry);
}

ReferenceOptions find_reference(const Comm& comm, const ReferenceOptions& options,
                                const std::vector<std::int64_t>& repeat) {
  if (!options.file) return options;
  ReferenceOptions found = options;
  together(comm, [&] {
    const Tree tree = read_yaml(*options.file);
    found.energy.reset();
    for (const Tree& box : tree.at("boxes").items()) {
      std::vector<std::int64_t> cells;
      for (const Tree& n : box.at("repeat").items()) cells.push_back(n.as_integer());
      if (cells != repeat) continue;
      found.energy = box.at("energy").as_number();
      if (box.has("homo")) found.homo = box.at("homo").as_number();
      if (box.has("lumo")) found.lumo = box.at("lumo").as_number();
    }
  });
  if (!found.energy)
    log::warning("{}: has no box [{}], so there is nothing to compare with", *options.file,
                 fmt::join(repeat, ", "));
  return found;
}

}  // namespace quintet::submatrix
