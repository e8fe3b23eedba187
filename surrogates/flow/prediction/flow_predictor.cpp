#include "surrogates/flow/prediction/flow_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/rounded_up.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/flow/decoder/decoder.hpp"
#include "surrogates/flow/model/device_decoder.hpp"
#include "surrogates/flow/model/flow_network.hpp"
#include "surrogates/flow/model/refined_grid.hpp"
#include "surrogates/flow/prediction/latent_field.hpp"

namespace quintet::flow {
namespace {

constexpr int least_points = 256, most_points = 1 << 16;  // decoded at a time
/// One point of so many is decoded in float, too: no divisor of a grid's points; of few points more of them.
constexpr std::size_t check_stride = 251, least_checked = 64;
constexpr double decoder_bytes = 48e6;  // packed weights and what the decoder works on, whatever is asked for

NodeGrid nodes_of(const BlockAxes& axes) {
  NodeGrid grid;
  for (std::size_t i = 0; i < grid.size(); ++i)
    grid[i] = {axes[i].coordinates, axes[i].periodic, axes[i].lower, axes[i].upper};
  return grid;
}

/// Smallest and largest spacing of an axis, across the seam of a periodic one too.
Range spacing_of(const BlockAxis& axis) {
  const auto& x = axis.coordinates;
  Range range{x[1] - x[0], x[1] - x[0]};
  const auto include = [&](double spacing) {
    range = {std::min(range.least, spacing), std::max(range.most, spacing)};
  };
  for (std::size_t i = 1; i < x.size(); ++i) include(x[i] - x[i - 1]);
  if (axis.periodic) include(x.front() + axis.upper - axis.lower - x.back());
  return range;
}

std::vector<std::string> doubts_of(const FlowModelHeader& header, const FieldBlock& coarse,
                                   const std::map<std::string, double>& parameters) {
  PredictionSetting setting{parameters, header.axes};
  std::vector<std::string> doubts;
  for (std::size_t i = 0; i < n_axes; ++i) {
    const auto& axis = coarse.axes[i];
    auto& asked = setting.axes[i];
    asked.periodic = axis.periodic;
    asked.lower = axis.lower, asked.upper = axis.upper;
    asked.spacing = spacing_of(axis);
    if (axis.size() < header.block[i])
      doubts.push_back(fmt::format("{} coarse nodes along {}; the model was trained on blocks of {}",
                                   axis.size(), header.axes[i].name, header.block[i]));
  }
  auto beyond = beyond_training(header, setting);
  beyond.insert(beyond.end(), doubts.begin(), doubts.end());
  return beyond;
}

/// Mode k of Fourier layers is another wavelength on another number of nodes, which the model never saw.
void check_wavenumbers(const FlowModelHeader& header, const FieldBlock& coarse, EncoderCover cover) {
  if (cover != EncoderCover::whole || header.options.encoder.kind != EncoderKind::fourier) return;
  for (std::size_t i = 0; i < n_axes; ++i)
    QUINTET_CHECK(
        coarse.axes[i].size() == header.block[i],
        "encoder: whole: the model's Fourier layers learned wavenumbers of {} nodes along {}, but there are "
        "{}; take encoder: blocks",
        header.block[i], header.axes[i].name, coarse.axes[i].size());
}

/// Masks are a crop's: those of a smaller one were never trained with, nor those of a larger one whose levels
/// would not repeat together.
void check_masks(const FlowModelHeader& header, const FieldBlock& coarse, EncoderCover cover) {
  const auto masks =
      mask_periods(unet_options(header.options, header.fields.size(), header.block, header.refinement));
  if (!masks) return;
  for (std::size_t i = 0; i < n_axes; ++i) {
    const int n = coarse.axes[i].size();
    QUINTET_CHECK(
        n >= masks->period[i],
        "the model's masks are of crops with {} nodes along {}, but there are {} coarse nodes: blocks of "
        "kind perturb take no smaller crop; give larger fields, or train for this crop",
        masks->period[i], header.axes[i].name, n);
    QUINTET_CHECK(
        cover == EncoderCover::blocks || masks->whole[i] || n == masks->period[i],
        "encoder: whole needs masks whose levels repeat together; those of the model do so on crops of {} "
        "nodes along {} alone; take encoder: blocks",
        masks->period[i], header.axes[i].name);
  }
}

}  // namespace

struct FlowPredictor::State {
  FlowModel model;
  FieldBlock coarse;
  PredictionOptions options;
  std::vector<std::string> doubts;
  std::optional<Residuals> residuals;
  std::unique_ptr<Decoder<float>> decoder;  ///< of a continuous model
  std::unique_ptr<DeviceDecoder> there;     ///< in its place on a device
  std::unique_ptr<LatentField> latents;
  NodeGrid grid;            ///< of latents, or of the fine fields
  int cells_at_a_time = 1;  ///< of the grid along its first axis
  int points_at_a_time = least_points;
  int part = -1;  ///< the part of the first axis whose latents are at hand
  std::vector<float> part_latents;
  std::optional<PrecisionCheck> check;  ///< where products are in bfloat16

