#include "physics/kinetics/space/velocity_halo.hpp"

#include <algorithm>
#include <span>

#include "io/parallel/comm.hpp"

namespace quintet::kinetics {

namespace {

constexpr int lanes = PhaseBlock::lanes;
constexpr int tag_velocity_halo = 450;  ///< + 2 d + side that is sent

}  // namespace

VelocityExchange::VelocityExchange(const Decomposition& decomposition, const PhaseGrid& grid,
                                   const std::array<std::size_t, 3>& sizes, const Find& find)
    : comm_(decomposition.comm()) {
  for (int d = 0; d < grid.vdim; ++d) {
    const int axis = grid.cdim + d;
    if (decomposition.ranks()[axis] == 1) continue;
    for (int side = 0; side < 2; ++side) {
      Side& s = sides_[d][side];
      s.rank = decomposition.neighbour(axis, 2 * side - 1);
      if (s.rank < 0) continue;
      if (find) {
        s.memory = find(d, side);
        continue;
      }
      s.own.resize(2 * sizes[d]);
      s.memory = {std::span(s.own).first(sizes[d]), std::span(s.own).last(sizes[d])};
    }
  }
}

void VelocityExchange::start() {
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side) {
      // What goes out on one side comes in on the other.
      Side& to = sides_[d][side];
      Side& from = sides_[d][1 - side];
      if (to.rank < 0 && from.rank < 0) continue;
      pending_.push_back(comm_.start_exchange(std::span<const double>(to.memory.send), to.rank,
                                              from.memory.receive, from.rank,
                                              tag_velocity_halo + 2 * d + side));
    }
}

void VelocityExchange::finish() {
  for (auto& exchange : pending_) exchange.wait();
  pending_.clear();
}

double VelocityExchange::bytes() const {
  double sum = 0;
  for (const auto& direction : sides_)
    for (const auto& side : direction) sum += 8.0 * side.memory.send.size();
  return sum;
}

namespace {

/// Count the numbers of whole rows, or, across the last direction, of one cell a row.
std::array<std::size_t, 3> halo_sizes(const PhaseBlock& block, int n_modes) {
  std::array<std::size_t, 3> sizes{};
  const int vdim = block.grid.vdim;
  for (int d = 0; d < vdim; ++d) {
    const bool last = d == vdim - 1;
    const int rows =
        block.n_conf() * (last ? block.n_rows() : block.n_rows() / block.extent[block.grid.cdim + d]);
    sizes[d] = std::int64_t{rows} * (n_modes * (last ? 1 : block.n_packs() * lanes));
  }
  return sizes;
}

}  // namespace

VelocityHalo::VelocityHalo(const Decomposition& decomposition, const PhaseBlock& block, int n_modes)
    : block_(block), n_modes_(n_modes), exchange_(decomposition, block.grid, halo_sizes(block, n_modes)) {
  const int last = block.grid.vdim - 1;
  for (int side = 0; side < 2; ++side) packs_[side].resize(exchange_.received(last, side).size() * lanes);
}

int VelocityHalo::face_row(int d, int row) const {
  const auto index = block_.row_index(row);
  int number = 0;
  for (int e = 0; e < block_.grid.vdim - 1; ++e)
    if (e != d) number = number * block_.extent[block_.grid.cdim + e] + index[e];
  return number;
}

void VelocityHalo::fill(const Exec& exec, const Distribution& f, int d, int side) {
  const int axis = block_.grid.cdim + d, n_rows = block_.n_rows();
  const bool last = d == block_.grid.vdim - 1;
  const int edge = side == 0 ? 0 : block_.extent[axis] - 1;
  const int rows_of_face = last ? n_rows : n_rows / block_.extent[axis];
  const std::size_t size = std::int64_t{n_modes_} * (last ? 1 : block_.n_packs() * lanes);
  double* to = exchange_.send(d, side).data();
  Kokkos::parallel_for("kinetics::velocity_halo",
                       Kokkos::RangePolicy<Exec>(exec, 0, block_.n_conf() * n_rows), [=, this, &f](int i) {
                         const int conf = i / n_rows, row = i % n_rows;
                         if (!last && block_.row_index(row)[d] != edge) return;
                         const int face = last ? row : face_row(d, row);
                         double* cell = to + std::int64_t{conf * rows_of_face + face} * size;
                         if (!last) {
                           std::copy_n(f.pack(conf, row, 0), size, cell);
                           return;
                         }
                         for (int m = 0; m < n_modes_; ++m) cell[m] = f.at(conf, row, edge, m);
                       });
}

void VelocityHalo::start(const Exec& exec, const Distribution& f) {
  for (int d = 0; d < block_.grid.vdim; ++d)
    for (int side = 0; side < 2; ++side)
      if (exchange_.has(d, side)) fill(exec, f, d, side);
  exec.fence();
  exchange_.start();
}

void VelocityHalo::finish() {
  exchange_.finish();
  for (int side = 0; side < 2; ++side) {
    const auto received = exchange_.received(block_.grid.vdim - 1, side);
    const int lane = side == 0 ? 0 : (block_.n_last() - 1) % lanes;
    for (std::size_t i = 0; i < received.size(); ++i) packs_[side][i * lanes + lane] = received[i];
  }
}

const double* VelocityHalo::pack(int d, int side, int conf, int row, int pack) const {
  if (!exchange_.has(d, side)) return nullptr;
  const int n_rows = block_.n_rows();
  if (d == block_.grid.vdim - 1)
    return packs_[side].data() + std::int64_t{conf * n_rows + row} * (n_modes_ * lanes);
  const int rows_of_face = n_rows / block_.extent[block_.grid.cdim + d];
  const std::size_t n = std::int64_t{conf * rows_of_face + face_row(d, row)} * block_.n_packs() + pack;
  return exchange_.received(d, side).data() + n * (n_modes_ * lanes);
}

}  // namespace quintet::kinetics
