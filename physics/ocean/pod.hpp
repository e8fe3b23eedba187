#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "physics/ocean/gaps/dineof.hpp"
#include "physics/ocean/modes_file.hpp"
#include "physics/ocean/record.hpp"
#include "physics/ocean/svd/svd.hpp"

namespace quintet::ocean {

/// The inner product of fields.
enum class PodWeights {
  points,  ///< each point counts 1
  area,    ///< cos(latitude), at least 0.001
};
/// Background that is subtracted from fields before the modes are computed.
enum class PodBackground { mean, climatology };
/// How singular triplets are found.
enum class PodMethod {
  automatic,  ///< randomised where there are 64 times or more for each mode, else snapshots
  snapshots,
  randomised,
  lanczos
};

/// Years, both included.
struct YearSpan {
  int first = 0, last = 0;
};

struct PodOptions {
  int n_modes = 5;
  int n_fit = 0;  ///< leading times behind modes and background
  PodWeights weights = PodWeights::points;
  PodBackground background = PodBackground::mean;
  int harmonics = 3;  ///< of the seasonal cycle, where the background is the climatology
  std::optional<YearSpan> background_years;  ///< of the times behind the background; none: all of the fit
  PodMethod method = PodMethod::automatic;
  std::uint64_t seed = 1;  ///< of the randomised method
  DineofOptions filling;   ///< of values that are missing
  /// Where the method is lanczos.
  std::function<SingularTriplets(const Comm&, const TallMatrix&, int)> lanczos;
};

/// The method that is used: what `automatic` stands for here.
[[nodiscard]] PodMethod chosen_method(const PodOptions& options);

/// Modes, and how much of the fields they hold.
struct Pod {
  OceanModes modes;
  double variance_fit =
      0;  ///< mean square about the background over the fit's times and points, weighted (degC^2)
  double captured_later =
      0;  ///< share of it in the modes over the times after the fit; NaN without such times
  std::optional<GapFilling> filling;  ///< of the fit's times; none: nothing was missing
  std::int64_t filled_later = 0;      ///< values of later times that were filled by the modes
  double error_fit = 0,
         error_later = 0;  ///< root of the mean square that the modes miss, weighted (degC); NaN as above
};

/// Proper orthogonal decomposition: the modes that hold the most of the variance of the first n_fit times
/// about their background, max sum_t |sum_m a(t, m) mode_m|^2, and their coefficients at all times. The sign
/// of a mode is that its largest coefficient among the fit's times is positive.
///
/// Values that the record lacks are filled first: in the fit's times by fill_by_dineof() about the background
/// of the known values, in later ones by fill_by_modes(), so that the fit does not see them.
///
/// Fields of the fit are held in memory, rows (points) shared out over the ranks; later ones stream.
/// Collective. Throws InputError (more modes than independent times), NumericalError.
[[nodiscard]] Pod make_pod(const Comm& comm, const Record& record, const PodOptions& options);
/// Coefficients of a record's fields on modes that are there, a(t, m) = sum_x weight(x) mode_m(x) (field(t,
/// x) - background(t, x)): [times, modes] on all ranks. Points of the record must be those of the modes.
/// Collective. Throws InputError for another grid or other points.
[[nodiscard]] std::vector<double> project(const Comm& comm, const Record& record, const OceanModes& modes);
/// Memory of make_pod on a rank (bytes).
[[nodiscard]] double pod_bytes(const Record& record, const PodOptions& options);
/// Throws InputError where the options ask for what the record does not have: before anything is computed.
void check_pod(const Record& record, const PodOptions& options);

}  // namespace quintet::ocean
