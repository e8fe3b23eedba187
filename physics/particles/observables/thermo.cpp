#include "physics/particles/observables/thermo.hpp"

#include "physics/particles/atoms/units.hpp"

namespace quintet {

ThermoSample sample_thermo(const Exec& exec, const ParticleSystem& system, const Integrator& integrator,
                           std::int64_t step, double dt) {
  constexpr double amu_per_a3_to_g_per_cm3 = 1.66053906660;
  const auto kinetic = total_kinetic_tensor(exec, system);
  ThermoSample s;
  s.step = step;
  s.time = static_cast<double>(step) * dt;
  s.potential = system.total.energy;
  s.kinetic = kinetic[0] + kinetic[1] + kinetic[2];
  s.total = s.potential + s.kinetic;
  s.conserved = s.total + integrator.bath_energy();
  s.temperature = 2 * s.kinetic / (system.degrees_of_freedom * units::boltzmann);
  s.volume = system.atoms.box.volume();
  s.stress = pressure_tensor(kinetic, system.total.virial, s.volume);
  for (double& component : s.stress) component *= units::ev_per_a3_to_bar;
  s.pressure = (s.stress[0] + s.stress[1] + s.stress[2]) / 3;
  s.cell = system.atoms.box.rows();
  const double mass = system.domain.comm().sum(momentum_and_mass(exec, system.atoms)[3]);
  s.density = mass / s.volume * amu_per_a3_to_g_per_cm3;
  return s;
}

const std::vector<ThermoColumn>& thermo_columns() {
  static const std::vector<ThermoColumn> columns{
      {"step", "1", "Step"},
      {"time", "ps", "Time"},
      {"potential", "eV", "Potential energy"},
      {"kinetic", "eV", "Kinetic energy"},
      {"total", "eV", "Potential and kinetic energy"},
      {"conserved", "eV", "Total energy and what the baths hold"},
      {"temperature", "K", "Temperature"},
      {"pressure", "bar", "Pressure, a third of the tensor's trace"},
      {"pressure_xx", "bar", "Pressure tensor"},
      {"pressure_yy", "bar", "Pressure tensor"},
      {"pressure_zz", "bar", "Pressure tensor"},
      {"pressure_xy", "bar", "Pressure tensor"},
      {"pressure_xz", "bar", "Pressure tensor"},
      {"pressure_yz", "bar", "Pressure tensor"},
      {"volume", "angstrom^3", "Volume of the cell"},
      {"cell_ax", "angstrom", "Cell, row a"},
      {"cell_ay", "angstrom", "Cell, row a"},
      {"cell_az", "angstrom", "Cell, row a"},
      {"cell_bx", "angstrom", "Cell, row b"},
      {"cell_by", "angstrom", "Cell, row b"},
      {"cell_bz", "angstrom", "Cell, row b"},
      {"cell_cx", "angstrom", "Cell, row c"},
      {"cell_cy", "angstrom", "Cell, row c"},
      {"cell_cz", "angstrom", "Cell, row c"},
      {"density", "g/cm^3", "Mass density"}};
  return columns;
}

std::vector<double> thermo_row(const ThermoSample& s) {
  std::vector<double> row{static_cast<double>(s.step),
                          s.time,
                          s.potential,
                          s.kinetic,
                          s.total,
                          s.conserved,
                          s.temperature,
                          s.pressure};
  row.insert(row.end(), s.stress.begin(), s.stress.end());
  row.push_back(s.volume);
  row.insert(row.end(), s.cell.begin(), s.cell.end());
  row.push_back(s.density);
  return row;
}

}  // namespace quintet
