#include "surrogates/flow/model/flow_equations.hpp"

#include <algorithm>
#include <cctype>

#include "io/config/suggest.hpp"
#include "io/formula/formula.hpp"
#include "io/log/error.hpp"

namespace quintet::flow {

namespace {

std::vector<std::string> names_with(std::vector<std::string> names,
                                    const std::vector<std::pair<std::string, FormulaText>>& more) {
  for (const auto& [name, text] : more) names.push_back(name);
  return names;
}

/// Names in a text: letters, digits and '_', no digit first.
void add_names(const std::string& text, std::set<std::string>& names) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && part(text[end])) ++end;
    if (end > i && std::isdigit(static_cast<unsigned char>(text[i])) == 0)
      names.insert(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
}

std::vector<EquationText> texts_of(const std::vector<std::pair<std::string, FormulaText>>& equations) {
  std::vector<EquationText> texts;
  for (const auto& [name, formula] : equations)
    texts.push_back({name, formula.text, place_and_key(formula, "equations.interior." + name)});
  return texts;
}

AxisEnd parse_end(const std::string& at, const std::string& what, const std::array<std::string, n_axes>& axes,
                  const std::array<bool, n_axes>& periodic) {
  std::vector<std::string> known;
  for (int axis = 0; axis < n_axes; ++axis) {
    if (periodic[axis] || !is_space(axes[axis])) continue;
    for (const bool upper : {false, true}) {
      known.push_back(axes[axis] + (upper ? ".upper" : ".lower"));
      if (at == known.back()) return {axis, upper};
    }
  }
  throw InputError(fmt::format("{}: '{}' is no wall{}; expected one of {}", what, at, did_you_mean(at, known),
                               known.empty() ? "none: all axes are periodic" : name_list(known)));
}

}  // namespace

void describe(Schema& schema, BoundaryOptions& options) {
  schema.text("at", options.at, "The wall: an axis of space and its end").required().example("z.lower");
  schema.formula("equation", options.equation, "What is 0 there").required().example("b - 0.5");
  schema.number("weight", options.weight, "Of this condition among the others").at_least(0);
}

void describe(Schema& schema, EquationOptions& options) {
  schema
      .named_formulas(
          "interior", options.interior,
          "Equations that hold inside, by names of your choice; d<axis>(...) and d<axis><axis>(...) are "
          "derivatives, left = right may be written")
      .example("{buoyancy: dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b)+dzz(b))}");
  schema
      .named_formulas("constants", options.constants,
                      "Numbers in the equations: formulas of the data's parameters and of each other")
      .example("{P: (Ra*Pr)^-0.5}");
  schema.sections("boundaries", options.boundaries, "Conditions at walls");
}

FlowEquations::FlowEquations(const EquationOptions& options, const std::vector<std::string>& fields,
                             const std::array<std::string, n_axes>& axes,
                             const std::array<bool, n_axes>& periodic,
                             const std::vector<std::string>& parameters)
    : parameters_(parameters),
      names_(names_with(parameters, options.constants)),
      interior_(texts_of(options.interior), {fields, axes, names_}) {
  for (const auto& [name, formula] : options.constants) {
    formulas_.emplace_back(name, formula.text);
    add_names(formula.text, used_);
  }
  for (const auto& [name, formula] : options.interior) add_names(formula.text, used_);
  for (const auto& wall : options.boundaries) add_names(wall.equation.text, used_);
  std::map<std::pair<int, bool>, std::pair<std::vector<EquationText>, std::vector<double>>> by_end;
  for (std::size_t i = 0; i < options.boundaries.size(); ++i) {
    const auto& one = options.boundaries[i];
    const auto what = place_and_key(one.equation, fmt::format("equations.boundaries.{}", i));
    const AxisEnd end = parse_end(one.at, what, axes, periodic);
    auto& [texts, weights] = by_end[{end.axis, end.upper}];
    texts.push_back({fmt::format("{}: {}", one.at, one.equation.text), one.equation.text, what});
    weights.push_back(one.weight);
  }
  for (const auto& [end, conditions] : by_end)
    walls_.push_back(
        {{end.first, end.second}, PdeSystem(conditions.first, {fields, axes, names_}), conditions.second});
}

std::vector<double> FlowEquations::constants(const std::map<std::string, double>& parameters) const {
  std::vector<std::pair<std::string, std::string>> all = formulas_;
  for (const auto& name : parameters_) {
    const auto found = parameters.find(name);
    const bool known = found != parameters.end();
    QUINTET_CHECK(known || !used_.contains(name), "equations: a sample has no parameter '{}'", name);
    all.emplace_back(name, fmt::format("{:.17g}", known ? found->second : 0.0));
  }
  const auto values = evaluate_constants(all, "equations.constants");
  std::vector<double> in_order;
  for (const auto& name : names_) in_order.push_back(values.at(name));
  return in_order;
}

std::string place_and_key(const FormulaText& text, const std::string& key) {
  const auto place = text.place.text();
  return place.empty() ? key : place + ": " + key;
}

}  // namespace quintet::flow
