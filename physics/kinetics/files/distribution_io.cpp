#include "physics/kinetics/files/distribution_io.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::kinetics {

namespace {

/// Boxes of all ranks in the first `dim` directions.
std::vector<CellBox> boxes(const Decomposition& decomposition, const PhaseGrid& grid, int dim) {
  std::vector<CellBox> result;
  for (int rank = 0; rank < decomposition.comm().size(); ++rank) {
    const auto block = decomposition.block(grid, rank);
    CellBox box;
    for (int d = 0; d < dim; ++d) {
      box.begin[d] = block.begin[d];
      box.extent[d] = block.extent[d];
    }
    result.push_back(box);
  }
  return result;
}

/// Shape of a dataset: cells of the first `dim` directions, then `rest`.
hdf5::Shape shape_of(const PhaseGrid& grid, int dim, const hdf5::Shape& rest) {
  hdf5::Shape shape;
  for (int d = 0; d < dim; ++d) shape.push_back(grid.cells[d]);
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

/// The attributes that a dataset must have.
struct Label {
  hdf5::Shape shape;
  std::string grid, basis, modes;
};

Label label_of(const PhaseBasis& basis, const PhaseGrid& grid) {
  return {shape_of(grid, grid.dim(), {static_cast<std::uint64_t>(basis.size())}), grid_text(grid, grid.dim()),
          basis_text(basis), modes_text(basis)};
}

Label label_of(const PhaseBasis& basis, const PhaseGrid& grid, const ConfField& field) {
  return {shape_of(grid, grid.cdim, {field.extent(1), field.extent(2)}), grid_text(grid, grid.cdim),
          basis_text(basis), modes_text(basis.conf())};
}

std::uint64_t write_rows(hdf5::Group& group, const std::string& name, const RowExchange& exchange,
                         const RowExchange::Give& give, const Label& label,
                         const hdf5::Description& description, std::uint64_t seed = 0) {
  Exec().fence();
  const auto rows = exchange.collect(give);
  group.write_distributed<double>(name, rows, label.shape, static_cast<std::uint64_t>(exchange.rows().begin),
                                  description);
  group.set_member_attribute(name, "grid", label.grid);
  group.set_member_attribute(name, "basis", label.basis);
  group.set_member_attribute(name, "modes", label.modes);
  return hdf5::RowChecksum::part<double>(seed, rows, exchange.rows().begin * exchange.row_size());
}

void check_label(const hdf5::Group& group, const std::string& name, const Label& label) {
  const auto check = [&](const char* what, const std::string& expected) {
    QUINTET_CHECK(group.has_member_attribute(name, what),
                  "{} has no attribute '{}': it was not written by vlasov", name, what);
    const auto found = group.member_text_attribute(name, what);
    QUINTET_CHECK(found == expected,
                  "{} has another {} than this run: the file has {}, the run {}; give the run the file's {}",
                  name, what, found, expected, what);
  };
  const auto found = group.shape(name);
  check("basis", label.basis);
  check("grid", label.grid);
  check("modes", label.modes);
  QUINTET_CHECK(found == label.shape, "{} has shape [{}], this run needs [{}]", name, fmt::join(found, ", "),
                fmt::join(label.shape, ", "));
}

/// Global number of the first value that is not finite; the largest int64 if all are.
std::int64_t first_bad(std::span<const double> rows, std::int64_t first) {
  const auto bad = std::find_if(rows.begin(), rows.end(), [](double value) { return !std::isfinite(value); });
  return bad == rows.end() ? std::numeric_limits<std::int64_t>::max() : first + (bad - rows.begin());
}

void check_finite(const Comm& comm, const std::string& name, const hdf5::Shape& shape, std::int64_t bad) {
  bad = comm.minimum(bad);
  if (bad == std::numeric_limits<std::int64_t>::max()) return;
  std::vector<std::uint64_t> index(shape.size());
  std::uint64_t rest = bad;
  for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
  throw InputError(
      fmt::format("{} is not finite at [{}]: the file is damaged or its run had failed; use an earlier one",
                  name, fmt::join(index, ", ")));
}

void read_rows(const hdf5::Group& group, const std::string& name, const Comm& comm,
               const RowExchange& exchange, const RowExchange::Take& take, const Label& label) {
  check_label(group, name, label);
  Exec().fence();
  std::int64_t bad = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < exchange.n_chunks(); ++i) {
    const auto chunk = exchange.chunk(i);
    const std::uint64_t begin = chunk.begin;
    const auto rows = group.read_rows<double>(name, begin, static_cast<std::uint64_t>(chunk.size()));
    bad = std::min(bad, first_bad(rows, begin * exchange.row_size()));
    exchange.spread(i, rows, take);
  }
  check_finite(comm, name, label.shape, bad);
}

/// Call visit(first value of the cell in canonical order, its pack, its lane) for local rows [first, first +
/// n).
template <class Visit>
void visit_cells(const Distribution& f, int first, int n, const Visit& visit) {
  const auto& block = f.block;
  const int conf_a_row = block.n_conf() / block.extent[0];
  std::size_t place = 0;
  for (int conf = first * conf_a_row; conf < (first + n) * conf_a_row; ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last, place += f.n_modes)
        visit(place, f.pack(conf, row, last / PhaseBlock::lanes) + last % PhaseBlock::lanes);
}

/// The values of local rows [first, first + n) of a field.
std::span<double> field_rows(const PhaseBlock& block, const ConfField& field, int first, int n) {
  const std::size_t row = field.size() / block.extent[0];
  return {field.data() + std::int64_t{first} * row, std::int64_t{n} * row};
}

}  // namespace

