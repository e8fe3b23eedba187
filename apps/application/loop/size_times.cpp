#include "apps/application/loop/size_times.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

constexpr double piece_s = 2e-3;
constexpr double lost = 0.4;  ///< of the best rate: below it, and once more, the answer is behind us
constexpr std::int64_t most_looks = 10;  ///< the best of them says whether to go on: one may be disturbed
constexpr std::int64_t most_steps = 1 << 16, least_pieces = 3, most_pieces = 1 << 12;

/// Seconds of a step in a piece of n steps, the same on all ranks.
double piece(const Comm& comm, const SizeQuestion& question, const SizedCase& one, std::int64_t n) {
  one.step();
  comm.barrier();
  const double start = question.clock();
  for (std::int64_t i = 0; i < n; ++i) one.step();
  comm.barrier();
  return comm.maximum(question.clock() - start) / n;
}

/// A case in the making: how many steps a piece has, how many pieces a round.
struct Running {
  SizedCase one;
  SizeTimes times;
  std::int64_t steps = 1, pieces = least_pieces;
};

std::int64_t count(double wanted, std::int64_t least, std::int64_t most) {
  return std::clamp<double>(std::ceil(wanted), least, most);
}

Running start(const Comm& comm, const SizeSeries& series, const std::vector<std::int64_t>& size,
              const SizeQuestion& question) {
  Running running{.one = series.make(size), .times = {.size = size}};
  running.times.work = running.one.work;
  const double rough =
      std::min(piece(comm, question, running.one, 1), piece(comm, question, running.one, series.least_steps));
  running.steps = count(piece_s / rough, series.least_steps, most_steps);
  running.pieces = count(question.seconds / (rough * running.steps), least_pieces, most_pieces);
  return running;
}

/// All sizes, largest first; `end`: why the series ends.
std::vector<Running> start_all(const Comm& comm, const SizeSeries& series, const SizeQuestion& question,
                               std::string& end) {
  std::vector<Running> all;
  double best = 0;
  int n_lost = 0;
  for (auto size = series.largest; !size.empty(); size = halved(size)) {
    const auto name = fmt::format("{}=[{}]", series.key, fmt::join(size, ","));
    try {
      all.push_back(start(comm, series, size, question));
    } catch (const InputError& error) {
      if (all.empty()) throw;
      end = fmt::format("{}: {}", name, error.what());
      return all;
    }
    auto& last = all.back();
    double least = std::numeric_limits<double>::infinity();
    const auto n_looks = std::min<std::int64_t>(most_looks, last.pieces);
    for (std::int64_t i = 0; i < n_looks; ++i)
      least = std::min(least, piece(comm, question, last.one, last.steps));
    const double rate = last.one.work / least;
    best = std::max(best, rate);
    n_lost = rate < lost * best ? n_lost + 1 : 0;
    if (n_lost == 2) return all;
  }
  end = fmt::format("{}: all are 1", series.key);
  return all;
}

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::int64_t> halved(std::vector<std::int64_t> size) {
  const auto largest = std::max_element(size.begin(), size.end());
  if (largest == size.end() || *largest <= 1) return {};
  *largest = (*largest + 1) / 2;
  return size;
}

SizeSeriesTimes measure_sizes(const Comm& comm, const SizeSeries& series, const SizeQuestion& question) {
  SizeSeriesTimes result{.unit = series.unit, .ranks = comm.size()};
  auto all = start_all(comm, series, question, result.end);
  for (int round = 0; round < question.rounds; ++round) {
    std::int64_t most = 0;
    for (auto& running : all) {
      running.times.step_s.push_back(std::numeric_limits<double>::infinity());
      most = std::max(most, running.pieces);
    }
    // Each size's pieces spread over the whole round.
    for (std::int64_t turn = 0; turn < most; ++turn)
      for (auto& running : all)
        if ((turn + 1) * running.pieces / most > turn * running.pieces / most) {
          auto& least = running.times.step_s.back();
          least = std::min(least, piece(comm, question, running.one, running.steps));
        }
  }
  for (auto& running : all) result.sizes.push_back(std::move(running.times));
  return result;
}

Tree to_tree(const SizeSeriesTimes& times) {
  Tree sizes = Tree::list();
  for (const auto& one : times.sizes) {
    Tree size = Tree::list(), step_s = Tree::list();
    for (const auto n : one.size) size.append(Tree::integer(n));
    for (const auto seconds : one.step_s) step_s.append(Tree::number(seconds));
    sizes.append(Tree::map(
        {{"size", std::move(size)}, {"work", Tree::number(one.work)}, {"step_s", std::move(step_s)}}));
  }
  return Tree::map({{"format", Tree::text("quintet-size-times")},
                    {"unit", Tree::text(times.unit)},
                    {"end", Tree::text(times.end)},
                    {"ranks", Tree::integer(times.ranks)},
                    {"sizes", std::move(sizes)}});
}

SizeSeriesTimes size_times_of(const Tree& tree) {
  QUINTET_CHECK(tree.is_map() && tree.has("format") && tree.at("format").as_text() == "quintet-size-times",
                "{}: expected times of sizes", tree.location().text());
  SizeSeriesTimes times{.unit = tree.at("unit").as_text(),
                        .end = tree.at("end").as_text(),
                        .ranks = static_cast<int>(tree.at("ranks").as_integer())};
  for (const auto& one : tree.at("sizes").items()) {
    SizeTimes size{.size = {}, .work = one.at("work").as_number(), .step_s = {}};
    for (const auto& n : one.at("size").items()) size.size.push_back(n.as_integer());
    for (const auto& seconds : one.at("step_s").items()) size.step_s.push_back(seconds.as_number());
    times.sizes.push_back(std::move(size));
  }
  QUINTET_CHECK(!times.sizes.empty(), "{}: times of no size", tree.location().text());
  return times;
}

}  // namespace quintet
