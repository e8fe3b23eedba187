#include "surrogates/environments/convection_control.hpp"

#include <algorithm>
#include <cmath>
#include <future>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kernels/random.hpp"
#include "physics/transforms/fft.hpp"

namespace quintet::environments {

using namespace convection;

namespace {

constexpr std::uint32_t stream = 0x5402;

std::unique_ptr<Boussinesq> make_flow(const ConvectionControlOptions& options) {
  Grid grid(Comm::self(), options.x_axis(), options.z_axis());
  auto solver = options.by_modes ? make_modes_solver(options.problem, grid)
                                 : make_transform_solver(options.problem, grid);
  return std::make_unique<Boussinesq>(options.problem, std::move(grid), std::move(solver), 1);
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
  check_options();
  flow_ = make_flow(options);
  control_ = std::make_unique<WallControl>(options, flow_->grid());
  if (flows_) check_flows();
}

void ConvectionControl::check_options() const {
  const auto& options = options_;
  QUINTET_CHECK(options.interval > 0 && options.actions >= 1,
                "{} actions of {} each; expected at least 1, above 0", options.actions, options.interval);
  QUINTET_CHECK(
      Exec().concurrency() == 1,
      "threads of a pool step flows, and Kokkos has {} threads of its own; start with --threads 1, or with a "
      "Kokkos without OpenMP",
      Exec().concurrency());
  QUINTET_CHECK(options.by_modes || Fft::possible(options.cells_x),
                "{} cells along x have a prime factor above {}: no fast transform; {} have one",
                options.cells_x, Fft::most_prime, Fft::next_possible(options.cells_x));
}

void ConvectionControl::check_flows() const {
  QUINTET_CHECK(!flows_->empty(), "no flows to begin with");
  for (const FlowState& state : *flows_)
    QUINTET_CHECK(std::ssize(state.b) == std::int64_t{options_.cells_x} * options_.cells_z,
                  "a flow of {} cells to begin with; the environment has {} x {}", state.b.size(),
                  options_.cells_x, options_.cells_z);
}

void ConvectionControl::begin(const FlowState& from, int shift, bool mirrored) {
  BoussinesqState& state = flow_->state(0);
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
  control_->release(*flow_);
  flow_->resume(0, 0);
  nusselt_.clear();
  taken_ = 0;
}

void ConvectionControl::reset(const EpisodeKey& key) {
  QUINTET_CHECK(flows_ != nullptr, "an episode without flows to begin with");
  const double n = flows_->size();
  if (starts_ == Starts::own) return begin((*flows_)[key.environment % flows_->size()], 0, false);
  double which, shift, side, unused;
  const std::uint64_t id = key.environment, step = 2 * static_cast<std::uint64_t>(key.episode);
  uniform_pair(key.seed, stream, id, step, which, shift);
  uniform_pair(key.seed, stream, id, step + 1, side, unused);
  const int cells = options_.periodic() ? std::min<int>(shift * options_.cells_x, options_.cells_x - 1) : 0;
  begin((*flows_)[std::min<std::size_t>(which * n, flows_->size() - 1)], cells,
        side < 0.5 && options_.problem.heated == Heated::plates);
}

void ConvectionControl::advance(double time) {
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
  for (auto left = std::llround(time / dt); left > 0;) {
    while (dt > 1.5 * admitted()) dt /= 2, left *= 2;
    --left;
    flow_->advance(exec, dt, left == 0 ? end : flow_->time() + dt);
    control_->add_step(*flow_, dt);
  }
}

Outcome ConvectionControl::step(std::span<const float> action) {
  control_->act(*flow_, action);
  advance(options_.interval);
  const RewardTerms terms = control_->terms(options_.interval);
  const double reward = control_->reward(terms);
  nusselt_.push_back(terms.nusselt);
  ++taken_;
  return {reward, false, taken_ >= options_.actions};
}

void ConvectionControl::observe(std::span<float> observation) const {
  control_->observe(*flow_, observation);
}

FlowState ConvectionControl::state() const {
  const BoussinesqState& now = flow_->state(0);
  return {numbers_of(now.u), numbers_of(now.w), numbers_of(now.b), numbers_of(now.p)};
}

FlowStates developed_flows(const ConvectionControlOptions& options, const std::vector<std::uint64_t>& seeds,
                           double time, int threads, const Interrupt& interrupt) {
  FlowStates flows(seeds.size());
  const auto n = std::min<std::size_t>(std::max(threads, 1), seeds.size());
  std::vector<std::unique_ptr<ConvectionControl>> worlds;
  for (std::size_t t = 0; t < n; ++t)
    worlds.push_back(std::make_unique<ConvectionControl>(options, nullptr, Starts::own));
  const auto develop = [&](std::size_t t) {
    ConvectionControl& world = *worlds[t];
    for (std::size_t k = t; k < seeds.size(); k += n) {
      world.control_->release(*world.flow_);
      fill(options.problem, options.start, seeds[k], *world.flow_, 0);
      world.flow_->start(Exec());
      const double piece = options.interval;
      for (double done = 0; done < time * (1 - 1e-12); done += piece) {
        give_up_if_asked(interrupt);
        world.advance(std::min(piece, time - done));
      }
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
