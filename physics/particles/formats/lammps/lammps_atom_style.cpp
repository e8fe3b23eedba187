#include "physics/particles/formats/lammps/lammps_atom_style.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet {

namespace {

using text::shown;

const std::vector<LammpsAtomStyle> styles{{"atomic", 1, 2}, {"charge", 1, 3}, {"molecular", 2, 3},
                                          {"bond", 2, 3},   {"angle", 2, 3},  {"full", 2, 4}};

/// Styles of LAMMPS with other columns, which are refused by name. Source: LAMMPS manual, atom_style.
const std::vector<std::string> other_styles{
    "amoeba",    "body",   "bpm/sphere", "dielectric", "dipole",   "dpd",  "edpd", "electron",
    "ellipsoid", "hybrid", "line",       "mdpd",       "oxdna",    "peri", "rheo", "rheo/thermal",
    "smd",       "sph",    "sphere",     "spin",       "template", "tdpd", "tri",  "wavepacket"};
/// Source: LAMMPS manual, units.
const std::vector<std::string> other_units{"lj", "real", "si", "cgs", "micro", "nano"};

/// By the number of columns; charge and molecular differ in the third, which is a charge or again an
/// integer type.
const LammpsAtomStyle& guessed_style(const std::vector<LammpsDataRow>& rows) {
  const LammpsDataRow& first = rows.front();
  const std::size_t n = text::split(first.text).size();
  if (n == 5 || n == 8) return lammps_atom_style("atomic", first.where);
  if (n == 7 || n == 10) return lammps_atom_style("full", first.where);
  QUINTET_CHECK(n == 6 || n == 9,
                "{}: an atom has {} columns, which fits none of the styles atomic, charge, molecular and "
                "full; write the style behind the section's name, as in 'Atoms # atomic'",
                first.where, n);
  for (const LammpsDataRow& row : rows) {
    const auto tokens = text::split(row.text);
    if (tokens.size() < 3 || !text::is_integer(tokens[2]) || tokens[2] == "0")
      return lammps_atom_style("charge", row.where);
  }
  QUINTET_CHECK(
      false,
      "{}: the atoms may be of style charge or molecular; write the style behind the section's name, as in "
      "'Atoms # charge'",
      first.where);
  return styles.front();
}

}  // namespace

const LammpsAtomStyle& lammps_atom_style(const std::string& name, const std::string& where) {
  const auto found = std::find_if(styles.begin(), styles.end(),
                                  [&](const LammpsAtomStyle& style) { return style.name == name; });
  QUINTET_CHECK(found != styles.end(),
                "{}: atom style {} is not read; expected atomic, charge, bond, angle, molecular or "
                "full (in LAMMPS: atom_style atomic, then read_data and write_data)",
                where, shown(name));
  return *found;
}

const LammpsAtomStyle& lammps_atom_style(const std::string& hint, const std::vector<LammpsDataRow>& rows,
                                         const std::string& path, Reading& reading) {
  const auto words = text::split(hint);
  const std::string word(words.empty() ? "" : words[0]);
  const auto is_one_of = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), word) != names.end();
  };
  QUINTET_CHECK(
      !is_one_of(other_units),
      "{}: 'Atoms # {}' says that the file is in LAMMPS units {}; only metal (angstrom, ps, eV, amu) "
      "is read",
      path, hint, word);
  const auto is_style = [&](const LammpsAtomStyle& style) { return style.name == word; };
  if (std::any_of(styles.begin(), styles.end(), is_style) || is_one_of(other_styles))
    return lammps_atom_style(word, path);
  const LammpsAtomStyle& guessed = guessed_style(rows);
  reading.assume(fmt::format("atom style {} by the columns", guessed.name));
  return guessed;  // any other word is a remark, "metal" of DeePMD-kit's example among them
}

}  // namespace quintet
