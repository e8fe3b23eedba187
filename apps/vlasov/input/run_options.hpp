#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/application/loop/checkpoint_options.hpp"
#include "apps/vlasov/input/field_options.hpp"
#include "apps/vlasov/input/observe_options.hpp"
#include "apps/vlasov/input/species_options.hpp"
#include "io/config/schema.hpp"
#include "io/device/device.hpp"
#include "physics/kinetics/system.hpp"

/// Options in the YAML file of `vlasov run`.
namespace quintet::vlasov {

/// Section `basis`: the polynomials.
struct BasisOptions {
  int order = 2;
  kinetics::Family family = kinetics::Family::serendipity;
};
void describe(Schema& schema, BasisOptions& options);

/// Section `grid`: configuration space, and the cells of phase space.
struct GridOptions {
  std::vector<FormulaText> lower, upper;  ///< [cdim] (length)
  std::vector<std::int64_t> cells;        ///< [cdim] of x, or [cdim + vdim] of x and v
};
void describe(Schema& schema, GridOptions& options);

/// Two species that collide with each other.
struct PairOptions {
  std::vector<std::string> species;    ///< two names
  std::vector<FormulaText> frequency;  ///< of the first with the second and back
};
void describe(Schema& schema, PairOptions& options);

/// Collision frequencies that follow density and temperature.
struct SpitzerOptions {
  FormulaText reference_density = "1", reference_thermal_speed = "1";
};
void describe(Schema& schema, SpitzerOptions& options);

/// Section `collisions`.
struct CollisionSection {
  kinetics::CollisionOptions::Operator kind = kinetics::CollisionOptions::Operator::lenard_bernstein;
  std::vector<std::pair<std::string, FormulaText>> frequency;  ///< of a species with itself, by name
  std::vector<PairOptions> between;
  kinetics::CollisionOptions::Exchange exchange = kinetics::CollisionOptions::Exchange::molecules;
  bool conserving = true;
  bool split = false;
  std::optional<SpitzerOptions> spitzer;
};
void describe(Schema& schema, CollisionSection& options);

/// Section `time`.
struct TimeOptions {
  FormulaText end;
  double cfl = 0.9;
  std::optional<FormulaText> dt;
  std::optional<std::int64_t> steps;
};
void describe(Schema& schema, TimeOptions& options);

/// Section `parallel`.
struct ParallelOptions {
  std::vector<std::int64_t> ranks;  ///< [cdim + vdim] or empty; 0: chosen
};
void describe(Schema& schema, ParallelOptions& options);

/// Section `output`: fields and distribution functions over time.
struct OutputOptions {
  std::optional<FormulaText> frame_interval;  ///< (time)
  bool distribution = true;
  bool gkyl = false, openpmd = false;
};
void describe(Schema& schema, OutputOptions& options);

/// One of the Maxwellians of a linear theory.
struct BeamOptions {
  FormulaText plasma_frequency = "1";           ///< of this part of the particles alone
  FormulaText thermal_speed = "1";              ///< along the wave
  FormulaText drift = "0";                      ///< along the wave; weibel: across it
  std::optional<FormulaText> transverse_speed;  ///< weibel: thermal speed across the wave
};
void describe(Schema& schema, BeamOptions& options);

/// Section `theory`: rates to set beside those of the run.
struct TheoryOptions {
  enum class Kind { given, electrostatic, collisional, weibel };
  Kind kind = Kind::given;
  std::string quantity = "electric_energy";  ///< column of the history
  std::optional<FormulaText> growth_rate;    ///< given: of the amplitude; negative: damping
  std::optional<FormulaText> frequency;      ///< given: of the amplitude (angular)
  std::optional<FormulaText> wavenumber;
  std::vector<BeamOptions> beams;
  std::vector<FormulaText> direction;              ///< of the wave, [cdim] or empty: along x
  std::optional<FormulaText> collision_frequency;  ///< absent: the run's
  std::optional<FormulaText> light_speed;          ///< weibel; absent: the run's
  std::vector<FormulaText> window;                 ///< times between which to fit, or none
  std::string label = "theory";
};
void describe(Schema& schema, TheoryOptions& options);

/// Section `reference`: a curve to draw beside the run's.
struct ReferenceOptions {
  std::optional<std::string> file;  ///< CSV with a line of names
  std::string column;               ///< of the file
  std::string quantity;             ///< column of the history
  std::string label = "reference";
};
void describe(Schema& schema, ReferenceOptions& options);

/// Section `limits`: when a run is no longer physical.
struct LimitOptions {
  double shrunk_dt = 1e-4;  ///< of the first step
  int shrunk_steps = 20;
  double negative_f = 0.2;         ///< of the greatest cell mean
  double negative_share = 0.01;    ///< of the particles; warns
  double edge_share = 0.01;        ///< of the mean density, see VelocityEdge
  double gauss_error = 0.1;        ///< of the greatest E so far
  double f_squared_growth = 0.01;  ///< of the first int f^2
};
void describe(Schema& schema, LimitOptions& options);

struct RunOptions {
  std::vector<std::pair<std::string, FormulaText>> constants;
  BasisOptions basis;
  GridOptions grid;
  std::vector<SpeciesOptions> species;
  FieldOptions field;
  kinetics::Flux flux = kinetics::Flux::upwind;
  bool keep_positive = false;
  std::optional<CollisionSection> collisions;
  TimeOptions time;
  ParallelOptions parallel;
  Device device = Device::cpu;
  OutputOptions output;
  std::optional<ObserveOptions> observe;
  std::int64_t history_interval = 10;
  CheckpointOptions checkpoints;
  std::optional<TheoryOptions> theory;
  ReferenceOptions reference;
  LimitOptions limits;
};
void describe(Schema& schema, RunOptions& options);

}  // namespace quintet::vlasov
