#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema.hpp"

/// Options of the particles: section `species` and its parts. Numbers are in the user's own consistent units;
/// most may be formulas of the named constants.
namespace quintet::vlasov {

/// Velocity box of a species.
struct VelocityOptions {
  std::vector<FormulaText> lower, upper;  ///< [vdim] (velocity)
  std::vector<std::int64_t> cells;        ///< [vdim], or empty: as grid.cells says
  std::vector<FormulaText> mapping;       ///< of s, [vdim] or empty: equal cells
  std::vector<FormulaText> finest;        ///< instead of it: where cells are finest, [vdim] (velocity)
  std::vector<FormulaText> ratio;         ///< widest over finest cell, [vdim] or one
};
void describe(Schema& schema, VelocityOptions& options);

/// A drifting Maxwellian.
struct MaxwellianOptions {
  FormulaText density;                     ///< of x (1/length^cdim)
  std::vector<FormulaText> drift;          ///< of x, [vdim] or empty: 0 (velocity)
  std::vector<FormulaText> thermal_speed;  ///< sqrt(T/m) of x, [1 or vdim] (velocity)
  std::vector<FormulaText> temperature;    ///< instead of it: T of x, [1 or vdim] (energy)
  bool exact_moments = true;
};
void describe(Schema& schema, MaxwellianOptions& options);

/// One term of an initial f: exactly one of Maxwellian, function and file.
struct InitialOptions {
  std::optional<MaxwellianOptions> maxwellian;
  std::optional<FormulaText> function;  ///< of x and v
  std::optional<std::string> file;      ///< run.h5 of a run, or a .gkyl file
  std::optional<std::int64_t> frame;
  int nodes = 0;  ///< of the projection, a direction; 0: order + 1
};
void describe(Schema& schema, InitialOptions& options);

/// Particles that come in: df/dt = amplitude(t) sum of shapes.
struct SourceOptions {
  std::vector<InitialOptions> shape;
  FormulaText amplitude = "1";  ///< of t
};
void describe(Schema& schema, SourceOptions& options);

/// Emission and mirroring of an absorbing wall.
struct EmissionOptions {
  int side = 0;                                            ///< 0: lower, 1: upper
  int direction = 0;                                       ///< of x
  std::optional<FormulaText> thermal_speed;                ///< sqrt(T/m) of what is emitted
  std::optional<FormulaText> temperature;                  ///< instead of it (energy)
  FormulaText flux = "0";                                  ///< of t
  std::vector<std::pair<std::string, FormulaText>> yield;  ///< by the name of the species that comes in
  FormulaText reflection = "0";
};
void describe(Schema& schema, EmissionOptions& options);

/// Conditions of the particles at the ends of x.
struct BoundaryOptions {
  std::vector<std::string> lower, upper;  ///< [cdim] or empty: periodic
  std::vector<EmissionOptions> emission;
};
void describe(Schema& schema, BoundaryOptions& options);

struct SpeciesOptions {
  std::string name;
  FormulaText charge = "-1", mass = "1";
  VelocityOptions velocity;
  std::vector<InitialOptions> initial;
  BoundaryOptions boundary;
  std::optional<SourceOptions> source;
  std::vector<FormulaText> acceleration;  ///< of x and t, [vdim] or empty: 0
};
void describe(Schema& schema, SpeciesOptions& options);

}  // namespace quintet::vlasov
