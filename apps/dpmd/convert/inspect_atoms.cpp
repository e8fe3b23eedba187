#include "apps/dpmd/convert/inspect_atoms.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/ranges.h>

#include "io/log/counted.hpp"

namespace quintet::dpmd {

namespace {

/// "H 64, O 32".
std::string composition(const Configuration& c) {
  std::map<std::string, int> counts;
  for (const int type : c.types) ++counts[c.type_names[type]];
  std::vector<std::string> words;
  for (const auto& [name, n] : counts) words.push_back(fmt::format("{} {}", name, n));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// "energy in 3 of 5 frames", "" if none has it.
template <class Has>
void count(const std::vector<Configuration>& frames, const char* what, Has&& has,
           std::vector<std::string>& words) {
  const auto n = std::count_if(frames.begin(), frames.end(), has);
  if (n == std::ptrdiff_t(frames.size()))
    words.emplace_back(what);
  else if (n > 0)
    words.push_back(fmt::format("{} in {} of {}", what, n, counted(frames.size(), "frame")));
}

std::string labels(const std::vector<Configuration>& frames) {
  std::vector<std::string> words;
  count(
      frames, "energy", [](const Configuration& c) { return c.energy.has_value(); }, words);
  count(
      frames, "forces", [](const Configuration& c) { return !c.forces.empty(); }, words);
  count(
      frames, "virial", [](const Configuration& c) { return c.virial.has_value(); }, words);
  count(
      frames, "velocities", [](const Configuration& c) { return !c.velocities.empty(); }, words);
  count(
      frames, "masses", [](const Configuration& c) { return !c.masses.empty(); }, words);
  count(
      frames, "held atoms", [](const Configuration& c) { return !c.held.empty(); }, words);
  const auto with = std::find_if(frames.begin(), frames.end(),
                                 [](const Configuration& c) { return !c.parameters.empty(); });
  if (with != frames.end()) {
    const auto what = fmt::format("aparam ({} of each atom)", counted(with->n_parameters(), "number"));
    count(
        frames, what.c_str(), [](const Configuration& c) { return !c.parameters.empty(); }, words);
  }
  return words.empty() ? "positions alone" : fmt::format("{}", fmt::join(words, ", "));
}

std::string cell(const Configuration& c) {
  const auto& rows = c.box.rows();
  const auto& periodic = c.box.periodic();
  std::string directions;
  for (int k = 0; k < 3; ++k)
    if (periodic[k]) directions += fmt::format(" {}", "xyz"[k]);
  const auto row = [&](int r) {
    return fmt::format("({:.8g}, {:.8g}, {:.8g})", rows[3 * r], rows[3 * r + 1], rows[3 * r + 2]);
  };
  return fmt::format("{} {} {} angstrom, {}", row(0), row(1), row(2),
                     directions.empty() ? "open" : "periodic in" + directions);
}

/// What label there is of the first frame that has it.
std::string first_values(const std::vector<Configuration>& frames) {
  std::string text;
  for (const auto& c : frames) {
    if (!c.energy) continue;
    text += fmt::format("energy     {:.8f} eV, {:.6f} eV per atom (first frame that has it)\n", *c.energy,
                        *c.energy / double(c.n_atoms()));
    break;
  }
  for (const auto& c : frames) {
    if (!c.virial || !c.box.fully_periodic()) continue;
    constexpr double gpa = 160.2176634;  // of an eV/angstrom^3
    const auto& w = *c.virial;
    text += fmt::format("pressure   {:.6g} GPa from the virial (first frame that has it)\n",
                        (w[0] + w[4] + w[8]) / (3 * c.box.volume()) * gpa);
    break;
  }
  return text;
}

}  // namespace

bool holds_atoms(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".dp" || ending == ".yaml" || ending == ".yml") return false;
  const auto format = configuration_format(path);
  return format && *format != "HDF5";
}

std::string describe_atoms(const std::string& path, const ReadOptions& options) {
  const auto frames = read_configurations(path, options);
  const auto& first = frames.front();
  const bool alike = std::all_of(frames.begin(), frames.end(),
                                 [&](const auto& c) { return composition(c) == composition(first); });
  const bool one_cell =
      std::all_of(frames.begin(), frames.end(), [&](const auto& c) { return c.box == first.box; });
  Reading reading;
  for (const auto& frame : frames) reading.add(frame.reading);
  std::string text =
      fmt::format("{}: {}, {}\n", path, *configuration_format(path), counted(frames.size(), "frame"));
  text += fmt::format("atoms      {}: {}{}\n", first.n_atoms(), composition(first),
                      alike ? "" : " (first frame; others differ)");
  text += fmt::format("cell       {}{}\n", cell(first), one_cell ? "" : " (first frame; others differ)");
  text += fmt::format("holds      {}\n", labels(frames));
  text += first_values(frames);
  for (const auto& what : reading.assumed) text += fmt::format("assumed    {}\n", what);
  for (const auto& what : reading.not_used) text += fmt::format("not used   {}\n", what);
  return text;
}

}  // namespace quintet::dpmd
