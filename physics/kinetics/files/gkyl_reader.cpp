#include "physics/kinetics/files/gkyl_reader.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include <fmt/ranges.h>

#include "io/files/input_file.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/kinetics/files/distribution_io.hpp"

namespace quintet::kinetics {

namespace {

/// Values of a box of cells, one after the other, at a place of the file.
struct Part {
  CellBox box;
  std::uint64_t place = 0;
};

/// An open file of a field, on rank 0.
class GkylField {
 public:
  GkylField(const std::string& path, const PhaseBasis& basis, const PhaseGrid& grid)
      : path_(path),
        dim_(grid.dim()),
        n_values_(basis.size()),
        file_(open_input_file(path)),
        n_bytes_(check_input_file(path)) {
    read_header(basis);
    read_grid(grid);
    read_parts(grid);
  }
  [[nodiscard]] const std::string& meta() const { return meta_; }

  /// Fill `rows` with rows [range.begin, range.end) of the first axis.
  void read(const RowRange& range, const PhaseGrid& grid, std::span<double> rows) {
    for (const auto& part : parts_) {
      const int begin = std::max(range.begin, part.box.begin[0]),
                end = std::min(range.end, part.box.begin[0] + part.box.extent[0]);
      if (begin >= end) continue;
      std::size_t row = n_values_;
      for (int d = 1; d < dim_; ++d) row *= part.box.extent[d];
      std::vector<double> values(std::int64_t{end - begin} * row);
      file_.seekg(static_cast<std::streamoff>(part.place + 8 * row * (begin - part.box.begin[0])));
      take(values.data(), 8 * values.size());
      scatter(part.box, begin - range.begin, grid, values, rows);
    }
  }

 private:
  void take(void* data, std::uint64_t n) {
    QUINTET_CHECK(n <= n_bytes_ && file_.read(static_cast<char*>(data), n),
                  "{}: is truncated: it has {} bytes, fewer than its header says", path_, n_bytes_);
  }
  template <class T>
  [[nodiscard]] T number() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  template <class T>
  [[nodiscard]] std::vector<T> numbers() {
    std::vector<T> values;
    for (int d = 0; d < dim_; ++d) values.push_back(number<T>());
    return values;
  }

  void read_header(const PhaseBasis& basis) {
    std::array<char, 5> magic{};
    const bool is_gkyl =
        n_bytes_ >= 29 && file_.read(magic.data(), 5) && std::string_view(magic.data(), 5) == "gkyl0";
    QUINTET_CHECK(is_gkyl, "{}: is not a .gkyl file of version 1 or later (these begin with 'gkyl0')", path_);
    const auto version = number<std::uint64_t>();
    type_ = number<std::uint64_t>();
    QUINTET_CHECK(version == 1 && (type_ == 1 || type_ == 3),
                  "{}: is of format version {} and file type {}; expected version 1 and type 1 or 3, a field",
                  path_, version, type_);
    const auto size = number<std::uint64_t>();
    QUINTET_CHECK(size <= n_bytes_, "{}: is damaged: {} bytes of metadata in a file of {}", path_, size,
                  n_bytes_);
    meta_.resize(size);
    take(meta_.data(), size);
    check_basis(message_unpack(meta_), basis);
    const auto real = number<std::uint64_t>();
    QUINTET_CHECK(real == 2, "{}: holds numbers of type {}; expected 2, double precision", path_, real);
  }

  void check_basis(const GkylMeta& meta, const PhaseBasis& basis) const {
    const auto type = meta.find("basisType"), order = meta.find("polyOrder");
    const bool tensor_p1 = basis.order() == 1 && basis.family() != Family::hybrid;  // equals serendipity
    QUINTET_CHECK(
        type != meta.end() && order != meta.end(),
        "{}: does not name its basis: its metadata have no {}, so its coefficients cannot be interpreted",
        path_, type == meta.end() ? "basisType" : "polyOrder");
    if (!tensor_p1) {
      const auto* text = std::get_if<std::string>(&type->second);
      QUINTET_CHECK(text && *text == basis.gkeyll_name(), "{}: has the basis '{}', this run '{}'", path_,
                    text ? *text : "?", basis.gkeyll_name());
    }
    const auto* p = std::get_if<std::int64_t>(&order->second);
    QUINTET_CHECK(p && *p == basis.order(), "{}: has a basis of order {}, this run of {}", path_, p ? *p : -1,
                  basis.order());
  }

