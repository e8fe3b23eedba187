#pragma once

#include <ATen/core/Tensor.h>

#include "io/parallel/comm_fwd.hpp"

namespace quintet::flow {

/// Code that sweeps over the numbers of a normalisation.
enum class NormSweeps {
  ours,  ///< loops of this project, on the host: the same bits on any number of threads
  torch  ///< LibTorch's operators, where x is: to round-off the same
};

/// Moments that a normalisation has found of its batch, so that it can be run again.
struct BatchMoments {
  double n = 0;               ///< values of a feature, on all ranks
  at::Tensor mean, variance;  ///< [feature] float64
};

/// Batch normalisation over the samples of all ranks, as one function of torch's autograd:
///
///     y = gamma (x - mean)/sqrt(variance + epsilon) + beta,
///
/// mean and variance over samples and nodes of all ranks, by sums in float64: one reduction of 1 + 2 features
/// numbers forward, one of 2 features backward. The running mean and variance
/// (unbiased) move towards them by `momentum`. Its backward pass is collective, too; all ranks meet their
/// normalisations in the same order since they run the same graph. Gradients of gamma and beta are this
/// rank's share. Source: Ioffe and Szegedy 2015 (ICML).
/// @param x [sample, feature, t, z, x] @param gamma, beta [feature]
/// @param running_mean, running_variance [feature] float64, updated in place
/// @param moments null, or where to keep what was found. What is there is taken in place of the batch's: the
/// same call once more gives the same bits, sends nothing and leaves the running statistics alone
/// All tensors are where x is, on a GPU with NormSweeps::torch; sums of several ranks go through the host.
/// Throws InputError if there is one value a feature only: it would leave nothing of x.
[[nodiscard]] at::Tensor batch_norm_over_ranks(const Comm& comm, const at::Tensor& x, const at::Tensor& gamma,
                                               const at::Tensor& beta, at::Tensor running_mean,
                                               at::Tensor running_variance, double momentum, double epsilon,
                                               BatchMoments* moments = nullptr,
                                               NormSweeps sweeps = NormSweeps::ours);

/// Normalise by the running mean and variance in place of the batch's.
[[nodiscard]] at::Tensor batch_norm_by_running(const at::Tensor& x, const at::Tensor& gamma,
                                               const at::Tensor& beta, const at::Tensor& running_mean,
                                               const at::Tensor& running_variance, double epsilon);

}  // namespace quintet::flow
