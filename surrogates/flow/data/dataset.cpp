#include "surrogates/flow/data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include <fmt/ranges.h>

#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/kernels/random.hpp"
#include "surrogates/flow/data/coarsen.hpp"
#include "surrogates/flow/data/field_statistics.hpp"
#include "surrogates/flow/data/fingerprints.hpp"
#include "surrogates/flow/data/interpolate.hpp"
#include "surrogates/flow/data/row_kind.hpp"
#include "surrogates/flow/data/samples.hpp"
#include "surrogates/flow/data/splits.hpp"

namespace quintet::flow {
namespace {

/// Streams of random numbers, one pair a split: where a crop begins, points in it (two draws), rows
/// in it.
constexpr std::uint32_t crop_stream = 0x4600, point_stream = 0x4610, row_stream = 0x4620;

/// Where a crop begins.
struct Place {
  const Part* part = nullptr;
  std::array<int, 3> start{};
};

/// A whole number in [0, n) of a uniform number in (0, 1).
std::int64_t below(double u, std::int64_t n) { return std::min<std::int64_t>(u * n, n - 1); }

}  // namespace

struct FlowDataset::State {
  Comm comm;
  FlowDataOptions options;
  Samples fine;
  std::optional<Samples> coarse;
  std::array<std::vector<Part>, 3> run_parts, parts;  ///< of runs, and of samples
  std::array<std::vector<std::int64_t>, 3> places;    ///< [split][part] crops up to and with this part
  std::array<int, 3> crop{}, low{};
  Coarsening coarsening;
  std::vector<std::string> axis_names, parameter_names;
  FieldStatistics statistics;
  std::vector<std::vector<std::int64_t>> fingerprints;  ///< [run][frame]

  State(const Comm& c, const FlowDataOptions& o, const Interrupt& interrupt)
      : comm(c), options(o), fine(c, o.files, o, interrupt) {
    if (!options.low_resolution.files.empty()) {
      auto of_coarse = options;  // what is taken off one is taken off both
      of_coarse.offsets = fine.offsets();
      coarse.emplace(comm, options.low_resolution.files, of_coarse, interrupt);
    }
    for (int d = 0; d < 3; ++d) {
      crop[d] = options.crop[d];
      coarsening.factor[d] = options.low_resolution.factor[d];
      low[d] = crop[d] / coarsening.factor[d];
      coarsening.filter[d] =
          is_time(d) ? options.low_resolution.time_filter : options.low_resolution.space_filter;
      QUINTET_CHECK(
          crop[d] % coarsening.factor[d] == 0,
          "data.crop: {} points cannot be made {} times fewer: choose multiples of low_resolution.factor",
          crop[d], coarsening.factor[d]);
    }
    axis_names = options.axes;
    if (!options.of_volumes()) axis_names.insert(axis_names.begin(), "t");
    check_samples();
    if (coarse) check_coarse();
    run_parts = split(fine.runs(), options.split, options.of_volumes() ? 1 : crop[0]);
    give_up_if_asked(comm, interrupt);
    fingerprints = fingerprints_of(comm, fine, n_fields());
    check_splits(run_parts, fingerprints, fine.runs());
    find_parts();
    name_parameters();
    count_places();
    statistics = compute_statistics();
  }

  [[nodiscard]] int n_fields() const { return options.fields.size(); }
  [[nodiscard]] bool is_time(int d) const { return d == 0 && !options.of_volumes(); }
  [[nodiscard]] static std::size_t at(Split split) { return static_cast<std::size_t>(split); }

  void check_samples() const {
    for (std::size_t i = 0; i < fine.size(); ++i)
      for (int d = 0; d < 3; ++d) {
        QUINTET_CHECK(fine[i].axes[d].periodic == fine[0].axes[d].periodic,
                      "{}: axis '{}' is {}periodic, but that of {} is not so", fine[i].name, axis_names[d],
                      fine[i].axes[d].periodic ? "" : "not ", fine[0].name);
        QUINTET_CHECK(fine[i].axes[d].size() >= crop[d],
                      "{}: has {} {} along '{}', but data.crop asks for {}; expected {} at most",
                      fine[i].name, fine[i].axes[d].size(), is_time(d) ? "frames" : "points", axis_names[d],
                      crop[d], fine[i].axes[d].size());
      }
  }