  void read_grid(const PhaseGrid& grid) {
    QUINTET_CHECK(grid.is_uniform(),
                  "{}: .gkyl files are of equal cells, not with a non-uniform velocity grid", path_);
    const auto dim = number<std::uint64_t>();
    QUINTET_CHECK(dim == static_cast<std::uint64_t>(dim_), "{}: has {} dimensions, this run {}", path_, dim,
                  dim_);
    const auto cells = numbers<std::uint64_t>();
    const auto lower = numbers<double>(), upper = numbers<double>();
    bool same = true;
    for (std::size_t d = 0; d < cells.size(); ++d) {
      const double rounding = 1e-12 * (grid.upper[d] - grid.lower[d]);
      same = same && cells[d] == static_cast<std::uint64_t>(grid.cells[d]) &&
             std::abs(lower[d] - grid.lower[d]) <= rounding && std::abs(upper[d] - grid.upper[d]) <= rounding;
    }
    QUINTET_CHECK(same, "{}: has cells [{}], lower [{}], upper [{}]; this run {}", path_,
                  fmt::join(cells, ", "), fmt::join(lower, ", "), fmt::join(upper, ", "),
                  grid_text(grid, dim_));
    const auto cell_bytes = number<std::uint64_t>();
    QUINTET_CHECK(cell_bytes == 8 * n_values_, "{}: has {} modes a cell, this run's basis {}", path_,
                  cell_bytes / 8, n_values_);
    static_cast<void>(number<std::uint64_t>());  // cells in all
  }

  void read_parts(const PhaseGrid& grid) {
    std::uint64_t n_cells = 0, n_all = 1;
    for (int d = 0; d < dim_; ++d) n_all *= grid.cells[d];
    if (type_ == 1) {
      Part all{{}, place()};
      for (int d = 0; d < dim_; ++d) all.box.extent[d] = grid.cells[d];
      parts_.push_back(all);
      skip(n_all);
    }
    for (auto n = type_ == 3 ? number<std::uint64_t>() : 0; n > 0; --n) n_cells += read_part(grid);
    QUINTET_CHECK(type_ == 1 || n_cells == n_all, "{}: its parts hold {} of {} cells", path_, n_cells, n_all);
    QUINTET_CHECK(place() == n_bytes_, "{}: is damaged: it has {} bytes, {} more than its header says", path_,
                  n_bytes_, n_bytes_ - place());
  }

  [[nodiscard]] std::uint64_t place() { return file_.tellg(); }
  /// Step over the values of n cells, which must be there.
  void skip(std::uint64_t n) {
    const std::uint64_t bytes = 8 * n_values_ * n;
    QUINTET_CHECK(bytes <= n_bytes_ - place(),
                  "{}: is truncated: it has {} bytes, fewer than its header says", path_, n_bytes_);
    file_.seekg(static_cast<std::streamoff>(place() + bytes));
  }

  /// A part of a file of type 3; returns its number of cells.
  std::uint64_t read_part(const PhaseGrid& grid) {
    const auto first = numbers<std::uint64_t>(), last = numbers<std::uint64_t>();
    const auto size = number<std::uint64_t>();
    Part part;
    std::uint64_t n = 1;
    for (std::size_t d = 0; d < first.size(); ++d) {
      QUINTET_CHECK(
          first[d] >= 1 && last[d] >= first[d] && last[d] <= static_cast<std::uint64_t>(grid.cells[d]),
          "{}: is damaged: a part has cells {} to {} of {}", path_, first[d], last[d], grid.cells[d]);
      part.box.begin[d] = first[d] - 1;
      part.box.extent[d] = last[d] - first[d] + 1;
      n *= last[d] - first[d] + 1;
    }
    QUINTET_CHECK(n == size, "{}: is damaged: a part of {} cells is said to have {}", path_, n, size);
    part.place = place();
    parts_.push_back(part);
    skip(n);
    return n;
  }

  void scatter(const CellBox& box, int first_row, const PhaseGrid& grid, std::span<const double> values,
               std::span<double> rows) const {
    const int last = dim_ - 1;
    const std::size_t run = (last == 0 ? 1 : box.extent[last]) * n_values_;
    for (std::size_t i = 0; i < values.size() / run; ++i) {
      std::size_t rest = i, stride = n_values_, place = 0;
      for (int d = last; d > 0; --d) {
        place += std::int64_t{box.begin[d]} * stride;
        if (d < last) {
          place += rest % box.extent[d] * stride;
          rest /= box.extent[d];
        }
        stride *= grid.cells[d];
      }
      place += (first_row + rest) * stride;
      std::copy_n(values.data() + i * run, run, rows.data() + place);
    }
  }

