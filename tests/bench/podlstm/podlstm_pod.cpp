#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/core_rate.hpp"
#include "physics/kernels/random.hpp"
#include "physics/ocean/svd/background.hpp"
#include "physics/ocean/svd/svd.hpp"
#ifdef QUINTET_WITH_SLEPC
#include "io/log/counted.hpp"
#include "physics/solvers/lanczos_svd.hpp"
#include "physics/solvers/petsc_subsystem.hpp"
#endif

/// The leading singular triplets of a matrix as large as NOAA's weekly record (44 219 sea points, 1 914
/// weeks): our ways beside those of numpy and scipy on the same numbers, one thread each.
///
/// The matrix: 30 random patterns, the singular values of the paper's five and a tail 500 (6/k) under them,
/// plus white noise of 0.25 degC, means taken off. CPU time of the process, the least of the repeats; for
/// several ranks (mpirun) the longest of the ranks', beside one rank with the whole matrix in the same run.
/// See --help.
namespace quintet::ocean {
namespace {

struct Arguments {
  int points = 44219, times = 1914, modes = 5, repeats = 3;
  std::string python = QUINTET_PYTHON, ways = "svds eigh eigsh", only;
};

/// Rows [first, first + n) of the record, the same on any number of ranks.
TallMatrix record(const Arguments& a, int first, int n) {
  constexpr int patterns = 30;
  constexpr double papers[] = {7351.583, 1488.039, 1401.043, 978.536, 681.055}, noise = 0.25;
  const auto random = [](std::uint32_t stream, int i, int j) {
    double x = 0, unused = 0;
    normal_pair(1, stream, i, j, x, unused);
    return x;
  };
  SmallMatrix weeks(patterns, a.times), ones(a.times, 1);
  for (int k = 0; k < patterns; ++k)
    for (int t = 0; t < a.times; ++t) weeks.at(k, t) = random(1, t, k);
  std::fill(ones.values.begin(), ones.values.end(), 1.0);
  TallMatrix left(n, patterns);
  for (int p = 0; p < n; ++p)
    for (int k = 0; k < patterns; ++k)
      left.row(p)[k] = random(2, first + p, k) * (k < 5 ? papers[k] : 500.0 * 6 / (k + 1)) /
                       std::sqrt(static_cast<double>(a.points) * a.times);
  auto x = product(left, weeks);
  for (int p = 0; p < n; ++p)
    for (int t = 0; t < a.times; t += 2) {
      double one = 0, other = 0;
      normal_pair(1, 3, first + p, t, one, other);
      x.row(p)[t] += noise * one;
      if (t + 1 < a.times) x.row(p)[t + 1] += noise * other;
    }
  subtract(x, ones, fit_rows(x, ones));
  return x;
}

using Way = std::function<SingularTriplets(const Comm&, const TallMatrix&, int)>;

std::vector<std::pair<std::string, Way>> our_ways(const Arguments& a) {
  std::vector<std::pair<std::string, Way>> ways = {
      {"snapshots", svd_of_snapshots},
      {"randomised", [](const Comm& comm, const TallMatrix& x, int k) { return svd_randomised(comm, x, k); }},
#ifdef QUINTET_WITH_SLEPC
      {"lanczos", lanczos_svd},
#endif
  };
  std::erase_if(ways, [&](const auto& way) { return !a.only.empty() && way.first != a.only; });
  return ways;
}

/// max |U^T U - 1|, |V V^T - 1|, |X v - s u| / s_1: what is left to be wrong.
double worst_error(const Comm& comm, const TallMatrix& x, const SingularTriplets& found) {
  const int k = found.values.size();
  const auto left = gram(comm, found.left);
  double worst = 0;
  SmallMatrix right(x.columns(), k);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) {
      double sum = 0;
      for (int t = 0; t < x.columns(); ++t) sum += found.right.at(i, t) * found.right.at(j, t);
      worst = std::max({worst, std::abs(sum - (i == j ? 1 : 0)), std::abs(left.at(i, j) - (i == j ? 1 : 0))});
    }
  for (int i = 0; i < k; ++i)
    for (int t = 0; t < x.columns(); ++t) right.at(t, i) = found.right.at(i, t);
  auto image = product(x, right);
  for (int p = 0; p < x.rows(); ++p)
    for (int i = 0; i < k; ++i) image.row(p)[i] -= found.values[i] * found.left.row(p)[i];
  return std::max(worst, std::sqrt(sum_of_squares(comm, image)) / found.values[0]);
}

/// Seconds of numpy's and scipy's ways and the singular values that they find.
std::map<std::string, std::vector<double>> peers(const Arguments& a, const TallMatrix& x) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("podlstm_pod_{}.bin", cpu_seconds());
  {
    std::ofstream stream(file, std::ios::binary);
    for (int p = 0; p < x.rows(); ++p)
      stream.write(reinterpret_cast<const char*>(x.row(p)),
                   static_cast<std::streamsize>(sizeof(double)) * x.columns());
  }
  const std::string command =
      fmt::format("OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 OMP_NUM_THREADS=1 {} {} {} {} {} {} {} {}",
                  a.python, QUINTET_PEER, file.string(), x.rows(), x.columns(), a.modes, a.repeats, a.ways);
  std::map<std::string, std::vector<double>> found;
  if (std::FILE* pipe = popen(command.c_str(), "r")) {
    char line[4096];
    while (std::fgets(line, sizeof line, pipe) != nullptr) {
      std::istringstream words(line);
      std::string way;
      words >> way;
      for (double value = 0; words >> value;) found[way].push_back(value);
    }
    pclose(pipe);
  }
  std::filesystem::remove(file);
  return found;
}

