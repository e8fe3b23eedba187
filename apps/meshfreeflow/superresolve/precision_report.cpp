#include "apps/meshfreeflow/superresolve/precision_report.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "physics/kernels/gemm_bf16.hpp"

namespace quintet::meshfreeflow {

void tell_precision(Context& context, const flow::FlowPredictor& predictor, hdf5::Group& root) {
  if (predictor.precision_check() == nullptr) return;
  flow::PrecisionCheck check = *predictor.precision_check();
  check.combine(context.comm());

  std::vector<double> field_rms, residual_rms;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t f = 0; f < check.field_squares.size(); ++f) {
    field_rms.push_back(check.field_rms(f));
    rows.push_back({predictor.header().fields[f].name, fmt::format("{:.3g}", field_rms.back()),
                    fmt::format("{:.3g}", check.field_largest[f])});
  }
  const auto equations = predictor.equation_names();
  for (std::size_t e = 0; e < equations.size(); ++e) {
    residual_rms.push_back(check.residual_rms(e));
    rows.push_back({"residual of " + equations[e], fmt::format("{:.3g}", residual_rms.back()),
                    fmt::format("{:.3g} (its own units)", check.residual_largest[e])});
  }

  root.set_attribute("precision", "products in bf16, sums in fp32");
  root.set_attribute("precision_points", check.points);
  root.set_attribute("precision_field_rms", field_rms);
  root.set_attribute("precision_field_largest", check.field_largest);
  if (!equations.empty()) {
    root.set_attribute("precision_residual_rms", residual_rms);
    root.set_attribute("precision_residual_largest", check.residual_largest);
  }
  context.summarise("bf16_points", check.points, "points that were decoded in fp32, too");
  context.summarise(
      "bf16_difference_rms", check.worst(),
      "largest rms difference to fp32: of a field over its deviation, of a residual over its rms");
  context.summarise("bf16_difference_largest",
                    *std::max_element(check.field_largest.begin(), check.field_largest.end()),
                    "largest difference of a field to fp32 over its deviation");
  context.headline("bf16 beside fp32", fmt::format("{:.2g}", check.worst()));
  auto& report = context.report();
  report.section("bf16 beside fp32");
  report.paragraph(fmt::format(
      "The decoder's products were made of numbers rounded to bf16 ({}). At {} they were made of "
      "fp32, too. Differences of fields are over the field's standard deviation in training, rms differences "
      "of residuals over the residual's rms.",
      doc_of(bf16_unit()), counted(check.points, "point")));
  report.table({"", "rms", "largest"}, rows);
}

}  // namespace quintet::meshfreeflow
