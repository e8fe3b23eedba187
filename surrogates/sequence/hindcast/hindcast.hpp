#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/hindcast/method.hpp"
#include "surrogates/sequence/reference/climatology.hpp"

namespace quintet::sequence {

/// A date at which all methods are fitted anew, and the windows that they then forecast.
struct Origin {
  double date = 0;     ///< of it and later nothing is known to the fit (days since 1800-01-01)
  Rows training;       ///< rows before it
  Windows windows;     ///< whose last steps seen lie from the last row of training to the next origin
  bool judged = true;  ///< what is forecast has come
};

/// When methods are fitted, and to what.
struct OriginOptions {
  std::string train_from, from, until;
  int every = 1;    ///< years
  int warm_up = 3;  ///< leading origins that teach and are not judged
};
void describe(Schema& schema, OriginOptions& options);

/// The origins of a series: the first days of years. Windows that end after the record, or after
/// `until`, are left out, and so are origins without any. Throws InputError: dates outside the record, less
/// than five years of training, fewer origins than warm_up + 1.
///
/// @param known_until last day behind the modes; without `from` the first origin is after it, and after ten
/// years of record
[[nodiscard]] std::vector<Origin> make_origins(const CoefficientSeries& series, const OriginOptions& options,
                                               const WindowShape& shape, Irregular irregular,
                                               double known_until);
/// One after the record's end: the window that nobody can judge yet.
[[nodiscard]] Origin origin_after(const CoefficientSeries& series, const OriginOptions& options,
                                  const WindowShape& shape, Irregular irregular);

/// The climatology that forecasts are judged about: of all rows from `first` on, whatever was known when.
[[nodiscard]] Climatology verifying_climatology(const CoefficientSeries& series, int first,
                                                ClimatologyOptions options);

/// Leading `n` rows of a series.
[[nodiscard]] CoefficientSeries leading_rows(const CoefficientSeries& series, int n);

/// Fit a method to what is known at an origin, and forecast its windows. The fit is given no row at or after
/// the origin, and each forecast no row after the last step that its window sees.
///
/// NaN, and a warning, where the method cannot be fitted or its climatology does not hold.
[[nodiscard]] Predictive forecast_from(const Method& method, const CoefficientSeries& series,
                                       const Origin& origin, Irregular irregular);

/// What all methods forecast after one origin, in the coefficients of the modes of that origin.
struct OriginForecasts {
  Origin origin;
  int modes = 0;
  std::vector<double> truth;        ///< [n, out, modes]
  std::vector<double> normal;       ///< [n, out, modes] of the verifying climatology
  std::vector<Predictive> methods;  ///< [methods]
  /// Products of errors of coefficients, [modes, modes], of each measure; the first: all points.
  std::vector<std::vector<double>> grams;
  std::vector<std::vector<double>> indices;  ///< [modes] of a measure that is an index; empty: all points
  [[nodiscard]] int out() const { return origin.windows.shape.out; }
};

/// The series of an origin, and how its coefficients are measured.
struct OriginSeries {
  CoefficientSeries series;
  std::vector<std::vector<double>> grams, indices;
  std::shared_ptr<const SeaNodes> sea{};  ///< nodes of its modes; null: no networks are of a graph
};

/// Forecasts after all origins, an origin a step; methods are shared out over the ranks, which learn together
/// what takes long (Method::learn). A Stepper.
///
/// Each method's numbers follow from the series alone, so that they are the same, to the bit, on any number
/// of ranks and after any restart. Ranks share out the nodes of networks of a graph: these are the same to
/// the bit on the same number of ranks, else to round-off.
class HindcastRun {
 public:
  /// @param series_of of an origin (collective): the same each time, or of modes that were fitted before it
  /// @param verification the climatology that anomalies are judged about
  HindcastRun(const Comm& comm, std::vector<Origin> origins, std::vector<Method> methods, Irregular irregular,
              ClimatologyOptions verification, std::function<OriginSeries(const Origin&)> series_of);

  void advance();
  [[nodiscard]] std::int64_t step() const { return done_.size(); }
  [[nodiscard]] std::int64_t last_step() const { return origins_.size(); }
  [[nodiscard]] bool finished() const { return done_.size() == origins_.size(); }
  /// Group `hindcast`. Collective.
  void save(hdf5::Group& root) const;
  /// Go on from there. Collective. Throws InputError for other origins or methods.
  void restore(const hdf5::Group& root);

  [[nodiscard]] const std::vector<OriginForecasts>& done() const { return done_; }
  [[nodiscard]] const std::vector<Method>& methods() const { return methods_; }

 private:
  void verify(OriginForecasts& result, const CoefficientSeries& series) const;
  /// Method with the fit that it has learned for the next origin, from its series. Collective.
  [[nodiscard]] Method with_learned(std::size_t k, const OriginSeries& own);

  /// Fit that a method has learned at an origin.
  struct LearnedFit {
    std::size_t origin = 0;
    Fit fit;
  };

  Comm comm_;
  std::vector<Origin> origins_;
  std::vector<Method> methods_;
  Irregular irregular_;
  ClimatologyOptions verification_;
  std::function<OriginSeries(const Origin&)> series_of_;
  std::vector<OriginForecasts> done_;
  std::map<std::size_t, LearnedFit> learned_;  ///< by method
};

}  // namespace quintet::sequence