void run(const Comm& comm, const Arguments& a) {
  const auto share = [&](int rank) { return static_cast<int>(std::int64_t{a.points} * rank / comm.size()); };
  const auto x = record(a, share(comm.rank()), share(comm.rank() + 1) - share(comm.rank()));
  const bool alone = comm.size() > 1;  // one rank has the whole matrix, too
  const auto whole = alone && comm.is_root() ? record(a, 0, a.points) : TallMatrix();
  std::vector<std::string> rows;
  std::map<std::string, double> ours, slots;  // of each way
  std::vector<double> reference;
  for (const auto& [name, way] : our_ways(a)) {
    double best = HUGE_VAL, best_alone = HUGE_VAL, worst = 0;
    const Bracket<double> bracket;
    for (int repeat = 0; repeat < a.repeats; ++repeat) {
      comm.barrier();
      const double start = cpu_seconds();
      const auto found = way(comm, x, a.modes);
      best = std::min(best, comm.maximum(cpu_seconds() - start));
      if (repeat == 0) worst = worst_error(comm, x, found);
      if (reference.empty()) reference = found.values;
      for (std::size_t m = 0; m < reference.size(); ++m)
        worst = std::max(worst, std::abs(found.values[m] - reference[m]) / reference[0]);
      if (!alone) continue;
      double seconds = 0;
      if (comm.is_root()) {
        const double begin = cpu_seconds();
        static_cast<void>(way(Comm::self(), whole, a.modes));
        seconds = cpu_seconds() - begin;
      }
      best_alone = std::min(best_alone, comm.maximum(seconds));
    }
    ours[name] = best;
    slots[name] = comm.minimum(Bracket<double>::share_of_slots(bracket.close()));
    if (!comm.is_root()) continue;
    fmt::print("ours, {:<11} {:7.2f} s on {}, {:.0f} % of the slots of issue, worst error {:.1e}{}\n", name,
               best, counted(comm.size(), "rank"), 100 * slots[name], worst,
               alone ? fmt::format("; on one rank {:.2f} s: {:.2f} x", best_alone, best_alone / best) : "");
    std::fflush(stdout);
    if (alone)
      rows.push_back(fmt::format(
          R"({{"bench": "podlstm_pod", "case": "{} x {}, {} modes, {}, {} ranks", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "CPU s", "issue_slots": {:.3f}}})",
          a.points, a.times, a.modes, name, comm.size(), best, best_alone, best_alone / best, slots[name]));
  }
  if (!alone && !a.ways.empty()) {
    double fastest = HUGE_VAL;
    for (const auto& [way, numbers] : peers(a, x)) {
      double difference = 0;
      for (std::size_t m = 0; m + 1 < numbers.size() && m < reference.size(); ++m)
        difference = std::max(difference, std::abs(numbers[m + 1] - reference[m]) / reference[0]);
      fmt::print("numpy and scipy, {:<8} {:7.2f} s, singular values within {:.1e} of ours\n", way, numbers[0],
                 difference);
      fastest = std::min(fastest, numbers[0]);
    }
    for (const auto& [name, seconds] : ours)
      if (std::isfinite(fastest))
        rows.push_back(fmt::format(
            R"({{"bench": "podlstm_pod", "case": "{} x {}, {} modes, {}", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "CPU s", "issue_slots": {:.3f}}})",
            a.points, a.times, a.modes, name, seconds, fastest, fastest / seconds, slots[name]));
  }
  if (comm.is_root()) fmt::print("[{}]\n", fmt::join(rows, ", "));
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto text = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    const auto value = [&] { return std::max(1, std::atoi(text().c_str())); };
    if (flag == "--quick")
      a.points = 12000, a.times = 700, a.repeats = 2;
    else if (flag == "--points")
      a.points = value();
    else if (flag == "--times")
      a.times = value();
    else if (flag == "--modes")
      a.modes = value();
    else if (flag == "--repeat")
      a.repeats = value();
    else if (flag == "--method")
      a.only = text();
    else if (flag == "--python")
      a.python = text();
    else if (flag == "--peers")
      a.ways = text();
    else
      throw UsageError(
          "[mpirun -n N] podlstm_pod [--quick] [--points N] [--times N] [--modes N] [--repeat N] [--method "
          "NAME] "
          "[--python FILE (with numpy and scipy)] [--peers 'svd svds propack eigh eigsh']");
  }
  return a;
}

}  // namespace
}  // namespace quintet::ocean

int main(int argc, char** argv) {
  try {
    const auto arguments = quintet::ocean::parse(argc, argv);
    std::vector<quintet::Subsystem> subsystems;
#ifdef QUINTET_WITH_SLEPC
    subsystems.push_back(quintet::petsc_subsystem());
#endif
    const quintet::Runtime runtime(argc, argv, 1, subsystems);
    quintet::ocean::run(runtime.comm(), arguments);
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
