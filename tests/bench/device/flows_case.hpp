#pragma once

#include <array>
#include <string>
#include <vector>

#include "physics/convection/device/device_flows.hpp"

/// What the benchmark of flows on a device starts from (archive.hpp).
namespace quintet::convection {

template <class A>
void visit(A& archive, DeviceEquations::Level& l) {
  archive.all(l.below, l.diagonal, l.above, l.weight);
}
template <class A>
void visit(A& archive, DeviceEquations& e) {
  archive.all(e.basis, e.forward, e.backward, e.squares, e.below, e.diagonal, e.above, e.diffusivity,
              e.levels, e.z_weight);
}
template <class A>
void visit(A& archive, DeviceFlowSetup& s) {
  archive.all(s.n_x, s.n_z, s.n_members, s.periodic, s.x_widths, s.z_widths, s.x_gaps, s.z_gaps, s.viscosity,
              s.tolerance, s.segments, s.sides_hold, s.bottom_holds, s.top_holds, s.heated_sides, s.fast,
              s.left, s.right, s.bottom, s.top, s.equations);
}

template <class A>
void visit(A& archive, FlowTally& t) {
  for (auto& sum : t.sums) archive.all(sum);
  for (auto& most : t.most) archive.all(most);
}

/// u, w, b and p of a flow.
using FlowFields = std::array<std::vector<double>, 4>;

/// Flows before and after steps of the host's engine.
struct FlowsCase {
  std::string name;
  DeviceFlowSetup setup;
  std::vector<FlowFields> before, after;  ///< of each member
  std::vector<double> steps;              ///< dt of each
  double courant_rate = 0;                ///< of `after`
  std::vector<FlowTally> tallies;         ///< of `after`, by the device's engine in the host's memory
  std::vector<double> powers;
};
template <class A>
void visit(A& archive, FlowsCase& c) {
  archive.all(c.name, c.setup, c.before, c.after, c.steps, c.courant_rate, c.tallies, c.powers);
}
/// To be timed alone.
struct TimedFlows {
  std::string name;
  DeviceFlowSetup setup;
};
template <class A>
void visit(A& archive, TimedFlows& t) {
  archive.all(t.name, t.setup);
}
struct FlowsCases {
  std::vector<FlowsCase> checked;
  std::vector<TimedFlows> timed;
};
template <class A>
void visit(A& archive, FlowsCases& c) {
  archive.all(c.checked, c.timed);
}

}  // namespace quintet::convection
