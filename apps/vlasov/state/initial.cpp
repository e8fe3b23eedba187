#include "apps/vlasov/state/initial.hpp"

#include <algorithm>
#include <cmath>

#include "apps/vlasov/state/frames.hpp"
#include "apps/vlasov/state/health.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/files/distribution_io.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

void add(const Distribution& term, const Distribution& f) {
  double* to = f.data.data();
  const double* from = term.data.data();
  for (std::size_t i = 0; i < f.data.size(); ++i) to[i] += from[i];
}

/// One formula for each velocity direction, or one for all of them.
std::vector<Formula> per_direction(const std::vector<FormulaText>& texts, const Setup& setup,
                                   const std::string& key) {
  const std::size_t vdim = setup.basis.vdim();
  QUINTET_CHECK(texts.size() == 1 || texts.size() == vdim,
                "{}: has {}; expected 1 or {}, one for each velocity direction",
                place_and_key(texts.front(), key), counted(texts.size(), "value"), vdim);
  std::vector<Formula> formulas;
  for (std::size_t d = 0; d < vdim; ++d)
    formulas.push_back(setup.formulas.function(fmt::format("{}.{}", key, texts.size() == 1 ? 0 : d)));
  return formulas;
}

/// vth = sqrt(T/m).
PointFunction thermal_speed(Formula temperature, double mass) {
  return [temperature = std::move(temperature), mass](std::span<const double> x) {
    return std::sqrt(temperature(x) / mass);
  };
}

/// Particles of a Maxwellian within the velocity box, by its formulas at the points in x that its projection
/// takes, so that the two differ in velocity alone. Collective.
double particles_in_box(const MaxwellianProfile& profile, const Setup& setup, int nodes,
                        const PhaseBlock& block) {
  const PhaseGrid& grid = block.grid;
  const TensorNodes points(std::vector<int>(grid.cdim, nodes > 0 ? nodes : setup.basis.order() + 1));
  double sum = 0;
  for (int conf = 0; conf < block.n_conf(); ++conf) {
    const auto index = block.conf_index(conf);
    for (int q = 0; q < points.size(); ++q) {
      std::vector<double> x;
      double product = points.weight[q];
      for (int d = 0; d < grid.cdim; ++d) {
        x.push_back(grid.centre(d, block.begin[d] + index[d]) + 0.5 * grid.width(d) * points.at(q)[d]);
        product *= 0.5 * grid.width(d);
      }
      product *= profile.density(x);
      for (int v = 0; v < grid.vdim; ++v) {
        const int d = grid.cdim + v;
        const double scale = M_SQRT2 * profile.thermal_speed[v](x);
        const double drift = profile.drift[v] ? profile.drift[v](x) : 0;
        product *=
            0.5 * (std::erf((grid.upper[d] - drift) / scale) - std::erf((grid.lower[d] - drift) / scale));
      }
      sum += product;
    }
  }
  return setup.decomposition.conf_comm().sum(sum);
}

/// Refuse a projection without exact moments whose velocity cells put it more than 1e-3 off in particles.
/// Collective.
void check_particles(const MaxwellianProfile& profile, const Setup& setup, int nodes,
                     const Distribution& term, const std::string& what) {
  constexpr double most = 1e-3;
  const double particles =
                   setup.decomposition.comm().sum(phase_integrals(Exec(), setup.basis, term).particles),
               right = particles_in_box(profile, setup, nodes, term.block), error = particles / right - 1;
  QUINTET_CHECK(
      !(std::abs(error) > most),
      "{}: its projection on this grid has {:.3g} % {} particles than the formula; take exact_moments: "
      "true, or finer velocity cells",
      what, 100 * std::abs(error), error > 0 ? "more" : "fewer");
}

