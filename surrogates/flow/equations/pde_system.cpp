#include "surrogates/flow/equations/pde_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "surrogates/flow/equations/expression_functions.hpp"
#include "surrogates/flow/equations/operator_basis.hpp"
#include "surrogates/flow/equations/residual_program.hpp"

namespace quintet::flow {

struct PdeSystem::Implementation {
  std::vector<EquationText> equations;
  EquationNames names;
  Expressions graph;
  ResidualProgram program;
  std::vector<bool> uses_field, uses_value;
};

namespace {

/// Values of all expressions that are numbers of a sample; 0 for the others.
std::vector<double> uniform_values(const Expressions& graph, const std::vector<double>& constants) {
  std::vector<double> values(graph.size());
  const auto at = [&](int i) { return i < 0 ? 0. : values[i]; };
  for (int i = 0; i < graph.size(); ++i) {
    if (!graph.is_uniform(i)) continue;
    const Expression& e = graph[i];
    double& value = values[i];
    if (e.kind == ExpressionKind::number) value = e.value;
    if (e.kind == ExpressionKind::constant) value = constants[e.index];
    if (e.kind == ExpressionKind::add) value = at(e.x) + at(e.y);
    if (e.kind == ExpressionKind::multiply) value = at(e.x) * at(e.y);
    if (e.kind == ExpressionKind::divide) value = at(e.x) / at(e.y);
    if (e.kind == ExpressionKind::call) value = expression_functions()[e.index].value(at(e.x), at(e.y));
  }
  return values;
}

DifferentialOperator numeric_operator(const SymbolicOperator& operation, const std::vector<double>& uniform) {
  DifferentialOperator made;
  const auto value = [&](int i) { return operation[i] < 0 ? 0 : uniform[operation[i]]; };
  for (int i = 0; i < n_axes; ++i) made.first[i] = value(i);
  for (int i = 0; i < n_second; ++i) made.second[i] = value(n_axes + i);
  return made;
}

}  // namespace

struct Residuals::Implementation {
  std::shared_ptr<const PdeSystem::Implementation> system;
  std::vector<std::vector<DifferentialOperator>> operators;  ///< [sample][operator]
  std::vector<std::vector<NumericForm>> forms;               ///< [sample][form]
};

namespace {

/// Points that go through the program together: registers of a block stay in the first-level cache.
constexpr int block = 32;
using Lane = std::array<double, block>;

/// Registers of one block of points, forward and backward.
template <class Real>
class Sweep {
 public:
  Sweep(const ResidualProgram& program, const std::vector<NumericForm>& forms, int jet_size)
      : program_(program), forms_(forms), jet_size_(jet_size), values_(program.instructions.size()) {}

  // Instructions stand in the order of evaluation: each reads results before it, for all points of a lane.
  void forward(int n, const Real* jets, const double* coordinates) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Instruction& instruction = program_.instructions[i];
      Lane& result = values_[i];
      const Lane* x = instruction.x < 0 ? nullptr : &values_[instruction.x];
      const Lane* y = instruction.y < 0 ? nullptr : &values_[instruction.y];
      switch (instruction.kind) {
        case ExpressionKind::add:
          linear(forms_[instruction.index], n, jets, result);
          break;
        case ExpressionKind::coordinate:
          for (int p = 0; p < n; ++p) result[p] = coordinates[p * n_axes + instruction.index];
          break;
        case ExpressionKind::multiply:
          for (int p = 0; p < n; ++p) result[p] = (*x)[p] * (*y)[p];
          break;
        case ExpressionKind::divide:
          for (int p = 0; p < n; ++p) result[p] = (*x)[p] / (*y)[p];
          break;
        case ExpressionKind::call: {
          const auto function = expression_functions()[instruction.index].value;
          for (int p = 0; p < n; ++p) result[p] = function((*x)[p], y ? (*y)[p] : 0);
          break;
        }
        case ExpressionKind::number:
        case ExpressionKind::constant:
        case ExpressionKind::jet:
          throw InternalError("an instruction of no kind");
      }
    }
  }

