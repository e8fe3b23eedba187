#pragma once

#include <string>
#include <vector>

#include "apps/application/loop/schedule.hpp"
#include "apps/meshfreeflow/simulate/simulation.hpp"
#include "io/hdf5/file.hpp"

namespace quintet::meshfreeflow {

/// Pictures of b of the first flow at the start, half way and at the end, kept in group `report` of run.h5,
/// so that a restarted run has them all; and the mean spectra of all flows.
class Pictures {
 public:
  Pictures(Context& context, const Simulation& simulation);
  [[nodiscard]] Schedule schedule() const;
  void take(const Simulation& simulation, const Instant& now);  ///< collective
  void report(Context& context) const;

 private:
  struct Picture {
    double time = 0;
    std::vector<double> b;  ///< [n_z, n_x] of equal pixels
  };
  hdf5::Group group_;
  double middle_;
  std::vector<Picture> pictures_;
  int n_x_, n_z_;
  double length_;
};

}  // namespace quintet::meshfreeflow
