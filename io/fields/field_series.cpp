#include "io/fields/field_series.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/ranges.h>

#include "io/fields/field_layout.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

template <class Items>
int number_of(const Items& items, const std::string& name, const char* kind) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name);
  const auto found = std::find(names.begin(), names.end(), name);
  QUINTET_CHECK(found != names.end(), "there is no {} '{}'; there are: {}", kind, name,
                fmt::join(names, ", "));
  return found - names.begin();
}

/// Names go into equations, HDF5 and XDMF: letters, digits and '_', a letter first.
void check_name(const std::string& name, const std::string& what) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  QUINTET_CHECK(!name.empty() && name.size() <= 64 &&
                    std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
                    std::all_of(name.begin(), name.end(), plain),
                "{}: '{}' is no name: expected at most 64 letters, digits and '_', a letter first", what,
                name.substr(0, 64));
}

void check_axis(const FieldAxis& axis, const std::string& what) {
  check_name(axis.name, what);
  const auto& x = axis.coordinates;
  QUINTET_CHECK(!x.empty(), "{}: axis '{}' has no points", what, axis.name);
  for (std::size_t i = 0; i < x.size(); ++i)
    QUINTET_CHECK(std::isfinite(x[i]) && (i == 0 || x[i] > x[i - 1]),
                  "{}: axis '{}': coordinates must ascend, but number {} is {}{}", what, axis.name, i, x[i],
                  i == 0 ? "" : fmt::format(" after {}", x[i - 1]));
  QUINTET_CHECK(std::isfinite(axis.lower) && std::isfinite(axis.upper) && axis.lower < axis.upper,
                "{}: axis '{}': its domain [{}, {}] is empty", what, axis.name, axis.lower, axis.upper);
  const double slack = 1e-6 * axis.length();  // coordinates in single precision
  const double end = axis.periodic ? axis.upper - slack : axis.upper + slack;
  QUINTET_CHECK(x.front() >= axis.lower - slack && (axis.periodic ? x.back() < end : x.back() <= end),
                "{}: axis '{}': points from {} to {} are not within its {} [{}, {}{}", what, axis.name,
                x.front(), x.back(), axis.periodic ? "period" : "domain", axis.lower, axis.upper,
                axis.periodic ? ")" : "]");
}

/// The fields of each vector are its components 0, 1, ... in order, as many as there are axes.
void check_vectors(const FieldSeriesHeader& header, const std::string& what) {
  std::map<std::string, std::vector<int>> components;
  for (const auto& field : header.fields)
    components[field.dataset.empty() ? field.name : field.dataset].push_back(field.component);
  for (const auto& [dataset, found] : components) {
    const bool scalar = found.size() == 1 && found[0] == -1;
    bool vector = found.size() == header.axes.size();
    for (std::size_t i = 0; vector && i < found.size(); ++i) vector = found[i] == static_cast<int>(i);
    QUINTET_CHECK(scalar || vector,
                  "{}: dataset '{}' is neither one scalar nor a vector with components 0 to {} in order",
                  what, dataset, header.axes.size() - 1);
  }
}

bool same_axis(const FieldAxis& a, const FieldAxis& b) {
  return a.name == b.name && a.coordinates == b.coordinates && a.periodic == b.periodic &&
         a.lower == b.lower && a.upper == b.upper;
}

bool same_field(const FieldInfo& a, const FieldInfo& b) {
  const auto dataset = [](const FieldInfo& field) {
    return field.dataset.empty() ? field.name : field.dataset;
  };
  return a.name == b.name && a.units == b.units && a.component == b.component && dataset(a) == dataset(b);
}

}  // namespace

hdf5::Shape FieldSeriesHeader::shape() const {
  hdf5::Shape shape;
  for (const auto& axis : axes) shape.push_back(axis.size());
  return shape;
}

int FieldSeriesHeader::field(const std::string& name) const { return number_of(fields, name, "field"); }
int FieldSeriesHeader::axis(const std::string& name) const { return number_of(axes, name, "axis"); }

void check_header(const FieldSeriesHeader& header, const std::string& what) {
  QUINTET_CHECK(!header.axes.empty() && header.axes.size() <= 3, "{}: has {} axes of space; expected 1 to 3",
                what, header.axes.size());
  QUINTET_CHECK(!header.fields.empty(), "{}: has no fields", what);
  QUINTET_CHECK(header.n_samples >= 1, "{}: has no samples", what);
  QUINTET_CHECK(header.seeds.empty() || header.seeds.size() == header.n_samples,
                "{}: has {} seeds for {} samples", what, header.seeds.size(), header.n_samples);
  std::set<std::string> names{"t", "time"};
  const auto take = [&](const std::string& name) {
    check_name(name, what);
    QUINTET_CHECK(names.insert(name).second, "{}: the name '{}' is given twice (t and time are taken)", what,
                  name);
  };
  std::uint64_t n = 1;
  for (const auto& axis : header.axes) {
    check_axis(axis, what);
    take(axis.name);
    n *= axis.size();
  }
  for (const auto& field : header.fields) {
    take(field.name);
    if (!field.dataset.empty()) check_name(field.dataset, what);
  }
  for (const auto& [name, value] : header.parameters) {
    take(name);
    QUINTET_CHECK(std::isfinite(value), "{}: the parameter '{}' is {}", what, name, value);
  }
  QUINTET_CHECK(header.mask.empty() || header.mask.size() == n, "{}: the mask has {} points, the grid {}",
                what, header.mask.size(), n);
  check_vectors(header, what);
}

std::string field_layout::difference(const FieldSeriesHeader& found, const FieldSeriesHeader& wanted) {
  if (!std::equal(found.axes.begin(), found.axes.end(), wanted.axes.begin(), wanted.axes.end(), same_axis))
    return "its axes";
  if (!std::equal(found.fields.begin(), found.fields.end(), wanted.fields.begin(), wanted.fields.end(),
                  same_field))
    return "its fields";
  if (found.parameters != wanted.parameters) return "its parameters";
  if (found.n_samples != wanted.n_samples || found.seeds != wanted.seeds) return "its samples or their seeds";
  if (found.mask != wanted.mask) return "its mask";
  if (found.double_precision != wanted.double_precision) return "its precision";
  return "";
}

}  // namespace quintet
