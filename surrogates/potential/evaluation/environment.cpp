#include "surrogates/potential/evaluation/environment.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "physics/kernels/pack_lanes.hpp"
#include "surrogates/potential/model/environment_cell.hpp"

namespace quintet::potential {

Environment::Environment(const DescriptorModel& model, SelRule rule)
    : n_types_(model.n_types()),
      n_slots_(model.n_slots()),
      counts_together_(model.kind == DescriptorKind::dpa1),
      gated_(model.smooth_gates),
      sel_(model.sel),
      rule_(rule),
      rcut_(model.rcut),
      rcut_smooth_(model.rcut_smooth),
      protection_(model.protection),
      mean_(model.mean),
      inverse_deviation_(model.deviation),
      dropped_(model.excluded_descriptor_pairs),
      emptied_(model.excluded_pairs) {
  for (auto& row : inverse_deviation_)
    for (double& value : row) value = 1.0 / value;
  for (std::size_t i = 0; i < dropped_.size(); ++i) excludes_ = excludes_ || dropped_[i] || emptied_[i];
}

int Environment::rows_needed(const NeighbourList& list, int n_local) {
  std::size_t most = 0;
  for (int i = 0; i < n_local; ++i) most = std::max(most, list.offset(i + 1) - list.offset(i));
  return most;
}

/// Copy the listed atoms within rcut to rows begin, begin + 1, ...; returns their number. Branch-free.
template <class Real>
int Environment::gather(int i, const double* position, const std::size_t* offset, const int* list, int begin,
                        Batch<Real>& batch, Scratch& scratch) const {
  constexpr int w = pack_width<double>;
  const double *from = position + 3 * std::int64_t{i}, limit = rcut_ * rcut_;
  int* neighbour = batch.neighbour.data() + begin;
  double *dx = batch.dx.data() + begin, *dy = batch.dy.data() + begin, *dz = batch.dz.data() + begin;
  double* distance2 = scratch.distance2.data();
  int n = 0;
  for (std::size_t c = offset[i]; c < offset[i + 1]; c += w) {
    const int some = std::min<std::size_t>(w, offset[i + 1] - c);
    const int* index = list + c;
    int last[w];
    if (some < w) {
      for (int l = 0; l < w; ++l) last[l] = index[std::min(l, some - 1)];
      index = last;
    }
    Pack<double> d[3];
    load_rows(position, index, d);
    for (int l = 0; l < 3; ++l) d[l] -= from[l];
    const Pack<double> square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    const unsigned near = lanes_below(square, limit) & ((1U << some) - 1);
    store_lanes(neighbour + n, index, near);
    store_lanes(dx + n, d[0], near);
    store_lanes(dy + n, d[1], near);
    store_lanes(dz + n, d[2], near);
    store_lanes(distance2 + n, square, near);
    n += std::popcount(near);
  }
  return n;
}

/// Apply sel and the exclusions to rows begin .. begin + n; returns how many stay. Sets scratch.count to the
/// number of filled slots by type (rows that stay, plus those dropped to 0 by the descriptor's exclusions).
template <class Real>
int Environment::select(const int* type, int begin, int n, Batch<Real>& batch, Scratch& scratch) const {
  auto& count = scratch.count;
  const int* neighbour = batch.neighbour.data() + begin;
  const bool limits_total = counts_together_ || rule_ == SelRule::two_stage;
  const auto full = [&](int t, int filled) { return !counts_together_ && filled >= sel_[t]; };
  bool overflow = limits_total && n > n_slots_;
  for (int t = 0, r = 0; t < n_types_; ++t) {  // neighbours are ordered by type
    const int of_type = r;
    while (r < n && type[neighbour[r]] == t) ++r;
    count[t] = r - of_type;
    overflow = overflow || (count[t] > 0 && full(t, count[t] - 1));
  }
  if (!overflow && !excludes_) return n;

  scratch.overflowing += overflow;
  scratch.keep.assign(n, 1);
  if (overflow) {
    scratch.most = std::max(scratch.most, n);
    scratch.order.resize(n);
    std::iota(scratch.order.begin(), scratch.order.end(), 0);
    std::stable_sort(scratch.order.begin(), scratch.order.end(),
                     [&](int a, int b) { return scratch.distance2[a] < scratch.distance2[b]; });
    count.assign(n_types_, 0);
    for (int rank = 0; rank < n; ++rank) {
      const int r = scratch.order[rank], t = type[neighbour[r]];
      scratch.keep[r] = !full(t, count[t]) && (!limits_total || rank < n_slots_);
      count[t] += scratch.keep[r];
    }
  }
  int kept = 0;
  const int centre = batch.centre;
  for (int r = 0; r < n; ++r) {
    const int t = type[neighbour[r]];
    if (!scratch.keep[r]) continue;
    const bool emptied = emptied_[centre * n_types_ + t];
    count[t] -= emptied;
    if (emptied || dropped_[centre * n_types_ + t]) continue;
    batch.neighbour[begin + kept] = batch.neighbour[begin + r];
    batch.dx[begin + kept] = batch.dx[begin + r];
    batch.dy[begin + kept] = batch.dy[begin + r];
    batch.dz[begin + kept] = batch.dz[begin + r];
    scratch.distance2[kept++] = scratch.distance2[r];
  }
  return kept;
}

/// Fill rows of R and what the chain rule needs (EnvironmentTerm).
template <class Real>
void Environment::fill(int centre, int begin, int n, Batch<Real>& batch, Scratch& scratch) const {
  const auto& mean = mean_[centre];
  const auto& scale = inverse_deviation_[centre];
  const SwitchRange range{rcut_smooth_, 1.0 / (rcut_ - rcut_smooth_), protection_};
  for (int r = 0; r < n; r += pack_width<double>) {
    const EnvironmentTerm<Pack<double>> term(range, mean[0], scale[0],
                                             load<double>(scratch.distance2.data() + r));
    store<double>(scratch.s.data() + r, term.s);
    store<double>(batch.slope.data() + begin + r, term.slope);
    store<double>(batch.q.data() + begin + r, term.q);
    store<double>(batch.dq.data() + begin + r, term.dq);
    if (!gated_) continue;
    const auto by_s = term.switch_by_s(scale[0]);
    for (int lane = 0; lane < pack_width<double>; ++lane) {
      batch.gate[begin + r + lane] = static_cast<Real>(term.w[lane]);
      batch.gate_slope[begin + r + lane] = static_cast<Real>(by_s[lane]);
    }
  }
  Real* row = batch.row.data() + 4 * std::int64_t{begin};
  for (int r = 0; r < n; ++r, row += 4) {
    const double q = batch.q[begin + r];
    row[0] = static_cast<Real>(scratch.s[r]);
    const double d[3] = {batch.dx[begin + r], batch.dy[begin + r], batch.dz[begin + r]};
    for (int l = 0; l < 3; ++l)
      row[1 + l] = static_cast<Real>(environment_component(q, d[l], mean[1 + l], scale[1 + l]));
  }
}

template <class Real>
void Environment::append(int i, const double* position, const int* type, const std::size_t* offset,
                         const int* list, Batch<Real>& batch, Scratch& scratch) const {
  const int b = batch.n_atoms++;
  if (b == 0) batch.first[0] = 0;
  const int begin = batch.first[b * n_types_];
  const int listed = offset[i + 1] - offset[i];
  if (const std::size_t rows = begin + listed + 2 * pack_width<float>; rows > batch.neighbour.size()) {
    batch.neighbour.resize(rows);
    for (auto* array : {&batch.dx, &batch.dy, &batch.dz, &batch.slope, &batch.q, &batch.dq})
      array->resize(rows);
    batch.row.resize(4 * rows);
    batch.gradient.resize(4 * rows);
  }
  if (gated_)
    for (auto* array : {&batch.gate, &batch.gate_slope}) array->resize(batch.neighbour.size());
  scratch.count.resize(n_types_);
  if (const std::size_t rows = listed + 2 * pack_width<float>; rows > scratch.distance2.size()) {
    scratch.distance2.resize(rows, 1.0);
    scratch.s.resize(rows);
  }
  batch.atom[b] = i;
  const int found = gather(i, position, offset, list, begin, batch, scratch);
  const int n = select(type, begin, found, batch, scratch);
  fill(batch.centre, begin, n, batch, scratch);
  if (batch.keeps_distances) {
    batch.distance2.resize(batch.neighbour.size());
    std::copy_n(scratch.distance2.begin(), n, batch.distance2.begin() + begin);
  }

  int r = begin;
  const int all_filled = std::accumulate(scratch.count.begin(), scratch.count.end(), 0);
  for (int t = 0; t < n_types_; ++t) {
    const int filled = scratch.count[t];
    // Slots that no type has of its own are told of the first: which one makes no difference to them.
    batch.empty[b * n_types_ + t] = !counts_together_ ? sel_[t] - filled : t == 0 ? n_slots_ - all_filled : 0;
    // Of types whose rows the descriptor's exclusions drop the slots are filled all the same.
    r += excludes_ && dropped_[batch.centre * n_types_ + t] ? 0 : filled;
    batch.first[b * n_types_ + t + 1] = r;
  }
}

bool Environment::finds_neighbours_of(const Environment& other) const {
  return n_types_ == other.n_types_ && n_slots_ == other.n_slots_ &&
         counts_together_ == other.counts_together_ && gated_ == other.gated_ && sel_ == other.sel_ &&
         rule_ == other.rule_ && rcut_ == other.rcut_ && dropped_ == other.dropped_ &&
         emptied_ == other.emptied_;
}

bool Environment::normalises_like(const Environment& other) const {
  return rcut_ == other.rcut_ && rcut_smooth_ == other.rcut_smooth_ && protection_ == other.protection_ &&
         mean_ == other.mean_ && inverse_deviation_ == other.inverse_deviation_;
}

template <class Real>
void Environment::normalise_anew(Batch<Real>& batch, Scratch& scratch) const {
  for (int b = 0; b < batch.n_atoms; ++b) {
    const int begin = batch.first_row(b), n = batch.first_row(b + 1) - begin;
    if (const std::size_t rows = n + 2 * pack_width<float>; rows > scratch.distance2.size()) {
      scratch.distance2.resize(rows, 1.0);
      scratch.s.resize(rows);
    }
    std::copy_n(batch.distance2.begin() + begin, n, scratch.distance2.begin());
    fill(batch.centre, begin, n, batch, scratch);
  }
}

template void Environment::normalise_anew(Batch<float>&, Scratch&) const;
template void Environment::normalise_anew(Batch<double>&, Scratch&) const;
template void Environment::append(int, const double*, const int*, const std::size_t*, const int*,
                                  Batch<float>&, Scratch&) const;
template void Environment::append(int, const double*, const int*, const std::size_t*, const int*,
                                  Batch<double>&, Scratch&) const;

}  // namespace quintet::potential
