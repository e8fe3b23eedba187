#include "physics/kinetics/exterior.hpp"

#include <span>

namespace quintet::kinetics {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

std::array<std::array<bool, 2>, 6> open_edges(const Decomposition& decomposition, const Species& species) {
  std::array<std::array<bool, 2>, 6> open{};
  for (int d = 0; d < species.grid.dim(); ++d)
    for (const int side : {-1, 1}) {
      const bool split = decomposition.ranks()[at(d)] > 1;
      const bool wall = d < species.grid.cdim && !species.grid.periodic[at(d)];
      open[at(d)][side > 0] = wall || (split && decomposition.neighbour(d, side) >= 0);
    }
  return open;
}

Exterior::Exterior(const Decomposition& decomposition, const Species& species, const VlasovOperator& vlasov)
    : comm_(decomposition.comm()), vlasov_(vlasov) {
  const auto open = open_edges(decomposition, species);
  for (int d = 0; d < species.grid.dim(); ++d)
    for (const int side : {-1, 1}) {
      if (!open[at(d)][side > 0]) continue;
      const int rank = decomposition.ranks()[at(d)] > 1 ? decomposition.neighbour(d, side) : -1;
      own(d, side) = make_view<Array<double>>("own_trace", vlasov.trace_size(d));
      const auto kind = rank >= 0 ? Boundary::periodic : species.boundary[at(d)][side > 0];
      if (rank >= 0)
        halos_.push_back({d, side, rank});
      else
        walls_.push_back({d, side, kind});
      if (kind != Boundary::absorbing)
        outside(d, side) = Array<double>("outside_trace", vlasov.trace_size(d));
    }
}

void Exterior::start(const Exec& exec, const Distribution& f) {
  for (const auto& halo : halos_)
    vlasov_.trace(exec, f, halo.direction, halo.side, own(halo.direction, halo.side));
  for (const auto& wall : walls_)
    vlasov_.trace(exec, f, wall.direction, wall.side, own(wall.direction, wall.side));
  if (halos_.empty()) return;
  exec.fence();
  for (const auto& [d, side, rank] : halos_) {
    // What leaves through my upper edge is received as the neighbour's lower outside: two one-way exchanges.
    const auto& mine = own(d, side);
    auto& theirs = outside(d, side);
    pending_.push_back(comm_.start_exchange(std::span<const double>(mine.data(), mine.size()), rank,
                                            std::span<double>(), -1, 2 * d + (side > 0)));
    pending_.push_back(comm_.start_exchange(std::span<const double>(), -1,
                                            std::span<double>(theirs.data(), theirs.size()), rank,
                                            2 * d + (side < 0)));
  }
}

const FaceTraces& Exterior::finish(const Exec& exec) {
  for (const auto& [d, side, kind] : walls_) {
    if (kind == Boundary::reflecting) vlasov_.mirror(exec, d, own(d, side), outside(d, side));
    if (kind == Boundary::open) Kokkos::deep_copy(exec, outside(d, side), own(d, side));
  }
  for (auto& pending : pending_) pending.wait();
  pending_.clear();
  return outside_;
}

void Exterior::hold(const Exec& exec, const Distribution& f) {
  for (const auto& [d, side, kind] : walls_)
    if (kind == Boundary::fixed) vlasov_.trace(exec, f, d, side, outside(d, side));
}

void Exterior::add_outflow(const Exec& exec, double weight, double half_mass, Budget& budget) const {
  for (const auto& [d, side, kind] : walls_) {
    const auto flux =
        vlasov_.outflow(exec, d, side, own_.side[at(d)][side > 0], outside_.side[at(d)][side > 0]);
    auto& left = budget.left[at(d)][side > 0];
    left.particles += weight * flux[0];
    left.energy += weight * half_mass * flux[1];
  }
}

std::size_t Exterior::doubles_sent() const {
  std::size_t sum = 0;
  for (const auto& halo : halos_) sum += vlasov_.trace_size(halo.direction);
  return sum;
}

}  // namespace quintet::kinetics
