#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_elements.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/formats/extended_xyz.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet {

namespace {

using Buffer = std::back_insert_iterator<std::string>;

template <class Range>
void put_numbers(Buffer out, const Range& values) {
  bool first = true;
  for (const double value : values) {
    fmt::format_to(out, "{}{:.17g}", first ? "" : " ", value);
    first = false;
  }
}

/// Momenta that ASE reads, in its unit sqrt(amu eV): of every type the mass is known.
bool writes_momenta(const Configuration& c) {
  return !c.velocities.empty() &&
         (!c.masses.empty() || std::all_of(c.types.begin(), c.types.end(), [&](int type) {
           return standard_mass(c.type_names[type]).has_value();
         }));
}

Vec3 momentum_of(const Configuration& c, std::size_t i) {
  const int type = c.types[i];
  const double mass = c.masses.empty() ? atomic_mass(c.type_names[type]) : c.masses[type];
  Vec3 p = c.velocities[i];
  for (double& component : p) component *= mass * std::sqrt(units::mv2_to_ev);
  return p;
}

std::string comment_line(const Configuration& c, const ExtendedXyzOptions& options) {
  std::string line;
  Buffer out(line);
  const auto key = [&](const char* name, const auto& values) {
    fmt::format_to(out, "{}=\"", name);
    put_numbers(out, values);
    line += "\" ";
  };
  key("Lattice", c.box.rows());
  if (c.box.origin() != Vec3{0, 0, 0}) key("Origin", c.box.origin());
  const auto& periodic = c.box.periodic();
  const auto flag = [&](int k) { return periodic[k] ? 'T' : 'F'; };
  fmt::format_to(out, "pbc=\"{} {} {}\" ", flag(0), flag(1), flag(2));
  if (c.energy) fmt::format_to(out, "energy={:.17g} ", *c.energy);
  if (c.virial) {
    key("virial", *c.virial);
    if (c.box.fully_periodic()) {  // ASE's: tension is positive
      Mat3 stress = *c.virial;
      for (double& component : stress) component /= -c.box.volume();
      key("stress", stress);
    }
  }
  if (!options.keys.empty()) line += options.keys + " ";
  line += "Properties=species:S:1:pos:R:3";
  if (!c.ids.empty()) line += ":id:I:1";
  if (!c.masses.empty()) line += ":masses:R:1";
  if (!c.velocities.empty()) line += ":velocities:R:3";
  if (writes_momenta(c)) line += ":momenta:R:3";
  if (!c.forces.empty()) line += ":forces:R:3";
  if (c.n_parameters() > 0) line += fmt::format(":aparam:R:{}", c.n_parameters());
  if (!options.atom_energies.empty()) line += ":energies:R:1";
  return line;
}

/// Text that is held before it is written.
constexpr std::size_t most_text = std::size_t{1} << 24;

}  // namespace

void write_extended_xyz(const std::string& path, const Configuration& c, const ExtendedXyzOptions& options) {
  QUINTET_CHECK(options.atom_energies.empty() || options.atom_energies.size() == c.n_atoms(),
                "{} atomic energies for {} atoms cannot be written to {}", options.atom_energies.size(),
                c.n_atoms(), path);
  std::string content;
  if (!options.continues)
    content = fmt::format("{}\n{}\n", options.n_frame.value_or(static_cast<std::int64_t>(c.n_atoms())),
                          comment_line(c, options));
  const bool momenta = writes_momenta(c);
  bool append = options.append || options.continues;
  Buffer out(content);
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    fmt::format_to(out, "{} ", c.type_names[c.types[i]]);
    put_numbers(out, c.positions[i]);
    if (!c.ids.empty()) fmt::format_to(out, " {}", c.ids[i]);
    if (!c.masses.empty()) fmt::format_to(out, " {}", c.masses[c.types[i]]);
    const auto row = [&](const Vec3& values) {
      content += ' ';
      put_numbers(out, values);
    };
    if (!c.velocities.empty()) row(c.velocities[i]);
    if (momenta) row(momentum_of(c, i));
    if (!c.forces.empty()) row(c.forces[i]);
    for (int k = 0; k < c.n_parameters(); ++k)
      fmt::format_to(out, " {:.17g}", c.parameters[i * c.n_parameters() + k]);
    if (!options.atom_energies.empty()) fmt::format_to(out, " {:.17g}", options.atom_energies[i]);
    content += '\n';
    if (content.size() < most_text) continue;
    text::write_file(path, content, append);
    content.clear();
    append = true;
  }
  if (!content.empty()) text::write_file(path, content, append);
}

}  // namespace quintet
