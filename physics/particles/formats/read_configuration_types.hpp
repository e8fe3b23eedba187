#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"

/// Element and mass of a type in a file: one rule for all formats.
///
/// What the file itself says counts. Names that the user gives (`system.types`, `--types`) fill in what it
/// leaves open and must not contradict it. A type's name and its mass in the file must be of one element,
/// unless the user gives the mass by name (`system.masses`, `--masses`).
namespace quintet {

/// Masses by the names of types (amu), as the user gives them.
using NamedMasses = std::vector<std::pair<std::string, double>>;

/// Names of numbered types: the file's own, "" where it has none, and those given, in the order of the
/// numbers.
///
/// Where both name a type, they must agree. A word of the file that is neither an element nor one of the
/// given names ("TYPE_0", "OW") names nothing and gives way. Throws InputError naming `where`.
/// @param own as many as the file knows types; given: none, or perhaps of another number.
[[nodiscard]] std::vector<std::string> agreed_names(const std::string& where,
                                                    const std::vector<std::string>& own,
                                                    const std::vector<std::string>& given);
/// For files that name every atom, and so have no numbers that names could be given to: every element that
/// their atoms have must be among the names given, if any are. Throws InputError naming `where`.
void check_given_names(const std::string& where, const Configuration& configuration,
                       const std::vector<std::string>& given);
/// Refuse masses of a file that are not of the element by whose name the file or the user calls the type:
/// more than 0.1 amu and 1 % from its standard mass, or nearer to that of another element. Types that are not
/// elements, or have a mass in `given`, may have any mass. Throws InputError naming `where`.
void check_masses(const std::string& where, const Configuration& configuration, const NamedMasses& given);
/// Put the given masses in place of the configuration's. Throws InputError for a type of unknown mass.
void set_masses(Configuration& configuration, const NamedMasses& given);
/// Error message for given masses themselves; nothing if all are likely. Refused are a name twice, or a mass
/// below half or above four and a half times the standard one (isotopes, and masses that slow vibrations, are
/// within).
[[nodiscard]] std::optional<std::string> unlikely_mass(const NamedMasses& given);

}  // namespace quintet
