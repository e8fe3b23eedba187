#pragma once

#include <string>

#include "physics/kinetics/collisions/collision_moments.hpp"

namespace quintet::kinetics {

/// Data of one state for the collision operator of a species.
struct CollisionTerms {
  const CollisionMoments& moments;  ///< of f
  const MomentGain& gain;           ///< from the other species; no data: nothing
  const DragDiffusion&
      coefficients;            ///< A = sum of the collision rates in component 0; the rest is the operator's
  const std::string& species;  ///< its name, for messages
};

/// The collision operator of one species. A row of collision_operators() makes it.
class CollisionOperator {
 public:
  virtual ~CollisionOperator() = default;
  /// Begin what needs f alone; f must not change until add() is done. Collective.
  virtual void start(const Exec&, const Distribution&) {}
  /// Make from the moments what add() multiplies f with. Called before add() and bound(). Collective.
  virtual void prepare(const Exec&, const CollisionTerms&) {}
  /// Whether anything here reads terms.moments; else they may stay where f is.
  [[nodiscard]] virtual bool reads_moments() const { return true; }
  /// out += weight * C(f). Throws NumericalError where density or vth^2 are not positive. Collective.
  virtual void add(const Exec& exec, const Distribution& f, const CollisionTerms& terms, double weight,
                   const Distribution& out) = 0;
  /// Find what frequency() is to say of these terms, without add().
  virtual void bound(const Exec& exec, const CollisionTerms& terms) = 0;
  /// Largest rate of the last add() or bound() on this rank's cells: SSP-RK3 with dt = 1/((2 p + 1) rate) is
  /// stable.
  [[nodiscard]] virtual double frequency() const = 0;
  /// f <- the solution of df/dt = C(f) after a time dt, exactly; only where the operator's row says so.
  virtual void relax(const Exec& exec, const Distribution& f, const CollisionTerms& terms, double dt);
};

}  // namespace quintet::kinetics
