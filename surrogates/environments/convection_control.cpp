#include "surrogates/environments/convection_control.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>

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

/// A quantity of a reward: its name, where a flow's numbers have it (null: found otherwise).
struct Quantity {
  const char* name;
  double RewardTerms::*term;
  double Sample::*number = nullptr;
};
constexpr Quantity quantities[] = {
    {"nusselt", &RewardTerms::nusselt},
    {"energy", &RewardTerms::energy, &Sample::kinetic_energy},
    {"heating", &RewardTerms::heating},
    {"change", &RewardTerms::change},
    {"dissipation", &RewardTerms::dissipation, &Sample::dissipation},
    {"thermal_dissipation", &RewardTerms::thermal_dissipation, &Sample::thermal_dissipation},
    {"buoyancy_variance", &RewardTerms::buoyancy_variance, &Sample::buoyancy_variance},
    {"nusselt_warm", &RewardTerms::nusselt_warm, &Sample::nusselt_warm},
    {"nusselt_cold", &RewardTerms::nusselt_cold, &Sample::nusselt_cold},
    {"u_max", &RewardTerms::u_max, &Sample::u_max},
    {"w_max", &RewardTerms::w_max, &Sample::w_max}};

/// A place between two of the ascending `points`, or the nearest of them beyond their ends: number of the
/// lower, weight of the upper.
std::pair<int, double> between(const std::vector<double>& points, double place) {
  const auto above = std::clamp<std::ptrdiff_t>(
      std::lower_bound(points.begin(), points.end(), place) - points.begin(), 1, std::ssize(points) - 1);
  const double low = points[above - 1], high = points[above];
  return {static_cast<int>(above - 1), std::clamp((place - low) / (high - low), 0.0, 1.0)};
}

/// Whether it can be passed on as a reward, which is a float32.
bool is_float(double reward) { return std::abs(reward) <= std::numeric_limits<float>::max(); }

std::vector<double> numbers_of(const Field& field) {
  std::vector<double> numbers;
  for (int j = 0; j < field.rows; ++j) numbers.insert(numbers.end(), field.row(j), field.row(j) + field.n);
  return numbers;
}

}  // namespace

const std::vector<std::string>& reward_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Quantity& quantity : quantities) result.emplace_back(quantity.name);
    return result;
  }();
  return names;
}

int ConvectionControlOptions::n_actions() const {
  int n = 0;
  for (const Actuator& actuator : actuators) n += actuator.heating.segments;
  return n;
}

int ConvectionControlOptions::place_of(int actuator, int segment) const {
  if (periodic()) return segment * static_cast<int>(actuators.size()) + actuator;
  for (int before = 0; before < actuator; ++before) segment += actuators[before].heating.segments;
  return segment;
}

Axis ConvectionControlOptions::x_axis() const {
  return make_axis(0, aspect_ratio, cells_x, spacing_x, strength_x, periodic());
}

Axis ConvectionControlOptions::z_axis() const {
  return make_axis(-0.5, 0.5, cells_z, spacing_z, strength, false);
}

const char* ConvectionControlOptions::wall_of(const Actuator& actuator) const {
  if (problem.heated == Heated::plates) return actuator.cold ? "ceiling" : "floor";
  return actuator.cold ? "right side" : "left side";
}

ConvectionControl::ConvectionControl(const ConvectionControlOptions& options,
                                     std::shared_ptr<const FlowStates> flows, Starts starts)
    : options_(options),
      flows_(std::move(flows)),
      starts_(starts),
      reward_(options.reward, reward_names(), {}, options.reward_key) {
  check_options();
  flow_ = make_flow(options);
  const Grid& grid = flow_->grid();
  const Axis& along = options.problem.heated == Heated::plates ? grid.x : grid.z;
  for (const Actuator& actuator : options.actuators)
    heatings_.emplace_back(actuator.heating, along, options.wall_of(actuator));
  for (const double width : along.widths)
    weights_.push_back(along.periodic ? 1.0 : width * along.n() / along.length());
  profiles_.assign(heatings_.size(), std::vector<double>(along.n()));
  for (const Quantity& quantity : quantities)
    samples_ = samples_ || (quantity.number != nullptr && reward_.uses(quantity.name));
  QUINTET_CHECK(is_float(reward_of_conduction()),
                "{}: '{}' is {} where heat is conducted (nusselt = 1, energy = heating = change = 0); "
                "expected a finite number of at most 3e38",
                options.reward_key, options.reward, reward_of_conduction());
  make_probes();
  if (flows_) check_flows();
}

