#include "physics/particles/formats/lammps/lammps_data.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/atoms/read_configuration_elements.hpp"
#include "physics/particles/formats/lammps/lammps_atom_style.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"
#include "physics/particles/formats/read_configuration_types.hpp"

namespace quintet {

namespace {

using text::shown;

std::string trimmed(std::string_view piece) {
  const auto begin = piece.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(piece.substr(begin, piece.find_last_not_of(" \t") + 1 - begin));
}

LammpsDataRow row_of(const text::LineReader& reader) {
  const std::string& line = reader.line();
  const auto hash = line.find('#');
  if (hash == std::string::npos) return {trimmed(line), "", reader.where()};
  return {trimmed(std::string_view(line).substr(0, hash)), trimmed(std::string_view(line).substr(hash + 1)),
          reader.where()};
}

/// Sections that hold nothing for a potential of atoms; each is named as not used.
const std::vector<std::string> passed_over{"Bonds",
                                           "Angles",
                                           "Dihedrals",
                                           "Impropers",
                                           "Pair Coeffs",
                                           "PairIJ Coeffs",
                                           "Bond Coeffs",
                                           "Angle Coeffs",
                                           "Dihedral Coeffs",
                                           "Improper Coeffs",
                                           "BondBond Coeffs",
                                           "BondAngle Coeffs",
                                           "MiddleBondTorsion Coeffs",
                                           "EndBondTorsion Coeffs",
                                           "AngleTorsion Coeffs",
                                           "AngleAngleTorsion Coeffs",
                                           "BondBond13 Coeffs",
                                           "AngleAngle Coeffs",
                                           "Bond Type Labels",
                                           "Angle Type Labels",
                                           "Dihedral Type Labels",
                                           "Improper Type Labels",
                                           "Atom Properties"};

/// Counts of a header that say no more than the sections they count.
const std::vector<std::string> known_counts{"bonds",
                                            "angles",
                                            "dihedrals",
                                            "impropers",
                                            "bond types",
                                            "angle types",
                                            "dihedral types",
                                            "improper types",
                                            "extra bond per atom",
                                            "extra angle per atom",
                                            "extra dihedral per atom",
                                            "extra improper per atom",
                                            "extra special per atom"};

/// Header lines that are read; what stands before their words must be numbers.
constexpr std::array box_and_counts{"atoms", "atom types", "xlo xhi", "ylo yhi", "zlo zhi", "xy xz yz"};
/// "nan 0 0 xy xz yz": such a line without its numbers is no other line.
bool ends_as_header(std::string_view text) {
  return std::any_of(box_and_counts.begin(), box_and_counts.end(),
                     [&](const char* known) { return text.ends_with(std::string(" ") + known); });
}

/// Reads a data file section by section; the sections may come in any order.
class DataReader {
 public:
  DataReader(const std::string& path, const LammpsDataOptions& options) : reader_(path), options_(options) {}

  Configuration read() {
    read_title();
    more_ = advance();
    while (more_ && !is_section_head()) read_header_line();
    QUINTET_CHECK(n_atoms_ > 0, "{}: the header has no line 'N atoms' with N of 1 or more", reader_.path());
    QUINTET_CHECK(n_types_ > 0, "{}: the header has no line 'N atom types' with N of 1 or more",
                  reader_.path());
    for (int k = 0; k < 3; ++k)
      QUINTET_CHECK(bounds_[k], "{}: the header has no line '{}lo {}hi'", reader_.path(), "xyz"[k], "xyz"[k]);
    while (more_) read_section();
    finish();
    return std::move(result_);
  }

 private:
  /// A word and no number: rows of a section hold one, also those that begin with a type's label.
  [[nodiscard]] bool is_section_head() const {
    if (!std::isalpha(static_cast<unsigned char>(row_.text[0])) || ends_as_header(row_.text)) return false;
    const auto tokens = text::split(row_.text);
    return std::none_of(tokens.begin(), tokens.end(), [](std::string_view token) {
      return std::isdigit(static_cast<unsigned char>(token[0])) ||
             (token.size() > 1 && std::string_view("+-.").find(token[0]) != std::string_view::npos &&
              std::isdigit(static_cast<unsigned char>(token[1])));
    });
  }

