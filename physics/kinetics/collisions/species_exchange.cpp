#include "physics/kinetics/collisions/species_exchange.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "io/log/error.hpp"
#include "physics/kinetics/initial/projection.hpp"

namespace quintet::kinetics {

SpeciesExchange::SpeciesExchange(const PhaseBasis& basis, const std::vector<Species>& species,
                                 const CollisionOptions& options)
    : cdim_(basis.cdim()), options_(options) {
  QUINTET_CHECK(species.size() <= ExchangeCell::most_species,
                "collisions of {} species: more than {} are not made", species.size(),
                int{ExchangeCell::most_species});
  auto& t = tables_;
  t.n_species = species.size();
  t.vdim = basis.vdim();
  t.n_modes = basis.conf().size();
  t.spitzer = options.spitzer;
  t.mixture = options.exchange == CollisionOptions::Exchange::mixture;
  t.reference_density = options.reference_density;
  t.reference_thermal_speed = options.reference_thermal_speed;
  t.constant = std::pow(0.5, 0.5 * basis.cdim());
  for (const auto& s : species) {
    t.masses.push_back(s.mass);
    names_.push_back(s.name);
  }
  for (const auto& row : options.frequency) t.numbers.insert(t.numbers.end(), row.begin(), row.end());
  const int n = basis.order() + 1;
  const auto& rule = gauss_rule(n);
  for (int d = 0; d < basis.cdim(); ++d) t.n_nodes *= n;
  for (int node = 0; node < t.n_nodes; ++node) {
    std::array<double, 3> xi{};
    double weight = 1;
    for (int d = 0, rest = node; d < basis.cdim(); ++d, rest /= n) {
      xi[d] = rule.node[rest % n];
      weight *= rule.weight[rest % n];
    }
    t.weights.push_back(weight);
    nodes_.push_back(xi);
    for (int a = 0; a < t.n_modes; ++a)
      t.values.push_back(basis.conf().value(a, std::span<const double>(xi.data(), basis.cdim())));
  }
  t.profile_of.assign(species.size() * species.size(), -1);
  for (int s = 0; s < std::ssize(options.profile); ++s)
    for (int r = 0; r < std::ssize(options.profile[s]); ++r)
      if (options.profile[s][r]) {
        t.profile_of[s * t.n_species + r] = profiles_.size();
        profiles_.push_back({s, r, options.profile[s][r]});
      }
  t.n_profiles = profiles_.size();
  t.uniform = uniform();
  if (!profiles_.empty()) set_control_points(basis.conf());
}

/// Equidistant points of a cell, its corners among them.
void SpeciesExchange::set_control_points(const Basis& conf) {
  const int n = conf.order() + 3;
  tables_.n_control = 1;
  for (int d = 0; d < cdim_; ++d) tables_.n_control *= n;
  for (int point = 0; point < tables_.n_control; ++point) {
    std::array<double, 3> xi{};
    for (int d = 0, rest = point; d < cdim_; ++d, rest /= n) xi[d] = -1 + 2.0 * (rest % n) / (n - 1);
    for (int a = 0; a < tables_.n_modes; ++a)
      tables_.control.push_back(conf.value(a, std::span<const double>(xi.data(), cdim_)));
  }
}

bool SpeciesExchange::evaluate_profiles(double t, const PhaseBlock& block) {
  if (profiles_are_known_ && !options_.profile_changes) return false;
  profiles_are_known_ = true;
  std::array<double, 4> x{};
  profile_values_.clear();
  for (const auto& profile : profiles_)
    for (int conf = 0; conf < block.n_conf(); ++conf) {
      const auto index = block.conf_index(conf);
      for (const auto& xi : nodes_) {
        for (int d = 0; d < cdim_; ++d)
          x[d] = block.grid.centre(d, block.begin[d] + index[d]) + 0.5 * block.grid.width(d) * xi[d];
        x[cdim_] = t;
        const double value = profile.function(std::span<const double>(x.data(), cdim_ + 1));
        QUINTET_CHECK(std::isfinite(value) && value >= 0,
                      "collision frequency of {} with {}: its formula is {} in {} at time {:.6g}; expected a "
                      "finite number of at least 0",
                      names_[profile.s], names_[profile.r], value, describe_place(block, conf), t);
        profile_values_.push_back(value);
      }
    }
  return true;
}

bool SpeciesExchange::collides(int s) const {
  const auto& row = options_.frequency[s];
  return std::any_of(row.begin(), row.end(), [](double nu) { return nu > 0; });
}

bool SpeciesExchange::has_partner(int s) const {
  const auto& row = options_.frequency[s];
  for (int r = 0; r < std::ssize(row); ++r)
    if (r != s && row[r] > 0) return true;
  return false;
}

bool SpeciesExchange::needs_states(const std::vector<MomentGain>& gain) const {
  return options_.spitzer ||
         std::any_of(gain.begin(), gain.end(), [](const auto& g) { return g.size() > 0; });
}

ExchangeCell SpeciesExchange::cell(const std::vector<CollisionMoments>& moments,
                                   const std::vector<DragDiffusion>& coefficients,
                                   const std::vector<MomentGain>& gain) const {
  ExchangeCell cell(tables_);
  cell.with_states = needs_states(gain);
  cell.profiles = profile_values_.data();
  if (!profiles_.empty()) cell.profile_size = profile_values_.size() / profiles_.size();
  for (int s = 0; s < cell.n_species; ++s) {
    auto& of = cell.of[s];
    const DragDiffusion& c = coefficients[s];
    const MomentGain& g = gain[s];
    of = {collides(s),
          moments[s].density(0),
          c.data(),
          g.data(),
          moments[s].size_of_cell(),
          static_cast<std::ptrdiff_t>(c.extent(1) * c.extent(2)),
          static_cast<std::ptrdiff_t>(g.extent(1) * g.extent(2))};
  }
  return cell;
}

void SpeciesExchange::compute(const Exec& exec, double t, const PhaseBlock& block,
                              const std::vector<CollisionMoments>& moments,
                              const std::vector<DragDiffusion>& coefficients,
                              const std::vector<MomentGain>& gain) {
  if (rates_are_known_) return;
  rates_are_known_ = uniform() && !needs_states(gain);
  evaluate_profiles(t, block);
  const ExchangeCell cell = this->cell(moments, coefficients, gain);
  int bad = std::numeric_limits<int>::max();
  Kokkos::parallel_reduce(
      "kinetics::species_exchange", Kokkos::RangePolicy<Exec>(exec, 0, block.n_conf()),
      [&](int conf, int& first) {
        if (!cell(conf)) first = std::min(first, conf);
      },
      Kokkos::Min<int>(bad));
  exec.fence();
  if (bad != std::numeric_limits<int>::max()) refuse(block, moments, coefficients, gain, bad);
}

void SpeciesExchange::refuse(const PhaseBlock& block, const std::vector<CollisionMoments>& moments,
                             const std::vector<DragDiffusion>& coefficients,
                             const std::vector<MomentGain>& gain, int bad) const {
  const ExchangeCell cell = this->cell(moments, coefficients, gain);
  for (int s = 0; s < cell.n_species; ++s)
    for (int node = 0; node < cell.n_nodes && cell.of[s].collides; ++node) {
      const auto at_node = cell.state(s, bad, node);
      if (!at_node.is_positive())
        throw NumericalError(fmt::format(
            "collisions of {}: density {:.6g} and vth^2 {:.6g} at a Gauss point of {}: both must be "
            "positive for rates that depend on them",
            names_[s], at_node.density, at_node.thermal_square, describe_place(block, bad)));
    }
  // Where the sums are rounded otherwise than where they were refused.
  throw NumericalError(fmt::format(
      "collisions: a density or vth^2 is 0 but for round-off in {}: both must be positive for rates that "
      "depend on them",
      describe_place(block, bad)));
}

}  // namespace quintet::kinetics
