#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "io/parallel/interrupt.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/domain/domain.hpp"
#include "physics/particles/forces/force_field.hpp"

namespace quintet::dpmd {

/// What acts on a configuration at rest.
struct Loads {
  double energy = 0;  ///< (eV)
  double force = 0;   ///< the longest of an atom that may move (eV/angstrom)
  double volume = 0;  ///< (angstrom^3)
  Mat3 stress{};      ///< dE/d(strain)/volume, positive under tension (eV/angstrom^3)
  /// Largest component of the stress less its mean pressure (eV/angstrom^3).
  [[nodiscard]] double deviator() const;
};

/// What relaxations have taken so far.
struct Relaxations {
  double first_energy = 0;  ///< at the first strain, before it (eV)
  std::int64_t cells = 0, steps = 0;
  std::int64_t unfinished = 0;  ///< cells that ran out of steps
};

/// How positions come to rest.
struct RestOptions {
  bool relax = false;
  double force_tolerance = 1e-3;  ///< of the longest force on an atom (eV/angstrom)
  std::int64_t most_steps = 1000;
  std::array<int, 3> ranks{0, 0, 0};  ///< grid; 0: chosen
  Interrupt interrupt{};              ///< asked at each step; throws Interrupted
};

/// A crystal whose cell and positions are multiplied by a deformation, x_l -> sum_k x_k D[3k + l]; its
/// positions come to rest from there if asked. Collective. Relaxing throws Interrupted.
class StrainedCrystal {
 public:
  StrainedCrystal(const Comm& comm, const RestOptions& options, ForceField& field, Configuration start);

  /// What acts on the deformed positions.
  [[nodiscard]] Loads loads(const Mat3& deformation);
  /// What acts on the atoms once the deformed positions have come to rest by FIRE (or steps have run out);
  /// where the options say no, on the deformed ones.
  [[nodiscard]] Loads at_rest(const Mat3& deformation);
  /// Come to rest so, and deform these positions from here on, in the cell of before.
  void begin_from_rest(const Mat3& deformation);
  /// Come to rest so; cell and positions are the ones that are deformed from here on.
  Loads become(const Mat3& deformation);
  [[nodiscard]] const Relaxations& relaxations() const { return relaxations_; }
  [[nodiscard]] const Box& box() const { return start_.box; }

 private:
  Loads visit(const Mat3& deformation, bool relax, bool keep);

  const Comm& comm_;
  RestOptions options_;
  ForceField& field_;
  Configuration start_;
  std::vector<std::int64_t> held_;  ///< ids of atoms that keep their places in the cell
  DomainOptions domain_;
  Relaxations relaxations_;
  Exec exec_;
};

/// All lengths multiplied by one number.
[[nodiscard]] Mat3 scaling(double scale);

}  // namespace quintet::dpmd
