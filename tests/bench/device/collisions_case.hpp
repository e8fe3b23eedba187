#pragma once

#include <string>
#include <vector>

#include "physics/kinetics/device/collisions_device.hpp"

/// What the benchmark of collisions on a device starts from (archive.hpp).
namespace quintet::kinetics {

template <class A>
void visit(A& archive, DeviceVlasovOptions& o) {
  archive.all(o.cdim, o.vdim, o.order, o.family, o.flux, o.cells, o.dx, o.centre, o.relative, o.mean_dv,
              o.least_dv, o.open, o.sweep, o.lanes, o.n_buffers);
}
template <class A>
void visit(A& archive, DeviceCollisionOptions::Moment& m) {
  archive(m.weight);
}
template <class A>
void visit(A& archive, DeviceCollisionOptions& o) {
  archive.all(o.n_conf, o.vdim, o.n_modes, o.n_conf_modes, o.uniform_rate, o.groups, o.triple, o.greatest,
              o.cells, o.begin, o.grid_cells, o.edge, o.centre, o.half, o.volume, o.moments, o.diffusion,
              o.drag_rate, o.diffusion_rate, o.n_nodes, o.power, o.n_degrees, o.node, o.node_weight,
              o.drag_places, o.bgk);
}
template <class A>
void visit(A& archive, BgkTables& t) {
  archive.all(t.vdim, t.order, t.n, t.n_lin, t.n_nodes, t.mixed, t.constant, t.triple, t.values, t.weights);
}
template <class A>
void visit(A& archive, ExchangeTables& t) {
  archive.all(t.n_species, t.vdim, t.n_modes, t.n_nodes, t.n_control, t.n_profiles, t.uniform, t.with_states,
              t.spitzer, t.reference_density, t.reference_thermal_speed, t.constant, t.values, t.weights,
              t.control, t.masses, t.numbers, t.profile_of);
}

/// What a device is asked for when one species collides with itself once, and what the SIMD engine finds.
struct CollisionsCase {
  std::string name;
  DeviceVlasovOptions vlasov;
  DeviceCollisionOptions options;
  std::vector<double> f;  ///< as the host lays it out
  double weight = 0;      ///< of C(f)
  ExchangeTables tables;  ///< of its rate, as exchange() takes them

  std::vector<double> moments;  ///< of the SIMD engine, as DeviceCollisions::moments() gives them
  std::vector<double> rate;     ///< weight C(f) of the SIMD engine, laid out as f
};
template <class A>
void visit(A& archive, CollisionsCase& c) {
  archive.all(c.name, c.vlasov, c.options, c.f, c.weight, c.tables, c.moments, c.rate);
}

}  // namespace quintet::kinetics
