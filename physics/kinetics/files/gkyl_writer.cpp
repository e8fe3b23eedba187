#include "physics/kinetics/files/gkyl_writer.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "io/config/tree.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/kinetics/files/distribution_io.hpp"

static_assert(std::endian::native == std::endian::little, "files of Gkeyll are little-endian");

namespace quintet::kinetics {

namespace {

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void put_all(std::string& bytes, std::span<const double> values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

/// A byte that says what follows, and eight bytes, the most significant first.
void put_big_endian(std::string& bytes, unsigned char kind, std::uint64_t value) {
  bytes.push_back(kind);
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((value >> shift) & 0xff));
}

void put_text(std::string& bytes, const std::string& text) {
  QUINTET_ASSERT(text.size() < 256, "a text of {} bytes in the meta data of a .gkyl file", text.size());
  if (text.size() < 32) {
    bytes.push_back(static_cast<char>(0xa0 | text.size()));
  } else {
    bytes.push_back(static_cast<char>(0xd9));
    bytes.push_back(static_cast<char>(text.size()));
  }
  bytes += text;
}

void put_number(std::string& bytes, std::int64_t value) {
  if (value >= 0 && value < 128)
    bytes.push_back(static_cast<char>(value));
  else
    put_big_endian(bytes, 0xd3, value);
}

std::string file_header(std::uint64_t file_type, const std::string& meta) {
  std::string bytes = "gkyl0";
  for (const std::uint64_t value : {std::uint64_t{1}, file_type, std::uint64_t{meta.size()}})
    put(bytes, value);
  bytes += meta;
  put(bytes, std::uint64_t{2});
  return bytes;
}

std::string field_header(const PhaseGrid& grid, int dim, std::size_t values, const GkylMeta& meta) {
  std::string bytes = file_header(1, message_pack(meta));
  put(bytes, static_cast<std::uint64_t>(dim));
  std::uint64_t n_cells = 1;
  for (int d = 0; d < dim; ++d) {
    put(bytes, static_cast<std::uint64_t>(grid.cells[d]));
    n_cells *= grid.cells[d];
  }
  QUINTET_CHECK(dim == grid.cdim || grid.is_uniform(),
                ".gkyl files are of equal cells, not with a non-uniform velocity grid");
  put_all(bytes, std::span(grid.lower).first(dim));
  put_all(bytes, std::span(grid.upper).first(dim));
  put(bytes, std::uint64_t{sizeof(double) * values});
  put(bytes, n_cells);
  return bytes;
}

/// A file that rank 0 writes; a failure is remembered and thrown on all ranks by finish().
class RootFile {
 public:
  RootFile(const Comm& comm, std::string path, bool append)
      : comm_(comm), path_(std::move(path)), temporary_(append ? path_ : path_ + ".tmp") {
    if (!comm_.is_root()) return;
    if (!append) std::remove(temporary_.c_str());  // "x": a link that was laid there is not followed
    file_ = std::fopen(temporary_.c_str(), append ? "ab" : "wbx");
    if (file_ == nullptr) error_ = errno;
  }
  ~RootFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  RootFile(const RootFile&) = delete;
  RootFile& operator=(const RootFile&) = delete;

  void write(const void* data, std::size_t n) {
    if (file_ != nullptr && error_ == 0 && std::fwrite(data, 1, n, file_) != n) error_ = errno;
  }
  void write(const std::string& bytes) { write(bytes.data(), bytes.size()); }
  void finish() {
    if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = errno;
    if (comm_.is_root() && error_ == 0 && temporary_ != path_ &&
        std::rename(temporary_.c_str(), path_.c_str()) != 0)
      error_ = errno;
    if (comm_.is_root() && error_ != 0 && temporary_ != path_) std::remove(temporary_.c_str());
    on_root(comm_, [&] {
      if (error_ != 0)
        throw ResourceError(fmt::format("{}: cannot be written: {}", path_, std::strerror(error_)));
    });
  }

