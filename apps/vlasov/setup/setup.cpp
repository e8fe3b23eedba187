#include "apps/vlasov/setup/setup.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/vlasov/setup/field_setup.hpp"
#include "apps/vlasov/setup/theory_setup.hpp"
#include "apps/vlasov/setup/velocity_cells.hpp"
#include "apps/vlasov/setup/writing_needs.hpp"
#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/device/collisions_device.hpp"
#include "physics/kinetics/space/boundaries.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

template <class List>
void check_length(const List& list, std::size_t expected, const std::string& key, const std::string& why) {
  QUINTET_CHECK(list.size() == expected, "{}: has {}; expected {}, {}", key, counted(list.size(), "value"),
                expected, why);
}

/// Corners of a box in directions first, first + 1, ... of the grid.
void set_box(const Formulas& formulas, const std::string& key, int first, int n, PhaseGrid& grid) {
  for (int d = 0; d < n; ++d) {
    auto& low = grid.lower[first + d];
    auto& high = grid.upper[first + d];
    const auto upper = fmt::format("{}.upper.{}", key, d);
    low = formulas.number(fmt::format("{}.lower.{}", key, d));
    high = formulas.number(upper);
    QUINTET_CHECK(high > low, "{}: {} is not above the lower end, {}; raise it, or lower {}.lower.{}",
                  formulas.place(upper), high, low, key, d);
    QUINTET_CHECK(high - low > 1e-100 && high - low < 1e100,
                  "{}: {} lies {:.3g} above the lower end; expected 1e-100 to 1e100, whose squares and cubes "
                  "are still numbers",
                  formulas.place(upper), high, high - low);
  }
}

/// vdim is what the first species says; the others must agree.
int velocity_dimensions(const std::vector<SpeciesOptions>& species) {
  const auto vdim = species.front().velocity.lower.size();
  for (std::size_t s = 0; s < species.size(); ++s) {
    const auto& velocity = species[s].velocity;
    const auto key = fmt::format("species.{}.velocity", s);
    check_length(velocity.lower, vdim, key + ".lower", "as many velocity directions as species.0");
    check_length(velocity.upper, vdim, key + ".upper", "as many as velocity.lower");
  }
  return vdim;
}

/// Cells of v: the species' own, or those of grid.cells.
void set_velocity_cells(const GridOptions& options, const VelocityOptions& velocity, const std::string& key,
                        PhaseGrid& grid) {
  const std::size_t cdim = grid.cdim, vdim = grid.vdim;
  if (options.cells.size() == cdim) {
    check_length(velocity.cells, vdim, key + ".cells",
                 "cells along each velocity direction (or give grid.cells those too)");
  } else {
    check_length(options.cells, cdim + vdim, "grid.cells",
                 fmt::format("cells of the {} directions of x, or of these and the {} of v", cdim, vdim));
    QUINTET_CHECK(velocity.cells.empty(),
                  "{}.cells: grid.cells = [{}] gives velocity cells already; give {} there, or none here",
                  key, fmt::join(options.cells, ", "), cdim);
  }
  const auto& cells = velocity.cells.empty() ? options.cells : velocity.cells;
  const auto offset = velocity.cells.empty() ? cdim : 0;
  for (std::size_t d = 0; d < vdim; ++d) grid.cells[cdim + d] = cells[offset + d];
}

/// Boundaries of a species; decides which directions are periodic.
void set_boundary(const BoundaryOptions& options, const std::string& key, Species& species) {
  PhaseGrid& grid = species.grid;
  for (int side = 0; side < 2; ++side) {
    const auto& given = side == 0 ? options.lower : options.upper;
    const auto here = fmt::format("{}.{}", key, side == 0 ? "lower" : "upper");
    if (!given.empty()) check_length(given, grid.cdim, here, "one for each direction of x");
    for (int d = 0; d < grid.cdim; ++d)
      species.boundary[d][side] = given.empty()
                                      ? Boundary::periodic
                                      : row_given(boundaries, given[d], fmt::format("{}.{}", here, d)).value;
  }
  for (int d = 0; d < grid.cdim; ++d) {
    const auto& ends = species.boundary[d];
    grid.periodic[d] = ends[0] == Boundary::periodic;
    QUINTET_CHECK((ends[0] == Boundary::periodic) == (ends[1] == Boundary::periodic),
                  "{}: direction {} is periodic at one end alone; make both ends periodic, or neither", key,
                  "xyz"[d]);
  }
}