RowExchange phase_rows(const Decomposition& decomposition, const Distribution& f, RowExchange::Owner owner,
                       std::size_t chunk_bytes) {
  const auto& grid = f.block.grid;
  return {decomposition.comm(),
          boxes(decomposition, grid, grid.dim()),
          std::vector<bool>(decomposition.comm().size(), true),
          grid.cells,
          grid.dim(),
          std::size_t(f.n_modes),
          owner,
          chunk_bytes};
}

RowExchange conf_rows(const Decomposition& decomposition, const PhaseGrid& grid, const ConfField& field,
                      RowExchange::Owner owner) {
  std::vector<bool> gives;
  for (const int velocity_rank : decomposition.comm().all_gather(decomposition.velocity_comm().rank()))
    gives.push_back(velocity_rank == 0);
  return {decomposition.comm(),
          boxes(decomposition, grid, grid.cdim),
          gives,
          grid.cells,
          grid.cdim,
          field.extent(1) * field.extent(2),
          owner};
}

RowExchange::Give give_modes(const PhaseBasis& basis, const Distribution& f) {
  return [&basis, f](int first, int n, double* values) {
    const auto& order = basis.gkeyll_order();
    visit_cells(f, first, n, [&](std::size_t place, const double* cell) {
      for (int mode = 0; mode < f.n_modes; ++mode)
        values[place + order[mode]] = cell[mode * PhaseBlock::lanes];
    });
  };
}

RowExchange::Take take_modes(const PhaseBasis& basis, const Distribution& f) {
  return [&basis, f](int first, int n, const double* values) {
    const auto& order = basis.gkeyll_order();
    visit_cells(f, first, n, [&](std::size_t place, double* cell) {
      for (int mode = 0; mode < f.n_modes; ++mode)
        cell[mode * PhaseBlock::lanes] = values[place + order[mode]];
    });
  };
}

RowExchange::Give give_modes(const PhaseBlock& block, const ConfField& field) {
  return [block, field](int first, int n, double* values) {
    std::ranges::copy(field_rows(block, field, first, n), values);
  };
}

std::uint64_t write(hdf5::Group& group, const std::string& name, const Decomposition& decomposition,
                    const PhaseBasis& basis, const Distribution& f, const hdf5::Description& description,
                    std::uint64_t seed) {
  return write_rows(group, name, phase_rows(decomposition, f, RowExchange::Owner::shared),
                    give_modes(basis, f), label_of(basis, f.block.grid), description, seed);
}

void read(const hdf5::Group& group, const std::string& name, const Decomposition& decomposition,
          const PhaseBasis& basis, const Distribution& f) {
  read_rows(group, name, decomposition.comm(), phase_rows(decomposition, f, RowExchange::Owner::shared),
            take_modes(basis, f), label_of(basis, f.block.grid));
}

void write(hdf5::Group& group, const std::string& name, const Decomposition& decomposition,
           const PhaseGrid& grid, const PhaseBasis& basis, const ConfField& field,
           const hdf5::Description& description) {
  write_rows(group, name, conf_rows(decomposition, grid, field, RowExchange::Owner::shared),
             give_modes(decomposition.block(grid), field), label_of(basis, grid, field), description);
}

void read(const hdf5::Group& group, const std::string& name, const Decomposition& decomposition,
          const PhaseGrid& grid, const PhaseBasis& basis, const ConfField& field) {
  const auto block = decomposition.block(grid);
  const auto take = [&](int first, int n, const double* values) {
    const auto rows = field_rows(block, field, first, n);
    std::copy_n(values, rows.size(), rows.begin());
  };
  read_rows(group, name, decomposition.comm(),
            conf_rows(decomposition, grid, field, RowExchange::Owner::shared), take,
            label_of(basis, grid, field));
}

/// FNV-1a of the bits: as good as surely different where edges differ.
static std::uint64_t fingerprint(const std::vector<double>& values) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const double value : values)
    for (unsigned shift = 0; shift < 64; shift += 8)
      hash = (hash ^ (std::bit_cast<std::uint64_t>(value) >> shift & 0xffU)) * 0x100000001b3U;
  return hash;
}

std::string grid_text(const PhaseGrid& grid, int dim) {
  const auto first = [&](const auto& values) {
    return fmt::format("[{}]", fmt::join(values.begin(), values.begin() + dim, ", "));
  };
  auto text =
      fmt::format("cells {}, lower {}, upper {}", first(grid.cells), first(grid.lower), first(grid.upper));
  for (int d = grid.cdim; d < dim; ++d)
    if (!grid.is_uniform(d))
      text += fmt::format(", widths of v{} {:.6g} to {:.6g} (edges {:016x})", "xyz"[d - grid.cdim],
                          grid.least_width(d), grid.greatest_width(d),
                          fingerprint(grid.velocity_edges[d - grid.cdim]));
  return text;
}

std::string basis_text(const PhaseBasis& basis) {
  return fmt::format("{} of order {} in {}x{}v", name(basis.family()), basis.order(), basis.cdim(),
                     basis.vdim());
}

namespace {

std::string degrees(const MultiIndex& mode, int dim) {
  return fmt::format("{}", fmt::join(mode.begin(), mode.begin() + dim, ""));
}

}  // namespace

std::string modes_text(const PhaseBasis& basis) {
  std::vector<std::string> texts(basis.size());
  for (int i = 0; i < basis.size(); ++i) texts[basis.gkeyll_order()[i]] = degrees(basis.mode(i), basis.dim());
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string modes_text(const Basis& basis) {
  std::vector<std::string> texts;
  for (int i = 0; i < basis.size(); ++i) texts.push_back(degrees(basis.mode(i), basis.dim()));
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace quintet::kinetics
