#include "io/netcdf/netcdf_writer.hpp"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <netcdf.h>

#include "io/config/table.hpp"
#include "io/files/output_file.hpp"
#include "io/log/error.hpp"

namespace quintet::netcdf {
namespace {

struct FormatRow {
  Format value;
  int flags;
};
constexpr FormatRow formats[] = {
    {Format::classic, 0}, {Format::offset64, NC_64BIT_OFFSET}, {Format::netcdf4, NC_NETCDF4}};

struct TypeRow {
  Type value;
  nc_type type;
};
constexpr TypeRow types[] = {{Type::int8, NC_BYTE},
                             {Type::int16, NC_SHORT},
                             {Type::int32, NC_INT},
                             {Type::float32, NC_FLOAT},
                             {Type::float64, NC_DOUBLE}};

}  // namespace

struct Writer::Implementation {
  std::string path;
  int id = -1;
  bool defining = true;
  std::map<std::string, int> dimensions, variables;
  std::map<std::string, nc_type> types;

  /// Whether the file system of the file has no room: netCDF then speaks of HDF or of permissions.
  [[nodiscard]] bool is_disk_full() const {
    constexpr std::uintmax_t little = 1 << 16;  // HDF5 asks for its metadata in such pieces
    std::error_code error;
    const auto space = std::filesystem::space(std::filesystem::absolute(path).parent_path(), error);
    return !error && space.available < little;
  }
  /// What was begun is no file that anybody may read.
  void give_up() {
    if (id >= 0) nc_close(std::exchange(id, -1));
    std::error_code error;
    std::filesystem::remove(path, error);
  }

  void check(int code) {
    if (code == NC_NOERR) return;
    const bool full = is_disk_full();
    const auto text =
        fmt::format("{}: cannot be written: {}", path, full ? "No space left on device" : nc_strerror(code));
    give_up();
    if (full) throw ResourceError(text);
    if (code == NC_ERANGE) throw NumericalError(text + ": a number beyond what the file's type of it holds");
    if (code > 0 || code == NC_EHDFERR || code == NC_ENOMEM) throw ResourceError(text);
    throw InternalError(text);
  }
  [[nodiscard]] int variable(const std::string& name) const {
    const auto found = variables.find(name);
    if (found == variables.end()) throw InternalError(fmt::format("{}: no variable {}", path, name));
    return found->second;
  }
  void end_definitions() {
    if (std::exchange(defining, false)) check(nc_enddef(id));
  }
};

Writer::Writer(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

Writer::~Writer() {
  if (implementation_ && implementation_->id >= 0) nc_close(implementation_->id);
}

Writer Writer::create(const std::string& path, Format format) {
  auto file = std::make_unique<Implementation>();
  file->path = path;
  make_new_file(path);
  const auto absolute = std::filesystem::absolute(path).string();
  file->check(nc_create(absolute.c_str(), NC_CLOBBER | row_of(formats, format).flags, &file->id));
  return Writer(std::move(file));
}

void Writer::dimension(const std::string& name, std::uint64_t size) {
  auto& file = *implementation_;
  int number = 0;
  file.check(nc_def_dim(file.id, name.c_str(), size == 0 ? NC_UNLIMITED : size, &number));
  file.dimensions[name] = number;
}

void Writer::variable(const std::string& name, Type type, const std::vector<std::string>& dimensions) {
  auto& file = *implementation_;
  std::vector<int> numbers;
  for (const auto& dimension : dimensions) numbers.push_back(file.dimensions.at(dimension));
  int number = 0;
  file.types[name] = row_of(types, type).type;
  file.check(nc_def_var(file.id, name.c_str(), file.types[name], numbers.size(), numbers.data(), &number));
  file.variables[name] = number;
}

void Writer::attribute(const std::string& variable, const std::string& name, const std::string& text) {
  auto& file = *implementation_;
  const int number = variable.empty() ? NC_GLOBAL : file.variable(variable);
  file.check(nc_put_att_text(file.id, number, name.c_str(), text.size(), text.data()));
}

void Writer::attribute(const std::string& variable, const std::string& name, double number, bool as_float) {
  auto& file = *implementation_;
  const int at = variable.empty() ? NC_GLOBAL : file.variable(variable);
  const nc_type type = as_float ? NC_FLOAT : variable.empty() ? NC_DOUBLE : file.types.at(variable);
  file.check(nc_put_att_double(file.id, at, name.c_str(), type, 1, &number));
}

void Writer::write(const std::string& variable, std::span<const double> values) {
  auto& file = *implementation_;
  file.end_definitions();
  file.check(nc_put_var_double(file.id, file.variable(variable), values.data()));
}

void Writer::write(const std::string& variable, const std::vector<std::uint64_t>& start,
                   const std::vector<std::uint64_t>& count, std::span<const double> values) {
  auto& file = *implementation_;
  file.end_definitions();
  const std::vector<std::size_t> from(start.begin(), start.end()), n(count.begin(), count.end());
  file.check(nc_put_vara_double(file.id, file.variable(variable), from.data(), n.data(), values.data()));
}

void Writer::close() {
  auto& file = *implementation_;
  file.end_definitions();
  file.check(nc_close(std::exchange(file.id, -1)));
}

}  // namespace quintet::netcdf
