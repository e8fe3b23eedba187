#include "apps/vlasov/state/health.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// The text of the rank with the greatest weight, on all ranks; "" where no weight is above 0. Collective.
std::string heaviest(const Comm& comm, double weight, const std::string& text) {
  const auto all = comm.all_gather(weight);
  const auto greatest = std::max_element(all.begin(), all.end());
  if (!(*greatest > 0)) return "";
  return comm.broadcast(text, static_cast<int>(greatest - all.begin()));
}

/// "cell (3, 17) at x = (0.5), v = (1)": a cell of phase space by its global indices, and its centre.
std::string cell_text(const PhaseGrid& grid, const std::array<int, 6>& cell, int dim) {
  std::array<double, 6> centre{};
  for (int d = 0; d < dim; ++d) centre[d] = grid.centre(d, cell[d]);
  return fmt::format("cell ({}) at {}", fmt::join(cell.begin(), cell.begin() + dim, ", "),
                     place_text(grid, std::span<const double>(centre.data(), dim)));
}

/// This rank's first cell of f with a number that is none, or "".
std::string unusable_f(const Distribution& f) {
  const auto& block = f.block;
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last)
        for (int m = 0; m < f.n_modes; ++m)
          if (!std::isfinite(f.at(conf, row, last, m)))
            return cell_text(block.grid, global_cell(block, conf, row, last), block.grid.dim());
  return "";
}

/// This rank's first cell of the field with a number that is none, or "".
std::string unusable_field(const PhaseBlock& block, const ConfField& field) {
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (std::size_t c = 0; c < field.extent(1); ++c)
      for (std::size_t m = 0; m < field.extent(2); ++m)
        if (!std::isfinite(field(conf, c, m)))
          return cell_text(block.grid, global_cell(block, conf, 0, 0), block.grid.cdim);
  return "";
}

/// The first of all ranks' non-empty texts. Collective.
std::string any_of_them(const Comm& comm, const std::string& text) {
  return heaviest(comm, text.empty() ? 0 : 1, text);
}

/// "f of 'electrons' is not finite in cell ...", or "". Collective.
std::string not_finite(const Setup& setup, VlasovSystem& system) {
  const Comm& comm = setup.decomposition.comm();
  for (std::size_t s = 0; s < setup.species.size(); ++s)
    if (const auto place = any_of_them(comm, unusable_f(system.f(s))); !place.empty())
      return fmt::format("f of '{}' is not finite in {}", setup.species[s].name, place);
  const auto place = any_of_them(comm, unusable_field(system.f(0).block, system.field()));
  return place.empty() ? "" : fmt::format("the field is not finite in {}", place);
}

std::string when(const VlasovSystem& system) {
  return fmt::format("step {}, time {:.6g}", system.step(), system.time());
}

void check_negative(const Setup& setup, int s, double limit, VlasovSystem& system) {
  const Comm& comm = setup.decomposition.comm();
  const Distribution& f = system.f(s);
  const PhaseIntegrals here = phase_integrals(Exec(), setup.basis, f);
  const double greatest = comm.maximum(here.greatest_mean);
  const auto text = fmt::format(
      "{}: f of '{}' is far below zero in {}: its mean is {:.4g}, the greatest {:.4g} (limits.negative_f = "
      "{:g}). More "
      "cells, lower order or some collisions help",
      when(system), setup.species[s].name,
      cell_text(f.block.grid, global_cell(f.block, here.least_conf, here.least_row, here.least_last),
                f.block.grid.dim()),
      here.least_mean, greatest, limit);
  const auto worst = heaviest(comm, here.least_mean < -limit * greatest ? -here.least_mean : 0, text);
  if (!worst.empty()) throw NumericalError(worst);
}

bool lets_particles_in(const Species& species) {
  for (int d = 0; d < species.grid.cdim; ++d)
    for (const std::size_t side : {0, 1}) {
      const Boundary end = species.boundary[d][side];
      if (end == Boundary::open || end == Boundary::fixed || species.emission[d][side]) return true;
    }
  return false;
}

