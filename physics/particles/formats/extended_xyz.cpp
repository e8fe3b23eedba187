#include "physics/particles/formats/extended_xyz.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/ranges.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/atoms/read_configuration_elements.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet {

namespace {

using text::shown;

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// One value of a comment line, from `at` on: bare, in quotes, or in brackets; `at` moves behind it.
std::string comment_value(const std::string& line, std::size_t& at, const std::string& where) {
  static const std::map<char, char> closings{{'"', '"'}, {'\'', '\''}, {'{', '}'}, {'[', ']'}};
  const auto closing = at < line.size() ? closings.find(line[at]) : closings.end();
  if (closing == closings.end()) {
    const std::size_t begin = at;
    at = std::min(line.find_first_of(" \t", at), line.size());
    return line.substr(begin, at - begin);
  }
  const char open = closing->first, close = closing->second;
  std::string value;
  int depth = 1;
  for (std::size_t i = at + 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      value += line[++i];
      continue;
    }
    if (line[i] == close)
      --depth;
    else if (line[i] == open)
      ++depth;
    if (depth == 0) {
      at = i + 1;
      return value;
    }
    value += line[i];
  }
  throw InputError(
      fmt::format("{}: the {} in column {} of the comment line is never closed", where, open, at + 1));
}

/// The key=value pairs of a comment line; a word without '=' is a key with value "T".
Comment parse_comment(const std::string& line, const std::string& where) {
  Comment values;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t", at)) != std::string::npos) {
    std::string key;
    if (line[at] == '"') {
      key = comment_value(line, at, where);
    } else {
      const std::size_t begin = at;
      at = std::min(line.find_first_of("= \t", at), line.size());
      key = line.substr(begin, at - begin);
    }
    std::string value = "T";
    if (at < line.size() && line[at] == '=') value = comment_value(line, ++at, where);
    values[lower(key)] = {key, value};
  }
  return values;
}

/// Where a column group of an atom's line begins, and how wide it is.
struct Column {
  std::string name, written;  ///< in lower case, as the file has it
  char kind;
  int begin, width;
};

constexpr int most_columns = 10000;  ///< of an atom's line

std::vector<Column> parse_properties(const std::string& text, const std::string& where) {
  const auto pieces = text::split(text, ":");
  QUINTET_CHECK(!pieces.empty() && pieces.size() % 3 == 0,
                "{}: Properties is {}, expected triples name:type:columns such as species:S:1:pos:R:3", where,
                shown(text));
  std::vector<Column> columns;
  int begin = 0;
  for (std::size_t i = 0; i < pieces.size(); i += 3) {
    const std::int64_t width = text::to_integer(pieces[i + 2], where, "the number of columns in Properties");
    QUINTET_CHECK(pieces[i + 1].size() == 1 &&
                      std::string_view("SRIL").find(pieces[i + 1][0]) != std::string_view::npos,
                  "{}: property {} has type {}, expected S, R, I or L", where, shown(pieces[i]),
                  shown(pieces[i + 1]));
    QUINTET_CHECK(width >= 1 && width <= 1000, "{}: property {} has {} columns, expected 1 to 1000", where,
                  shown(pieces[i]), width);
    columns.push_back(
        {lower(pieces[i]), std::string(pieces[i]), pieces[i + 1][0], begin, static_cast<int>(width)});
    begin += width;
    QUINTET_CHECK(begin <= most_columns, "{}: Properties names more than {} columns", where, most_columns);
  }
  return columns;
}

/// The columns of an atom's line and those of them that are read.
class Layout {
 public:
  int species, position, id, velocity, momentum, mass;  ///< -1 if absent
  bool velocity_unit_known = true;                      ///< false: found out by size
  std::string velocity_name;
  std::size_t n_columns;