  void check_coarse() const {
    QUINTET_CHECK(coarse->size() == fine.size(), "the coarse runs have {} samples, the fine ones {}",
                  coarse->size(), fine.size());
    for (std::size_t i = 0; i < fine.size(); ++i) {
      const Sample &a = fine[i], &b = (*coarse)[i];
      QUINTET_CHECK(a.parameters == b.parameters, "{}: has other parameters than {}", b.name, a.name);
      for (int d = 0; d < 3; ++d)
        QUINTET_CHECK(b.axes[d].size() >= low[d],
                      "{}: has {} {} along '{}', but a crop at low resolution has {}", b.name,
                      b.axes[d].size(), is_time(d) ? "frames" : "points", axis_names[d], low[d]);
      QUINTET_CHECK(a.frame == b.frame && std::abs(a.time - b.time) <= 1e-6 * std::abs(a.time),
                    "{}: has time {:.9g}, but {} {:.9g}; expected the same frames", b.name, b.time, a.name,
                    a.time);
      for (int d = is_time(0) ? 1 : 0; d < 3; ++d) {
        const BlockAxis &x = a.axes[d], &y = b.axes[d];
        const double slack = 1e-6 * (x.upper - x.lower);
        QUINTET_CHECK(x.periodic == y.periodic && std::abs(x.lower - y.lower) <= slack &&
                          std::abs(x.upper - y.upper) <= slack,
                      "{}: axis '{}' covers [{}, {}], that of {} [{}, {}]", b.name, axis_names[d], y.lower,
                      y.upper, a.name, x.lower, x.upper);
      }
    }
  }

  /// The parts of runs as parts of samples.
  void find_parts() {
    for (std::size_t k = 0; k < 3; ++k)
      for (auto part : run_parts[k]) {
        const Run& run = fine.runs()[part.sample];
        for (int i = 0; options.of_volumes() && i < part.n; ++i)
          parts[k].push_back({run.first + part.first + i, 0, 1});
        if (options.of_volumes()) continue;
        part.sample = run.first;
        if (coarse) find_coarse_frames(part);
        parts[k].push_back(part);
      }
  }

  /// Frames of the coarse run within the part's time.
  void find_coarse_frames(Part& part) const {
    const auto &t = fine[part.sample].axes[0].coordinates,
               &coarse_t = (*coarse)[part.sample].axes[0].coordinates;
    const double first = t[part.first], last = t[part.first + part.n - 1], slack = 1e-6 * (last - first);
    const auto begin = std::lower_bound(coarse_t.begin(), coarse_t.end(), first - slack);
    const auto end = std::upper_bound(coarse_t.begin(), coarse_t.end(), last + slack);
    part.coarse_first = begin - coarse_t.begin();
    part.coarse_n = std::max<int>(0, end - begin);
    QUINTET_CHECK(part.coarse_n >= low[0],
                  "{}: has {} between times {} and {}, but a crop at low resolution has {}",
                  (*coarse)[part.sample].name, counted(part.coarse_n, "frame"), first, last, low[0]);
  }

  void name_parameters() {
    for (const auto& [name, value] : fine[0].parameters) parameter_names.push_back(name);
    for (std::size_t i = 1; i < fine.size(); ++i) {
      const auto lacks = [](const Sample& a, const Sample& b) {
        for (const auto& [name, value] : b.parameters)
          QUINTET_CHECK(a.parameters.contains(name),
                        "{}: does not tell {}, which is {} in {}: a model could not know where it holds. "
                        "Give it by data.describe_files.parameters",
                        a.name, name, value, b.name);
      };
      lacks(fine[i], fine[0]);
      lacks(fine[0], fine[i]);
    }
  }

