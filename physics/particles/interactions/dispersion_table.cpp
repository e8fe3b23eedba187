#include "physics/particles/interactions/dispersion_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "io/files/npy_header.hpp"
#include "io/files/zip_file.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

namespace {

/// Bohr radius with which the tables in circulation were converted (angstrom).
constexpr double old_bohr = 0.52917726;
constexpr double bohr = 0.529177210903;  // CODATA 2018
constexpr std::uint64_t most_elements = 200, most_references = 8;

constexpr const char* cure = dispersion_table_cure;

struct NamedArray {
  std::vector<std::uint64_t> shape;
  std::vector<double> values;
};

NamedArray read_array(const ZipFile& file, const std::string& name, std::size_t rank) {
  const std::string member = name + ".npy", label = file.path() + ": " + member;
  QUINTET_CHECK(file.has(member), "{}: has no array '{}'; {}", file.path(), name, cure);
  QUINTET_CHECK(file.size(member) <= most_elements * most_elements * most_references * most_references * 24 +
                                         most_npy_header_bytes,
                "{}: is {} bytes long, more than a table of D3", label, file.size(member));
  const std::string bytes = file.read(member);
  const NpyHeader header = read_npy_header(bytes, bytes.size(), label);
  QUINTET_CHECK(header.element_type.starts_with("float") && !header.fortran_order,
                "{}: holds {} in {} order; expected floating-point numbers in C order", label,
                header.element_type, header.fortran_order ? "Fortran" : "C");
  QUINTET_CHECK(header.shape.size() == rank, "{}: has shape {}; expected {} axes", label, header.shape_text(),
                rank);
  return {header.shape, npy_numbers<double>(std::string_view(bytes).substr(header.begin), header)};
}

/// `value` with so many digits after the point, if it is that number to 10^-6 of itself.
double as_published(double value, int digits) {
  const double scale = std::pow(10.0, digits), rounded = std::round(value * scale) / scale;
  return std::abs(rounded - value) <= 1e-6 * std::abs(value) ? rounded : value;
}

/// The arrays of a file, for all elements.
struct Arrays {
  NamedArray c6, covalent, moment, radius;
  std::uint64_t n = 0, m = 0;  ///< rows by element, references

  /// Entry c of references a and b: 0: C6, 1 and 2: numbers of neighbours.
  [[nodiscard]] double entry(int z, int y, int a, int b, int c) const {
    return c6.values[(((z * n + y) * m + a) * m + b) * 3 + c];
  }
  /// References of an element: those that it has beside itself.
  [[nodiscard]] int n_references(int z) const {
    int count = 0;
    while (count < static_cast<int>(m) && entry(z, z, count, count, 0) > 0) ++count;
    return count;
  }
};

Arrays read_arrays(const std::string& path) {
  const ZipFile file(path);
  Arrays arrays{read_array(file, "c6ab", 5), read_array(file, "rcov", 1), read_array(file, "r2r4", 1),
                read_array(file, "r0ab", 2)};
  arrays.n = arrays.c6.shape[0];
  arrays.m = arrays.c6.shape[2];
  const auto n = arrays.n, m = arrays.m;
  using Shape = std::vector<std::uint64_t>;
  QUINTET_CHECK(n <= most_elements && m >= 1 && m <= most_references &&
                    arrays.c6.shape == (Shape{n, n, m, m, 3}) && arrays.covalent.shape == Shape{n} &&
                    arrays.moment.shape == Shape{n} && arrays.radius.shape == (Shape{n, n}),
                "{}: its arrays do not fit together: expected c6ab [Z, Z, M, M, 3], rcov [Z], r2r4 [Z] and "
                "r0ab [Z, Z] with M <= {}; {}",
                path, most_references, cure);
  return arrays;
}

/// The entries of two types, checked.
void take_pair(const Arrays& arrays, const std::string& path, const std::vector<int>& z, int t, int u,
               DispersionTable& table) {
  const int m = table.most_references;
  for (int a = 0; a < table.n_references[t]; ++a)
    for (int b = 0; b < table.n_references[u]; ++b) {
      const double c6 = arrays.entry(z[t], z[u], a, b, 0);
      const bool whole = std::isfinite(c6) && c6 > 0 && c6 == arrays.entry(z[u], z[t], b, a, 0) &&
                         arrays.entry(z[t], z[u], a, b, 1) == table.coordination[t * m + a] &&
                         arrays.entry(z[t], z[u], a, b, 2) == table.coordination[u * m + b];
      QUINTET_CHECK(
          whole,
          "{}: c6ab of elements {} and {}, references {} and {}, is damaged: C6 = {}, and it or its "
          "numbers of neighbours ({}, {}) differ from those of other entries; {}",
          path, z[t], z[u], a, b, c6, arrays.entry(z[t], z[u], a, b, 1), arrays.entry(z[t], z[u], a, b, 2),
          cure);
      table.c6[((t * table.n_types + u) * m + a) * m + b] = c6;
    }
  const double radius = arrays.radius.values[z[t] * arrays.n + z[u]];
  QUINTET_CHECK(std::isfinite(radius) && radius > 0, "{}: r0ab of elements {} and {} is {}; {}", path, z[t],
                z[u], radius, cure);
  table.triple_radius[t * table.n_types + u] = as_published(radius * old_bohr, 4) / bohr;
}

}  // namespace

