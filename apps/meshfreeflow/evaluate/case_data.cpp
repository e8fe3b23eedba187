#include "apps/meshfreeflow/evaluate/case_data.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/report/report.hpp"
#include "apps/meshfreeflow/evaluate/case_walls.hpp"
#include "io/formula/formula.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/flow/data/interpolate.hpp"
#include "surrogates/flow/evaluation/axis_rules.hpp"
#include "surrogates/flow/prediction/flow_predictor.hpp"

namespace quintet::meshfreeflow {
namespace {

double number_of(const FormulaText& text, const std::map<std::string, double>& parameters, const char* key) {
  const double value = Formula(text.text, {}, parameters, key)({});
  QUINTET_CHECK(std::isfinite(value) && value > 0, "{}: {} is {}; a number above 0 is needed", key, text.text,
                value);
  return value;
}

FlowMeaning meaning_of(const FlowOptions& options, const std::vector<std::string>& fields,
                       const std::map<std::string, double>& parameters) {
  FlowMeaning meaning;
  for (std::size_t i = 0; i < 2; ++i)
    meaning.roles.velocity[i] = field_of(fields, options.velocity[i], "flow.velocity");
  if (!options.scalar.empty()) meaning.roles.scalar = field_of(fields, options.scalar, "flow.scalar");
  meaning.constants.viscosity = number_of(options.viscosity, parameters, "flow.viscosity");
  if (!options.scalar.empty())
    meaning.constants.diffusivity = number_of(options.diffusivity, parameters, "flow.diffusivity");
  return meaning;
}

/// Leave out frames beyond what the coarse fields reach.
void trim_frames(flow::FieldBlock& truth, const flow::BlockAxis& coarse) {
  const auto times = truth.axes[0].coordinates;
  const double slack = 1e-9 * (coarse.upper - coarse.lower);
  std::size_t first = 0, end = times.size();
  while (first < end && times[first] < coarse.lower - slack) ++first;
  while (end > first && times[end - 1] > coarse.upper + slack) --end;
  QUINTET_CHECK(
      end - first >= 3,
      "only {} of the truth between times {:.6g} and {:.6g}, where the coarse fields are; expected 3 or more",
      counted(end - first, "frame"), coarse.lower, coarse.upper);
  keep_frames(truth, first, end - first);
}

constexpr void (*by_lines)(const flow::BlockView&, std::span<const double>,
                           std::span<float>) = flow::interpolate;

/// [point][n] into columns of a frame.
void scatter(const std::vector<float>& values, std::size_t n, std::size_t offset,
             std::vector<std::vector<double>>& columns) {
  for (std::size_t p = 0; p * n < values.size(); ++p)
    for (std::size_t k = 0; k < n; ++k) columns[k][offset + p] = values[p * n + k];
}

}  // namespace

int field_of(const std::vector<std::string>& fields, const std::string& name, const char* key) {
  const auto found = std::find(fields.begin(), fields.end(), name);
  QUINTET_CHECK(found != fields.end(), "{}: the models have no field '{}'; they have {}", key, name,
                fmt::join(fields, ", "));
  return found - fields.begin();
}

std::vector<double> CaseData::held_times() const {
  const auto& times = truth.axes[0].coordinates;
  return {times.begin() + first_held, times.begin() + end_held};
}

std::vector<std::span<const double>> CaseFields::spans() const { return {fields.begin(), fields.end()}; }

CaseData load_case(const Comm& comm, const CaseOptions& options, const EvaluateOptions& all,
                   const flow::FlowModelHeader& model, const Interrupt& interrupt) {
  auto truth = read_flow(comm, options.truth, model, all.max_memory, interrupt);
  flow::FieldBlock coarse;
  if (options.coarse) {
    auto input = read_flow(comm, *options.coarse, model, all.max_memory, interrupt);
    for (const auto& [name, value] : truth.parameters) {
      const auto other = input.parameters.find(name);
      QUINTET_CHECK(
          other == input.parameters.end() || std::abs(other->second - value) <= 1e-6 * std::abs(value),
          "case {}: {} = {:.6g} in the truth and {:.6g} in the coarse run", options.name, name, value,
          other == input.parameters.end() ? 0 : other->second);
    }
    coarse = std::move(input.block);
  } else {
    flow::LowResolutionOptions low;
    if (all.low_resolution)
      low = *all.low_resolution;
    else
      low.factor.assign(model.refinement.begin(), model.refinement.end());
    coarse = made_coarser(truth.block, low, model.axis_names(), truth.name);
  }
  trim_frames(truth.block, coarse.axes[0]);
  const auto& axes = truth.block.axes;
  flow::RectilinearGrid grid(
      {field_axis(axes[1], model.axes[1].name), field_axis(axes[2], model.axes[2].name)});
  CaseData data{options.name,     truth.name, std::move(truth.block), std::move(coarse),
                truth.parameters, grid,       model.field_names(),    {},
                std::nullopt};
  data.walls.assign(data.fields.size(), flow::FieldWalls(2));
  if (all.flow) {
    data.meaning = meaning_of(*all.flow, data.fields, data.parameters);
    data.walls = walls_of(*all.flow, data, truth.wall_values);
  }
  const std::int64_t n = data.n_frames();
  data.first = n * comm.rank() / comm.size();
  data.end = n * (comm.rank() + 1) / comm.size();
  const int reach = flow::AxisRules::width - 1;
  data.first_held = std::max(0, data.first - reach);
  data.end_held = std::min<int>(n, data.end + reach);
  return data;
}

std::vector<double> points_of(const CaseData& data, int frame) {
  std::vector<double> points;
  const auto& axes = data.truth.axes;
  // Coarse fields may begin or end a rounding error within the truth.
  const double time =
      std::clamp(axes[0].coordinates[frame], data.coarse.axes[0].lower, data.coarse.axes[0].upper);
  for (const double z : axes[1].coordinates)
    for (const double x : axes[2].coordinates) points.insert(points.end(), {time, z, x});
  return points;
}

CaseFields true_fields(const CaseData& data) {
  CaseFields result{"truth", {}, {}};
  const std::size_t frame = data.grid.size(), n = data.n_frames();
  for (std::size_t f = 0; f < data.fields.size(); ++f) {
    const auto begin = data.truth.values.begin() + f * n * frame;
    result.fields.emplace_back(begin + (data.first_held * frame), begin + (data.end_held * frame));
  }
  return result;
}

CaseFields interpolated_fields(const CaseData& data, bool by_cubics, const Interrupt& interrupt) {
  const std::size_t frame = data.grid.size(), n_fields = data.fields.size();
  CaseFields result{by_cubics ? "tricubic" : "trilinear", {}, {}};
  const auto interpolate = by_cubics ? flow::interpolate_by_cubics : by_lines;
  result.fields.assign(n_fields, std::vector<double>(data.n_held() * frame));
  std::vector<float> values(frame * n_fields);
  for (int i = 0; i < data.n_held(); ++i) {
    give_up_if_asked(interrupt);
    interpolate(flow::BlockView(data.coarse), points_of(data, data.first_held + i), values);
    scatter(values, n_fields, i * frame, result.fields);
  }
  return result;
}

CaseFields predicted_fields(const CaseData& data, const JudgedModel& judged,
                            const flow::PredictionOptions& options) {
  flow::FlowPredictor predictor(judged.model, data.coarse, data.parameters, options);
  const std::size_t frame = data.grid.size(), n_fields = data.fields.size(),
                    n_equations = predictor.equation_names().size();
  CaseFields result{judged.options.name, {}, {}, predictor.doubts()};
  result.fields.assign(n_fields, std::vector<double>(data.n_held() * frame));
  result.residuals.assign(n_equations, std::vector<double>(data.n_held() * frame));
  std::vector<float> values(frame * n_fields), residuals(frame * n_equations);
  for (int i = 0; i < data.n_held(); ++i) {
    predictor.predict(points_of(data, data.first_held + i), values, residuals);
    scatter(values, n_fields, i * frame, result.fields);
    if (n_equations > 0) scatter(residuals, n_equations, i * frame, result.residuals);
  }
  return result;
}

}  // namespace quintet::meshfreeflow
