#include "surrogates/environments/convection_control.hpp"

#include <algorithm>
#include <cmath>
#include <future>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/initial.hpp"
#include "physics/kernels/random.hpp"
#include "physics/transforms/fft.hpp"

namespace quintet::environments {

using namespace convection;

namespace {

constexpr std::uint32_t stream = 0x5402;

std::unique_ptr<Boussinesq> make_flow(const ConvectionControlOptions& options) {
  Problem problem;
  problem.rayleigh = options.rayleigh;
  problem.prandtl = options.prandtl;
  Grid grid(Comm::self(), make_axis(0, options.aspect_ratio, options.cells_x, Spacing::uniform, 0, true),
            make_axis(-0.5, 0.5, options.cells_z, Spacing::tanh, options.strength, false));
  auto solver = make_transform_solver(problem, grid);
  return std::make_unique<Boussinesq>(problem, std::move(grid), std::move(solver), 1);
}

/// A place between two of the ascending `points`, or the nearest of them beyond their ends: number of the
/// lower, weight of the upper.
std::pair<int, double> between(const std::vector<double>& points, double place) {
  const auto above =
      std::clamp<std::ptrdiff_t>(std::lower_bound(points.begin(), points.end(), place) - points.begin(), 1,
                                 static_cast<std::ptrdiff_t>(points.size()) - 1);
  const double low = points[above - 1], high = points[above];
  return {static_cast<int>(above - 1), std::clamp((place - low) / (high - low), 0.0, 1.0)};
}

std::vector<double> numbers_of(const Field& field) {
  std::vector<double> numbers;
  for (int j = 0; j < field.rows; ++j) numbers.insert(numbers.end(), field.row(j), field.row(j) + field.n);
  return numbers;
}

}  // namespace

ConvectionControl::ConvectionControl(const ConvectionControlOptions& options,
                                     std::shared_ptr<const FlowStates> flows, Starts starts)
    : options_(options), flows_(std::move(flows)), starts_(starts) {
  QUINTET_CHECK(
      options.probes_x >= 1 && options.probes_z >= 1 && options.probes_x % options.floor.segments == 0,
      "{} by {} probes over {} segments of the floor; expected a multiple of the segments along x",
      options.probes_x, options.probes_z, options.floor.segments);
  QUINTET_CHECK(options.interval > 0 && options.actions >= 1,
                "{} actions of {} each; expected at least 1, above 0", options.actions, options.interval);
  QUINTET_CHECK(
      Exec().concurrency() == 1,
      "threads of a pool step flows, and Kokkos has {} threads of its own; start with --threads 1, or with a "
      "Kokkos without OpenMP",
      Exec().concurrency());
  QUINTET_CHECK(Fft::possible(options.cells_x),
                "{} cells along x have a prime factor above {}: no fast transform; {} have one",
                options.cells_x, Fft::most_prime, Fft::next_possible(options.cells_x));
  flow_ = make_flow(options);
  floor_ = std::make_unique<FloorHeating>(options.floor, flow_->grid().x);
  profile_.resize(options.cells_x);
  make_probes();
  if (!flows_) return;
  QUINTET_CHECK(!flows_->empty(), "no flows to begin with");
  for (const FlowState& state : *flows_)
    QUINTET_CHECK(std::ssize(state.b) == std::int64_t{options.cells_x} * options.cells_z,
                  "a flow of {} cells to begin with; the environment has {} x {}", state.b.size(),
                  options.cells_x, options.cells_z);
}

void ConvectionControl::make_probes() {
  const Grid& grid = flow_->grid();
  const Axis &x = grid.x, &z = grid.z;
  const auto probe_at = [&](Place place, double px, double pz) {
    // Along x everything is round: from the nearest point to the left.
    const double width = x.widths[0], first = place == Place::left_face ? 0 : 0.5 * width;
    const double steps = (px - first) / width, whole = std::floor(steps);
    const int left = (static_cast<int>(whole) + x.n()) % x.n(), right = (left + 1) % x.n();
    const double share = steps - whole;
    // Row n of w is the top plate.
    const auto [low, up] = between(place == Place::bottom_face ? z.faces : z.centres, pz);
    return Probe{{{low, left, (1 - up) * (1 - share)},
                  {low, right, (1 - up) * share},
                  {low + 1, left, up * (1 - share)},
                  {low + 1, right, up * share}}};
  };
  for (int i = 0; i < options_.probes_x; ++i)
    for (const Place place : {Place::left_face, Place::bottom_face, Place::centre})
      for (int j = 0; j < options_.probes_z; ++j) {
        const double height = (j + 0.5) / options_.probes_z - 0.5;
        probes_.push_back(probe_at(place, (i + 0.5) / options_.probes_x * x.length(), height));
        heights_.push_back(place == Place::centre ? height : 0.0);
      }
}

void ConvectionControl::begin(const FlowState& from, int shift, bool mirrored) {
  State& state = flow_->state(0);
  const int n = options_.cells_x;
  for (int j = 0; j < options_.cells_z; ++j)
    for (int i = 0; i < n; ++i) {
      const auto row = std::int64_t{j} * n;
      const std::size_t cell = row + (((mirrored ? n - 1 - i : i) + shift) % n);
      const std::size_t face = row + (((mirrored ? n - i : i) + shift) % n);
      state.u.row(j)[i] = mirrored ? -from.u[face] : from.u[face];
      state.w.row(j)[i] = from.w[cell];
      state.b.row(j)[i] = from.b[cell];
      state.p.row(j)[i] = from.p[cell];
    }
  flow_->set_floor({});
  flow_->resume(0, 0);
  taken_ = 0;
}

void ConvectionControl::reset(const EpisodeKey& key) {
  QUINTET_CHECK(flows_ != nullptr, "an episode without flows to begin with");
  const auto n = static_cast<double>(flows_->size());
  if (starts_ == Starts::own) return begin((*flows_)[key.environment % flows_->size()], 0, false);
  double which, shift, side, unused;
  const auto id = static_cast<std::uint64_t>(key.environment),
             step = 2 * static_cast<std::uint64_t>(key.episode);
  uniform_pair(key.seed, stream, id, step, which, shift);
  uniform_pair(key.seed, stream, id, step + 1, side, unused);
  begin((*flows_)[std::min(static_cast<std::size_t>(which * n), flows_->size() - 1)],
        std::min(static_cast<int>(shift * options_.cells_x), options_.cells_x - 1), side < 0.5);
}

double ConvectionControl::advance(double time) {
  const Exec exec;
  const auto admitted = [&] {
    const double rate = flow_->courant_rate(exec);
    if (!std::isfinite(rate))
      throw NumericalError(
          fmt::format("a flow under control: a velocity is not finite at time {:.4g} of its episode; "
                      "a smaller cfl or more cells help",
                      flow_->time()));
    return std::min(options_.most_dt, options_.cfl / rate);
  };
  // Equal steps; halved where the flow speeds up, so that the equations are factorised anew rarely.
  double dt = time / std::ceil(time / admitted() - 1e-9);
  const double end = flow_->time() + time;
  double before = convected_nusselt(*flow_, 0), sum = 0;
  for (auto left = std::llround(time / dt); left > 0;) {
    while (dt > 1.5 * admitted()) dt /= 2, left *= 2;
    --left;
    flow_->advance(exec, dt, left == 0 ? end : flow_->time() + dt);
    const double after = convected_nusselt(*flow_, 0);
    sum += 0.5 * dt * (before + after);
    before = after;
  }
  return sum / time;
}

Outcome ConvectionControl::step(std::span<const float> action) {
  floor_->profile(action, profile_);
  flow_->set_floor(profile_);
  const double nusselt = advance(options_.interval);
  if (!std::isfinite(nusselt)) throw NumericalError("a flow under control: its Nusselt number is not finite");
  ++taken_;
  return {-nusselt, false, taken_ >= options_.actions};
}

void ConvectionControl::observe(std::span<float> observation) const {
  const State& state = flow_->state(0);
  const Field* const fields[3] = {&state.u, &state.w, &state.b};
  for (std::size_t k = 0; k < probes_.size(); ++k) {
    const Field& field = *fields[k / options_.probes_z % 3];
    double value = heights_[k];
    for (const auto& [row, cell, weight] : probes_[k].parts) value += weight * field.row(row)[cell];
    observation[k] = static_cast<float>(value);
  }
}

FlowState ConvectionControl::state() const {
  const State& now = flow_->state(0);
  return {numbers_of(now.u), numbers_of(now.w), numbers_of(now.b), numbers_of(now.p)};
}

FlowStates developed_flows(const ConvectionControlOptions& options, const std::vector<std::uint64_t>& seeds,
                           double time, int threads) {
  FlowStates flows(seeds.size());
  const auto n = std::min(static_cast<std::size_t>(std::max(threads, 1)), seeds.size());
  std::vector<std::unique_ptr<ConvectionControl>> worlds;
  for (std::size_t t = 0; t < n; ++t)
    worlds.push_back(std::make_unique<ConvectionControl>(options, nullptr, Starts::own));
  const auto develop = [&](std::size_t t) {
    ConvectionControl& world = *worlds[t];
    for (std::size_t k = t; k < seeds.size(); k += n) {
      Start start;
      start.noise = 0.1;
      start.noise_modes = 4;
      world.flow_->set_floor({});
      fill(world.flow_->problem(), start, seeds[k], *world.flow_, 0);
      world.flow_->start(Exec());
      const double piece = options.interval;
      for (double done = 0; done < time * (1 - 1e-12); done += piece)
        world.advance(std::min(piece, time - done));
      flows[k] = world.state();
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t t = 1; t < n; ++t) others.push_back(std::async(std::launch::async, develop, t));
  if (n > 0) develop(0);
  for (auto& other : others) other.get();
  return flows;
}

}  // namespace quintet::environments