  bool advance() {
    while (reader_.next_filled()) {
      row_ = row_of(reader_);
      if (!row_.text.empty()) return true;
    }
    return false;
  }

  /// The first line is a title; write_data puts the units there.
  void read_title() {
    QUINTET_CHECK(reader_.next(), "{}: the file is empty", reader_.path());
    const std::string title = reader_.line();
    const auto at = title.find("units = ");
    if (at == std::string::npos) return;
    const auto pieces = text::split(std::string_view(title).substr(at + 8), " \t,");
    QUINTET_CHECK(!pieces.empty() && pieces[0] == "metal",
                  "{}: the file is in LAMMPS units {}, only metal (angstrom, ps, "
                  "eV, amu) is read",
                  reader_.where(), shown(pieces.empty() ? "" : pieces[0]));
  }

  // Words after the values are the keyword, as `4 atoms` or `0 1 xlo xhi`; LAMMPS knows no other order.
  void read_header_line() {
    const auto tokens = text::split(row_.text);
    std::string keyword;
    std::vector<std::string_view> values;
    for (const auto token : tokens) {
      if (keyword.empty() && !std::isalpha(static_cast<unsigned char>(token[0])))
        values.push_back(token);
      else
        keyword.append(keyword.empty() ? "" : " ").append(token);
    }
    if (keyword == "atoms")
      n_atoms_ = count(values);
    else if (keyword == "atom types")
      n_types_ = count(values);
    else if (keyword == "xlo xhi")
      bounds_[0] = bounds(values);
    else if (keyword == "ylo yhi")
      bounds_[1] = bounds(values);
    else if (keyword == "zlo zhi")
      bounds_[2] = bounds(values);
    else if (keyword == "xy xz yz") {
      expect(values, 3);
      tilt_ = text::to_vec3(values.data(), row_.where, keyword);
    } else {
      QUINTET_CHECK(keyword != "avec" && keyword != "bvec" && keyword != "cvec" && keyword != "abc origin",
                    "{}: general triclinic cells ({}) are not read; write the file with LAMMPS's restricted "
                    "cell (write_data "
                    "without 'triclinic/general')",
                    row_.where, keyword);
      QUINTET_CHECK(!keyword.empty() && !ends_as_header(keyword),
                    "{}: {} is no header line of a LAMMPS data file", row_.where, shown(row_.text));
      if (std::find(known_counts.begin(), known_counts.end(), keyword) == known_counts.end())
        result_.reading.leave(fmt::format("header line '{}'", keyword));
    }
    more_ = advance();
  }

  void expect(const std::vector<std::string_view>& values, std::size_t n) const {
    QUINTET_CHECK(values.size() == n, "{}: {} has {} numbers, expected {}", row_.where, shown(row_.text),
                  values.size(), n);
  }

  std::int64_t count(const std::vector<std::string_view>& values) const {
    expect(values, 1);
    const std::int64_t n = text::to_integer(values[0], row_.where, "a count");
    QUINTET_CHECK(n >= 1 && static_cast<std::uint64_t>(n) <= reader_.bytes(),
                  "{}: {} cannot be true of a file of {} bytes; expected 1 or more", row_.where,
                  shown(row_.text), reader_.bytes());
    return n;
  }

  std::array<double, 2> bounds(const std::vector<std::string_view>& values) const {
    expect(values, 2);
    const std::array<double, 2> result{text::to_double(values[0], row_.where, "a bound"),
                                       text::to_double(values[1], row_.where, "a bound")};
    QUINTET_CHECK(result[0] < result[1], "{}: the box is empty or inverted: {}", row_.where,
                  shown(row_.text));
    return result;
  }

  void read_section() {
    const LammpsDataRow head = row_;
    if (head.text == "Atoms") {
      style_hint_ = head.comment;
      atom_rows_ = rows("Atoms", n_atoms_);
    } else if (head.text == "Velocities")
      velocity_rows_ = rows("Velocities", n_atoms_);
    else if (head.text == "Masses")
      mass_rows_ = rows("Masses", n_types_);
    else if (head.text == "Atom Type Labels")
      read_labels(rows("Atom Type Labels", n_types_));
    else {
      QUINTET_CHECK(
          std::find(passed_over.begin(), passed_over.end(), head.text) != passed_over.end(),
          "{}: {} is no section that is read; expected Masses, Atom Type Labels, Atoms or Velocities",
          head.where, shown(head.text));
      result_.reading.leave("section " + head.text);
      while ((more_ = advance()) && !is_section_head()) {
      }
    }
  }