  Layout(const std::string& properties, std::string where)
      : columns_(parse_properties(properties, where)), where_(std::move(where)) {
    species = find({"species", "element"}, 1, "S");
    position = find({"pos", "positions"}, 3, "RI");
    id = find({"id", "ids"}, 1, "I");
    velocity = find({"velocities"}, 3, "R");
    momentum = find({"momenta"}, 3, "R");
    for (const char* name : {"velo", "vel", "velocity", "vels"}) {
      if (velocity >= 0 || momentum >= 0) break;
      velocity = find({name}, 3, "R");
      velocity_unit_known = velocity < 0;
      velocity_name = name;
    }
    mass = find({"mass", "masses"}, 1, "RI");
    n_columns = columns_.back().begin + columns_.back().width;
    QUINTET_CHECK(species >= 0 && position >= 0, "{}: Properties {} lacks {}", where_, shown(properties),
                  species < 0 ? "species:S:1" : "pos:R:3");
  }

  /// First of the named columns, checked; -1 if none is there or the name is "".
  int find(const std::vector<std::string>& names, int width, const std::string& kinds) {
    for (const std::string& name : names) {
      const auto column =
          std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
      if (column == columns_.end()) continue;
      QUINTET_CHECK(column->width == width && kinds.find(column->kind) != std::string::npos,
                    "{}: property {} is {}:{}, expected {}:{}", where_, name, column->kind, column->width,
                    kinds[0], width);
      used_.insert(name);
      return column->begin;
    }
    return -1;
  }

  /// Columns of a property; 0: it is not there.
  [[nodiscard]] int width_of(const std::string& name) const {
    for (const auto& column : columns_)
      if (column.name == name) return column.width;
    return 0;
  }
  [[nodiscard]] ColumnNames names() const {
    ColumnNames names;
    for (const auto& column : columns_) names[column.name] = column.written;
    return names;
  }
  void name_unused(Reading& reading) const {
    for (const auto& column : columns_)
      if (!used_.contains(column.name)) reading.leave("column " + column.written);
  }

 private:
  std::vector<Column> columns_;
  std::string where_;
  std::set<std::string> used_;
};

std::array<bool, 3> flags(const std::string& value, const std::string& where) {
  const auto pieces = text::split(value, " \t,[]");
  QUINTET_CHECK(pieces.size() == 3, "{}: pbc is {}, expected three of T and F", where, shown(value));
  std::array<bool, 3> result{};
  for (int k = 0; k < 3; ++k) {
    const std::string flag = lower(pieces[k]);
    result[k] = flag == "t" || flag == "true" || flag == "1";
    QUINTET_CHECK(result[k] || flag == "f" || flag == "false" || flag == "0",
                  "{}: pbc is {}, expected three of T and F", where, shown(value));
  }
  return result;
}

/// Reads the frame at the reader's place.
class FrameReader {
 public:
  FrameReader(text::LineReader& reader, std::int64_t n_atoms, const ExtendedXyzInput& input)
      : reader_(reader), n_atoms_(n_atoms), input_(input) {}

  Configuration read() {
    QUINTET_CHECK(reader_.next(), "{}: the file ends before the comment line of a frame of {}",
                  reader_.where(), counted(n_atoms_, "atom"));
    where_ = reader_.where();
    comment_ = parse_comment(reader_.line(), where_);
    Layout layout(value("properties").value_or("species:S:1:pos:R:3"), where_);
    LabelNames labels;
    if (input_.labels.use != LabelSource::Use::none)
      if_not_doubtful([&] {
        labels = choose_labels(comment_, layout.names(), input_.labels, n_atoms_, where_, reading());
      });
    force_ = layout.find({labels.forces}, 3, "R");
    other_force_ = layout.find({labels.other_forces}, 3, "R");
    n_parameters_ =
        input_.n_atom_parameters == any_number ? layout.width_of("aparam") : input_.n_atom_parameters;
    if (n_parameters_ > 0) parameter_ = layout.find({"aparam"}, n_parameters_, "RI");
    read_atoms(layout);
    if (!layout.velocity_unit_known) find_velocity_unit(layout.velocity_name);
    if (layout.momentum >= 0) use_momenta();
    read_box();
    if (const auto energy = value(labels.energy)) result_.energy = text::to_double(*energy, where_, "energy");
    if_not_doubtful(
        [&] { result_.virial = virial_of(comment_, labels, result_.box, input_.labels, where_, reading()); });
    name_unused(layout, labels);
    return std::move(result_);
  }

