#include "physics/particles/observables/thermo.hpp"

#include <iterator>

#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"

namespace quintet {

ThermoSample sample_thermo(const Exec& exec, const ParticleSystem& system, const Integrator& integrator,
                           std::int64_t step, double dt) {
  constexpr double amu_per_a3_to_g_per_cm3 = 1.66053906660;
  const auto kinetic = total_kinetic_tensor(exec, system);
  ThermoSample s;
  s.step = step;
  s.time = step * dt;
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

namespace {

using Sample = ThermoSample;

std::vector<ThermoColumn> make_columns() {
  std::vector<ThermoColumn> columns{
      {"step", "1", "Step", [](const Sample& s) { return static_cast<double>(s.step); }},
      {"time", "ps", "Time", [](const Sample& s) { return s.time; }},
      {"potential", "eV", "Potential energy", [](const Sample& s) { return s.potential; }},
      {"kinetic", "eV", "Kinetic energy", [](const Sample& s) { return s.kinetic; }},
      {"total", "eV", "Potential and kinetic energy", [](const Sample& s) { return s.total; }},
      {"conserved", "eV", "Total energy and what the baths hold",
       [](const Sample& s) { return s.conserved; }},
      {"temperature", "K", "Temperature", [](const Sample& s) { return s.temperature; }},
      {"pressure", "bar", "Pressure, a third of the tensor's trace",
       [](const Sample& s) { return s.pressure; }}};
  constexpr const char* components[] = {"xx", "yy", "zz", "xy", "xz", "yz"};  // as SymmetricTensor has them
  for (std::size_t c = 0; c < std::size(components); ++c)
    columns.push_back({std::string("pressure_") + components[c], "bar", "Pressure tensor",
                       [c](const Sample& s) { return s.stress[c]; }});
  columns.push_back({"volume", "angstrom^3", "Volume of the cell", [](const Sample& s) { return s.volume; }});
  for (std::size_t c = 0; c < 9; ++c)
    columns.push_back({std::string("cell_") + "abc"[c / 3] + "xyz"[c % 3], "angstrom",
                       std::string("Cell, row ") + "abc"[c / 3], [c](const Sample& s) { return s.cell[c]; }});
  columns.push_back({"density", "g/cm^3", "Mass density", [](const Sample& s) { return s.density; }});
  return columns;
}

}  // namespace

const std::vector<ThermoColumn>& thermo_columns() {
  static const std::vector<ThermoColumn> columns = make_columns();
  return columns;
}

}  // namespace quintet
