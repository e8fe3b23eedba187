#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "io/parallel/interrupt.hpp"
#include "physics/ocean/gaps/dineof.hpp"
#include "physics/ocean/joint_records.hpp"
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
  Interrupt interrupt{};  ///< asked between parts of records and iterations; throws Interrupted
};

/// The method that is used: what `automatic` stands for here.
[[nodiscard]] PodMethod chosen_method(const PodOptions& options);

/// How much of one variable's fields modes hold.
struct VariableFit {
  double variance_fit =
      0;  ///< mean square about the background over the fit's times and points, weighted (units^2)
  double captured = 0;     ///< share of it in the modes
  double error_fit = 0;    ///< root of the mean square that the modes miss, weighted (units)
  double error_later = 0;  ///< the same over the times after the fit; NaN without such times
};

/// Modes, and how much of the fields they hold.
struct Pod {
  OceanModes modes;
  std::vector<VariableFit> variables;  ///< the first one first
  double captured_later =
      0;  ///< share of the variance in the modes over the times after the fit; NaN without such times
  std::optional<GapFilling> filling;  ///< of the fit's times; none: nothing was missing
  std::int64_t filled_later = 0;      ///< values of later times that were filled by the modes
};

/// Proper orthogonal decomposition: the modes that hold the most of the variance of the first n_fit times
/// about their background, max sum_t |sum_m a(t, m) mode_m|^2, and their coefficients at all times. The sign
/// of a mode is that its largest coefficient among the fit's times is positive.
///
/// Of several variables modes are joint (combined EOFs): fields are one long vector, in which the total
/// variance T_v of variable v, over the fit's times and its weighted points, counts weight_v times as much as
/// that of the first. So weights of its points are w_v(x) = w(x) weight_v T_1/T_v. Source: C. S. Bretherton
/// et al., J. Climate 5, 541 (1992).
///
/// Values that records lack are filled first, those of all variables at once, so that one tells of another:
/// in the fit's times by fill_by_dineof() about the background of the known values, each variable scaled by
/// the mean square of these; in later times by fill_by_modes(), so that the fit does not see them.
///
/// Fields of the fit are held in memory, rows (points) shared out over the ranks; later ones stream.
/// Collective. Throws InputError (more modes than independent times, a variable that does not change; see
/// check_joint()), NumericalError, Interrupted.
[[nodiscard]] Pod make_pod(const Comm& comm, const JointRecords& records, const PodOptions& options);
[[nodiscard]] Pod make_pod(const Comm& comm, const Record& record, const PodOptions& options);
/// Coefficients of fields on modes that are there, a(t, m) = sum_v sum_x weight_v(x) mode_vm(x) (field_v(t,
/// x)
/// - background_v(t, x)): [times, modes] on all ranks. Points of the records must be those of the modes.
/// Collective. Throws InputError for another grid, other points or variables.
[[nodiscard]] std::vector<double> project(const Comm& comm, const JointRecords& records,
                                          const OceanModes& modes);
/// Throws InputError unless records are of the variables of the modes, in their order.
void check_variables(const JointRecords& records, const OceanModes& modes);
/// Memory of make_pod on a rank (bytes): of this run, or of another number of ranks.
[[nodiscard]] double pod_bytes(const JointRecords& records, const PodOptions& options,
                               std::optional<int> n_ranks = {});
/// Throws InputError where the options ask for what the records do not have: before anything is computed.
void check_pod(const JointRecords& records, const PodOptions& options);

}  // namespace quintet::ocean
