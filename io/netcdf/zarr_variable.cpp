#include "io/netcdf/zarr_variable.hpp"

#include <cstring>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/netcdf/types.hpp"

namespace quintet::netcdf {
namespace {

struct TypeMap {
  const char *zarr, *netcdf;
};
constexpr TypeMap type_map[] = {{"float16", "float"}, {"float32", "float"}, {"float64", "double"},
                                {"bool", "ubyte"},    {"int8", "byte"},     {"int16", "short"},
                                {"int32", "int"},     {"int64", "int64"},   {"uint8", "ubyte"},
                                {"uint16", "ushort"}, {"uint32", "uint"},   {"uint64", "uint64"}};

bool is_whole(const std::string& text) { return text.find_first_not_of("-0123456789") == std::string::npos; }

/// The number that base64 of its 8 bytes stands for, as xarray writes _FillValue of reals into version 3.
bool take_base64(const std::string& text, double& number) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() != 12 || text[11] != '=') return false;
  std::uint64_t value = 0, bits = 0;
  std::string bytes;
  for (const char c : text.substr(0, 11)) {
    const auto digit = digits.find(c);
    if (digit == std::string_view::npos) return false;
    value = value << 6U | digit;
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<char>(value >> (bits -= 8) & 255U));
  }
  if (bytes.size() != sizeof(number)) return false;
  std::memcpy(&number, bytes.data(), sizeof(number));  // little-endian, as this machine is
  return true;
}

bool take_number(const Tree& value, const std::string& stored, Attribute& attribute) {
  if (!value.is_scalar() || value.quoted() || value.as_text() == "true" || value.as_text() == "false")
    return false;
  const auto& text = value.as_text();
  double number = std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "-Infinity")
    number = (text[0] == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
  else if (text != "NaN")
    number = value.as_number();
  if (attribute.type.empty() || !is_whole(text)) attribute.type = is_whole(text) ? stored : "double";
  attribute.numbers.push_back(number);
  return true;
}

Attribute attribute_of(const std::string& name, const Tree& value, const std::string& stored) {
  Attribute attribute;
  if (double number = 0; name == "_FillValue" && value.is_scalar() && value.quoted()) {
    if (value.as_text() == "NaN")
      number = std::numeric_limits<double>::quiet_NaN();
    else if (!take_base64(value.as_text(), number))
      return {"text", true, value.as_text(), {}};
    return {"double", false, "", {number}};
  }
  if (value.is_scalar() && take_number(value, stored, attribute)) return attribute;
  if (value.is_scalar()) return {value.quoted() ? "text" : "other", value.quoted(), value.as_text(), {}};
  if (value.is_list()) {
    bool all = !value.items().empty();
    for (const auto& item : value.items()) all = all && take_number(item, stored, attribute);
    if (all) return attribute;
  }
  return {"other", false, "", {}};
}

}  // namespace

Variable variable_of(const ZarrArray& array) {
  Variable variable;
  variable.name = std::filesystem::path(array.folder).filename().string();
  variable.where = array.where;
  variable.shape = array.shape;
  variable.dimensions = array.dimensions;
  variable.has_default_fill = false;
  QUINTET_CHECK(array.dimensions.empty() || array.dimensions.size() == array.shape.size(),
                "{}: has {} dimensions and names for {}", array.where, array.shape.size(),
                array.dimensions.size());
  if (array.dimensions.empty() && !array.shape.empty()) {
    for (std::size_t d = 0; d < array.shape.size(); ++d)
      variable.dimensions.push_back(fmt::format("{} of {}", d, variable.name));
    variable.reading.assume(
        fmt::format("{} has no names of dimensions (xarray's _ARRAY_DIMENSIONS)", variable.name));
  }
  variable.type = "other";
  for (const auto& one : type_map)
    if (array.element.element_type == one.zarr && array.refusal.empty()) variable.type = one.netcdf;
  if (const auto* row = row_of_name(variable.type)) {
    variable.n_bits = row->n_bits;
    variable.is_unsigned = row->is_unsigned;
  }
  if (array.attributes.is_map())
    for (const auto& [name, value] : array.attributes.entries())
      if (name != "_ARRAY_DIMENSIONS") variable.attributes[name] = attribute_of(name, value, variable.type);
  if (!array.refusal.empty()) variable.refusal = array.refusal;
  if (array.has_fill && !variable.attributes.contains("_FillValue")) {
    if (array.fill != 0) variable.attributes["_FillValue"] = {variable.type, false, "", {array.fill}};
  }
  if (const auto absent = array.n_absent(); absent > 0)
    variable.reading.assume(fmt::format(
        "{} of {} chunks of {} are not there: {}", absent, array.n_chunks(), variable.name,
        array.has_fill ? fmt::format("all their values are {:g}", array.fill) : "no value stands for them"));
  return variable;
}

}  // namespace quintet::netcdf
