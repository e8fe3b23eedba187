#include "apps/dpmd/deviation/deviation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

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
                "Divide a component's virial deviation by its mean (per atom) plus this level")
      .above(0)
      .on_restart(OnRestart::physics);
  schema.flag("atomic", options.atomic, "Write the force deviation of every atom behind the row")
      .on_restart(OnRestart::fixed);
  schema
      .choice(
          "precision", options.precision,
          {{"run", CompanionPrecision::as_the_run},
           {"double", CompanionPrecision::fp64},
           {"mixed", CompanionPrecision::mixed}},
          "Arithmetic of the models after the first: as potential.precision says (of bf16: mixed), or "
          "another. Models differ far more than float32 and float64 do, and mixed takes about half the time; "
          "the first model, which moves the atoms, is untouched")
      .on_restart(OnRestart::physics);
}

namespace {

struct DeviationColumn {
  const char *name, *unit, *text;
  double potential::Deviation::*value;
};

using potential::Deviation;
constexpr std::array<DeviationColumn, 7> columns{{
    {"max_devi_v", "eV", "Largest virial deviation of nine components, per atom", &Deviation::max_virial},
    {"min_devi_v", "eV", "Least virial deviation of nine components, per atom", &Deviation::min_virial},
    {"avg_devi_v", "eV", "Root mean square of the virial deviation, per atom", &Deviation::mean_virial},
    {"max_devi_f", "eV/angstrom", "Largest force deviation of all atoms", &Deviation::max_force},
    {"min_devi_f", "eV/angstrom", "Least force deviation of all atoms", &Deviation::min_force},
    {"avg_devi_f", "eV/angstrom", "Mean force deviation of all atoms", &Deviation::mean_force},
    {"devi_e", "eV", "Energy deviation, per atom", &Deviation::energy},
}};

std::vector<std::string> lines_of(const std::string& path) {
  auto file = open_input_file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Without a last line that has no end.
std::vector<std::string> whole_lines_of(const std::string& path) {
  auto lines = lines_of(path);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (file.tellg() > 0 && file.seekg(-1, std::ios::end) && file.get() != '\n') lines.pop_back();
  return lines;
}

bool is_comment(const std::string& line) {
  const auto first = line.find_first_not_of(" \t\r");
  return first == std::string::npos || line[first] == '#';
}

std::vector<RunColumn<DeviationRow>> table_columns() {
  std::vector<RunColumn<DeviationRow>> all{
      {"step", "1", "Step", [](const DeviationRow& row) { return static_cast<double>(row.step); }}};
  all.front().is_integer = true;
  for (const auto& column : columns)
    all.push_back({column.name, column.unit, column.text,
                   [value = column.value](const DeviationRow& row) { return row.deviation.*value; }});
  return all;
}

/// The step of a line that a kill has not cut short: it has all columns, and those of atoms where asked for.
std::optional<std::int64_t> step_of_whole_line(const std::string& line, bool atomic) {
  std::istringstream words(line);
  std::size_t n = 0;
  for (std::string word; words >> word;) ++n;
  if (n < 1 + columns.size() + (atomic ? 1 : 0)) return std::nullopt;
  return std::strtoll(line.c_str(), nullptr, 10);
}

Curve curve(const char* label, const std::vector<DeviationRow>& rows, double Deviation::*value) {
  Curve result;
  result.label = label;
  for (const auto& row : rows) {
    result.x.push_back(row.step);
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

namespace {

/// A number; nan and inf too, which a model that has run away writes.
double deviation_number(const std::string& word, const std::string& where) {
  for (const char* unusual : {"nan", "-nan", "inf", "-inf"})
    if (word == unusual) return std::strtod(word.c_str(), nullptr);
  return text::to_double(word, where, "a deviation");
}

}  // namespace

std::vector<DeviationRow> read_deviations(const std::string& path) {
  std::vector<DeviationRow> rows;
  const auto lines = lines_of(path);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_comment(lines[i])) continue;
    std::istringstream words(lines[i]);
    const std::string where = fmt::format("{}:{}", path, i + 1);
    std::string word;
    words >> word;
    const double step = word.empty() ? 0 : deviation_number(word, where);
    std::vector<double> values;
    while (values.size() < columns.size() && words >> word) values.push_back(deviation_number(word, where));
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
    : options_(options),
      path_(context.path("model_devi.out")),
      comm_(context.comm()),
      table_(context, {"deviation"}, table_columns(), first_step) {
  for (std::size_t i = 0; i < table_.size(); ++i) {
    rows_.push_back({std::llround(table_.column("step")[i]), {}});
    for (const auto& column : columns) rows_[i].deviation.*(column.value) = table_.column(column.name)[i];
  }
  std::int64_t made = 0;
  on_root(comm_, [&] { made = cut_text(first_step); });
  made = comm_.broadcast(made);
  if (made > 0 && options_.atomic)
    context.lose("model_devi.out",
                 fmt::format("{} of its lines are lost and were made of run.h5, without atoms", made));
}

std::int64_t DeviationLog::cut_text(std::int64_t first_step) const {
  std::map<std::int64_t, std::string> lines;
  if (fs::exists(path_) && first_step >= 0)
    for (const auto& line : whole_lines_of(path_)) {
      if (is_comment(line)) continue;
      const auto step = step_of_whole_line(line, options_.atomic);
      if (step && *step <= first_step) lines.emplace(*step, line + "\n");
    }
  std::int64_t made = 0;
  for (const auto& row : rows_) made += lines.emplace(row.step, deviation_line(row)).second;
  std::string text = deviation_header(options_.atomic);
  for (const auto& [step, line] : lines) text += line;
  write_text_file(path_, text);
  return made;
}

void DeviationLog::add(const DeviationRow& row, std::span<const double> by_atom) {
  if (!table_.add(row)) return;
  rows_.push_back(row);
  on_root(comm_, [&] {
    std::ofstream file(path_, std::ios::app);
    file << deviation_line(row, by_atom);
    file.flush();
    if (!file.good()) throw ResourceError(fmt::format("cannot write {}: is the disk full?", path_));
  });
}

void DeviationLog::report(Context& context, std::span<const double> levels) const {
  if (rows_.empty()) return;
  double most = 0, sum = 0;
  for (const auto& row : rows_) {
    most = std::max(most, row.deviation.max_force);
    sum += row.deviation.max_force;
  }
  context.summarise("force_deviation_max_ev_per_angstrom", most);
  context.summarise("force_deviation_mean_ev_per_angstrom", sum / rows_.size());
  Plot plot{"Model deviation of the forces", "step", "deviation (eV/angstrom)", {}, false, true, ""};
  plot.curves = {curve("largest", rows_, &Deviation::max_force),
                 curve("mean", rows_, &Deviation::mean_force)};
  const double first = rows_.front().step, last = rows_.back().step;
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
