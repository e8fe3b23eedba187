#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/loop/checkpoint_options.hpp"
#include "apps/dpmd/setup/deviation_options.hpp"
#include "apps/dpmd/setup/observe_options.hpp"
#include "apps/dpmd/setup/selection_options.hpp"
#include "io/config/schema_fwd.hpp"
#include "io/device/device.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"
#include "physics/particles/formats/read_configuration_types.hpp"
#include "physics/particles/interactions/dispersion_parameters.hpp"
#include "physics/particles/interactions/pair_potential.hpp"
#include "physics/particles/observables/observables_options.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/model/repulsion/repulsion.hpp"

namespace quintet::potential {
/// An entry of the key `potential.atom_parameters`.
void describe(Schema& schema, AtomParameters& options);
}  // namespace quintet::potential

/// Options in the YAML file of `dpmd run` and `dpmd equation_of_state`.
namespace quintet::dpmd {

/// Section `system`: where the atoms come from.
struct SystemOptions {
  std::string file;
  std::optional<std::int64_t> frame;
  std::vector<std::string> types;     ///< names of numbered types
  std::vector<std::string> periodic;  ///< words of three directions; empty: as the file says
  bool selective_dynamics = true;     ///< atoms that the file holds do not move
  NamedMasses masses{};               ///< (amu) by the names of types; win over the file's and the element's
  std::vector<std::int64_t> replicate{1, 1, 1};
};
void describe(Schema& schema, SystemOptions& options);
/// Error message for words of `periodic` that are not three of true and false; else nothing.
[[nodiscard]] std::optional<std::string> problem_of_periodic(const std::vector<std::string>& words);
/// Values of `periodic` as readers take them; nothing for an empty list.
[[nodiscard]] std::optional<std::array<bool, 3>> periodic_of(const std::vector<std::string>& words);
/// Key `masses` of it, which is a flag of commands without a YAML file.
void describe_masses(Schema& schema, NamedMasses& masses);

/// Section `potential.repulsion`: what keeps atoms apart where the model has not been trained.
struct RepulsionSection {
  enum class Kind { zbl };
  Kind kind = Kind::zbl;
  potential::RepulsionOptions range;
};
void describe(Schema& schema, RepulsionSection& options);

/// Section `potential.dispersion`: D3 with the damping of Becke and Johnson.
struct DispersionSection {
  std::optional<std::string> functional;  ///< or its numbers:
  std::optional<double> s6, s8, a1, a2;   ///< a2 (angstrom)
  double s9 = 0;
  std::string table;
  std::vector<std::string> types = {};
  DispersionReach reach;
};
void describe(Schema& schema, DispersionSection& options);
/// The damping that it names or gives.
[[nodiscard]] DispersionDamping damping_of(const DispersionSection& options);

/// An entry of `potential.pairs`.
struct PairSection {
  PairParameters parameters;
};
void describe(Schema& schema, PairSection& options);

/// An entry of `potential.also`: another model, for the atoms of some types.
struct FurtherModel {
  std::string model;
  std::vector<std::string> types;
};
void describe(Schema& schema, FurtherModel& options);

/// Section `potential`: the Deep Potential model or models, how they are evaluated, and what is added to
/// them.
struct PotentialOptions {
  std::vector<std::string> models;  ///< the first drives
  potential::DeepPotentialOptions evaluation;
  std::optional<RepulsionSection> repulsion;
  std::vector<std::string> types = {};  ///< that the model acts on; empty: all it knows
  std::vector<FurtherModel> also = {};
  std::vector<PairSection> pairs = {};
  std::optional<DispersionSection> dispersion = std::nullopt;

  /// Whether the model is one of several terms, or acts on some types alone.
  [[nodiscard]] bool is_sum() const {
    return !types.empty() || !also.empty() || !pairs.empty() || dispersion.has_value();
  }
};
void describe(Schema& schema, PotentialOptions& options);
/// Keys of it that say how a model is evaluated, which are flags of commands without a YAML file.
void describe_evaluation(Schema& schema, potential::DeepPotentialOptions& options);

/// Section `domain`: how space is shared out.
struct DomainSection {
  double skin = 2.0;                         ///< (angstrom)
  std::vector<std::int64_t> ranks{0, 0, 0};  ///< grid of ranks; 0: chosen
};
void describe(Schema& schema, DomainSection& options);
/// The grid as the domain takes it.
[[nodiscard]] std::array<int, 3> grid_of(const DomainSection& options);

enum class TrajectoryFormat { h5md, xyz, both };

/// Section `trajectory`: frames of the run.
struct TrajectoryOptions {
  TrajectoryFormat format = TrajectoryFormat::h5md;
  std::int64_t interval = 1000;
  bool velocities = true, forces = false, single_precision = false, unwrapped = false;
};
void describe(Schema& schema, TrajectoryOptions& options);

/// Section `limits`: when a run is no longer physical.
struct LimitOptions {
  double energy_drift = 0.1;  ///< of the conserved quantity (eV an atom)
  double temperature = 1e5;   ///< (K)
};
void describe(Schema& schema, LimitOptions& options);

/// Section `reference`: results to set beside this run's.
struct ReferenceOptions {
  std::optional<std::string> rdf;  ///< CSV: r (angstrom), g(r)
  std::string label = "reference";
};
void describe(Schema& schema, ReferenceOptions& options);

struct RunOptions {
  SystemOptions system;
  PotentialOptions potential;
  TimeOptions time;
  IntegratorOptions integrator;
  VelocityOptions velocities;
  std::optional<FrozenOptions> frozen;
  DomainSection domain;
  std::int64_t thermo_interval = 100;
  std::optional<TrajectoryOptions> trajectory;
  ObservablesOptions observables;
  std::optional<DeviationOptions> deviation;
  std::optional<SelectionOptions> selection;
  std::optional<ObserveOptions> observe;
  CheckpointOptions checkpoints;
  LimitOptions limits;
  ReferenceOptions reference;
  std::int64_t seed = 1;
  Device device = Device::cpu;
};
void describe(Schema& schema, RunOptions& options);

}  // namespace quintet::dpmd
