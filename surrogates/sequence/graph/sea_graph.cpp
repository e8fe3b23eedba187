#include "surrogates/sequence/graph/sea_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <tuple>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::sequence {

namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr double least_area = 1e-3;  // as of the modes' own weights: a point at a pole counts a little
constexpr double reach = 2;          // spacings: past one point of land
constexpr int hub_sectors = 8;

using Point = std::array<double, 3>;

Point point_of(double latitude, double longitude) {
  const double north = latitude * degree, east = longitude * degree;
  return {std::cos(north) * std::cos(east), std::cos(north) * std::sin(east), std::sin(north)};
}

double square_distance(const Point& a, const Point& b) {
  double sum = 0;
  for (int d = 0; d < 3; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

/// Largest step of an axis; 0 of a single coordinate.
double widest(const std::vector<double>& axis) {
  double step = 0;
  if (axis.size() < 2) return step;
  std::vector<double> steps;
  for (std::size_t i = 1; i < axis.size(); ++i) steps.push_back(axis[i] - axis[i - 1]);
  std::nth_element(steps.begin(), steps.begin() + steps.size() / 2, steps.end());
  return steps[steps.size() / 2];
}

/// What tells nodes at one distance apart, whatever their numbers.
using Rank = std::tuple<double, double, double>;

class Neighbours {
 public:
  Neighbours(const SeaNodes& nodes, int sectors) : nodes_(nodes), sectors_(sectors) {
    for (int i = 0; i < nodes.size(); ++i) points_.push_back(point_of(nodes.latitude[i], nodes.longitude[i]));
  }
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

  /// Begin with a node.
  void look_from(int i) {
    from_ = i;
    const double north = nodes_.latitude[i] * degree, east = nodes_.longitude[i] * degree;
    to_east_ = {-std::sin(east), std::cos(east), 0};
    to_north_ = {-std::sin(north) * std::cos(east), -std::sin(north) * std::sin(east), std::cos(north)};
    nearest_.assign(sectors_, {{std::numeric_limits<double>::infinity(), 0, 0}, -1});
  }
  void consider(int j) {
    if (j == from_) return;
    double x = 0, y = 0;
    for (int d = 0; d < 3; ++d) {
      x += points_[j][d] * to_east_[d];
      y += points_[j][d] * to_north_[d];
    }
    const double turn = std::atan2(x, y) / (2 * std::numbers::pi);
    const int sector = (static_cast<int>(std::floor(turn * sectors_ + 0.5)) + sectors_) % sectors_;
    const Rank rank{square_distance(points_[from_], points_[j]), nodes_.latitude[j], nodes_.longitude[j]};
    if (rank < nearest_[sector].first) nearest_[sector] = {rank, j};
  }
  template <class Visit>
  void visit(double farthest_square, Visit&& visit) const {
    for (const auto& [rank, j] : nearest_)
      if (j >= 0 && std::get<0>(rank) <= farthest_square) visit(j);
  }

 private:
  const SeaNodes& nodes_;
  int sectors_, from_ = 0;
  std::vector<Point> points_;
  Point to_east_{}, to_north_{};
  std::vector<std::pair<Rank, int>> nearest_;
};

/// Nodes by cubes of a width, which hold the sphere.
class Cubes {
 public:
  Cubes(const std::vector<Point>& points, double width) : width_(width) {
    for (std::size_t i = 0; i < points.size(); ++i) cubes_[cube_of(points[i])].push_back(i);
  }
  /// Visit all nodes within a width of a point, and some beyond.
  template <class Visit>
  void about(const Point& point, Visit&& visit) const {
    const auto [x, y, z] = cube_of(point);
    for (int i = x - 1; i <= x + 1; ++i)
      for (int j = y - 1; j <= y + 1; ++j)
        for (int k = z - 1; k <= z + 1; ++k) {
          const auto found = cubes_.find({i, j, k});
          if (found == cubes_.end()) continue;
          for (const int node : found->second) visit(node);
        }
  }

 private:
  using Cube = std::tuple<int, int, int>;
  [[nodiscard]] Cube cube_of(const Point& point) const {
    const auto place = [&](double x) { return static_cast<int>(std::floor(x / width_)); };
    return {place(point[0]), place(point[1]), place(point[2])};
  }
  double width_;
  std::map<Cube, std::vector<int>> cubes_;
};

/// Hubs, each the farthest from those before it, and each node's nearest hub.
struct Hubs {
  std::vector<int> nodes, nearest;
};
Hubs hubs_of(const SeaNodes& nodes, const std::vector<Point>& points, int n) {
  const auto place = [&](int i) { return std::pair(nodes.latitude[i], nodes.longitude[i]); };
  int next = 0;
  for (int i = 1; i < nodes.size(); ++i)
    if (place(i) < place(next)) next = i;
  Hubs hubs{{}, std::vector<int>(points.size(), -1)};
  std::vector<double> distance(points.size(), std::numeric_limits<double>::infinity());
  while (std::ssize(hubs.nodes) < n) {
    hubs.nodes.push_back(next);
    const int hub = next;
    for (int i = 0; i < nodes.size(); ++i) {
      const double square = square_distance(points[i], points[hub]);
      if (std::pair(square, place(hub)) <
          std::pair(distance[i], hubs.nearest[i] < 0 ? place(hub) : place(hubs.nearest[i]))) {
        distance[i] = square;
        hubs.nearest[i] = hub;
      }
    }
    for (int i = 0; i < nodes.size(); ++i)
      if (std::pair(-distance[i], place(i)) < std::pair(-distance[next], place(next))) next = i;
    if (distance[next] == 0) break;  // two nodes at one place
  }
  return hubs;
}

}  // namespace

SeaNodes sea_nodes(const ocean::OceanModes& modes, int coarsen) {
  QUINTET_CHECK(modes.has_fields(),
                "a graph over the sea needs the modes' grid, but the modes file has coefficients alone; fit "
                "modes of fields (podlstm fit with `fields`), or take network.kind: recurrent");
  QUINTET_CHECK(
      modes.also.empty(),
      "a graph over the sea reads the field of one variable, but the modes file joins {}; fit modes of one "
      "(podlstm fit without fields.also), or take network.kind: recurrent",
      modes.also.size() + 1);
  SeaNodes nodes;
  const std::size_t n_modes = modes.n_modes(), n_points = modes.n_points();
  nodes.n_modes = modes.n_modes();
  nodes.spacing = coarsen * std::max(widest(modes.latitude), widest(modes.longitude));
  const std::size_t n_lat = modes.latitude.size(), n_lon = modes.longitude.size();
  const std::size_t width = coarsen;
  const std::size_t columns = (n_lon + width - 1) / width;
  std::vector<int> box_at(((n_lat + width - 1) / width) * columns, -1);
  std::vector<Point> middle;
  std::size_t x = 0;
  for (std::size_t at = 0; at < modes.mask.size(); ++at) {
    if (modes.mask[at] == 0) continue;
    const std::size_t row = at / n_lon, column = at % n_lon;
    int& box = box_at[row / width * columns + column / width];
    if (box < 0) {
      box = middle.size();
      middle.push_back({});
      nodes.area.push_back(0), nodes.weight.push_back(0);
      nodes.modes.resize(nodes.modes.size() + n_modes, 0.0);
    }
    const double area = std::max(least_area, std::cos(modes.latitude[row] * degree));
    const Point point = point_of(modes.latitude[row], modes.longitude[column]);
    for (int d = 0; d < 3; ++d) middle[box][d] += area * point[d];
    nodes.area[box] += area;
    nodes.weight[box] += modes.weights[x];
    for (std::size_t m = 0; m < n_modes; ++m)
      nodes.modes[box * n_modes + m] += area * modes.modes[m * n_points + x];
    ++x;
  }
  for (std::size_t i = 0; i < middle.size(); ++i) {
    const auto& [east, north, up] = middle[i];
    nodes.latitude.push_back(std::atan2(up, std::hypot(east, north)) / degree);
    nodes.longitude.push_back(std::fmod(std::atan2(north, east) / degree + 360, 360));
    for (std::size_t m = 0; m < n_modes; ++m) nodes.modes[i * n_modes + m] /= nodes.area[i];
  }
  QUINTET_CHECK(
      nodes.size() >= 2,
      "coarsen: {}: boxes of {} x {} points leave {} node of {} points of sea; take a smaller number",
      coarsen, coarsen, coarsen, nodes.size(), n_points);
  return nodes;
}

SeaEdges sea_edges(const SeaNodes& nodes, int neighbours, int mesh) {
  std::vector<std::pair<int, int>> edges;
  const auto join = [&](int i, int j) {
    if (i == j) return;
    edges.emplace_back(i, j);
    edges.emplace_back(j, i);
  };
  Neighbours near(nodes, neighbours);
  const auto& points = near.points();
  const double farthest = 2 * std::sin(std::min(180.0, reach * nodes.spacing) * degree / 2);
  constexpr double round_off = 1 + 1e-9;
  const Cubes cubes(points, std::max(farthest * round_off, 1e-6));
  for (int i = 0; i < nodes.size(); ++i) {
    near.look_from(i);
    cubes.about(points[i], [&](int j) { near.consider(j); });
    near.visit(farthest * farthest * round_off, [&](int j) { join(i, j); });
  }
  if (mesh > 0) {
    const Hubs hubs = hubs_of(nodes, points, std::min(mesh, nodes.size()));
    Neighbours far(nodes, hub_sectors);
    for (const int hub : hubs.nodes) {
      far.look_from(hub);
      for (const int other : hubs.nodes) far.consider(other);
      far.visit(std::numeric_limits<double>::infinity(), [&](int other) { join(hub, other); });
    }
    for (int i = 0; i < nodes.size(); ++i) join(i, hubs.nearest[i]);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  SeaEdges all;
  std::size_t at = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    for (; at < edges.size() && edges[at].first == i; ++at) all.column.push_back(edges[at].second);
    all.row_begin.push_back(std::ssize(all.column));
  }
  return all;
}

OwnedRows rows_of(const Comm& comm, const SeaEdges& edges) {
  OwnedRows own;
  SparseRows& rows = own.rows;
  rows.shares = even_rows(static_cast<int>(edges.row_begin.size()) - 1, comm.size());
  const int first = rows.shares.rank_begin[comm.rank()], last = rows.shares.rank_begin[comm.rank() + 1];
  const auto begin = edges.row_begin[first], end = edges.row_begin[last];
  rows.column.assign(edges.column.begin() + begin, edges.column.begin() + end);
  for (int i = first; i < last; ++i) rows.row_begin.push_back(edges.row_begin[i + 1] - begin);
  own.value.assign(rows.column.size(), 1.0);
  rows.value = own.value.data();
  return own;
}

std::vector<double> on_sphere(const SeaNodes& nodes) {
  std::vector<double> points;
  for (int i = 0; i < nodes.size(); ++i) {
    const Point point = point_of(nodes.latitude[i], nodes.longitude[i]);
    points.insert(points.end(), point.begin(), point.end());
  }
  return points;
}

}  // namespace quintet::sequence
