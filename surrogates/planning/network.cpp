#include "surrogates/planning/network.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "io/config/table.hpp"
#include "io/log/error.hpp"

namespace quintet::planning {
namespace {

double product(const std::vector<std::int64_t>& sizes, std::size_t first = 0) {
  double items = 1;
  for (std::size_t d = first; d < sizes.size(); ++d) items *= sizes[d];
  return items;
}

double window(const Layer& layer) { return product(layer.kernel); }
double channels_in(const Layer& layer) { return layer.x.at(0); }
double cells_out(const Layer& layer) { return product(layer.y, 1); }

double weighted(const Layer& layer) {
  return 2 * channels_in(layer) * window(layer) * layer.y_items();  // a product and a sum
}
double pooled(const Layer& layer) { return window(layer) * layer.y_items(); }
double each(const Layer& layer) { return layer.y_items(); }
double normalised(const Layer& layer) { return 4 * layer.x_items(); }
/// Four gates, each of the input and of the layer's own state.
double gated(const Layer& layer) { return 8 * (channels_in(layer) + layer.y.at(0)) * layer.y_items(); }
double none(const Layer&) { return 0; }
double authors_convolution(const Layer& layer) {
  return 2 * channels_in(layer) * layer.y.at(0) * window(layer) * cells_out(layer);
}
double authors_dense(const Layer& layer) { return layer.weights; }
double authors_pool(const Layer& layer) {
  return channels_in(layer) * layer.y.at(0) * window(layer) * cells_out(layer);
}

constexpr LayerKindRow kinds[] = {
    {LayerKind::convolution, "convolution", "2 C K^n |y|", weighted, authors_convolution},
    {LayerKind::dense, "dense", "2 |x| |y|", [](const Layer& l) { return 2 * l.x_items() * l.y_items(); },
     authors_dense},
    {LayerKind::max_pool, "max_pool", "K^n |y|", pooled, authors_pool},
    {LayerKind::average_pool, "average_pool", "K^n |y|", pooled, authors_pool},
    {LayerKind::rectifier, "rectifier", "|y|", each, each},
    {LayerKind::addition, "addition", "|y|", each, each},
    {LayerKind::normalisation, "normalisation", "4 |x|", normalised, normalised},
    {LayerKind::recurrent, "recurrent", "8 (C + F) |y|: four gates", gated, gated},
    {LayerKind::other, "other", "none that counts", none, none},
};

}  // namespace

double Layer::x_items() const { return product(x); }
double Layer::y_items() const { return product(y); }

bool Layer::has_halo() const { return !kernel.empty() && kernel.front() > 1; }

double Layer::halo(const std::vector<std::int64_t>& sizes) const {
  if (!has_halo()) return 0;
  const double rim = (kernel.front() - 1) / 2;
  return rim * sizes.at(0) * product(sizes, 2);
}

std::int64_t Layer::width() const {
  return x.size() < 2 || y.size() < 2 || kind == LayerKind::recurrent ? 1 : std::min(x[1], y[1]);
}

double Layer::meetings() const { return kind == LayerKind::recurrent ? product(y, 1) : 1; }

void count_beside(std::vector<Layer>& layers, const std::vector<std::vector<int>>& reads) {
  QUINTET_ASSERT(reads.size() == layers.size(), "{} layers, {} lists of what they read", layers.size(),
                 reads.size());
  const int n = layers.size();
  std::vector<int> last_reader(layers.size() + 1, -1);  // of x, then of each y
  for (int l = 0; l < n; ++l)
    for (const int from : reads[l]) {
      QUINTET_ASSERT(from >= -1 && from < l, "layer {} reads layer {}", l, from);
      last_reader[from + 1] = l;
    }
  for (int l = 0; l < n; ++l) {
    double items = 0;
    for (int from = -1; from < l; ++from)
      if (last_reader[from + 1] > l) items += from < 0 ? layers.front().x_items() : layers[from].y_items();
    layers[l].beside = items;
  }
}

double Network::weights() const {
  double items = 0;
  for (const auto& layer : layers) items += layer.weights;
  return items;
}

std::span<const LayerKindRow> layer_kinds() { return kinds; }
const LayerKindRow& row_of(LayerKind kind) { return quintet::row_of(kinds, kind); }

std::vector<double> time_shares(const Network& network, bool authors) {
  std::vector<double> shares;
  for (const auto& layer : network.layers) {
    const auto& row = row_of(layer.kind);
    shares.push_back(authors ? 2 * row.authors(layer) + layer.weights : row.flops(layer));
  }
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  QUINTET_CHECK(all > 0, "a network of {} layers has no operations to share its time out by",
                network.layers.size());
  for (auto& share : shares) share /= all;
  return shares;
}

}  // namespace quintet::planning
