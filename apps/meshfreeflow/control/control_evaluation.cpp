#include "apps/meshfreeflow/control/control_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

using namespace environments;
using namespace reinforcement;

FlowMean mean_over_flows(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0;
  for (const double value : values) square += (value - mean) * (value - mean);
  return {mean, n > 1 ? std::sqrt(square / (n - 1) / n) : std::numeric_limits<double>::quiet_NaN()};
}

std::vector<double> Judged::means(int first) const {
  std::vector<double> result;
  for (const auto& one : nusselt)
    result.push_back(std::accumulate(one.begin() + first, one.end(), 0.0) / (one.size() - first));
  return result;
}

std::vector<double> Judged::over_time() const {
  std::vector<double> result(nusselt.front().size());
  for (const auto& one : nusselt)
    for (std::size_t t = 0; t < result.size(); ++t) result[t] += one[t] / nusselt.size();
  return result;
}

FlowMean gain_over(const Judged& one, const Judged& other) {
  auto differences = other.means(other.from);
  const auto means = one.means(one.from);
  for (std::size_t k = 0; k < means.size(); ++k) differences[k] -= means[k];
  return mean_over_flows(differences);
}

Judged judge(const ConvectionControlOptions& world, const std::shared_ptr<const FlowStates>& flows,
             int threads, int from, const Act& act) {
  const int n = flows->size();
  std::vector<std::unique_ptr<Environment>> worlds;
  const ConvectionControl* first = nullptr;
  for (int k = 0; k < n; ++k) {
    auto one = std::make_unique<ConvectionControl>(world, flows, Starts::own);
    if (k == 0) first = one.get();
    worlds.push_back(std::move(one));
  }
  EnvironmentPool pool(std::move(worlds), {n, threads, 0});
  const EpisodeRewards played = play(pool, act);
  Judged result;
  result.from = from;
  for (const auto& rewards : played.rewards) {
    std::vector<double> nusselt;
    for (const float reward : rewards) nusselt.push_back(-double{reward});
    result.nusselt.push_back(std::move(nusselt));
  }
  result.first = first->state();
  result.floor.assign(first->flow().floor().begin(), first->flow().floor().end());
  return result;
}

Act no_control() {
  return [](std::span<const float>, std::span<float> actions) {
    std::fill(actions.begin(), actions.end(), 0.0F);
  };
}

Act proportional_control(const ConvectionControlOptions& world, double gain) {
  const auto px = static_cast<std::size_t>(world.probes_x), pz = static_cast<std::size_t>(world.probes_z),
             segments = static_cast<std::size_t>(world.floor.segments);
  return [=](std::span<const float> observed, std::span<float> actions) {
    const std::size_t each = px / segments;
    for (std::size_t k = 0; k < actions.size(); ++k) {
      const float* const seen = observed.data() + k / segments * (px * 3 * pz);
      double sum = 0;
      for (std::size_t i = 0; i < each; ++i)
        for (std::size_t j = 0; j < pz; ++j) sum += seen[((k % segments * each + i) * 3 + 1) * pz + j];
      actions[k] = static_cast<float>(-gain * sum / (each * pz));
    }
  };
}

int layer_cells(const ControlOptions& options, double nusselt) {
  const auto z = convection::make_axis(-0.5, 0.5, options.flow.cells[1], convection::Spacing::tanh,
                                       options.flow.strength, false);
  return std::count_if(z.faces.begin() + 1, z.faces.end(),
                       [&](double face) { return face + 0.5 <= 0.5 / nusselt + 1e-12; });
}

void require_layer_cells(const ControlOptions& options, double nusselt) {
  const int cells = layer_cells(options, nusselt);
  if (cells < options.flow.layer_cells)
    throw NumericalError(fmt::format(
        "without control Nu = {:.4g}, and its thermal boundary layer of {:.3g} has {} cells, below "
        "flow.layer_cells = {}: more flow.cells along z, or a greater flow.strength",
        nusselt, 0.5 / nusselt, cells, options.flow.layer_cells));
}

}  // namespace quintet::meshfreeflow
