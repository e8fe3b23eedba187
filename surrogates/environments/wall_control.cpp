#include "surrogates/environments/wall_control.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::environments {

using namespace convection;

namespace {

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

}  // namespace

const std::vector<std::string>& reward_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Quantity& quantity : quantities) result.emplace_back(quantity.name);
    return result;
  }();
  return names;
}

WallControl::WallControl(const ConvectionControlOptions& options, const Grid& grid)
    : options_(options), reward_(options.reward, reward_names(), {}, options.reward_key) {
  check_options();
  for (const Actuator& actuator : options.actuators) {
    const Axis& along = options.is_plate(actuator) ? grid.x : grid.z;
    heatings_.emplace_back(actuator.heating, along, options.wall_of(actuator),
                           actuator.insulates ? most_heat_set : most_buoyancy_set);
    weights_.emplace_back();
    for (const double width : along.widths)
      weights_.back().push_back(along.periodic ? 1.0 : width * along.n() / along.length());
    profiles_.emplace_back(along.n());
  }
  levels_.assign(options.n_actions(), 0.0);
  for (const Quantity& quantity : quantities)
    samples_ = samples_ || (quantity.number != nullptr && reward_.uses(quantity.name));
  QUINTET_CHECK(is_float(reward_of_conduction()),
                "{}: '{}' is {} where heat is conducted (nusselt = 1, energy = heating = change = 0); "
                "expected a finite number of at most 3e38",
                options.reward_key, options.reward, reward_of_conduction());
  make_probes(grid);
  make_wall_probes(grid);
}

void WallControl::check_options() const {
  const auto& options = options_;
  const auto& actuators = options.actuators;
  QUINTET_CHECK(!actuators.empty(), "no actuators; expected at least one");
  for (std::size_t k = 0; k < actuators.size(); ++k) {
    const std::string wall = options.wall_of(actuators[k]);
    QUINTET_CHECK(!options.periodic() || !actuators[k].insulates,
                  "control.actuators: one of the {}, but x is periodic; expected walls there", wall);
    for (std::size_t l = 0; l < k; ++l)
      QUINTET_CHECK(wall != options.wall_of(actuators[l]),
                    "control.actuators: two of the {}; expected one for a wall", wall);
  }
  QUINTET_CHECK(!options.sensed.empty() && options.probes_x >= 1 && options.probes_z >= 1,
                "{} fields at {} by {} probes; expected at least one of each", options.sensed.size(),
                options.probes_x, options.probes_z);
  for (const WallSensor& sensor : options.wall_sensors)
    QUINTET_CHECK(sensor.points >= 1 && !options.periodic(),
                  "control.sensors.walls: {} points at the {}{}; expected at least 1, and ends of x",
                  sensor.points, options.wall_of(sensor.cold, sensor.insulates),
                  options.periodic() ? " of a periodic x" : "");
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
}

