#include "apps/meshfreeflow/control/control_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet::meshfreeflow {

using namespace environments;
using namespace reinforcement;

FlowMean mean_over_flows(const std::vector<double>& values) {
  const double n = values.size();
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0;
  for (const double value : values) square += (value - mean) * (value - mean);
  return {mean, n > 1 ? std::sqrt(square / (n - 1) / n) : std::numeric_limits<double>::quiet_NaN()};
}

namespace {

/// Means of each flow over the actions from `first` on.
std::vector<double> means_of(const std::vector<std::vector<double>>& values, int first) {
  std::vector<double> result;
  for (const auto& one : values)
    result.push_back(std::accumulate(one.begin() + first, one.end(), 0.0) / (one.size() - first));
  return result;
}

/// Mean of a - b, flow by flow.
FlowMean mean_difference(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] -= b[k];
  return mean_over_flows(a);
}

}  // namespace

std::vector<double> Judged::means(int first) const { return means_of(nusselt, first); }

FlowMean Judged::mean_reward() const { return mean_over_flows(means_of(reward, from)); }

std::vector<double> Judged::over_time() const {
  std::vector<double> result(nusselt.front().size());
  for (const auto& one : nusselt)
    for (std::size_t t = 0; t < result.size(); ++t) result[t] += one[t] / nusselt.size();
  return result;
}

FlowMean gain_over(const Judged& one, const Judged& other) {
  return mean_difference(other.means(other.from), one.means(one.from));
}

FlowMean reward_over(const Judged& one, const Judged& other) {
  return mean_difference(means_of(one.reward, one.from), means_of(other.reward, other.from));
}

std::shared_ptr<const FlowStates> developed(const ControlCase& task, const std::vector<std::int64_t>& seeds,
                                            const Crew& crew) {
  const std::size_t n_ranks = crew.comm->size(), rank = crew.comm->rank();
  std::vector<std::uint64_t> own;
  for (std::size_t k = rank; k < seeds.size(); k += n_ranks) own.push_back(seeds[k]);
  std::vector<double> mine;
  together(*crew.comm, [&] {
    const auto states =
        developed_flows(task.world, own, task.options.starts.time, crew.threads, crew.interrupt);
    for (const FlowState& state : states)
      for (const auto* numbers : {&state.u, &state.w, &state.b, &state.p})
        mine.insert(mine.end(), numbers->begin(), numbers->end());
  });
  const auto all = crew.comm->all_gather(std::span<const double>(mine));
  auto flows = std::make_shared<FlowStates>(seeds.size());
  const std::int64_t cells = std::int64_t{task.world.cells_x} * task.world.cells_z;
  auto next = all.begin();
  for (std::size_t r = 0; r < n_ranks; ++r)
    for (std::size_t k = r; k < seeds.size(); k += n_ranks) {
      FlowState& state = (*flows)[k];
      for (auto* numbers : {&state.u, &state.w, &state.b, &state.p})
        numbers->assign(next, next + cells), next += cells;
    }
  return flows;
}

namespace {

/// Numbers of all flows, those of each rank in its order, to all. Collective.
std::vector<std::vector<double>> gathered_by_flow(const std::vector<const ConvectionControl*>& worlds,
                                                  const Comm& comm, int actions) {
  const std::size_t n_ranks = comm.size();
  std::vector<double> mine;
  for (std::size_t k = comm.rank(); k < worlds.size(); k += n_ranks)
    mine.insert(mine.end(), worlds[k]->nusselt().begin(), worlds[k]->nusselt().end());
  const auto all = comm.all_gather(std::span<const double>(mine));
  std::vector<std::vector<double>> result(worlds.size());
  auto next = all.begin();
  for (std::size_t r = 0; r < n_ranks; ++r)
    for (std::size_t k = r; k < worlds.size(); k += n_ranks)
      result[k].assign(next, next + actions), next += actions;
  return result;
}

}  // namespace