bool collides(const Setup& setup, std::size_t s) {
  if (!setup.system.collisions) return false;
  const auto& row = setup.system.collisions->frequency[s];
  return std::any_of(row.begin(), row.end(), [](double nu) { return nu > 0; });
}

constexpr double warning_part = 0.1;        // of a limit
constexpr double gauss_warning_part = 0.5;  // of limits.gauss_error
constexpr double charge_noise = 1e-6;       // of the plasma's charge: what projections of f leave

double volume_of(const PhaseGrid& grid) {
  double volume = 1;
  for (int d = 0; d < grid.cdim; ++d) volume *= grid.upper[d] - grid.lower[d];
  return volume;
}

/// The field that epsilon0 div E - rho alone would make over E, root mean squares over x; infinite where E is
/// 0. 0 where the error is below negligible_charge.
double gauss_ratio(const Sample& sample, double electric_energy) {
  return sample.gauss_energy > 0 ? std::sqrt(sample.gauss_energy / electric_energy) : 0;
}

/// What is judged of it. An E with less than 1e-5 of the kinetic energy may be but an error itself (a plasma
/// at rest): it counts as one with that much, and the potential of the wrong field (root mean square) is
/// compared with the mean kinetic energy per charge, a twentieth of which hardly moves a particle.
double gauss_error(const Sample& sample, double electric_energy, double volume) {
  const double weak = 1e-5 * sample.kinetic_energy;
  const double error = gauss_ratio(sample, std::max(electric_energy, weak));
  if (electric_energy > weak) return error;
  const double per_charge = sample.kinetic_energy / (sample.plasma_density * volume);
  return std::min(error, 2 * sample.gauss_potential / per_charge);
}

/// "12.3 % of E", or "beside E = 0".
std::string gauss_text(double ratio, const char* of) {
  return std::isfinite(ratio) ? fmt::format("is {:.3g} % of {}", 100 * ratio, of) : "stands beside E = 0";
}

double electric_energy(const Sample& sample, const Setup& setup) {
  return 0.5 * setup.system.maxwell.epsilon0 * (sample.field[0] + sample.field[1] + sample.field[2]);
}

bool all_periodic(const PhaseGrid& grid) {
  return std::all_of(grid.periodic.begin(), grid.periodic.begin() + grid.cdim, [](bool p) { return p; });
}

/// Why Poisson's equation has no solution, or "".
std::string unsolvable(const Sample& sample, const Setup& setup) {
  const PhaseGrid& grid = setup.species.front().grid;
  const double volume = volume_of(grid);
  const double excess = sample.excess_charge, plasma = sample.plasma_density * volume;
  if (all_periodic(grid) || std::abs(excess) <= charge_noise * plasma) return "";
  return fmt::format(
      "Poisson's equation has no solution: all walls are neumann and give the field's flux, but a charge of "
      "{:.4g} "
      "is left over ({:.2g} of the plasma's); make a wall dirichlet, or change field.background_charge by "
      "{:.6g} or "
      "the walls' values",
      excess, excess / plasma, -excess / volume);
}

}  // namespace

std::string edge_text(const VelocityEdge& edge, const PhaseGrid& grid) {
  const int d = grid.cdim + edge.direction;
  return fmt::format(
      "the {} end of v{} ({:.6g}): {:.3g} % of the mean density is in the outermost cells at {}",
      edge.side == 0 ? "lower" : "upper", "xyz"[edge.direction],
      edge.side == 0 ? grid.lower[d] : grid.upper[d], 100 * edge.share,
      place_text(grid, std::span<const double>(edge.place.data(), grid.cdim)));
}

std::string edge_advice(const VelocityEdge& edge, std::size_t species) {
  return fmt::format("enlarge species.{}.velocity.{}.{}, and the cells with it", species,
                     edge.side == 0 ? "lower" : "upper", edge.direction);
}

