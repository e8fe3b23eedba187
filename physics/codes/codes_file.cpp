#include "physics/codes/codes_file.hpp"

#include <algorithm>
#include <cmath>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "physics/codes/code_tables.hpp"

namespace quintet {

namespace {

constexpr std::int64_t most = 1 << 24;  // of any one size in a file

/// A list of integers, one a matrix, as HDF5 attributes give them: in double.
std::vector<int> sizes(const hdf5::Group& group, const char* name, std::size_t n, const std::string& what) {
  const auto values = group.number_attribute(name);
  QUINTET_CHECK(values.size() == n, "{}: codes: {} entries of {}; expected one for each of {} matrices", what,
                values.size(), name, n);
  std::vector<int> list;
  for (const double value : values) {
    QUINTET_CHECK(value >= 1 && value <= most && value == std::floor(value),
                  "{}: codes: {} holds {}; expected an integer from 1 to {}", what, name, value, most);
    list.push_back(value);
  }
  return list;
}

}  // namespace

void write_codes(hdf5::Group group, const std::vector<NamedCodes>& matrices) {
  std::vector<float> alpha;
  std::vector<std::uint8_t> keys;
  std::vector<std::string> names;
  std::vector<std::int64_t> bits, groups, rows, columns;
  for (const auto& [name, codes] : matrices) {
    check_codes(codes, name.c_str());
    alpha.insert(alpha.end(), codes.alpha.begin(), codes.alpha.end());
    keys.insert(keys.end(), codes.keys.begin(), codes.keys.end());
    names.push_back(name);
    bits.push_back(codes.bits);
    groups.push_back(codes.group);
    rows.push_back(codes.rows);
    columns.push_back(codes.columns);
  }
  group.set_attribute("mu", PackedCodes::columns_of_key);
  group.set_attribute("names", names);
  group.set_attribute("bits", bits);
  group.set_attribute("group", groups);
  group.set_attribute("rows", rows);
  group.set_attribute("columns", columns);
  group.write<float>(
      "alpha", alpha, {alpha.size()},
      {"1", {"scale"}, "Scales of binary codes, matrix after matrix, each [bits, rows, groups of columns]"});
  group.write<std::uint8_t>(
      "keys", keys, {keys.size()},
      {"1",
       {"byte"},
       "Signs, matrix after matrix, each [bits, rows, ceil(columns/8)]; bit c % 8 of byte c/8 is 1 for +1"});
}

std::vector<NamedCodes> read_codes(const hdf5::Group& group, const std::string& what) {
  const auto mu = group.integer_attribute("mu");
  QUINTET_CHECK(mu == PackedCodes::columns_of_key, "{}: codes: keys of {} columns; this version reads {}",
                what, mu, PackedCodes::columns_of_key);
  const auto names = group.texts_attribute("names");
  const auto n = names.size();
  const auto bits = sizes(group, "bits", n, what), groups = sizes(group, "group", n, what),
             rows = sizes(group, "rows", n, what), columns = sizes(group, "columns", n, what);
  std::vector<NamedCodes> matrices(n);
  std::uint64_t n_alpha = 0, n_keys = 0;
  for (std::size_t i = 0; i < n; ++i) {
    auto& codes = matrices[i].codes;
    matrices[i].name = names[i];
    codes.rows = rows[i];
    codes.columns = columns[i];
    codes.bits = bits[i];
    codes.group = groups[i];
    QUINTET_CHECK(codes.bits <= 8, "{}: codes: {} bits; expected 1 to 8", what, codes.bits);
    const auto planes = static_cast<std::uint64_t>(codes.bits) * codes.rows;
    n_alpha += planes * codes.groups();
    n_keys += planes * codes.bytes_of_row();
  }
  const auto alpha = group.read<float>("alpha", {n_alpha});
  const auto keys = group.read<std::uint8_t>("keys", {n_keys});
  auto next_alpha = alpha.begin();
  auto next_keys = keys.begin();
  for (auto& [name, codes] : matrices) {
    const auto planes = std::int64_t{codes.bits} * codes.rows;
    const auto end_alpha = next_alpha + planes * codes.groups();
    const auto end_keys = next_keys + planes * codes.bytes_of_row();
    codes.alpha.assign(next_alpha, end_alpha);
    codes.keys.assign(next_keys, end_keys);
    next_alpha = end_alpha;
    next_keys = end_keys;
    check_codes(codes, fmt::format("{}: codes of {}", what, name).c_str());
  }
  return matrices;
}

}  // namespace quintet
