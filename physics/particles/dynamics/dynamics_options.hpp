#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema.hpp"

namespace quintet {

/// Section `time`.
struct TimeOptions {
  double dt = 0.0005;  ///< (ps)
  std::int64_t steps = 0;
};
void describe(Schema& schema, TimeOptions& options);

enum class Ensemble { nve, langevin, velocity_rescaling, nose_hoover, npt, nph, minimise };
enum class CellCoupling { isotropic, anisotropic, triclinic };
enum class NptThermostat { velocity_rescaling, langevin, nose_hoover };
enum class BarostatMethod { automatic, cell_rescaling, mtk };

/// Section `integrator.barostat`. Pressures in bar as the user writes them; make_integrator() converts.
struct BarostatOptions {
  double pressure = 1;                   ///< (bar)
  std::optional<double> pressure_end{};  ///< (bar)
  double relaxation_time = 1;            ///< (ps)
  double compressibility = 4.5e-5;       ///< (1/bar)
  CellCoupling coupling = CellCoupling::isotropic;
  NptThermostat thermostat = NptThermostat::velocity_rescaling;
  BarostatMethod method = BarostatMethod::automatic;
  std::vector<double> pressure_tensor{};         ///< target by component, xx yy zz (xy xz yz) (bar)
  std::vector<std::string> axes{"x", "y", "z"};  ///< directions that move
};
void describe(Schema& schema, BarostatOptions& options);

/// Section `integrator.minimiser`.
struct MinimiserOptions {
  double force_tolerance = 1e-3;  ///< (eV/angstrom)
  double max_displacement = 0.1;  ///< (angstrom)
  double dt_max_factor = 10;      ///< longest step in units of time.dt
};
void describe(Schema& schema, MinimiserOptions& options);

/// Section `integrator`.
struct IntegratorOptions {
  Ensemble ensemble = Ensemble::nve;
  std::optional<double> temperature{};      ///< (K)
  std::optional<double> temperature_end{};  ///< (K)
  double friction = 1;                      ///< (1/ps)
  double relaxation_time = 0.1;             ///< (ps)
  int chain_length = 3;
  BarostatOptions barostat{};
  MinimiserOptions minimiser{};
};
void describe(Schema& schema, IntegratorOptions& options);

/// True if the options need a cell with inertia: nph, and what stochastic cell rescaling cannot do.
[[nodiscard]] bool uses_mtk(const IntegratorOptions& options);

/// Section `frozen`: which atoms do not move. An atom that any of its keys names is frozen.
struct FrozenOptions {
  std::vector<std::string> types{};
  std::vector<std::int64_t> ids{};
  std::vector<double> x{}, y{}, z{};  ///< from, to (angstrom): a region, all directions where none is given
};
void describe(Schema& schema, FrozenOptions& options);

/// Section `velocities`: Maxwell-Boltzmann velocities at the start of a run that has none.
struct VelocityOptions {
  std::optional<double>
      temperature;  ///< (K); absent: the velocities of the input, else integrator.temperature
  bool remove_momentum = true;
};
void describe(Schema& schema, VelocityOptions& options);

}  // namespace quintet
