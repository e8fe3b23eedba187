#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "surrogates/flow/prediction/flow_predictor.hpp"

namespace quintet::flow {

/// Error bars of a model by the members of an ensemble: models of the same fields and data, trained from
/// other seeds. Of K members with values v_k(x), the bar of field f that the model puts at v(x) is
///
///     s(x) = scale_f [ sum_k (v_k(x) - v(x))^2 / K ]^(1/2),
///
/// in the field's units. Where members agree by chance, s is too small at that point. With the scale that
/// flows with a known truth give (scores of ErrorBarScore), s is right in the mean square.
class ErrorBars {
 public:
  /// @param scale [field], or empty for 1
  /// @param each options of each member's prediction; residuals are not formed
  /// Throws InputError for members of other fields, units, offsets or axes than the model's, and as
  /// FlowPredictor does.
  ErrorBars(std::vector<FlowModel> members, const FlowModelHeader& model, const FieldBlock& coarse,
            const std::map<std::string, double>& parameters, const PredictionOptions& each,
            std::vector<double> scale);

  /// @param points [point][axis] @param values [point][field] of the model @param bars [point][field]
  void predict(std::span<const double> points, std::span<const float> values, std::span<float> bars);

  /// Go on with other values on the same nodes, see FlowPredictor::replace().
  void replace(const FieldBlock& coarse);

  [[nodiscard]] double memory() const;        ///< bytes of all members
  [[nodiscard]] double least_memory() const;  ///< bytes that they need at least
  /// In what they go beyond their training, a sentence each.
  [[nodiscard]] std::vector<std::string> doubts() const;

 private:
  std::vector<FlowPredictor> members_;
  std::vector<double> scale_;
  std::vector<float> member_values_;
};

/// How error bars compare with errors, summed over points.
struct ErrorBarScore {
  double points = 0, error_squares = 0, bar_squares = 0, within_one = 0, within_two = 0;

  void add(double error, double bar);
  /// Sums over ranks. Collective.
  void combine(const Comm& comm);
  /// rms of errors over rms of bars: 1 where bars are right, and by what the scale is to be multiplied.
  [[nodiscard]] double ratio() const;
  /// Share of the points with an error within so many (1 or 2) bars; 0.68 and 0.95 for normal errors.
  [[nodiscard]] double within(int bars) const;
};

}  // namespace quintet::flow
