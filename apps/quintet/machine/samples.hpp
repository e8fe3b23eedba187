#pragma once

#include <optional>
#include <string>
#include <vector>

namespace quintet {

/// Result of repeats of one measurement: the best, which others' work disturbs least, and the spread.
struct Sampled {
  double best = 0;    ///< the least time or the highest rate
  double spread = 0;  ///< (max - min)/min
};
/// Summarise measured times (best: the least) or rates (best: the highest). Needs one value or more.
[[nodiscard]] Sampled best_time(const std::vector<double>& seconds);
[[nodiscard]] Sampled best_rate(const std::vector<double>& rates);

/// Time of a message of one size.
struct MessageTime {
  double bytes = 0, seconds = 0;
};

/// Latency and inverse bandwidth of Hockney's model, t(m) = alpha + beta m.
struct LinkFit {
  double alpha = 0;       ///< (s)
  double beta = 0;        ///< (s/B)
  double mean_error = 0;  ///< mean of |fit/t - 1| over the sizes
};
/// The fit of least squares of the relative errors, sum ((alpha + beta m)/t - 1)^2, neither being negative:
/// sizes from bytes to megabytes count alike. Throws InputError with fewer than two sizes.
/// Source: R. W. Hockney, Parallel Computing 20, 389 (1994), eq. 1.
[[nodiscard]] LinkFit fit_link(const std::vector<MessageTime>& times);

/// Processor time of a moment, of this node: by all processes, taken by other guests, and by the ranks that
/// measure.
struct ProcessorTime {
  double all = 0;     ///< (s) spent by all processes of the node
  double stolen = 0;  ///< (s) the hypervisor gave to others
  double ours = 0;    ///< (s) spent by this process
};
[[nodiscard]] ProcessorTime processor_time();

/// Why not to rely on what was measured in between, or "": others used more than a tenth of a core, or the
/// hypervisor took more than 2 % of the time. `ours` are summed over the ranks of the node.
[[nodiscard]] std::string busy_remark(const ProcessorTime& before, const ProcessorTime& after, double wall_s);

}  // namespace quintet
