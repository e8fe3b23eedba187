#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "surrogates/potential/device/device_model.hpp"

/// What the benchmark of Deep Potential on a device starts from (archive.hpp).
namespace dpmd_case {

using quintet::potential::DeviceModel;

/// Atoms in a cell: internal units (angstrom, ps, eV, amu).
struct System {
  std::array<double, 9> rows{}, inverse{};  ///< of the cell, as Box has them
  std::array<double, 3> origin{};
  std::array<bool, 3> periodic{true, true, true};
  std::vector<double> position, velocity;  ///< [n, 3]
  std::vector<int> type;                   ///< [n]
  std::vector<std::int64_t> id;            ///< [n]
  std::vector<double> mass;                ///< [n_types]
};

/// Energies of the SIMD engine: `[2]` in double and in mixed precision.
struct Reference {
  double energy = 0;
  std::array<double, 9> virial{};
  std::vector<double> force;
};
struct Case {
  DeviceModel model[2];  ///< for double and mixed precision
  System system;
  Reference reference[2];
  std::vector<quintet::potential::NuclearPair> repulsion;  ///< as DeviceModel has it; the models have none
  Reference repelled[2];                                   ///< with it
};

template <class A>
void visit_fitting(A& archive, DeviceModel& m) {
  std::uint64_t n = m.fitting.size();
  archive(n);
  m.fitting.resize(n);
  for (auto& f : m.fitting) {
    std::uint64_t layers = f.hidden.size();
    archive(layers);
    f.hidden.resize(layers);
    for (auto& layer : f.hidden)
      archive.all(layer.n_in, layer.n_out, layer.skip, layer.activation, layer.weight, layer.bias,
                  layer.timestep);
    archive.all(f.last, f.constant, f.evaluated);
  }
}

template <class A>
void visit_parts(A& archive, DeviceModel& m) {
  std::uint64_t n = m.parts.size();
  archive(n);
  m.parts.resize(n);
  for (auto& p : m.parts)
    archive.all(p.n_types, p.n_channels, p.axis, p.n_slots, p.rcut, p.rcut_smooth, p.protection,
                p.limits_total, p.sel, p.slots, p.mean, p.inverse_deviation, p.dropped, p.emptied, p.order,
                p.n_intervals, p.n_dense, p.width, p.lower, p.polynomial, p.network, p.one_sided, p.gate,
                p.empty, p.has_triplets, p.part_bits, p.x_by_theta);
}

template <class A>
void visit(A& archive, Case& c) {
  for (auto& m : c.model) {
    archive.all(m.n_types, m.rcut);
    visit_parts(archive, m);
  }
  visit_fitting(archive, c.model[0]);  // the same in both precisions
  c.model[1].fitting = c.model[0].fitting;
  auto& s = c.system;
  archive.all(s.rows, s.inverse, s.origin, s.periodic, s.position, s.velocity, s.type, s.id, s.mass);
  archive(c.repulsion);
  for (auto* references : {c.reference, c.repelled})
    for (int p = 0; p < 2; ++p) archive.all(references[p].energy, references[p].virial, references[p].force);
}

}  // namespace dpmd_case
