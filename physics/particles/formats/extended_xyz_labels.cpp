#include "physics/particles/formats/extended_xyz_labels.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet {

namespace {

/// Names of one quantity behind a prefix, in lower case; where a source has several, the first counts.
const std::vector<std::string> energies{"energy"}, virials{"virial", "virials"}, stresses{"stress"},
    forces{"forces", "force"};
/// Further names of the energy without a prefix; ASE's free_energy is the force-consistent energy.
const std::vector<std::string> plain_energies{"energy", "totenergy", "total_energy", "free_energy"};
/// Prefixes that are looked for where nobody chose.
const std::vector<std::string> known_prefixes{"", "ref_", "dft_", "mace_"};

std::string lower(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

/// What a frame has of one source.
struct Source {
  std::string prefix;
  LabelNames names;
  [[nodiscard]] bool has_stress() const { return !names.virial.empty() || !names.stress.empty(); }
  [[nodiscard]] int size() const {
    return int(!names.energy.empty()) + int(!names.forces.empty()) + int(has_stress());
  }
};

/// The first of the names that is there; further ones are named as not used.
template <class Has>
std::string first_there(const std::string& prefix, const std::vector<std::string>& names, Has&& has,
                        Reading& reading) {
  std::string found;
  for (const auto& name : names) {
    if (!has(prefix + name)) continue;
    if (found.empty())
      found = prefix + name;
    else
      reading.leave(prefix + name);
  }
  return found;
}

Source source_of(const std::string& prefix, const Comment& comment, const ColumnNames& columns,
                 Reading& reading) {
  const auto key = [&](const std::string& name) { return comment.contains(name); };
  const auto column = [&](const std::string& name) { return columns.contains(name); };
  Source source{prefix, {}};
  source.names.energy = first_there(prefix, prefix.empty() ? plain_energies : energies, key, reading);
  source.names.virial = first_there(prefix, virials, key, reading);
  source.names.stress = first_there(prefix, stresses, key, reading);
  source.names.forces = first_there(prefix, forces, column, reading);
  return source;
}

/// "energy -109.9, forces" with the names as the file writes them.
std::string words_of(const Source& source, const Comment& comment, const ColumnNames& columns) {
  std::vector<std::string> words;
  const auto& n = source.names;
  if (!n.energy.empty())
    words.push_back(fmt::format("{} = {}", comment.at(n.energy).name, comment.at(n.energy).value));
  if (!n.forces.empty()) words.push_back(columns.at(n.forces));
  for (const auto& name : {n.virial, n.stress})
    if (!name.empty()) words.push_back(comment.at(name).name);
  return fmt::format("{}", fmt::join(words, ", "));
}

/// True if the second source says nothing that the first does not say too, as far as the comment line tells.
bool covers(const Source& first, const Source& second, const Comment& comment, const std::string& where) {
  const auto same = [&](const std::string& a, const std::string& b) {
    if (b.empty()) return true;
    return !a.empty() &&
           numbers_of(comment.at(a).value, where, a) == numbers_of(comment.at(b).value, where, b);
  };
  return same(first.names.energy, second.names.energy) && same(first.names.virial, second.names.virial) &&
         same(first.names.stress, second.names.stress) &&
         (second.names.forces.empty() || !first.names.forces.empty());
}

std::string difference(const Source& a, const Source& b, const Comment& comment, std::size_t n_atoms,
                       const std::string& where) {
  if (a.names.energy.empty() || b.names.energy.empty()) return "";
  const double first = text::to_double(comment.at(a.names.energy).value, where, "energy"),
               second = text::to_double(comment.at(b.names.energy).value, where, "energy");
  return fmt::format("; the energies differ by {:.4g} meV per atom",
                     1e3 * std::abs(first - second) / n_atoms);
}

Mat3 scaled(Mat3 matrix, double factor) {
  for (double& component : matrix) component *= factor;
  return matrix;
}

bool are_same(const Mat3& a, const Mat3& b) {
  constexpr double same = 1e-3;  // of the largest entry: printed digits
  double largest = 0, apart = 0;
  for (int k = 0; k < 9; ++k) {
    largest = std::max({largest, std::abs(a[k]), std::abs(b[k])});
    apart = std::max(apart, std::abs(a[k] - b[k]));
  }
  return apart <= same * largest;
}

}  // namespace

LabelNames choose_labels(const Comment& comment, const ColumnNames& columns, const LabelSource& source,
                         std::size_t n_atoms, const std::string& where, Reading& reading) {
  if (source.prefix) return source_of(lower(*source.prefix), comment, columns, reading).names;
  std::vector<Source> sources;
  for (const auto& prefix : known_prefixes)
    if (Source found = source_of(prefix, comment, columns, reading); found.size() > 0)
      sources.push_back(std::move(found));
  if (sources.empty()) return {};
  // A force-consistent energy that was left beside another source is no source of its own.
  const auto only_free = [](const Source& s) { return s.size() == 1 && s.names.energy == "free_energy"; };
  if (sources.size() > 1) std::erase_if(sources, only_free);
  std::stable_sort(sources.begin(), sources.end(),
                   [](const Source& a, const Source& b) { return a.size() > b.size(); });
  LabelNames names = sources.front().names;
  for (std::size_t s = 1; s < sources.size(); ++s) {
    QUINTET_CHECK(
        covers(sources.front(), sources[s], comment, where),
        "{}: labels of two sources: {} beside {}{}; choose one for energy, forces and virial together: "
        "data.labels.prefix or --labels '{}' or '{}'",
        where, words_of(sources.front(), comment, columns), words_of(sources[s], comment, columns),
        difference(sources.front(), sources[s], comment, n_atoms, where), sources.front().prefix,
        sources[s].prefix);
    if (!sources[s].names.forces.empty()) names.other_forces = sources[s].names.forces;
  }
  return names;
}

std::optional<Mat3> virial_of(const Comment& comment, const LabelNames& names, const Box& box,
                              const LabelSource& source, const std::string& where, Reading& reading) {
  std::optional<Mat3> virial, from_stress;
  if (!names.virial.empty()) virial = nine_numbers(comment.at(names.virial).value, where, "virial");
  if (names.stress.empty()) return virial;
  if (!box.fully_periodic()) {
    reading.assume("a stress says nothing where a direction is open: no virial of those frames");
    return virial;
  }
  const auto s = numbers_of(comment.at(names.stress).value, where, "stress");
  QUINTET_CHECK(s.size() == 9 || s.size() == 6,
                "{}: stress has {} numbers, expected 9, or 6 in the order xx yy zz yz xz xy", where,
                s.size());
  from_stress.emplace();
  if (s.size() == 9)
    std::copy(s.begin(), s.end(), from_stress->begin());
  else
    from_stress = {s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2]};
  const Mat3 as_ase = scaled(*from_stress, -box.volume());
  from_stress = scaled(as_ase, source.stress_unit);
  if (!virial) return from_stress;
  // Beside a virial the stress is ASE's, as in our own files, or of the unit that the user gives for others.
  QUINTET_CHECK(
      are_same(*virial, *from_stress) || (source.stress_unit > 0 && are_same(*virial, as_ase)),
      "{}: virial and stress contradict one another: xx {:g} eV, but -volume * stress is {:g} eV; remove "
      "one of them, or say what the stress means: data.labels.stress_unit, stress_sign",
      where, (*virial)[0], (*from_stress)[0]);
  return virial;
}

std::vector<double> numbers_of(const std::string& value, const std::string& where, const std::string& key) {
  std::vector<double> result;
  for (const auto piece : text::split(value, " \t,[]")) result.push_back(text::to_double(piece, where, key));
  return result;
}

Mat3 nine_numbers(const std::string& value, const std::string& where, const std::string& key) {
  const auto values = numbers_of(value, where, key);
  QUINTET_CHECK(values.size() == 9, "{}: {} has {} numbers, expected 9", where, key, values.size());
  Mat3 result;
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

}  // namespace quintet
