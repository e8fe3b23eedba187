#include "apps/dpmd/train/learning_curve.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace {

using potential::Deviations;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double root_loss(const Deviations& d) { return d.frames > 0 ? std::sqrt(d.loss / d.frames) : none; }
double energy(const Deviations& d) { return d.with_energy > 0 ? d.rmse_energy() : none; }
double force(const Deviations& d) { return d.with_force > 0 ? d.rmse_force() : none; }
double virial(const Deviations& d) { return d.with_virial > 0 ? d.rmse_virial() : none; }

/// "loss" of both sets becomes "loss_validation" and "loss_training".
void add_pair(std::vector<RunColumn<CurveRow>>& columns, const std::string& name, const std::string& unit,
              const std::string& held_out, const std::string& batch, double (*of)(const Deviations&)) {
  columns.push_back(
      {name + "_validation", unit, held_out, [of](const CurveRow& row) { return of(row.validation); }});
  columns.push_back(
      {name + "_training", unit, batch, [of](const CurveRow& row) { return of(row.training); }});
}

std::vector<RunColumn<CurveRow>> columns() {
  std::vector<RunColumn<CurveRow>> all{
      {"step", "1", "Steps done", [](const CurveRow& row) { return static_cast<double>(row.step); }},
      {"learning_rate", "1", "Learning rate of the step",
       [](const CurveRow& row) { return row.learning_rate; }}};
  add_pair(all, "loss", "1", "Root of the loss of frames held out", "Root of the loss of the step's batch",
           root_loss);
  add_pair(all, "energy_rmse", "eV", "Energy per atom, frames held out", "Energy per atom, the step's batch",
           energy);
  add_pair(all, "force_rmse", "eV/angstrom", "Force component, frames held out",
           "Force component, the step's batch", force);
  add_pair(all, "virial_rmse", "eV", "Virial component per atom, frames held out",
           "Virial component per atom, the step's batch", virial);
  return all;
}

std::string csv_header() {
  std::string line;
  for (const auto& column : columns()) {
    std::string unit = column.unit;
    std::replace(unit.begin(), unit.end(), '/', '_');
    line += fmt::format("{}{}{}", line.empty() ? "" : ",", column.name, unit == "1" ? "" : "_" + unit);
  }
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
      out_(context.path("lcurve.out")),
      table_(context, {"learning_curve", "row"}, columns(), first_step) {
  begin_texts();
}

/// The text files anew, with the rows that were kept.
void LearningCurve::begin_texts() const {
  if (!speaks_) return;
  std::string csv = csv_header(), out = deepmd_header();
  for (std::size_t row = 0; row < table_.size(); ++row) {
    csv += csv_row(row);
    out += deepmd_row(row);
  }
  write_text_file(csv_, csv);
  write_text_file(out_, out);
}

void LearningCurve::add(const CurveRow& entry) {
  if (!table_.add(entry) || !speaks_) return;
  append(csv_, csv_row(table_.size() - 1));
  append(out_, deepmd_row(table_.size() - 1));
}

std::string LearningCurve::csv_row(std::size_t row) const {
  std::string line;
  for (const double value : table_.row(row)) line += fmt::format("{}{:.9g}", line.empty() ? "" : ",", value);
  return line + "\n";
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

std::string LearningCurve::deepmd_row(std::size_t row) const {
  const auto value = [&](const std::string& name) { return table_.column(name)[row]; };
  std::string line = fmt::format("{:7d}", static_cast<std::int64_t>(value("step")));
  for (const std::string name : {"loss", "energy_rmse", "force_rmse", "virial_rmse"}) {
    if (name == "virial_rmse" && !virials_) continue;
    if (validates_) line += fmt::format("   {:11.2e}", value(name + "_validation"));
    line += fmt::format("{}{:11.2e}", validates_ ? " " : "   ", value(name + "_training"));
  }
  return line + fmt::format("   {:8.1e}\n", value("learning_rate"));
}

// A curve without a positive value has no place on a logarithmic axis, and is left out with its picture.
void LearningCurve::report(Report& report) const {
  if (table_.empty()) return;
  report.section("Learning curve");
  report.paragraph(
      "Training values are of the one batch of their step, before it; they scatter as batches do." +
      std::string(validates_ ? " Validation values are of batches held out." : " No frames were held out."));
  const auto& steps = table_.column("step");
  const auto has = [](const std::vector<double>& y) {
    return std::any_of(y.begin(), y.end(), [](double v) { return std::isfinite(v) && v > 0; });
  };
  const auto plot = [&](const char* title, const char* label, const std::string& name, double scale) {
    const auto scaled = [&](const std::string& set) {
      auto values = table_.column(name + set);
      for (double& value : values) value *= scale;
      return values;
    };
    const auto held_out = scaled("_validation"), batch = scaled("_training");
    if (!has(batch)) return;
    Plot picture{title, "step", label, {{"training batch", steps, batch}}, false, true, ""};
    if (has(held_out)) picture.curves.push_back({"validation", steps, held_out});
    report.plot(picture);
  };
  plot("Loss", "root of the loss", "loss", 1);
  plot("Energy", "rmse of the energy (meV/atom)", "energy_rmse", 1e3);
  plot("Force", "rmse of a force component (eV/angstrom)", "force_rmse", 1);
  plot("Virial", "rmse of a virial component (meV/atom)", "virial_rmse", 1e3);
  report.plot({"Learning rate",
               "step",
               "learning rate",
               {{"", steps, table_.column("learning_rate")}},
               false,
               true,
               ""});
}

}  // namespace quintet::dpmd