DispersionTable read_dispersion_table(const std::string& path, const std::vector<std::string>& type_names) {
  QUINTET_CHECK(std::filesystem::exists(path), "{}: there is no such file; {}", path, cure);
  const Arrays arrays = read_arrays(path);
  DispersionTable table;
  const int n = type_names.size();
  const int m = arrays.m;
  table.n_types = n;
  table.most_references = m;
  table.coordination.assign(std::size_t(n) * m, 0);
  table.c6.assign(std::size_t(n) * n * m * m, 0);
  table.triple_radius.assign(std::size_t(n) * n, 0);
  std::vector<int> z;
  for (int t = 0; t < n; ++t) {
    z.push_back(atomic_number(type_names[t]));
    const bool known = z[t] < static_cast<int>(arrays.n) && arrays.n_references(z[t]) > 0;
    QUINTET_CHECK(known, "{}: has no references of {}; it ends with element {}", path, type_names[t],
                  arrays.n - 1);
    const double radius = arrays.covalent.values[z[t]], moment = arrays.moment.values[z[t]];
    QUINTET_CHECK(std::isfinite(radius) && radius > 0 && std::isfinite(moment) && moment > 0,
                  "{}: rcov and r2r4 of {} are {} and {}; expected positive numbers; {}", path, type_names[t],
                  radius, moment, cure);
    table.n_references.push_back(arrays.n_references(z[t]));
    table.covalent_radius.push_back(4.0 / 3.0 * as_published(radius * old_bohr * 0.75, 2) / bohr);
    // q^2 = <r^4>/<r^2> sqrt(Z) / 2
    const double root = std::sqrt(z[t]);
    table.moment_ratio.push_back(std::sqrt(0.5 * as_published(2 * moment * moment / root, 4) * root));
    for (int a = 0; a < table.n_references[t]; ++a) {
      table.coordination[t * m + a] = arrays.entry(z[t], z[t], a, a, 1);
      QUINTET_CHECK(table.coordination[t * m + a] >= 0 && table.coordination[t * m + a] < 100,
                    "{}: a reference of {} has {} neighbours; {}", path, type_names[t],
                    table.coordination[t * m + a], cure);
    }
    constexpr int francium = 87;
    if (z[t] >= francium) table.of_2010.push_back(type_names[t]);
  }
  for (int t = 0; t < n; ++t)
    for (int u = 0; u < n; ++u) take_pair(arrays, path, z, t, u, table);
  return table;
}

}  // namespace quintet
