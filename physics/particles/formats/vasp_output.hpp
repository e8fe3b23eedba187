#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/formats/extended_xyz_labels.hpp"

namespace quintet {

/// Options for what VASP's output leaves open.
struct VaspOutputOptions {
  std::vector<std::string> type_names = {};          ///< of an XDATCAR that does not name its species
  std::optional<std::array<bool, 3>> periodic = {};  ///< absent: all directions, as VASP has it
  LabelSource::Use labels = LabelSource::Use::learn;
};

/// Read the ionic steps of VASP's OUTCAR, vasprun.xml or XDATCAR.
///
/// OUTCAR and vasprun.xml hold labels: the free energy (TOTEN, e_fr_energy; eV), of which the forces
/// (eV/angstrom) are the gradient, and the stress in kB, which counts pressure positive:
/// virial = volume * stress / 1602.18 (eV). A step whose electrons did not converge (EDIFF not reached), and
/// one of VASP's own force field, has no labels; where labels are learnt from it is left out. A run with
/// PSTRESS has no labels, as its energy and stress hold that pressure; ISIF = 0 and 1 give no stress tensor.
/// All of it stands in `reading`. A last step that was cut short is left out. Flags of selective dynamics are
/// kept (`held`, vasprun.xml). An XDATCAR has positions and cells alone. Source: VASP manual. Throws
/// InputError with file:line.
/// @param frame ionic step, from 0, negative ones count from the end; absent: all
[[nodiscard]] std::vector<Configuration> read_outcar(const std::string& path,
                                                     std::optional<std::int64_t> frame = 0,
                                                     const VaspOutputOptions& options = {});
[[nodiscard]] std::vector<Configuration> read_vasprun(const std::string& path,
                                                      std::optional<std::int64_t> frame = 0,
                                                      const VaspOutputOptions& options = {});
[[nodiscard]] std::vector<Configuration> read_xdatcar(const std::string& path,
                                                      std::optional<std::int64_t> frame = 0,
                                                      const VaspOutputOptions& options = {});

/// An ionic step as VASP's files hold it, and what decides whether its labels count.
struct VaspStep {
  Mat3 rows{};  ///< of the cell (angstrom)
  std::vector<Vec3> positions, forces;
  std::optional<double> energy, energy_to_zero;  ///< free energy; extrapolated to no smearing (eV)
  std::optional<Mat3> stress;                    ///< (kB), pressure positive
  bool converged = true, force_field = false;
  std::string where;
};

/// Data of all steps of a file.
struct VaspRun {
  std::vector<std::string> type_names;
  std::vector<int> types;
  std::vector<std::uint8_t> held;
  double pressure = 0;     ///< PSTRESS (kB)
  std::int64_t isif = 2;   ///< 0: no stress, 1: its trace alone
  bool cut_short = false;  ///< a last step that is not whole
  std::string not_used;    ///< what else the file has
};

/// The configurations that steps make, one of them or all.
[[nodiscard]] std::vector<Configuration> configurations_of(const std::string& path, const VaspRun& run,
                                                           std::vector<VaspStep> steps,
                                                           std::optional<std::int64_t> frame,
                                                           const VaspOutputOptions& options);

}  // namespace quintet
