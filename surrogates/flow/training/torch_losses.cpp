#include "surrogates/flow/training/torch_losses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include "io/log/error.hpp"
#include "surrogates/flow/equations/expression_functions.hpp"
#include "surrogates/flow/equations/residual_program.hpp"

namespace quintet::flow {

namespace {

at::Tensor norm_of(LossNorm norm, const at::Tensor& difference) {
  return norm == LossNorm::l1 ? difference.abs() : difference.square();
}

/// Numbers of the host as float64 on a device.
at::Tensor there(const std::vector<double>& values, at::IntArrayRef shape, c10::Device device) {
  return at::from_blob(const_cast<double*>(values.data()), shape, at::kDouble)
      .to(at::TensorOptions().device(device), /*non_blocking=*/false, /*copy=*/true);
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
  const auto& name = expression_functions()[static_cast<std::size_t>(function)].name;
  const auto* const found = std::find_if(std::begin(functions), std::end(functions),
                                         [&](const auto& row) { return row.name == name; });
  if (found == std::end(functions))
    throw InternalError(fmt::format("equations call {}, which is no operator of LibTorch here", name));
  return found->value(x, y);
}

/// The coefficients of all linear forms, of each of some samples.
struct FormTensors {
  Tensor constants;  ///< [sample, 1, form]
  Tensor jets;       ///< [sample, channel * field, form]
  Tensor terms;      ///< [sample, 1, term], those of all forms in their order
};

FormTensors form_tensors(const Residuals& residuals, const std::vector<int>& samples, std::int64_t jet_size,
                         c10::Device device) {
  const auto n_forms = residuals.program().forms.size();
  std::vector<double> constants, terms;
  std::vector<double> jets(samples.size() * static_cast<std::size_t>(jet_size) * n_forms);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto forms = residuals.forms(samples[s]);
    for (std::size_t f = 0; f < n_forms; ++f) {
      constants.push_back(forms[f].constant);
      for (const auto& entry : forms[f].jets)
        jets[(s * static_cast<std::size_t>(jet_size) + static_cast<std::size_t>(entry.place)) * n_forms +
             f] += entry.coefficient;
      for (const auto& entry : forms[f].registers) terms.push_back(entry.coefficient);
    }
  }
  const auto n = static_cast<std::int64_t>(samples.size()), forms = static_cast<std::int64_t>(n_forms);
  return {there(constants, {n, 1, forms}, device), there(jets, {n, jet_size, forms}, device),
          there(terms, {n, 1, static_cast<std::int64_t>(terms.size()) / n}, device)};
}

/// Residuals [sample, point, equation] of jets in physical units [sample, point, channel * field].
Tensor residuals_of(const Residuals& residuals, const std::vector<int>& samples, const Tensor& jets,
                    const Tensor& points) {
  const auto& program = residuals.program();
  const FormTensors forms = form_tensors(residuals, samples, jets.size(2), jets.device());
  const Tensor linear = at::baddbmm(forms.constants, jets, forms.jets);
  std::vector<Tensor> registers;
  std::int64_t term = 0;
  const auto value = [&](int i) { return i < 0 ? Tensor() : registers[static_cast<std::size_t>(i)]; };
  for (const auto& op : program.instructions) {
    switch (op.kind) {
      case ExpressionKind::add: {
        Tensor sum = linear.select(2, op.index);
        for (const auto& entry :
             residuals.forms(samples.front())[static_cast<std::size_t>(op.index)].registers)
          sum = sum + forms.terms.select(2, term++) * value(entry.place);
        registers.push_back(sum);
        break;
      }
      case ExpressionKind::coordinate:
        registers.push_back(points.select(2, op.index));
        break;
      case ExpressionKind::multiply:
        registers.push_back(value(op.x) * value(op.y));
        break;
      case ExpressionKind::divide:
        registers.push_back(value(op.x) / value(op.y));
        break;
      case ExpressionKind::call:
        registers.push_back(call(op.index, value(op.x), value(op.y)));
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

at::Tensor residual_sums(LossNorm norm, const Residuals& residuals, const FieldStatistics& statistics,
                         const at::Tensor& jets, std::span<const int> constants, const at::Tensor& points) {
  std::vector<int> samples;
  std::vector<std::int64_t> reached;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    if (constants[i] < 0) continue;
    samples.push_back(constants[i]);
    reached.push_back(static_cast<std::int64_t>(i));
  }
  const auto device = jets.device();
  const auto wide = at::TensorOptions().dtype(at::kDouble).device(device);
  if (samples.empty()) return at::zeros({residuals.n_equations()}, wide);
  const Tensor chosen = at::tensor(reached, at::kLong).to(device);
  const auto n_fields = static_cast<std::int64_t>(statistics.mean.size()), n_channels = jets.size(2);
  Tensor physical =
      jets.index_select(0, chosen).to(at::kDouble) * there(statistics.deviation, {n_fields}, device);
  physical = at::cat({physical.narrow(2, 0, 1) + there(statistics.mean, {n_fields}, device),
                      physical.narrow(2, 1, n_channels - 1)},
                     2);
  const Tensor of_samples = residuals.uses_coordinates() ? points.index_select(0, chosen) : Tensor();
  return norm_of(norm, residuals_of(residuals, samples, physical.flatten(2), of_samples))
      .sum(at::IntArrayRef{0, 1});
}

}  // namespace quintet::flow