void add_term(const MaxwellianOptions& options, const Setup& setup, int s, const std::string& key, int nodes,
              const Distribution& f) {
  MaxwellianProfile profile;
  profile.density = setup.formulas.function(key + ".density");
  if (!options.drift.empty()) {
    QUINTET_CHECK(std::ssize(options.drift) == setup.basis.vdim(),
                  "{}: has {}; expected {}, one for each velocity direction",
                  place_and_key(options.drift.front(), key + ".drift"),
                  counted(options.drift.size(), "value"), setup.basis.vdim());
    const auto drift = per_direction(options.drift, setup, key + ".drift");
    for (std::size_t d = 0; d < drift.size(); ++d) profile.drift[d] = drift[d];
  }
  const bool by_temperature = options.thermal_speed.empty();
  const auto spread = by_temperature ? per_direction(options.temperature, setup, key + ".temperature")
                                     : per_direction(options.thermal_speed, setup, key + ".thermal_speed");
  for (std::size_t d = 0; d < spread.size(); ++d)
    profile.thermal_speed[d] =
        by_temperature ? thermal_speed(spread[d], setup.species[s].mass) : PointFunction(spread[d]);
  const auto what = place_and_key(options.density, key);
  if (options.exact_moments)
    return add_maxwellian(setup.decomposition, setup.basis, profile, true, f, what, nodes);
  const Distribution term("vlasov::term", f.block, f.n_modes);
  add_maxwellian(setup.decomposition, setup.basis, profile, false, term, what, nodes);
  check_particles(profile, setup, nodes, term, what);
  add(term, f);
}

/// Compare the particles of a projection with those of more Gauss points: refuse one that is more than 1e-3
/// off where more points help, warn where they do not (a formula with steps). Collective.
void check_projection(const Formula& formula, const Setup& setup, int nodes, const PhaseBlock& block) {
  constexpr double most = 1e-3, help = 0.1, most_points = 4e6;  // a second or so
  const int dim = setup.basis.dim(), used = nodes > 0 ? nodes : setup.basis.order() + 1;
  const int finest = dim <= 2 ? 32 : dim == 3 ? 16 : used + 1;
  if (used >= finest) return;
  const auto particles = [&](int n) {
    const int stride =
        std::clamp<double>(std::pow(finest, dim) * block.n_cells() / most_points, 1.0, block.n_conf());
    return setup.decomposition.comm().sum(
        projected_particles(setup.basis, formula, block, formula.what(), n, stride));
  };
  const double right = particles(std::min(2 * used + 1, finest));
  if (!(std::abs(particles(nodes) - right) > most * std::abs(right))) return;
  const double best = particles(finest), error = std::abs(particles(nodes) / best - 1);
  if (!(error > most)) return;
  // The least number from which on all agree: a smaller one may do so by chance.
  int better = 0;
  double rest = error;
  for (const int n : {24, 16, 12, 8, 6, 4}) {
    if (n <= used || n >= finest) continue;
    const double here = std::abs(particles(n) / best - 1);
    if (better > 0 && here > most) break;
    if (better > 0 || here < rest) {
      better = n;
      rest = here;
    }
  }
  const auto text = fmt::format(
      "{}: its projection on this grid, by {} Gauss points a direction, has {:.2g} % {} particles than the "
      "formula",
      formula.what(), used, 100 * error, particles(nodes) > best ? "more" : "fewer");
  QUINTET_CHECK(better == 0 || !(rest <= most || rest < help * error),
                "{}; with nodes: {} of this term the difference is {:.2g} %, or take finer cells", text,
                better, 100 * rest);
  log::warning(
      "{}: a formula with discontinuities inside cells; finer cells, or cell edges at the discontinuities, "
      "help",
      text);
}

void add_term(const Formula& formula, const Setup& setup, int nodes, const Distribution& f) {
  check_projection(formula, setup, nodes, f.block);
  const Distribution term("vlasov::term", f.block, f.n_modes);
  project_phase(setup.basis, formula, term, formula.what(), nodes);
  add(term, f);
}

/// f of the same species in a file of frames.
void add_term(const InitialOptions& options, const Setup& setup, int s, const Distribution& f) {
  const Distribution term("vlasov::term", f.block, f.n_modes);
  read_frame(*options.file, options.frame, setup, s, term);
  add(term, f);
}

