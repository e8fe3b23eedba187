#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "physics/spectral/exponential_step.hpp"
#include "physics/spectral/flow_equations.hpp"
#include "physics/spectral/flow_machine.hpp"

namespace quintet::spectral {

/// Flows in a doubly periodic box that obey the same equations, and their common clock.
///
/// dF/dt = L F + N(F, t) for each wave and variable. L is what the variable's own equation has of it with
/// constant coefficients (diffusion, drag, a beta term); the step takes it exactly (StepFactors). All else is
/// N: products at points, without aliasing by the box's rule, and linear terms of other variables by their
/// waves.
class PeriodicFlow {
 public:
  /// `speeds`: formulas of the speed along x and y of whatever travels fastest; empty: not known. Collective.
  /// Throws InputError.
  PeriodicFlow(const Comm& comm, const Box& box, FlowReader reader, const std::vector<FlowText>& speeds,
               int n_members);

  /// Make N(F, t) of all flows; the first part of a step, which tells how long it may be. Collective.
  void begin_step();
  /// The greatest over points and flows of |speed_x| K_x + |speed_y| K_y, K the highest wavenumber kept: the
  /// fastest phase. NaN where a speed is. 0 without speeds. After begin_step().
  [[nodiscard]] double phase_rate() const { return phase_rate_; }
  /// The rest of the step, of length h; the time is `time` then. Collective.
  void advance(double h, double time);

  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] std::int64_t step() const { return step_; }
  void resume(double time, std::int64_t step);

  [[nodiscard]] int n_members() const { return members_.size(); }
  [[nodiscard]] const std::vector<Modes>& state(int member) const { return members_[member].waves; }
  [[nodiscard]] WaveGrid& grid() const { return *grid_; }
  [[nodiscard]] const Box& box() const { return box_; }
  /// Reads more formulas of these flows: what is looked at.
  [[nodiscard]] FlowReader reader() const { return FlowReader(reader_.equations()); }
  [[nodiscard]] const std::vector<FlowText>& variables() const { return reader_.equations().variables; }
  /// Whether the step takes a part of a variable's equation exactly.
  [[nodiscard]] bool has_linear_part(int variable) const;
  /// Bytes of one of `n_ranks` ranks.
  [[nodiscard]] static double bytes(int n_ranks, const Box& box, FlowReader reader, int n_members);
  /// What a rank sends in a step; the rank need not exist: for plans.
  struct StepTraffic {
    double messages = 0, bytes = 0;  ///< to single ranks
    double sums = 0;                 ///< reductions of a number
  };
  /// Traffic of the rank with most rows and columns. Each of four stages transforms its fields; a transform
  /// exchanges real and imaginary parts of the waves with each other rank.
  [[nodiscard]] StepTraffic traffic(int n_ranks) const;

 private:
  struct Member {
    std::vector<Modes> waves, change;  ///< F and N(F), of each variable
  };
  void make_changes(const std::vector<Modes>& waves, double time, const std::vector<Modes>& change);
  [[nodiscard]] std::vector<Modes> make_waves() const;
  void advance_member(const Member& member, double h);

  Box box_;
  FlowReader reader_;
  std::unique_ptr<WaveGrid> grid_;
  std::unique_ptr<FlowMachine> machine_;
  std::vector<Member> members_;
  std::vector<std::vector<std::complex<double>>> rates_;  ///< L of each variable and wave
  std::vector<StepFactors> factors_;
  std::vector<Modes> a_, stage_, middle_, last_;  ///< of each variable
  double h_ = 0;                                  ///< of the factors
  double time_ = 0, phase_rate_ = 0;
  std::int64_t step_ = 0;
  bool has_speeds_;
};

}  // namespace quintet::spectral
