#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/netcdf/zarr_array.hpp"

// Metadata of zarr: .zarray and .zattrs (version 2), zarr.json (version 3).
// Sources: https://zarr-specs.readthedocs.io, "Zarr storage specification version 2" and "Zarr core
// specification 3.0".

namespace quintet::netcdf {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_elements = std::uint64_t{1} << 48U;

struct TypeName {
  const char *version_3, *code;  ///< "float32", "f4"
  std::uint64_t size;
};
constexpr TypeName type_names[] = {{"float16", "f2", 2}, {"float32", "f4", 4}, {"float64", "f8", 8},
                                   {"int8", "i1", 1},    {"int16", "i2", 2},   {"int32", "i4", 4},
                                   {"int64", "i8", 8},   {"uint8", "u1", 1},   {"uint16", "u2", 2},
                                   {"uint32", "u4", 4},  {"uint64", "u8", 8},  {"bool", "b1", 1}};

std::vector<std::uint64_t> extents(const Tree& list, std::int64_t least) {
  std::vector<std::uint64_t> result;
  std::uint64_t n = 1;
  QUINTET_CHECK(list.is_list(), "{}: expected a list of integers, found {}", list.location().text(),
                list.found());
  for (const auto& item : list.items()) {
    const auto extent = item.as_integer();
    QUINTET_CHECK(extent >= least &&
                      static_cast<std::uint64_t>(extent) <= most_elements / std::max<std::uint64_t>(n, 1),
                  "{}: an extent of {}", item.location().text(), extent);
    result.push_back(extent);
    n *= std::max<std::uint64_t>(result.back(), 1);
  }
  return result;
}

/// A number as JSON and numpy write it, or its bits ("0x7fc00000").
std::optional<double> number_of(const Tree& value, const NpyHeader& element) {
  if (!value.is_scalar()) return std::nullopt;
  const auto& text = value.as_text();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "true" || text == "false") return text == "true" ? 1 : 0;
  if (text.starts_with("0x") && text.size() == 2 + 2 * element.element_size &&
      text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos) {
    std::string bytes;
    for (std::size_t i = text.size(); i > 2; i -= 2)
      bytes.push_back(static_cast<char>(std::stoi(text.substr(i - 2, 2), nullptr, 16)));
    NpyHeader native = element;
    native.big_endian = false;
    return npy_numbers<double>(bytes, native)[0];
  }
  return value.as_number();
}

void take_fill(const Tree* value, ZarrArray& array) {
  if (value == nullptr || value->is_null() || array.element.element_size == 0) return;
  const auto number = number_of(*value, array.element);
  QUINTET_CHECK(number.has_value(), "{}: fill_value is {}; expected a number", value->location().text(),
                value->found());
  array.fill = *number;
  array.has_fill = true;
}

std::string refused_codec(const std::string& name) {
  return fmt::format(
      "is packed by '{}', which is not read. Store it anew, which version 3 of zarr for Python does with "
      "zstd: python3 -c "
      "\"import sys, zarr; a = zarr.open_group(sys.argv[1], mode='r'); b = zarr.open_group(sys.argv[2], "
      "mode='w', "
      "zarr_format=a.metadata.zarr_format); [b.create_array(k, data=v[...], chunks=v.chunks, "
      "fill_value=v.fill_value, "
      "dimension_names=getattr(v.metadata, 'dimension_names', None)).attrs.update(v.attrs) for k, v in "
      "a.arrays()]\" OLD NEW",
      name);
}

