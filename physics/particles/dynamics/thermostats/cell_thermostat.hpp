#pragma once

#include <span>
#include <vector>

#include "physics/particles/dynamics/cell_motion.hpp"
#include "physics/particles/dynamics/coupling.hpp"

namespace quintet {

/// Keeps the temperature of a cell with inertia: acts on its strain rate first and last in a step.
class CellThermostat {
 public:
  virtual ~CellThermostat() = default;
  virtual void before(CellMotion&, const Tick&) {}
  /// Returns the heat (eV) brought to the cell, as far as energy() does not hold it.
  virtual double after(CellMotion& cell, const Tick& tick) = 0;
  [[nodiscard]] virtual double energy() const { return 0; }  ///< (eV)
  /// State for a checkpoint, of a size fixed by the options.
  [[nodiscard]] virtual std::vector<double> state() const { return {}; }
  virtual void restore(std::span<const double>) {}
};

}  // namespace quintet
