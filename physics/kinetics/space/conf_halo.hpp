#pragma once

#include <array>
#include <optional>
#include <span>

#include "io/parallel/comm.hpp"
#include "physics/kernels/execution.hpp"
#include "physics/kinetics/space/phase_grid.hpp"

namespace quintet::kinetics {

/// Values beyond the outer faces of this rank's configuration cells: one buffer a direction and side. The
/// neighbour of conf_comm() fills it; at an end of the domain the owner does, by its boundary condition.
class ConfHalo {
 public:
  /// `sizes`: doubles in the buffers of each direction.
  ConfHalo(const Decomposition& decomposition, const PhaseGrid& grid, const std::array<int, 3>& sizes);

  /// Another rank's cells lie beyond this side (0 lower, 1 upper) of direction d.
  [[nodiscard]] bool has_neighbour(int d, int side) const { return shared(d) && neighbour_[d][side] >= 0; }
  /// The domain ends at this side of direction d.
  [[nodiscard]] bool is_wall(int d, int side) const { return neighbour_[d][side] < 0; }
  [[nodiscard]] double* send(int d, int side) const { return send_[d][side].data(); }
  [[nodiscard]] double* outside(int d, int side) const { return outside_[d][side].data(); }

  /// Messages under way; ended by wait().
  class [[nodiscard]] Exchange {
   public:
    void wait() {
      for (auto& pending : pending_)
        if (pending) pending->wait();
    }

   private:
    friend class ConfHalo;
    std::array<std::optional<Comm::Pending>, 6> pending_;
  };
  /// Send every send() buffer to its neighbour and fill the outside() buffers that have one. Collective over
  /// conf_comm(); the execution space must have been fenced.
  Exchange start() const;

 private:
  [[nodiscard]] bool shared(int d) const { return shared_[d]; }

  Comm comm_;
  std::array<bool, 3> shared_{};                   ///< cut between ranks
  std::array<std::array<int, 2>, 3> neighbour_{};  ///< rank of comm_, -1: the domain ends
  std::array<std::array<Array<double>, 2>, 3> send_, outside_;
};

}  // namespace quintet::kinetics
