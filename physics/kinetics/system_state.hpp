#pragma once

#include <span>
#include <string>
#include <vector>

#include "physics/kinetics/advection/exterior.hpp"
#include "physics/kinetics/advection/positivity.hpp"
#include "physics/kinetics/advection/vlasov_operator.hpp"
#include "physics/kinetics/device/resident_operator.hpp"
#include "physics/kinetics/fields/charge_energy.hpp"
#include "physics/kinetics/system.hpp"

namespace quintet::kinetics {

/// A state and what its right-hand side needs: f of every species, the field, and M0, M1 of every species.
struct SystemState {
  std::vector<Distribution> f;
  ConfField field;
  std::vector<ConfField> moments;  ///< [n_conf, 1 + vdim, n_modes], summed over velocity_comm,
  bool moments_are_due = false;    ///< once finish_moments() has waited for them
};

/// Where a stage stands within its step.
struct StagePlace {
  double t = 0, t_to = 0;  ///< times of the state that it starts from and of the one that it makes
  double weight = 0;       ///< of its right-hand side in the whole step, times dt: what is counted has it
  double weight_to = 0;    ///< of its result in the whole step: what the limiter changes has it
  bool is_last = false;    ///< its result is the state of the next step
};

/// What the field becomes of itself: how fast it oscillates and how fast it may grow.
struct FieldResponse {
  double plasma_frequency = 0;  ///< sqrt(sum_s n_s q_s^2/(epsilon0 m_s)), of the densest cell of x
  /// Greatest growth of |a|/dv, over species and time: |q/m| |E_t|/dv summed over directions, E_t =
  /// -J/epsilon0 (curl B aside, with the given current; Poisson: J as far as it differs over x).
  double frequency_growth = 0;
  /// Numbers that ranks compare for it: a frequency, and the greatest and least current in three directions.
  static constexpr int n_compared = 7;
};

struct VlasovSystem::Implementation {
  Implementation(const Comm& comm, const PhaseBasis& basis, std::vector<Species> species,
                 SystemOptions options);

