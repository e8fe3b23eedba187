#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "physics/particles/formats/lammps/lammps_data.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet {

namespace {

bool is_lower_triangular(const Mat3& h) {
  return h[1] == 0 && h[2] == 0 && h[5] == 0 && h[0] > 0 && h[4] > 0 && h[8] > 0;
}

/// Turn a cell so that a lies along x and b in the xy plane: the Cholesky factor of rows rows^T.
Mat3 lower_triangular(const Mat3& h) {
  if (is_lower_triangular(h)) return h;
  const auto dot = [&](int i, int j) {
    return h[3 * i] * h[3 * j] + h[3 * i + 1] * h[3 * j + 1] + h[3 * i + 2] * h[3 * j + 2];
  };
  Mat3 l{};
  l[0] = std::sqrt(dot(0, 0));
  l[3] = dot(1, 0) / l[0];
  l[4] = std::sqrt(dot(1, 1) - l[3] * l[3]);
  l[6] = dot(2, 0) / l[0];
  l[7] = (dot(2, 1) - l[6] * l[3]) / l[4];
  l[8] = std::sqrt(dot(2, 2) - l[6] * l[6] - l[7] * l[7]);
  return l;
}

/// Turns row vectors from the configuration's frame into LAMMPS's: v_turned = v rotation, about the box's
/// origin.
struct Turn {
  bool needed;
  Mat3 rotation{};
  Vec3 origin;

  Turn(const Box& box, const Mat3& turned_rows) : needed(turned_rows != box.rows()), origin(box.origin()) {
    for (int l = 0; l < 3; ++l)
      for (int k = 0; k < 3; ++k)
        for (int m = 0; m < 3; ++m) rotation[3 * l + k] += box.inverse()[3 * l + m] * turned_rows[3 * m + k];
  }
  [[nodiscard]] Vec3 vector(const Vec3& v) const {
    if (!needed) return v;
    Vec3 result{0, 0, 0};
    for (int l = 0; l < 3; ++l)
      for (int k = 0; k < 3; ++k) result[k] += v[l] * rotation[3 * l + k];
    return result;
  }
  [[nodiscard]] Vec3 point(const Vec3& x) const {
    if (!needed) return x;
    const Vec3 turned = vector({x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]});
    return {turned[0] + origin[0], turned[1] + origin[1], turned[2] + origin[2]};
  }
};

}  // namespace

void write_lammps_data(const std::string& path, const Configuration& c) {
  const Mat3 h = lower_triangular(c.box.rows());
  const Turn turn(c.box, h);
  const auto id = [&](std::size_t i) { return c.ids.empty() ? static_cast<std::int64_t>(i) + 1 : c.ids[i]; };
  std::string content;
  auto out = std::back_inserter(content);
  fmt::format_to(out, "LAMMPS data file via Quintet, units = metal\n\n{} atoms\n{} atom types\n\n",
                 c.n_atoms(), c.type_names.size());
  for (int k = 0; k < 3; ++k)
    fmt::format_to(out, "{:.17g} {:.17g} {}lo {}hi\n", c.box.origin()[k], c.box.origin()[k] + h[4 * k],
                   "xyz"[k], "xyz"[k]);
  if (h[3] != 0 || h[6] != 0 || h[7] != 0)
    fmt::format_to(out, "{:.17g} {:.17g} {:.17g} xy xz yz\n", h[3], h[6], h[7]);
  content += "\nMasses\n\n";
  for (std::size_t t = 0; t < c.type_names.size(); ++t)
    fmt::format_to(out, "{} {:.17g} # {}\n", t + 1,
                   c.masses.empty() ? atomic_mass(c.type_names[t]) : c.masses[t], c.type_names[t]);
  content += "\nAtoms # atomic\n\n";
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    const Vec3 x = turn.point(c.positions[i]);
    fmt::format_to(out, "{} {} {:.17g} {:.17g} {:.17g}\n", id(i), c.types[i] + 1, x[0], x[1], x[2]);
  }
  if (!c.velocities.empty()) content += "\nVelocities\n\n";
  for (std::size_t i = 0; i < c.velocities.size(); ++i) {
    const Vec3 v = turn.vector(c.velocities[i]);
    fmt::format_to(out, "{} {:.17g} {:.17g} {:.17g}\n", id(i), v[0], v[1], v[2]);
  }
  text::write_file(path, content);
}

}  // namespace quintet