  /// Places where a crop of the part can begin along each axis.
  [[nodiscard]] std::array<int, 3> starts(const Part& part) const {
    const auto& axes = coarse ? (*coarse)[part.sample].axes : fine[part.sample].axes;
    const auto& size = coarse ? low : crop;
    std::array<int, 3> n{};
    for (int d = 0; d < 3; ++d)
      n[d] =
          axes[d].periodic && !options.reference_compatible ? axes[d].size() : axes[d].size() - size[d] + 1;
    if (is_time(0)) n[0] = (coarse ? part.coarse_n : part.n) - size[0] + 1;
    return n;
  }

  void count_places() {
    for (std::size_t k = 0; k < 3; ++k) {
      std::int64_t sum = 0;
      for (const auto& part : parts[k]) {
        const auto n = starts(part);
        sum += std::int64_t{n[0]} * n[1] * n[2];
        places[k].push_back(sum);
      }
    }
  }

  /// Place number i of a split.
  [[nodiscard]] Place place(std::size_t split, std::int64_t i) const {
    const auto found = std::upper_bound(places[split].begin(), places[split].end(), i);
    const std::size_t k = found - places[split].begin();
    const Part& part = parts[split][k];
    if (k > 0) i -= places[split][k - 1];
    const auto n = starts(part);
    return {&part,
            {static_cast<int>(i / (std::int64_t{n[1]} * n[2])), static_cast<int>(i / n[2] % n[1]),
             static_cast<int>(i % n[2])}};
  }

  [[nodiscard]] FieldStatistics compute_statistics() const {
    std::vector<std::span<const float>> runs;
    for (std::size_t k = 0; k < (options.reference_compatible ? 3u : 1u); ++k)
      for (const auto& part : parts[k])
        for (std::size_t field = 0; field < options.fields.size(); ++field) {
          const Sample& sample = fine[part.sample];
          const std::size_t frame = sample.n_points() / sample.n_frames();
          runs.emplace_back(sample.values + field * sample.n_points() + part.first * frame, part.n * frame);
        }
    return statistics_of(comm, options.fields, runs);
  }

  /// A crop at low resolution, the range of its points, and what they are interpolated in.
  struct Crop {
    FieldBlock low;
    BlockAxes fine_axes;
    std::array<int, 3> fine_start{};
    std::array<std::array<double, 2>, 3> range{};  ///< [axis] of points
  };

  [[nodiscard]] Crop cut(const Place& place) const {
    Crop result;
    const Part& part = *place.part;
    const Sample& sample = fine[part.sample];
    if (coarse) {
      cut_coarse(place, result);
    } else {
      result.fine_start = place.start;
      result.fine_start[0] += part.first;
      for (int d = 0; d < 3; ++d)
        result.fine_axes[d] = options.reference_compatible
                                  ? by_index(crop[d])
                                  : part_of(sample.axes[d], result.fine_start[d], crop[d]);
      const BlockView view(result.fine_axes, sample.values, result.fine_start, sample.extent(), n_fields());
      result.low = options.reference_compatible ? coarsen_as_reference(view, coarsening.factor)
                                                : coarsen(view, coarsening);
      for (int d = 0; d < 3; ++d) {
        const auto& axis = result.fine_axes[d];
        result.range[d] = {axis.coordinates.front(), axis.periodic ? axis.upper : axis.coordinates.back()};
      }
    }
    return result;
  }

