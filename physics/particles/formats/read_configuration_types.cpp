#include "physics/particles/formats/read_configuration_types.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_elements.hpp"

namespace quintet {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string list(const std::vector<std::string>& names) {
  return fmt::format("[{}]", fmt::join(names, ", "));
}

const double* find(const NamedMasses& masses, const std::string& name) {
  const auto found =
      std::find_if(masses.begin(), masses.end(), [&](const auto& entry) { return entry.first == name; });
  return found == masses.end() ? nullptr : &found->second;
}

/// Types that atoms have.
std::vector<bool> used_types(const Configuration& c) {
  std::vector<bool> used(c.type_names.size(), false);
  for (const int type : c.types) used.at(type) = true;
  return used;
}

}  // namespace

std::vector<std::string> agreed_names(const std::string& where, const std::vector<std::string>& own,
                                      const std::vector<std::string>& given) {
  if (given.empty()) return own;
  std::vector<std::string> names = own;
  names.resize(std::max(own.size(), given.size()));
  for (std::size_t t = 0; t < given.size(); ++t) {
    const std::string& name = names[t];
    const bool says_something = !name.empty() && (standard_mass(name) || contains(given, name));
    QUINTET_CHECK(
        !says_something || name == given[t],
        "{}: calls its types {}, but types {} are given: '{}' would be taken for '{}'. The names in "
        "the file count; leave types out, or give them in the file's order",
        where, list(own), list(given), name, given[t]);
    names[t] = given[t];
  }
  return names;
}

void check_given_names(const std::string& where, const Configuration& configuration,
                       const std::vector<std::string>& given) {
  if (given.empty()) return;
  const auto used = used_types(configuration);
  for (std::size_t t = 0; t < used.size(); ++t) {
    const std::string& name = configuration.type_names[t];
    QUINTET_CHECK(!used[t] || !standard_mass(name) || contains(given, name),
                  "{}: has atoms of '{}', which is not among the types given, {}. The file names its atoms "
                  "itself; leave types out",
                  where, name, list(given));
  }
}

void check_masses(const std::string& where, const Configuration& c, const NamedMasses& given) {
  constexpr double near = 0.1, relative = 0.01;  // amu: roundings; isotopes of heavier elements
  for (std::size_t t = 0; t < c.masses.size(); ++t) {
    const std::string& name = c.type_names[t];
    const auto standard = standard_mass(name);
    if (!standard || find(given, name)) continue;
    const double mass = c.masses[t], distance = std::abs(mass - *standard);
    const auto nearest = nearest_element(mass);
    const bool of_another = nearest != name && std::abs(mass - atomic_mass(nearest)) < distance;
    if (distance <= near || (distance <= relative * *standard && !of_another)) continue;
    throw InputError(fmt::format(
        "{}: type {} is called {} and has a mass of {:g} amu, but {} weighs {:g}{}; are two types exchanged? "
        "If the mass is meant, say so: masses {{{}: {:g} u}}",
        where, t + 1, name, mass, name, *standard,
        std::abs(mass - atomic_mass(nearest)) <= near ? fmt::format(", {} is {}", mass, nearest) : "", name,
        mass));
  }
}

void set_masses(Configuration& c, const NamedMasses& given) {
  if (given.empty()) return;
  if (c.masses.empty()) {
    const auto used = used_types(c);
    for (std::size_t t = 0; t < used.size(); ++t) {
      const std::string& name = c.type_names[t];
      const auto known = standard_mass(name);
      c.masses.push_back(known ? *known : used[t] && !find(given, name) ? atomic_mass(name) : 1.0);
    }
  }
  for (std::size_t t = 0; t < c.masses.size(); ++t)
    if (const double* mass = find(given, c.type_names[t])) c.masses[t] = *mass;
}

std::optional<std::string> unlikely_mass(const NamedMasses& given) {
  constexpr double least = 0.5, most = 4.5;
  std::set<std::string> seen;
  for (const auto& [name, mass] : given) {
    if (!seen.insert(name).second) return fmt::format("the mass of {} is given twice", name);
    const auto standard = standard_mass(name);
    if (!standard || (mass >= least * *standard && mass <= most * *standard)) continue;
    return fmt::format(
        "a mass of {:g} amu for {}, whose standard mass is {:g}: no isotope of it has that, it "
        "is the mass of {}",
        mass, name, *standard, nearest_element(mass));
  }
  return std::nullopt;
}

}  // namespace quintet
