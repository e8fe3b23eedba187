#include "physics/particles/domain/ghosts.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "io/log/error.hpp"
#include "physics/particles/atoms/atom_record.hpp"
#include "physics/particles/domain/domain_grid.hpp"

namespace quintet {
namespace {

constexpr int tag_borders = 310, tag_positions = 311, tag_rows = 312;

/// Displacement of the receiver's copies: image rows of the box.
Vec3 shift_of(const Box& box, int direction, int image) {
  Vec3 shift;
  for (int l = 0; l < 3; ++l) shift[l] = image * box.rows()[3 * direction + l];
  return shift;
}

/// out(3p + l) = x(rows(p), l) + shift_l.
void pack_positions(const Exec& exec, const Vectors& x, const int* rows, int n, const Vec3& shift,
                    double* out) {
  Kokkos::parallel_for(
      "particles::pack_positions", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(const int p) {
        for (int l = 0; l < 3; ++l) out[3 * p + l] = x(rows[p], l) + shift[l];
      });
}

/// out(p, l) = in(rows(p), l).
void pack_rows(const Exec& exec, const double* in, const int* rows, int n, int width, double* out) {
  Kokkos::parallel_for(
      "particles::pack_rows", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(const int p) {
        const double* const from = in + std::int64_t{rows[p]} * width;
        for (int l = 0; l < width; ++l) out[std::int64_t{p} * width + l] = from[l];
      });
}

/// out(rows(p), l) += in(p, l); no row occurs twice in one swap.
void add_rows(const Exec& exec, const double* in, const int* rows, int n, int width, double* out) {
  Kokkos::parallel_for(
      "particles::add_rows", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(const int p) {
        double* const to = out + std::int64_t{rows[p]} * width;
        const double* const from = in + std::int64_t{p} * width;
        for (int l = 0; l < width; ++l) to[l] += from[l];
      });
}

/// Three numbers of a row, of 8 bytes each, in whatever memory they are.
struct Triple {
  std::byte bytes[24];
};

/// Both sides know the count, so an empty message need not travel.
template <class T>
void exchange_known(const Comm& comm, std::span<const T> send, int destination, std::span<T> receive,
                    int source, int tag) {
  comm.exchange(send, send.empty() ? -1 : destination, receive, receive.empty() ? -1 : source, tag);
}

/// How many rows come from `source` where n go to `destination`.
int tell_count(const Comm& comm, int n, int destination, int source) {
  std::uint64_t n_send = n, n_receive = 0;
  comm.exchange(std::span<const std::uint64_t>(&n_send, 1), destination, std::span(&n_receive, 1), source,
                tag_borders);
  require_fit(n_receive);
  return n_receive;
}

}  // namespace

Ghosts::Ghosts(Comm comm, const std::array<int, 3>& grid, double range)
    : comm_(std::move(comm)), grid_(grid), place_(place_in(grid, comm_.rank())), range_(range) {}

void Ghosts::check_reach(const Box& box) const {
  for (int k = 0; k < 3; ++k)
    if (box.periodic()[k] && range_ > most_images * box.width(k))
      throw NumericalError(
          fmt::format("the cell has shrunk to {:.4g} A along direction {}, less than 1/{} of the "
                      "communication range ({:.4g} A)",
                      box.width(k), k, most_images, range_));
}

template <class Exchange>
void Ghosts::visit_stages(const Box& box, const Atoms& atoms, const Exchange& exchange) const {
  for (int k = 0; k < 3; ++k) {
    // Ranks are hopped over until the range is covered; an open direction ends at its last rank.
    double most = std::ceil(range_ / box.width(k) * grid_[k]);
    if (!box.periodic()[k]) most = std::min(most, grid_[k] - 1.0);
    const int hops = most;
    Rows going_down{0, atoms.n_all()}, going_up = going_down;
    for (int hop = 0; hop < hops; ++hop) {
      going_down = exchange(k, -1, going_down);
      going_up = exchange(k, +1, going_up);
    }
  }
}

void Ghosts::build(const Exec& exec, Atoms& atoms) {
  exec.fence();
  atoms.n_ghost = 0;
  swaps_.clear();
  check_reach(atoms.box);
  visit_stages(atoms.box, atoms, [&](int direction, int side, Rows candidates) {
    return exchange(exec, atoms, direction, side, candidates);
  });
}

BrickFace Ghosts::face_of(const Box& box, int direction, int side) const {
  // The receiver's brick ends where ours begins; atoms passed on lie beyond our other face and obey the same
  // limit.
  return {direction, side, static_cast<double>(place_[direction] + (side > 0 ? 1 : 0)) / grid_[direction],
          range_ / box.width(direction) * (1 + 1e-9)};
}

Ghosts::Swap Ghosts::make_swap(int direction, int side, const Atoms& atoms) const {
  const int last = grid_[direction] - 1;
  const bool periodic = atoms.box.periodic()[direction];
  const auto neighbour = [&](int step) {
    auto place = place_;
    place[direction] += step;
    if (place[direction] < 0 || place[direction] > last) {
      if (!periodic) return -1;
      place[direction] = place[direction] < 0 ? last : 0;
    }
    return (place[0] * grid_[1] + place[1]) * grid_[2] + place[2];
  };
  Swap swap;
  swap.direction = direction;
  swap.destination = neighbour(side);
  swap.source = neighbour(-side);
  const bool crosses = place_[direction] == (side < 0 ? 0 : last);
  if (crosses && periodic) swap.image = -side;
  return swap;
}

void Ghosts::select(const Atoms& atoms, Swap& swap, int side, Rows candidates) {
  const int k = swap.direction;
  const BrickFace face = face_of(atoms.box, k, side);
  const auto& x = atoms.position;
  if (!swaps_.empty()) swap.first_sent = swaps_.back().first_sent + swaps_.back().n_sent;
  const std::size_t room = swap.first_sent + candidates.last - candidates.first;
  if (sent_.extent(0) < room) Kokkos::resize(sent_, room + room / 2);
  int* out = sent_.data() + swap.first_sent;
  if (swap.destination < 0) return;
  for (int i = candidates.first; i < candidates.last; ++i) {
    const double beyond = (atoms.box.fractional(k, x(i, 0), x(i, 1), x(i, 2)) - face.at) * side;
    out[swap.n_sent] = i;
    swap.n_sent += beyond >= -face.reach;
  }
}

Ghosts::Rows Ghosts::exchange(const Exec& exec, Atoms& atoms, int direction, int side, Rows candidates) {
  Swap swap = make_swap(direction, side, atoms);
  select(atoms, swap, side, candidates);
  const Vec3 shift = shift_of(atoms.box, direction, swap.image);
  std::vector<BorderAtom> send(swap.n_sent);
  for (int p = 0; p < swap.n_sent; ++p) {
    const int i = sent_(swap.first_sent + p);
    send[p] = {
        {atoms.position(i, 0) + shift[0], atoms.position(i, 1) + shift[1], atoms.position(i, 2) + shift[2]},
        atoms.id(i),
        atoms.type(i)};
  }
  const bool to_itself = swap.destination == comm_.rank();
  const auto received = to_itself ? std::move(send)
                                  : comm_.exchange_any(std::span<const BorderAtom>(send), swap.destination,
                                                       swap.source, tag_borders);
  swap.first_received = atoms.n_all();
  const std::size_t n_all = received.size() + atoms.n_all();
  require_fit(n_all);
  swap.n_received = received.size();
  if (n_all > atoms.capacity()) atoms.reserve(n_all + n_all / 16);
  for (int p = 0; p < swap.n_received; ++p) {
    const int i = swap.first_received + p;
    for (int l = 0; l < 3; ++l) atoms.position(i, l) = received[p].position[l];
    atoms.id(i) = received[p].id;
    atoms.type(i) = received[p].type;
  }
  atoms.n_ghost += swap.n_received;
  grow_buffers(swap.n_sent, 3);
  swaps_.push_back(swap);
  exec.fence();
  return {swap.first_received, swap.first_received + swap.n_received};
}

void Ghosts::grow_buffers(int n_sent, int width) {
  const std::size_t n = std::int64_t{n_sent} * width;
  if (buffer_.extent(0) < n) buffer_ = make_view<Array<double>>("particles::exchange_buffer", n + n / 4);
}

const GhostPlan& Ghosts::plan(const Atoms& atoms) {
  plan_ = {};
  plan_.owner.resize(atoms.n_all());
  std::iota(plan_.owner.begin(), plan_.owner.end(), 0);
  plan_.shift.assign(atoms.n_all(), shift_code(0, 0, 0));
  for (const Swap& swap : swaps_) {
    const int* const sent = sent_.data() + swap.first_sent;
    if (swap.destination != comm_.rank()) {
      plan_.add({true, swap.first_received, swap.n_received, static_cast<int>(plan_.sent.size()), swap.n_sent,
                 swap.destination, swap.source, swap.direction, swap.image});
      plan_.sent.insert(plan_.sent.end(), sent, sent + swap.n_sent);
      continue;
    }
    for (int p = 0; p < swap.n_received; ++p) {
      const int row = swap.first_received + p, code = plan_.shift[sent[p]];
      int by[3];
      for (int k = 0; k < 3; ++k) by[k] = shift_along(code, k) + (k == swap.direction ? swap.image : 0);
      plan_.owner[row] = plan_.owner[sent[p]];
      plan_.shift[row] = shift_code(by[0], by[1], by[2]);
    }
    plan_.add({.first = swap.first_received, .n = swap.n_received});
  }
  return plan_;
}

void Ghosts::build_there(Atoms& atoms, const Box& box, const CellOfAtoms& cell) {
  atoms.n_ghost = 0;
  plan_ = {};
  n_sent_there_ = 0;
  check_reach(box);
  visit_stages(box, atoms, [&](int direction, int side, Rows candidates) {
    return exchange_there(atoms, box, cell, face_of(box, direction, side), candidates);
  });
  atoms.resident->set_steps(plan_.steps);
}

Ghosts::Rows Ghosts::exchange_there(Atoms& atoms, const Box& box, const CellOfAtoms& cell,
                                    const BrickFace& face, Rows candidates) {
  ResidentAtoms& there = *atoms.resident;
  const Swap swap = make_swap(face.direction, face.side, atoms);
  GhostPlan::Step step{.travels = swap.destination != comm_.rank(),
                       .first = atoms.n_all(),
                       .first_sent = n_sent_there_,
                       .destination = swap.destination,
                       .source = swap.source,
                       .direction = swap.direction,
                       .image = swap.image};
  const bool sends = swap.destination >= 0;
  step.n_sent = there.select_border(cell, face, candidates.first, sends ? candidates.last : candidates.first);
  n_sent_there_ += step.n_sent;
  step.n = step.travels ? tell_count(comm_, step.n_sent, swap.destination, swap.source) : step.n_sent;
  require_fit(std::int64_t{atoms.n_all()} + step.n);
  if (step.travels) {
    const auto parcel = there.pack_border(shift_of(box, swap.direction, swap.image), step.n);
    comm_.exchange(std::span(static_cast<const BorderAtom*>(parcel.send), step.n_sent), swap.destination,
                   std::span(static_cast<BorderAtom*>(parcel.receive), step.n), swap.source, tag_borders);
    there.unpack_border(step.n);
  } else {
    there.image_border(cell, swap.direction, swap.image);
  }
  atoms.n_ghost += step.n;
  plan_.add(step);
  return {step.first, step.first + step.n};
}

void Ghosts::plan_images(int n_local, int n_ghost) {
  plan_ = {};
  plan_.steps.push_back({.first = n_local, .n = n_ghost});
}

void Ghosts::update_resident(ResidentAtoms& resident, const Box& box) const {
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    const auto& step = plan_.steps[s];
    if (!step.travels) {
      resident.place_images(s, box.rows());
      continue;
    }
    const auto parcel = resident.pack_positions(s, box.rows());
    exchange_known(comm_, std::span(static_cast<const Triple*>(parcel.send), step.n_sent), step.destination,
                   std::span(static_cast<Triple*>(parcel.receive), step.n), step.source, tag_positions);
    resident.unpack_positions(s);
  }
}