  std::vector<LammpsDataRow> rows(const std::string& section, std::int64_t n) {
    std::vector<LammpsDataRow> result;
    while ((more_ = advance()) && std::ssize(result) < n) {
      QUINTET_CHECK(!is_section_head(), "{}: section {} ends after {} of {} rows", row_.where, section,
                    result.size(), n);
      result.push_back(row_);
    }
    QUINTET_CHECK(std::ssize(result) == n, "{}: the file ends after {} of {} rows of section {}",
                  reader_.where(), result.size(), n, section);
    QUINTET_CHECK(!more_ || is_section_head(),
                  "{}: section {} has more than the {} rows that the header says", row_.where, section, n);
    return result;
  }

  /// A type of a row: its number, or a label; from 0.
  int type_of(std::string_view token, const LammpsDataRow& row) const {
    if (!text::is_integer(token)) {
      const auto label = std::find(labels_.begin(), labels_.end(), token);
      QUINTET_CHECK(label != labels_.end(),
                    "{}: atom type {} is neither a number nor in section Atom Type Labels", row.where,
                    shown(token));
      return label - labels_.begin();
    }
    const std::int64_t type = text::to_integer(token, row.where, "the atom type");
    QUINTET_CHECK(type >= 1 && type <= n_types_, "{}: atom type is {}, expected 1 to {}", row.where, type,
                  n_types_);
    return type - 1;
  }

  void read_labels(const std::vector<LammpsDataRow>& label_rows) {
    labels_.assign(n_types_, "");
    for (const LammpsDataRow& row : label_rows) {
      const auto tokens = text::split(row.text);
      QUINTET_CHECK(tokens.size() == 2, "{}: {} is no type label, expected a number and a name", row.where,
                    shown(row.text));
      QUINTET_CHECK(text::is_integer(tokens[0]), "{}: the type of label {} is not a number", row.where,
                    shown(row.text));
      labels_[type_of(tokens[0], row)] = tokens[1];
    }
  }

  void read_masses() {
    std::vector<std::string> comments(n_types_);
    if (!mass_rows_.empty()) result_.masses.assign(n_types_, 0);
    for (const LammpsDataRow& row : mass_rows_) {
      const auto tokens = text::split(row.text);
      QUINTET_CHECK(tokens.size() == 2, "{}: {} is no mass, expected a type and a number", row.where,
                    shown(row.text));
      const int type = type_of(tokens[0], row);
      const double mass = text::to_double(tokens[1], row.where, "the mass");
      QUINTET_CHECK(mass > 0, "{}: the mass of type {} is {}, expected a positive number of amu", row.where,
                    type + 1, mass);
      result_.masses[type] = mass;
      const auto words = text::split(row.comment);
      if (!words.empty()) comments[type] = words[0];
    }
    for (std::size_t t = 0; t < result_.masses.size(); ++t)
      QUINTET_CHECK(result_.masses[t] > 0, "{}: section Masses has no mass for type {}", reader_.path(),
                    t + 1);
    name_types(comments);
  }

