#include "apps/meshfreeflow/evaluate/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "apps/application/report/report.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/evaluation/best_shift.hpp"
#include "surrogates/flow/evaluation/grid_residuals.hpp"
#include "surrogates/flow/evaluation/line_spectrum.hpp"

namespace quintet::meshfreeflow {
namespace {

/// Row along `axis` whose coordinate is nearest to a place.
int nearest_row(const FieldAxis& axis, double place) {
  int best = 0;
  for (int i = 1; i < static_cast<int>(axis.size()); ++i)
    if (std::abs(axis.coordinates[i] - place) < std::abs(axis.coordinates[best] - place)) best = i;
  return best;
}

}  // namespace

Judge::Judge(const CaseData& data, const CaseFields& truth, const flow::FlowModelHeader& model,
             const std::vector<double>& spectra_at, Interrupt interrupt)
    : data_(&data), truth_(&truth), spectra_at_(spectra_at), interrupt_(std::move(interrupt)) {
  if (!model.equations.interior.empty()) {
    const auto equations = model.flow_equations();
    const std::vector<std::vector<double>> constants{equations.constants(data.parameters)};
    residuals_ = equations.interior().residuals(constants);
  }
  for (const auto& field : model.fields) deviations_.push_back(field.deviation);
  block_ = {std::max(1, model.refinement[1]), std::max(1, model.refinement[2])};
}

template <class Action>
void Judge::for_frames(const Comm& comm, const Action& action) const {
  together(comm, [&] {
    for (int frame = data_->first; frame < data_->end; ++frame) {
      give_up_if_asked(interrupt_);
      action(frame);
    }
  });
}

std::span<const double> Judge::frame_of(const std::vector<double>& field, int frame) const {
  const std::size_t n = data_->grid.size();
  return std::span(field).subspan((frame - data_->first_held) * n, n);
}

Judgement Judge::judge(const Comm& comm, const CaseFields& fields) const {
  Judgement result;
  result.name = fields.name;
  add_errors(comm, fields, result);
  if (fields.name != "truth") add_shifted_errors(comm, fields, result);
  if (data_->meaning) add_statistics(comm, fields, result);
  add_spectra(comm, fields, result);
  if (residuals_) add_residuals(comm, fields, result);
  return result;
}

std::vector<std::span<const double>> Judge::frames_of(const CaseFields& fields, int frame) const {
  std::vector<std::span<const double>> now;
  for (const auto& field : fields.fields) now.push_back(frame_of(field, frame));
  return now;
}

void Judge::add_errors(const Comm& comm, const CaseFields& fields, Judgement& result) const {
  result.errors.resize(fields.fields.size());
  result.error_sizes.resize(fields.fields.size());
  for (std::size_t f = 0; f < fields.fields.size(); ++f) {
    flow::PointErrors errors;
    double vrmse = 0;
    for_frames(comm, [&](int frame) {
      const auto truth = frame_of(truth_->fields[f], frame), prediction = frame_of(fields.fields[f], frame);
      errors.add(data_->grid, truth, prediction);
      vrmse += flow::vrmse_of_frame(truth, prediction);
      std::vector<double> difference(prediction.begin(), prediction.end());
      for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= truth[i];
      result.error_sizes[f].add(data_->grid, difference);
    });
    auto sums = errors.sums();
    comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
    result.vrmse.push_back(comm.sum(vrmse) / data_->n_frames());
    result.errors[f] = flow::PointErrors::of(sums, comm.maximum(errors.greatest()));
    comm.reduce(std::span<double>(result.error_sizes[f].shares()), Comm::Reduction::sum);
  }
}

void Judge::add_shifted_errors(const Comm& comm, const CaseFields& fields, Judgement& result) const {
  const auto axis = flow::ShiftSearch::axis_of(data_->grid);
  if (!axis) return;
  const flow::ShiftSearch search(data_->grid, *axis);
  std::vector<double> sums(fields.fields.size() + 1, 0);  // squares of each field, and of the shift
  double most = 0;
  for_frames(comm, [&](int frame) {
    const auto found = search.best(frames_of(*truth_, frame), frames_of(fields, frame), deviations_);
    for (std::size_t f = 0; f < found.squares.size(); ++f) sums[f] += found.squares[f];
    sums.back() += found.shift * found.shift;
    most = std::max(most, std::abs(found.shift));
  });
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  for (auto& sum : sums) sum = std::sqrt(sum / data_->n_frames());
  result.shifted = {
      data_->grid.axes()[*axis].name, {sums.begin(), sums.end() - 1}, sums.back(), comm.maximum(most)};
}

void Judge::add_statistics(const Comm& comm, const CaseFields& fields, Judgement& result) const {
  std::vector<flow::FlowSample> own;
  flow::LogHistogram sizes;
  for_frames(comm, [&](int frame) {
    const auto now = frames_of(fields, frame);
    own.push_back(
        flow::flow_sample(data_->grid, now, data_->walls, data_->meaning->roles, data_->meaning->constants));
    sizes.add(data_->grid, flow::divergence(data_->grid, now, data_->walls, data_->meaning->roles));
  });
  comm.reduce(std::span<double>(sizes.shares()), Comm::Reduction::sum);
  result.divergence = std::move(sizes);
  result.samples = comm.all_gather(std::span<const flow::FlowSample>(own));
}

void Judge::add_residuals(const Comm& comm, const CaseFields& fields, Judgement& result) const {
  const int n_equations = residuals_->n_equations();
  const flow::GridResiduals by_differences(data_->grid, data_->held_times(), data_->walls, *residuals_, 0);
  const auto spans = fields.spans();
  const bool exact = !fields.residuals.empty();
  std::vector<double> squares(n_equations, 0), exact_squares(n_equations, 0);
  result.residuals.resize(n_equations);
  std::vector<std::vector<double>> indicators(n_equations);  // [equation][own frame][point]
  for_frames(comm, [&](int frame) {
    const auto now = by_differences.of_frame(frame - data_->first_held, spans);
    for (int e = 0; e < n_equations; ++e) {
      squares[e] += data_->grid.mean(now[e], now[e]);
      const auto shown = exact ? frame_of(fields.residuals[e], frame) : std::span<const double>(now[e]);
      if (exact) exact_squares[e] += data_->grid.mean(shown, shown);
      result.residuals[e].add(data_->grid, shown);
      indicators[e].insert(indicators[e].end(), shown.begin(), shown.end());
    }
  });
  comm.reduce(std::span<double>(squares), Comm::Reduction::sum);
  comm.reduce(std::span<double>(exact_squares), Comm::Reduction::sum);
  for (auto& histogram : result.residuals)
    comm.reduce(std::span<double>(histogram.shares()), Comm::Reduction::sum);
  const auto to_rms = [&](std::vector<double> sums) {
    for (auto& sum : sums) sum = std::sqrt(sum / data_->n_frames());
    return sums;
  };
  result.residual_rms = to_rms(squares);
  if (exact) result.exact_residual_rms = to_rms(exact_squares);
  if (fields.name != "truth")
    calibrate(comm, fields, indicators, exact ? result.exact_residual_rms : result.residual_rms, result);
}

// Residual and error are root mean squares over the same block of a coarse cell: point by point the two lie
// beside each other, not on each other.
void Judge::calibrate(const Comm& comm, const CaseFields& fields,
                      const std::vector<std::vector<double>>& indicators, const std::vector<double>& rms,
                      Judgement& result) const {
  const auto& grid = data_->grid;
  const std::size_t n = grid.size();
  std::vector<double> indicator, error;
  for_frames(comm, [&](int frame) {
    for (int z = 0; z < grid.size(0); z += block_[0])
      for (int x = 0; x < grid.size(1); x += block_[1]) {
        double indicator_square = 0, error_square = 0;
        int count = 0;
        for (int i = z; i < std::min(z + block_[0], grid.size(0)); ++i)
          for (int j = x; j < std::min(x + block_[1], grid.size(1)); ++j, ++count) {
            const std::size_t point = std::int64_t{i} * grid.size(1) + j;
            for (std::size_t e = 0; e < indicators.size(); ++e) {
              const double residual =
                  indicators[e][(frame - data_->first) * n + point] / std::max(rms[e], 1e-300);
              indicator_square += residual * residual / indicators.size();
            }
            for (std::size_t f = 0; f < fields.fields.size(); ++f) {
              const double deviation =
                  (frame_of(fields.fields[f], frame)[point] - frame_of(truth_->fields[f], frame)[point]) /
                  deviations_[f];
              error_square += deviation * deviation / fields.fields.size();
            }
          }
        indicator.push_back(std::sqrt(indicator_square / count));
        error.push_back(std::sqrt(error_square / count));
      }
  });
  const auto all_indicators = comm.all_gather(std::span<const double>(indicator)),
             all_errors = comm.all_gather(std::span<const double>(error));
  result.calibration = flow::calibrate(all_indicators, all_errors);
}

// Spectra are along x where its points allow one, else along z; kinetic energy is (u^2 + w^2)/2 where the
// roles of fields are known.
void Judge::add_spectra(const Comm& comm, const CaseFields& fields, Judgement& result) const {
  const auto& axes = data_->grid.axes();
  const int axis = flow::LineSpectrum::possible(axes[1]) ? 1 : flow::LineSpectrum::possible(axes[0]) ? 0 : -1;
  if (axis < 0) return;
  const flow::LineSpectrum spectrum(axes[axis]);
  const auto& other = axes[1 - axis];
  std::vector<double> places = spectra_at_;
  if (places.empty()) places.push_back(0.5 * (other.lower + other.upper));
  struct Quantity {
    std::string name;
    std::vector<int> fields;
    double factor;
  };
  std::vector<Quantity> quantities;
  if (data_->meaning) {
    const auto& roles = data_->meaning->roles;
    quantities.push_back({"kinetic_energy", {roles.velocity.begin(), roles.velocity.end()}, 0.5});
    if (roles.scalar >= 0) quantities.push_back({data_->fields[roles.scalar], {roles.scalar}, 1});
  } else {
    for (int f = 0; f < std::ssize(data_->fields); ++f) quantities.push_back({data_->fields[f], {f}, 1});
  }
  for (const auto& quantity : quantities)
    for (const double place : places) {
      const int row = nearest_row(other, place);
      const double of_coarse = data_->coarse.axes[1 + axis].size();
      SpectrumSeries series{
          quantity.name, other.coordinates[row], {}, std::numbers::pi * of_coarse / axes[axis].length(), {}};
      for (int mode = 0; mode < spectrum.n_modes(); ++mode)
        series.wavenumbers.push_back(spectrum.wavenumber(mode));
      std::vector<double> own;
      for_frames(comm, [&](int frame) {
        std::vector<double> sum(spectrum.n_modes(), 0);
        for (const int f : quantity.fields) {
          const auto values = frame_of(fields.fields[f], frame);
          std::vector<double> line;
          for (int i = 0; i < data_->grid.size(axis); ++i)
            line.push_back(axis == 1 ? values[row * data_->grid.size(1) + i]
                                     : values[i * data_->grid.size(1) + row]);
          const auto power = spectrum.power(line);
          for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += quantity.factor * power[k];
        }
        own.insert(own.end(), sum.begin(), sum.end());
      });
      series.power = comm.all_gather(std::span<const double>(own));
      result.spectra.push_back(std::move(series));
    }
}

}  // namespace quintet::meshfreeflow