 private:
  Comm comm_;
  std::string path_, temporary_;
  std::FILE* file_ = nullptr;
  int error_ = 0;
};

/// Rows of a distribution or field to a file, chunk by chunk; `convert` makes of a row's values what the file
/// has.
void write_rows(RootFile& file, const RowExchange& exchange, const RowExchange::Give& give,
                const std::function<std::vector<double>(std::vector<double>)>& convert) {
  Exec().fence();
  for (int i = 0; i < exchange.n_chunks(); ++i) {
    std::vector<double> rows(std::int64_t{exchange.chunk(i).size()} * exchange.row_size());
    exchange.collect(i, give, rows);
    rows = convert(std::move(rows));
    file.write(rows.data(), rows.size() * sizeof(double));
  }
  file.finish();
}

PhaseBasis basis_in_file(const PhaseBasis& basis) {
  if (basis.family() == Family::hybrid) return {basis.cdim(), basis.vdim(), 2, Family::serendipity};
  if (basis.order() == 1) return {basis.cdim(), basis.vdim(), 1, Family::serendipity};
  return basis;
}

std::string series_record(std::size_t n_values, std::span<const double> times,
                          std::span<const double> values) {
  std::string bytes = file_header(2, "");
  put(bytes, std::uint64_t{sizeof(double) * n_values});
  put(bytes, static_cast<std::uint64_t>(times.size()));
  put_all(bytes, times);
  put_all(bytes, values);
  return bytes;
}

/// Takes numbers off the front of bytes.
struct Reader {
  std::string_view bytes;