void ConvectionControl::check_options() const {
  const auto& options = options_;
  const auto& actuators = options.actuators;
  QUINTET_CHECK(!actuators.empty() && actuators.size() <= 2 &&
                    (actuators.size() == 1 || actuators[0].cold != actuators[1].cold),
                "{} actuators; expected one for one of the two heated walls, or one each", actuators.size());
  QUINTET_CHECK(!options.sensed.empty() && options.probes_x >= 1 && options.probes_z >= 1,
                "{} fields at {} by {} probes; expected at least one of each", options.sensed.size(),
                options.probes_x, options.probes_z);
  // On a ring agents are alike: each has the segments at its place, and sees as many probes as the others.
  for (const Actuator& actuator : actuators) {
    const int segments = actuator.heating.segments;
    QUINTET_CHECK(!options.periodic() || segments == options.agents(),
                  "control.actuators: {} and {} segments of floor and ceiling; expected as many, since one "
                  "policy decides at all "
                  "places of a periodic x",
                  options.agents(), segments);
    QUINTET_CHECK(!options.periodic() || options.probes_x % segments == 0,
                  "control.sensors.probes: {} by {} over {} segments of the {}; expected a multiple of the "
                  "segments along x",
                  options.probes_x, options.probes_z, segments, options.wall_of(actuator));
  }
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

ConvectionControl::Probe ConvectionControl::probe_at(Place place, double px, double pz) const {
  const Axis &x = flow_->grid().x, &z = flow_->grid().z;
  // Row n of w is the top plate, face n of u the right wall.
  const auto [low, up] = between(place == Place::bottom_face ? z.faces : z.centres, pz);
  int left = 0, right = 0;
  double share = 0;
  if (x.periodic) {  // from the nearest point to the left, round the ring
    const double width = x.widths[0], first = place == Place::left_face ? 0 : 0.5 * width;
    const double steps = (px - first) / width, whole = std::floor(steps);
    left = (static_cast<int>(whole) + x.n()) % x.n(), right = (left + 1) % x.n();
    share = steps - whole;
  } else {
    std::tie(left, share) = between(place == Place::left_face ? x.faces : x.centres, px);
    right = left + 1;
  }
  return Probe{{{low, left, (1 - up) * (1 - share)},
                {low, right, (1 - up) * share},
                {low + 1, left, up * (1 - share)},
                {low + 1, right, up * share}}};
}

void ConvectionControl::make_probes() {
  const double length = flow_->grid().x.length();
  const bool plates = options_.problem.heated == Heated::plates;
  for (int i = 0; i < options_.probes_x; ++i)
    for (const Sensed sensed : options_.sensed)
      for (int j = 0; j < options_.probes_z; ++j) {
        const double x = (i + 0.5) / options_.probes_x * length, z = (j + 0.5) / options_.probes_z - 0.5;
        const Place place = sensed == Sensed::u   ? Place::left_face
                            : sensed == Sensed::w ? Place::bottom_face
                                                  : Place::centre;
        probes_.push_back(probe_at(place, x, z));
        offsets_.push_back(sensed != Sensed::b ? 0.0 : plates ? z : x / length - 0.5);
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
  flow_->set_walls({});
  flow_->resume(0, 0);
  for (auto& profile : profiles_) std::fill(profile.begin(), profile.end(), 0.0);
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

double ConvectionControl::reward_of(const RewardTerms& terms) const {
  double values[std::size(quantities)];
  for (std::size_t k = 0; k < std::size(quantities); ++k) values[k] = terms.*quantities[k].term;
  return reward_(values);
}

double ConvectionControl::reward_of_conduction() const {
  RewardTerms terms;
  terms.thermal_dissipation = options_.problem.thermal_diffusivity();
  terms.buoyancy_variance = 1.0 / 12;
  return reward_of(terms);
}

RewardTerms ConvectionControl::now() const {
  RewardTerms terms;
  terms.nusselt = convected_nusselt(*flow_, 0);
  if (!samples_) return terms;
  const Sample numbers = sample(Exec(), *flow_, 0);
  for (const auto& [name, term, number] : quantities)
    if (number != nullptr) terms.*term = numbers.*number;
  return terms;
}

RewardTerms ConvectionControl::advance(double time) {
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
  RewardTerms before = now(), sum;
  for (const Quantity& quantity : quantities) sum.*quantity.term = 0;
  for (auto left = std::llround(time / dt); left > 0;) {
    while (dt > 1.5 * admitted()) dt /= 2, left *= 2;
    --left;
    flow_->advance(exec, dt, left == 0 ? end : flow_->time() + dt);
    const RewardTerms after = now();
    for (const auto& [name, term, number] : quantities) sum.*term += 0.5 * dt * (before.*term + after.*term);
    before = after;
  }
  for (const Quantity& quantity : quantities) sum.*quantity.term /= time;
  return sum;
}

void ConvectionControl::set_walls() {
  WallProfiles walls;
  for (std::size_t k = 0; k < profiles_.size(); ++k)
    (options_.actuators[k].cold ? walls.cold : walls.warm) = profiles_[k];
  flow_->set_walls(walls);
}

double ConvectionControl::mean_square(const std::vector<std::vector<double>>& profiles) const {
  double mean = 0;
  for (const auto& profile : profiles) {
    double sum = 0;
    for (std::size_t i = 0; i < profile.size(); ++i) sum += weights_[i] * (profile[i] * profile[i]);
    mean += sum / profile.size();
  }
  return mean / profiles.size();
}

std::string ConvectionControl::known_text(const RewardTerms& terms) const {
  std::string text;  // what the formula does not ask for is not computed
  for (const Quantity& quantity : quantities)
    if (reward_.uses(quantity.name))
      text += fmt::format("{}{} = {:.6g}", text.empty() ? "" : ", ", quantity.name, terms.*quantity.term);
  return text;
}

Outcome ConvectionControl::step(std::span<const float> action) {
  profiles_before_ = profiles_;
  for (std::size_t k = 0; k < heatings_.size(); ++k) {
    std::vector<float> own;
    for (int s = 0; s < heatings_[k].segments(); ++s) own.push_back(action[options_.place_of(k, s)]);
    heatings_[k].profile(own, profiles_[k]);
  }
  set_walls();
  RewardTerms terms = advance(options_.interval);
  if (!std::isfinite(terms.nusselt))
    throw NumericalError("a flow under control: its Nusselt number is not finite");
  for (std::size_t k = 0; k < profiles_.size(); ++k)
    for (std::size_t i = 0; i < profiles_[k].size(); ++i)
      profiles_before_[k][i] = profiles_[k][i] - profiles_before_[k][i];
  terms.heating = std::sqrt(mean_square(profiles_));
  terms.change = std::sqrt(mean_square(profiles_before_));
  const double reward = reward_of(terms);
  QUINTET_CHECK(is_float(reward), "{}: '{}' is {:.3g} for {}; expected a finite number of at most 3e38",
                options_.reward_key, options_.reward, reward, known_text(terms));
  nusselt_.push_back(terms.nusselt);
  ++taken_;
  return {reward, false, taken_ >= options_.actions};
}

void ConvectionControl::observe(std::span<float> observation) const {
  const State& state = flow_->state(0);
  const auto& sensed = options_.sensed;
  for (std::size_t k = 0; k < probes_.size(); ++k) {
    const Sensed which = sensed[k / options_.probes_z % sensed.size()];
    const Field& field = which == Sensed::u ? state.u : which == Sensed::w ? state.w : state.b;
    double value = offsets_[k];
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
  const auto n = std::min<std::size_t>(std::max(threads, 1), seeds.size());
  std::vector<std::unique_ptr<ConvectionControl>> worlds;
  for (std::size_t t = 0; t < n; ++t)
    worlds.push_back(std::make_unique<ConvectionControl>(options, nullptr, Starts::own));
  const auto develop = [&](std::size_t t) {
    ConvectionControl& world = *worlds[t];
    for (std::size_t k = t; k < seeds.size(); k += n) {
      world.flow_->set_walls({});
      fill(options.problem, options.start, seeds[k], *world.flow_, 0);
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