  [[nodiscard]] int n_fields() const { return model.header.fields.size(); }
  [[nodiscard]] int n_channels() const { return residuals ? 1 + residuals->n_operators() : 1; }

  [[nodiscard]] double fixed_bytes() const {
    return 4.0 * (static_cast<double>(coarse.values.size()) + model.parameters.size()) + decoder_bytes +
           latents->window_bytes() +
           (options.device.device() == Device::portable ? DeviceDecoder::most_bytes : 0);
  }
  /// Cells along the first axis: on a periodic one also that which joins the ends.
  [[nodiscard]] int n_cells() const { return grid[0].size() - (grid[0].periodic ? 0 : 1); }
  /// Latents of so many cells along the first axis, and of the coarse nodes that a refined grid needs around
  /// them.
  [[nodiscard]] double part_bytes(int n_cells) const {
    const GridShape shape = latents->shape();
    const double nodes = n_cells + 1 + 2 * (latents->refinement()[0] - 1);
    return 4.0 * nodes * shape[1] * shape[2] * latents->n_channels();
  }
  [[nodiscard]] double point_bytes() const {
    const int n_equations = residuals ? residuals->n_equations() : 0;
    return 8.0 * n_axes + 4.0 * (n_channels() * n_fields() + n_equations);
  }
  [[nodiscard]] double least_bytes() const {
    return fixed_bytes() + part_bytes(1) + least_points * point_bytes();
  }

  void plan() {
    const double least = least_bytes();
    QUINTET_CHECK(
        options.max_memory >= least,
        "max_memory of {:.4g} MB is too little for this model and these coarse fields; the least that works "
        "is {} MB",
        options.max_memory * 1e-6, rounded_up(least * 1e-6));
    double free = options.max_memory - least;
    const int more_points = std::min<double>(most_points - least_points, free / 4 / point_bytes());
    points_at_a_time = least_points + more_points;
    free -= more_points * point_bytes();
    while (cells_at_a_time < n_cells() && part_bytes(2 * cells_at_a_time) - part_bytes(1) <= free)
      cells_at_a_time *= 2;
    cells_at_a_time = std::min(cells_at_a_time, n_cells());
  }

  /// The grid of a part, with its latents at hand. Of a periodic axis it is a bounded piece, whose last node
  /// may be the image of the first: what is predicted does not depend on where pieces end.
  NodeGrid load_part(int number) {
    const int first = number * cells_at_a_time, last = std::min(first + cells_at_a_time, n_cells());
    const int refinement = latents->refinement()[0];
    const int first_coarse = first / refinement, last_coarse = last / refinement;
    if (part != number) {
      part = -1;
      part_latents = {};
      part_latents = latents->of_range(first_coarse, last_coarse - first_coarse + 1);
      part = number;
      if (there)
        there->take(part_latents,
                    {(last_coarse - first_coarse + 1) * refinement, grid[1].size(), grid[2].size()});
    }
    NodeGrid own = grid;
    const auto& all = grid[0].nodes;
    const int from = first_coarse * refinement, end = (last_coarse + 1) * refinement;
    own[0].nodes.clear();
    for (int i = from; i < end; ++i)
      own[0].nodes.push_back(all[i % all.size()] + (i < std::ssize(all) ? 0 : grid[0].upper - grid[0].lower));
    if (from > 0 || grid[0].periodic) own[0].lower = own[0].nodes.front();
    if (end < grid[0].size() || grid[0].periodic) own[0].upper = own[0].nodes.back();
    own[0].periodic = false;
    return own;
  }

