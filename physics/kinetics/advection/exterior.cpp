#include "physics/kinetics/advection/exterior.hpp"

#include <cmath>
#include <span>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/space/boundaries.hpp"

namespace quintet::kinetics {

namespace {

/// The rank beyond an edge; -1: none, or this one.
int rank_beyond(const Decomposition& decomposition, int d, int side) {
  return decomposition.ranks()[d] > 1 ? decomposition.neighbour(d, side) : -1;
}

}  // namespace

Edges halo_edges(const Decomposition& decomposition) {
  Edges halo{};
  for (int d = 0; d < 6; ++d)
    for (const int side : {-1, 1}) halo[d][side > 0] = rank_beyond(decomposition, d, side) >= 0;
  return halo;
}

Edges open_edges(const Decomposition& decomposition, const Species& species) {
  Edges open = halo_edges(decomposition);
  for (int d = 0; d < species.grid.cdim; ++d)
    if (!species.grid.periodic[d]) open[d] = {true, true};
  return open;
}

Exterior::Exterior(const Decomposition& decomposition, const PhaseBasis& basis, const Species& species,
                   const VlasovOperator& vlasov)
    : comm_(decomposition.comm()), vlasov_(vlasov) {
  const auto block = decomposition.block(species.grid);
  const auto open = open_edges(decomposition, species);
  for (int d = 0; d < species.grid.dim(); ++d)
    for (const int side : {-1, 1}) {
      if (!open[d][side > 0]) continue;
      if (const int rank = rank_beyond(decomposition, d, side); rank >= 0) {
        halos_.push_back({d, side, rank});
        const auto halo = vlasov.halo(d, side);
        own(d, side) = halo.own;
        outside(d, side) = halo.outside;
        continue;
      }
      own(d, side) = make_view<Array<double>>("own_trace", vlasov.trace_size(d));
      const auto kind = species.boundary[d][side > 0];
      static_cast<void>(row_of(boundaries, kind));
      walls_.push_back({d, side, kind, {}, {}, {}, {}});
      if (kind != Boundary::absorbing) {
        outside(d, side) = Array<double>("outside_trace", vlasov.trace_size(d));
        continue;
      }
      Wall& wall = walls_.back();
      wall.flux = std::make_shared<WallEmission>(decomposition, basis, block, d, side);
      wall.emission = species.emission[d][side > 0];
      if (!wall.emission) continue;
      wall.flux->set_thermal_speed(wall.emission->thermal_speed, species.name);
      outside(d, side) = Array<double>("outside_trace", vlasov.trace_size(d));
      wall.nothing = Array<double>("no_trace", vlasov.trace_size(d));
      if (wall.emission->reflection > 0)
        wall.mirrored = Array<double>("mirrored_trace", vlasov.trace_size(d));
    }
}

void Exterior::start(const Exec& exec, const Distribution& f) {
  for (const auto& halo : halos_)
    vlasov_.trace(exec, f, halo.direction, halo.side, own(halo.direction, halo.side));
  if (!halos_.empty()) vlasov_.fence(exec);
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
  for (const auto& wall : walls_)
    vlasov_.trace(exec, f, wall.direction, wall.side, own(wall.direction, wall.side));
}

std::vector<double> Exterior::incoming(int direction, int side) const {
  for (const auto& wall : walls_)
    if (wall.direction == direction && wall.side == side && wall.flux)
      return wall.flux->incoming(own_.side[direction][side > 0]);
  throw InternalError("particles are counted at a wall that does not absorb them");
}

void Exterior::emit(const Exec& exec, double t, const std::vector<Exterior>& all) {
  emitted_ = {};
  exec.fence();  // traces are made by kernels, read here
  for (const auto& wall : walls_) {
    if (!wall.emission) continue;
    const auto& emission = *wall.emission;
    const int d = wall.direction, side = wall.side, n = wall.flux->n_face_modes();
    std::vector<double> flux(wall.flux->n_faces() * n, 0.0);
    const double given = emission.flux ? emission.flux(t) : 0;
    QUINTET_CHECK(std::isfinite(given) && given >= 0,
                  "the flux that a wall emits is {} at time {:.6g}; expected a finite number of at least 0",
                  given, t);
    for (std::size_t i = 0; i < flux.size(); i += n) flux[i] = given * wall.flux->one();
    for (std::size_t r = 0; r < emission.yield.size(); ++r) {
      if (emission.yield[r] == 0) continue;
      const auto cause = all[r].incoming(d, side);
      for (std::size_t i = 0; i < flux.size(); ++i) flux[i] += emission.yield[r] * cause[i];
    }
    wall.flux->emit(flux, outside(d, side));
    emitted_.add(-1, 1, vlasov_.outflow(exec, d, side, wall.nothing, outside(d, side)));
    if (!(emission.reflection > 0)) continue;
    vlasov_.mirror(exec, d, own(d, side), wall.mirrored);
    exec.fence();
    double* const to = outside(d, side).data();
    for (std::size_t i = 0; i < wall.mirrored.size(); ++i)
      to[i] += emission.reflection * wall.mirrored.data()[i];
  }
}

const FaceTraces& Exterior::finish(const Exec& exec) {
  for (const auto& wall : walls_) {
    const int d = wall.direction, side = wall.side;
    if (wall.kind == Boundary::reflecting) vlasov_.mirror(exec, d, own(d, side), outside(d, side));
    if (wall.kind == Boundary::open) Kokkos::deep_copy(exec, outside(d, side), own(d, side));
  }
  for (auto& pending : pending_) pending.wait();
  pending_.clear();
  return outside_;
}

void Exterior::hold(const Exec& exec, const Distribution& f) {
  for (const auto& wall : walls_)
    if (wall.kind == Boundary::fixed)
      vlasov_.trace(exec, f, wall.direction, wall.side, outside(wall.direction, wall.side));
}

void Exterior::add_outflow(const Exec& exec, double weight, double mass, Budget& budget) const {
  for (const auto& wall : walls_) {
    const auto d = wall.direction, i = wall.side > 0 ? 1 : 0;
    budget.left[d][i].add(
        weight, mass, vlasov_.outflow(exec, wall.direction, wall.side, own_.side[d][i], outside_.side[d][i]));
  }
  budget.emitted.add(weight, mass, emitted_);
}

std::vector<double> Exterior::particle_outflow(int direction, int side) const {
  for (const auto& wall : walls_)
    if (wall.direction == direction && wall.side == side)
      return vlasov_.particle_outflow(direction, side, own_.side[direction][side > 0],
                                      outside_.side[direction][side > 0]);
  return {};
}

std::size_t Exterior::doubles_sent() const {
  std::size_t sum = 0;
  for (const auto& halo : halos_) sum += vlasov_.trace_size(halo.direction);
  return sum;
}

}  // namespace quintet::kinetics
