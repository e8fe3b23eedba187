#include "apps/dpmd/deviation/deviation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "io/files/input_file.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

void describe(Schema& schema, DeviationOptions& options) {
  schema.integer("interval", options.interval, "Steps between rows of model_devi.out")
      .at_least(1)
      .on_restart(OnRestart::free);
  schema
      .quantity("relative_force", options.relative_force, "eV/angstrom",
                "Divide an atom's force deviation by its mean force plus this level")
      .above(0)
      .on_restart(OnRestart::physics);
  schema
      .quantity("relative_virial", options.relative_virial, "eV",
                "Divide a component's virial deviation by its mean (an atom) plus this level")
      .above(0)
      .on_restart(OnRestart::physics);
  schema.flag("atomic", options.atomic, "Write the force deviation of every atom behind the row")
      .on_restart(OnRestart::fixed);
}

namespace {

struct DeviationColumn {
  const char *name, *unit, *text;
  double potential::Deviation::*value;
};

using potential::Deviation;
constexpr std::array<DeviationColumn, 7> columns{{
    {"max_devi_v", "eV", "Largest virial deviation of nine components, an atom", &Deviation::max_virial},
    {"min_devi_v", "eV", "Least virial deviation of nine components, an atom", &Deviation::min_virial},
    {"avg_devi_v", "eV", "Root mean square of the virial deviation, an atom", &Deviation::mean_virial},
    {"max_devi_f", "eV/angstrom", "Largest force deviation of all atoms", &Deviation::max_force},
    {"min_devi_f", "eV/angstrom", "Least force deviation of all atoms", &Deviation::min_force},
    {"avg_devi_f", "eV/angstrom", "Mean force deviation of all atoms", &Deviation::mean_force},
    {"devi_e", "eV", "Energy deviation, an atom", &Deviation::energy},
}};

std::vector<std::string> lines_of(const std::string& path) {
  auto file = open_input_file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool is_comment(const std::string& line) {
  const auto first = line.find_first_not_of(" \t\r");
  return first == std::string::npos || line[first] == '#';
}

Curve curve(const char* label, const std::vector<DeviationRow>& rows, double Deviation::*value) {
  Curve result;
  result.label = label;
  for (const auto& row : rows) {
    result.x.push_back(static_cast<double>(row.step));
    result.y.push_back(row.deviation.*value);
  }
  return result;
}

}  // namespace

std::string deviation_header(bool atomic) {
  std::string line = fmt::format("#{:>11}", "step");
  for (const auto& column : columns) line += fmt::format("{:>19}", column.name);
  return line + (atomic ? fmt::format("{:>19}\n", "atm_devi_f(N)") : "\n");
}

std::string deviation_line(const DeviationRow& row, std::span<const double> by_atom) {
  std::string line = fmt::format("{:12d}", row.step);
  for (const auto& column : columns) line += fmt::format("{:19.6e}", row.deviation.*(column.value));
  for (const double value : by_atom) line += fmt::format("{:19.6e}", value);
  return line + "\n";
}

std::vector<DeviationRow> read_deviations(const std::string& path) {
  std::vector<DeviationRow> rows;
  const auto lines = lines_of(path);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_comment(lines[i])) continue;
    std::istringstream words(lines[i]);
    double step = 0;
    std::vector<double> values;
    words >> step;
    for (std::string word; values.size() < columns.size() && words >> word;)
      values.push_back(std::strtod(word.c_str(), nullptr));  // nan and inf too
    QUINTET_CHECK(
        values.size() + 1 >= columns.size(),
        "{}:{}: expected a step and at least 6 numbers (max, min, avg devi_v, then devi_f), found '{}'", path,
        i + 1, lines[i].substr(0, 80));
    QUINTET_CHECK(std::abs(step) < 9e15, "{}:{}: the step is {:g}; expected a whole number", path, i + 1,
                  step);
    values.resize(columns.size());
    DeviationRow row;
    row.step = std::llround(step);
    for (std::size_t c = 0; c < columns.size(); ++c) row.deviation.*(columns[c].value) = values[c];
    rows.push_back(row);
  }
  return rows;
}

