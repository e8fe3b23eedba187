#pragma once

#include <algorithm>

#include "surrogates/potential/evaluation/triplets/triplet_embedding.hpp"

/// How TripletEmbedding, and its training, go through pairs of neighbours.
namespace quintet::potential {

/// x^k for k = 0 .. order - 1, a pack at a time: body(first k, pack of x^k, pack of k x^(k-1)).
template <class Real, class Body>
void each_power(Real x, int order, Body&& body) {
  constexpr int w = pack_width<Real>;
  Real first[w], slope[w];
  Real power = 1, before = 0;
  for (int l = 0; l < w; ++l) {
    first[l] = power;
    slope[l] = l * before;
    before = power;
    power *= x;
  }
  // y = x^w: x^(k + w) = y x^k, and its slope y (k x^(k-1)) + (w x^(w-1)) x^k.
  Pack<Real> value = load<Real>(first), derivative = load<Real>(slope);
  const Real next = power, next_slope = w * before;
  for (int k = 0; k < order; k += w) {
    body(k, value, derivative);
    derivative = derivative * next + value * next_slope;
    value = value * next;
  }
}

/// theta_jk [end - begin] of a neighbour j with neighbours k = begin .. end.
///
/// One piece of code for all passes of a training: their intervals of theta must be the same to the last bit.
template <class Real>
void multiply_directions(const typename Embedding<Real>::Scratch::Directions& directions, int j, int begin,
                         int end, Real* theta);

/// visit(j, k, theta_jk, how often it is counted) for the pairs of neighbours of two types.
template <class Real>
template <class Visit>
void TripletEmbedding<Real>::visit_pairs(const TypePair& types, Scratch& scratch, Visit&& visit) {
  auto& d = scratch.directions;
  const bool is_one_type = types.t == types.u;
  d.theta.resize(d.x.size());
  for (int j = d.first[types.t]; j < d.first[types.t + 1]; ++j) {
    const int begin = is_one_type ? j : d.first[types.u], end = d.first[types.u + 1];
    multiply_directions<Real>(d, j, begin, end, d.theta.data());
    for (int k = begin; k < end; ++k)
      visit(j, k, d.theta[k - begin], (is_one_type && k != j ? 2 : 1) * d.count[j] * d.count[k]);
  }
}

/// The same, by how a pair is evaluated: on_table(j, k, theta, weight, place) where polynomials reach it, and
/// on_network() whenever enough of the others wait in scratch.pairs, and for the last of them.
template <class Real>
template <class OnTable, class OnNetwork>
void TripletEmbedding<Real>::sort_pairs(const TypePair& types, Scratch& scratch, OnTable&& on_table,
                                        OnNetwork&& on_network) const {
  constexpr int most_pairs = 256;  // their network's tape stays in the second-level cache
  auto& rest = scratch.pairs;
  visit_pairs(types, scratch, [&](int j, int k, Real theta, Real weight) {
    if (layout_)
      if (const TripletPlace<Real> place(theta, layout_->part_bits, layout_->one_sign()); place.interval >= 0)
        return on_table(j, k, theta, weight, place);
    rest.j.push_back(j);
    rest.k.push_back(k);
    rest.theta.push_back(theta);
    rest.weight.push_back(weight);
    if (std::ssize(rest.theta) < most_pairs) return;
    on_network();
    rest.clear();
  });
  if (!rest.theta.empty()) on_network();
  rest.clear();
}

/// The numbers [order] of an interval, which set(numbers) makes when it is first met.
template <class Real>
template <class Set>
Real* TripletEmbedding<Real>::numbers_of(int interval, Scratch& scratch, Set&& set) const {
  Real* numbers = scratch.moments.data() + std::int64_t{interval} * layout_->order;
  if (scratch.marked[interval] == 0) {
    scratch.marked[interval] = 1;
    scratch.occupied.push_back(interval);
    set(numbers);
  }
  return numbers;
}

template <class Real>
template <class OnNetwork>
void TripletEmbedding<Real>::accumulate_moments(const TypePair& types, Scratch& scratch,
                                                OnNetwork&& on_network) const {
  begin_intervals(scratch);
  const auto add = [&](int, int, Real theta, Real weight, const TripletPlace<Real>& place) {
    Real* moments = numbers_of(place.interval, scratch,
                               [&](Real* those) { std::fill_n(those, layout_->order, Real(0)); });
    const Real value = theta * weight;
    each_power<Real>(place.x, layout_->order, [&](int i, Pack<Real> power, Pack<Real>) {
      store<Real>(moments + i, load<Real>(moments + i) + value * power);
    });
  };
  sort_pairs(types, scratch, add, on_network);
}

}  // namespace quintet::potential
