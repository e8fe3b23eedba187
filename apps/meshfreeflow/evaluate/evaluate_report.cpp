#include "apps/meshfreeflow/evaluate/evaluate_report.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/report/statistics.hpp"
#include "io/log/counted.hpp"

namespace quintet::meshfreeflow {
namespace {

using Series = std::vector<double>;
using Table = std::vector<std::vector<std::string>>;

std::string number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4g}", value); }

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// In deviations of the truth; "-" where that does not vary.
std::string ratio(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4f}", value); }

std::string mean_text(const Series& series) { return text_with_error(estimate_mean(series), ""); }

/// "3.21 (0.94)": 100 NMAE and R^2.
std::string score_text(const flow::SeriesScore& score) {
  return std::isnan(score.r2) ? number(100 * score.nmae)
                              : fmt::format("{:.3g} ({:.3f})", 100 * score.nmae, score.r2);
}

/// A statistic of a flow as a function of a frame's numbers.
struct StatisticRow {
  std::string key, text;
  std::function<double(const flow::FlowSample&)> value;
  bool of_the_nine;
};

std::vector<StatisticRow> rows_of(double viscosity) {
  std::vector<StatisticRow> rows;
  for (const auto& one : flow::turbulence_statistics())
    rows.push_back({one.key, fmt::format("{} = {}", one.sign, one.text),
                    [&one, viscosity](const auto& sample) {
                      return one.value(sample, viscosity, flow::space_turbulence);
                    },
                    true});
  for (const auto& one : flow::balance_statistics())
    rows.push_back({one.key, one.text, [&one](const auto& sample) { return sample.*one.value; }, false});
  return rows;
}

Series series_of(const StatisticRow& row, const Judgement& judgement) {
  Series series;
  for (const auto& sample : judgement.samples) series.push_back(row.value(sample));
  return series;
}

std::vector<std::string> header_of(const JudgedCase& judged, std::vector<std::string> first,
                                   bool with_truth) {
  for (std::size_t k = with_truth ? 0 : 1; k < judged.judgements.size(); ++k)
    first.push_back(judged.judgements[k].name + (judged.judgements[k].seen.empty() ? "" : " (seen)"));
  return first;
}

class CaseReport {
 public:
  CaseReport(Context& context, const JudgedCase& judged, std::string prefix)
      : context_(context), judged_(judged), prefix_(std::move(prefix)) {}

  void statistics() {
    if (judged_.viscosity == 0) return;
    const auto& truth = judged_.judgements.front();
    Table nine, others;
    std::vector<double> r2_sums(judged_.judgements.size(), 0);
    int n_r2 = 0;
    hdf5::Group group = context_.results().root().group(judged_.name);
    group.write<double>("time", judged_.times, {judged_.times.size()}, {"1", {"frame"}, "Time"});
    for (const auto& row : rows_of(judged_.viscosity)) {
      const auto known = series_of(row, truth);
      if (std::isnan(known.front())) continue;
      std::vector<std::string> cells{row.text, mean_text(known)};
      const bool counts = row.of_the_nine && !std::isnan(flow::series_score(known, known).r2);
      n_r2 += counts ? 1 : 0;
      for (std::size_t k = 0; k < judged_.judgements.size(); ++k) {
        const auto& one = judged_.judgements[k];
        const auto series = series_of(row, one);
        group.group(one.name).write<double>(row.key, series, {series.size()}, {"1", {"frame"}, row.text});
        if (k == 0) continue;
        const auto score = flow::series_score(known, series);
        cells.push_back(row.of_the_nine ? score_text(score) : mean_text(series));
        if (counts) r2_sums[k] += score.r2;  // the denominator is the truth's: all have one, or none
        if (row.of_the_nine) {
          summarise(one.name + "_nmae100_" + row.key, 100 * score.nmae, "100 sum|p - t|/sum|t| over frames");
          summarise(one.name + "_r2_" + row.key, score.r2, "over frames");
        } else {
          summarise(one.name + "_" + row.key, estimate_mean(series).mean, "mean over frames");
        }
      }
      summarise("truth_" + row.key, estimate_mean(known).mean, "mean over frames");
      (row.of_the_nine ? nine : others).push_back(cells);
    }
    const auto energy = estimate_mean(series_of(rows_of(judged_.viscosity).front(), truth));
    const double independent = truth.samples.size() / energy.correlation;
    summarise("independent_samples", independent, "frames over the correlation time of the kinetic energy");
    for (std::size_t k = 1; k < judged_.judgements.size(); ++k)
      if (n_r2 > 0)
        summarise(judged_.judgements[k].name + "_r2_mean", r2_sums[k] / n_r2,
                  "mean over the nine statistics");
    context_.report().table(
        header_of(judged_, {"statistic", "truth, mean"}, false), nine,
        fmt::format("100 NMAE and (R²) of each statistic's series over {}, {:.2g} independent ones. NMAE: "
                    "sum of |prediction - truth| over sum of |truth|. Constants of three dimensions (a = "
                    "2/3, b = 15, c = π/2); in the plane (1, 8, 2) u_rms is {:.4f}, λ {:.4f}, L {:.4f} times "
                    "what stands here, and NMAE and R² are the same.",
                    counted(truth.samples.size(), "frame"), independent, std::sqrt(1.5),
                    std::sqrt(8.0 / 15 * 1.5), 2 / flow::space_turbulence.integral / 1.5));
    context_.report().table(
        header_of(judged_, {"balance", "truth"}, false), others,
        "Means over frames; ± is a standard error, where there are enough independent frames.");
    add_curve(truth, "nusselt_volume", "Nu of the volume");
    add_curve(truth, "kinetic_energy", "kinetic energy");
  }