void Ghosts::return_resident_forces(ResidentAtoms& resident) const {
  for (std::size_t s = plan_.steps.size(); s-- > 0;) {
    const auto& step = plan_.steps[s];
    if (!step.travels) continue;
    const auto parcel = resident.pack_forces(s);
    exchange_known(comm_, std::span(static_cast<const Triple*>(parcel.send), step.n), step.source,
                   std::span(static_cast<Triple*>(parcel.receive), step.n_sent), step.destination, tag_rows);
    resident.unpack_forces(s);
  }
}

void Ghosts::update_positions(const Exec& exec, Atoms& atoms) {
  if (atoms.resident) return update_resident(*atoms.resident, atoms.box);
  double* const x = atoms.position.data();
  for (const Swap& swap : swaps_) {
    const Vec3 shift = shift_of(atoms.box, swap.direction, swap.image);
    const int* rows = sent_.data() + swap.first_sent;
    double* const arriving = x + std::int64_t{3} * swap.first_received;
    const bool to_itself = swap.destination == comm_.rank();
    pack_positions(exec, atoms.position, rows, swap.n_sent, shift, to_itself ? arriving : buffer_.data());
    if (to_itself) continue;
    exec.fence();
    exchange_known(comm_, std::span<const double>(buffer_.data(), std::int64_t{3} * swap.n_sent),
                   swap.destination, std::span<double>(arriving, std::int64_t{3} * swap.n_received),
                   swap.source, tag_positions);
  }
}

