#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/dpmd/deviation/deviation.hpp"
#include "apps/dpmd/setup/selection_options.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/files/read_configuration.hpp"

namespace quintet::dpmd {

/// Verdict on a frame: the models agree; they disagree, so that a label would teach them; they disagree so
/// much that the frame is not physical.
enum class Verdict { accurate, candidate, failed };

/// candidate: low <= deviation < high, for forces or (if limits are given) virials; failed: either at or
/// beyond its high, or not finite; accurate: the others. Source: DP-GEN, Zhang et al. (2020), Comput. Phys.
/// Commun. 253, 107206.
[[nodiscard]] Verdict judge(const SelectionOptions& options, const potential::Deviation& deviation);

struct VerdictCounts {
  std::int64_t accurate = 0, candidate = 0, failed = 0;
  [[nodiscard]] std::int64_t all() const { return accurate + candidate + failed; }
};
[[nodiscard]] VerdictCounts count_verdicts(const SelectionOptions& options,
                                           const std::vector<DeviationRow>& rows);

/// Frames and how far the models disagree about them.
struct FrameSource {
  std::string frames;  ///< H5MD of ours (frames found by their step), or any file with one frame a row
  std::vector<DeviationRow> rows;
  ReadOptions read{};
};

struct SelectedFrame {
  Configuration configuration;  ///< without labels and velocities
  std::string source;
  DeviationRow row;
};

struct Selection {
  VerdictCounts counts;
  std::int64_t without_frame = 0;  ///< candidates whose step has no frame in the file
  std::vector<SelectedFrame> frames;
};

/// Choose candidates of all sources together: at most `options.most`, by `options.method`. On this rank
/// alone.
[[nodiscard]] Selection select_frames(const std::vector<FrameSource>& sources,
                                      const SelectionOptions& options, std::uint64_t seed);

/// Numbers of a candidate by which the methods choose.
struct Candidate {
  double max_force;              ///< (eV/angstrom)
  std::vector<double> features;  ///< for Pick::farthest, else empty
};
/// Indices of the chosen candidates, in rising order.
[[nodiscard]] std::vector<std::size_t> pick(const std::vector<Candidate>& candidates, Pick method,
                                            std::size_t most, std::uint64_t seed);

/// How a frame looks: for each pair of types means and mean squares over the atoms of smoothed numbers of
/// neighbours at eight distances up to 6 angstrom. Equal under rotation, translation, permutation.
[[nodiscard]] std::vector<double> frame_features(const Configuration& frame);

/// NAME.xyz (absent without frames) and NAME.json (counts, and where each frame came from).
void write_selection(const std::string& name, const Selection& selection);
/// One sentence for logs.
[[nodiscard]] std::string summary_of(const Selection& selection);

}  // namespace quintet::dpmd