  void errors() {
    Table rows;
    for (std::size_t f = 0; f < judged_.fields.size(); ++f) {
      std::vector<std::string> cells{judged_.fields[f],
                                     number(judged_.judgements.front().errors[f].truth_deviation())};
      for (std::size_t k = 1; k < judged_.judgements.size(); ++k) {
        const auto& error = judged_.judgements[k].errors[f];
        cells.push_back(fmt::format("{} ({:.2g})", ratio(error.scaled()), error.greatest()));
        summarise(judged_.judgements[k].name + "_error_" + judged_.fields[f], error.scaled(),
                  "rms error over the deviation of the truth");
      }
      rows.push_back(cells);
    }
    context_.report().table(header_of(judged_, {"field", "deviation of the truth"}, false), rows,
                            "Root mean square error over the deviation of the truth, and (greatest error).");
    vrmse();
    shifted_errors();
    for (std::size_t f = 0; f < judged_.fields.size(); ++f)
      histogram("error_" + judged_.fields[f], "Errors of " + judged_.fields[f], "|error|", false,
                [f](const Judgement& one) { return &one.error_sizes[f]; });
  }

  /// Report errors by the protocol of The Well's tables.
  void vrmse() {
    Table rows;
    std::vector<double> sums(judged_.judgements.size());
    for (std::size_t f = 0; f < judged_.fields.size(); ++f) {
      std::vector<std::string> cells{judged_.fields[f]};
      for (std::size_t k = 1; k < judged_.judgements.size(); ++k) {
        const auto& one = judged_.judgements[k];
        cells.push_back(ratio(one.vrmse[f]));
        sums[k] += one.vrmse[f] / judged_.fields.size();
        summarise(one.name + "_vrmse_" + judged_.fields[f], one.vrmse[f],
                  "as The Well defines it, mean over frames");
      }
      rows.push_back(cells);
    }
    std::vector<std::string> cells{"mean"};
    for (std::size_t k = 1; k < judged_.judgements.size(); ++k) {
      cells.push_back(ratio(sums[k]));
      summarise(judged_.judgements[k].name + "_vrmse", sums[k], "mean over fields");
    }
    rows.push_back(cells);
    context_.report().table(
        header_of(judged_, {"VRMSE"}, false), rows,
        "As The Well defines it: of each frame the root mean square error over the deviation within "
        "the frame, all points alike; then the mean over frames.");
  }

