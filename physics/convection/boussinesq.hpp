#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "physics/convection/device/device_flows.hpp"
#include "physics/convection/linear/elliptic.hpp"
#include "physics/convection/operators.hpp"

namespace quintet::convection {

class FlowResidence;

/// Flows that move together: members of an ensemble, equal in all but their start, with one time step for
/// all.
///
/// A step is the scheme (2,2,2) of Ascher, Ruuth & Spiteri (1997, Appl. Numer. Math. 25, 151): diffusion by
/// an L-stable diagonally implicit Runge-Kutta method, the rest by an explicit one, second order in time.
/// Each of its two stages ends with a projection on discretely solenoidal fields: the pressure of the stage
/// before is corrected (van Kan 1986, SIAM J. Sci. Stat. Comput. 7, 870; Brown, Cortez & Minion 2001, J.
/// Comput. Phys. 168, 464).
class Boussinesq {
 public:
  /// At rest, b = 0, time 0.
  Boussinesq(const Problem& problem, Grid grid, std::unique_ptr<EllipticSolver> solver, int n_members);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }
  [[nodiscard]] int n_members() const { return states_.size(); }
  /// u, w, b and p of a member, fetched from the device where they are there (collective then, after each
  /// step); whoever changes them calls start() or resume() next.
  [[nodiscard]] BoussinesqState& state(int member) {
    fetch(member);
    return states_[member];
  }
  [[nodiscard]] const BoussinesqState& state(int member) const {
    fetch(member);
    return states_[member];
  }

  /// Begin at time 0 with the states as they are: the velocity is made solenoidal, p follows from it.
  /// Collective.
  void start(const Exec& exec);
  /// Go on at this time and step with the states as they are, bitwise. Collective.
  void resume(double time, std::int64_t step);

  /// Move the states to a device, where they stay and steps are taken; state() copies back the one asked for.
  /// How several ranks share them out on their devices is FlowShares' matter: while there are enough flows
  /// each has whole ones, which are the same to the bit on any ranks, and sends nothing in a step but
  /// Courant's rate; else slabs. At home all ranks have rows of all members, as before.
  /// @param device of shared_flow_setup(). Collective.
  void move_to(std::shared_ptr<DeviceFlows> device);

  /// Set b = 1/2 + warm_i on the warm wall and -1/2 + cold_i on the cold one at cell i along them, and the
  /// slope of b towards the two other walls, of all members; empty: +-1/2, no slope. They are constant during
  /// a step and may change between steps. They do not belong to a state. Throws InputError: another number of
  /// values than cells, a value that is not finite, heat of sides where x is periodic. Collective.
  void set_walls(const WallProfiles& profiles);
  [[nodiscard]] WallProfiles walls() const { return {warm_, cold_, first_heat_, last_heat_}; }

  /// All members by dt; the clock shows `arrival` after it (time() + dt but for round-off). Collective.
  void advance(const Exec& exec, double dt, double arrival);
  void advance(const Exec& exec, double dt) { advance(exec, dt, time_ + dt); }
  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] std::int64_t step() const { return step_; }

  /// max over members and cells of |u|/dx + |w|/dz (1/time); NaN if a velocity is. Collective.
  [[nodiscard]] double courant_rate(const Exec& exec) const;

  /// The pressure of this instant: with it the velocity stays solenoidal,
  ///
  ///     div grad p = div (convection + buoyancy + R laplacian),   no acceleration through walls,
  ///
  /// of zero volume mean. (state().p is that of the last stage, first order in time.) Collective.
  void instant_pressure(const Exec& exec, int member, const Field& p);

  /// Where the flows live on a device; null: here. What can be told of them there need not come home.
  [[nodiscard]] const FlowResidence* residence() const { return residence_.get(); }
  [[nodiscard]] EllipticSolver& solver() { return *solver_; }
  /// Bytes of arrays on a rank, for `n` cells of it and so many members.
  [[nodiscard]] static double bytes(double cells, int n_members);

 private:
  void advance_member(const Exec& exec, BoussinesqState& q, double dt);
  void finish_stage(const Exec& exec, BoussinesqState& stage, const Field& pressure, double a);
  void exchange_all(const BoussinesqState& state) const;
  void send_states();
  void fetch(int member) const;

  Problem problem_;
  Grid grid_;
  Metrics metrics_;
  std::unique_ptr<EllipticSolver> solver_;
  std::vector<BoussinesqState> states_;
  BoussinesqState stage_;  ///< u, w, b of the first stage; p: the correction
  Tendency first_, second_;
  std::shared_ptr<FlowResidence> residence_;  ///< on a device; null: steps are taken here
  mutable std::vector<char> away_;  ///< whether the device's state of a member is newer than states_
  std::vector<double> warm_, cold_, first_heat_, last_heat_;  ///< WallProfiles
  double time_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace quintet::convection
