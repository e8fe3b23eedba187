#include "apps/dpmd/train/learning_curve.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace {

using potential::Deviations;

struct Column {
  const char *name, *unit, *description;
};
enum Index {
  step,
  rate,
  loss_val,
  loss_trn,
  energy_val,
  energy_trn,
  force_val,
  force_trn,
  virial_val,
  virial_trn
};
constexpr Column columns[] = {{"step", "1", "Steps done"},
                              {"learning_rate", "1", "Learning rate of the step"},
                              {"loss_validation", "1", "Root of the loss of frames held out"},
                              {"loss_training", "1", "Root of the loss of the step's batch"},
                              {"energy_rmse_validation", "eV", "Energy an atom, frames held out"},
                              {"energy_rmse_training", "eV", "Energy an atom, the step's batch"},
                              {"force_rmse_validation", "eV/angstrom", "Force component, frames held out"},
                              {"force_rmse_training", "eV/angstrom", "Force component, the step's batch"},
                              {"virial_rmse_validation", "eV", "Virial component an atom, frames held out"},
                              {"virial_rmse_training", "eV", "Virial component an atom, the step's batch"}};
constexpr std::size_t n_columns = std::size(columns);

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double root_loss(const Deviations& d) {
  return d.frames > 0 ? std::sqrt(d.loss / static_cast<double>(d.frames)) : none;
}
double energy(const Deviations& d) { return d.with_energy > 0 ? d.rmse_energy() : none; }
double force(const Deviations& d) { return d.with_force > 0 ? d.rmse_force() : none; }
double virial(const Deviations& d) { return d.with_virial > 0 ? d.rmse_virial() : none; }

std::vector<double> values(const CurveRow& row) {
  const auto &v = row.validation, &t = row.training;
  return {static_cast<double>(row.step),
          row.learning_rate,
          root_loss(v),
          root_loss(t),
          energy(v),
          energy(t),
          force(v),
          force(t),
          virial(v),
          virial(t)};
}

std::string csv_header() {
  std::string line;
  for (const auto& column : columns) {
    std::string unit = column.unit;
    std::replace(unit.begin(), unit.end(), '/', '_');
    line += fmt::format("{}{}{}", line.empty() ? "" : ",", column.name, unit == "1" ? "" : "_" + unit);
  }
  return line + "\n";
}

std::string csv_row(const std::vector<double>& row) {
  std::string line;
  for (std::size_t c = 0; c < n_columns; ++c) line += fmt::format("{}{:.9g}", c == 0 ? "" : ",", row[c]);
  return line + "\n";
}

void append(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::app);
  file << text << std::flush;
  if (!file) throw ResourceError(fmt::format("{}: cannot be written", path));
}

}  // namespace

LearningCurve::LearningCurve(Context& context, bool validates, bool virials, std::int64_t first_step)
    : speaks_(context.comm().is_root()),
      validates_(validates),
      virials_(virials),
      csv_(context.path("lcurve.csv")),
      out_(context.path("lcurve.out")) {
  hdf5::Group group = context.results().root().group("learning_curve");
  std::uint64_t kept = 0;
  if (group.has(columns[n_columns - 1].name)) {
    const auto steps = group.read_rows<double>("step", 0, group.shape("step")[0]);
    kept = static_cast<std::uint64_t>(std::count_if(
        steps.begin(), steps.end(), [&](double s) { return s <= static_cast<double>(first_step); }));
  }
  rows_.resize(kept);
  for (const auto& column : columns) {
    series_.push_back(group.series<double>(column.name, {}, {column.unit, {"row"}, column.description}));
    QUINTET_CHECK(series_.back().size() >= kept,
                  "{}: learning_curve/{} has {} rows, fewer than learning_curve/step: the file is damaged; "
                  "move it away",
                  context.path("run.h5"), column.name, series_.back().size());
    series_.back().truncate(kept);
    const auto before = group.read_rows<double>(column.name, 0, kept);
    for (std::size_t i = 0; i < before.size(); ++i) rows_[i].push_back(before[i]);
  }
  begin_texts();
}

/// The text files anew, with the rows that were kept.
void LearningCurve::begin_texts() const {
  if (!speaks_) return;
  std::string csv = csv_header(), out = deepmd_header();
  for (const auto& row : rows_) {
    csv += csv_row(row);
    out += deepmd_row(row);
  }
  write_text_file(csv_, csv);
  write_text_file(out_, out);
}

void LearningCurve::add(const CurveRow& entry) {
  const auto row = values(entry);
  for (std::size_t c = 0; c < n_columns; ++c) series_[c].append(std::span<const double>(&row[c], 1));
  rows_.push_back(row);
  if (!speaks_) return;
  append(csv_, csv_row(row));
  append(out_, deepmd_row(row));
}

std::string LearningCurve::deepmd_header() const {
  std::string line = "#  step";
  for (const char* name : {"rmse", "rmse_e", "rmse_f", "rmse_v"}) {
    if (!virials_ && std::string_view(name) == "rmse_v") continue;
    line += validates_
                ? fmt::format("   {:>11} {:>11}", fmt::format("{}_val", name), fmt::format("{}_trn", name))
                : fmt::format("   {:>11}", fmt::format("{}_trn", name));
  }
  return line + "         lr\n# If there is no available reference data, rmse_*_{val,trn} will print nan\n";
}

std::string LearningCurve::deepmd_row(const std::vector<double>& row) const {
  std::string line = fmt::format("{:7d}", static_cast<std::int64_t>(row[step]));
  for (const std::size_t c : {loss_val, energy_val, force_val, virial_val}) {
    if (c == virial_val && !virials_) continue;
    if (validates_) line += fmt::format("   {:11.2e} {:11.2e}", row[c], row[c + 1]);
    if (!validates_) line += fmt::format("   {:11.2e}", row[c + 1]);
  }
  return line + fmt::format("   {:8.1e}\n", row[rate]);
}

std::vector<double> LearningCurve::column(std::size_t index, double scale) const {
  std::vector<double> result;
  for (const auto& row : rows_) result.push_back(scale * row[index]);
  return result;
}

void LearningCurve::report(Report& report) const {
  if (rows_.empty()) return;
  report.section("Learning curve");
  report.paragraph(
      "Training values are of the one batch of their step, before it; they scatter as batches do." +
      std::string(validates_ ? " Validation values are of batches held out." : " No frames were held out."));
  const auto steps = column(step);
  const auto has = [](const std::vector<double>& y) {
    return std::any_of(y.begin(), y.end(), [](double v) { return std::isfinite(v) && v > 0; });
  };
  const auto plot = [&](const char* title, const char* label, std::size_t first, double scale) {
    const auto held_out = column(first, scale), batch = column(first + 1, scale);
    if (!has(batch)) return;
    Plot picture{title, "step", label, {{"training batch", steps, batch}}, false, true, ""};
    if (has(held_out)) picture.curves.push_back({"validation", steps, held_out});
    report.plot(picture);
  };
  plot("Loss", "root of the loss", loss_val, 1);
  plot("Energy", "rmse of the energy (meV/atom)", energy_val, 1e3);
  plot("Force", "rmse of a force component (eV/angstrom)", force_val, 1);
  plot("Virial", "rmse of a virial component (meV/atom)", virial_val, 1e3);
  report.plot({"Learning rate", "step", "learning rate", {{"", steps, column(rate)}}, false, true, ""});
}

}  // namespace quintet::dpmd
