#include "physics/particles/formats/lammps/lammps_dump.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/atoms/read_configuration_elements.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/formats/lammps/lammps_dump_head.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"
#include "physics/particles/formats/read_configuration_types.hpp"

namespace quintet {

namespace {

template <class T>
void put_in_order(const std::vector<std::size_t>& order, std::vector<T>& values) {
  if (values.empty()) return;
  std::vector<T> sorted(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = values[order[i]];
  values = std::move(sorted);
}

/// Reads the atoms of the frame whose head was read.
class DumpFrame {
 public:
  DumpFrame(text::LineReader& reader, DumpHead head, const LammpsDumpOptions& options)
      : reader_(reader),
        head_(std::move(head)),
        options_(options),
        given_(options.type_names),
        where_(reader.where()) {
    result_.reading = head_.reading;
  }

  Configuration read() {
    find_columns();
    for (std::int64_t i = 0; i < head_.n_atoms; ++i) read_atom(i);
    text::check_whole(reader_);
    set_box();
    sort();
    name_types();
    set_units();
    return std::move(result_);
  }

 private:
  [[nodiscard]] int column(const std::string& name) {
    const auto found = std::find(head_.columns.begin(), head_.columns.end(), name);
    if (found == head_.columns.end()) return -1;
    used_.insert(name);
    return found - head_.columns.begin();
  }

  /// Three columns that are all there; -1 each otherwise.
  std::array<int, 3> three(const std::array<const char*, 3>& names) {
    for (const char* name : names)
      if (std::find(head_.columns.begin(), head_.columns.end(), name) == head_.columns.end())
        return {-1, -1, -1};
    return {column(names[0]), column(names[1]), column(names[2])};
  }

  void find_columns() {
    id_ = column("id");
    type_ = column("type");
    mass_ = column("mass");
    name_ = column("element");
    if (name_ < 0) name_ = column("typelabel");
    QUINTET_CHECK(type_ >= 0 || name_ >= 0, "{}: the atoms have neither a type nor an element ({})", where_,
                  fmt::join(head_.columns, " "));
    const std::array<std::array<const char*, 3>, 4> places{
        {{"x", "y", "z"}, {"xu", "yu", "zu"}, {"xs", "ys", "zs"}, {"xsu", "ysu", "zsu"}}};
    for (std::size_t p = 0; p < places.size() && position_[0] < 0; ++p) {
      position_ = three(places[p]);
      scaled_ = p >= 2;
    }
    QUINTET_CHECK(position_[0] >= 0,
                  "{}: the atoms have no position; expected columns x y z, xu yu zu, xs ys zs or xsu ysu zsu",
                  where_);
    velocity_ = three({"vx", "vy", "vz"});
    if (options_.labels != LabelSource::Use::none) force_ = three({"fx", "fy", "fz"});
    for (const auto& name : head_.columns)
      if (!used_.contains(name)) result_.reading.leave("column " + name);
    if (id_ < 0) result_.reading.assume("atoms in the order of the file (no column id)");
  }

  // Columns may come in any order; those that are not known are left, and told once by the caller.
  void read_atom(std::int64_t i) {
    QUINTET_CHECK(reader_.next(), "{}: the file ends after {} of {} atoms of a frame", reader_.where(), i,
                  head_.n_atoms);
    const auto words = text::split(reader_.line());
    const std::string where = reader_.where();
    QUINTET_CHECK(words.size() == head_.columns.size(),
                  "{}: the line of atom {} of {} has {} columns, not {}", where, i + 1, head_.n_atoms,
                  words.size(), head_.columns.size());
    const auto vector = [&](const std::array<int, 3>& columns, const char* what) {
      Vec3 v;
      for (int k = 0; k < 3; ++k) v[k] = text::to_double(words[columns[k]], where, what);
      return v;
    };
    if (id_ >= 0) {
      const auto id = text::to_integer(words[id_], where, "id");
      QUINTET_CHECK(id >= 1, "{}: id is {}, expected 1 or more", where, id);
      result_.ids.push_back(id);
    }
    if (type_ >= 0) {
      const auto type = text::to_integer(words[type_], where, "type");
      QUINTET_CHECK(type >= 1 && type <= most_types, "{}: type is {}, expected 1 to {}", where, type,
                    most_types);
      result_.types.push_back(type - 1);
    }
    if (name_ >= 0) names_.emplace_back(words[name_]);
    if (mass_ >= 0) masses_.push_back(text::to_double(words[mass_], where, "mass"));
    result_.positions.push_back(vector(position_, "a position"));
    if (velocity_[0] >= 0) result_.velocities.push_back(vector(velocity_, "a velocity"));
    if (force_[0] >= 0) result_.forces.push_back(vector(force_, "a force"));
  }

  void set_box() {
    const std::array<bool, 3> all{true, true, true};
    if (!head_.periodic && !options_.periodic)
      result_.reading.assume(
          "periodic in x y z (no boundary words; system.periodic or --periodic changes it)");
    const auto periodic = head_.periodic.value_or(options_.periodic.value_or(all));
    if (scaled_)
      for (Vec3& x : result_.positions) {
        const Vec3 s = x;
        for (int k = 0; k < 3; ++k)
          x[k] = head_.origin[k] + s[0] * head_.rows[k] + s[1] * head_.rows[3 + k] + s[2] * head_.rows[6 + k];
      }
    result_.box =
        box_from_file(head_.rows, periodic, head_.origin, result_.positions, where_, &result_.reading);
  }

  void sort() {
    if (id_ < 0) return;
    auto& ids = result_.ids;
    std::vector<std::size_t> order(ids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
    put_in_order(order, ids);
    const auto twice = std::adjacent_find(ids.begin(), ids.end());
    QUINTET_CHECK(twice == ids.end(), "{}: two atoms of the frame have id {}", where_, *twice);
    put_in_order(order, result_.types);
    put_in_order(order, names_);
    put_in_order(order, masses_);
    put_in_order(order, result_.positions);
    put_in_order(order, result_.velocities);
    put_in_order(order, result_.forces);
  }

  /// Types by their names where the atoms have some and nobody numbers them, else by their numbers.
  void name_types() {
    take_names_by_number();
    if (name_ >= 0 && all_are_carbon_by_default()) {
      result_.reading.assume(
          fmt::format("types {} as given, not C as the dump calls all of them", fmt::join(given_, " ")));
      names_.clear();
    }
    if (!names_.empty() && (type_ < 0 || given_.empty()))
      number_names();
    else
      name_numbers();
    set_masses_of_types();
  }

  /// Where nothing else names types, names come by their numbers.
  void take_names_by_number() {
    const auto& names = options_.names_by_number;
    if (!given_.empty() || type_ < 0 || names.empty()) return;
    const auto is_c = [](const auto& name) { return name == "C"; };
    const auto [least, most] = std::minmax_element(result_.types.begin(), result_.types.end());
    const bool unnamed = names_.empty() ? std::all_of(masses_.begin(), masses_.end(),
                                                      [](double mass) { return mass == no_mass; })
                                        : *least < *most && std::all_of(names_.begin(), names_.end(), is_c);
    if (!unnamed) return;
    QUINTET_CHECK(static_cast<std::size_t>(*most) < names.size(),
                  "{}: an atom has type {}, which nothing names: the type_map has {} names ({})", where_,
                  *most + 1, names.size(), fmt::join(names, ", "));
    given_ = names;
    result_.reading.assume(fmt::format(
        "types 1, 2, ... are {}, in the order of the type_map (the dump has no column element or mass)",
        fmt::join(names, " ")));
  }

  /// LAMMPS writes C for each atom unless `dump_modify element` names the types.
  [[nodiscard]] bool all_are_carbon_by_default() const {
    if (type_ < 0 || std::any_of(names_.begin(), names_.end(), [](auto& name) { return name != "C"; }))
      return false;
    const std::set<int> types(result_.types.begin(), result_.types.end());
    QUINTET_CHECK(
        types.size() < 2 || !given_.empty(),
        "{}: atoms of {} types are all called C, as LAMMPS does where `dump_modify element` does not "
        "name them; give types (system.types, --types or model.type_map), or write the dump with their "
        "elements",
        where_, types.size());
    return !given_.empty();
  }

  void number_names() {
    std::map<std::string, int> places;
    result_.types.clear();
    for (const auto& name : names_) {
      const auto [place, is_new] = places.try_emplace(name, static_cast<int>(places.size()));
      if (is_new) result_.type_names.push_back(name);
      result_.types.push_back(place->second);
    }
  }

  void name_numbers() {
    const auto most = *std::max_element(result_.types.begin(), result_.types.end());
    std::vector<std::string> own(most + 1);
    for (std::size_t i = 0; i < names_.size(); ++i) own[result_.types[i]] = names_[i];
    result_.type_names = agreed_names(where_, own, given_);
    if (!given_.empty())
      QUINTET_CHECK(given_.size() > static_cast<std::size_t>(most),
                    "{}: an atom has type {}, but {} type names were given ({})", where_, most + 1,
                    given_.size(), fmt::join(given_, ", "));
    else
      name_by_mass();
  }

  void name_by_mass() {
    auto& names = result_.type_names;
    for (std::size_t i = 0; i < result_.types.size(); ++i) {
      const auto element =
          masses_.empty() || masses_[i] == no_mass ? std::nullopt : element_of_mass(masses_[i]);
      QUINTET_CHECK(
          element,
          "{}: type {} has no name; give types (system.types, --types or model.type_map), or write the "
          "dump with columns element or mass",
          where_, result_.types[i] + 1);
      names[result_.types[i]] = *element;
    }
    std::vector<std::string> used;
    for (std::size_t t = 0; t < names.size(); ++t)
      if (names[t].empty())
        names[t].push_back('X');  // no atom has it
      else
        used.push_back(names[t]);
    std::set<std::string> unique(used.begin(), used.end());
    QUINTET_CHECK(unique.size() == used.size(),
                  "{}: by their masses two types would be one element ({}); give types (system.types or "
                  "--types)",
                  where_, fmt::join(used, " "));
    result_.reading.assume(fmt::format("types {} by mass", fmt::join(used, " ")));
  }

  void set_masses_of_types() {
    if (masses_.empty()) return;
    auto& masses = result_.masses;
    masses.assign(result_.type_names.size(), 0);
    for (std::size_t i = 0; i < masses_.size(); ++i) {
      double& mass = masses[result_.types[i]];
      QUINTET_CHECK(masses_[i] > 0, "{}: an atom has a mass of {}, expected a positive number of amu", where_,
                    masses_[i]);
      QUINTET_CHECK(mass == 0 || mass == masses_[i], "{}: atoms of {} have masses {} and {}", where_,
                    result_.type_names[result_.types[i]], mass, masses_[i]);
      mass = masses_[i];
    }
    for (std::size_t t = 0; t < masses.size(); ++t)
      if (masses[t] == 0) masses[t] = standard_mass(result_.type_names[t]).value_or(1.0);
    if (std::all_of(masses_.begin(), masses_.end(), [](double m) { return m == 1; })) {
      masses.clear();
      result_.reading.assume("standard masses, as all in the file are 1 amu");
    }
  }

  /// (K), of velocities in angstrom/ps.
  [[nodiscard]] double temperature() const {
    constexpr double usual_mass = 30;  // amu
    double mv2 = 0;
    for (std::size_t i = 0; i < result_.velocities.size(); ++i) {
      const auto type = result_.types[i];
      const double mass = result_.masses.empty()
                              ? standard_mass(result_.type_names[type]).value_or(usual_mass)
                              : result_.masses[type];
      for (const double v : result_.velocities[i]) mv2 += mass * v * v;
    }
    return mv2 * units::mv2_to_ev / (3 * double(result_.n_atoms()) * units::boltzmann);
  }

  /// Bring velocities and forces into metal units.
  void set_units() {
    constexpr double coldest = 0.3, hottest = 3e5, per_fs = 1e3, kcal_per_mol = 4184 / 96485.33212;  // eV
    std::string units = head_.units;
    if (const double kelvin = temperature(); units.empty() && kelvin > 0) {
      const auto is_matter = [&](double t) { return t >= coldest && t < hottest; };
      QUINTET_CHECK(
          is_matter(kelvin) || is_matter(kelvin * per_fs * per_fs),
          "{}: the velocities are of {:.3g} K in units metal and of {:.3g} K in units real; say the "
          "units: `dump_modify ID units yes`, or lines 'ITEM: UNITS' and 'metal' on top",
          where_, kelvin, kelvin * per_fs * per_fs);
      units = is_matter(kelvin) ? "metal" : "real";
      result_.reading.assume(fmt::format("units {} by the temperature of the velocities", units));
    }
    if (units.empty()) {
      result_.reading.assume("lengths in angstrom (the dump does not say its units)");
      doubt_forces();
    }
    if (units != "real") return;
    for (Vec3& v : result_.velocities)
      for (double& component : v) component *= per_fs;
    for (Vec3& f : result_.forces)
      for (double& component : f) component *= kcal_per_mol;
  }

  void doubt_forces() {
    if (result_.forces.empty()) return;
    QUINTET_CHECK(options_.labels != LabelSource::Use::learn,
                  "{}: the dump does not say its units, and forces of units real are in kcal/mol/angstrom; "
                  "write it with `dump_modify ID units yes`, or put lines 'ITEM: UNITS' and 'metal' on top",
                  where_);
    result_.forces.clear();
    result_.reading.leave("forces, whose unit the dump does not say");
  }

  static constexpr int most_types = 100000;
  static constexpr double no_mass = 1;  // (amu) what is written where units have no masses
  text::LineReader& reader_;
  DumpHead head_;
  const LammpsDumpOptions& options_;
  std::vector<std::string> given_;  // names of types 1, 2, ...
  std::string where_;
  int id_ = -1, type_ = -1, name_ = -1, mass_ = -1;
  std::array<int, 3> position_{-1, -1, -1}, velocity_{-1, -1, -1}, force_{-1, -1, -1};
  bool scaled_ = false;
  std::set<std::string> used_;
  std::vector<std::string> names_;  // of atoms
  std::vector<double> masses_;      // of atoms
  Configuration result_;
};

}  // namespace

std::vector<Configuration> read_lammps_dump(const std::string& path, std::optional<std::int64_t> frame,
                                            const LammpsDumpOptions& options) {
  text::LineReader reader(path);
  const auto begin = reader.bookmark();
  const auto scan = [&](std::optional<std::int64_t> wanted, std::vector<Configuration>& frames) {
    reader.go_to(begin);
    DumpHeads heads(reader);
    std::int64_t n = 0;
    for (auto head = heads.next(); head; head = heads.next(), ++n) {
      if (!wanted || *wanted == n) {
        frames.push_back(DumpFrame(reader, std::move(*head), options).read());
        if (wanted) return n + 1;
      } else {
        for (std::int64_t i = 0; i < head->n_atoms; ++i)
          QUINTET_CHECK(reader.next(), "{}: the file ends after {} of {} atoms of a frame", reader.where(), i,
                        head->n_atoms);
      }
    }
    return n;
  };
  std::vector<Configuration> frames;
  if (!frame || *frame >= 0) {
    const auto n = scan(frame, frames);
    QUINTET_CHECK(n > 0, "{}: the file holds no frame", path);
    if (frames.empty()) static_cast<void>(text::place_of_frame(path, *frame, n));
    if (frame && (*frame > 0 || reader.next_filled())) text::tell_frame(frames.front().reading, *frame, {});
    return frames;
  }
  // One that is counted from the end: how many there are, then that one.
  const auto n = scan(-1, frames);
  const auto place = text::place_of_frame(path, *frame, n);
  scan(place, frames);
  text::tell_frame(frames.front().reading, place, n);
  return frames;
}

}  // namespace quintet