/// Particles, least and greatest cell mean and ends of velocity space, over all ranks.
void check_filled(const Setup& setup, int s, const Distribution& f, const LimitOptions& limits) {
  const PhaseIntegrals here = phase_integrals(Exec(), setup.basis, f);
  const Comm& comm = setup.decomposition.comm();
  const double particles = comm.sum(here.particles), least = comm.minimum(here.least_mean),
               greatest = comm.maximum(here.greatest_mean);
  const auto& name = setup.species[s].name;
  QUINTET_CHECK(std::isfinite(particles) && particles > 0,
                "species.{}.initial: '{}' holds {} particles; expected more than 0", s, name, particles);
  QUINTET_CHECK(least >= -limits.negative_f * greatest,
                "species.{}.initial: the initial f of '{}' is negative: its least cell mean is {:.4g}, its "
                "greatest {:.4g}",
                s, name, least, greatest);
  const VelocityEdge edge = fullest_velocity_edge(setup.decomposition, setup.basis, f, particles);
  QUINTET_CHECK(edge.share <= limits.edge_share,
                "species.{}.initial: f of '{}' reaches {}, more than limits.edge_share = {:g}; {}", s, name,
                edge_text(edge, f.block.grid), limits.edge_share, edge_advice(edge, s));
}

/// Part of the particles in cells whose centres are faster than `speed`.
double share_above(const Setup& setup, const Distribution& f, double speed) {
  const PhaseBlock& block = f.block;
  const PhaseGrid& grid = block.grid;
  double fast = 0, all = 0;
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last) {
        const auto cell = global_cell(block, conf, row, last);
        double square = 0, volume = 1;
        for (int d = grid.cdim; d < grid.dim(); ++d) {
          square += std::pow(grid.centre(d, cell[d]), 2);
          volume *= grid.width(d, cell[d]);
        }
        const double particles = volume * f.at(conf, row, last, 0);
        all += particles;
        if (square > speed * speed) fast += particles;
      }
  const Comm& comm = setup.decomposition.comm();
  return comm.sum(fast) / comm.sum(all);
}

/// Nothing here is relativistic: with Maxwell's equations c has a meaning, and particles may pass it.
void warn_of_speeds(const Setup& setup, int s, const Distribution& f) {
  // In one velocity direction there is no light: E along x alone acts, as with Poisson's equation.
  if (setup.system.field != FieldModel::maxwell || setup.basis.vdim() == 1) return;
  constexpr double few = 1e-4;
  const double c = 1 / std::sqrt(setup.system.maxwell.epsilon0 * setup.system.maxwell.mu0);
  const double share = share_above(setup, f, c);
  if (share > few)
    log::warning(
        "{:.3g} % of '{}' are faster than light (c = {:g} by field.epsilon0 and field.mu0): particles are "
        "non-relativistic, and results hold only for speeds far below c; choose speeds as fractions of c",
        100 * share, setup.species[s].name, c);
}

}  // namespace

void add_terms(const std::vector<InitialOptions>& terms, const Setup& setup, int s, const std::string& key,
               const Distribution& f) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto& term = terms[i];
    const auto here = fmt::format("{}.{}", key, i);
    if (term.maxwellian) add_term(*term.maxwellian, setup, s, here + ".maxwellian", term.nodes, f);
    if (term.function) add_term(setup.formulas.function(here + ".function"), setup, term.nodes, f);
    if (term.file) add_term(term, setup, s, f);
  }
}

void fill_species(const RunOptions& options, const Setup& setup, VlasovSystem& system) {
  for (int s = 0; s < std::ssize(options.species); ++s) {
    const auto& given = options.species[s];
    const auto key = fmt::format("species.{}", s);
    add_terms(given.initial, setup, s, key + ".initial", system.f(s));
    check_filled(setup, s, system.f(s), options.limits);
    warn_of_speeds(setup, s, system.f(s));
  }
}

void add_sources(const RunOptions& options, const Setup& setup, VlasovSystem& system) {
  for (int s = 0; s < std::ssize(options.species); ++s) {
    const auto& given = options.species[s].source;
    if (!given) continue;
    const auto key = fmt::format("species.{}.source", s);
    SystemOptions::Source source;
    source.species = s;
    source.shape = Distribution("vlasov::source", system.f(s).block, system.f(s).n_modes);
    add_terms(given->shape, setup, s, key + ".shape", source.shape);
    source.amplitude = [formula = setup.formulas.function(key + ".amplitude")](double t) {
      return formula(std::span<const double>(&t, 1));
    };
    system.add_source(std::move(source));
  }
}

}  // namespace quintet::vlasov
