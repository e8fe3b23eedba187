#include "physics/kinetics/advection/exterior.hpp"

#include <cmath>
#include <span>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
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

Edges empty_edges(const Species& species) {
  Edges empty{};
  for (int d = 0; d < species.grid.cdim; ++d)
    for (int side = 0; side < 2; ++side) {
      const auto kind = species.boundary[d][side];
      empty[d][side] =
          !species.grid.periodic[d] &&
          (kind == Boundary::open || (kind == Boundary::absorbing && !species.emission[d][side]));
    }
  return empty;
}

Exterior::Exterior(const Decomposition& decomposition, const PhaseBasis& basis, const Species& species,
                   const VlasovOperator& vlasov)
    : comm_(decomposition.comm()), velocity_comm_(decomposition.velocity_comm()), vlasov_(vlasov) {
  const auto open = open_edges(decomposition, species);
  for (int d = 0; d < species.grid.dim(); ++d)
    for (const int side : {-1, 1}) {
      if (!open[d][side > 0]) continue;
      const int rank = rank_beyond(decomposition, d, side);
      if (rank < 0) {
        add_wall(decomposition, basis, species, d, side);
        continue;
      }
      halos_.push_back({d, side, rank});
      const auto halo = vlasov.halo(d, side);
      own(d, side) = halo.own;
      outside(d, side) = halo.outside;
    }
}

void Exterior::add_wall(const Decomposition& decomposition, const PhaseBasis& basis, const Species& species,
                        int direction, int side) {
  const auto kind = species.boundary[direction][side > 0];
  static_cast<void>(row_of(boundaries, kind));
  walls_.push_back({direction, side, kind, {}, {}, {}, {}});
  Wall& wall = walls_.back();
  const auto traces = vlasov_.halo(direction, side);
  own(direction, side) = traces.own;
  if (kind == Boundary::absorbing) wall.emission = species.emission[direction][side > 0];
  if (kind == Boundary::absorbing && !wall.emission) return;  // nothing is outside
  outside(direction, side) = kind == Boundary::open ? traces.own : traces.outside;
  if (!wall.emission) return;
  const auto& emitter = wall.emitter.emplace(decomposition, basis, decomposition.block(species.grid),
                                             direction, side, wall.emission->thermal_speed, species.name);
  std::vector<double> ones(emitter.n_faces() * emitter.n_face_modes(), 0.0);
  for (std::size_t i = 0; i < ones.size(); i += emitter.n_face_modes()) ones[i] = 1;
  const Exec exec;
  vlasov_.emit(exec, emitter, ones, traces.outside);
  const auto inflow = vlasov_.outflow(exec, vlasov_.flux(), direction, side, {}, traces.outside);
  wall.emitted_by_one.add(-1.0 / emitter.n_faces(), 1, inflow().amount);
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

std::vector<double> Exterior::incoming(const Exec& exec, int direction, int side) const {
  for (const auto& wall : walls_)
    if (wall.direction == direction && wall.side == side && wall.kind == Boundary::absorbing) {
      const auto arriving =
          vlasov_.outflow(exec, Flux::upwind, direction, side, own_.side[direction][side > 0], {});
      auto flux = arriving().particles;
      if (velocity_comm_.size() > 1) velocity_comm_.reduce(std::span<double>(flux), Comm::Reduction::sum);
      return flux;
    }
  throw InternalError("particles are counted at a wall that does not absorb them");
}

void Exterior::emit(const Exec& exec, double t, const std::vector<Exterior>& all) {
  emitted_ = {};
  for (const auto& wall : walls_) {
    if (!wall.emission) continue;
    const auto& emission = *wall.emission;
    const int d = wall.direction, side = wall.side, n = wall.emitter->n_face_modes();
    std::vector<double> flux(wall.emitter->n_faces() * n, 0.0);
    const double given = emission.flux ? emission.flux(t) : 0;
    QUINTET_CHECK(std::isfinite(given) && given >= 0,
                  "the flux that a wall emits is {} at time {:.6g}; expected a finite number of at least 0",
                  given, t);
    for (std::size_t i = 0; i < flux.size(); i += n) flux[i] = given * wall.emitter->one();
    for (std::size_t r = 0; r < emission.yield.size(); ++r) {
      if (emission.yield[r] == 0) continue;
      const auto cause = all[r].incoming(exec, d, side);
      for (std::size_t i = 0; i < flux.size(); ++i) flux[i] += emission.yield[r] * cause[i];
    }
    vlasov_.emit(exec, *wall.emitter, flux, outside(d, side));
    for (std::size_t i = 0; i < flux.size(); i += n) emitted_.add(flux[i], 1, wall.emitted_by_one);
    if (emission.reflection > 0)
      vlasov_.mirror(exec, d, own(d, side), emission.reflection, true, outside(d, side));
  }
}

const FaceTraces& Exterior::finish(const Exec& exec) {
  for (auto& wall : walls_) {
    const int d = wall.direction, side = wall.side;
    if (wall.kind == Boundary::reflecting) vlasov_.mirror(exec, d, own(d, side), 1, false, outside(d, side));
    wall.outflow = vlasov_.outflow(exec, vlasov_.flux(), d, side, own(d, side), outside(d, side));
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

void Exterior::add_outflow(double weight, double mass, Budget& budget) const {
  for (const auto& wall : walls_)
    budget.left[wall.direction][wall.side > 0].add(weight, mass, wall.outflow().amount);
  budget.emitted.add(weight, mass, emitted_);
}

std::vector<double> Exterior::particle_outflow(int direction, int side) const {
  for (const auto& wall : walls_)
    if (wall.direction == direction && wall.side == side) return wall.outflow().particles;
  return {};
}

std::size_t Exterior::doubles_sent() const {
  std::size_t sum = 0;
  for (const auto& halo : halos_) sum += vlasov_.trace_size(halo.direction);
  return sum;
}

}  // namespace quintet::kinetics