  std::string path_, meta_;
  int dim_;
  std::size_t n_values_;
  std::ifstream file_;
  std::uint64_t n_bytes_, type_ = 0;
  std::vector<Part> parts_;
};

/// Unsigned number of n bytes, the most significant first; nothing if there are fewer.
std::optional<std::uint64_t> big_endian(std::string_view& bytes, std::size_t n) {
  if (bytes.size() < n) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : bytes.substr(0, n)) value = value << 8 | static_cast<unsigned char>(c);
  bytes.remove_prefix(n);
  return value;
}

std::optional<std::string> unpack_text(std::string_view& bytes) {
  const auto kind = big_endian(bytes, 1);
  if (!kind) return std::nullopt;
  std::optional<std::uint64_t> size;
  if (*kind >= 0xa0 && *kind <= 0xbf) size = *kind - 0xa0;
  if (*kind >= 0xd9 && *kind <= 0xdb) size = big_endian(bytes, std::size_t{1} << (*kind - 0xd9));
  if (!size || *size > bytes.size()) return std::nullopt;
  std::string text(bytes.substr(0, *size));
  bytes.remove_prefix(*size);
  return text;
}

std::optional<GkylMeta::mapped_type> unpack_value(std::string_view& bytes) {
  if (bytes.empty()) return std::nullopt;
  const unsigned char kind = bytes.front();
  if ((kind >= 0xa0 && kind <= 0xbf) || (kind >= 0xd9 && kind <= 0xdb)) return unpack_text(bytes);
  bytes.remove_prefix(1);
  if (kind < 0x80) return std::int64_t{kind};
  if (kind >= 0xe0) return std::int64_t{kind} - 256;
  const bool is_float = kind == 0xca || kind == 0xcb, is_integer = kind >= 0xcc && kind <= 0xd3;
  if (!is_float && !is_integer) return std::nullopt;
  const std::size_t n = is_float ? (kind == 0xca ? 4 : 8) : std::size_t{1} << ((kind - 0xcc) % 4);
  const auto raw = big_endian(bytes, n);
  if (!raw) return std::nullopt;
  if (kind == 0xca) return double{std::bit_cast<float>(static_cast<std::uint32_t>(*raw))};
  if (kind == 0xcb) return std::bit_cast<double>(*raw);
  const int unused = 64 - 8 * static_cast<int>(n);
  if (kind >= 0xd0) return static_cast<std::int64_t>(*raw << unused) >> unused;
  return static_cast<std::int64_t>(*raw);
}

}  // namespace

GkylMeta message_unpack(std::string_view bytes) {
  GkylMeta meta;
  const auto kind = big_endian(bytes, 1).value_or(0);
  std::uint64_t n = kind >= 0x80 && kind <= 0x8f ? kind - 0x80 : 0;
  if (kind == 0xde || kind == 0xdf) n = big_endian(bytes, kind == 0xde ? 2 : 4).value_or(0);
  for (; n > 0; --n) {
    const auto key = unpack_text(bytes);
    const auto value = key ? unpack_value(bytes) : std::nullopt;
    if (!value) break;
    meta[*key] = *value;
  }
  return meta;
}

GkylMeta read_gkyl(const std::string& path, const Decomposition& decomposition, const PhaseBasis& basis,
                   const Distribution& f) {
  const auto& comm = decomposition.comm();
  const auto& grid = f.block.grid;
  std::optional<GkylField> file;
  on_root(comm, [&] { file.emplace(path, basis, grid); });
  const auto exchange = phase_rows(decomposition, f, RowExchange::Owner::root);
  const auto take = take_modes(basis, f);
  for (int i = 0; i < exchange.n_chunks(); ++i) {
    const auto chunk = exchange.chunk(i);
    std::vector<double> rows(std::int64_t{chunk.size()} * exchange.row_size());
    on_root(comm, [&] {
      file->read(chunk, grid, rows);
      const auto bad =
          std::find_if(rows.begin(), rows.end(), [](double value) { return !std::isfinite(value); });
      QUINTET_CHECK(bad == rows.end(), "{}: is not finite in row {} of the first axis", path,
                    chunk.begin + static_cast<int>((bad - rows.begin()) / exchange.row_size()));
    });
    exchange.spread(i, rows, take);
  }
  return message_unpack(comm.broadcast(comm.is_root() ? file->meta() : std::string()));
}

}  // namespace quintet::kinetics