/// A wall that mirrors needs velocity cells that do so about 0.
void check_mirror(const Species& species, const std::string& key) {
  const PhaseGrid& grid = species.grid;
  for (int d = 0; d < grid.cdim; ++d) {
    if (!species.mirrors(d, 0) && !species.mirrors(d, 1)) continue;
    QUINTET_CHECK(d < grid.vdim, "{}.boundary: a wall along {} cannot reflect: there is no velocity v{}", key,
                  "xyz"[d], "xyz"[d]);
    const double low = grid.lower[grid.cdim + d], high = grid.upper[grid.cdim + d];
    QUINTET_CHECK(
        std::abs(low + high) <= 1e-12 * (high - low),
        "{}.boundary: a reflecting wall reverses v{}, but its box {} to {} is not symmetric about 0; make "
        "the two ends opposite",
        key, "xyz"[d], low, high);
    QUINTET_CHECK(
        grid.mirrors(grid.cdim + d),
        "{}.boundary: a reflecting wall reverses v{}, but its cells are not symmetric about 0; make "
        "velocity.mapping.{} odd in s, or velocity.finest.{} 0",
        key, "xyz"[d], d, d);
  }
}

Species make_species(const RunOptions& options, const Formulas& formulas, std::size_t s, int vdim) {
  const SpeciesOptions& given = options.species[s];
  const auto key = fmt::format("species.{}", s);
  Species species;
  species.name = given.name;
  species.charge = formulas.number(key + ".charge");
  species.mass = formulas.positive(key + ".mass");
  PhaseGrid& grid = species.grid;
  grid.cdim = options.grid.lower.size();
  grid.vdim = vdim;
  check_length(options.grid.upper, grid.cdim, "grid.upper", "as many as grid.lower");
  set_box(formulas, "grid", 0, grid.cdim, grid);
  set_box(formulas, key + ".velocity", grid.cdim, vdim, grid);
  set_velocity_cells(options.grid, given.velocity, key + ".velocity", grid);
  set_velocity_edges(formulas, given.velocity, key + ".velocity", grid);
  for (int d = 0; d < grid.cdim; ++d) grid.cells[d] = options.grid.cells[d];
  set_boundary(given.boundary, key + ".boundary", species);
  check_mirror(species, key);
  if (!given.acceleration.empty())
    check_length(given.acceleration, vdim, key + ".acceleration", "one for each velocity direction");
  return species;
}

bool is_file_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

std::vector<Species> make_all_species(const RunOptions& options, const Formulas& formulas, int vdim) {
  std::vector<Species> all;
  std::set<std::string> names;
  for (std::size_t s = 0; s < options.species.size(); ++s) {
    all.push_back(make_species(options, formulas, s, vdim));
    const auto& name = all.back().name;
    QUINTET_CHECK(is_file_name(name),
                  "species.{}.name: '{}' cannot be part of a file's name; expected letters, digits, _ and -",
                  s, name);
    QUINTET_CHECK(names.insert(name).second,
                  "species.{}.name: there is a species '{}' already; names must differ", s, name);
    QUINTET_CHECK(all.back().grid.periodic == all.front().grid.periodic,
                  "species.{}.boundary: '{}' and '{}' must be periodic along the same directions", s, name,
                  all.front().name);
  }
  return all;
}

std::size_t species_index(const std::string& name, const std::vector<Species>& species,
                          const std::string& key) {
  std::vector<std::string> names;
  for (const auto& one : species) names.push_back(one.name);
  const auto found = std::find(names.begin(), names.end(), name);
  QUINTET_CHECK(found != names.end(), "{}: unknown species '{}'; there is {}{}", key, name, name_list(names),
                did_you_mean(name, names));
  return found - names.begin();
}

