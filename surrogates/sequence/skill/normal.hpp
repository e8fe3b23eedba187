#pragma once

/// Scores of forecasts that are normal distributions N(mean, sd^2).
namespace quintet::sequence {

/// Phi(z), the share of the standard normal distribution below z.
[[nodiscard]] double normal_share(double z);

/// The z below which a share of the standard normal distribution lies: Phi(z) = share, within (0, 1).
[[nodiscard]] double normal_quantile(double share);

/// Continuous ranked probability score of N(mean, sd^2) for what came, y (Gneiting and Raftery 2007):
///
///     sd (z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi)),   z = (y - mean)/sd,
///
/// in the unit of y; |y - mean| where sd is 0. The smaller the better.
[[nodiscard]] double normal_crps(double mean, double sd, double y);

/// Ranked probability score of three categories: (p1 - o1)^2 + (p1 + p2 - o1 - o2)^2, o = 1 for the one that
/// came.
///
/// @param below, not_above probabilities of the first, and of the first and second; @param category 0, 1, 2
[[nodiscard]] double ranked_probability_score(double below, double not_above, int category);

}  // namespace quintet::sequence
