#include "physics/kinetics/collisions/collisions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/collisions/collision_engines.hpp"
#include "physics/kinetics/collisions/collision_moments.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/collisions/species_exchange.hpp"

namespace quintet::kinetics {

namespace {

// Friction on one side alone would not keep momentum and energy: a pair has both frequencies or none.
void check(const std::vector<Species>& species, const CollisionOptions& options) {
  const std::size_t n = species.size();
  QUINTET_CHECK(options.frequency.size() == n, "collision frequencies are given for {} species, there are {}",
                options.frequency.size(), n);
  for (std::size_t s = 0; s < n; ++s) {
    QUINTET_CHECK(options.frequency[s].size() == n,
                  "collision frequencies of {} are given with {} species, there are {}", species[s].name,
                  options.frequency[s].size(), n);
    for (std::size_t r = 0; r < n; ++r)
      QUINTET_CHECK(std::isfinite(options.frequency[s][r]) && options.frequency[s][r] >= 0,
                    "collision frequency {} of {} with {}: must be finite and not negative",
                    options.frequency[s][r], species[s].name, species[r].name);
  }
  for (std::size_t s = 0; s < n; ++s)
    for (std::size_t r = 0; r < n; ++r)
      QUINTET_CHECK(
          (options.frequency[s][r] > 0) == (options.frequency[r][s] > 0),
          "{} collides with {} at the frequency {}, but not the other way round ({}): friction on one side "
          "alone "
          "would not keep momentum and energy; give one number, from which the masses make the other, or two "
          "above 0",
          species[s].name, species[r].name, options.frequency[s][r], options.frequency[r][s]);
  QUINTET_CHECK(options.profile.empty() || options.profile.size() == n,
                "profiles of collision frequencies are given for {} species, there are {}",
                options.profile.size(), n);
  QUINTET_CHECK(options.conserving || !row_of(collision_operators(), options.kind).always_conserves,
                "conserving: false is for the Lenard-Bernstein operator alone; BGK always conserves");
  QUINTET_CHECK(!options.spitzer || (options.reference_density > 0 && options.reference_thermal_speed > 0),
                "reference density {} and thermal speed {} of the collision frequency must be positive",
                options.reference_density, options.reference_thermal_speed);
}

}  // namespace

struct Collisions::Implementation {
  Decomposition decomposition;
  const PhaseBasis basis;
  std::vector<Species> species;
  CollisionOptions options;
  const CollisionOperatorRow& row;
  SpeciesExchange exchange;
  std::unique_ptr<CollisionEngines> engines;
  std::vector<PhaseBlock> blocks;
  std::vector<CollisionMoments> moments;
  std::vector<DragDiffusion> coefficients;
  std::vector<MomentGain> gain;
  std::vector<std::unique_ptr<CollisionOperator>> operators;  ///< of each species that collides

  Implementation(const Decomposition& d, const PhaseBasis& b, const std::vector<Species>& s,
                 const CollisionOptions& o, std::unique_ptr<CollisionEngines> e)
      : decomposition(d),
        basis(b),
        species(s),
        options(o),
        row(row_of(collision_operators(), o.kind)),
        exchange(b, s, o),
        engines(std::move(e)) {
    for (int i = 0; i < n_species(); ++i) {
      const bool collides = exchange.collides(i);
      if (collides) row.check_cells(basis, species[i].grid, species[i].name);
      blocks.push_back(decomposition.block(species[i].grid));
      const bool for_drag = collides && row.diffuses && options.conserving;
      moments.emplace_back(basis, blocks[i], for_drag,
                           engines->moment_sums(i, CollisionMoments::components(basis, for_drag)));
      const std::size_t n_conf = blocks[i].n_conf();
      const std::size_t n = basis.conf().size(), vdim = basis.vdim();
      coefficients.emplace_back("drag and diffusion", n_conf, vdim + 2, n);
      gain.emplace_back();
      if (exchange.has_partner(i) && options.conserving)
        gain.back() = MomentGain("gain", n_conf, vdim + 1, n);
      operators.emplace_back();
      if (collides)
        operators.back() =
            row.make(decomposition, basis, blocks[i], options, *engines, i, exchange.uniform());
    }
  }

