#include "physics/kinetics/collisions/species_exchange.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "io/log/error.hpp"
#include "physics/kinetics/initial/projection.hpp"

namespace quintet::kinetics {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

SpeciesExchange::SpeciesExchange(const PhaseBasis& basis, const std::vector<Species>& species,
                                 const CollisionOptions& options)
    : vdim_(basis.vdim()), cdim_(basis.cdim()), n_conf_modes_(basis.conf().size()), options_(options) {
  for (const auto& s : species) {
    masses_.push_back(s.mass);
    names_.push_back(s.name);
  }
  constant_ = std::pow(0.5, 0.5 * basis.cdim());
  const int n = basis.order() + 1;
  const auto& rule = gauss_rule(n);
  for (int d = 0; d < basis.cdim(); ++d) n_nodes_ *= n;
  for (int node = 0; node < n_nodes_; ++node) {
    std::array<double, 3> xi{};
    double weight = 1;
    for (int d = 0, rest = node; d < basis.cdim(); ++d, rest /= n) {
      xi[at(d)] = rule.node[at(rest % n)];
      weight *= rule.weight[at(rest % n)];
    }
    weights_.push_back(weight);
    nodes_.push_back(xi);
    for (int a = 0; a < n_conf_modes_; ++a)
      values_.push_back(basis.conf().value(a, std::span<const double>(xi.data(), at(basis.cdim()))));
  }
  for (int s = 0; s < static_cast<int>(options.profile.size()); ++s)
    for (int r = 0; r < static_cast<int>(options.profile[at(s)].size()); ++r)
      if (options.profile[at(s)][at(r)]) profiles_.push_back({s, r, options.profile[at(s)][at(r)], {}});
  if (!profiles_.empty()) set_control_points(basis.conf());
}

/// Equidistant points of a cell, its corners among them.
void SpeciesExchange::set_control_points(const Basis& conf) {
  const int n = conf.order() + 3;
  int n_points = 1;
  for (int d = 0; d < cdim_; ++d) n_points *= n;
  for (int point = 0; point < n_points; ++point) {
    std::array<double, 3> xi{};
    for (int d = 0, rest = point; d < cdim_; ++d, rest /= n) xi[at(d)] = -1 + 2.0 * (rest % n) / (n - 1);
    for (int a = 0; a < n_conf_modes_; ++a)
      control_.push_back(conf.value(a, std::span<const double>(xi.data(), at(cdim_))));
  }
}

void SpeciesExchange::evaluate_profiles(double t, const PhaseBlock& block) {
  if (profiles_are_known_ && !options_.profile_changes) return;
  profiles_are_known_ = true;
  std::array<double, 4> x{};
  for (auto& profile : profiles_) {
    profile.values.clear();
    for (int conf = 0; conf < block.n_conf(); ++conf) {
      const auto index = block.conf_index(conf);
      for (const auto& xi : nodes_) {
        for (int d = 0; d < cdim_; ++d)
          x[at(d)] =
              block.grid.centre(d, block.begin[at(d)] + index[at(d)]) + 0.5 * block.grid.width(d) * xi[at(d)];
        x[at(cdim_)] = t;
        const double value = profile.function(std::span<const double>(x.data(), at(cdim_ + 1)));
        QUINTET_CHECK(std::isfinite(value) && value >= 0,
                      "collision frequency of {} with {}: its formula is {} in {} at time {:.6g}; expected a "
                      "finite number of at least 0",
                      names_[at(profile.s)], names_[at(profile.r)], value, describe_place(block, conf), t);
        profile.values.push_back(value);
      }
    }
  }
}

/// The mean stays, the rest is scaled until no control point is negative (Zhang & Shu, J. Comput. Phys. 229,
/// 3091 (2010)).
void SpeciesExchange::keep_positive(const ConfField& field, int conf) const {
  const double* modes = &field(conf, 0, 0);
  double least = 0;
  for (std::size_t point = 0; point < control_.size(); point += at(n_conf_modes_)) {
    double value = 0;
    for (int a = 0; a < n_conf_modes_; ++a) value += control_[point + at(a)] * modes[a];
    least = std::min(least, value);
  }
  if (least >= 0) return;
  const double mean = constant_ * modes[0], factor = mean / (mean - least);
  for (int a = 1; a < n_conf_modes_; ++a) field(conf, 0, a) *= factor;
}

bool SpeciesExchange::collides(int s) const {
  const auto& row = options_.frequency[at(s)];
  return std::any_of(row.begin(), row.end(), [](double nu) { return nu > 0; });
}

bool SpeciesExchange::has_partner(int s) const {
  const auto& row = options_.frequency[at(s)];
  for (int r = 0; r < static_cast<int>(row.size()); ++r)
    if (r != s && row[at(r)] > 0) return true;
  return false;
}

bool SpeciesExchange::needs_states(const std::vector<MomentGain>& gain) const {
  return options_.spitzer ||
         std::any_of(gain.begin(), gain.end(), [](const auto& g) { return g.size() > 0; });
}

SpeciesExchange::State SpeciesExchange::state(const CollisionMoments& moments, int conf, int node) const {
  const double* value = values_.data() + at(node * n_conf_modes_);
  const auto evaluate = [&](const double* modes) {
    double sum = 0;
    for (int a = 0; a < n_conf_modes_; ++a) sum += value[a] * modes[a];
    return sum;
  };
  State result;
  result.density = evaluate(moments.density(conf));
  double square = 0;
  for (int d = 0; d < vdim_; ++d) {
    result.drift[at(d)] = evaluate(moments.momentum(conf, d)) / result.density;
    square += result.drift[at(d)] * result.drift[at(d)];
  }
  result.thermal_square = (evaluate(moments.energy(conf)) / result.density - square) / vdim_;
  return result;
}

double SpeciesExchange::rate(int s, int r, int conf, int node, const std::vector<State>& states) const {
  double nu = options_.frequency[at(s)][at(r)];
  for (const auto& profile : profiles_)
    if (profile.s == s && profile.r == r) nu *= profile.values[at(conf * n_nodes_ + node)];
  if (!options_.spitzer || nu == 0) return nu;
  const double thermal_speed = std::sqrt(states[at(s)].thermal_square);
  return nu * states[at(r)].density / options_.reference_density *
         std::pow(options_.reference_thermal_speed / thermal_speed, 3);
}

bool SpeciesExchange::compute_cell(int conf, const std::vector<CollisionMoments>& moments,
                                   const std::vector<DragDiffusion>& coefficients,
                                   const std::vector<MomentGain>& gain) const {
  const int n_species = static_cast<int>(masses_.size());
  for (int s = 0; s < n_species; ++s)
    for (int a = 0; a < n_conf_modes_; ++a) {
      coefficients[at(s)](conf, 0, a) = 0;
      for (int c = 0; c <= vdim_ && gain[at(s)].size() > 0; ++c) gain[at(s)](conf, c, a) = 0;
    }
  const bool with_states = needs_states(gain);
  if (uniform() && !with_states) {
    for (int s = 0; s < n_species; ++s)
      for (int r = 0; r < n_species; ++r)
        coefficients[at(s)](conf, 0, 0) += options_.frequency[at(s)][at(r)] / constant_;
    return true;
  }
  std::vector<State> states(at(n_species));
  for (int node = 0; node < n_nodes_; ++node) {
    for (int s = 0; s < n_species; ++s) {
      if (!with_states) break;
      states[at(s)] = state(moments[at(s)], conf, node);
      if (collides(s) && !states[at(s)].is_positive()) return false;
    }
    for (int s = 0; s < n_species; ++s) {
      double sum = 0;
      for (int r = 0; r < n_species; ++r) sum += rate(s, r, conf, node, states);
      project(node, sum, coefficients[at(s)], conf, 0);
      for (int r = 0; r < s; ++r)
        if (gain[at(s)].size() > 0 && gain[at(r)].size() > 0) exchange(node, s, r, states, conf, gain);
    }
  }
  for (int s = 0; s < n_species && !profiles_.empty(); ++s) keep_positive(coefficients[at(s)], conf);
  return true;
}

void SpeciesExchange::project(int node, double x, const ConfField& field, int conf, int component) const {
  for (int a = 0; a < n_conf_modes_; ++a)
    field(conf, component, a) += weights_[at(node)] * values_[at(node * n_conf_modes_ + a)] * x;
}

void SpeciesExchange::exchange(int node, int s, int r, const std::vector<State>& states, int conf,
                               const std::vector<MomentGain>& gain) const {
  const State &a = states[at(s)], &b = states[at(r)];
  const double m_a = masses_[at(s)], m_b = masses_[at(r)];
  const double k_a = m_a * a.density * rate(s, r, conf, node, states),
               k_b = m_b * b.density * rate(r, s, conf, node, states);
  if (!(k_a > 0 && k_b > 0)) return;
  const double k = k_a * k_b / (k_a + k_b);
  double power = vdim_ * (m_a * a.thermal_square - m_b * b.thermal_square) / (m_a + m_b);
  for (int d = 0; d < vdim_; ++d) {
    const double u_a = a.drift[at(d)], u_b = b.drift[at(d)], force = -k * (u_a - u_b);
    power += (m_a * u_a + m_b * u_b) / (m_a + m_b) * (u_a - u_b);
    project(node, force / m_a, gain[at(s)], conf, d);
    project(node, -force / m_b, gain[at(r)], conf, d);
  }
  project(node, -k * power / m_a, gain[at(s)], conf, vdim_);
  project(node, k * power / m_b, gain[at(r)], conf, vdim_);
}

void SpeciesExchange::compute(const Exec& exec, double t, const PhaseBlock& block,
                              const std::vector<CollisionMoments>& moments,
                              const std::vector<DragDiffusion>& coefficients,
                              const std::vector<MomentGain>& gain) {
  if (rates_are_known_) return;
  rates_are_known_ = uniform() && !needs_states(gain);
  evaluate_profiles(t, block);
  int bad = std::numeric_limits<int>::max();
  Kokkos::parallel_reduce(
      "kinetics::species_exchange", Kokkos::RangePolicy<Exec>(exec, 0, block.n_conf()),
      [&](int conf, int& first) {
        if (!compute_cell(conf, moments, coefficients, gain)) first = std::min(first, conf);
      },
      Kokkos::Min<int>(bad));
  exec.fence();
  if (bad == std::numeric_limits<int>::max()) return;
  for (int s = 0; s < static_cast<int>(masses_.size()); ++s)
    for (int node = 0; node < n_nodes_; ++node) {
      const State at_node = state(moments[at(s)], bad, node);
      if (collides(s) && !at_node.is_positive())
        throw NumericalError(fmt::format(
            "collisions of {}: density {:.6g} and vth^2 {:.6g} at a Gauss point of {}: both must be "
            "positive for rates that depend on them",
            names_[at(s)], at_node.density, at_node.thermal_square, describe_place(block, bad)));
    }
}

}  // namespace quintet::kinetics
