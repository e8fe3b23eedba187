#include "apps/podlstm/setup/fit_options.hpp"

namespace quintet::podlstm {

void describe(Schema& schema, CoefficientsOptions& options) {
  schema
      .text("file", options.file,
            "A netCDF file with coefficients over time and the coordinate of their times")
      .required()
      .existing_file();
  schema.text("variable", options.variable, "The coefficients: a variable of (time, mode)");
}

void describe(Schema& schema, FitOptions& options) {
  schema.section("coefficients", options.coefficients,
                 "Coefficients that somebody else has made, without fields");
  schema
      .integer("n_fit", options.n_fit,
               "Leading times from which modes and background are made, or were; absent: what a file of "
               "coefficients "
               "says (n_fit, n_train), else all")
      .at_least(2)
      .at_most(10'000'000);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.coefficients) return std::nullopt;
    return "say what is to be fitted: coefficients";
  });
}

}  // namespace quintet::podlstm