  /// After forward(): bars() of the results are set, jets_bar is added to.
  void backward(int n, Real* jets_bar) {
    for (std::size_t i = values_.size(); i-- > 0;) {
      const Instruction& instruction = program_.instructions[i];
      const Lane& bar = bars_[i];
      const auto of = [&](auto& lanes, int r) { return r < 0 ? nullptr : &lanes[r]; };
      const Lane *x = of(values_, instruction.x), *y = of(values_, instruction.y);
      Lane *x_bar = of(bars_, instruction.x), *y_bar = of(bars_, instruction.y);
      switch (instruction.kind) {
        case ExpressionKind::add:
          linear_adjoint(forms_[instruction.index], n, bar, jets_bar);
          break;
        case ExpressionKind::multiply:
          for (int p = 0; p < n; ++p) (*x_bar)[p] += bar[p] * (*y)[p];
          for (int p = 0; p < n; ++p) (*y_bar)[p] += bar[p] * (*x)[p];
          break;
        case ExpressionKind::divide:
          for (int p = 0; p < n; ++p) (*x_bar)[p] += bar[p] / (*y)[p];
          for (int p = 0; p < n; ++p) (*y_bar)[p] -= bar[p] * values_[i][p] / (*y)[p];
          break;
        case ExpressionKind::call: {
          const auto& function = expression_functions()[instruction.index];
          const auto second = [&](int p) { return y ? (*y)[p] : 0; };
          for (int p = 0; p < n; ++p) (*x_bar)[p] += bar[p] * function.slope_x((*x)[p], second(p));
          if (y)
            for (int p = 0; p < n; ++p) (*y_bar)[p] += bar[p] * function.slope_y((*x)[p], second(p));
          break;
        }
        case ExpressionKind::coordinate:
        case ExpressionKind::number:
        case ExpressionKind::constant:
        case ExpressionKind::jet:
          break;
      }
    }
  }

  [[nodiscard]] const Lane& value(int i) const { return values_[i]; }
  void clear_bars() { bars_.assign(values_.size(), Lane{}); }
  [[nodiscard]] Lane& bar(int i) { return bars_[i]; }

 private:
  void linear(const NumericForm& form, int n, const Real* jets, Lane& result) const {
    for (int p = 0; p < n; ++p) result[p] = form.constant;
    for (const auto& entry : form.jets)
      for (int p = 0; p < n; ++p)
        result[p] += entry.coefficient * static_cast<double>(jets[p * jet_size_ + entry.place]);
    for (const auto& entry : form.registers) {
      const Lane& source = values_[entry.place];
      for (int p = 0; p < n; ++p) result[p] += entry.coefficient * source[p];
    }
  }

  void linear_adjoint(const NumericForm& form, int n, const Lane& bar, Real* jets_bar) {
    for (const auto& entry : form.jets)
      for (int p = 0; p < n; ++p)
        jets_bar[p * jet_size_ + entry.place] += static_cast<Real>(entry.coefficient * bar[p]);
    for (const auto& entry : form.registers) {
      Lane& source = bars_[entry.place];
      for (int p = 0; p < n; ++p) source[p] += entry.coefficient * bar[p];
    }
  }

  const ResidualProgram& program_;
  const std::vector<NumericForm>& forms_;
  int jet_size_;
  std::vector<Lane> values_, bars_;
};

}  // namespace

int Residuals::n_equations() const { return implementation_->system->program.results.size(); }
int Residuals::n_fields() const { return implementation_->system->names.fields.size(); }
int Residuals::n_operators() const {
  return implementation_->operators.empty() ? 0 : static_cast<int>(implementation_->operators[0].size());
}
std::span<const DifferentialOperator> Residuals::operators(int sample) const {
  return implementation_->operators.at(sample);
}
const ResidualProgram& Residuals::program() const { return implementation_->system->program; }
std::span<const NumericForm> Residuals::forms(int sample) const { return implementation_->forms.at(sample); }
bool Residuals::uses_coordinates() const { return implementation_->system->program.uses_coordinates; }

template <class Real>
void Residuals::evaluate(int sample, int n_points, const Real* jets, const double* coordinates,
                         Real* residuals) const {
  const auto& program = implementation_->system->program;
  const int jet_size = (1 + n_operators()) * n_fields(), n_equations = this->n_equations();
  Sweep<Real> sweep(program, implementation_->forms.at(sample), jet_size);
  for (std::int64_t first = 0; first < n_points; first += block) {
    const int n = std::min<std::int64_t>(block, n_points - first);
    sweep.forward(n, jets + first * jet_size, coordinates ? coordinates + first * n_axes : nullptr);
    for (int e = 0; e < n_equations; ++e)
      for (int p = 0; p < n; ++p)
        residuals[(first + p) * n_equations + e] = static_cast<Real>(sweep.value(program.results[e])[p]);
  }
}

template <class Real>
void Residuals::add_adjoint(int sample, int n_points, const Real* jets, const double* coordinates,
                            const Real* residuals_bar, Real* jets_bar) const {
  const auto& program = implementation_->system->program;
  const int jet_size = (1 + n_operators()) * n_fields(), n_equations = this->n_equations();
  Sweep<Real> sweep(program, implementation_->forms.at(sample), jet_size);
  for (std::int64_t first = 0; first < n_points; first += block) {
    const int n = std::min<std::int64_t>(block, n_points - first);
    sweep.forward(n, jets + first * jet_size, coordinates ? coordinates + first * n_axes : nullptr);
    sweep.clear_bars();
    for (int e = 0; e < n_equations; ++e)
      for (int p = 0; p < n; ++p)  // two equations may be one register
        sweep.bar(program.results[e])[p] += static_cast<double>(residuals_bar[(first + p) * n_equations + e]);
    sweep.backward(n, jets_bar + first * jet_size);
  }
}

