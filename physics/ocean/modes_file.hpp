#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/ocean/series.hpp"
#include "physics/ocean/sources/variable_names.hpp"

namespace quintet::ocean {

/// Modes of one variable at its sea points: field(t, x) = background(t, x) + sum_m a(t, m) mode_m(x).
///
/// The background is the mean, and where harmonics > 0 also the seasonal cycle
/// sum_h c(2h-2, x) cos(2 pi h s) + c(2h-1, x) sin(2 pi h s), s = days since 1800-01-01 / 365.2425, h = 1 ...
/// harmonics. Points x are those where the mask is 1, in its order.
struct FieldModes {
  std::string name;  ///< of a further variable; empty: of the first
  VariableNames in_file;
  std::string units = "degree_Celsius";
  bool anomalies = false;                   ///< of anomalies, no temperatures
  std::vector<double> latitude, longitude;  ///< degrees; south first, from Greenwich eastward in [0, 360)
  std::vector<std::uint8_t> mask;           ///< [lat, lon] 1 sea, 0 land
  std::vector<double> modes;                ///< [M, P] (units for each unit of a coefficient)
  std::vector<double> mean;                 ///< [P] (units)
  std::vector<double> weights;              ///< [P] of the inner product
  int harmonics = 0;                        ///< of the seasonal cycle in the background
  std::vector<double> cycle;                ///< [2 harmonics, P] (units)

  [[nodiscard]] std::size_t n_points() const { return mean.size(); }
  /// Whether the first variable is the temperature of the sea surface, by its units and names.
  [[nodiscard]] bool is_sea_surface_temperature() const;
  /// Name in files and tables: that of a further variable, `sst`, the file's, or `field` where that is taken.
  [[nodiscard]] std::string short_name() const;
  /// Name in words: the file's long name, or the short one.
  [[nodiscard]] std::string long_name() const;
};

/// Modes of the fields of one or several variables, and the coefficients that all of them share.
///
/// Modes are orthonormal over the points of all variables v: sum_v sum_x weight_v(x) mode_vm(x) mode_vn(x) =
/// delta_mn. The members inherited are those of the first variable, empty where only coefficients are known;
/// coefficients are in its units.
struct OceanModes : FieldModes {
  CoefficientSeries series;
  std::vector<double> singular_values;  ///< [M] (degC times the modes' norm) of the fit's times, descending
  int n_fit = 0;                        ///< leading times behind modes and background
  double captured_variance = 0;         ///< share of the fit's variance about the background; NaN: not known
  std::string calendar = "standard";    ///< of the source
  std::string source;                   ///< names of the files
  std::vector<FieldModes> also;         ///< of further variables

  [[nodiscard]] int n_modes() const { return series.n_modes; }
  [[nodiscard]] bool has_fields() const { return !modes.empty(); }
  /// Names dates, coefficients and modes: what is trained on one set of modes does not go with another.
  [[nodiscard]] std::string checksum() const;
};

/// The variables of modes, the first one first.
[[nodiscard]] std::vector<const FieldModes*> variables_of(const OceanModes& modes);

/// Background and modes at one time as a field over the points: [P].
[[nodiscard]] std::vector<double> expand(const FieldModes& modes, double day, const double* coefficients);

/// The seasonal functions cos(2 pi h s), sin(2 pi h s), h = 1 ... harmonics, of a day.
[[nodiscard]] std::vector<double> season_of(double day, int harmonics);

/// Write modes.h5 (schema quintet.ocean_modes; version 1, 2 where variables are joined): time, coefficients,
/// singular_values and, where they are known, lat, lon, mask, modes, mean, weights, cycle; attributes n_fit,
/// captured_variance, units, anomalies (where they are), calendar, source, checksum. Further variables are
/// groups of their names in the group `also`, the attribute `also` lists them. Every rank has them all.
/// Collective.
void write_modes(const Comm& comm, const std::string& path, const OceanModes& modes,
                 const hdf5::Provenance& provenance);

/// Read it. Collective. Throws InputError that names the file and what does not fit: sizes, dates that do not
/// ascend, values that are not finite, modes that are not orthonormal, a checksum of other contents.
[[nodiscard]] OceanModes read_modes(const Comm& comm, const std::string& path);

}  // namespace quintet::ocean
