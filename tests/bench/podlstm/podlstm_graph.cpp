#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/sequence/graph/graph_network.hpp"

/// Seconds of a window in the training of a graph network over a sea as large as NOAA's: 44 219 nodes, 8
/// neighbours, 64 features, 3 convolutions; beside the same network in PyTorch with sparse products
/// (torch_graph.py), and memory a rank. `[mpirun -np N] podlstm_graph [WINDOWS] [REPEATS] [peer|alone]
/// [SPMM] [PRECISION]`, SPMM auto, 1d, sparse_1d, 1.5d, 2d or 3d, PRECISION float64, float32 or both.
///
/// Precisions take turns, then PyTorch; CPU time of each process, the least of the repeats. An epoch of 1400
/// windows is said as 1400 times a window, unless WINDOWS is 1400.
namespace quintet::sequence {
namespace {

constexpr int n_nodes = 44219, n_modes = 5, epoch = 1400;

/// A one-degree sphere with land where there is most of a few waves, as much as leaves so many points.
SeaNodes one_degree_sea() {
  struct Place {
    double height, latitude, longitude;
  };
  std::vector<Place> places;
  constexpr double degree = std::numbers::pi / 180;
  for (int i = 0; i < 180; ++i)
    for (int j = 0; j < 360; ++j) {
      const double lat = -89.5 + i, lon = 0.5 + j;
      places.push_back({std::sin(3 * lon * degree) * std::cos(lat * degree) +
                            0.7 * std::cos(5 * lat * degree) + 0.5 * std::sin((2 * lon + 3 * lat) * degree),
                        lat, lon});
    }
  std::vector<double> heights;
  for (const auto& place : places) heights.push_back(place.height);
  std::nth_element(heights.begin(), heights.begin() + n_nodes, heights.end());
  SeaNodes nodes;
  nodes.n_modes = n_modes, nodes.spacing = 1;
  for (const auto& place : places) {
    if (place.height >= heights[n_nodes]) continue;
    nodes.latitude.push_back(place.latitude), nodes.longitude.push_back(place.longitude);
    nodes.area.push_back(std::cos(place.latitude * degree)), nodes.weight.push_back(1);
    for (int m = 0; m < n_modes; ++m)
      nodes.modes.push_back(std::cos((m + 1) * place.latitude * degree + 0.3 * m) *
                            std::sin((0.5 + m) * place.longitude * degree + m) / 150);
  }
  return nodes;
}

SpmmKind kind_of(const std::string& name) {
  for (const auto& row : spmm_kinds())
    if (name == row.name) return row.value;
  throw InputError(fmt::format("{}: expected auto, 1d, sparse_1d, 1.5d, 2d or 3d", name));
}

GraphNetwork network_over(SeaNodes nodes) {
  GraphNetwork network;
  network.nodes = std::make_shared<const SeaNodes>(std::move(nodes));
  network.shape = {8, 8}, network.seasons = 1;
  network.input_offset.assign(n_modes, 0.0);
  network.input_scale.assign(n_modes, 1.0), network.output_scale.assign(n_modes, 1.0);
  return network;
}

/// Bytes of arrays over nodes: [rows, M] thrice, [rows], inputs, three of leads, the rest of features; and
/// areas, of float64 in both precisions.
double planned_bytes(const GraphNetwork& network, const PanelPart& part) {
  const int rows_of_features = 7 + 3 * network.options.layers;
  const double bytes = network.options.precision == Precision::float64 ? 8 : 4;
  return part.n_rows() * (8 + bytes * (3 * n_modes + 1 + part.n_columns(network.n_features()) +
                                       3 * part.n_columns(network.shape.out) +
                                       rows_of_features * part.n_columns(network.options.features)));
}

/// Passes of one precision, with a window of some waves.
struct Side {
  GraphNetwork network;
  double resident = resident_memory_mb();  ///< what a window has added to it (MB)
  std::unique_ptr<GraphPasses> passes;
  std::vector<double> parameters, gradient, window, target;
  double cpu = 1e30, wall = 1e30;

  Side(const Comm& comm, GraphNetwork of, Precision precision, SpmmKind spmm) : network(std::move(of)) {
    network.options.precision = precision;
    passes = graph_passes(comm, std::make_shared<const GraphNetwork>(network), spmm);
    for (std::size_t i = 0; i < passes->n_parameters(); ++i)
      parameters.push_back(0.1 * std::sin(1.3 * double(i)));
    for (int i = 0; i < 8 * network.n_inputs(); ++i) window.push_back(std::sin(0.7 * i));
    for (int i = 0; i < 8 * n_modes; ++i) target.push_back(std::cos(0.9 * i));
    gradient.resize(parameters.size());
    passes->refresh(parameters.data());
    take(comm, 1);
    resident = resident_memory_mb() - resident;
    cpu = wall = 1e30;
  }