template void Residuals::evaluate(int, int, const float*, const double*, float*) const;
template void Residuals::evaluate(int, int, const double*, const double*, double*) const;
template void Residuals::add_adjoint(int, int, const float*, const double*, const float*, float*) const;
template void Residuals::add_adjoint(int, int, const double*, const double*, const double*, double*) const;

PdeSystem::PdeSystem(const std::vector<EquationText>& equations, const EquationNames& names,
                     bool without_fields) {
  check_names(names);
  auto made = std::make_shared<Implementation>();
  made->equations = equations;
  made->names = names;
  std::vector<int> residuals;
  for (const auto& equation : equations) residuals.push_back(parse_equation(equation, names, made->graph));
  made->uses_field.resize(names.fields.size());
  made->uses_value.resize(names.fields.size());
  for (std::size_t i = 0; i < residuals.size(); ++i)
    QUINTET_CHECK(without_fields || made->graph.mentions_field(residuals[i]),
                  "{}: '{}' mentions no field; expected one of {}", equations[i].what, equations[i].text,
                  fmt::join(names.fields, ", "));
  made->program = make_program(made->graph, residuals);
  for (const auto& form : made->program.forms) {
    for (const auto& value : form.values)
      made->uses_field[value.field] = made->uses_value[value.field] = true;
    for (const auto& one : form.derivatives) made->uses_field[one.field] = true;
  }
  implementation_ = std::move(made);
}

int PdeSystem::n_equations() const { return implementation_->equations.size(); }
const std::vector<EquationText>& PdeSystem::equations() const { return implementation_->equations; }
const EquationNames& PdeSystem::names() const { return implementation_->names; }
bool PdeSystem::uses_field(int field) const { return implementation_->uses_field.at(field); }
bool PdeSystem::uses_value(int field) const { return implementation_->uses_value.at(field); }

Residuals PdeSystem::residuals(std::span<const std::vector<double>> constants) const {
  const auto& program = implementation_->program;
  const int n_fields = implementation_->names.fields.size();
  std::vector<std::vector<double>> uniform;
  std::vector<std::vector<DifferentialOperator>> wanted;
  for (const auto& of_sample : constants) {
    QUINTET_ASSERT(of_sample.size() == implementation_->names.constants.size(), "{} constants for {} names",
                   of_sample.size(), implementation_->names.constants.size());
    uniform.push_back(uniform_values(implementation_->graph, of_sample));
    auto& of_wanted = wanted.emplace_back();
    for (const auto& operation : program.wanted)
      of_wanted.push_back(numeric_operator(operation, uniform.back()));
  }
  auto made = std::make_shared<Residuals::Implementation>();
  made->system = implementation_;
  OperatorBasis basis;
  const auto check = [&](double value, std::size_t sample) {
    QUINTET_CHECK(std::isfinite(value),
                  "equations ({} ...): a coefficient is {} for sample {} of {}; check its constants",
                  implementation_->equations.front().what, value, sample + 1, constants.size());
    return value;
  };
  for (std::size_t sample = 0; sample < wanted.size(); ++sample)
    for (const auto& operation : wanted[sample]) {
      for (const double value : operation.first) check(value, sample);
      for (const double value : operation.second) check(value, sample);
    }
  basis = find_operator_basis(wanted);
  for (std::size_t sample = 0; sample < wanted.size(); ++sample) {
    auto& forms = made->forms.emplace_back();
    const auto number = [&](int i) { return i < 0 ? 0 : check(uniform[sample][i], sample); };
    for (const auto& form : program.forms) {
      NumericForm& numeric = forms.emplace_back();
      numeric.constant = number(form.constant);
      for (const auto& value : form.values) numeric.jets.push_back({value.field, number(value.coefficient)});
      for (const auto& one : form.derivatives) {
        const auto& weights = basis.weights[sample][one.wanted];
        for (std::size_t channel = 0; channel < weights.size(); ++channel)
          if (weights[channel] != 0)
            numeric.jets.push_back({static_cast<int>(1 + channel) * n_fields + one.field, weights[channel]});
      }
      for (const auto& term : form.terms)
        numeric.registers.push_back({term.source, number(term.coefficient)});
    }
  }
  made->operators = std::move(basis.operators);
  return Residuals(std::move(made));
}

}  // namespace quintet::flow
