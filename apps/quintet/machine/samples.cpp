#include "apps/quintet/machine/samples.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

double spread_of(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return (*most - *least) / *least;
}

double seconds(const timeval& time) { return time.tv_sec + 1e-6 * time.tv_usec; }

}  // namespace

Sampled best_time(const std::vector<double>& seconds) {
  return {*std::min_element(seconds.begin(), seconds.end()), spread_of(seconds)};
}

Sampled best_rate(const std::vector<double>& rates) {
  return {*std::max_element(rates.begin(), rates.end()), spread_of(rates)};
}

LinkFit fit_link(const std::vector<MessageTime>& times) {
  QUINTET_CHECK(times.size() >= 2, "Latency and bandwidth need times of two sizes or more, not {}",
                times.size());
  // With u = 1/t, v = m/t: minimise sum (alpha u + beta v - 1)^2.
  double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;
  for (const auto& time : times) {
    const double u = 1 / time.seconds, v = time.bytes / time.seconds;
    uu += u * u, uv += u * v, vv += v * v, u1 += u, v1 += v;
  }
  const double determinant = uu * vv - uv * uv;
  LinkFit fit;
  if (determinant > 1e-12 * uu * vv) {
    fit.alpha = (u1 * vv - v1 * uv) / determinant;
    fit.beta = (v1 * uu - u1 * uv) / determinant;
  }
  // On the border where one of them would be negative, or both cannot be told apart.
  if (fit.beta < 0 || determinant <= 1e-12 * uu * vv) fit = {u1 / uu, 0, 0};
  if (fit.alpha < 0) fit = {0, v1 / vv, 0};
  for (const auto& time : times)
    fit.mean_error += std::abs((fit.alpha + fit.beta * time.bytes) / time.seconds - 1);
  fit.mean_error /= times.size();
  return fit;
}

ProcessorTime processor_time() {
  ProcessorTime time;
  const double tick = 1.0 / sysconf(_SC_CLK_TCK);
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
  if (file >> cpu >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen) {
    time.all = tick * (user + nice + system + interrupts + soft);
    time.stolen = tick * stolen;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  time.ours = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return time;
}

std::string busy_remark(const ProcessorTime& before, const ProcessorTime& after, double wall_s) {
  constexpr double most_cores_of_others = 0.1, most_stolen = 0.02;
  std::vector<std::string> reasons;
  const double others = (after.all - before.all - (after.ours - before.ours)) / wall_s;
  const double stolen = (after.stolen - before.stolen) / wall_s;
  if (others > most_cores_of_others)
    reasons.push_back(fmt::format("other programs used {:.2f} cores meanwhile", others));
  if (stolen > most_stolen)
    reasons.push_back(fmt::format("the hypervisor gave {:.2f} cores to others meanwhile", stolen));
  return reasons.empty() ? "" : fmt::format("the machine was busy: {}", fmt::join(reasons, ", "));
}

}  // namespace quintet
