#include "apps/submatrix/evaluation.hpp"

#include <algorithm>

namespace quintet::submatrix {

using namespace electronic;

std::string kernel_name(SubmatrixKernel kernel) {
  switch (kernel) {
    case SubmatrixKernel::polynomial:
      return "polynomial";
    case SubmatrixKernel::eigen:
      return "eigen";
    case SubmatrixKernel::newton_schulz:
      return "newton_schulz";
    case SubmatrixKernel::automatic:
      break;
  }
  return "automatic";
}

Evaluation summary_of(double threshold, const SubmatrixResult& sign, const DensityResult& density,
                      double density_seconds) {
  const Comm& comm = sign.p.comm;
  Evaluation result;
  result.threshold = threshold;
  result.tr_dk = density.tr_dk;
  result.n_pairs = sign.n_pairs;
  result.n_pairs_of_d = density.n_pairs;
  result.n_pairs_put = sign.n_pairs_put;
  result.n_in_gap = sign.n_in_gap;
  result.mu = sign.mu;
  result.homo = sign.homo;
  result.lumo = sign.lumo;
  result.entropy = sign.entropy;
  result.idempotency = density.idempotency;
  result.commutator = density.commutator;
  result.asymmetry = sign.asymmetry;
  result.blocks =
      static_cast<double>(comm.sum(static_cast<long>(sign.p.n_blocks()))) / sign.p.blocking->n_blocks();
  result.n_mean = sign.n_mean;
  result.n_max = sign.n_max;
  result.degree = sign.degree;
  result.kernel = kernel_name(sign.kernel);
  result.flops = sign.flops;
  result.seconds = comm.maximum(sign.seconds);
  result.predicted_seconds = comm.maximum(sign.predicted_seconds);
  result.density_seconds = comm.maximum(density_seconds);
  return result;
}

std::vector<double> error_estimates(const std::vector<Evaluation>& evaluations) {
  const auto best = std::min_element(evaluations.begin(), evaluations.end(),
                                     [](const auto& a, const auto& b) { return a.threshold < b.threshold; });
  std::vector<double> errors;
  for (const auto& evaluation : evaluations) errors.push_back(evaluation.tr_dk - best->tr_dk);
  return errors;
}

}  // namespace quintet::submatrix
