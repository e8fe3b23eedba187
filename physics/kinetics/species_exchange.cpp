#include "physics/kinetics/species_exchange.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "io/log/error.hpp"
#include "physics/kinetics/projection.hpp"

namespace quintet::kinetics {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

SpeciesExchange::SpeciesExchange(const PhaseBasis& basis, const std::vector<Species>& species,
                                 const CollisionOptions& options)
    : vdim_(basis.vdim()), n_conf_modes_(basis.conf().size()), options_(options) {
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
    for (int a = 0; a < n_conf_modes_; ++a)
      values_.push_back(basis.conf().value(a, std::span<const double>(xi.data(), at(basis.cdim()))));
  }
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

double SpeciesExchange::rate(int s, int r, const std::vector<State>& states) const {
  const double nu = options_.frequency[at(s)][at(r)];
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
  if (!needs_states(gain)) {
    for (int s = 0; s < n_species; ++s)
      for (int r = 0; r < n_species; ++r)
        coefficients[at(s)](conf, 0, 0) += options_.frequency[at(s)][at(r)] / constant_;
    return true;
  }
  std::vector<State> states(at(n_species));
  for (int node = 0; node < n_nodes_; ++node) {
    for (int s = 0; s < n_species; ++s) {
      states[at(s)] = state(moments[at(s)], conf, node);
      if (collides(s) && !states[at(s)].is_positive()) return false;
    }
    for (int s = 0; s < n_species; ++s) {
      double sum = 0;
      for (int r = 0; r < n_species; ++r) sum += rate(s, r, states);
      project(node, sum, coefficients[at(s)], conf, 0);
      for (int r = 0; r < s; ++r)
        if (gain[at(s)].size() > 0 && gain[at(r)].size() > 0) exchange(node, s, r, states, conf, gain);
    }
  }
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
  const double k_a = m_a * a.density * rate(s, r, states), k_b = m_b * b.density * rate(r, s, states);
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

void SpeciesExchange::compute(const Exec& exec, const PhaseBlock& block,
                              const std::vector<CollisionMoments>& moments,
                              const std::vector<DragDiffusion>& coefficients,
                              const std::vector<MomentGain>& gain) const {
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