  /// A coordinate of the first axis as that of its image from the first node on, if the axis is periodic.
  [[nodiscard]] double in_period(double x) const {
    if (!grid[0].periodic) return x;
    const double length = grid[0].upper - grid[0].lower, first = grid[0].nodes.front();
    return x - length * std::floor((x - first) / length);
  }

  /// Jets [point][channel][field] of normalised fields.
  void decode(const NodeGrid& own, std::vector<double> points, std::vector<float>& jets, bool bf16) {
    DecoderQueries queries;
    queries.n_points = static_cast<int>(points.size()) / n_axes;
    queries.points = std::move(points);
    queries.grids = {own};
    if (residuals) {
      const auto operators = residuals->operators(0);
      queries.operators = {{operators.begin(), operators.end()}};
    }
    queries.bf16 = bf16;
    queries.interrupt = options.interrupt;
    if (there) return there->forward(queries, jets);
    if (decoder) return decoder->forward(part_latents.data(), queries, jets.data());
    interpolate_fine(queries, jets);
  }

  /// A convolutional model's fields between the nodes of its fine grid.
  void interpolate_fine(const DecoderQueries& queries, std::vector<float>& jets) const {
    const NodeGrid& own = queries.grids.front();
    const int n = n_fields();
    std::fill(jets.begin(), jets.end(), 0.0F);
    for (int p = 0; p < queries.n_points; ++p) {
      std::array<AxisCell, n_axes> cells{};
      for (std::size_t i = 0; i < n_axes; ++i) cells[i] = locate(own[i], queries.points[p * n_axes + i]);
      for (unsigned corner = 0; corner < 8; ++corner) {
        std::size_t node = 0;
        double weight = 1;
        for (std::size_t i = 0; i < n_axes; ++i) {
          const unsigned upper = corner >> (2 - i) & 1U;
          node = node * own[i].size() + cells[i].node[upper];
          weight *= upper != 0 ? cells[i].r : 1 - cells[i].r;
        }
        for (int f = 0; f < n; ++f)
          jets[p * n + f] += static_cast<float>(weight) * part_latents[node * n + f];
      }
    }
  }

  /// Some of the points again, by products in float.
  void compare_with_float(const NodeGrid& own, const std::vector<double>& places,
                          const std::vector<float>& jets) {
    const std::size_t row = std::int64_t{n_channels()} * n_fields();
    std::vector<double> some;
    std::vector<float> rounded;
    const std::size_t n_all = places.size() / n_axes,
                      stride = std::clamp<std::size_t>(n_all / least_checked, 1, check_stride);
    for (std::size_t p = 0; p < n_all; p += stride) {
      some.insert(some.end(), &places[p * n_axes], &places[p * n_axes] + n_axes);
      rounded.insert(rounded.end(), &jets[p * row], &jets[p * row] + row);
    }
    const int n = some.size() / n_axes;
    std::vector<float> exact(rounded.size());
    decode(own, some, exact, false);
    to_physical(n, exact);
    const auto add = [](double difference, double& squares, double& largest) {
      squares += difference * difference;
      largest = std::max(largest, std::abs(difference));
    };
    const std::size_t n_values = n_fields();
    for (std::size_t i = 0; i < rounded.size(); i += row)
      for (std::size_t f = 0; f < n_values; ++f)
        add((rounded[i + f] - exact[i + f]) / model.header.fields[f].deviation, check->field_squares[f],
            check->field_largest[f]);
    if (residuals) {
      const std::size_t n_equations = residuals->n_equations();
      std::vector<float> of_rounded(n * n_equations), of_exact(n * n_equations);
      residuals->evaluate(0, n, rounded.data(), some.data(), of_rounded.data());
      residuals->evaluate(0, n, exact.data(), some.data(), of_exact.data());
      for (std::size_t i = 0; i < of_exact.size(); ++i) {
        const std::size_t e = i % n_equations;
        add(of_rounded[i] - of_exact[i], check->residual_squares[e], check->residual_largest[e]);
        check->residual_float_squares[e] += double{of_exact[i]} * of_exact[i];
      }
    }
    check->points += n;
    if (!(check->worst() <= options.precision_bound))
      throw NumericalError(fmt::format(
          "products in bf16 change fields or residuals by {:.3g} of their size (rms, {} points compared with "
          "fp32), more than precision_bound, {:.3g}; set precision to fp32, or the bound higher",
          check->worst(), check->points, options.precision_bound));
  }