  void name_types(const std::vector<std::string>& comments) {
    const std::size_t n = n_types_;
    QUINTET_CHECK(options_.type_names.empty() || options_.type_names.size() == n,
                  "{}: the file has {} atom types, but {} type names were given ({})", reader_.path(),
                  n_types_, options_.type_names.size(), fmt::join(options_.type_names, ", "));
    auto& names = result_.type_names;
    const bool labelled = !labels_.empty(), given = !options_.type_names.empty();
    const auto commented = std::any_of(comments.begin(), comments.end(), [](auto& c) { return !c.empty(); });
    if (labelled) {
      names = agreed_names(reader_.path(), labels_, options_.type_names);
    } else if (given) {  // a comment is a remark, which need not be a name at all
      names = options_.type_names;
      for (std::size_t t = 0; t < n; ++t)
        if (!comments[t].empty() && standard_mass(comments[t]) && comments[t] != names[t])
          result_.reading.assume(
              fmt::format("type {} is {} as given, not {} as a comment says", t + 1, names[t], comments[t]));
    } else {
      names = comments;
    }
    for (std::size_t t = 0; t < n; ++t)
      if (names[t].empty()) names[t] = name_by_mass(t);
    for (std::size_t t = 0; t < n; ++t)
      for (std::size_t other = 0; other < t && !by_mass_.empty(); ++other)
        QUINTET_CHECK(
            names[t] != names[other] || !is_by_mass(t),
            "{}: types {} and {} would both be {} by their masses ({:g} and {:g} amu); give types, a list "
            "of {} names",
            reader_.path(), other + 1, t + 1, names[t], result_.masses[other], result_.masses[t], n_types_);
    if (given && std::all_of(result_.masses.begin(), result_.masses.end(), [](double m) { return m == 1; }) &&
        !result_.masses.empty()) {
      result_.masses.clear();  // of the elements' names
      result_.reading.assume("standard masses, as all in the file are 1 amu");
    }
    const bool by_comment = commented && !labelled && !given;
    if (by_comment || !by_mass_.empty())
      result_.reading.assume(fmt::format("types {} by {}", fmt::join(names, " "),
                                         !by_comment        ? "mass"
                                         : by_mass_.empty() ? "comments of Masses"
                                                            : "comments of Masses and by mass"));
  }

  [[nodiscard]] bool is_by_mass(std::size_t t) const {
    return std::find(by_mass_.begin(), by_mass_.end(), t) != by_mass_.end();
  }

  /// The element of a type that nothing names.
  std::string name_by_mass(std::size_t t) {
    constexpr double no_mass = 1;  // what is written where units have no masses
    const bool known = !result_.masses.empty();
    const auto element = known ? element_of_mass(result_.masses[t]) : std::nullopt;
    QUINTET_CHECK(element && result_.masses[t] != no_mass,
                  "{}: atom type {} has no name: {}; give types, a list of {} element symbols",
                  reader_.path(), t + 1,
                  !known    ? "there is neither a section Masses nor Atom Type Labels"
                  : element ? "a mass of 1 amu is no element's, but what files have that know no masses"
                            : fmt::format("no element has mass {} amu within 0.1", result_.masses[t]),
                  n_types_);
    by_mass_.push_back(t);
    return *element;
  }

  void read_atoms() {
    QUINTET_CHECK(!atom_rows_.empty(), "{}: the file has no section Atoms", reader_.path());
    const LammpsAtomStyle& columns =
        options_.atom_style.empty()
            ? lammps_atom_style(style_hint_, atom_rows_, reader_.path(), result_.reading)
            : lammps_atom_style(options_.atom_style, reader_.path());
    if (columns.name == "charge" || columns.name == "full") result_.reading.leave("charges");
    if (columns.name != "atomic" && columns.name != "charge") result_.reading.leave("molecule numbers");
    for (std::size_t i = 0; i < atom_rows_.size(); ++i) {
      const LammpsDataRow& row = atom_rows_[i];
      const auto tokens = text::split(row.text);
      const bool has_images = tokens.size() == columns.n_columns() + 3;
      QUINTET_CHECK(has_images || tokens.size() == columns.n_columns(),
                    "{}: an atom of style {} has {} columns, expected {} "
                    "or, with image flags, {}",
                    row.where, columns.name, tokens.size(), columns.n_columns(), columns.n_columns() + 3);
      const std::int64_t id = text::to_integer(tokens[0], row.where, "the atom id");
      QUINTET_CHECK(id >= 1, "{}: the atom id is {}, expected 1 or more", row.where, id);
      QUINTET_CHECK(index_of_.try_emplace(id, i).second, "{}: atom id {} is there twice", row.where, id);
      result_.ids.push_back(id);
      result_.types.push_back(type_of(tokens[columns.type], row));
      Vec3 x = text::to_vec3(&tokens[columns.position], row.where, "the position");
      if (has_images) add_images(x, &tokens[columns.position + 3], row.where);
      result_.positions.push_back(x);
    }
  }

