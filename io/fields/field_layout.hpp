#pragma once

#include <string>
#include <vector>

#include "io/fields/field_series.hpp"

/// Where things lie in a file of schema "quintet.field_series"; shared by its writer and its reader.
namespace quintet::field_layout {

constexpr const char* schema = "quintet.field_series";
constexpr int schema_version = 1;

/// Long names that The Well uses for what equations call otherwise.
struct LongName {
  const char *symbol, *name;
};
constexpr LongName long_names[] = {{"Ra", "Rayleigh"}, {"Pr", "Prandtl"}};

[[nodiscard]] inline std::string long_name(const std::string& symbol) {
  for (const auto& one : long_names)
    if (symbol == one.symbol) return one.name;
  return symbol;
}

/// A dataset of the file: a scalar field, or a vector of several.
struct FieldDataset {
  std::string group, name;          ///< "t1_fields", "velocity"
  std::vector<std::size_t> fields;  ///< numbers in the header
  [[nodiscard]] std::string path() const { return group + "/" + name; }
  [[nodiscard]] bool is_vector() const { return group == "t1_fields"; }
};

/// The datasets of a header, in the order of their first fields.
[[nodiscard]] inline std::vector<FieldDataset> datasets_of(const FieldSeriesHeader& header) {
  std::vector<FieldDataset> datasets;
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const auto& field = header.fields[i];
    const auto name = field.dataset.empty() ? field.name : field.dataset;
    std::size_t k = 0;
    while (k < datasets.size() && datasets[k].name != name) ++k;
    if (k == datasets.size()) datasets.push_back({field.component < 0 ? "t0_fields" : "t1_fields", name, {}});
    datasets[k].fields.push_back(i);
  }
  return datasets;
}

/// Difference between the series of a file and the one that is to be continued; "" if none.
[[nodiscard]] std::string difference(const FieldSeriesHeader& found, const FieldSeriesHeader& wanted);

}  // namespace quintet::field_layout
