#include "apps/meshfreeflow/train/frame_rates.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <utility>

#include <fmt/ranges.h>

#include "apps/meshfreeflow/setup/data_check.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/flow/evaluation/axis_rules.hpp"

namespace quintet::meshfreeflow {
namespace {

constexpr int reach = 2, fewest_frames = 5;
constexpr double values_at_most = 6e6;  // of fields and rates that are looked at in a frame

const std::regex any_rate(R"(\bdt\s*\()"), rate(R"(\bdt\s*\(\s*([A-Za-z]\w*)\s*\))");

/// The text with "dt(u)" as the field `prefix` + "u".
std::string with_rates(const std::string& text, const std::string& prefix) {
  return std::regex_replace(text, rate, prefix + "$1");
}

/// The left side minus the right one.
std::string residual(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) return fmt::format("({})", text);
  return fmt::format("({}) - ({})", text.substr(0, equals), text.substr(equals + 1));
}

/// Weights of frames for d/dt in the middle one: of up to five, `step` apart.
std::vector<std::pair<int, double>> rate_weights(const flow::Samples& samples, const flow::Run& run, int at,
                                                 int step) {
  std::vector<int> frames;
  std::vector<double> times;
  for (int frame = at - reach * step; frame <= at + reach * step; frame += step)
    if (frame >= 0 && frame < run.n_frames) {
      frames.push_back(frame);
      times.push_back(samples[run.first + frame].time);
    }
  const auto weights = flow::difference_weights(samples[run.first + at].time, times, 1);
  std::vector<std::pair<int, double>> result;
  for (std::size_t i = 0; i < frames.size(); ++i) result.emplace_back(frames[i], weights[i]);
  return result;
}

/// Rows of the middle frame of a run: fields, their rates, and their rates by every other frame.
struct Asked {
  flow::BlockAxes axes;
  std::vector<float> values;

  Asked(const flow::Samples& samples, const flow::Run& run, std::size_t n_fields) {
    const int at = run.n_frames / 2;
    const auto& middle = samples[run.first + at];
    const std::size_t row = middle.n_points() / middle.axes[0].coordinates.size();
    const int n_rows = middle.axes[0].size(),
              count = std::clamp<int>(values_at_most / (3.0 * n_fields * row), std::min(8, n_rows), n_rows),
              first = (n_rows - count) / 2;
    axes = middle.axes;
    axes[0] = flow::part_of(axes[0], first, count);
    const auto add = [&](const std::vector<std::pair<int, double>>& weights) {
      for (std::size_t f = 0; f < n_fields; ++f)
        for (std::size_t i = 0; i < count * row; ++i) {
          double sum = 0;
          for (const auto& [frame, weight] : weights) {
            const auto& sample = samples[run.first + frame];
            sum += weight * sample.values[f * sample.n_points() + first * row + i];
          }
          values.push_back(static_cast<float>(sum));
        }
    };
    add({{at, 1.0}});
    add(rate_weights(samples, run, at, 1));
    add(rate_weights(samples, run, at, 2));
  }
};

}  // namespace

VolumeEquations apart(const flow::EquationOptions& equations, const std::vector<std::string>& fields) {
  VolumeEquations result{equations, equations};
  result.still.interior.clear();
  result.rated.interior.clear();
  result.rated.boundaries.clear();
  for (const auto& equation : equations.interior) {
    const auto& text = equation.second.text;
    const std::sregex_iterator first(text.begin(), text.end(), any_rate), end;
    (first == end ? result.still : result.rated).interior.push_back(equation);
    for (auto found = first; found != end; ++found) {
      std::smatch whole;
      const bool of_field = std::regex_search(text.begin() + found->position(), text.end(), whole, rate,
                                              std::regex_constants::match_continuous) &&
                            std::find(fields.begin(), fields.end(), whole[1].str()) != fields.end();
      QUINTET_CHECK(of_field,
                    "{}: '{}', character {}: of volumes d/dt is known by differences of frames, of fields "
                    "alone; expected dt(FIELD) with one of {}",
                    flow::place_and_key(equation.second, "equations.interior." + equation.first), text,
                    found->position() + 1, fmt::join(fields, ", "));
    }
  }
  return result;
}

void check_rates(Context& context, const flow::EquationOptions& rated, const flow::FlowDataset& data) {
  if (rated.interior.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, text] : rated.interior) names.push_back(name);
  log::info(
      "Equations with d/dt: {}. They are asked of the data alone, by differences of frames: the model "
      "refines "
      "each frame by itself, so that its loss has the others",
      fmt::join(names, ", "));
  if (data.options().check == flow::DataCheck::off) return;
  auto fields = data.field_names();
  for (const auto* prefix : {"dt_", "dt2_"})
    for (const auto& name : data.field_names()) fields.push_back(prefix + name);
  flow::EquationOptions options = rated;
  options.interior.clear();
  for (const auto& [name, formula] : rated.interior) {
    auto here = formula, difference = formula;
    here.text = with_rates(formula.text, "dt_");
    difference.text = residual(with_rates(formula.text, "dt2_")) + " - (" + residual(here.text) + ")";
    options.interior.emplace_back(name, here);
    options.interior.emplace_back(name + error_of_frames, difference);
  }
  const auto& axes = data.axis_names();
  const flow::FlowEquations equations(options, fields, {axes[0], axes[1], axes[2]}, data.periodic(),
                                      data.parameter_names());
  const auto& samples = data.samples();
  std::vector<Asked> asked;
  std::vector<std::string> of_runs;
  std::vector<std::map<std::string, double>> parameters;
  constexpr std::size_t most_runs = 8;
  for (const auto& run : samples.runs()) {
    if (run.n_frames < fewest_frames || asked.size() == most_runs) continue;
    asked.emplace_back(samples, run, data.field_names().size());
    of_runs.push_back(fmt::format("{}, frame {}", run.name, run.n_frames / 2));
    parameters.push_back(samples[run.first].parameters);
  }
  if (asked.empty())
    return log::info("The data: no run has {} frames: equations with d/dt are not asked of them",
                     fewest_frames);
  std::vector<AskedSample> all;
  for (std::size_t i = 0; i < asked.size(); ++i)
    all.push_back({of_runs[i], &asked[i].axes, asked[i].values, parameters[i]});
  check_truth(context, equations, all, data.options().check, "data.check");
}

}  // namespace quintet::meshfreeflow
