#include "tests/support/cart_pole.hpp"

#include <cmath>

#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"

namespace quintet::environments {

namespace {

constexpr std::uint32_t stream = 0x5401;
constexpr double gravity = 9.8, pole_mass = 0.1, total_mass = 1.1, length = 0.5, push = 10, dt = 0.02;
constexpr double pi = 3.141592653589793, widest_angle = 12 * 2 * pi / 360, farthest = 2.4;

}  // namespace

void CartPole::set_state(const std::array<double, 4>& state) {
  state_ = state;
  steps_ = 0;
}

void CartPole::reset(const EpisodeKey& key) {
  std::array<double, 4> u{};
  const std::uint64_t id = key.environment;
  const auto first = 2 * static_cast<std::uint64_t>(key.episode);
  uniform_pair(key.seed, stream, id, first, u[0], u[1]);
  uniform_pair(key.seed, stream, id, first + 1, u[2], u[3]);
  for (double& value : u) value = 0.1 * value - 0.05;
  set_state(u);
}

Outcome CartPole::step(std::span<const float> action) {
  QUINTET_CHECK(action[0] == 0 || action[0] == 1, "CartPole: action {}; expected 0 (left) or 1 (right)",
                action[0]);
  auto& [x, v, theta, omega] = state_;
  const double force = action[0] == 1 ? push : -push;
  const double c = std::cos(theta), s = std::sin(theta), ml = pole_mass * length;
  const double t = (force + ml * omega * omega * s) / total_mass;
  const double turn = (gravity * s - c * t) / (length * (4.0 / 3.0 - pole_mass * c * c / total_mass));
  const double pull = t - ml * turn * c / total_mass;
  x += dt * v;
  v += dt * pull;
  theta += dt * omega;
  omega += dt * turn;
  ++steps_;
  return {1.0, std::abs(x) > farthest || std::abs(theta) > widest_angle, steps_ >= most_steps};
}

void CartPole::observe(std::span<float> observation) const {
  for (std::size_t i = 0; i < 4; ++i) observation[i] = static_cast<float>(state_[i]);
}

}  // namespace quintet::environments