  /// Report the errors of what a flow that may drift looks like, wherever it is.
  void shifted_errors() {
    if (judged_.judgements.size() < 2 || !judged_.judgements[1].shifted) return;
    const std::string axis = judged_.judgements[1].shifted->axis;
    Table rows;
    for (std::size_t f = 0; f < judged_.fields.size(); ++f) {
      std::vector<std::string> cells{judged_.fields[f]};
      const double deviation = judged_.judgements.front().errors[f].truth_deviation();
      for (std::size_t k = 1; k < judged_.judgements.size(); ++k) {
        const auto& one = judged_.judgements[k];
        const double scaled = one.errors[f].varies() ? one.shifted->rms[f] / deviation : not_a_number;
        cells.push_back(fmt::format("{} ({})", ratio(scaled), ratio(one.errors[f].scaled())));
        summarise(one.name + "_error_shifted_" + judged_.fields[f], scaled,
                  "rms error over the deviation of the truth, after the best shift of each frame");
      }
      rows.push_back(cells);
    }
    std::vector<std::string> cells{"shift along " + axis + ", rms (most)"};
    for (std::size_t k = 1; k < judged_.judgements.size(); ++k) {
      const auto& one = judged_.judgements[k];
      cells.push_back(fmt::format("{:.2g} ({:.2g})", one.shifted->shift_rms, one.shifted->shift_most));
      summarise(one.name + "_shift_rms", one.shifted->shift_rms,
                "of the frames along " + axis + ", where they fit best");
    }
    rows.push_back(cells);
    context_.report().table(
        header_of(judged_, {"field"}, false), rows,
        fmt::format("Nothing fixes a place along {0}: errors after each frame, all its fields together, was "
                    "moved along {0} to where it fits the truth best, and (where it is), in deviations of "
                    "the truth. Much less after the shift: right but for having drifted.",
                    axis));
  }

  void divergence() {
    histogram(
        "divergence", "Divergence of the velocity", "|div u|", true,
        [](const Judgement& one) { return one.divergence ? &*one.divergence : nullptr; },
        "By finite differences on the truth's grid, which leave something of the truth, too.");
  }

  void residuals() {
    if (judged_.equations.empty()) return;
    Table rows;
    for (std::size_t e = 0; e < judged_.equations.size(); ++e) {
      std::vector<std::string> cells{judged_.equations[e]};
      for (const auto& one : judged_.judgements) {
        const bool exact = !one.exact_residual_rms.empty();
        cells.push_back(exact ? fmt::format("{:.3g} ({:.3g})", one.exact_residual_rms[e], one.residual_rms[e])
                              : fmt::format("({:.3g})", one.residual_rms[e]));
        if (exact)
          summarise(one.name + "_residual_" + judged_.equations[e], one.exact_residual_rms[e],
                    "rms, by the decoder's derivatives");
        summarise(one.name + "_residual_differences_" + judged_.equations[e], one.residual_rms[e],
                  "rms, by finite differences on the truth's grid");
      }
      rows.push_back(cells);
    }
    context_.report().table(
        header_of(judged_, {"equation"}, true), rows,
        "Root mean square residuals by the decoder's own derivatives, and (by finite differences in "
        "space and time on the truth's grid, which leave something of the truth, too).");
    for (std::size_t e = 0; e < judged_.equations.size(); ++e)
      histogram("residual_" + judged_.equations[e], "Residuals of " + judged_.equations[e], "|residual|",
                true, [e](const Judgement& one) { return &one.residuals[e]; });
  }

  // An indicator is of use if large residuals lie where errors are large: rank correlation, and the share of
  // the squared error in the worst tenth.
  void calibration() {
    Table rows;
    Plot plot;
    plot.title = "What the residual says about the error";
    plot.x_label = "residual of a block, in its rms";
    plot.y_label = "true error, in deviations of the training data";
    plot.log_x = plot.log_y = true;
    plot.caption = "Blocks of a coarse cell in order of their residual, in ten classes.";
    for (const auto& one : judged_.judgements) {
      if (!one.calibration || one.calibration->classes.empty()) continue;
      const auto& c = *one.calibration;
      rows.push_back({one.name, fmt::format("{:.3f}", c.rank_correlation),
                      fmt::format("{:.0f} %", 100 * c.found), fmt::format("{:.0f} %", 100 * c.to_be_found)});
      summarise(one.name + "_indicator_rank_correlation", c.rank_correlation,
                "of residual and true error, by blocks");
      summarise(one.name + "_indicator_found", c.found,
                "share of the squared error in the tenth with largest residual");
      Curve curve{one.name, {}, {}, true};
      for (const auto& [indicator, error] : c.classes) curve.x.push_back(indicator), curve.y.push_back(error);
      plot.curves.push_back(curve);
    }
    if (rows.empty()) return;
    context_.report().table(
        {"prediction", "rank correlation", "found", "could be found"}, rows,
        "The residual as error indicator: correlation of ranks with the true error over blocks; share "
        "of the squared error in the tenth of the blocks with the largest residual (10 %: it says "
        "nothing), and in the tenth with the largest error.");
    context_.report().plot(plot);
  }