  void make_collisions();
  /// to = keep from0 + advance (from + dt R(from)), for f, field and moments.
  void stage(const Exec& exec, const Stage& stage, const StagePlace& place, SystemState& from,
             const SystemState& from0, SystemState& to);
  /// Send the edges of each f off; acceleration[s] of each species from the field.
  void accelerate(const Exec& exec, const StagePlace& place, const SystemState& from);
  /// The collisionless operator of each species in its block; `moments_too`: M0 and M1 of the result are
  /// summed in the same sweep.
  void advect(const Exec& exec, const Stage& stage, const SystemState& from, const SystemState& from0,
              SystemState& to, bool moments_too);
  /// Add the contributions from beyond the block.
  void advect_exterior(const Exec& exec, const Stage& stage, const StagePlace& place, SystemState& to,
                       bool moments_too);
  /// Collisions within a stage, where they are not split.
  void collide_in_stage(const Exec& exec, const Stage& stage, double t, const SystemState& from,
                        SystemState& to);
  /// Advance f by collisions alone for a time dt, with their rates at t_middle; its moments and field are
  /// then those of time `t_state`.
  void collide(const Exec& exec, double t_middle, double dt, double t_state);
  void limit(const Exec& exec, SystemState& state, double weight);
  /// After a step: throws NumericalError on all ranks if a cell mean was negative. Collective.
  void check_means();
  [[nodiscard]] bool splits() const { return collisions && options.collisions->split; }
  void advance_field(const Exec& exec, const Stage& stage, double t, const SystemState& from,
                     const SystemState& from0, SystemState& to, double weight);
  /// Begin the moments of a state's f at time t, then (Poisson) its field.
  void sum_moments(const Exec& exec, double t, SystemState& state);
  /// Mark moments that have been begun as due; where the host sums them, finish them at once.
  void expect_moments(const Exec& exec, SystemState& state);
  /// Wait for them and sum them over velocity_comm: before they are read. Collective.
  void finish_moments(const Exec& exec, SystemState& state);
  void solve_poisson(const Exec& exec, double t, SystemState& state);
  /// charge_ and current_ of a state; the work of the given current for a time `weight` is counted.
  void sum_sources(double t, const SystemState& state, double weight);
  /// The field of each wall whose value is 1 (Poisson), for walls whose value may differ from 0.
  void make_bias_fields(const Exec& exec);
  /// E_bias, the field of the walls' values at time t without charge (Poisson). E = E_bias + E_charge, where
  /// phi of E_charge is 0 at dirichlet walls and has no slope at neumann ones. So E_charge gives to particles
  /// what its own energy, epsilon0/2 int E_charge^2 dx, loses, and what the walls bring is the work of
  /// E_bias, as if that were a given field.
  void refresh_bias(double t);
  /// phi of E_charge, [n_conf, 1, n_modes], into `potential`.
  void set_charge_potential(const ConfField& field);
  /// Charge that leaves in a time `weight` where phi of E_charge is not 0, into field_budget; after
  /// set_charge_potential().
  void count_charge_at_walls(double weight);
  /// Charges and Gauss's law of the present state.
  void sample_charge(const Exec& exec, Sample& sample);
  /// The cell means of rho - epsilon0 div E of this rank's cells (Maxwell); without their mean over x where
  /// that is the charge of a periodic domain, which has no field: it goes to excess_charge. Collective.
  [[nodiscard]] std::vector<double> gauss_errors(const Exec& exec, Sample& sample);
  /// charge_field() of cell means of this rank's cells. Collective over conf_comm.
  [[nodiscard]] ChargeField field_of_charge(std::span<const double> means) const;
  /// Particles, momentum and energy of a distribution of species s, over all ranks.
  [[nodiscard]] Amount amount(const Exec& exec, int s, const Distribution& f) const;
  /// Impulse and work of the forces in acceleration[s] on `moments` for a time `weight` into budgets[s].
  void count_forces(int s, const ConfField& moments, double weight);
  /// Measure the field's response to the present state, with the current that is given at a time. Collective.
  [[nodiscard]] FieldResponse field_response(const Exec& exec, double t);
  void set_acceleration(int s, double t, const ConfField& field);
  void refresh_given(double t);
  /// M0, M1 and M2 of the present f of species s, [n_conf, 2 + vdim, n_modes], summed over velocity_comm.
  [[nodiscard]] ConfField three_moments(const Exec& exec, int s) const;
  /// Summary of the present f of species s over this rank's cells, wherever f is.
  [[nodiscard]] ResidentOperator::Summary summary(const Exec& exec, int s) const;
  /// Copy f of all species to the device, or back from it where it has advanced; do nothing without a device.
  void to_device();
  void to_host();
  [[nodiscard]] bool device_knows_better() const { return !host_is_current; }
  void add_particle_sources(const Exec& exec, const Stage& stage, double t, double weight, SystemState& to);
  [[nodiscard]] int n_species() const { return species.size(); }

  PhaseBasis basis;
  std::vector<Species> species;
  SystemOptions options;
  Decomposition decomposition;
  std::vector<std::unique_ptr<VlasovOperator>> operators;
  std::vector<ResidentOperator*> resident;  ///< those of `operators` where there is a device, else empty
  bool host_is_current = true;              ///< now.f is what the device has
  std::vector<Exterior> exteriors;
  std::unique_ptr<Maxwell> maxwell;
  std::unique_ptr<Maxwell>
      gauss;  ///< with cleaning, whatever the run has: its phi_t is the error of Gauss's law
  std::unique_ptr<Poisson> poisson;
  std::unique_ptr<Collisions> collisions;

  SystemState now, first, second;  ///< f^n, and the two stages between
  std::vector<ConfField> acceleration;
  ConfField charge, current, potential, field_rate;
  ConfField given_field;                      ///< external E, B
  std::vector<ConfField> given_acceleration;  ///< of each species
  struct BiasField {
    std::size_t direction, side;
    ConfField field;
  };
  std::vector<BiasField> bias_fields;
  ConfField bias;  ///< [n_conf, 8, n_modes], empty if no wall has one
  bool given_is_fresh = false;
  double time = 0, collision_frequency = 0;
  std::int64_t step = 0;
  bool is_whole = true;                      ///< f, field and budgets are of one time
  std::vector<Budget> budgets;               ///< counted on this rank, of each species
  FieldBudget field_budget;                  ///< counted on this rank
  std::vector<Positivity> positivity;        ///< of each species
  std::vector<Distribution> collision_rate;  ///< split collisions: work
  std::vector<double> greatest_mean;         ///< of f at the start, of each species
  double worst_mean = 0;                     ///< least cell mean that the limiter met in this step, over that
  std::string worst_place;
};

}  // namespace quintet::kinetics