void Ghosts::send_rows(const Exec& exec, const Atoms&, double* rows, int width) {
  const auto size = [width](int n) { return std::int64_t{n} * width; };
  for (const Swap& swap : swaps_) {
    double* const arriving = rows + size(swap.first_received);
    const bool to_itself = swap.destination == comm_.rank();
    if (!to_itself) grow_buffers(swap.n_sent, width);
    pack_rows(exec, rows, sent_.data() + swap.first_sent, swap.n_sent, width,
              to_itself ? arriving : buffer_.data());
    exec.fence();
    if (to_itself) continue;
    exchange_known(comm_, std::span<const double>(buffer_.data(), size(swap.n_sent)), swap.destination,
                   std::span<double>(arriving, size(swap.n_received)), swap.source, tag_rows);
  }
}

void Ghosts::return_rows(const Exec& exec, const Atoms& atoms, double* rows, int width) {
  const auto size = [width](int n) { return std::int64_t{n} * width; };
  for (auto swap = swaps_.rbegin(); swap != swaps_.rend(); ++swap) {
    const int* owners = sent_.data() + swap->first_sent;
    const double* const leaving = rows + size(swap->first_received);
    const bool to_itself = swap->destination == comm_.rank();
    if (!to_itself) {
      exec.fence();
      grow_buffers(swap->n_sent, width);
      exchange_known(comm_, std::span<const double>(leaving, size(swap->n_received)), swap->source,
                     std::span<double>(buffer_.data(), size(swap->n_sent)), swap->destination, tag_rows);
    }
    add_rows(exec, to_itself ? leaving : buffer_.data(), owners, swap->n_sent, width, rows);
  }
  const std::size_t begin = size(atoms.n_local), end = size(atoms.n_all());
  Kokkos::parallel_for(
      "particles::clear_ghost_rows", Kokkos::RangePolicy<Exec>(exec, begin, end),
      KOKKOS_LAMBDA(const std::size_t i) { rows[i] = 0; });
}

}  // namespace quintet