/// One codec by its name: numcodecs' in version 2, with "numcodecs." before it in some of version 3.
void take_codec(std::string name, const Tree& configuration, ZarrArray& array) {
  if (name.starts_with("numcodecs.")) name = name.substr(10);
  using Kind = ZarrStep::Kind;
  if (name == "zlib" || name == "gzip") return array.steps.push_back({Kind::packed, Codec::zlib, 1});
  if (name == "zstd") return array.steps.push_back({Kind::packed, Codec::zstd, 1});
  if (name == "lz4") return array.steps.push_back({Kind::packed, Codec::lz4, 1});
  if (name == "blosc") return array.steps.push_back({Kind::packed, Codec::blosc, 1});
  if (name == "crc32c") return array.steps.push_back({Kind::checksum, Codec::zlib, 1});
  if (name == "bitround" || name == "quantize") return;  // values lost digits before; nothing is to be undone
  if (name == "shuffle") {
    const auto* size = configuration.find("elementsize");
    const auto bytes = size != nullptr ? size->as_integer() : 4;
    QUINTET_CHECK(bytes >= 1 && bytes <= 256, "{}: shuffle of elements of {} bytes", array.where, bytes);
    return array.steps.push_back({Kind::shuffle, Codec::zlib, static_cast<std::uint64_t>(bytes)});
  }
  if (array.refusal.empty()) array.refusal = refused_codec(name);
}

void check_chunks(const ZarrArray& array) {
  QUINTET_CHECK(array.chunk.size() == array.shape.size(), "{}: has {} axes and chunks of {}", array.where,
                array.shape.size(), array.chunk.size());
}

void take_type_2(const std::string& code, ZarrArray& array) {
  for (const auto& type : type_names)
    if (code.size() > 1 && code.substr(1) == type.code) {
      array.element.element_type = type.version_3;
      array.element.element_size = type.size;
      array.element.big_endian = code[0] == '>';
    }
  if (array.element.element_size == 0) array.refusal = fmt::format("its type {} is none of numbers", code);
}

ZarrArray array_2(const fs::path& folder, const std::string& where) {
  const Tree meta = read_yaml((folder / ".zarray").string());
  QUINTET_CHECK(meta.is_map() && meta.at("zarr_format").as_integer() == 2, "{}: .zarray is not of version 2",
                where);
  ZarrArray array;
  array.folder = folder.string();
  array.where = where;
  array.shape = extents(meta.at("shape"), 0);
  array.chunk = extents(meta.at("chunks"), 1);
  check_chunks(array);
  const auto& type = meta.at("dtype");
  take_type_2(type.is_scalar() ? type.as_text() : "of records", array);
  const auto order = meta.at("order").as_text();
  QUINTET_CHECK(order == "C" || order == "F", "{}: order '{}'; expected C or F", where, order);
  for (std::size_t d = 0; d < array.shape.size(); ++d)
    array.order.push_back(order == "C" ? d : array.shape.size() - 1 - d);
  if (const auto* separator = meta.find("dimension_separator")) array.separator = separator->as_text();
  if (const auto* filters = meta.find("filters"); filters != nullptr && filters->is_list())
    for (const auto& filter : filters->items()) take_codec(filter.at("id").as_text(), filter, array);
  if (const auto* codec = meta.find("compressor"); codec != nullptr && codec->is_map())
    take_codec(codec->at("id").as_text(), *codec, array);
  take_fill(meta.find("fill_value"), array);
  array.attributes = fs::exists(folder / ".zattrs") ? read_yaml((folder / ".zattrs").string()) : Tree::map();
  if (const auto* names = array.attributes.is_map() ? array.attributes.find("_ARRAY_DIMENSIONS") : nullptr)
    for (const auto& name : names->items()) array.dimensions.push_back(name.as_text());
  return array;
}

void take_codec_3(const Tree& codec, ZarrArray& array) {
  const auto name = codec.is_map() ? codec.at("name").as_text() : codec.as_text();
  static const Tree nothing = Tree::map();
  const auto* found = codec.is_map() ? codec.find("configuration") : nullptr;
  const Tree& configuration = found != nullptr && found->is_map() ? *found : nothing;
  if (name == "bytes") {
    if (const auto* endian = configuration.find("endian"))
      array.element.big_endian = endian->as_text() == "big";
  } else if (name == "transpose") {
    const auto order = extents(configuration.at("order"), 0);
    std::vector<bool> seen(array.shape.size());
    std::vector<std::size_t> turned;
    for (const auto d : order) {
      QUINTET_CHECK(order.size() == seen.size() && d < seen.size() && !seen[d],
                    "{}: transpose by [{}] of {} axes", array.where, fmt::join(order, ", "), seen.size());
      seen[d] = true;
      turned.push_back(array.order[d]);
    }
    array.order = turned;
  } else {
    take_codec(name, configuration, array);
  }
}

