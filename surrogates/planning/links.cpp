#include "surrogates/planning/links.hpp"

#include <cmath>

#include "io/log/error.hpp"

namespace quintet::planning {

Links::Links(std::vector<Tier> tiers) : tiers_(std::move(tiers)) {
  double reached = 0;
  for (const auto& [most_ranks, link] : tiers_) {
    QUINTET_CHECK(most_ranks > reached,
                  "links: a level for groups of up to {:g} ranks follows one of up to {:g}; expected rising "
                  "numbers, from near to far",
                  most_ranks, reached);
    QUINTET_CHECK(link.alpha >= 0 && link.beta >= 0 && std::isfinite(link.alpha + link.beta),
                  "links: alpha = {:g} s, beta = {:g} s/B; expected times", link.alpha, link.beta);
    reached = most_ranks;
  }
}

Link Links::among(double n_ranks) const {
  for (const auto& [most_ranks, link] : tiers_)
    if (n_ranks <= most_ranks) return link;
  QUINTET_CHECK(!tiers_.empty(),
                "links: no time of a message is known; 'quintet machine --calibrate' measures");
  throw InputError(fmt::format("links: {:g} ranks are more than the widest level reaches ({:g})", n_ranks,
                               tiers_.back().most_ranks));
}

Traffic ring_all_reduce(double p, double bytes) { return {2 * (p - 1), 2 * (p - 1) * bytes / p}; }

Traffic ring_all_gather(double p, double bytes) { return {p - 1, (p - 1) * bytes / p}; }

Traffic tree_all_reduce(double p, double bytes) {
  const double rounds = std::ceil(std::log2(p));
  return {rounds, rounds * bytes};
}

Traffic point_to_point(double bytes) { return {1, bytes}; }

}  // namespace quintet::planning