  bool skip(std::uint64_t n) {
    if (n > bytes.size()) return false;
    bytes.remove_prefix(n);
    return true;
  }
  bool get(std::uint64_t& value) {
    if (bytes.size() < sizeof value) return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    return skip(sizeof value);
  }
  bool get(std::vector<double>& values, std::uint64_t n) {
    if (n > bytes.size() / sizeof(double)) return false;
    values.resize(n);
    std::memcpy(values.data(), bytes.data(), n * sizeof(double));
    return skip(n * sizeof(double));
  }
};

/// One record of a time series; nothing if the bytes are not a whole one.
std::optional<std::pair<std::vector<double>, std::vector<double>>> next_record(Reader& reader) {
  std::uint64_t version = 0, type = 0, meta = 0, real = 0, cell = 0, n = 0;
  if (!reader.bytes.starts_with("gkyl0") || !reader.skip(5)) return std::nullopt;
  if (!reader.get(version) || !reader.get(type) || !reader.get(meta) || !reader.skip(meta))
    return std::nullopt;
  if (!reader.get(real) || !reader.get(cell) || !reader.get(n)) return std::nullopt;
  const std::uint64_t n_values = cell / sizeof(double), most = reader.bytes.size();
  if (version != 1 || type != 2 || real != 2 || n == 0 || n > most || n_values > most / n)
    return std::nullopt;
  std::vector<double> times, values;
  if (!reader.get(times, n) || !reader.get(values, n * n_values)) return std::nullopt;
  return std::pair(std::move(times), std::move(values));
}

/// The records of a time series up to `time`, as one record; what a killed run left unfinished at the end
/// does not count. Nothing if the bytes are no such series.
std::optional<std::string> records_until(std::string_view bytes, double time) {
  Reader reader{bytes};
  std::vector<double> times, values;
  std::size_t n_values = 0;
  while (const auto record = next_record(reader)) {
    const auto& [t, v] = *record;
    if (n_values == 0) n_values = v.size() / t.size();
    if (v.size() != t.size() * n_values) return std::nullopt;
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (!(t[i] <= time)) continue;
      times.push_back(t[i]);
      values.insert(values.end(), v.begin() + i * n_values, v.begin() + (i + 1) * n_values);
    }
  }
  // A kill within the first record leaves its begin.
  constexpr std::string_view mark = "gkyl0";
  if (n_values == 0 && !bytes.starts_with(mark.substr(0, bytes.size()))) return std::nullopt;
  return times.empty() ? std::string() : series_record(n_values, times, values);
}

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string message_pack(const GkylMeta& meta) {
  QUINTET_ASSERT(meta.size() < 16, "{} entries in the meta data of a .gkyl file", meta.size());
  std::string bytes(1, static_cast<char>(0x80 | meta.size()));
  for (const auto& [name, value] : meta) {
    put_text(bytes, name);
    if (const auto* text = std::get_if<std::string>(&value))
      put_text(bytes, *text);
    else if (const auto* real = std::get_if<double>(&value))
      put_big_endian(bytes, 0xcb, std::bit_cast<std::uint64_t>(*real));
    else
      put_number(bytes, std::get<std::int64_t>(value));
  }
  return bytes;
}

GkylWriter::GkylWriter(const Decomposition& decomposition, const PhaseBasis& basis, std::string prefix)
    : decomposition_(decomposition),
      basis_(basis),
      basis_in_file_(basis_in_file(basis)),
      place_in_file_(basis.size()),
      prefix_(std::move(prefix)) {
  for (int i = 0; i < basis_.size(); ++i)
    place_in_file_[basis_.gkeyll_order()[i]] =
        basis_in_file_.gkeyll_order()[basis_in_file_.find(basis_.mode(i))];
}

void GkylWriter::write(const std::string& name, std::int64_t frame, double time,
                       const Distribution& f) const {
  const auto& grid = f.block.grid;
  const std::size_t here = place_in_file_.size(), there = basis_in_file_.size();
  const auto convert = [&](std::vector<double> rows) {
    if (here == there) return rows;
    std::vector<double> result(rows.size() / here * there);
    for (std::size_t i = 0; i < rows.size(); ++i)
      result[i / here * there + place_in_file_[i % here]] = rows[i];
    return result;
  };
  RootFile file(decomposition_.comm(), frame_path(name, frame), false);
  file.write(field_header(grid, grid.dim(), there,
                          {{"time", time},
                           {"frame", frame},
                           {"polyOrder", std::int64_t{basis_in_file_.order()}},
                           {"basisType", basis_in_file_.gkeyll_name()}}));
  write_rows(file, phase_rows(decomposition_, f, RowExchange::Owner::root), give_modes(basis_, f), convert);
}

void GkylWriter::write(const std::string& name, std::int64_t frame, double time, const PhaseGrid& grid,
                       const ConfField& field) const {
  const bool is_tensor = basis_.family() == Family::tensor && basis_.order() > 1;
  RootFile file(decomposition_.comm(), frame_path(name, frame), false);
  file.write(field_header(grid, grid.cdim, field.extent(1) * field.extent(2),
                          {{"time", time},
                           {"frame", frame},
                           {"polyOrder", std::int64_t{basis_.order()}},
                           {"basisType", is_tensor ? "tensor" : "serendipity"}}));
  write_rows(file, conf_rows(decomposition_, grid, field, RowExchange::Owner::root),
             give_modes(decomposition_.block(grid), field), [](std::vector<double> rows) { return rows; });
}

void GkylWriter::append(const std::string& name, double time, std::span<const double> values) {
  auto& series = series_[name];
  if (!decomposition_.comm().is_root()) return;
  series.times.push_back(time);
  series.values.insert(series.values.end(), values.begin(), values.end());
}

void GkylWriter::flush() {
  for (auto& [name, series] : series_) {
    RootFile file(decomposition_.comm(), series_path(name), true);
    if (!series.times.empty())
      file.write(series_record(series.values.size() / series.times.size(), series.times, series.values));
    file.finish();
    series = {};
  }
}

void GkylWriter::truncate(const std::string& name, double time) const {
  const auto path = series_path(name);
  const auto& comm = decomposition_.comm();
  std::optional<std::string> kept;
  bool is_there = false;
  if (comm.is_root()) {
    std::error_code ignored;
    is_there = std::filesystem::exists(path, ignored);
    if (is_there) kept = records_until(file_bytes(path), time);
  }
  if (!comm.any(is_there)) return;
  QUINTET_CHECK(comm.any(kept.has_value()),
                "{}: is not a time series of Gkeyll's format, version 1; remove it to begin anew", path);
  RootFile file(comm, path, false);
  if (kept) file.write(*kept);
  file.finish();
}

std::string GkylWriter::frame_path(const std::string& name, std::int64_t frame) const {
  return fmt::format("{}-{}_{}.gkyl", prefix_, name, frame);
}

std::string GkylWriter::series_path(const std::string& name) const {
  return fmt::format("{}-{}.gkyl", prefix_, name);
}

}  // namespace quintet::kinetics
