#include "apps/meshfreeflow/train/learning_curve.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <utility>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet::meshfreeflow {

namespace {

using flow::FlowLosses;
using Row = Training::Row;

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr const char* text = "Mean since the row before (training), of crops held out (validation)";

/// Columns of the losses of a set, "training" or "validation"; NaN where it has none.
void add_set(std::vector<RunColumn<Row>>& columns, const std::string& set, FlowLosses Row::*losses,
             const std::vector<std::string>& fields, const std::vector<std::string>& equations) {
  const auto add = [&](const std::string& name, std::function<double(const FlowLosses&)> value) {
    columns.push_back({set + "_" + name, "1", text, [losses, value = std::move(value)](const Row& row) {
                         const FlowLosses& of = row.*losses;
                         return of.by_field.empty() ? none : value(of);
                       }});
  };
  add("total", [](const FlowLosses& of) { return of.total; });
  add("values", [](const FlowLosses& of) { return of.values; });
  add("residuals", [](const FlowLosses& of) { return of.residuals; });
  add("boundaries", [](const FlowLosses& of) { return of.boundaries; });
  add("spectra", [](const FlowLosses& of) { return of.spectra; });
  for (std::size_t f = 0; f < fields.size(); ++f)
    add("field_" + fields[f], [f](const FlowLosses& of) { return of.by_field[f]; });
  for (std::size_t e = 0; e < equations.size(); ++e)
    add("residual_" + equations[e], [e](const FlowLosses& of) { return of.by_equation[e]; });
}

std::vector<RunColumn<Row>> columns(const std::vector<std::string>& fields,
                                    const std::vector<std::string>& equations) {
  std::vector<RunColumn<Row>> all{
      {"step", "1", text, [](const Row& row) { return static_cast<double>(row.step); }},
      {"learning_rate", "1", text, [](const Row& row) { return row.learning_rate; }}};
  add_set(all, "training", &Row::training, fields, equations);
  add_set(all, "validation", &Row::validation, fields, equations);
  return all;
}

std::vector<std::string> equations_of(const flow::FlowModelHeader& header) {
  std::vector<std::string> names;
  for (const auto& [name, formula] : header.equations.interior) names.push_back(name);
  return names;
}

}  // namespace

LearningCurve::LearningCurve(Context& context, const Training& training)
    : speaks_(context.comm().is_root()),
      validates_(training.validates()),
      csv_(context.path("lcurve.csv")),
      fields_(training.trainer().header().field_names()),
      equations_(equations_of(training.trainer().header())),
      table_(context, {"learning_curve", "row"}, columns(fields_, equations_), training.step()) {
  if (!speaks_) return;
  std::string csv;
  for (const auto& column : table_.columns()) csv += (csv.empty() ? "" : ",") + column.name;
  csv += "\n";
  for (std::size_t row = 0; row < table_.size(); ++row) csv += csv_row(row);
  write_text_file(csv_, csv);
}

void LearningCurve::add(const Training::Row& entry) {
  if (!table_.add(entry) || !speaks_) return;
  std::ofstream file(csv_, std::ios::app);
  file << csv_row(table_.size() - 1) << std::flush;
  if (!file) throw ResourceError(fmt::format("{}: cannot be written", csv_));
}

std::string LearningCurve::csv_row(std::size_t row) const {
  std::string line;
  for (const double value : table_.row(row)) line += fmt::format("{}{:.9g}", line.empty() ? "" : ",", value);
  return line + "\n";
}

double LearningCurve::last(const std::string& column) const {
  return table_.empty() ? none : table_.column(column).back();
}

std::string LearningCurve::standstill() const {
  const auto losses = table_.column("validation_values");
  if (losses.size() < 4) return "";
  const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
  if (!(*most - *least < still * *most)) return "";  // not so where nothing was held out: NaN
  return fmt::format(
      "validation: the loss of values has stood still in all {} validations, within {:.2g} %. Networks may "
      "have collapsed in the first steps: try a third of learning_rate.start",
      losses.size(), 100 * (1 - *least / *most));
}

Curve LearningCurve::curve(const std::string& label, const std::string& name) const {
  return {label, table_.column("step"), table_.column(name)};
}

// Fields and equations are of the data held out where there are any: training values alone cannot show
// overfitting.
void LearningCurve::report(Report& report) const {
  if (table_.empty()) return;
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
  plot("Spectra of rows", "loss", {{"training", "training_spectra"}, {"validation", "validation_spectra"}});
  plot("Learning rate", "learning rate", {{"", "learning_rate"}});
}

}  // namespace quintet::meshfreeflow
