#include "surrogates/flow/training/training_options.hpp"

#include "io/config/schema.hpp"
#include "io/config/table.hpp"

namespace quintet::flow {

namespace {

struct NormRow {
  LossNorm value;
  const char* name;
};
constexpr NormRow norms[] = {{LossNorm::l1, "l1"}, {LossNorm::l2, "l2"}};

}  // namespace

void describe(Schema& schema, FlowLossOptions& options) {
  schema.choice("norm", options.norm, choices_of(norms), "Mean |difference| (l1) or mean difference^2 (l2)");
  schema
      .number(
          "gamma", options.gamma,
          "Weight of the equations' residuals beside the normalised fields; 0: derivatives are not formed")
      .at_least(0);
  schema.number("boundary", options.boundary, "Weight of the boundary conditions").at_least(0);
  schema.integer("boundary_points", options.boundary_points, "Random points on each wall of a crop")
      .at_least(1)
      .at_most(1000000);
  schema
      .number(
          "spectral", options.spectral,
          "Weight of the spectra of rows along an equally spaced axis: mean |log(E + floor) - log(E of the "
          "data + floor)| over wavenumbers and fields (l2: its square); 0: no rows are drawn")
      .at_least(0);
  schema.integer("spectral_rows", options.spectral_rows, "Rows of a crop whose mean spectrum is compared")
      .at_least(1)
      .at_most(100000);
  schema
      .number(
          "spectral_floor", options.spectral_floor,
          "Added to the power of a wavenumber, in variances of the field: what has much less does not count")
      .above(0);
}

void describe(Schema& schema, FlowRateOptions& options) {
  const auto kinds = {RateKind::constant, RateKind::exponential, RateKind::plateau};
  schema.choice("schedule", options.schedule, rate_choices(kinds), describe_rates(kinds));
  schema.number("start", options.start, "Rate of the first step").above(0);
  schema.number("factor", options.factor, "What the rate is multiplied by").above(0).at_most(1);
  schema.number("least", options.least, "The rate never falls below").at_least(0);
  schema.integer("interval", options.interval, "Steps in which the rate of the exponential falls by factor")
      .at_least(1);
  schema.integer("patience", options.patience, "Validations of the plateau").at_least(1);
  schema.number("threshold", options.threshold, "A loss lower by this share counts as lower")
      .at_least(0)
      .below(1);
  schema.check([&options]() -> std::optional<std::string> {
    const FlowRateOptions usual;
    if (options.factor != usual.factor && options.schedule == RateKind::constant)
      return "factor is for schedule: exponential or plateau";
    if (options.interval != usual.interval && options.schedule != RateKind::exponential)
      return "interval is for schedule: exponential";
    if ((options.patience != usual.patience || options.threshold != usual.threshold) &&
        options.schedule != RateKind::plateau)
      return "patience and threshold are for schedule: plateau";
    return std::nullopt;
  });
}

}  // namespace quintet::flow