  /// From the coarse run: points are drawn between its nodes, and up to the fine run's last ones at walls.
  void cut_coarse(const Place& place, Crop& result) const {
    const Part& part = *place.part;
    const Sample &sample = fine[part.sample], &other = (*coarse)[part.sample];
    auto start = place.start;
    start[0] += part.coarse_first;
    BlockAxes axes;
    for (int d = 0; d < 3; ++d) axes[d] = part_of(other.axes[d], start[d], low[d]);
    result.low = coarsen(BlockView(axes, other.values, start, other.extent(), n_fields()), {});
    result.fine_start = {part.first, 0, 0};
    result.fine_axes = sample.axes;
    if (is_time(0)) result.fine_axes[0] = part_of(sample.axes[0], part.first, part.n);
    for (int d = 0; d < 3; ++d) {
      const auto &axis = axes[d], &whole = result.fine_axes[d];
      result.range[d] = {axis.wall_lower ? whole.coordinates.front() : axis.coordinates.front(),
                         axis.periodic     ? axis.upper
                         : axis.wall_upper ? whole.coordinates.back()
                                           : axis.coordinates.back()};
      if (is_time(d))
        result.range[d] = {std::max(result.range[d][0], whole.lower),
                           std::min(result.range[d][1], whole.upper)};
    }
  }

  void draw_points(std::size_t split, std::uint64_t seed, std::uint64_t step, std::uint64_t item,
                   const Crop& crop_, std::span<double> points) const {
    for (std::int64_t p = 0; p < options.points; ++p) {
      std::array<double, 4> u{};
      const std::uint64_t id = item << 24 | static_cast<std::uint64_t>(p);
      const auto stream = point_stream + 2 * static_cast<std::uint32_t>(split);
      uniform_pair(seed, stream, id, step, u[0], u[1]);
      uniform_pair(seed, stream + 1, id, step, u[2], u[3]);
      for (std::size_t d = 0; d < 3; ++d)
        points[3 * p + d] = crop_.range[d][0] + u[d] * (crop_.range[d][1] - crop_.range[d][0]);
    }
  }

  [[nodiscard]] RowKind rows() const {
    return row_kind(fine, coarse ? &*coarse : nullptr, crop, low, axis_names);
  }

  /// Add rows of a crop and their targets, on the points of the grid: between them a target would be
  /// interpolated, and so have less power at large wavenumbers than the flow.
  void draw_rows(const RowKind& rows, std::uint32_t stream, std::uint64_t seed, std::uint64_t step,
                 std::uint64_t item, const Crop& crop_, const BlockView& view, BatchRows& to) const {
    std::array<std::vector<double>, 3> places;
    for (std::size_t d = 0; d < 3; ++d) places[d] = points_in(crop_.fine_axes[d], crop_.range[d]);
    const int along = rows.axis, other = 3 - rows.axis;
    QUINTET_ASSERT(places[along].size() >= std::size_t(rows.n_points), "a row of {}", places[along].size());
    QUINTET_CHECK(
        !places[0].empty() && !places[other].empty(),
        "loss.spectral: a crop of {} coarse nodes has no frame or no row of the fine run within it; give "
        "a larger data.crop",
        fmt::join(low, " x "));
    std::vector<double> points;
    for (int row = 0; row < to.n_rows; ++row) {
      std::array<double, 2> u{};
      uniform_pair(seed, stream, item << 24 | static_cast<std::uint64_t>(row), step, u[0], u[1]);
      std::array<double, 3> point{};
      point[0] = places[0][below(u[0], std::ssize(places[0]))];
      point[other] = places[other][below(u[1], std::ssize(places[other]))];
      for (int i = 0; i < rows.n_points; ++i) {
        point[along] = places[along][i];
        points.insert(points.end(), point.begin(), point.end());
      }
    }
    std::vector<float> targets(points.size() / 3 * options.fields.size());
    interpolate(view, points, targets);
    for (std::size_t i = 0; i < targets.size(); ++i)
      to.targets.push_back(static_cast<float>(statistics.normalised(i % options.fields.size(), targets[i])));
    to.points.insert(to.points.end(), points.begin(), points.end());
  }