DeviationLog::DeviationLog(Context& context, const DeviationOptions& options, std::int64_t first_step)
    : options_(options), path_(context.path("model_devi.out")), writes_(context.comm().is_root()) {
  hdf5::Group group = context.results().root().group("deviation");
  std::uint64_t kept = 0;
  if (group.has(columns.back().name)) {
    const auto steps = group.read_rows<std::int64_t>("step", 0, group.shape("step")[0]);
    kept = static_cast<std::uint64_t>(
        std::count_if(steps.begin(), steps.end(), [&](std::int64_t s) { return s <= first_step; }));
    for (std::uint64_t i = 0; i < kept; ++i) rows_.push_back({steps[i], {}});
  }
  series_.push_back(group.series<std::int64_t>("step", {}, {"1", {"sample"}, "Step"}));
  series_.back().truncate(kept);
  for (const auto& column : columns) {
    series_.push_back(group.series<double>(column.name, {}, {column.unit, {"sample"}, column.text}));
    QUINTET_CHECK(
        series_.back().size() >= kept,
        "{}: deviation/{} has {} rows, fewer than deviation/step: the file is damaged; move it away",
        context.path("run.h5"), column.name, series_.back().size());
    series_.back().truncate(kept);
    const auto before = group.read_rows<double>(column.name, 0, kept);
    for (std::uint64_t i = 0; i < kept; ++i) rows_[i].deviation.*(column.value) = before[i];
  }
  if (writes_) cut_text(first_step);
}

/// Keep the lines up to `first_step`, with their atoms; a file that is not there is made of the rows of
/// run.h5.
void DeviationLog::cut_text(std::int64_t first_step) {
  std::string text = deviation_header(options_.atomic);
  if (!rows_.empty() && fs::exists(path_)) {
    for (const auto& line : lines_of(path_))
      if (!is_comment(line) && std::strtoll(line.c_str(), nullptr, 10) <= first_step) text += line + "\n";
  } else {
    for (const auto& row : rows_) text += deviation_line(row);
  }
  write_text_file(path_, text);
}

void DeviationLog::add(const DeviationRow& row, std::span<const double> by_atom) {
  if (!rows_.empty() && rows_.back().step >= row.step) return;
  series_.front().append(std::span<const std::int64_t>(&row.step, 1));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double value = row.deviation.*(columns[c].value);
    series_[c + 1].append(std::span<const double>(&value, 1));
  }
  rows_.push_back(row);
  if (!writes_) return;
  std::ofstream file(path_, std::ios::app);
  file << deviation_line(row, by_atom);
  file.flush();
  if (!file.good()) throw ResourceError(fmt::format("cannot write {}: is the disk full?", path_));
}

void DeviationLog::report(Context& context, std::span<const double> levels) const {
  if (rows_.empty()) return;
  double most = 0, sum = 0;
  for (const auto& row : rows_) {
    most = std::max(most, row.deviation.max_force);
    sum += row.deviation.max_force;
  }
  context.summarise("force_deviation_max_ev_per_angstrom", most);
  context.summarise("force_deviation_mean_ev_per_angstrom", sum / static_cast<double>(rows_.size()));
  Plot plot{"Model deviation of the forces", "step", "deviation (eV/angstrom)", {}, false, true, ""};
  plot.curves = {curve("largest", rows_, &Deviation::max_force),
                 curve("mean", rows_, &Deviation::mean_force)};
  const auto first = static_cast<double>(rows_.front().step), last = static_cast<double>(rows_.back().step);
  for (const double level : levels)
    plot.curves.push_back({fmt::format("{:g}", level), {first, last}, {level, level}, false, true});
  plot.caption = "Where the models disagree, the training data say little.";
  context.report().section("Model deviation");
  context.report().plot(plot);
  context.report().plot({"Model deviation of the virial",
                         "step",
                         "deviation (eV/atom)",
                         {curve("largest", rows_, &Deviation::max_virial),
                          curve("root mean square", rows_, &Deviation::mean_virial)},
                         false,
                         true,
                         ""});
}

std::vector<double> gather_by_atom(const Comm& comm, const Atoms& atoms, const Array<double>& values) {
  struct ByAtom {
    std::int64_t id;
    double value;
  };
  std::vector<ByAtom> own;
  for (int i = 0; i < atoms.n_local; ++i) own.push_back({atoms.id(i), values(i)});
  auto all = comm.gather(std::span<const ByAtom>(own));
  std::sort(all.begin(), all.end(), [](const ByAtom& a, const ByAtom& b) { return a.id < b.id; });
  std::vector<double> sorted;
  for (const auto& atom : all) sorted.push_back(atom.value);
  return sorted;
}

}  // namespace quintet::dpmd
