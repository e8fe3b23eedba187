#include "apps/quintet/bench/quiet.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include <fmt/format.h>

#include "io/log/counted.hpp"
#include "physics/kernels/core_rate.hpp"

namespace quintet::bench {
namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// CPU seconds of this process and of those that it has waited for.
double job_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage use{};
    getrusage(who, &use);
    for (const timeval& t : {use.ru_utime, use.ru_stime}) sum += t.tv_sec + 1e-6 * t.tv_usec;
  }
  return sum;
}

constexpr double least_share = 0.97, least_slots = 0.9, most_of_node = 0.05, most_stolen = 0.02;

}  // namespace

std::string objection(const Quiet& quiet) {
  // Whatever runs now and then takes a few per cent of a core.
  const double most_others = std::max(0.1, most_of_node * quiet.cores);
  if (quiet.own_share < least_share)
    return fmt::format("a rank got {:.0f} % of a core's time: more runs here than there are cores",
                       100 * quiet.own_share);
  if (quiet.others_cores > most_others)
    return fmt::format("other programs use {:.1f} of {}", quiet.others_cores, counted(quiet.cores, "core"));
  if (quiet.stolen_cores > most_stolen)
    return fmt::format("other virtual machines take {:.2f} of {}", quiet.stolen_cores,
                       counted(quiet.cores, "core"));
  if (quiet.slots_share < least_slots)
    return fmt::format("a neighbour on the same core leaves {:.0f} % of its slots of issue",
                       100 * quiet.slots_share);
  return "";
}

Quiet look_around(const Comm& comm) {
  constexpr double seconds = 0.5;
  comm.barrier();
  const Watch watch(comm);
  const double cpu = cpu_seconds(), wall = wall_seconds();
  std::vector<double> shares;
  while (wall_seconds() < wall + seconds)
    shares.push_back(Bracket<double>::share_of_slots(measure_core<double>()));
  const double share = (cpu_seconds() - cpu) / (wall_seconds() - wall);
  Quiet quiet = watch.look();
  quiet.own_share = comm.minimum(share);
  const auto middle =
      shares.begin() + std::ssize(shares) / 2;  // the least would be that of a single interrupt
  std::nth_element(shares.begin(), middle, shares.end());
  quiet.slots_share = comm.minimum(*middle);
  return quiet;
}

Watch::Watch(const Comm& comm)
    : comm_(comm), use_(core_use()), cpu_s_(job_seconds()), wall_s_(wall_seconds()) {}

Quiet Watch::look() const {
  Quiet quiet;
  quiet.cores = std::max<int>(1, std::thread::hardware_concurrency());
  const auto use = core_use();
  const double own = comm_.node().sum(job_seconds() - cpu_s_), wall = wall_seconds() - wall_s_;
  if (use && use_) {
    quiet.others_cores = std::max(0.0, (use->used - use_->used - own) / wall);
    quiet.stolen_cores = (use->stolen - use_->stolen) / wall;
  }
  quiet.others_cores = comm_.maximum(quiet.others_cores);
  quiet.stolen_cores = comm_.maximum(quiet.stolen_cores);
  return quiet;
}

}  // namespace quintet::bench
