#include "apps/podlstm/hindcast/indices.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "apps/podlstm/setup/sea_map.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/sequence/reference/dense_algebra.hpp"

namespace quintet::podlstm {

namespace {

struct SignedBox {
  double sign;
  std::vector<double> latitudes, longitudes;
};
struct IndexRow {
  const char *name, *title;
  std::vector<SignedBox> boxes;  ///< empty: of the pattern
};

const std::vector<IndexRow>& index_rows() {
  static const std::vector<IndexRow> rows = {
      {"nino34", "Niño 3.4", {{1, {-5, 5}, {190, 240}}}},
      {"nino3", "Niño 3", {{1, {-5, 5}, {210, 270}}}},
      {"nino4", "Niño 4", {{1, {-5, 5}, {160, 210}}}},
      {"nino12", "Niño 1+2", {{1, {-10, 0}, {270, 280}}}},
      {"dmi", "DMI", {{1, {-10, 10}, {50, 70}}, {-1, {-10, 0}, {90, 110}}}},
      {"pdo", "PDO", {}}};
  return rows;
}

/// Mean of each mode over a box; none where it has no sea.
std::optional<std::vector<double>> box_means(const ocean::OceanModes& modes, const SkillRegion& box) {
  const auto weights = weights_in(modes, box);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(total > 0)) return std::nullopt;
  std::vector<double> means;
  for (int m = 0; m < modes.n_modes(); ++m)
    means.push_back(
        std::inner_product(weights.begin(), weights.end(), modes.modes.begin() + m * modes.n_points(), 0.0) /
        total);
  return means;
}

std::optional<std::vector<double>> index_of_boxes(const ocean::OceanModes& modes,
                                                  const std::vector<SignedBox>& boxes) {
  std::vector<double> sum(modes.n_modes(), 0.0);
  for (const auto& box : boxes) {
    const auto means = box_means(modes, {"", box.latitudes, box.longitudes});
    if (!means) return std::nullopt;
    for (std::size_t m = 0; m < sum.size(); ++m) sum[m] += box.sign * (*means)[m];
  }
  return sum;
}

// With B(x, m) = mode_m(x) - its global mean, H = B^T W B over the North Pacific and C the covariance of
// anomalies = S S^T, patterns are B S v, v an eigenvector of S^T H S; the index a^T H S v, in units of its
// standard deviation.
std::optional<std::vector<double>> pdo_of(const ocean::OceanModes& modes,
                                          const std::vector<double>& anomalies) {
  const auto weights = weights_in(modes, {"", {20, 70}, {110, 260}});
  const auto middle = box_means(modes, {"", {35, 45}, {160, 200}});
  const auto global = box_means(modes, {"", {-90, 90}, {0, 360}});
  if (!middle || !global) return std::nullopt;
  const int n = modes.n_modes();
  const auto points = modes.n_points();
  std::vector<double> h(std::int64_t{n} * n, 0.0), c(h.size(), 0.0);
  for (std::size_t x = 0; x < points; ++x)
    for (int i = 0; weights[x] > 0 && i < n; ++i)
      for (int j = 0; j < n; ++j)
        h[i * n + j] += weights[x] * (modes.modes[i * points + x] - (*global)[i]) *
                        (modes.modes[j * points + x] - (*global)[j]);
  const auto times = static_cast<int>(anomalies.size()) / n;
  c = sequence::transposed_product(anomalies, anomalies, times, n, n);
  for (double& value : c) value /= times;
  const auto eigen = sequence::symmetric_eigen(c, n);
  std::vector<double> s(h.size());
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      s[i * n + k] = eigen.vectors[i * n + k] * std::sqrt(std::max(0.0, eigen.values[k]));
  const auto hs = sequence::product(h, s, n, n, n);
  const auto leading = sequence::symmetric_eigen(sequence::transposed_product(s, hs, n, n, n), n);
  std::vector<double> g(n, 0.0), pattern(n, 0.0);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      const double v = leading.vectors[k * n + n - 1];  // of the largest value
      g[i] += hs[i * n + k] * v;
      pattern[i] += s[i * n + k] * v;
    }
  double variance = 0, in_middle = 0;
  for (int i = 0; i < n; ++i) {
    in_middle += ((*middle)[i] - (*global)[i]) * pattern[i];
    for (int j = 0; j < n; ++j) variance += g[i] * c[i * n + j] * g[j];
  }
  if (!(variance > 0)) return std::nullopt;
  for (double& value : g) value /= (in_middle > 0 ? -1 : 1) * std::sqrt(variance);
  return g;
}

}  // namespace

const std::vector<std::string>& index_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& row : index_rows()) all.emplace_back(row.name);
    return all;
  }();
  return names;
}

std::vector<SeaIndex> indices_of(const ocean::OceanModes& modes, const std::vector<std::string>& names,
                                 const std::vector<SkillRegion>& boxes,
                                 const std::vector<double>& anomalies) {
  std::vector<SeaIndex> indices;
  if (!modes.has_fields()) return indices;
  for (const auto& row : index_rows()) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) continue;
    const bool pattern = row.boxes.empty();
    const auto weights = pattern ? pdo_of(modes, anomalies) : index_of_boxes(modes, row.boxes);
    if (weights)
      indices.push_back({row.title, pattern ? "standard deviations" : short_unit(modes.units), *weights});
    else
      log::warning("index {}: a box of it has no sea here; it is left out", row.name);
  }
  for (const auto& box : boxes) {
    QUINTET_CHECK(box.latitudes[0] < box.latitudes[1] && box.longitudes[0] < box.longitudes[1],
                  "region {}: edges run from south to north and from west to east (add 360 to the east edge "
                  "of a box across Greenwich)",
                  box.name);
    const auto weights = box_means(modes, box);
    if (weights)
      indices.push_back({box.name, short_unit(modes.units), *weights});
    else
      log::warning("region {}: none of its points is sea; it is left out", box.name);
  }
  return indices;
}

}  // namespace quintet::podlstm