Judged judge(const ConvectionControlOptions& world, const std::shared_ptr<const FlowStates>& flows,
             const Crew& crew, int from, const Act& act) {
  const int n = flows->size();
  std::vector<std::unique_ptr<Environment>> worlds;
  std::vector<const ConvectionControl*> played_in;
  for (int k = 0; k < n; ++k) {
    auto one = std::make_unique<ConvectionControl>(world, flows, Starts::own);
    played_in.push_back(one.get());
    worlds.push_back(std::move(one));
  }
  EnvironmentPool pool(std::move(worlds), {n, crew.threads, 0, 0, crew.comm});
  const EpisodeRewards played = play(pool, [&](std::span<const float> observed, std::span<float> actions) {
    give_up_if_asked(*crew.comm, crew.interrupt);
    act(observed, actions);
  });
  Judged result;
  result.from = from;
  for (const auto& rewards : played.rewards) result.reward.emplace_back(rewards.begin(), rewards.end());
  result.nusselt = gathered_by_flow(played_in, *crew.comm, world.actions);
  const ConvectionControl& first = *played_in.front();  // of rank 0
  result.first_b = first.state().b;
  crew.comm->broadcast(std::span<double>(result.first_b));
  result.profiles = first.profiles();
  for (auto& profile : result.profiles) crew.comm->broadcast(std::span<double>(profile));
  return result;
}

Act no_control() {
  return [](std::span<const float>, std::span<float> actions) {
    std::fill(actions.begin(), actions.end(), 0.0F);
  };
}

bool has_proportional(const ConvectionControlOptions& world) {
  const auto divides = [&](const Actuator& one) {
    return !one.insulates && world.probes_x % one.heating.segments == 0;
  };
  return world.problem.heated == convection::Heated::plates &&
         std::count(world.sensed.begin(), world.sensed.end(), Sensed::w) > 0 &&
         std::all_of(world.actuators.begin(), world.actuators.end(), divides);
}

Act proportional_control(const ConvectionControlOptions& world, double gain) {
  return [world, gain](std::span<const float> observed, std::span<float> actions) {
    const std::size_t px = world.probes_x, pz = world.probes_z, fields = world.sensed.size();
    const std::size_t w =
        std::find(world.sensed.begin(), world.sensed.end(), Sensed::w) - world.sensed.begin();
    const std::size_t n_actions = world.n_actions(), n_observed = world.n_observed();
    for (std::size_t e = 0; e < actions.size() / n_actions; ++e)
      for (std::size_t a = 0; a < world.actuators.size(); ++a) {
        const std::size_t segments = world.actuators[a].heating.segments, each = px / segments;
        for (std::size_t s = 0; s < segments; ++s) {
          double sum = 0;
          for (std::size_t i = 0; i < each; ++i)
            for (std::size_t j = 0; j < pz; ++j)
              sum += observed[e * n_observed + ((s * each + i) * fields + w) * pz + j];
          actions[e * n_actions + world.place_of(a, s)] = static_cast<float>(-gain * sum / (each * pz));
        }
      }
  };
}

int layer_cells(const ConvectionControlOptions& world, double nusselt) {
  const auto axis = world.problem.heated == convection::Heated::plates ? world.z_axis() : world.x_axis();
  return std::count_if(axis.faces.begin() + 1, axis.faces.end(), [&](double face) {
    return face - axis.faces[0] <= 0.5 / nusselt * axis.length() + 1e-12;
  });
}

void require_layer_cells(const ControlCase& task, double nusselt) {
  const int cells = layer_cells(task.world, nusselt);
  if (cells >= task.layer_cells) return;
  const bool plates = task.world.problem.heated == convection::Heated::plates;
  throw NumericalError(fmt::format(
      "without control Nu = {:.4g}, and its thermal boundary layer of {:.3g} has {} cells, below {} = {:g}: "
      "more {} along {}, or a greater {}",
      nusselt, 0.5 / nusselt, cells, task.layer_cells_key(), task.layer_cells, task.cells_key(),
      plates ? "z" : "x",
      !task.options.environment ? "flow.strength"
      : plates                  ? "grid.z.strength"
                                : "grid.x.strength with grid.x.spacing: tanh"));
}

}  // namespace quintet::meshfreeflow