 private:
  [[nodiscard]] Reading& reading() { return result_.reading; }
  /// Do what labels need; where they are only compared, doubt about them is told and does not stop anything.
  template <class Action>
  void if_not_doubtful(Action&& action) {
    try {
      action();
    } catch (const InputError& error) {
      if (input_.labels.use == LabelSource::Use::learn) throw;
      reading().leave(fmt::format("labels ({})", error.what()));
    }
  }

  [[nodiscard]] std::optional<std::string> value(const std::string& key) const {
    const auto found = key.empty() ? comment_.end() : comment_.find(key);
    return found == comment_.end() ? std::optional<std::string>() : found->second.value;
  }

  void name_unused(const Layout& layout, const LabelNames& labels) {
    layout.name_unused(reading());
    const std::set<std::string> used{"properties",  "lattice",     "pbc",        "origin",
                                     labels.energy, labels.virial, labels.stress};
    for (const auto& [key, value] : comment_)
      if (!used.contains(key) && value.name.find_first_of("\r\n") == std::string::npos)
        reading().leave("key " + value.name);
  }

  void read_box() {
    const auto lattice = value("lattice"), pbc = value("pbc"), origin = value("origin");
    const Mat3 rows = lattice ? nine_numbers(*lattice, where_, "Lattice") : Mat3{};
    const bool given = rows != Mat3{};
    std::array<bool, 3> periodic{given, given, given};
    if (pbc) {
      periodic = flags(*pbc, where_);
      QUINTET_CHECK(!input_.periodic || *input_.periodic == periodic,
                    "{}: pbc is {}, but periodic is given as {}; leave it out, the file says it itself",
                    where_, shown(*pbc), fmt::join(*input_.periodic, " "));
    } else if (input_.periodic) {
      periodic = *input_.periodic;
    } else {
      reading().assume(
          given ? "periodic in x y z (a Lattice and no pbc; system.periodic or --periodic changes it)"
                : "open in x y z (no Lattice)");
    }
    Vec3 start{0, 0, 0};
    if (origin) {
      const auto values = numbers_of(*origin, where_, "Origin");
      QUINTET_CHECK(values.size() == 3, "{}: Origin has {} numbers, expected 3", where_, values.size());
      std::copy(values.begin(), values.end(), start.begin());
    }
    result_.box = box_from_file(rows, periodic, start, result_.positions, where_, &reading());
  }

  /// Programs write velocities in angstrom/fs (GPUMD, QUIP) and angstrom/ps (LAMMPS) under one name. The
  /// temperatures that follow differ by 1e6, and matter is found between 0.3 and 3e5 K.
  void find_velocity_unit(const std::string& name) {
    constexpr double coldest = 0.3, hottest = 3e5, usual_mass = 30, per_fs = 1e3;  // (K), (amu)
    double mv2 = 0;
    for (std::size_t i = 0; i < result_.n_atoms(); ++i) {
      const std::size_t type = result_.types[i];
      const double mass = type < result_.masses.size()
                              ? result_.masses[type]
                              : standard_mass(result_.type_names[type]).value_or(usual_mass);
      for (const double v : result_.velocities[i]) mv2 += mass * v * v;
    }
    const double kelvin = mv2 * units::mv2_to_ev / (3 * double(result_.n_atoms()) * units::boltzmann);
    if (kelvin == 0 || (kelvin >= coldest && kelvin < hottest)) {
      reading().assume(fmt::format("column {} in angstrom/ps ({:.4g} K)", name, kelvin));
      return;
    }
    const double in_fs = kelvin * per_fs * per_fs;
    QUINTET_CHECK(
        in_fs >= coldest && in_fs < hottest,
        "{}: column {} is of {:.3g} K in angstrom/ps and of {:.3g} K in angstrom/fs; call it velocities "
        "(angstrom/ps) or momenta (ASE's unit)",
        where_, name, kelvin, in_fs);
    reading().assume(
        fmt::format("column {} in angstrom/fs ({:.4g} K; in angstrom/ps {:.2g} K)", name, in_fs, kelvin));
    for (Vec3& v : result_.velocities)
      for (double& component : v) component *= per_fs;
  }