Health::Health(const RunOptions& options, const Setup& setup, const History& history)
    : limits_(options.limits), setup_(setup) {
  for (std::size_t s = 0; s < setup.species.size(); ++s) {
    const auto& species = setup.species[s];
    Watch watch;
    watch.square_falls = !setup.has_source[s] && !lets_particles_in(species) && !collides(setup, s);
    const auto& square = history.column(species.name + "_f_squared");
    if (!square.empty()) {
      watch.first_square = square.front();
      watch.least_square = *std::min_element(square.begin(), square.end());
    }
    watches_.push_back(watch);
  }
  const auto& energy = history.column("electric_energy");
  if (!energy.empty()) greatest_energy_ = *std::max_element(energy.begin(), energy.end());
}

void check_first_field(const Sample& sample, const RunOptions& options, const Setup& setup) {
  const auto text = unsolvable(sample, setup);
  QUINTET_CHECK(text.empty(), "field.boundary: {}", text);
  if (setup.system.field != FieldModel::maxwell) return;
  const double energy = electric_energy(sample, setup);
  const double error = gauss_error(sample, energy, volume_of(setup.species.front().grid));
  QUINTET_CHECK(
      error <= options.limits.gauss_error,
      "field{}: the field that epsilon0 div E - rho alone would make {} (root mean squares over x), "
      "more than limits.gauss_error = {:g}; {}",
      options.field.initial.electric.empty()
          ? ": E as it follows from the charge misses Gauss's law"
          : ".initial.electric: violates Gauss's law with the charge of the run",
      gauss_text(gauss_ratio(sample, energy), "E"), options.limits.gauss_error,
      options.field.initial.electric.empty()
          ? "more cells of x, a higher order, or walls that suit the charge help"
          : "leave it out to compute E from the charge, or change the densities");
}

void Health::check_charge(const Sample& sample, const VlasovSystem& system) {
  if (const auto text = unsolvable(sample, setup_); !text.empty())
    throw NumericalError(
        fmt::format("{}: {} (charge that walls absorb is not kept on them)", when(system), text));
  greatest_energy_ = std::max(greatest_energy_, electric_energy(sample, setup_));
  const double error = gauss_error(sample, greatest_energy_, volume_of(setup_.species.front().grid));
  const bool stop = error > limits_.gauss_error;
  if (!stop && (warned_of_gauss_ || !(error > gauss_warning_part * limits_.gauss_error))) return;
  const auto text = fmt::format(
      "{}: E has left Gauss's law: the field that epsilon0 div E - rho alone would make {} (root mean "
      "squares "
      "over x)",
      when(system), gauss_text(gauss_ratio(sample, greatest_energy_), "the greatest E so far"));
  constexpr const char* advice =
      "field.cleaning: {electric: 1} carries the error away; so do more cells of x";
  if (stop)
    throw NumericalError(
        fmt::format("{}, more than limits.gauss_error = {:g}; {}", text, limits_.gauss_error, advice));
  log::warning("{}; the run stops at {:g} % (limits.gauss_error); {}", text, 100 * limits_.gauss_error,
               advice);
  warned_of_gauss_ = true;
}

void Health::check(const Sample& sample, VlasovSystem& system) {
  bool finite = std::isfinite(sample.energy());
  for (const auto& species : sample.species)
    finite = finite && std::isfinite(species.m0) && std::isfinite(species.l2);
  if (!finite) {
    const auto place = not_finite(setup_, system);
    throw NumericalError(fmt::format("{}: {}", when(system),
                                     place.empty() ? "the energy is out of the range of a double" : place));
  }
  check_charge(sample, system);
  for (std::size_t s = 0; s < sample.species.size(); ++s) {
    check_edge(s, sample, system);
    check_square(s, sample, system);
    const auto& of = sample.species[s];
    if (of.least_mean < -limits_.negative_f * of.greatest_mean)  // f itself is looked at only then
      check_negative(setup_, s, limits_.negative_f, system);
    check_negative_share(s, sample, system);
  }
}