  [[nodiscard]] Batch batch(std::size_t split, std::uint64_t seed, std::uint64_t step, int first, int count,
                            int n_rows) const {
    QUINTET_CHECK(!places[split].empty(), "there is no {} split: data.split gives it no share",
                  split_names[split]);
    Batch batch;
    batch.n_samples = count;
    batch.n_fields = n_fields();
    batch.n_points = options.points;
    batch.low_shape = low;
    RowKind rows_;
    if (n_rows > 0) {
      rows_ = rows();
      batch.rows = {n_rows, rows_.n_points, rows_.whole, {}, {}};
    }
    const std::size_t n_points = batch.n_points;
    batch.points.resize(3 * n_points * count);
    batch.targets.resize(options.fields.size() * n_points * count);
    for (int k = 0; k < count; ++k) {
      const std::uint64_t item = first + k;
      double u = 0, unused = 0;
      uniform_pair(seed, crop_stream + static_cast<std::uint32_t>(split), item, step, u, unused);
      const auto where = place(split, below(u, places[split].back()));
      auto crop_ = cut(where);
      const Sample& sample = fine[where.part->sample];
      const auto points = std::span(batch.points).subspan(3 * n_points * k, 3 * n_points);
      const auto targets =
          std::span(batch.targets)
              .subspan(options.fields.size() * n_points * k, options.fields.size() * n_points);
      draw_points(split, seed, step, item, crop_, points);
      const BlockView view(crop_.fine_axes, sample.values, crop_.fine_start, sample.extent(), n_fields());
      interpolate(view, points, targets);
      if (n_rows > 0)
        draw_rows(rows_, row_stream + static_cast<std::uint32_t>(split), seed, step, item, crop_, view,
                  batch.rows);
      for (std::size_t i = 0; i < targets.size(); ++i)
        targets[i] = static_cast<float>(statistics.normalised(i % options.fields.size(), targets[i]));
      const std::size_t nodes = crop_.low.n_points();
      for (std::size_t i = 0; i < crop_.low.values.size(); ++i)
        batch.low.push_back(static_cast<float>(statistics.normalised(i / nodes, crop_.low.values[i])));
      batch.axes.push_back(std::move(crop_.low.axes));
      const auto numbers = parameters(*where.part);
      batch.parameters.insert(batch.parameters.end(), numbers.begin(), numbers.end());
    }
    return batch;
  }

  [[nodiscard]] std::vector<double> parameters(const Part& part) const {
    std::vector<double> values;
    for (const auto& name : parameter_names) values.push_back(fine[part.sample].parameters.at(name));
    return values;
  }

  [[nodiscard]] const Part& part(Split split, std::int64_t sample) const {
    const auto& of_split = parts[at(split)];
    QUINTET_CHECK(sample >= 0 && sample < std::ssize(of_split),
                  "there is no sample {} in the {} split, which has {}", sample, split_names[at(split)],
                  of_split.size());
    return of_split[sample];
  }

  /// Frames first ... first + n - 1 of a sample, all of space; a volume as it is.
  [[nodiscard]] FieldBlock frames(const Sample& sample, int first, int n, const Coarsening& how) const {
    BlockAxes axes = sample.axes;
    if (is_time(0)) axes[0] = part_of(sample.axes[0], first, n);
    return coarsen(BlockView(axes, sample.values, {first, 0, 0}, sample.extent(), n_fields()), how);
  }