  void take(const Comm& comm, int windows) {
    comm.barrier();
    timespec from{}, to{};
    clock_gettime(CLOCK_MONOTONIC, &from);
    const std::clock_t begin = std::clock();
    for (int w = 0; w < windows; ++w)
      static_cast<void>(passes->loss_and_gradient(window.data(), target.data(), 1.0, gradient.data()));
    comm.reduce(std::span<double>(gradient), Comm::Reduction::sum);  // once a batch
    const double taken = double(std::clock() - begin) / CLOCKS_PER_SEC / windows;
    clock_gettime(CLOCK_MONOTONIC, &to);
    cpu = std::min(cpu, comm.maximum(taken));
    const double seconds = double(to.tv_sec - from.tv_sec) + 1e-9 * double(to.tv_nsec - from.tv_nsec);
    wall = std::min(wall, comm.maximum(seconds) / windows);
  }

  void tell(const Comm& comm, int windows) const {
    const auto bytes = passes->bytes();
    const double mb = comm.maximum(bytes.arrays / 1e6), products = comm.maximum(bytes.products / 1e6),
                 planned = comm.maximum(planned_bytes(network, passes->part()) / 1e6),
                 most_resident = comm.maximum(resident);
    const auto& got = passes->received();
    const std::int64_t words = comm.maximum(long(got.dense_words)),
                       nonzeros = comm.maximum(long(got.nonzeros)),
                       messages = comm.maximum(long(got.messages));
    if (!comm.is_root()) return;
    fmt::print(
        "{}: a window {:.3f} s CPU of a rank, {:.3f} s wall; {} windows, {}: {:.0f} s CPU, {:.0f} s wall\n",
        name_of(network.options.precision), cpu, wall, epoch,
        windows == epoch ? "all of them run" : "extrapolated", epoch * cpu, epoch * wall);
    fmt::print(
        "the most of a rank: arrays {:.1f} MB (by count {:.1f}), products {:.1f}, resident {:.0f} more than "
        "before; received a window {} words of H, {} of A in {} messages\n",
        mb, planned, products, most_resident, words, nonzeros, messages);
    std::fflush(stdout);
  }
};

/// PyTorch on the same edges, where it is installed.
void run_peer(const SeaNodes& nodes, const GraphOptions& options, int windows, int repeats) {
  const SeaEdges edges = sea_edges(nodes, options.neighbours, options.mesh);
  std::FILE* const file = std::fopen("podlstm_graph_edges.bin", "wb");
  QUINTET_CHECK(file != nullptr, "podlstm_graph_edges.bin cannot be written");
  const std::int64_t sizes[] = {n_nodes, std::int64_t(edges.column.size())};
  const bool written = std::fwrite(sizes, sizeof(std::int64_t), 2, file) == 2 &&
                       std::fwrite(edges.row_begin.data(), sizeof(std::int64_t), edges.row_begin.size(),
                                   file) == edges.row_begin.size() &&
                       std::fwrite(edges.column.data(), sizeof(std::int32_t), edges.column.size(), file) ==
                           edges.column.size();
  QUINTET_CHECK(std::fclose(file) == 0 && written, "podlstm_graph_edges.bin cannot be written");
  const auto command =
      fmt::format("{} {} podlstm_graph_edges.bin {} {}", QUINTET_PYTHON, QUINTET_PEER, windows, repeats);
  if (std::system(command.c_str()) != 0) fmt::print("the peer did not run: {}\n", command);
}

void run(int windows, int repeats, bool peer, SpmmKind spmm, const std::string& precision) {
  const Comm comm = Comm::world();
  const GraphNetwork network = network_over(one_degree_sea());
  std::vector<std::unique_ptr<Side>> sides;
  for (const auto& row : graph_precisions())
    if (precision == "both" || precision == row.name)
      sides.push_back(std::make_unique<Side>(comm, network, row.value, spmm));
  QUINTET_CHECK(!sides.empty(), "{}: expected float64, float32 or both", precision);
  if (comm.is_root())
    fmt::print("{} nodes, {} neighbours in all, {} weights; {} ranks: {}\n", network.nodes->size(),
               sides.front()->passes->n_edges(), sides.front()->passes->n_parameters(), comm.size(),
               sides.front()->passes->reason());
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (auto& side : sides) side->take(comm, windows);
  for (const auto& side : sides) side->tell(comm, windows);
  if (peer && comm.size() == 1) run_peer(*network.nodes, network.options, windows, repeats);
}

}  // namespace
}  // namespace quintet::sequence

int main(int argc, char** argv) {
  try {
    const quintet::Runtime runtime(argc, argv, 1, {});
    quintet::sequence::run(argc > 1 ? std::atoi(argv[1]) : 5, argc > 2 ? std::atoi(argv[2]) : 5,
                           argc < 4 || std::string(argv[3]) == "peer",
                           quintet::sequence::kind_of(argc > 4 ? argv[4] : "auto"),
                           argc > 5 ? argv[5] : "both");
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