  [[nodiscard]] int n_species() const { return species.size(); }

  /// Moments, rates and what is solved for stay where f is.
  [[nodiscard]] bool works_there() const {
    return engines->exchanges() && std::none_of(operators.begin(), operators.end(),
                                                [](const auto& one) { return one && one->reads_moments(); });
  }
  void exchange_there(const Exec& exec, double t) {
    std::vector<char> gains;
    for (const auto& one : gain) gains.push_back(one.size() > 0);
    const bool asked =
        exchange.compute_there(t, blocks[0], gain, [&](const ExchangeTables& tables, const auto& profiles) {
          engines->exchange(exec, tables, profiles, gains);
        });
    prepare(exec);
    const int bad = asked ? engines->exchange_refused() : -1;
    if (bad < 0) return;
    for (int s = 0; s < n_species(); ++s)
      if (exchange.collides(s)) moments[s].fetch();
    exchange.refuse(blocks[0], moments, coefficients, gain, bad);
  }
  void prepare(const Exec& exec) {
    for (int s = 0; s < n_species(); ++s)
      if (operators[s]) operators[s]->prepare(exec, terms(s));
  }

  void compute_moments(const Exec& exec, const std::vector<Distribution>& f) {
    for (int s = 0; s < n_species(); ++s)
      if (exchange.collides(s)) moments[s].compute(exec, decomposition.velocity_comm(), f[s], !works_there());
  }

  [[nodiscard]] CollisionTerms terms(int s) const {
    return {moments[s], gain[s], coefficients[s], species[s].name};
  }