WallControl::Probe WallControl::probe_at(const Grid& grid, Place place, double px, double pz) {
  const Axis &x = grid.x, &z = grid.z;
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

void WallControl::make_probes(const Grid& grid) {
  const double length = grid.x.length();
  const bool plates = options_.problem.heated == Heated::plates;
  for (int i = 0; i < options_.probes_x; ++i)
    for (const Sensed sensed : options_.sensed)
      for (int j = 0; j < options_.probes_z; ++j) {
        const double x = (i + 0.5) / options_.probes_x * length, z = (j + 0.5) / options_.probes_z - 0.5;
        const Place place = sensed == Sensed::u   ? Place::left_face
                            : sensed == Sensed::w ? Place::bottom_face
                                                  : Place::centre;
        probes_.push_back(probe_at(grid, place, x, z));
        offsets_.push_back(sensed != Sensed::b ? 0.0 : plates ? z : x / length - 0.5);
      }
}

void WallControl::make_wall_probes(const Grid& grid) {
  for (const WallSensor& sensor : options_.wall_sensors) {
    const bool plate = options_.is_plate(sensor.insulates);
    const Axis &along = plate ? grid.x : grid.z, &across = plate ? grid.z : grid.x;
    const int end = sensor.cold ? across.n() - 1 : 0;
    for (int i = 0; i < sensor.points; ++i) {
      const double part = (i + 0.5) / sensor.points;
      const auto [low, share] = between(along.centres, along.faces[0] + part * along.length());
      const auto cell_of = [&](int k, double weight) {
        return plate ? Probe::Part{end, k, weight} : Probe::Part{k, end, weight};
      };
      probes_.push_back(
          {{cell_of(low, 1 - share), cell_of(low + 1, share), cell_of(low, 0), cell_of(low, 0)}});
      // A wall that insulates goes from the warm wall, b = 1/2, to the cold one.
      wall_probes_.push_back({sensor, low, low + 1, share,
                              sensor.cold ? across.gaps.back() : across.gaps.front(),
                              sensor.insulates ? 0 : across.length(), 0.5 - part});
    }
  }
}

double WallControl::WallProbe::value(const WallProfiles& walls, double b) const {
  const std::span<const double> profile = sensor.insulates
                                              ? (sensor.cold ? walls.last_heat : walls.first_heat)
                                              : (sensor.cold ? walls.cold : walls.warm);
  const double set = profile.empty() ? 0 : (1 - share) * profile[from] + share * profile[to];
  if (sensor.insulates) return b + gap * set - conducting;
  const double fall = sensor.cold ? b + wall_buoyancy - set : wall_buoyancy + set - b;
  return distance * fall / gap - 1;
}

void WallControl::observe(const Boussinesq& flow, std::span<float> observation) const {
  constexpr std::size_t n_parts = std::size(Probe{}.parts);
  const BoussinesqState& state = flow.state(0);
  const Grid& grid = flow.grid();
  const auto& sensed = options_.sensed;
  const int first = grid.first_row();
  const int last = first + grid.rows_here() - (grid.at_top() ? 0 : 1);  // the top plate is the last rank's
  std::vector<double> numbers(probes_.size() * n_parts);
  for (std::size_t k = 0; k < probes_.size(); ++k) {
    const Sensed which = k < offsets_.size() ? sensed[k / options_.probes_z % sensed.size()] : Sensed::b;
    const Field& field = which == Sensed::u ? state.u : which == Sensed::w ? state.w : state.b;
    for (std::size_t i = 0; i < n_parts; ++i) {
      const auto& part = probes_[k].parts[i];
      if (part.row >= first && part.row <= last)
        numbers[k * n_parts + i] = field.row(part.row - first)[part.cell];
    }
  }
  // Each number is one rank's and 0 on the others: the sum is exact.
  if (grid.comm().size() > 1) grid.comm().reduce(std::span<double>(numbers), Comm::Reduction::sum);
  for (std::size_t k = 0; k < probes_.size(); ++k) {
    double value = k < offsets_.size() ? offsets_[k] : 0;
    for (std::size_t i = 0; i < n_parts; ++i) value += probes_[k].parts[i].weight * numbers[k * n_parts + i];
    if (k >= offsets_.size()) value = wall_probes_[k - offsets_.size()].value(flow.walls(), value);
    observation[k] = static_cast<float>(value);
  }
}

void WallControl::release(Boussinesq& flow) {
  flow.set_walls({});
  for (auto& profile : profiles_) std::fill(profile.begin(), profile.end(), 0.0);
  std::fill(levels_.begin(), levels_.end(), 0.0);
  heating_ = change_ = 0;
}

void WallControl::shape_walls(Boussinesq& flow, std::span<const float> action) {
  auto levels = levels_.begin();
  for (std::size_t k = 0; k < heatings_.size(); ++k) {
    std::vector<float> own;
    for (int s = 0; s < heatings_[k].segments(); ++s) own.push_back(action[options_.place_of(k, s)]);
    heatings_[k].profile(own, profiles_[k]);
    heatings_[k].bounded(own, {levels, own.size()});
    levels += std::ssize(own);
  }
  WallProfiles walls;
  for (std::size_t k = 0; k < profiles_.size(); ++k) {
    const auto& [cold, heating, insulates] = options_.actuators[k];
    auto& wall = insulates ? (cold ? walls.last_heat : walls.first_heat) : cold ? walls.cold : walls.warm;
    wall = profiles_[k];
  }
  flow.set_walls(walls);
  heating_ = std::sqrt(mean_square(profiles_));
}

void WallControl::act(Boussinesq& flow, std::span<const float> action) {
  auto difference = profiles_;
  shape_walls(flow, action);
  for (std::size_t k = 0; k < profiles_.size(); ++k)
    for (std::size_t i = 0; i < profiles_[k].size(); ++i)
      difference[k][i] = profiles_[k][i] - difference[k][i];
  change_ = std::sqrt(mean_square(difference));
  begin(flow);
}

void WallControl::begin(const Boussinesq& flow) {
  before_ = now(flow);
  for (const Quantity& quantity : quantities) sum_.*quantity.term = 0;
}

void WallControl::add_step(const Boussinesq& flow, double dt) {
  const RewardTerms after = now(flow);
  for (const auto& [name, term, number] : quantities) sum_.*term += 0.5 * dt * (before_.*term + after.*term);
  before_ = after;
}

RewardTerms WallControl::terms(double time) const {
  RewardTerms means = sum_;
  for (const Quantity& quantity : quantities) means.*quantity.term /= time;
  means.heating = heating_;
  means.change = change_;
  return means;
}

double WallControl::reward(const RewardTerms& terms) const {
  if (!std::isfinite(terms.nusselt))
    throw NumericalError("a flow under control: its Nusselt number is not finite");
  const double reward = value(terms);
  QUINTET_CHECK(is_float(reward), "{}: '{}' is {:.3g} for {}; expected a finite number of at most 3e38",
                options_.reward_key, options_.reward, reward, known_text(terms));
  return reward;
}

RewardTerms WallControl::now(const Boussinesq& flow) const {
  RewardTerms terms;
  terms.nusselt = convected_nusselt(flow, 0);
  if (!samples_) return terms;
  const Sample numbers = sample(Exec(), flow, 0);
  for (const auto& [name, term, number] : quantities)
    if (number != nullptr) terms.*term = numbers.*number;
  return terms;
}

double WallControl::value(const RewardTerms& terms) const {
  double values[std::size(quantities)];
  for (std::size_t k = 0; k < std::size(quantities); ++k) values[k] = terms.*quantities[k].term;
  return reward_(values);
}

double WallControl::reward_of_conduction() const {
  RewardTerms terms;
  terms.thermal_dissipation = options_.problem.thermal_diffusivity();
  terms.buoyancy_variance = 1.0 / 12;
  return value(terms);
}

double WallControl::mean_square(const std::vector<std::vector<double>>& profiles) const {
  double mean = 0;
  for (std::size_t k = 0; k < profiles.size(); ++k) {
    const auto& profile = profiles[k];
    double sum = 0;
    for (std::size_t i = 0; i < profile.size(); ++i) sum += weights_[k][i] * (profile[i] * profile[i]);
    mean += sum / profile.size();
  }
  return mean / profiles.size();
}

std::string WallControl::known_text(const RewardTerms& terms) const {
  std::string text;  // what the formula does not ask for is not computed
  for (const Quantity& quantity : quantities)
    if (reward_.uses(quantity.name))
      text += fmt::format("{}{} = {:.6g}", text.empty() ? "" : ", ", quantity.name, terms.*quantity.term);
  return text;
}

std::vector<double> WallControl::kept() const {
  std::vector<double> numbers{change_};
  for (const Quantity& quantity : quantities) numbers.push_back(before_.*quantity.term);
  for (const Quantity& quantity : quantities) numbers.push_back(sum_.*quantity.term);
  return numbers;
}

void WallControl::resume(Boussinesq& flow, std::span<const float> action, std::span<const double> kept) {
  constexpr std::size_t n = std::size(quantities);
  QUINTET_CHECK(std::ssize(action) == n_actions() && kept.size() == 1 + 2 * n,
                "{} actions and {} numbers of a control to go on with; expected {} and {}", action.size(),
                kept.size(), n_actions(), 1 + 2 * n);
  shape_walls(flow, action);
  change_ = kept[0];
  for (std::size_t k = 0; k < n; ++k) {
    before_.*quantities[k].term = kept[1 + k];
    sum_.*quantities[k].term = kept[1 + n + k];
  }
}

}  // namespace quintet::environments
