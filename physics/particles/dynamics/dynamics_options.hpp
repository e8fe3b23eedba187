#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/config/schema_fwd.hpp"

namespace quintet {

/// Section `time`.
struct TimeOptions {
  double dt = 0.0005;  ///< (ps)
  std::int64_t steps = 0;
};
void describe(Schema& schema, TimeOptions& options);

enum class Ensemble { nve, nvt, npt, nph, minimise };
struct EnsembleRow {
  Ensemble value;
  std::string_view name;  ///< in YAML; nvt goes by the names of its thermostats there
  const char* words;
  bool keeps_temperature, moves_cell;
};
inline constexpr std::array<EnsembleRow, 5> ensembles{
    {{Ensemble::nve, "nve", "constant volume and energy (NVE)", false, false},
     {Ensemble::nvt, "nvt", "constant volume and temperature (NVT)", true, false},
     {Ensemble::npt, "npt", "constant pressure and temperature (NPT)", true, true},
     {Ensemble::nph, "nph", "constant pressure and enthalpy (NPH)", false, true},
     {Ensemble::minimise, "minimise", "minimisation of the energy (FIRE 2.0)", false, false}}};

/// Thermostats of any ensemble that keeps a temperature; their table is in thermostats/thermostats.hpp.
enum class Thermostat { velocity_rescaling, langevin, nose_hoover };

/// Value of integrator.ensemble: an ensemble, or the thermostat of nvt.
struct NamedEnsemble {
  NamedEnsemble(Ensemble ensemble) : kind(ensemble) {}                           // NOLINT: one of its names
  NamedEnsemble(Thermostat of_nvt) : kind(Ensemble::nvt), thermostat(of_nvt) {}  // NOLINT
  Ensemble kind;
  Thermostat thermostat = Thermostat::velocity_rescaling;  ///< of nvt
  friend bool operator==(const NamedEnsemble&, const NamedEnsemble&) = default;
};

enum class CellCoupling { isotropic, anisotropic, triclinic };
struct CellCouplingRow {
  CellCoupling value;
  std::string_view name;
  const char* words;
};
inline constexpr std::array<CellCouplingRow, 3> cell_couplings{
    {{CellCoupling::isotropic, "isotropic", "a cell that keeps its shape"},
     {CellCoupling::anisotropic, "anisotropic", "a cell whose x, y and z move apart"},
     {CellCoupling::triclinic, "triclinic", "a cell that changes lengths and angles"}}};

enum class BarostatMethod { automatic, cell_rescaling, mtk };
struct BarostatMethodRow {
  BarostatMethod value;
  std::string_view name;
};
inline constexpr std::array<BarostatMethodRow, 3> barostat_methods{
    {{BarostatMethod::automatic, "auto"},
     {BarostatMethod::cell_rescaling, "cell_rescaling"},
     {BarostatMethod::mtk, "mtk"}}};

/// Section `integrator.barostat`. Pressures in bar as the user writes them; make_integrator() converts.
struct BarostatOptions {
  double pressure = 1;                   ///< (bar)
  std::optional<double> pressure_end{};  ///< (bar)
  double relaxation_time = 1;            ///< (ps)
  double compressibility = 4.5e-5;       ///< (1/bar)
  CellCoupling coupling = CellCoupling::isotropic;
  Thermostat thermostat = Thermostat::velocity_rescaling;
  BarostatMethod method = BarostatMethod::automatic;
  std::vector<double> pressure_tensor{};         ///< target by component, xx yy zz (xy xz yz) (bar)
  std::vector<std::string> axes{"x", "y", "z"};  ///< directions that move
};
void describe(Schema& schema, BarostatOptions& options);

/// Section `integrator.minimiser.cell`: the cell relaxes, too. In bar as the user writes them.
struct RelaxingCellOptions {
  double pressure = 0;                    ///< (bar)
  std::vector<double> pressure_tensor{};  ///< target by component, xx yy zz (xy xz yz) (bar)
  CellCoupling coupling = CellCoupling::triclinic;
  std::vector<std::string> axes{"x", "y", "z"};  ///< directions that move
  double stress_tolerance = 10;                  ///< (bar)
};
void describe(Schema& schema, RelaxingCellOptions& options);

/// Section `integrator.minimiser`.
struct MinimiserOptions {
  double force_tolerance = 1e-3;  ///< (eV/angstrom)
  double max_displacement = 0.1;  ///< (angstrom)
  double dt_max_factor = 10;      ///< longest step in units of time.dt
  std::optional<RelaxingCellOptions> cell{};
};
void describe(Schema& schema, MinimiserOptions& options);

/// Section `integrator`.
struct IntegratorOptions {
  NamedEnsemble ensemble = Ensemble::nve;
  std::optional<double> temperature{};      ///< (K)
  std::optional<double> temperature_end{};  ///< (K)
  double friction = 1;                      ///< (1/ps)
  double relaxation_time = 0.1;             ///< (ps)
  int chain_length = 3;
  BarostatOptions barostat{};
  MinimiserOptions minimiser{};
};
void describe(Schema& schema, IntegratorOptions& options);

/// "nve", "langevin", ...
[[nodiscard]] std::string ensemble_name(const NamedEnsemble& ensemble);
/// Thermostat of the atoms: of nvt by the ensemble's name, of npt by barostat.thermostat.
[[nodiscard]] std::optional<Thermostat> thermostat_of(const IntegratorOptions& options);
/// npt and nph: the cell moves.
[[nodiscard]] bool is_at_constant_pressure(const NamedEnsemble& ensemble);
/// True if the options take a cell with inertia: asked for, or for what stochastic cell rescaling cannot do.
[[nodiscard]] bool uses_mtk(const IntegratorOptions& options);
/// Why these options make no integrator; nothing if they do, as far as that can be said without a system.
[[nodiscard]] std::optional<std::string> problem_of(const IntegratorOptions& options);
/// Objection to the steps, or nothing: a Nose-Hoover chain that they do not resolve.
[[nodiscard]] std::optional<std::string> problem_of(const IntegratorOptions& options,
                                                    const TimeOptions& time);

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