  void read_atoms(const Layout& layout) {
    for (std::int64_t i = 0; i < n_atoms_; ++i) {
      QUINTET_CHECK(reader_.next(), "{}: the file ends after {} of {} atoms of a frame", reader_.where(), i,
                    n_atoms_);
      const auto tokens = text::split(reader_.line());
      QUINTET_CHECK(tokens.size() >= layout.n_columns,
                    "{}: the line of atom {} of {} has {} columns, expected {}", reader_.where(), i + 1,
                    n_atoms_, tokens.size(), layout.n_columns);
      if (tokens.size() > layout.n_columns) reading().leave("columns behind the last one");
      read_atom(layout, tokens, reader_.where());
    }
    for (std::size_t t = 0; t < result_.masses.size(); ++t)
      QUINTET_CHECK(result_.masses[t] > 0,
                    "{}: atoms of type {} have mass {}, expected a positive number of amu", reader_.path(),
                    result_.type_names[t], result_.masses[t]);
  }

  void read_atom(const Layout& layout, const std::vector<std::string_view>& tokens,
                 const std::string& where) {
    const int type = type_of(tokens[layout.species]);
    result_.types.push_back(type);
    result_.positions.push_back(text::to_vec3(&tokens[layout.position], where, "pos"));
    if (layout.id >= 0) {
      const std::int64_t id = text::to_integer(tokens[layout.id], where, "id");
      QUINTET_CHECK(id >= 1, "{}: id is {}, expected 1 or more", where, id);
      result_.ids.push_back(id);
    }
    if (force_ >= 0) result_.forces.push_back(text::to_vec3(&tokens[force_], where, "forces"));
    if (other_force_ >= 0)
      QUINTET_CHECK(
          text::to_vec3(&tokens[other_force_], where, "forces") == result_.forces.back(),
          "{}: two sources of labels have other forces on this atom; choose one: data.labels.prefix or "
          "--labels",
          where);
    if (layout.velocity >= 0)
      result_.velocities.push_back(text::to_vec3(&tokens[layout.velocity], where, "velocities"));
    for (int k = 0; parameter_ >= 0 && k < n_parameters_; ++k)
      result_.parameters.push_back(text::to_double(tokens[parameter_ + k], where, "aparam"));
    if (layout.mass >= 0) note_mass(type, text::to_double(tokens[layout.mass], where, "mass"), where);
    if (layout.momentum >= 0) momenta_.push_back(text::to_vec3(&tokens[layout.momentum], where, "momenta"));
  }

  /// Velocities from the momenta; where the file has both, they must say the same: what is changed in ASE are
  /// the momenta, and columns that it does not know stay as they were.
  void use_momenta() {
    constexpr double same = 1e-6;
    double apart = 0, largest = 0;
    const bool both = !result_.velocities.empty();
    const auto& names = result_.type_names;
    if (both && result_.masses.empty() &&
        !std::all_of(names.begin(), names.end(), [](const auto& name) { return standard_mass(name); }))
      return reading().leave("column momenta (a type's mass is not known)");
    result_.velocities.resize(momenta_.size());
    for (std::size_t i = 0; i < momenta_.size(); ++i) {
      const auto type = result_.types[i];
      // v = p/m; ASE's unit of time is angstrom sqrt(amu/eV), and v in angstrom/ps is that times
      // 1/sqrt(mv2_to_ev).
      const double mass =
          result_.masses.empty() ? atomic_mass(result_.type_names[type]) : result_.masses[type];
      for (int k = 0; k < 3; ++k) {
        const double v = momenta_[i][k] / (mass * std::sqrt(units::mv2_to_ev));
        double& kept = result_.velocities[i][k];
        if (!both) kept = v;
        apart = std::max(apart, std::abs(v - kept));
        largest = std::max({largest, std::abs(v), std::abs(kept)});
      }
    }
    if (apart <= same * largest) return;
    QUINTET_CHECK(
        input_.labels.use != LabelSource::Use::none,
        "{}: velocities and momenta contradict one another, by up to {:.3g} angstrom/ps; remove one "
        "of the columns",
        where_, apart);
    result_.velocities.clear();
    reading().leave("velocities and momenta, which contradict one another");
  }