/// nu_sr of a formula: a number, or 1 times a profile of x and t.
void set_frequency(const Formulas& formulas, const std::string& key, std::size_t s, std::size_t r,
                   double factor, CollisionOptions& collisions) {
  if (const auto value = formulas.constant(key)) {
    QUINTET_CHECK(*value >= 0 && std::isfinite(*value), "{}: {} is out of range; expected at least 0",
                  formulas.place(key), *value);
    collisions.frequency[s][r] = factor * *value;
    return;
  }
  const Formula& formula = formulas.function(key);
  if (collisions.profile.empty())
    collisions.profile.assign(collisions.frequency.size(),
                              std::vector<PointFunction>(collisions.frequency.size()));
  collisions.frequency[s][r] = factor;
  collisions.profile[s][r] = formula;
  collisions.profile_changes = collisions.profile_changes || formula.uses("t");
}

bool collides(const CollisionOptions& collisions, std::size_t s) {
  const auto& frequency = collisions.frequency[s];
  return std::any_of(frequency.begin(), frequency.end(), [](double one) { return one != 0; });
}

// One number for a pair gives the other by the masses, nu_ba = nu_ab m_a / m_b: the pair keeps its momentum.
CollisionOptions make_collisions(const CollisionSection& given, const Formulas& formulas,
                                 const std::vector<Species>& species, const PhaseBasis& basis) {
  CollisionOptions collisions;
  collisions.kind = given.kind;
  collisions.exchange = given.exchange;
  collisions.split = given.split;
  collisions.conserving = given.conserving;
  collisions.frequency.assign(species.size(), std::vector<double>(species.size(), 0));
  for (const auto& [name, text] : given.frequency) {
    const auto s = species_index(name, species, place_and_key(text, "collisions.frequency"));
    set_frequency(formulas, "collisions.frequency." + name, s, s, 1, collisions);
  }
  for (std::size_t i = 0; i < given.between.size(); ++i) {
    const auto& pair = given.between[i];
    const auto key = fmt::format("collisions.between.{}", i);
    const auto a = species_index(pair.species[0], species, key + ".species"),
               b = species_index(pair.species[1], species, key + ".species");
    QUINTET_CHECK(a != b, "{}.species: twice '{}'; its collisions with itself are in collisions.frequency",
                  key, pair.species[0]);
    set_frequency(formulas, key + ".frequency.0", a, b, 1, collisions);
    const bool both = pair.frequency.size() > 1;
    set_frequency(formulas, key + (both ? ".frequency.1" : ".frequency.0"), b, a,
                  both ? 1 : species[a].mass / species[b].mass, collisions);
  }
  collisions.spitzer = given.spitzer.has_value();
  if (given.spitzer) {
    const std::string key = "collisions.spitzer.";
    collisions.reference_density = formulas.positive(key + "reference_density");
    collisions.reference_thermal_speed = formulas.positive(key + "reference_thermal_speed");
  }
  for (std::size_t s = 0; s < species.size(); ++s)
    if (collides(collisions, s))
      row_of(collision_operators(), given.kind).check_cells(basis, species[s].grid, species[s].name);
  return collisions;
}

/// The velocity direction that a reflecting wall turns round stays whole on each rank.
void keep_mirrored_whole(const Species& species, std::array<int, 6>& ranks) {
  const PhaseGrid& grid = species.grid;
  for (int d = 0; d < grid.cdim; ++d)
    for (const int side : {0, 1}) {
      if (!species.mirrors(d, side)) continue;
      int& n = ranks[grid.cdim + d];
      QUINTET_CHECK(n <= 1,
                    "parallel.ranks: {} ranks along v{}, which a wall of '{}' reflects; expected 1 there", n,
                    "xyz"[d], species.name);
      n = 1;
    }
}

/// 0 must be an end of velocity cells, so that each cell either leaves the wall or goes to it.
void check_halves(const PhaseGrid& grid, int d, const std::string& key) {
  const int v = grid.cdim + d;
  bool found = false;
  for (int i = 1; i < grid.cells[v]; ++i)
    found = found || std::abs(grid.edge(grid.cdim + d, i)) < 1e-9 * grid.least_width(grid.cdim + d);
  QUINTET_CHECK(
      found,
      "{}: v{} = 0 lies inside a cell of the grid {} to {} of {} cells; a wall that emits needs it at "
      "an end of two: choose an even number of cells and opposite ends{}",
      key, "xyz"[d], grid.lower[v], grid.upper[v], grid.cells[v],
      grid.is_uniform(grid.cdim + d)
          ? ""
          : fmt::format(", and velocity.mapping.{} odd in s or velocity.finest.{} 0", d, d));
}