  /// Distance between nodes of low resolution along an axis, wherever a crop begins.
  [[nodiscard]] Range low_spacing(int d) const {
    Range range{std::numeric_limits<double>::max(), 0};
    const int factor = coarse ? 1 : coarsening.factor[d];
    for (const auto& one : parts[0]) {
      const auto& axis = coarse ? (*coarse)[one.sample].axes[d] : fine[one.sample].axes[d];
      const int last = axis.periodic ? axis.size() : axis.size() - 2 * factor + 1;
      for (int i = 0; i < last; ++i) {
        const double distance = node_of(axis, i + factor, factor, coarsening.filter[d]) -
                                node_of(axis, i, factor, coarsening.filter[d]);
        range = {std::min(range.least, distance), std::max(range.most, distance)};
      }
    }
    return range.most > 0 ? range : Range{};  // none between the nodes of a single one
  }
};

FlowDataset::FlowDataset(const Comm& comm, const FlowDataOptions& options, const Interrupt& interrupt)
    : state_(std::make_unique<State>(comm, options, interrupt)) {}
FlowDataset::~FlowDataset() = default;
FlowDataset::FlowDataset(FlowDataset&&) noexcept = default;

const FlowDataOptions& FlowDataset::options() const { return state_->options; }
const std::vector<std::string>& FlowDataset::field_names() const { return state_->options.fields; }
const std::vector<std::string>& FlowDataset::field_units() const { return state_->fine.field_units(); }
const std::vector<std::string>& FlowDataset::axis_names() const { return state_->axis_names; }
const std::vector<std::string>& FlowDataset::parameter_names() const { return state_->parameter_names; }
const FieldStatistics& FlowDataset::statistics() const { return state_->statistics; }

const Samples& FlowDataset::samples() const { return state_->fine; }

std::vector<std::int64_t> FlowDataset::fingerprints(Split split) const {
  return fingerprints_of(state_->run_parts[State::at(split)], state_->fingerprints);
}

std::vector<RunFrames> FlowDataset::runs(Split split) const {
  std::vector<RunFrames> runs;
  for (const auto& part : state_->run_parts[State::at(split)])
    runs.push_back({state_->fine.runs()[part.sample].name, part.first, part.n});
  return runs;
}

void FlowDataset::set_statistics(const FieldStatistics& statistics) {
  QUINTET_CHECK(statistics.mean.size() == state_->options.fields.size() &&
                    statistics.deviation.size() == state_->options.fields.size(),
                "statistics of {} fields are given for data with {}", statistics.mean.size(),
                state_->options.fields.size());
  state_->statistics = statistics;
}

std::vector<FlowDataset::Range> FlowDataset::parameter_ranges() const {
  std::vector<Range> ranges;
  for (const auto& part : state_->parts[0]) {
    const auto values = state_->parameters(part);
    if (ranges.empty())
      for (const double value : values) ranges.push_back({value, value});
    for (std::size_t i = 0; i < values.size(); ++i)
      ranges[i] = {std::min(ranges[i].least, values[i]), std::max(ranges[i].most, values[i])};
  }
  return ranges;
}

std::array<FlowDataset::Range, 3> FlowDataset::low_spacing_ranges() const {
  return {state_->low_spacing(0), state_->low_spacing(1), state_->low_spacing(2)};
}

std::array<bool, 3> FlowDataset::periodic() const {
  const auto& axes = state_->fine[0].axes;
  return {axes[0].periodic, axes[1].periodic, axes[2].periodic};
}

std::array<int, 3> FlowDataset::low_shape() const { return state_->low; }

std::int64_t FlowDataset::n_samples(Split split) const { return state_->parts[State::at(split)].size(); }

std::int64_t FlowDataset::n_crops(Split split) const {
  const auto& places = state_->places[State::at(split)];
  return places.empty() ? 0 : places.back();
}

Batch FlowDataset::batch(Split split, std::uint64_t seed, std::uint64_t step, int first, int count,
                         int n_rows) const {
  return state_->batch(State::at(split), seed, step, first, count, n_rows);
}

RowKind FlowDataset::rows() const { return state_->rows(); }

FieldBlock FlowDataset::high(Split split, std::int64_t sample) const {
  const auto& part = state_->part(split, sample);
  return state_->frames(state_->fine[part.sample], part.first, part.n, {});
}

FieldBlock FlowDataset::low(Split split, std::int64_t sample) const {
  const auto& part = state_->part(split, sample);
  if (state_->coarse)
    return state_->frames((*state_->coarse)[part.sample], part.coarse_first, part.coarse_n, {});
  const int factor = state_->is_time(0) ? state_->coarsening.factor[0] : 1;
  return state_->frames(state_->fine[part.sample], part.first, part.n - part.n % factor, state_->coarsening);
}

std::vector<double> FlowDataset::parameters(Split split, std::int64_t sample) const {
  return state_->parameters(state_->part(split, sample));
}

std::string FlowDataset::name(Split split, std::int64_t sample) const {
  return state_->fine[state_->part(split, sample).sample].name;
}

}  // namespace quintet::flow
