#include "surrogates/flow/data/splits.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::flow {
namespace {

/// How many of n go to each split.
std::array<int, 3> shares(const SplitOptions& options, int n) {
  const auto share = [&](double part) { return part > 0 ? std::max<int>(1, std::lround(part * n)) : 0; };
  const int validation = share(options.validation), test = share(options.test);
  return {n - validation - test, validation, test};
}

std::array<std::vector<Part>, 3> split_by_run(const std::vector<Run>& runs, const SplitOptions& options) {
  const auto n = shares(options, runs.size());
  QUINTET_CHECK(n[0] > 0,
                "{} none to train on after {} for validation and {} for the test: give more, or "
                "data.split.by: time",
                counted(runs.size(), "sample leaves", "samples leave"), n[1], n[2]);
  std::array<std::vector<Part>, 3> parts;
  std::size_t run = 0;
  for (std::size_t k = 0; k < 3; ++k)
    for (int i = 0; i < n[k]; ++i, ++run) parts[k].push_back({run, 0, runs[run].n_frames});
  return parts;
}

std::array<std::vector<Part>, 3> split_by_time(const std::vector<Run>& runs, const SplitOptions& options,
                                               int crop_frames) {
  std::array<std::vector<Part>, 3> parts;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto n = shares(options, runs[run].n_frames);
    int first = 0;
    for (std::size_t k = 0; k < 3; first += n[k], ++k) {
      if (n[k] == 0 && k > 0) continue;
      QUINTET_CHECK(n[k] >= crop_frames,
                    "{}: the {} split has {} of its {} frames, but data.crop asks for {}; give a "
                    "greater share in data.split, or a smaller crop",
                    runs[run].name, split_names[k], n[k], runs[run].n_frames, crop_frames);
      parts[k].push_back({run, first, n[k]});
    }
  }
  return parts;
}

}  // namespace

std::array<std::vector<Part>, 3> split(const std::vector<Run>& runs, const SplitOptions& options,
                                       int crop_frames) {
  return options.by == SplitBy::sample ? split_by_run(runs, options)
                                       : split_by_time(runs, options, crop_frames);
}

}  // namespace quintet::flow
