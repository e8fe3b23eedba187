#pragma once

#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/application/report/report.hpp"
#include "apps/vlasov/state/simulation.hpp"
#include "io/hdf5/file.hpp"

namespace quintet::vlasov {

/// f of a species over two directions, at one time.
struct PhaseMap {
  std::string species, x_axis, y_axis;
  double time = 0;
  Heatmap map;
};

/// f over a plane of phase space, averaged over the other directions of x and integrated over the other ones
/// of v: [n_y, n_x] values at equidistant points, on all ranks. Collective.
[[nodiscard]] PhaseMap phase_map(const Setup& setup, kinetics::VlasovSystem& system, int s, int x_direction,
                                 int y_direction);

/// Phase-space pictures at the start, in the middle and at the end, for the report; kept in group `report` of
/// run.h5.
class Pictures {
 public:
  /// On a restart the pictures so far are read back. Collective.
  Pictures(Context& context, const Setup& setup);

  /// Schedule of the pictures: start, middle and end.
  [[nodiscard]] Schedule schedule() const;
  /// Take all pictures of one of them. Collective.
  void take(const Simulation& simulation, const Instant& now);
  void report(Context& context) const;

 private:
  /// Two directions of phase space.
  struct Plane {
    int x, y;
  };
  void read_back(const std::string& name);

  hdf5::Group group_;
  std::vector<Plane> planes_;
  double middle_;
  std::vector<PhaseMap> pictures_;
};

}  // namespace quintet::vlasov
