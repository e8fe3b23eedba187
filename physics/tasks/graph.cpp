#include "physics/tasks/graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "physics/tasks/hash.hpp"

namespace quintet::tasks {
namespace {

using Points = std::vector<int>;
using Edges = Points (*)(const GraphOptions&, int set, int point);

/// first ... last inside the graph.
Points range(const GraphOptions& o, int first, int last) {
  Points points;
  for (int p = std::max(0, first); p <= std::min(o.width - 1, last); ++p) points.push_back(p);
  return points;
}

Points wrapped(const GraphOptions& o, Points points) {
  for (int& p : points) p = (p % o.width + o.width) % o.width;
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

Points none(const GraphOptions&, int, int) { return {}; }
Points itself(const GraphOptions&, int, int i) { return {i}; }
Points everybody(const GraphOptions& o, int, int) { return range(o, 0, o.width - 1); }
Points beside(const GraphOptions& o, int, int i) { return range(o, i - 1, i + 1); }
Points around(const GraphOptions& o, int, int i) { return wrapped(o, {i - 1, i, i + 1}); }
Points left(const GraphOptions& o, int, int i) { return range(o, i - 1, i); }
Points right(const GraphOptions& o, int, int i) { return range(o, i, i + 1); }
Points parent(const GraphOptions&, int, int i) { return {i / 2}; }
Points children(const GraphOptions& o, int, int i) {
  return i < o.width - i ? range(o, 2 * i, 2 * i + 1) : Points{};
}
Points wings(const GraphOptions& o, int set, int i) {
  Points points;
  for (const int p : {i - (1 << set), i, i + (1 << set)})
    if (0 <= p && p < o.width) points.push_back(p);
  return points;
}
Points nearest(const GraphOptions& o, int, int i) {
  return o.radix == 0 ? Points{} : range(o, i - o.radix / 2, i + (o.radix - 1) / 2);
}
Points nearest_back(const GraphOptions& o, int, int i) {
  return o.radix == 0 ? Points{} : range(o, i - (o.radix - 1) / 2, i + o.radix / 2);
}

/// j W / k, moved by the set except for j = 0.
int stride(const GraphOptions& o, int set, int j) {
  return static_cast<int>(std::int64_t{j} * o.width / o.radix) + (j > 0 ? set : 0);
}
Points spread(const GraphOptions& o, int set, int i) {
  Points points;
  for (int j = 0; j < o.radix; ++j) points.push_back((i + stride(o, set, j)) % o.width);
  return wrapped(o, std::move(points));
}
Points spread_back(const GraphOptions& o, int set, int i) {
  Points points;
  for (int j = 0; j < o.radix; ++j) points.push_back(i - stride(o, set, j) % o.width);
  return wrapped(o, std::move(points));
}

/// Whether the random patterns keep the edge from `from` (step t - 1) to `to` (step t).
bool is_kept(const GraphOptions& o, int set, int from, int to) {
  return from == to || uniform(std::array<std::int64_t, 5>{0, o.radix, set, from, to}) < o.fraction;
}
template <Edges edges>
Points random(const GraphOptions& o, int set, int i) {
  Points points = edges(o, set, i);
  std::erase_if(points, [&](int from) { return !is_kept(o, set, from, i); });
  return points;
}
template <Edges edges>
Points random_back(const GraphOptions& o, int set, int i) {
  Points points = edges(o, set, i);
  std::erase_if(points, [&](int to) { return !is_kept(o, set, i, to); });
  return points;
}

Window all(const GraphOptions& o, int) { return {0, o.width}; }
Window wave(const GraphOptions& o, int t) {
  return {std::max(0, t + o.width - o.steps), std::min({o.width, t + 1, o.steps - t})};
}
Window growth(const GraphOptions& o, int t) { return {0, t < 30 ? std::min(o.width, 1 << t) : o.width}; }

int one(const GraphOptions&) { return 1; }
int log2_width(const GraphOptions& o) {
  return std::max<int>(1, std::bit_width(static_cast<unsigned>(o.width - 1)));
}
/// The longest period of spread that does not come back to edges it had.
int longest_period(const GraphOptions& o) { return o.radix > 0 ? (o.width + o.radix - 1) / o.radix : 1; }
int period(const GraphOptions& o) { return o.period > 0 ? o.period : 3; }
int period_of_spread(const GraphOptions& o) {
  return o.period > 0 ? o.period : std::min(3, longest_period(o));
}

struct PatternRow {
  Pattern value;
  const char *name, *doc;
  Edges needs, needed_by;
  Window (*window)(const GraphOptions&, int step);
  int (*n_sets)(const GraphOptions&);
};

constexpr PatternRow rows[] = {
    {Pattern::trivial, "trivial", "nothing", none, none, all, one},
    {Pattern::no_comm, "no_comm", "i itself", itself, itself, all, one},
    {Pattern::stencil_1d, "stencil_1d", "i - 1, i, i + 1", beside, beside, all, one},
    {Pattern::stencil_1d_periodic, "stencil_1d_periodic", "the same, first and last being neighbours", around,
     around, all, one},
    {Pattern::dom, "dom", "i - 1, i: a wave that runs through the points", left, right, wave, one},
    {Pattern::tree, "tree", "i / 2; min(W, 2^t) points at step t", parent, children, growth, one},
    {Pattern::fft, "fft", "i - 2^s, i, i + 2^s with s = (t - 1) mod ceil(log2 W)", wings, wings, all,
     log2_width},
    {Pattern::all_to_all, "all_to_all", "all points", everybody, everybody, all, one},
    {Pattern::nearest, "nearest", "the k points around i", nearest, nearest_back, all, one},
    {Pattern::spread, "spread", "k points spread over the width, moving with t", spread, spread_back, all,
     period_of_spread},
    {Pattern::random_nearest, "random_nearest", "a random share of nearest, and i", random<nearest>,
     random_back<nearest_back>, all, period},
    // The reference declares it and aborts; this is its rule of random_nearest on spread.
    {Pattern::random_spread, "random_spread", "a random share of spread, and i (our own definition)",
     random<spread>, random_back<spread_back>, all, period_of_spread},
};

bool is_spread(Pattern pattern) { return pattern == Pattern::spread || pattern == Pattern::random_spread; }

}  // namespace

void describe(Schema& schema, GraphOptions& o) {
  schema.choice("pattern", o.pattern, choices_of(rows), "Which points of the step before a point needs");
  schema.integer("width", o.width, "Points of a step").at_least(1).at_most(1 << 20);
  schema.integer("steps", o.steps, "Steps of a timed piece").at_least(1).at_most(1 << 30);
  schema.integer("radix", o.radix, "Points that nearest, spread and the random patterns need")
      .at_least(0)
      .at_most(1 << 20);
  schema
      .integer(
          "period", o.period,
          "Steps after which spread and the random patterns repeat; 0: 3, or fewer where spread has fewer")
      .at_least(0)
      .at_most(1 << 20);
  schema.number("fraction", o.fraction, "Share of the points that the random patterns keep")
      .at_least(0)
      .at_most(1);
}

Graph::Graph(const GraphOptions& options) : options_(options) {
  if (is_spread(options.pattern)) {
    QUINTET_CHECK(1 <= options.radix && options.radix <= options.width,
                  "radix: {} points cannot be spread over a width of {}; expected 1 to {}", options.radix,
                  options.width, options.width);
    QUINTET_CHECK(options.period <= longest_period(options),
                  "period: {} is too long: with width {} and radix {}, {} repeats after at most {} steps",
                  options.period, options.width, options.radix, name_of(options.pattern),
                  longest_period(options));
  }
  n_sets_ = row_of(rows, options.pattern).n_sets(options_);
}

Window Graph::window(int step) const {
  return step < 0 ? Window{} : row_of(rows, options_.pattern).window(options_, step);
}
int Graph::set_of(int step) const {
  // The reference's FFT begins its sets at step 1, all others at step 0.
  return (options_.pattern == Pattern::fft ? step + n_sets_ - 1 : step) % n_sets_;
}
std::vector<int> Graph::needs(int set, int point) const {
  return row_of(rows, options_.pattern).needs(options_, set, point);
}
std::vector<int> Graph::needed_by(int set, int point) const {
  return row_of(rows, options_.pattern).needed_by(options_, set, point);
}

std::vector<int> Graph::inputs(int step, int point) const {
  std::vector<int> points = needs(set_of(step), point);
  const Window before = window(step - 1);
  std::erase_if(points, [&](int from) { return !before.has(from); });
  return points;
}

std::int64_t Graph::n_tasks() const {
  std::int64_t n = 0;
  for (int t = 0; t < steps(); ++t) n += window(t).count;
  return n;
}
std::int64_t Graph::n_edges() const {
  std::int64_t n = 0;
  for (int t = 1; t < steps(); ++t) {
    const Window now = window(t);
    for (int i = 0; i < now.count; ++i) n += std::ssize(inputs(t, now.first + i));
  }
  return n;
}

std::vector<std::pair<std::string, std::string>> patterns() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& row : rows) list.emplace_back(row.name, row.doc);
  return list;
}
std::string name_of(Pattern pattern) { return row_of(rows, pattern).name; }

}  // namespace quintet::tasks
