#include "apps/submatrix/plan/sizes.hpp"

#include <memory>

#include "apps/submatrix/input/basis.hpp"
#include "apps/submatrix/input/system.hpp"
#include "io/log/error.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

SubmatrixOptions step_options(const EvaluateOptions& options) {
  SubmatrixOptions step;
  step.threshold = options.method.thresholds.front();
  step.kernel = options.method.kernel;
  step.single_precision = options.method.single_precision;
  step.polynomial_error = options.method.polynomial_error;
  step.newton_schulz_order = options.method.newton_schulz_order;
  step.columns_together = 1;
  step.memory_bytes = options.method.memory.value_or(0);
  step.mu = options.ensemble.mu;
  step.temperature = thermal_energy(options.temperature);
  return step;
}

}  // namespace

SizeSeries sizes(Context& context, const EvaluateOptions& options) {
  QUINTET_CHECK(!options.matrices.repeat.empty(),
                "matrices.repeat is missing: it says how large the box is, and smaller ones are made of it");
  QUINTET_CHECK(
      options.ensemble.mu && !options.matrices.kohn_sham_down,
      "a number of electrons is that of one box: boxes of all sizes need ensemble.mu, and one spin");
  QUINTET_CHECK(options.device == Device::cpu, "device: only boxes on the cpu are timed");
  const auto step = step_options(options);
  const auto of_column = std::make_shared<double>(0);  // operations, in the largest box
  const auto make = [&context, options, step, of_column](const std::vector<std::int64_t>& repeat) {
    MatricesOptions matrices = options.matrices;
    matrices.repeat = repeat;
    System system = read_system(context, matrices, options.blocks);
    share_by_cost(system, step);
    const auto basis = std::make_shared<Basis>(make_basis(
        system, step.threshold, false, [] { return false; }, nullptr));
    const double operations = evaluate_submatrices(basis->a, step).flops;
    if (*of_column == 0) *of_column = operations / system.blocking().n_blocks();
    return SizedCase{.work = operations / *of_column,
                     .step = [basis, step] { static_cast<void>(evaluate_submatrices(basis->a, step)); }};
  };
  return {
      .key = "matrices.repeat", .unit = "block columns", .largest = options.matrices.repeat, .make = make};
}

}  // namespace quintet::submatrix
