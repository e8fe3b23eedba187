#pragma once

#include <cstdint>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/domain/domain.hpp"
#include "physics/particles/forces/force_field.hpp"

namespace quintet::dpmd {

struct EquationOptions;

/// What acts on a configuration at rest.
struct Loads {
  double energy = 0;    ///< (eV)
  double force = 0;     ///< the longest of an atom that may move (eV/angstrom)
  double deviator = 0;  ///< largest component of the stress less its mean pressure (eV/angstrom^3)
};

/// What relaxations have taken so far.
struct Relaxations {
  double first_energy = 0;  ///< at the scale of the first, before it (eV)
  std::int64_t volumes = 0, steps = 0;
  std::int64_t unfinished = 0;  ///< volumes that ran out of steps
};

/// A crystal with all lengths multiplied by a scale, its positions scaled or relaxed. Collective.
class ScaledCrystal {
 public:
  ScaledCrystal(const Comm& comm, const EquationOptions& options, ForceField& field, Configuration start);

  /// Energy of the scaled positions (eV).
  double operator()(double scale) { return loads(scale).energy; }
  /// What acts on the scaled positions.
  [[nodiscard]] Loads loads(double scale);
  /// What acts on the atoms once the scaled positions have come to rest by FIRE (or steps have run out).
  [[nodiscard]] Loads relaxed_loads(double scale);
  /// Relax at this scale, and scale these positions from here on.
  void begin_from_rest(double scale);
  [[nodiscard]] const Relaxations& relaxations() const { return relaxations_; }

 private:
  Loads visit(double scale, bool relax, bool keep);

  const Comm& comm_;
  const EquationOptions& options_;
  ForceField& field_;
  Configuration start_;
  std::vector<std::int64_t> held_;  ///< ids of atoms that keep their places in the cell
  DomainOptions domain_;
  Relaxations relaxations_;
  Exec exec_;
};

}  // namespace quintet::dpmd
