#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/space/rank_grids.hpp"

namespace quintet::kinetics {

namespace {

/// First cell of part i of n cells in `parts`: sizes differ by one at most.
int part_begin(int n, int parts, int i) { return i * (n / parts) + std::min(i, n % parts); }

/// Cells of the largest part, as they count for work: the last direction is worked on in whole packs.
int largest_part(int n, int parts, bool packed) {
  const int cells = (n + parts - 1) / parts;
  return packed ? padded(cells, PhaseBlock::lanes) : cells;
}

/// Cells of the busiest rank, and a little for each face that its halo has.
double cost(const PhaseGrid& grid, const std::array<int, 6>& ranks) {
  double work = 1;
  for (int d = 0; d < grid.dim(); ++d) work *= largest_part(grid.cells[d], ranks[d], d == grid.dim() - 1);
  double halo = 0;
  for (int d = 0; d < grid.dim(); ++d) {
    const int n = ranks[d];
    const int n_edges = grid.periodic[d] ? 2 : std::min(2, n - 1);  // of the busiest rank
    const bool packed = d == grid.dim() - 1;                        // there the edge cells' whole packs count
    if (n > 1)
      halo += n_edges * work * (packed ? PhaseBlock::lanes : 1) / largest_part(grid.cells[d], n, packed);
  }
  return work + 0.3 * halo;
}

struct Choice {
  double cost = 0;
  std::array<int, 6> ranks{};
};

/// Every way to write `left` as a product over directions d ..., keeping what `given` fixes.
void list_choices(const PhaseGrid& grid, const std::array<int, 6>& given, int d, int left,
                  std::array<int, 6>& ranks, std::vector<Choice>& choices) {
  if (d == grid.dim()) {
    if (left == 1) choices.push_back({cost(grid, ranks), ranks});
    return;
  }
  for (int n = 1; n <= std::min(left, grid.cells[d]); ++n) {
    if (left % n != 0 || (given[d] != 0 && given[d] != n)) continue;
    ranks[d] = n;
    list_choices(grid, given, d + 1, left / n, ranks, choices);
  }
  ranks[d] = 1;
}

}  // namespace

std::vector<std::array<int, 6>> rank_grids(const PhaseGrid& grid, const std::array<int, 6>& given,
                                           int n_ranks) {
  std::array<int, 6> ranks{1, 1, 1, 1, 1, 1};
  std::vector<Choice> choices;
  list_choices(grid, given, 0, n_ranks, ranks, choices);
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.cost < b.cost; });
  std::vector<std::array<int, 6>> grids;
  for (const auto& choice : choices) grids.push_back(choice.ranks);
  return grids;
}

PhaseBlock block_of(const PhaseGrid& grid, const std::array<int, 6>& ranks,
                    const std::array<int, 6>& coordinates) {
  PhaseBlock result;
  result.grid = grid;
  for (int d = 0; d < grid.dim(); ++d) {
    const int n = grid.cells[d], parts = ranks[d];
    QUINTET_CHECK(n >= parts,
                  "direction {} has {} cells, fewer than its {} ranks; give it more cells or fewer ranks", d,
                  n, parts);
    result.begin[d] = part_begin(n, parts, coordinates[d]);
    result.extent[d] = part_begin(n, parts, coordinates[d] + 1) - result.begin[d];
  }
  return result;
}

Decomposition::Decomposition(const Comm& comm, const PhaseGrid& grid, const std::array<int, 6>& ranks)
    : comm_(std::make_shared<const Comm>(comm)), dim_(grid.dim()), ranks_(ranks), periodic_(grid.periodic) {
  const std::vector<int> cells(grid.cells.begin(), grid.cells.begin() + dim_);
  const auto grids = rank_grids(grid, ranks, comm.size());
  if (grids.empty()) {
    int usable = comm.size();
    while (usable > 1 && rank_grids(grid, ranks, usable).empty()) --usable;
    QUINTET_CHECK(
        false,
        "{} ranks cannot share {} cells{}: the ranks of a direction must divide the number of ranks and not "
        "exceed its cells; {} rank{} can",
        comm.size(), fmt::join(cells, " x "),
        std::any_of(ranks.begin(), ranks.end(), [](int n) { return n > 0; })
            ? fmt::format(" as parallel.ranks = [{}] asks",
                          fmt::join(ranks.begin(), ranks.begin() + dim_, ", "))
            : "",
        usable, usable == 1 ? "" : "s");
  }
  ranks_ = grids.front();
  coordinates_ = coordinates_of(comm.rank());
  int conf = 0, velocity = 0;
  for (int d = 0; d < dim_; ++d) {
    int& number = d < grid.cdim ? conf : velocity;
    number = number * ranks_[d] + coordinates_[d];
  }
  velocity_comm_ = std::make_shared<const Comm>(comm.split(conf, velocity));
  conf_comm_ = std::make_shared<const Comm>(comm.split(velocity, conf));
}

std::array<int, 6> Decomposition::coordinates_of(int rank) const {
  std::array<int, 6> result{};
  for (int d = dim_ - 1; d >= 0; --d) {
    result[d] = rank % ranks_[d];
    rank /= ranks_[d];
  }
  return result;
}

int Decomposition::neighbour(int d, int side) const {
  auto there = coordinates_;
  there[d] += side;
  if (there[d] < 0 || there[d] >= ranks_[d]) {
    if (!periodic_[d]) return -1;
    there[d] = (there[d] + ranks_[d]) % ranks_[d];
  }
  int rank = 0;
  for (int e = 0; e < dim_; ++e) rank = rank * ranks_[e] + there[e];
  return rank;
}

PhaseBlock Decomposition::block(const PhaseGrid& grid) const { return block(grid, comm_->rank()); }

PhaseBlock Decomposition::block(const PhaseGrid& grid, int rank) const {
  return block_of(grid, ranks_, coordinates_of(rank));
}

}  // namespace quintet::kinetics
