#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"
#include "tests/support/two_species.hpp"
#include "tests/verification/kinetics/device/device_factory.hpp"

/// Whole systems of two species of different mass, on the host or with f resident on the device.
namespace quintet::kinetics {

enum class Walls {
  none,
  reflecting,
  emitting,  ///< and mirroring a part
  giving,    ///< emitting alone: ranks may share v across it
  leaving    ///< the lower one absorbs, the upper one is open
};
enum class Collide { no, lbo, lbo_split, bgk, bgk_split };

struct Setting {
  int cdim, vdim, order;
  Family family;
  FieldModel field;
  Walls walls = Walls::none;
  bool more = false;  ///< a source, and f is kept positive
  Collide collide = Collide::no;
};

inline Species make_species(const Setting& s, double charge, double mass, int nv) {
  Species species = species_of(s.cdim, s.vdim, charge, mass, nv, 1);
  species.grid.periodic[0] = s.walls == Walls::none;
  if (s.walls == Walls::reflecting) species.boundary[0] = {Boundary::reflecting, Boundary::reflecting};
  if (s.walls == Walls::leaving) species.boundary[0] = {Boundary::absorbing, Boundary::open};
  if (s.walls == Walls::emitting || s.walls == Walls::giving) {
    species.boundary[0] = {Boundary::absorbing, Boundary::absorbing};
    Emission emission;
    emission.flux = [](double t) { return 0.1 + 0.05 * t; };
    emission.yield = {0.1, 0.3};
    if (s.walls == Walls::emitting) emission.reflection = 0.2;
    if (charge < 0) species.emission[0][1] = emission;
  }
  return species;
}

/// Among and between both species, with a rate that changes in x and t.
inline CollisionOptions make_collisions(Collide collide) {
  CollisionOptions options;
  const bool bgk = collide == Collide::bgk || collide == Collide::bgk_split;
  options.kind = bgk ? CollisionOptions::Operator::bgk : CollisionOptions::Operator::lenard_bernstein;
  options.split = collide == Collide::lbo_split || collide == Collide::bgk_split;
  options.frequency = {{0.3, 0.2}, {0.05, 0.1}};
  options.profile.assign(2, std::vector<PointFunction>(2));
  options.profile[0][0] = [](std::span<const double> z) { return 1 + 0.5 * std::sin(z[0] + z.back()); };
  options.profile_changes = true;
  return options;
}

inline std::unique_ptr<VlasovSystem> make_system(const Setting& s, bool device,
                                                 const Comm& comm = Comm::self(),
                                                 const std::array<int, 6>& ranks = {},
                                                 bool sends_directly = true) {
  const Exec exec;
  const PhaseBasis basis(s.cdim, s.vdim, s.order, s.family);
  SystemOptions options;
  options.field = s.field;
  options.keep_positive = s.more;
  if (s.collide != Collide::no) options.collisions = make_collisions(s.collide);
  if (device) {
    options.device = device_factory();
    options.device->sends_directly = test::may_send(sends_directly);
  }
  options.ranks = ranks;
  if (s.walls != Walls::none && s.field == FieldModel::poisson) {
    options.poisson.boundary[0] = {PoissonOptions::Wall::dirichlet, PoissonOptions::Wall::neumann};
    options.poisson.value[0] = {0.3, 0};
  }
  if (s.walls != Walls::none) options.maxwell.boundary[0] = {FieldBoundary::conductor, FieldBoundary::open};
  auto system = std::make_unique<VlasovSystem>(
      comm, basis, std::vector<Species>{make_species(s, -1, 1, 11), make_species(s, 1, 4, 9)}, options);
  fill(*system, basis, s.cdim, s.vdim);
  if (s.field == FieldModel::maxwell)
    for (int conf = 0; conf < system->f(0).block.n_conf(); ++conf) {
      system->field()(conf, std::size_t{field_bz}, 0) = 0.3;
      system->field()(conf, std::size_t{field_bx}, 1) = 0.1;
    }
  if (s.more) {
    SystemOptions::Source source;
    source.species = 1;
    source.shape = Distribution("shape", system->f(1).block, system->f(1).n_modes);
    project_phase(
        basis,
        [&](std::span<const double> z) {
          double f = 2 + std::sin(z[0]);
          for (int d = 0; d < s.vdim; ++d) f *= std::exp(-z[place_of(s.cdim + d)] * z[place_of(s.cdim + d)]);
          return f;
        },
        source.shape, "shape");
    source.amplitude = [](double t) { return 0.2 + t; };
    system->add_source(std::move(source));
  }
  system->start(exec, 0);
  return system;
}

}  // namespace quintet::kinetics