  /// unwrapped = position + image * rows
  void add_images(Vec3& x, const std::string_view* tokens, const std::string& where) const {
    for (int r = 0; r < 3; ++r) {
      const double image = text::to_integer(tokens[r], where, "an image flag");
      for (int k = 0; k < 3; ++k) x[k] += image * rows_[3 * r + k];
    }
  }

  void read_velocities() {
    if (velocity_rows_.empty()) return;
    std::vector<bool> seen(result_.n_atoms(), false);
    result_.velocities.resize(result_.n_atoms());
    for (const LammpsDataRow& row : velocity_rows_) {
      const auto tokens = text::split(row.text);
      QUINTET_CHECK(tokens.size() == 4, "{}: {} is no velocity, expected an id and three numbers", row.where,
                    shown(row.text));
      const auto atom = index_of_.find(text::to_integer(tokens[0], row.where, "the atom id"));
      QUINTET_CHECK(atom != index_of_.end(),
                    "{}: a velocity is given for atom {}, which is not in section Atoms", row.where,
                    shown(tokens[0]));
      QUINTET_CHECK(!seen[atom->second], "{}: atom {} has two velocities", row.where, atom->first);
      seen[atom->second] = true;
      result_.velocities[atom->second] = text::to_vec3(&tokens[1], row.where, "the velocity");
    }
  }

  void finish() {
    Vec3 origin;
    for (int k = 0; k < 3; ++k) {
      origin[k] = (*bounds_[k])[0];
      rows_[4 * k] = (*bounds_[k])[1] - (*bounds_[k])[0];
    }
    rows_[3] = tilt_[0];
    rows_[6] = tilt_[1];
    rows_[7] = tilt_[2];
    read_masses();
    read_atoms();
    read_velocities();
    if (!options_.periodic) assume_boundaries(origin);
    result_.box = box_from_file(rows_, options_.periodic.value_or(std::array{true, true, true}), origin,
                                result_.positions, reader_.path(), &result_.reading);
  }

  /// Say that all directions are taken as periodic, and where the box looks as if LAMMPS had shrunk it to the
  /// atoms, as an open boundary ("s") does.
  void assume_boundaries(const Vec3& origin) {
    result_.reading.assume(
        "periodic in x y z (a LAMMPS data file does not say; system.periodic or --periodic changes it)");
    constexpr double near = 2e-4;  // (angstrom); LAMMPS leaves 1e-4 between atoms and box
    std::string shrunk;
    for (int k = 0; k < 3; ++k) {
      double low = result_.positions[0][k], high = low;
      for (const Vec3& x : result_.positions) {
        low = std::min(low, x[k]);
        high = std::max(high, x[k]);
      }
      const bool orthogonal = tilt_ == Vec3{0, 0, 0};
      const double below = low - origin[k], above = origin[k] + rows_[4 * k] - high;
      if (orthogonal && below >= 0 && below < near && above >= 0 && above < near)
        shrunk += fmt::format(" {}", "xyz"[k]);
    }
    if (!shrunk.empty())
      result_.reading.assume(fmt::format(
          "the box ends at the outermost atoms along{}, as LAMMPS's boundary 's' makes it: if that "
          "is open, say so with periodic",
          shrunk));
  }

  text::LineReader reader_;
  LammpsDataOptions options_;
  LammpsDataRow row_;  // the current line that is neither blank nor comment only
  bool more_ = false;
  std::int64_t n_atoms_ = 0;
  int n_types_ = 0;
  std::array<std::optional<std::array<double, 2>>, 3> bounds_;
  Vec3 tilt_{0, 0, 0};
  Mat3 rows_{};
  std::string style_hint_;
  std::vector<std::string> labels_;
  std::vector<std::size_t> by_mass_;  // types that their mass names
  std::vector<LammpsDataRow> atom_rows_, velocity_rows_, mass_rows_;
  std::unordered_map<std::int64_t, std::size_t> index_of_;
  Configuration result_;
};

}  // namespace

Configuration read_lammps_data(const std::string& path, const LammpsDataOptions& options) {
  return DataReader(path, options).read();
}

}  // namespace quintet