  int type_of(std::string_view name) {
    const auto [place, is_new] = types_.try_emplace(std::string(name), static_cast<int>(types_.size()));
    if (is_new) result_.type_names.emplace_back(name);
    return place->second;
  }

  void note_mass(int type, double mass, const std::string& where) {
    auto& masses = result_.masses;
    if (type == std::ssize(masses)) masses.push_back(mass);
    QUINTET_CHECK(masses[type] == mass,
                  "{}: mass is {}, but an earlier atom of type {} has {}; give isotopes names of "
                  "their own",
                  where, mass, result_.type_names[type], masses[type]);
  }

  text::LineReader& reader_;
  std::int64_t n_atoms_;
  const ExtendedXyzInput& input_;
  std::string where_;
  Comment comment_;
  int force_ = -1, other_force_ = -1, parameter_ = -1;  // columns
  int n_parameters_ = 0;                                // of each atom
  Configuration result_;
  std::vector<Vec3> momenta_;
  std::unordered_map<std::string, int> types_;
};

/// The number of atoms of the frame that begins here; nothing at the end of the file.
std::optional<std::int64_t> next_frame(text::LineReader& reader) {
  if (!reader.next_filled()) return {};
  const auto tokens = text::split(reader.line());
  QUINTET_CHECK(tokens.size() == 1 && text::is_integer(tokens[0]),
                "{}: found {} where a frame's number of atoms was expected", reader.where(),
                shown(reader.line()));
  const std::int64_t n = text::to_integer(tokens[0], reader.where(), "the number of atoms");
  // A line needs eight bytes at least ("O 0 0 0\n"), so a number that the file cannot hold is refused before
  // it is used.
  QUINTET_CHECK(n >= 1, "{}: the frame has {} atoms, expected 1 or more", reader.where(), n);
  QUINTET_CHECK(static_cast<std::uint64_t>(n) <= reader.bytes() / 7,
                "{}: the frame has {} atoms by its first line, but "
                "the file has only {} bytes",
                reader.where(), n, reader.bytes());
  return n;
}

void skip_frame(text::LineReader& reader, std::int64_t n_atoms) {
  for (std::int64_t i = 0; i <= n_atoms; ++i)
    QUINTET_CHECK(reader.next(), "{}: the file ends after {} of {} atoms of a frame", reader.where(),
                  std::max<std::int64_t>(0, i - 1), n_atoms);
}

}  // namespace

std::vector<Configuration> read_extended_xyz(const std::string& path, std::optional<std::int64_t> frame,
                                             const ExtendedXyzInput& input) {
  text::LineReader reader(path);
  std::vector<Configuration> frames;
  // Places of the frames, so that one counted from the end is read without holding the others.
  std::vector<text::LineReader::Bookmark> begins{reader.bookmark()};
  const bool from_end = frame && *frame < 0;
  std::int64_t n_frames = 0;
  while (const auto n_atoms = next_frame(reader)) {
    const bool wanted = !frame || *frame == n_frames;
    if (wanted)
      frames.push_back(FrameReader(reader, *n_atoms, input).read());
    else
      skip_frame(reader, *n_atoms);
    if (wanted && frame) {
      if (*frame > 0 || reader.next_filled()) text::tell_frame(frames.front().reading, *frame, {});
      return frames;
    }
    ++n_frames;
    if (from_end) begins.push_back(reader.bookmark());
  }
  QUINTET_CHECK(n_frames > 0, "{}: the file holds no frame", path);
  if (!frame) return frames;
  QUINTET_CHECK(from_end && n_frames + *frame >= 0,
                "{}: there is no frame {}, the file has {} (0 to {}, or -1 for the last)", path, *frame,
                n_frames, n_frames - 1);
  reader.go_to(begins[n_frames + *frame]);
  const auto n_atoms = next_frame(reader);
  frames.push_back(FrameReader(reader, *n_atoms, input).read());
  text::tell_frame(frames.front().reading, n_frames + *frame, n_frames);
  return frames;
}

}  // namespace quintet