  void to_physical(int n_points, std::vector<float>& jets) const {
    for (int p = 0; p < n_points; ++p)
      for (int c = 0; c < n_channels(); ++c)
        for (int f = 0; f < n_fields(); ++f) {
          auto& value = jets[(p * n_channels() + c) * n_fields() + f];
          const auto& field = model.header.fields[f];
          value = static_cast<float>(field.deviation * value + (c == 0 ? field.mean : 0));
        }
  }
};

FlowPredictor::FlowPredictor(FlowModel model, FieldBlock coarse,
                             const std::map<std::string, double>& parameters,
                             const PredictionOptions& options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.model = std::move(model);
  s.coarse = std::move(coarse);
  s.options = options;
  const auto& header = s.model.header;
  QUINTET_CHECK(s.coarse.n_fields == s.n_fields(), "the model has {} fields, the coarse data {}",
                s.n_fields(), s.coarse.n_fields);
  for (std::size_t i = 0; i < n_axes; ++i)
    QUINTET_CHECK(s.coarse.axes[i].size() >= 2, "the coarse data have {} along {}; at least 2 are needed",
                  counted(s.coarse.axes[i].size(), "node"), header.axes[i].name);
  check_wavenumbers(header, s.coarse, options.cover);
  check_masks(header, s.coarse, options.cover);
  std::vector<double> in_order;
  for (const auto& parameter : header.parameters) {
    const auto given = parameters.find(parameter.name);
    in_order.push_back(given == parameters.end() ? 0 : given->second);
  }
  for (const auto& name : header.options.conditioning)
    QUINTET_CHECK(parameters.count(name) != 0, "the model is told {}, which the coarse data do not say",
                  name);
  s.doubts = doubts_of(header, s.coarse, parameters);
  const bool continuous = header.options.decoder.kind == DecoderKind::continuous;
  if (continuous && options.residuals && !header.equations.interior.empty()) {
    const auto equations = header.flow_equations();
    const std::vector<std::vector<double>> constants{equations.constants(parameters)};
    s.residuals = equations.interior().residuals(constants);
  }
  s.latents =
      std::make_unique<LatentField>(s.model, s.coarse, std::move(in_order), options.cover, options.device);
  s.grid = refined_grid(nodes_of(s.coarse.axes), s.latents->refinement());
  check_grid(s.grid);
  const bool on_device = !options.device.is_cpu();
  QUINTET_CHECK(!on_device || options.precision == ProductPrecision::fp32,
                "precision: bf16 is for the decoder on the cores; set fp32, or device: cpu");
  if (continuous && on_device) {
    s.there = std::make_unique<DeviceDecoder>(s.model, options.device);
  } else if (continuous) {
    s.decoder = std::make_unique<Decoder<float>>(decoder_options(header.options, s.n_fields()));
    const float* weights = s.model.parameters.data() + flow_network_size(header).encoder;
    s.decoder->refresh(weights);
    if (options.precision == ProductPrecision::bf16) {
      s.decoder->prepare_bf16(weights);
      const std::size_t n_fields = header.fields.size(), n_equations = equation_names().size();
      s.check = PrecisionCheck{0,
                               std::vector<double>(n_fields, 0),
                               std::vector<double>(n_fields, 0),
                               std::vector<double>(n_equations, 0),
                               std::vector<double>(n_equations, 0),
                               std::vector<double>(n_equations, 0)};
    }
  }
  s.plan();
}

void FlowPredictor::replace(FieldBlock coarse) {
  State& s = *state_;
  QUINTET_ASSERT(coarse.values.size() == s.coarse.values.size(),
                 "other coarse fields than those planned for");
  s.coarse.values = std::move(coarse.values);
  s.part = -1;
}
FlowPredictor::~FlowPredictor() = default;
FlowPredictor::FlowPredictor(FlowPredictor&&) noexcept = default;

const FlowModelHeader& FlowPredictor::header() const { return state_->model.header; }
const std::vector<std::string>& FlowPredictor::doubts() const { return state_->doubts; }
bool FlowPredictor::has_residuals() const { return state_->residuals.has_value(); }
const BlockAxes& FlowPredictor::domain() const { return state_->coarse.axes; }
double FlowPredictor::least_memory() const { return state_->least_bytes(); }
double FlowPredictor::memory() const {
  const State& s = *state_;
  return s.fixed_bytes() + s.part_bytes(s.cells_at_a_time) + s.points_at_a_time * s.point_bytes();
}

const PrecisionCheck* FlowPredictor::precision_check() const {
  return state_->check ? &*state_->check : nullptr;
}

void PrecisionCheck::combine(const Comm& comm) {
  points = comm.sum(static_cast<long>(points));
  for (auto* sums : {&field_squares, &residual_squares, &residual_float_squares})
    comm.reduce(std::span<double>(*sums), Comm::Reduction::sum);
  for (auto* maxima : {&field_largest, &residual_largest})
    comm.reduce(std::span<double>(*maxima), Comm::Reduction::maximum);
}
double PrecisionCheck::field_rms(std::size_t field) const {
  return points == 0 ? 0 : std::sqrt(field_squares[field] / points);
}
double PrecisionCheck::residual_rms(std::size_t equation) const {
  const double squares = residual_squares[equation];
  return squares == 0 ? 0 : std::sqrt(squares / residual_float_squares[equation]);
}
double PrecisionCheck::worst() const {
  double most = 0;
  const auto include = [&](double value) { most = value <= most ? most : value; };  // NaN, too
  for (std::size_t f = 0; f < field_squares.size(); ++f) include(field_rms(f));
  for (std::size_t e = 0; e < residual_squares.size(); ++e) include(residual_rms(e));
  return most;
}

std::vector<std::string> FlowPredictor::equation_names() const {
  std::vector<std::string> names;
  if (has_residuals())
    for (const auto& [name, text] : header().equations.interior) names.push_back(name);
  return names;
}

void FlowPredictor::predict(std::span<const double> points, std::span<float> values,
                            std::span<float> residuals) {
  State& s = *state_;
  const std::size_t n_points = points.size() / n_axes, n_fields = s.n_fields();
  const auto& names = s.model.header.axes;
  std::vector<int> part_of(n_points);
  for (std::size_t p = 0; p < n_points; ++p) {
    for (std::size_t i = 0; i < n_axes; ++i) {
      const double x = points[p * n_axes + i];
      const auto& axis = s.grid[i];
      QUINTET_CHECK(std::isfinite(x) && (axis.periodic || (x >= axis.lower && x <= axis.upper)),
                    "a point at {} = {:.10g} lies outside the data, which reach from {:.10g} to {:.10g}",
                    names[i].name, x, axis.lower, axis.upper);
    }
    part_of[p] = locate(s.grid[0], points[p * n_axes]).node[0] / s.cells_at_a_time;
  }
  std::vector<std::size_t> order(n_points);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return part_of[i] < part_of[j]; });

  std::vector<float> jets, own_residuals;
  for (std::size_t first = 0; first < n_points;) {
    const int part = part_of[order[first]];
    std::size_t end = first;
    while (end < n_points && end - first < static_cast<std::size_t>(s.points_at_a_time) &&
           part_of[order[end]] == part)
      ++end;
    give_up_if_asked(s.options.interrupt);
    const NodeGrid own = s.load_part(part);
    const int n = end - first;
    std::vector<double> places;
    for (std::size_t k = first; k < end; ++k)
      for (std::size_t i = 0; i < n_axes; ++i)
        places.push_back(i == 0 ? s.in_period(points[order[k] * n_axes]) : points[order[k] * n_axes + i]);
    jets.resize(std::int64_t{n} * s.n_channels() * n_fields);
    s.decode(own, places, jets, s.check.has_value());
    s.to_physical(n, jets);
    if (s.check) s.compare_with_float(own, places, jets);
    for (std::size_t k = first; k < end; ++k) {
      const float* jet = &jets[(k - first) * s.n_channels() * n_fields];
      std::copy(jet, jet + n_fields, &values[order[k] * n_fields]);
      for (std::size_t f = 0; f < n_fields; ++f)
        if (!std::isfinite(jet[f]))
          throw NumericalError(fmt::format("field {} is not finite at {} = {:.6g}",
                                           s.model.header.fields[f].name, names[0].name,
                                           points[order[k] * n_axes]));
    }
    if (s.residuals && !residuals.empty()) {
      const std::size_t n_equations = s.residuals->n_equations();
      own_residuals.resize(n * n_equations);
      s.residuals->evaluate(0, n, jets.data(), places.data(), own_residuals.data());
      for (std::size_t k = first; k < end; ++k)
        std::copy_n(&own_residuals[(k - first) * n_equations], n_equations,
                    &residuals[order[k] * n_equations]);
    }
    first = end;
  }
}

}  // namespace quintet::flow
