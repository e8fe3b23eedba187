#include "apps/meshfreeflow/train/learning_curve.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet::meshfreeflow {

namespace {

/// Names of a row's columns, in the order of numbers_of().
std::vector<std::string> column_names(const std::vector<std::string>& fields,
                                      const std::vector<std::string>& equations) {
  std::vector<std::string> names{"step", "learning_rate"};
  for (const std::string set : {"training", "validation"}) {
    for (const char* part : {"total", "values", "residuals", "boundaries"}) names.push_back(set + "_" + part);
    for (const auto& field : fields) names.push_back(set + "_field_" + field);
    for (const auto& equation : equations) names.push_back(set + "_residual_" + equation);
  }
  return names;
}

std::vector<double> numbers_of(const Training::Row& row, std::size_t n_fields, std::size_t n_equations) {
  std::vector<double> numbers{static_cast<double>(row.step), row.learning_rate};
  for (const auto* losses : {&row.training, &row.validation}) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const bool there = !losses->by_field.empty();
    for (const double v : {losses->total, losses->values, losses->residuals, losses->boundaries})
      numbers.push_back(there ? v : none);
    for (std::size_t f = 0; f < n_fields; ++f) numbers.push_back(there ? losses->by_field[f] : none);
    for (std::size_t e = 0; e < n_equations; ++e) numbers.push_back(there ? losses->by_equation[e] : none);
  }
  return numbers;
}

std::string csv_row(const std::vector<double>& row) {
  std::string line;
  for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{}{:.9g}", c == 0 ? "" : ",", row[c]);
  return line + "\n";
}

}  // namespace

LearningCurve::LearningCurve(Context& context, const Training& training)
    : speaks_(context.comm().is_root()), validates_(training.validates()), csv_(context.path("lcurve.csv")) {
  fields_ = training.trainer().header().field_names();
  for (const auto& [name, text] : training.trainer().header().equations.interior) equations_.push_back(name);
  names_ = column_names(fields_, equations_);
  hdf5::Group group = context.results().root().group("learning_curve");
  std::uint64_t kept = 0;
  if (group.has(names_.back())) {
    const auto steps = group.read_rows<double>("step", 0, group.shape("step")[0]);
    kept = static_cast<std::uint64_t>(std::count_if(
        steps.begin(), steps.end(), [&](double s) { return s <= static_cast<double>(training.step()); }));
  }
  rows_.resize(kept);
  for (const auto& name : names_) {
    series_.push_back(group.series<double>(
        name, {}, {"1", {"row"}, "Mean since the row before (training), of crops held out (validation)"}));
    QUINTET_CHECK(
        series_.back().size() >= kept,
        "{}: learning_curve/{} has {} rows, fewer than learning_curve/step: the file is damaged; move it "
        "away",
        context.path("run.h5"), name, series_.back().size());
    series_.back().truncate(kept);
    const auto before = group.read_rows<double>(name, 0, kept);
    for (std::size_t i = 0; i < before.size(); ++i) rows_[i].push_back(before[i]);
  }
  if (!speaks_) return;
  std::string csv;
  for (const auto& name : names_) csv += (csv.empty() ? "" : ",") + name;
  csv += "\n";
  for (const auto& row : rows_) csv += csv_row(row);
  write_text_file(csv_, csv);
}

void LearningCurve::add(const Training::Row& entry) {
  if (!rows_.empty() && rows_.back()[0] == static_cast<double>(entry.step)) return;
  const auto row = numbers_of(entry, fields_.size(), equations_.size());
  for (std::size_t c = 0; c < row.size(); ++c) series_[c].append(std::span<const double>(&row[c], 1));
  rows_.push_back(row);
  if (!speaks_) return;
  std::ofstream file(csv_, std::ios::app);
  file << csv_row(row) << std::flush;
  if (!file) throw ResourceError(fmt::format("{}: cannot be written", csv_));
}

std::vector<double> LearningCurve::column(const std::string& name) const {
  const auto index = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  std::vector<double> values;
  for (const auto& row : rows_) values.push_back(row[index]);
  return values;
}

Curve LearningCurve::curve(const std::string& label, const std::string& name) const {
  return {label, column("step"), column(name)};
}

void LearningCurve::report(Report& report) const {
  if (rows_.empty()) return;
  report.section("Learning curves");
  report.paragraph("Training values are means over the steps since the point before. " +
                   std::string(validates_ ? "Validation values are of crops held out, always the same."
                                          : "Nothing was held out."));
  const auto plot = [&](const std::string& title, const std::string& label,
                        const std::vector<std::pair<std::string, std::string>>& columns) {
    Plot picture{title, "step", label, {}, false, true, ""};
    for (const auto& [legend, name] : columns) {
      const auto one = curve(legend, name);
      if (std::any_of(one.y.begin(), one.y.end(), [](double v) { return v > 0; }))
        picture.curves.push_back(one);
    }
    if (!picture.curves.empty()) report.plot(picture);
  };
  plot("Loss", "loss", {{"training", "training_total"}, {"validation", "validation_total"}});
  plot("Values", "loss of normalised fields",
       {{"training", "training_values"}, {"validation", "validation_values"}});
  const std::string set = validates_ ? "validation" : "training";
  std::vector<std::pair<std::string, std::string>> by_field, by_equation;
  for (const auto& field : fields_) by_field.emplace_back(field, set + "_field_" + field);
  for (const auto& equation : equations_) by_equation.emplace_back(equation, set + "_residual_" + equation);
  plot("Fields, " + set, "loss of each normalised field", by_field);
  plot("Equations, " + set, "residual in physical units", by_equation);
  plot("Boundary conditions", "loss",
       {{"training", "training_boundaries"}, {"validation", "validation_boundaries"}});
  plot("Learning rate", "learning rate", {{"", "learning_rate"}});
}

}  // namespace quintet::meshfreeflow
