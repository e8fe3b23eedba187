#include "surrogates/flow/training/torch_losses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/flow/equations/expression_functions.hpp"
#include "surrogates/flow/equations/residual_program.hpp"

namespace quintet::flow {

namespace {

at::Tensor norm_of(LossNorm norm, const at::Tensor& difference) {
  return norm == LossNorm::l1 ? difference.abs() : difference.square();
}

using Tensor = at::Tensor;

/// A function of equations by operators, with the slopes of expression_functions() where one side has none.
struct TorchFunction {
  std::string_view name;
  Tensor (*value)(const Tensor& x, const Tensor& y);
};
constexpr TorchFunction functions[] = {
    {"pow", [](const Tensor& x, const Tensor& y) { return at::pow(x, at::where(x > 0, y, y.detach())); }},
    {"atan2", [](const Tensor& x, const Tensor& y) { return at::atan2(x, y); }},
    {"min", [](const Tensor& x, const Tensor& y) { return at::where(x <= y, x, y); }},
    {"max", [](const Tensor& x, const Tensor& y) { return at::where(x >= y, x, y); }},
    {"sin", [](const Tensor& x, const Tensor&) { return at::sin(x); }},
    {"cos", [](const Tensor& x, const Tensor&) { return at::cos(x); }},
    {"tan", [](const Tensor& x, const Tensor&) { return at::tan(x); }},
    {"asin", [](const Tensor& x, const Tensor&) { return at::asin(x); }},
    {"acos", [](const Tensor& x, const Tensor&) { return at::acos(x); }},
    {"atan", [](const Tensor& x, const Tensor&) { return at::atan(x); }},
    {"sinh", [](const Tensor& x, const Tensor&) { return at::sinh(x); }},
    {"cosh", [](const Tensor& x, const Tensor&) { return at::cosh(x); }},
    {"tanh", [](const Tensor& x, const Tensor&) { return at::tanh(x); }},
    {"exp", [](const Tensor& x, const Tensor&) { return at::exp(x); }},
    {"log", [](const Tensor& x, const Tensor&) { return at::log(x); }},
    {"log10", [](const Tensor& x, const Tensor&) { return at::log10(x); }},
    {"sqrt", [](const Tensor& x, const Tensor&) { return at::sqrt(x); }},
    {"erf", [](const Tensor& x, const Tensor&) { return at::erf(x); }},
    {"gauss", [](const Tensor& x, const Tensor&) { return at::exp(-0.5 * x.square()); }},
    {"abs", [](const Tensor& x, const Tensor&) { return at::where(x < 0, -x, x); }},
    {"sign", [](const Tensor& x, const Tensor&) { return x.detach().sign(); }},
    {"step", [](const Tensor& x, const Tensor&) { return (x.detach() >= 0).to(at::kDouble); }},
    {"floor", [](const Tensor& x, const Tensor&) { return x.detach().floor(); }}};

Tensor call(int function, const Tensor& x, const Tensor& y) {
  const auto& name = expression_functions()[function].name;
  const auto* const found = std::find_if(std::begin(functions), std::end(functions),
                                         [&](const auto& row) { return row.name == name; });
  if (found == std::end(functions))
    throw InternalError(fmt::format("equations call {}, which is no operator of LibTorch here", name));
  return found->value(x, y);
}

/// Residuals [row, point, equation] of jets in physical units [row, point, channel * field].
Tensor residuals_of(const Residuals& residuals, const Tensor& jets, const ResidualNumbers& numbers) {
  const auto& program = residuals.program();
  const Tensor linear = at::baddbmm(numbers.constants, jets, numbers.jets);
  std::vector<Tensor> registers;
  std::int64_t term = 0;
  const auto value = [&](int i) { return i < 0 ? Tensor() : registers[i]; };
  for (const auto& instruction : program.instructions) {
    switch (instruction.kind) {
      case ExpressionKind::add: {
        Tensor sum = linear.select(2, instruction.index);
        for (const auto& entry : residuals.forms(0)[instruction.index].registers)  // the same ones of all
          sum = sum + numbers.terms.select(2, term++) * value(entry.place);
        registers.push_back(sum);
        break;
      }
      case ExpressionKind::coordinate:
        registers.push_back(numbers.points.select(2, instruction.index));
        break;
      case ExpressionKind::multiply:
        registers.push_back(value(instruction.x) * value(instruction.y));
        break;
      case ExpressionKind::divide:
        registers.push_back(value(instruction.x) / value(instruction.y));
        break;
      case ExpressionKind::call:
        registers.push_back(call(instruction.index, value(instruction.x), value(instruction.y)));
        break;
      case ExpressionKind::number:
      case ExpressionKind::constant:
      case ExpressionKind::jet:
        throw InternalError("an instruction of no kind");
    }
  }
  std::vector<Tensor> results;
  for (const int result : program.results) results.push_back(value(result));
  return at::stack(results, 2);
}

}  // namespace

at::Tensor value_sums(LossNorm norm, const at::Tensor& jets, const at::Tensor& targets) {
  return norm_of(norm, jets.select(2, 0).to(at::kDouble) - targets).sum(at::IntArrayRef{0, 1});
}

ResidualNumbers residual_numbers(const Residuals& residuals, std::span<const int> constants,
                                 std::span<const double> points) {
  const auto first = std::find_if(constants.begin(), constants.end(), [](int one) { return one >= 0; });
  if (first == constants.end()) throw InternalError("residuals of no sample");
  const auto n = std::ssize(constants), n_points = std::ssize(points) / (n * n_axes);
  const auto n_forms = std::ssize(residuals.program().forms);
  const std::int64_t jet_size = std::int64_t{1 + residuals.n_operators()} * residuals.n_fields();
  std::int64_t n_terms = 0;
  for (const auto& form : residuals.forms(*first)) n_terms += std::ssize(form.registers);
  ResidualNumbers numbers;
  numbers.chosen = at::empty({n}, at::kLong);
  numbers.counted = at::zeros({n, 1, 1}, at::kDouble);
  numbers.constants = at::empty({n, 1, n_forms}, at::kDouble);
  numbers.jets = at::zeros({n, jet_size, n_forms}, at::kDouble);
  numbers.terms = at::empty({n, 1, n_terms}, at::kDouble);
  auto *constant = numbers.constants.data_ptr<double>(), *jets = numbers.jets.data_ptr<double>(),
       *term = numbers.terms.data_ptr<double>();
  for (std::ptrdiff_t row = 0; row < n; ++row, jets += jet_size * n_forms) {
    // A sample that counts, so that its residuals are finite where the sum is: 0 times them is 0.
    const bool counts = constants[row] >= 0;
    const std::ptrdiff_t sample = counts ? row : first - constants.begin();
    numbers.chosen.data_ptr<std::int64_t>()[row] = sample;
    if (counts) numbers.counted.data_ptr<double>()[row] = 1;
    std::ptrdiff_t f = 0;
    for (const auto& form : residuals.forms(constants[sample])) {
      *constant++ = form.constant;
      for (const auto& entry : form.jets) jets[entry.place * n_forms + f] += entry.coefficient;
      for (const auto& entry : form.registers) *term++ = entry.coefficient;
      ++f;
    }
  }
  if (residuals.uses_coordinates()) {
    numbers.points = at::empty({n, n_points, n_axes}, at::kDouble);
    auto* to = numbers.points.data_ptr<double>();
    for (std::ptrdiff_t row = 0; row < n; ++row)
      to = std::copy_n(points.data() + numbers.chosen.data_ptr<std::int64_t>()[row] * n_points * n_axes,
                       n_points * n_axes, to);
  }
  return numbers;
}

at::Tensor residual_sums(LossNorm norm, const Residuals& residuals, const FieldTensors& fields,
                         const at::Tensor& jets, const ResidualNumbers& numbers) {
  Tensor physical = jets.index_select(0, numbers.chosen).to(at::kDouble) * fields.deviation;
  physical =
      at::cat({physical.narrow(2, 0, 1) + fields.mean, physical.narrow(2, 1, physical.size(2) - 1)}, 2);
  return (norm_of(norm, residuals_of(residuals, physical.flatten(2), numbers)) * numbers.counted)
      .sum(at::IntArrayRef{0, 1});
}

}  // namespace quintet::flow