  /// Errors of a mean spectrum by its logarithm: where the coarse grid resolves, and beyond.
  void summarise_errors(const std::string& spectrum, const Judgement& one, const SpectrumSeries& series,
                        const Series& truth, const Series& prediction) {
    const double limit = series.coarse_limit * (1 + 1e-9);
    const auto add = [&](const char* key, const flow::WavenumberRange& range, const char* text) {
      const double error = flow::spectrum_log_error(series.wavenumbers, truth, prediction, range);
      if (!std::isnan(error))
        summarise(fmt::format("{}_spectrum_error_{}_{}", one.name, key, spectrum), error,
                  fmt::format("mean |ln(E/E of the truth)|, wavenumbers {}", text));
    };
    add("resolved", {0, limit}, "that the coarse grid resolves");
    add("beyond", {limit, std::numeric_limits<double>::infinity()},
        "beyond those of the coarse grid, where the truth has a millionth of its power");
  }

  // Frames are correlated in time: the band is the standard error of the mean by the number of independent
  // frames.
  void spectra() {
    for (std::size_t s = 0; s < judged_.judgements.front().spectra.size(); ++s) {
      const auto& truth = judged_.judgements.front().spectra[s];
      Plot plot;
      plot.title = fmt::format("Spectrum of {} at {:.3g}", truth.quantity, truth.place);
      plot.x_label = "wavenumber";
      plot.y_label = "power a mode";
      plot.log_x = plot.log_y = true;
      double fewest = judged_.times.size();
      Series means_of_truth;
      std::string right, laws;
      flow::WavenumberRange middle{};
      bool errors_known = true;
      for (const auto& one : judged_.judgements) {
        const auto& series = one.spectra[s];
        const std::size_t n_modes = series.wavenumbers.size(), n_frames = judged_.times.size();
        Curve mean{one.name, {}, {}}, low{"", {}, {}, false, true}, high{"", {}, {}, false, true};
        Series means, errors, counts;
        for (std::size_t k = 0; k < n_modes; ++k) {
          Series of_mode;
          for (std::size_t frame = 0; frame < n_frames; ++frame)
            of_mode.push_back(series.power[frame * n_modes + k]);
          const auto estimate = estimate_mean(of_mode);
          means.push_back(estimate.mean), errors.push_back(estimate.error);
          counts.push_back(n_frames / estimate.correlation);
          if (k == 0) continue;
          mean.x.push_back(series.wavenumbers[k]), mean.y.push_back(estimate.mean);
          if (one.name != "truth") continue;
          fewest = std::min(fewest, counts.back());
          errors_known = errors_known && !std::isnan(estimate.error);
          low.x.push_back(series.wavenumbers[k]), low.y.push_back(estimate.mean - estimate.error);
          high.x.push_back(series.wavenumbers[k]), high.y.push_back(estimate.mean + estimate.error);
        }
        plot.curves.push_back(mean);
        // the truth comes first: all are fitted where it has its middle
        if (one.name == "truth") middle = flow::middle_third(series.wavenumbers, means);
        const auto law = flow::fit_power_law(series.wavenumbers, means, middle);
        if (!std::isnan(law.exponent))
          laws += fmt::format(
              "{} {} k^{:.2f}",
              laws.empty() ? fmt::format(" Between {:.3g} and {:.3g}:", middle.from, middle.to) : ",",
              one.name, law.exponent);
        if (one.name == "truth") {
          means_of_truth = means;
          if (!std::isnan(law.exponent)) {
            Curve line{fmt::format("k^{:.2f}", law.exponent), {middle.from, middle.to}, {}, false, true};
            // above the curve, so that both are seen
            for (const double k : line.x) line.y.push_back(2 * law.factor * std::pow(k, law.exponent));
            plot.curves.push_back(line);
          }
        } else {
          constexpr double tolerance = 0.2;
          const double most = flow::right_up_to(series.wavenumbers, means_of_truth, means, tolerance);
          summarise(fmt::format("{}_spectrum_right_to_{}_{}", one.name, truth.quantity, s), most,
                    fmt::format("wavenumber up to which all of the spectrum is right to 20 %, of {:.4g}",
                                series.wavenumbers.back()));
          summarise_errors(fmt::format("{}_{}", truth.quantity, s), one, truth, means_of_truth, means);
          right += fmt::format("{} {} to {:.3g}", right.empty() ? " Right to 20 %:" : ",", one.name, most);
        }
        if (one.name == "truth") plot.curves.push_back(low), plot.curves.push_back(high);
        auto group = context_.results()
                         .root()
                         .group(judged_.name)
                         .group(one.name)
                         .group(fmt::format("spectrum_{}_{}", truth.quantity, s));
        group.write<double>("wavenumber", series.wavenumbers, {n_modes}, {"1", {"mode"}, "Wavenumber"});
        group.write<double>("power", means, {n_modes}, {"1", {"mode"}, "Mean over frames"});
        group.write<double>("error", errors, {n_modes},
                            {"1", {"mode"}, "Standard error of the mean; NaN: too few frames"});
        group.write<double>("independent_samples", counts, {n_modes},
                            {"1", {"mode"}, "Frames over correlation time"});
        group.set_attribute("place", series.place);
        group.set_attribute("exponent", law.exponent);  // NaN: too few modes
      }
      plot.caption = fmt::format(
          "{}; at least {:.2g} independent ones at each wavenumber of the truth. The coarse grid resolves "
          "wavenumbers up to {:.4g}, the truth's up to {:.4g}. {}{}{}",
          counted(judged_.times.size(), "frame"), fewest, truth.coarse_limit, truth.wavenumbers.back(),
          errors_known ? "Dashed: one standard error of the truth."
                       : "Dashed: one standard error of the truth, where there are enough frames.",
          right.empty() ? "" : right + ".", laws.empty() ? "" : laws + ".");
      context_.report().plot(plot);
    }
  }

