#include "physics/convection/device/flow_residence.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "io/parallel/comm.hpp"

namespace quintet::convection {

namespace {

struct Rows {
  int first = 0, end = 0;
  [[nodiscard]] int n() const { return end - first; }
};
Rows rows_of(const Shares& shares, int part) { return {shares.first(part), shares.first(part + 1)}; }
Rows common(const Rows& a, const Rows& b) {
  const int first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.end, b.end))};
}

/// u, w, b and p, rows of n numbers without gaps.
using Four = std::array<std::vector<double>, 4>;

/// Rows that ranks have as `from(rank)` says, as `to(rank)` wants them. Collective.
template <class From, class To>
Four shared_anew(const Comm& comm, const Four& here, int n, const From& from, const To& to) {
  const int self = comm.rank();
  const Rows mine = from(self), wanted = to(self);
  std::vector<std::size_t> n_sent, n_received;
  std::vector<double> sent;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const Rows out = common(mine, to(rank));
    n_sent.push_back(std::int64_t{4} * out.n() * n);
    n_received.push_back(std::int64_t{4} * common(from(rank), wanted).n() * n);
    for (const auto& field : here) {
      if (out.n() == 0) continue;
      const auto first = field.begin() + std::int64_t{out.first - mine.first} * n;
      sent.insert(sent.end(), first, first + std::int64_t{out.n()} * n);
    }
  }
  std::vector<double> received(std::int64_t{4} * wanted.n() * n);
  comm.all_to_all_into(std::span<const double>(sent), std::span<const std::size_t>(n_sent),
                       std::span<double>(received), std::span<const std::size_t>(n_received));
  Four there;
  for (auto& field : there) field.resize(std::int64_t{wanted.n()} * n);
  auto next = received.cbegin();
  for (int rank = 0; rank < comm.size(); ++rank) {
    const Rows in = common(from(rank), wanted);
    if (in.n() == 0) continue;
    const auto count = std::int64_t{in.n()} * n;
    for (auto& field : there) {
      std::copy(next, next + count, field.begin() + std::int64_t{in.first - wanted.first} * n);
      next += count;
    }
  }
  return there;
}

}  // namespace

FlowResidence::FlowResidence(const Grid& grid, int n_members, std::shared_ptr<DeviceFlows> device)
    : comm_(grid.comm()),
      home_(grid.rows),
      n_x_(grid.x.n()),
      shares_(flow_shares(grid.comm().size(), n_members)),
      device_(std::move(device)) {}

void FlowResidence::send(int member, const BoussinesqState& state) const {
  const std::array<const Field*, 4> fields{&state.u, &state.w, &state.b, &state.p};
  Four rows;
  for (std::size_t which = 0; which < fields.size(); ++which)
    for (int j = 0; j < fields[which]->rows; ++j)
      rows[which].insert(rows[which].end(), fields[which]->row(j), fields[which]->row(j) + n_x_);
  const Shares slabs = shares_.rows(home_.n);
  const Four there = shared_anew(
      comm_, rows, n_x_, [&](int rank) { return rows_of(home_, rank); },
      [&](int rank) { return shares_.has(rank, member) ? rows_of(slabs, shares_.slab_of(rank)) : Rows{}; });
  if (shares_.has(comm_.rank(), member))
    device_->put(shares_.place_of(member), {there[0], there[1], there[2], there[3]});
}

void FlowResidence::fetch(int member, const BoussinesqState& state) const {
  const std::array<const Field*, 4> fields{&state.u, &state.w, &state.b, &state.p};
  const Shares slabs = shares_.rows(home_.n);
  Four rows;
  if (shares_.has(comm_.rank(), member)) {
    for (auto& field : rows) field.resize(std::int64_t{slabs.size(shares_.slab_of(comm_.rank()))} * n_x_);
    device_->take(shares_.place_of(member), {rows[0], rows[1], rows[2], rows[3]});
  }
  const Four home = shared_anew(
      comm_, rows, n_x_,
      [&](int rank) { return shares_.has(rank, member) ? rows_of(slabs, shares_.slab_of(rank)) : Rows{}; },
      [&](int rank) { return rows_of(home_, rank); });
  for (std::size_t which = 0; which < fields.size(); ++which)
    for (int j = 0; j < fields[which]->rows; ++j)
      std::copy_n(home[which].data() + std::int64_t{j} * n_x_, n_x_, fields[which]->row(j));
}

void FlowResidence::renew() {
  tallies_.clear();
  powers_.clear();
}

FlowTally FlowResidence::tally(int member) const {
  if (tallies_.empty()) tallies_ = device_->tallies();
  if (shares_.has(comm_.rank(), member)) return tallies_[shares_.place_of(member)];
  FlowTally nothing;
  nothing.most.fill(-std::numeric_limits<double>::infinity());
  return nothing;
}

std::vector<double> FlowResidence::powers(int member) const {
  if (powers_.empty()) powers_ = device_->powers();
  if (powers_.empty()) return {};
  const std::size_t n = 4 * n_x_;
  if (!shares_.has(comm_.rank(), member)) return std::vector<double>(n, 0.0);
  const auto first = powers_.begin() + shares_.place_of(member) * n;
  return {first, first + static_cast<std::ptrdiff_t>(n)};
}

}  // namespace quintet::convection