void Health::check_negative_share(std::size_t s, const Sample& sample, const VlasovSystem& system) {
  const double share = sample.species[s].negative / sample.species[s].m0;
  if (watches_[s].warned_of_negative || !(share > limits_.negative_share)) return;
  log::warning(
      "{}: the negative part of f of '{}' holds {:.3g} % of its particles (limits.negative_share = {:g}): "
      "more "
      "cells or keep_positive: true help",
      when(system), setup_.species[s].name, 100 * share, limits_.negative_share);
  watches_[s].warned_of_negative = true;
}

void Health::check_edge(std::size_t s, const Sample& sample, const VlasovSystem& system) {
  const VelocityEdge& edge = sample.species[s].edge;
  Watch& watch = watches_[s];
  const bool stop = edge.share > limits_.edge_share;
  if (!stop && (watch.warned_of_edge || edge.share <= warning_part * limits_.edge_share)) return;
  const auto text = fmt::format("{}: '{}' has reached {}", when(system), setup_.species[s].name,
                                edge_text(edge, setup_.species[s].grid));
  if (stop)
    throw NumericalError(
        fmt::format("{}, more than limits.edge_share = {:g}: particles that forces accelerate beyond it pile "
                    "up there, and results are wrong from here on; {}",
                    text, limits_.edge_share, edge_advice(edge, s)));
  log::warning("{}; the run stops at {:g} % (limits.edge_share): {}", text, 100 * limits_.edge_share,
               edge_advice(edge, s));
  watch.warned_of_edge = true;
}

void Health::check_square(std::size_t s, const Sample& sample, const VlasovSystem& system) {
  const double square = sample.species[s].l2;
  Watch& watch = watches_[s];
  if (!watch.square_falls) return;
  if (!(watch.first_square > 0)) watch.first_square = watch.least_square = square;
  const double growth = (square - watch.least_square) / watch.first_square;
  watch.least_square = std::min(watch.least_square, square);
  const bool stop = growth > limits_.f_squared_growth;
  if (!stop && (watch.warned_of_square || growth <= warning_part * limits_.f_squared_growth)) return;
  const auto text = fmt::format(
      "{}: the integral of f^2 of '{}' has grown by {:.3g} % of its first value, which the equations forbid: "
      "f has "
      "reached an end of velocity space ({}), or cells or steps are too large",
      when(system), setup_.species[s].name, 100 * growth,
      edge_text(sample.species[s].edge, setup_.species[s].grid));
  const auto advice = fmt::format(
      "{}{}", edge_advice(sample.species[s].edge, s),
      setup_.system.flux == Flux::central ? ", or take flux: upwind, which damps what ripples there" : "");
  if (stop)
    throw NumericalError(fmt::format("{}; more than limits.f_squared_growth = {:g}: {}", text,
                                     limits_.f_squared_growth, advice));
  log::warning("{}; the run stops at {:g} % (limits.f_squared_growth): {}", text,
               100 * limits_.f_squared_growth, advice);
  watch.warned_of_square = true;
}

std::string trouble_spot(const Setup& setup, VlasovSystem& system) {
  if (auto text = not_finite(setup, system); !text.empty()) return text;
  const PhaseBlock& block = system.f(0).block;
  const ConfField& field = system.field();
  double strongest = 0;
  int strongest_cell = 0;
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (std::size_t c = 0; c < 6; ++c)
      if (const double value = std::abs(field(conf, c, 0)); value > strongest) {
        strongest = value;
        strongest_cell = conf;
      }
  const auto place =
      heaviest(setup.decomposition.comm(), strongest,
               cell_text(block.grid, global_cell(block, strongest_cell, 0, 0), block.grid.cdim));
  return place.empty() ? "the field is zero" : "the field is strongest in " + place;
}

}  // namespace quintet::vlasov