 private:
  void summarise(const std::string& key, double value, const std::string& meaning) {
    if (std::isfinite(value)) context_.summarise(prefix_ + key, value, meaning);
  }

  /// A histogram of each judgement as a curve of one plot, and in run.h5.
  template <class Histogram>
  void histogram(const std::string& key, const std::string& title, const std::string& label, bool with_truth,
                 const Histogram& of, const std::string& caption = "") {
    Plot plot;
    plot.title = title;
    plot.x_label = label;
    plot.y_label = "share of the area a decade";
    plot.log_x = true;
    plot.caption = caption;
    for (std::size_t k = with_truth ? 0 : 1; k < judged_.judgements.size(); ++k) {
      const auto& one = judged_.judgements[k];
      const flow::LogHistogram* const sizes = of(one);
      if (sizes == nullptr) return;
      const auto density = sizes->density();
      Curve curve{one.name, {}, {}};
      Series middles;
      for (int i = 0; i < flow::LogHistogram::n_classes; ++i) {
        middles.push_back(flow::LogHistogram::middle(i));
        if (density[i] > 0) curve.x.push_back(middles.back()), curve.y.push_back(density[i]);
      }
      plot.curves.push_back(curve);
      auto group = context_.results().root().group(judged_.name).group(one.name).group("histogram_" + key);
      group.write<double>("size", middles, {middles.size()}, {"1", {"class"}, "Middle of a class, " + label});
      group.write<double>(
          "density", density, {density.size()},
          {"1", {"class"}, "Share of area and frames a decade of size; integral over decades 1"});
      summarise(one.name + "_" + key + "_median", sizes->quantile(0.5),
                label + " below which half of the area lies");
    }
    context_.report().plot(plot);
  }

  void add_curve(const Judgement& truth, const std::string& key, const std::string& label) {
    for (const auto& row : rows_of(judged_.viscosity)) {
      if (row.key != key || std::isnan(row.value(truth.samples.front()))) continue;
      Plot plot;
      plot.title = label + " over time";
      plot.x_label = "time";
      plot.y_label = label;
      for (const auto& one : judged_.judgements)
        plot.curves.push_back({one.name, judged_.times, series_of(row, one)});
      context_.report().plot(plot);
    }
  }

  Context& context_;
  const JudgedCase& judged_;
  std::string prefix_;
};

}  // namespace

void report_case(Context& context, const JudgedCase& judged, const std::string& prefix) {
  CaseReport report(context, judged, prefix);
  report.errors();
  report.statistics();
  report.divergence();
  report.residuals();
  report.calibration();
  report.spectra();
}

}  // namespace quintet::meshfreeflow
