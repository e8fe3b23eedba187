#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/report/report_fwd.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/forecast/forecast_model.hpp"
#include "surrogates/sequence/forecast/validity.hpp"
#include "surrogates/sequence/reference/references.hpp"
#include "surrogates/sequence/skill/comparison.hpp"

namespace quintet::podlstm {

/// A model and all references on the same windows.
struct Judgement {
  std::vector<double> truth;
  sequence::SampleShape shape;
  sequence::Contender ours;                     ///< mean of the ensemble
  std::vector<sequence::Contender> members;     ///< its networks one by one, where there are several
  std::vector<sequence::Contender> references;  ///< from climatology on
  std::vector<double> normal;      ///< the climatology of all anomalies; empty: none can be fitted or holds
  std::vector<std::string> leaks;  ///< that go with every table
  std::string period;              ///< "142 windows, 2012-02-26 to 2014-12-28"
};

/// Compute what each reference that is not left out, fitted to the rows and windows of training, forecasts
/// for the windows: NaN, and a warning, where it cannot be fitted or its climatology does not hold for them.
/// `between` is called before each; what it throws is thrown.
[[nodiscard]] Judgement judge_references(const ocean::OceanModes& modes, const sequence::Windows& windows,
                                         const sequence::FitData& fit,
                                         const sequence::ReferenceOptions& references,
                                         const std::function<void()>& between = {});
/// Beside them what the model forecasts, and what leaks. Collective.
void add_ours(const Comm& comm, Judgement& judgement, const sequence::ForecastModel& model,
              const ocean::OceanModes& modes, const sequence::Windows& windows, sequence::Purpose purpose);

/// A judgement in a metric, with its bootstrap.
class Verdicts {
 public:
  /// @param block windows of a bootstrap block; @param unit of errors
  /// @param truncation what the modes leave out in that metric: errors and R2 are then of whole fields
  Verdicts(const Judgement& judgement, sequence::Metric metric, int block, std::string unit,
           sequence::Truncation truncation = {});

  /// Tables and curves: errors of ours, its members and all references with errors of theirs, gains with
  /// verdicts, per lead; before them what all leads together give.
  void report(Report& report) const;
  /// Sum up the judgement in lines for the log.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// Numbers for summary.json, keys beginning with `prefix`.
  void summarise(Context& context, const std::string& prefix) const;
  [[nodiscard]] sequence::Score ours() const { return comparison_.score(ours_); }
  /// None where the reference is left out.
  [[nodiscard]] std::optional<sequence::Gain> gain_over(const std::string& reference) const;
  /// "+0.0095 ± 0.0020 degC: better" for a headline, or "-".
  [[nodiscard]] std::string gain_text(const std::string& reference) const;
  /// RMSE of what the modes leave out alone; whole fields only.
  [[nodiscard]] double truncation_rmse() const { return comparison_.truncation_rmse(); }

 private:
  void report_all_leads(Report& report) const;
  void report_scores(Report& report) const;
  void report_gains(Report& report) const;
  void plot(Report& report) const;
  /// "forecast", (all leads,) lead 1 ...
  [[nodiscard]] std::vector<std::string> lead_header(const std::string& first, bool all) const;
  [[nodiscard]] std::string errors_caption() const;
  [[nodiscard]] std::string leaks_caption() const;
  /// Whether R2 is the paper's, of coefficients; else it is of the metric's own series.
  [[nodiscard]] bool of_coefficients() const;
  [[nodiscard]] sequence::Estimate r2_of(const sequence::Score& score) const;
  [[nodiscard]] sequence::Estimate r2_of(const sequence::Gain& gain) const;
  [[nodiscard]] std::string r2_name() const { return of_coefficients() ? "R2 (paper)" : "R2"; }
  [[nodiscard]] std::string r2_meaning() const;
  [[nodiscard]] std::string place() const;  ///< "all points", "Nino 3.4, whole fields"
  [[nodiscard]] std::vector<const sequence::Sampled*> everybody() const;

  const Judgement& judgement_;
  sequence::Comparison comparison_;
  std::string unit_;
  sequence::Sampled ours_;
  std::vector<sequence::Sampled> members_, references_;
};

}  // namespace quintet::podlstm