  /// All that the operators multiply f with.
  void compute_coefficients(const Exec& exec, double t, const std::vector<Distribution>& f) {
    compute_moments(exec, f);
    if (works_there()) return exchange_there(exec, t);
    exchange.compute(exec, t, blocks[0], moments, coefficients, gain);
    prepare(exec);
  }
};

Collisions::Collisions(const Decomposition& decomposition, const PhaseBasis& basis,
                       const std::vector<Species>& species, const CollisionOptions& options)
    : Collisions(decomposition, basis, species, options,
                 host_collision_engines(decomposition, basis, species)) {}

Collisions::Collisions(const Decomposition& decomposition, const PhaseBasis& basis,
                       const std::vector<Species>& species, const CollisionOptions& options,
                       std::unique_ptr<CollisionEngines> engines) {
  check(species, options);
  implementation_ =
      std::make_unique<Implementation>(decomposition, basis, species, options, std::move(engines));
}
Collisions::~Collisions() = default;

void Collisions::add(const Exec& exec, double t, const std::vector<Distribution>& f, double weight,
                     const std::vector<Distribution>& out) {
  auto& i = *implementation_;
  const int n = i.n_species();
  for (int s = 0; s < n; ++s)
    if (i.operators[s]) i.operators[s]->start(exec, f[s]);
  i.compute_coefficients(exec, t, f);
  for (int s = 0; s < n; ++s)
    if (i.operators[s]) i.operators[s]->add(exec, f[s], i.terms(s), weight, out[s]);
}

int Collisions::n_work(const CollisionOptions& options) {
  if (!options.split) return 0;
  bool alone = row_of(collision_operators(), options.kind).relaxes_exactly;
  for (std::size_t s = 0; s < options.frequency.size(); ++s)
    for (std::size_t r = 0; r < options.frequency[s].size(); ++r)
      alone = alone && (r == s || options.frequency[s][r] == 0);
  return alone ? 0 : 3;
}

namespace {

/// y_j = mu y_(j-1) + nu y_(j-2) + (1 - mu - nu) y_0 + rate tau C(y_(j-1)) + first_rate tau C(y_0).
struct SuperStage {
  double mu = 0, nu = 0, rate = 0, first_rate = 0;
};

/// Stage j = 2 ... s of RKL2 (Meyer, Balsara & Aslam 2014, equations 16 to 18).
SuperStage super_stage(int j, int s) {
  const auto b = [](int i) { return i < 2 ? 1.0 / 3 : (i * i + i - 2.0) / (2.0 * i * (i + 1)); };
  const double mu = (2.0 * j - 1) / j * b(j) / b(j - 1), rate = mu * 4 / (s * s + s - 2.0);
  return {mu, -(j - 1.0) / j * b(j) / b(j - 2), rate, -(1 - b(j - 1)) * rate};
}

}  // namespace

void Collisions::advance(const Exec& exec, double t, double dt, const std::vector<Distribution>& f,
                         const Work& work) {
  auto& i = *implementation_;
  const int n = i.n_species();
  if (n_work(i.options) == 0) {
    i.compute_coefficients(exec, t, f);
    for (int s = 0; s < n; ++s)
      if (i.operators[s]) i.operators[s]->relax(exec, f[s], i.terms(s), dt);
    return;
  }
  const double greatest = 2.51 * (2 * i.basis.order() + 1) * frequency(exec, t, f);  // eigenvalue
  const double n_steps = std::max(1.0, std::ceil(dt * greatest / i.row.reach));
  if (!(n_steps < 1e8))
    throw NumericalError(
        fmt::format("collisions: a time of {:.4g} takes {:.4g} super time steps", dt, n_steps));
  for (int step = 0; step < static_cast<int>(n_steps); ++step) super_step(exec, t, dt / n_steps, f, work);
}

void Collisions::super_step(const Exec& exec, double t, double dt, const std::vector<Distribution>& f,
                            const Work& work) {
  using Term = CollisionEngines::Term;
  const auto &rate = *work[2], *before = work[0], *last = work[1];
  const auto combine = [&](const std::vector<Distribution>& out, const auto& terms) {
    for (int s = 0; s < implementation_->n_species(); ++s)
      implementation_->engines->combine(exec, s, out[s], terms(s));
  };
  combine(rate, [](std::size_t) { return std::array<Term, 0>{}; });
  add(exec, t, f, 1, rate);
  const int n_stages = implementation_->row.n_stages;
  const double first = 4 * dt / (3.0 * (n_stages * n_stages + n_stages - 2));
  combine(*before, [&](std::size_t s) { return std::array{Term{1, f[s]}}; });
  combine(*last, [&](std::size_t s) { return std::array{Term{1, f[s]}, Term{first, rate[s]}}; });
  for (int j = 2; j <= n_stages; ++j) {
    const SuperStage c = super_stage(j, n_stages);
    combine(*before, [&](std::size_t s) {
      return std::array{Term{c.mu, (*last)[s]}, Term{c.nu, (*before)[s]}, Term{1 - c.mu - c.nu, f[s]},
                        Term{c.first_rate * dt, rate[s]}};
    });
    add(exec, t, *last, c.rate * dt, *before);
    std::swap(before, last);
  }
  combine(f, [&](std::size_t s) { return std::array{Term{1, (*last)[s]}}; });
}

double Collisions::frequency(const Exec& exec, double t, const std::vector<Distribution>& f) {
  auto& i = *implementation_;
  i.compute_coefficients(exec, t, f);
  for (int s = 0; s < i.n_species(); ++s)
    if (i.operators[s]) i.operators[s]->bound(exec, i.terms(s));
  return frequency();
}

double Collisions::frequency() const {
  const auto& i = *implementation_;
  double rate = 0;
  for (const auto& one : i.operators) rate = one ? std::max(rate, one->frequency()) : rate;
  return i.decomposition.comm().maximum(rate);
}

}  // namespace quintet::kinetics