// Emitted flux = sum over species of yield times absorbed flux: only what a wall absorbs can make it emit.
void set_emission(const EmissionOptions& given, const Formulas& formulas, const std::string& key,
                  std::size_t s, std::vector<Species>& all) {
  Species& species = all[s];
  const int d = given.direction;
  QUINTET_CHECK(d < std::min(species.grid.cdim, species.grid.vdim),
                "{}.direction: there is no wall along {} that particles of this run reach", key, "xyz"[d]);
  const int end = given.side;
  const auto absorbs = [&](const Species& one) { return one.boundary[d][end] == Boundary::absorbing; };
  QUINTET_CHECK(absorbs(species), "{}: the {} end of {} is not an absorbing wall; make it absorbing", key,
                given.side == 0 ? "lower" : "upper", "xyz"[d]);
  QUINTET_CHECK(!species.emission[d][end], "{}: the {} end of {} is described already", key,
                given.side == 0 ? "lower" : "upper", "xyz"[d]);
  Emission emission;
  emission.reflection = formulas.number(key + ".reflection");
  QUINTET_CHECK(emission.reflection >= 0 && emission.reflection <= 1,
                "{}: {} is out of range; expected 0 to 1", formulas.place(key + ".reflection"),
                emission.reflection);
  for (const auto& [name, text] : given.yield) {
    const auto here = key + ".yield." + name;
    const auto r = species_index(name, all, place_and_key(text, key + ".yield"));
    const double value = formulas.number(here);
    QUINTET_CHECK(value >= 0, "{}: {} is out of range; expected at least 0", formulas.place(here), value);
    QUINTET_CHECK(absorbs(all[r]), "{}: the wall does not absorb '{}'", formulas.place(here), name);
    emission.yield.resize(all.size(), 0.0);
    emission.yield[r] = value;
    check_halves(all[r].grid, d, here);
  }
  emission.flux = [flux = formulas.function(key + ".flux")](double t) {
    return flux(std::span<const double>(&t, 1));
  };
  const bool emits = given.flux.text != "0" || !given.yield.empty();
  QUINTET_CHECK(!emits || given.thermal_speed || given.temperature,
                "{}: give thermal_speed or temperature of what is emitted", key);
  if (given.thermal_speed) emission.thermal_speed = formulas.positive(key + ".thermal_speed");
  if (given.temperature)
    emission.thermal_speed = std::sqrt(formulas.positive(key + ".temperature") / species.mass);
  check_halves(species.grid, d, key);
  species.emission[d][end] = std::move(emission);
  check_mirror(species, key);
}

void set_all_emissions(const RunOptions& options, const Formulas& formulas, std::vector<Species>& all) {
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto& given = options.species[s].boundary.emission;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto key = fmt::format("species.{}.boundary.emission.{}", s, i);
      QUINTET_CHECK(options.flux == Flux::upwind,
                    "{}: walls emit only with flux: upwind, which separates outgoing from incoming particles",
                    key);
      set_emission(given[i], formulas, key, s, all);
    }
  }
}

std::array<int, 6> rank_grid(const ParallelOptions& options, const std::vector<Species>& species) {
  std::array<int, 6> ranks{};
  const int dim = species.front().grid.dim();
  if (!options.ranks.empty())
    check_length(options.ranks, dim, "parallel.ranks", "one for each direction of x and v");
  for (std::size_t d = 0; d < options.ranks.size(); ++d) ranks[d] = options.ranks[d];
  for (const auto& one : species) keep_mirrored_whole(one, ranks);
  return ranks;
}

}  // namespace

