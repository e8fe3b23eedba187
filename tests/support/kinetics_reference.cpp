#include "tests/support/kinetics_reference.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "tests/support/inflate.hpp"

namespace quintet::kinetics {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t little_endian(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

/// The text between two marks of a .npy header.
std::string between(const std::string& text, const std::string& first, const std::string& last) {
  const std::size_t begin = text.find(first) + first.size();
  return text.substr(begin, text.find(last, begin) - begin);
}

/// Little-endian elements of type T as float64.
template <class T>
void convert(const std::string& bytes, std::size_t begin, std::vector<double>& values) {
  if (bytes.size() != begin + sizeof(T) * values.size())
    throw std::runtime_error("array and shape differ in an .npy file");
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + begin + sizeof(T) * i, sizeof(T));
    values[i] = static_cast<double>(value);
  }
}

ReferenceArray parse_npy(const std::string& bytes) {
  const std::size_t begin = 10 + little_endian(bytes, 8, 2);
  const std::string header = bytes.substr(10, begin - 10);
  if (header.find("'fortran_order': False") == std::string::npos)
    throw std::runtime_error("expected C order, found " + header);
  ReferenceArray array;
  std::istringstream shape(between(header, "'shape': (", ")"));
  std::size_t count = 1;
  for (std::string extent; std::getline(shape, extent, ',');)
    if (extent.find_first_of("0123456789") != std::string::npos) {
      array.shape.push_back(std::stoul(extent));
      count *= array.shape.back();
    }
  array.values.resize(count);
  const auto type = between(header, "'descr': '", "'");
  if (type == "<f8")
    convert<double>(bytes, begin, array.values);
  else if (type == "<f4")
    convert<float>(bytes, begin, array.values);
  else if (type == "<i8")
    convert<std::int64_t>(bytes, begin, array.values);
  else if (type == "<i4")
    convert<std::int32_t>(bytes, begin, array.values);
  else if (type == "<i2")
    convert<std::int16_t>(bytes, begin, array.values);
  else if (type == "|i1")
    convert<std::int8_t>(bytes, begin, array.values);
  else if (type.starts_with("|S") || type.starts_with("<U"))
    array.values.clear();  // names, which nobody needs
  else
    throw std::runtime_error("expected numbers, found " + header);
  return array;
}

/// One entry of a zip archive's central directory at `at`; moves on to the next.
std::pair<std::string, std::string> zip_entry(const std::string& zip, std::size_t& at) {
  const auto field = [&](std::size_t offset, std::size_t size) {
    return little_endian(zip, at + offset, size);
  };
  const std::uint64_t method = field(10, 2), packed = field(20, 4), size = field(24, 4), local = field(42, 4);
  const std::string name = zip.substr(at + 46, field(28, 2));
  const std::size_t data = local + 30 + little_endian(zip, local + 26, 2) + little_endian(zip, local + 28, 2);
  at += 46 + field(28, 2) + field(30, 2) + field(32, 2);
  std::string bytes = zip.substr(data, packed);
  if (method == 8) bytes = inflate(bytes);
  if (bytes.size() != size) throw std::runtime_error("damaged zip entry " + name);
  return {name, bytes};
}

}  // namespace

std::string reference_path(const std::string& name) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/../shared/data/kinetics/" + name;
}
bool reference_here(const std::string& name) { return std::filesystem::exists(reference_path(name)); }
std::string reference_absent(const std::string& name) {
  return "../shared/data/kinetics/" + name + " is not here";
}

Tree reference_json(const std::string& name) { return read_yaml(reference_path(name)); }

CsvTable reference_csv(const std::string& name) {
  std::istringstream lines(read_all(reference_path(name)));
  CsvTable table;
  std::vector<std::vector<double>*> columns;
  std::string line, cell;
  std::getline(lines, line);
  for (std::istringstream header(line); std::getline(header, cell, ',');)
    columns.push_back(&table.columns[cell]);
  while (std::getline(lines, line)) {
    std::istringstream row(line);
    for (auto* column : columns) {
      if (!std::getline(row, cell, ',')) throw std::runtime_error(name + ": short line " + line);
      column->push_back(std::stod(cell));
    }
  }
  return table;
}

std::map<std::string, ReferenceArray> reference_npz(const std::string& name) {
  const std::string zip = read_all(reference_path(name));
  const std::size_t end = zip.rfind("PK\005\006");
  if (end == std::string::npos) throw std::runtime_error(name + " is no zip archive");
  std::map<std::string, ReferenceArray> arrays;
  std::size_t at = little_endian(zip, end + 16, 4);
  for (std::uint64_t n = little_endian(zip, end + 10, 2); n > 0; --n) {
    const auto [entry, bytes] = zip_entry(zip, at);
    arrays[entry.substr(0, entry.rfind(".npy"))] = parse_npy(bytes);
  }
  return arrays;
}

}  // namespace quintet::kinetics
