#include "io/netcdf/netcdf_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <netcdf.h>

#include "io/config/suggest.hpp"
#include "io/files/input_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/classic_header.hpp"
#include "io/netcdf/types.hpp"
#include "io/netcdf/zarr_variable.hpp"
#include "io/parallel/comm.hpp"
#include "io/syntax/foreign_text.hpp"

namespace quintet::netcdf {

struct File::Implementation {
  std::string path;
  std::uint64_t bytes = 0;
  mutable int id = -1;
  std::vector<Variable> variables;
  std::vector<int> numbers;       ///< of the variables, as the library counts
  std::vector<ZarrArray> arrays;  ///< of a folder of zarr, one for each variable
  Reading reading;
  std::optional<hdf5::ChunkMap> map;

  Implementation() = default;
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    if (id >= 0) nc_close(id);
  }

  void check(int code, const std::string& what) const {
    QUINTET_CHECK(code == NC_NOERR, "{}: {}: {}", path, what, nc_strerror(code));
  }
};

namespace {

using Implementation = File::Implementation;

constexpr int most_dimensions = 4096;
constexpr std::uint64_t most_chunks = 4096;        ///< whose places are kept
constexpr std::size_t most_attribute = 1U << 20U;  ///< elements of an attribute

std::string trimmed(const std::string& text) {
  const auto blank = [](char c) { return c == ' ' || c == '\0' || c == '\t' || c == '\n' || c == '\r'; };
  std::size_t begin = 0, end = text.size();
  while (begin < end && blank(text[begin])) ++begin;
  while (end > begin && blank(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

/// Attributes of other types, and those too long to be of use, hold nothing.
Attribute read_attribute(const Implementation& file, int variable, const char* name) {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  Attribute attribute;
  attribute.type = "other";
  if (nc_inq_att(file.id, variable, name, &type, &length) != NC_NOERR || length > most_attribute)
    return attribute;
  const auto what = fmt::format("attribute {}", name);
  if (type == NC_CHAR) {
    attribute.is_text = true, attribute.type = "text";
    attribute.text.resize(length);
    if (length > 0) file.check(nc_get_att_text(file.id, variable, name, attribute.text.data()), what);
    return attribute;
  }
  if (type == NC_STRING && length == 1) {
    char* text = nullptr;
    file.check(nc_get_att_string(file.id, variable, name, &text), what);
    attribute.is_text = true, attribute.type = "text";
    if (text != nullptr) attribute.text = text;
    nc_free_string(1, &text);
    return attribute;
  }
  const auto* row = row_of_type(type);
  if (row == nullptr) return attribute;
  attribute.type = row->name;
  attribute.numbers.resize(length);
  if (length > 0) file.check(nc_get_att_double(file.id, variable, name, attribute.numbers.data()), what);
  return attribute;
}

/// A word of _Unsigned that is neither is refused where the numbers are read.
void take_sign(Variable& variable) {
  const auto sign = variable.attributes.find("_Unsigned");
  if (sign == variable.attributes.end()) return;
  const auto word = trimmed(sign->second.text);
  if (word == "true" || word == "True") variable.is_unsigned = true;
  if (word == "false" || word == "False") variable.is_unsigned = false;
}

// All that is asked of a variable later is read at once, so that errors name it here.
Variable read_variable(const Implementation& file, int number) {
  char name[NC_MAX_NAME + 1] = {};
  nc_type type = NC_NAT;
  int n_dimensions = 0, n_attributes = 0;
  file.check(nc_inq_varname(file.id, number, name), "a variable's name");
  Variable variable;
  variable.name = name;
  variable.where = fmt::format("{}: {}", file.path, name);
  file.check(nc_inq_vartype(file.id, number, &type), "the type of " + variable.name);
  file.check(nc_inq_varndims(file.id, number, &n_dimensions), "the dimensions of " + variable.name);
  QUINTET_CHECK(n_dimensions >= 0 && n_dimensions <= 32, "{}: {} has {} dimensions; at most 32 are read here",
                file.path, name, n_dimensions);
  std::vector<int> dimensions(n_dimensions);
  if (n_dimensions > 0)
    file.check(nc_inq_vardimid(file.id, number, dimensions.data()), "the dimensions of " + variable.name);
  for (const int dimension : dimensions) {
    char text[NC_MAX_NAME + 1] = {};
    std::size_t size = 0;
    file.check(nc_inq_dim(file.id, dimension, text, &size), "a dimension of " + variable.name);
    variable.dimensions.emplace_back(text);
    variable.shape.push_back(size);
  }
  const auto* row = row_of_type(type);
  variable.type = row != nullptr ? row->name : type == NC_CHAR ? "text" : "other";
  variable.n_bits = row != nullptr ? row->n_bits : 0;
  file.check(nc_inq_varnatts(file.id, number, &n_attributes), "the attributes of " + variable.name);
  for (int i = 0; i < n_attributes; ++i) {
    char text[NC_MAX_NAME + 1] = {};
    file.check(nc_inq_attname(file.id, number, i, text), "an attribute of " + variable.name);
    variable.attributes[text] = read_attribute(file, number, text);
  }
  variable.is_unsigned = row != nullptr && row->is_unsigned;
  take_sign(variable);
  return variable;
}

bool is_hdf5(const std::string& path) {
  std::array<char, 4> magic{};
  open_input_file(path).read(magic.data(), 4);
  return magic == std::array<char, 4>{'\x89', 'H', 'D', 'F'};
}

/// Bytes that can be printed as they are, others as "\x1f".
std::string shown(std::string_view bytes) {
  std::string text;
  for (const char c : bytes)
    text +=
        c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// What a file is that the library does not know, in words.
std::string what_it_is(const std::string& path, std::uint64_t bytes) {
  if (bytes == 0) return "it is empty";
  constexpr std::uint64_t most = 1U << 16U, few = 16;
  std::string begin(std::min(bytes, most), '\0');
  auto file = open_input_file(path);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(file.gcount());
  const auto kind = foreign_kind(begin);
  if (kind.find("netCDF") != kind.npos || kind.find("HDF5") != kind.npos) return "its header is damaged";
  if (begin.starts_with("GRIB"))
    return fmt::format("it is {}: cdo -f nc copy {} OUT.nc converts it", kind, path);
  if (!kind.empty() && kind != "a binary file") return fmt::format("it is {}", kind);
  return fmt::format("it begins with '{}'", shown(std::string_view(begin).substr(0, few)));
}

/// Check what the library trusts in an HDF5 file: lists of variable length, and numbers of dimensions, up to
/// which it allocates. Returns where the chunks of a variable lie, if it is there and they can be read past
/// it.
std::optional<hdf5::ChunkMap> check_hdf5_file(const std::string& path, const std::string& variable) {
  const auto file = hdf5::File::open(Comm::self(), path);
  file.check_attributes();
  for (const auto& name : file.root().names())
    for (const char* attribute : {"_Netcdf4Dimid", "_Netcdf4Coordinates"}) {
      if (!file.root().has_member_attribute(name, attribute)) continue;
      for (const double number : file.root().member_number_attribute(name, attribute))
        QUINTET_CHECK(number >= 0 && number < most_dimensions, "{}: {} of '{}' is {}: the file is damaged",
                      path, attribute, name, number);
    }
  try {
    if (!variable.empty()) return file.root().chunk_map(variable, most_chunks);
  } catch (const InputError&) {  // netCDF says what is the matter
  }
  return std::nullopt;
}

/// Elements of a box that lies within the variable. A deflated file holds at most 1032 bytes for each of its
/// own.
std::uint64_t size_of(const Implementation& file, const Variable& variable, const Box& box) {
  const std::size_t n = variable.shape.size();
  QUINTET_CHECK(variable.holds_numbers(), "{}: {}", variable.where, variable.refusal);
  QUINTET_ASSERT(box.start.size() == n && box.count.size() == n, "a box of {} of {} dimensions",
                 box.start.size(), n);
  const std::uint64_t most =
      file.arrays.empty() ? 1032 * file.bytes + 1024 : std::uint64_t{1} << 40U;  // absent chunks take no room
  std::uint64_t size = 1;
  for (std::size_t d = 0; d < n; ++d) {
    QUINTET_CHECK(box.start[d] <= variable.shape[d] && box.count[d] <= variable.shape[d] - box.start[d],
                  "{}: {} has {} elements along {}; {} from {} were asked for", file.path, variable.name,
                  variable.shape[d], variable.dimensions[d], box.count[d], box.start[d]);
    QUINTET_CHECK(box.count[d] == 0 || size <= most / box.count[d],
                  "{}: {} is larger than a file of {} bytes can hold: it is damaged", file.path,
                  variable.name, file.bytes);
    size *= box.count[d];
  }
  return size;
}

}  // namespace

std::optional<std::string> Variable::text(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end()) return std::nullopt;
  QUINTET_CHECK(found->second.is_text, "{}: its attribute {} is of type {}; expected a text", where,
                attribute, found->second.type);
  return trimmed(found->second.text);
}

void Variable::require_numbers(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end()) return;
  const auto& held = found->second;
  QUINTET_CHECK(!held.is_text, "{}: its attribute {} is the text '{}'; expected a number, stored as one",
                where, attribute, trimmed(held.text).substr(0, 40));
  QUINTET_CHECK(held.type != "other" && !held.numbers.empty(),
                "{}: its attribute {} holds no number; expected one", where, attribute);
}

std::optional<double> Variable::number(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end()) return std::nullopt;
  require_numbers(attribute);
  QUINTET_CHECK(found->second.numbers.size() == 1, "{}: its attribute {} has {} numbers; expected one", where,
                attribute, found->second.numbers.size());
  return found->second.numbers.front();
}

bool is_folder_of_arrays(const std::string& path) { return is_zarr(path); }

File File::open(const std::string& path, Checks checks, const std::string& chunks_of) {
  auto file = std::make_shared<Implementation>();
  file->path = path;
  if (is_zarr(path)) {
    file->arrays = read_zarr_group(path, file->reading.not_used);
    for (const auto& array : file->arrays) {
      file->variables.push_back(variable_of(array));
      take_sign(file->variables.back());
    }
    return File(file);
  }
  file->bytes = check_input_file(path);
  if (checks == Checks::all) {
    if (is_hdf5(path))
      file->map = check_hdf5_file(path, chunks_of);
    else
      check_classic_file(path, file->bytes);
  }
  // An absolute path is never taken for an address in the net.
  const auto absolute = std::filesystem::absolute(path).string();
  const int code = nc_open(absolute.c_str(), NC_NOWRITE, &file->id);
  QUINTET_CHECK(
      code != NC_ENOTNC,
      "{}: cannot be read as netCDF: {}; expected a netCDF file (classic or netCDF-4), or a folder of "
      "zarr",
      path, what_it_is(path, file->bytes));
  file->check(code, "cannot be read as netCDF");
  int n = 0;
  file->check(nc_inq_varids(file->id, &n, nullptr), "variables");
  file->numbers.resize(n);
  if (n > 0) file->check(nc_inq_varids(file->id, &n, file->numbers.data()), "variables");
  for (const int number : file->numbers) file->variables.push_back(read_variable(*file, number));
  return File(file);
}

const std::string& File::path() const { return implementation_->path; }

const std::vector<Variable>& File::variables() const { return implementation_->variables; }

const hdf5::ChunkMap* File::chunk_map() const {
  return implementation_->map ? &*implementation_->map : nullptr;
}

const Reading& File::reading() const { return implementation_->reading; }

const Variable* File::find(const std::string& name) const {
  for (const auto& variable : implementation_->variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

const Variable& File::variable(const std::string& name) const {
  if (const auto* found = find(name)) return *found;
  std::vector<std::string> names;
  for (const auto& variable : implementation_->variables) names.push_back(variable.name);
  throw InputError(fmt::format("{}: there is no variable '{}'; it has {}{}", path(), name,
                               names.empty() ? "none" : name_list(names), did_you_mean(name, names)));
}

namespace {

/// Read a box that netCDF cannot read by our reader of HDF5, which tells what is the matter, such as the name
/// of a filter, and needs no filter that no chunk went through; none where the file is no HDF5.
std::optional<std::vector<double>> read_as_hdf5(const File::Implementation& file, const std::string& name,
                                                const Box& box) {
  if (!is_hdf5(file.path)) return std::nullopt;
  const auto absolute = std::filesystem::absolute(file.path).string();
  nc_close(file.id);  // no two libraries may have it open
  file.id = -1;
  std::vector<double> values;
  std::exception_ptr error;
  try {
    values = hdf5::File::open(Comm::self(), file.path).root().read_box<double>(name, {box.start, box.count});
  } catch (const InputError&) {
    error = std::current_exception();
  }
  file.check(nc_open(absolute.c_str(), NC_NOWRITE, &file.id), "cannot be read as netCDF");
  if (error) std::rethrow_exception(error);
  return values;
}

}  // namespace

std::vector<double> File::read(const Variable& variable, const Box& box) const {
  const auto& file = *implementation_;
  std::vector<double> values(size_of(file, variable, box));
  if (values.empty()) return values;
  const std::size_t at = &variable - file.variables.data();
  QUINTET_ASSERT(at < file.variables.size(), "a variable of another file");
  if (!file.arrays.empty()) {
    values = file.arrays[at].read(box.start, box.count);
  } else {
    const std::vector<std::size_t> start(box.start.begin(), box.start.end()),
        count(box.count.begin(), box.count.end());
    const int code = nc_get_vara_double(file.id, file.numbers[at], start.data(), count.data(), values.data());
    auto otherwise = code == NC_NOERR ? std::nullopt : read_as_hdf5(file, variable.name, box);
    if (otherwise)
      values = std::move(*otherwise);
    else
      file.check(code, fmt::format("{} cannot be read", variable.name));
  }
  if (variable.n_bits > 0) {  // an attribute may say otherwise than the type
    const double wrap = std::ldexp(1.0, variable.n_bits);
    for (double& value : values) {
      if (variable.is_unsigned && value < 0) value += wrap;
      if (!variable.is_unsigned && value >= 0.5 * wrap) value -= wrap;
    }
  }
  return values;
}

namespace {

/// Numbers of 16 bits, as most fields have them, unpacked without a detour through wider ones; none of other
/// types, and where the library cannot read them.
std::optional<std::vector<double>> unpacked_shorts(const File::Implementation& file, const Variable& variable,
                                                   const Box& box, const Unpacking& unpacking) {
  if (!file.arrays.empty() || variable.type != "short") return std::nullopt;
  std::vector<std::int16_t> stored(size_of(file, variable, box));
  const std::size_t at = &variable - file.variables.data();
  QUINTET_ASSERT(at < file.variables.size(), "a variable of another file");
  const std::vector<std::size_t> start(box.start.begin(), box.start.end()),
      count(box.count.begin(), box.count.end());
  if (stored.empty() ||
      nc_get_vara_short(file.id, file.numbers[at], start.data(), count.data(), stored.data()) != NC_NOERR)
    return std::nullopt;
  return unpacking.unpacked(stored, variable.is_unsigned);
}

}  // namespace

std::vector<double> File::read_unpacked(const Variable& variable, const Box& box,
                                        const Unpacking& unpacking) const {
  if (auto values = unpacked_shorts(*implementation_, variable, box, unpacking)) return std::move(*values);
  auto values = read(variable, box);
  unpacking.unpack<double>(values, values);
  return values;
}

std::vector<double> File::read_unpacked(const Variable& variable, const Box& box) const {
  QUINTET_CHECK(variable.holds_numbers(), "{}: {}", variable.where, variable.refusal);
  return read_unpacked(variable, box, unpacking_of(variable));
}

std::vector<double> File::read_unpacked(const Variable& variable) const {
  return read_unpacked(variable, {std::vector<std::uint64_t>(variable.shape.size()), variable.shape});
}

}  // namespace quintet::netcdf