Setup make_setup(const Comm& comm, const RunOptions& options) {
  const int cdim = options.grid.lower.size(), vdim = velocity_dimensions(options.species);
  const Formulas formulas(options, cdim, vdim);
  const PhaseBasis basis(cdim, vdim, options.basis.order, options.basis.family);
  auto species = make_all_species(options, formulas, vdim);
  set_all_emissions(options, formulas, species);
  const auto ranks = rank_grid(options.parallel, species);
  const Decomposition decomposition(comm, species.front().grid, ranks);
  for (const auto& one : species) (void)decomposition.block(one.grid);  // says when it has too few cells

  SystemOptions system;
  system.flux = options.flux;
  system.cfl = options.time.cfl;
  system.keep_positive = options.keep_positive;
  system.ranks = decomposition.ranks();
  if (options.collisions) system.collisions = make_collisions(*options.collisions, formulas, species, basis);
  set_field(options.field, formulas, basis, decomposition, species.front().grid, system);
  set_acceleration(options.species, formulas, basis, decomposition, species.front().grid, system);
  const double end = formulas.positive("time.end");
  std::optional<double> fixed_dt;
  if (options.time.dt) fixed_dt = formulas.positive("time.dt");
  const double interval = options.output.frame_interval ? formulas.positive("output.frame_interval") : 0;
  std::vector<bool> has_source;
  for (const auto& given : options.species) has_source.push_back(given.source.has_value());
  auto wave = wave_signal(options, formulas, species.front().grid);
  return {formulas, basis,    std::move(species), decomposition,         std::move(system),
          end,      fixed_dt, interval,           std::move(has_source), std::move(wave)};
}

namespace {

double cells_of(const PhaseGrid& grid) {
  double cells = 1;
  for (int d = 0; d < grid.dim(); ++d) cells *= grid.cells[d];
  return cells;
}

/// Bytes of all f on all ranks, counted so that nothing overflows.
double bytes_of_f(const Setup& setup) {
  double bytes = 0;
  for (const auto& species : setup.species) bytes += 8 * cells_of(species.grid) * setup.basis.size();
  return bytes;
}

/// With what helps.
void require(const Context& context, double bytes, const std::string& what) {
  try {
    context.require_memory(bytes, what);
  } catch (const ResourceError& error) {
    throw ResourceError(fmt::format("{}; fewer cells or a lower basis.order need less", error.what()));
  }
}

}  // namespace

DeviceSession open_device(Context& context, Device wanted, Setup& setup) {
  DeviceSession session = context.open_device(wanted);
  use_device(session, setup);
  return session;
}

void use_device(const DeviceSession& session, Setup& setup) {
  if (!session.is_cpu())
    setup.system.device = DeviceVlasovFactory{
        session.factory("quintet_make_device_vlasov", &quintet_make_device_vlasov),
        session.factory("quintet_device_vlasov_bytes", &quintet_device_vlasov_bytes),
        session.factory("quintet_make_device_collisions", &quintet_make_device_collisions),
        session.factory("quintet_device_collision_bytes", &quintet_device_collision_bytes),
        session.sends_directly()};
}

double require_room(const Context& context, const DeviceSession& device, const Setup& setup) {
  const auto what = fmt::format("{} ({:.4g} bytes of f)", description(setup), bytes_of_f(setup));
  // A step needs f at its begin, at this stage and at the next; where it is resident, the host has a copy.
  require(context, (device.is_cpu() ? 3 : 1) * bytes_of_f(setup) / context.comm().size(), what);
  double bytes = VlasovSystem::bytes_needed(context.comm(), setup.basis, setup.species, setup.system);
  const double there = VlasovSystem::device_bytes_needed(context.comm(), setup.basis, setup.species,
                                                         setup.system, setup.has_source);
  if (device.device() == Device::portable) bytes += there;  // in the same memory
  require(context,
          bytes + bytes_of_writing +
              writing_bytes(setup, setup.decomposition.ranks(), context.comm().size()) +
              (context.comm().size() > 1 ? bytes_of_messages : 0),
          what);
  device.require_bytes(there, what);
  return bytes;
}

std::string description(const Setup& setup) {
  const auto& basis = setup.basis;
  const auto& grid = setup.species.front().grid;
  const auto begin = grid.cells.begin();
  return fmt::format("{}x{}v, {} of order {} ({} a cell), {} cells of x, {} of v", basis.cdim(), basis.vdim(),
                     name(basis.family()), basis.order(), counted(basis.size(), "function"),
                     fmt::join(begin, begin + grid.cdim, " x "),
                     fmt::join(begin + grid.cdim, begin + grid.dim(), " x "));
}

}  // namespace quintet::vlasov