// What cannot be read is kept as a refusal, not thrown: a store may hold arrays that nobody asks for.
ZarrArray array_3(const Tree& meta, const fs::path& folder, const std::string& where) {
  ZarrArray array;
  array.folder = folder.string();
  array.where = where;
  array.shape = extents(meta.at("shape"), 0);
  const auto& grid = meta.at("chunk_grid");
  QUINTET_CHECK(grid.at("name").as_text() == "regular", "{}: its chunks are '{}'; expected regular ones",
                where, grid.at("name").as_text());
  array.chunk = extents(grid.at("configuration").at("chunk_shape"), 1);
  check_chunks(array);
  const auto& type = meta.at("data_type");
  const auto type_name = type.is_scalar() ? type.as_text() : "of its own";
  for (const auto& one : type_names)
    if (type_name == one.version_3)
      array.element.element_type = one.version_3, array.element.element_size = one.size;
  if (array.element.element_size == 0)
    array.refusal = fmt::format("its type {} is none of numbers", type_name);
  for (std::size_t d = 0; d < array.shape.size(); ++d) array.order.push_back(d);
  const auto& keys = meta.at("chunk_key_encoding");
  const bool as_2 = keys.at("name").as_text() == "v2";
  QUINTET_CHECK(as_2 || keys.at("name").as_text() == "default",
                "{}: names of chunks are '{}'; expected default or v2", where, keys.at("name").as_text());
  array.prefix = as_2 ? "" : "c";
  array.separator = as_2 ? "." : "/";
  if (const auto* options = keys.find("configuration"); options != nullptr && options->is_map())
    if (const auto* separator = options->find("separator")) array.separator = separator->as_text();
  for (const auto& codec : meta.at("codecs").items()) take_codec_3(codec, array);
  if (const auto* transformers = meta.find("storage_transformers");
      transformers != nullptr && !transformers->items().empty())
    array.refusal = "has storage_transformers, which are not read";
  take_fill(meta.find("fill_value"), array);
  array.attributes = meta.has("attributes") ? meta.at("attributes") : Tree::map();
  if (const auto* names = meta.find("dimension_names"); names != nullptr && names->is_list())
    for (const auto& name : names->items())
      array.dimensions.push_back(name.is_scalar() ? name.as_text() : "");
  return array;
}

}  // namespace

bool is_zarr(const std::string& path) {
  const fs::path folder(path);
  return fs::is_directory(folder) && (fs::exists(folder / ".zgroup") || fs::exists(folder / ".zmetadata") ||
                                      fs::exists(folder / "zarr.json") || fs::exists(folder / ".zarray"));
}

std::vector<ZarrArray> read_zarr_group(const std::string& path, std::vector<std::string>& left) {
  const fs::path root(path);
  const bool is_array = fs::exists(root / ".zarray") ||
                        (fs::exists(root / "zarr.json") &&
                         read_yaml((root / "zarr.json").string()).at("node_type").as_text() == "array");
  QUINTET_CHECK(!is_array,
                "{}: is one array of zarr: name the folder of its group, which has its coordinates, too",
                path);
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<ZarrArray> arrays;
  for (const auto& folder : folders) {
    const auto name = folder.filename().string(), where = fmt::format("{}: {}", path, name);
    if (fs::exists(folder / ".zarray")) {
      arrays.push_back(array_2(folder, where));
    } else if (fs::exists(folder / "zarr.json")) {
      const Tree meta = read_yaml((folder / "zarr.json").string());
      QUINTET_CHECK(meta.is_map() && meta.at("zarr_format").as_integer() == 3,
                    "{}: zarr.json is not of version 3", where);
      if (meta.at("node_type").as_text() == "array")
        arrays.push_back(array_3(meta, folder, where));
      else
        left.push_back(fmt::format("group {}", name));
    } else if (fs::exists(folder / ".zgroup")) {
      left.push_back(fmt::format("group {}", name));
    }
  }
  return arrays;
}

}  // namespace quintet::netcdf
