#include "surrogates/training/stores/host_store.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {

namespace {

/// Whether all numbers are; 0 g is 0 for those alone.
template <class Real>
bool all_finite(std::span<const Real> values) {
  constexpr std::size_t w = pack_width<Real>, sums = 4;  // one alone would wait for itself
  Pack<Real> sum[sums] = {};
  const std::size_t whole = values.size() / (sums * w) * (sums * w);
  for (std::size_t i = 0; i < whole; i += sums * w)
    for (std::size_t k = 0; k < sums; ++k) sum[k] += Real(0) * load<Real>(&values[i + k * w]);
  Real rest = horizontal_sum<Real>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  for (std::size_t i = whole; i < values.size(); ++i) rest += Real(0) * values[i];
  return rest == 0;
}

/// In eight sums, which a processor adds at once.
template <class Real>
double sum_of_squares(std::span<const Real> values) {
  constexpr std::size_t width = 8;
  double sums[width] = {};
  const std::size_t whole = values.size() / width * width;
  for (std::size_t i = 0; i < whole; i += width)
    for (std::size_t k = 0; k < width; ++k) {
      const double value = values[i + k];
      sums[k] += value * value;
    }
  double total = 0;
  for (const double sum : sums) total += sum;
  for (std::size_t i = whole; i < values.size(); ++i)
    total += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return total;
}

}  // namespace

template <class Real>
HostStore<Real>::HostStore(const StoreRequest& request, const Comm& holder, bool splits)
    : layout_(request.layout),
      weight_decay_(request.optimiser.weight_decay),
      clip_norm_(request.optimiser.clip_norm),
      rank_{request.comm, holder,
            request.comm.size() == 1 ? Comm::self() : request.comm.split(holder.rank(), request.comm.rank()),
            request.stage()},
      overlaps_(request.parallel.progress == Progress::blocks),
      splits_(splits),
      values_(rank_, layout_, overlaps_, splits_),
      gradient_(rank_.holder, gradient_size()),
      offload_(request.offload),
      states_(request.optimiser, rank_.updated_size(layout_), request.offload, request.ledger,
              request.offload.rank.value_or(request.comm.rank()), splits_),
      slices_(rank_.stage < 2 ? 0 : layout_.slices()),
      workspace_((rank_.across.size() - 1) * layout_.largest_slice()),
      bad_(rank_.holder, 1) {
  QUINTET_CHECK(rank_.stage < 3 || rank_.holder.size() == 1,
                "parallel: stage 3 divides values, which the {} ranks of a node share; set holder: rank",
                rank_.holder.size());
  if (!offload_.delayed_update) return;
  pending_.resize(rank_.updated_size(layout_));
  next_.resize(pending_.size() * values_.width());
  const auto note = [&](ByteCategory category, std::size_t bytes) {
    request.ledger.note(Tier::host, category, bytes);
  };
  note(ByteCategory::parameters, next_.size());
  note(ByteCategory::gradients, pending_.size() * sizeof(Real));
}

template <class Real>
void HostStore<Real>::progress() {
  values_.progress();
  if (reducing_) reducing_->progress();
}

template <class Real>
void HostStore<Real>::enter(int block, PassWay way) {
  progress();
  values_.enter(block, way);
}

template <class Real>
Real* HostStore<Real>::gradient(int block) {
  finish_reduction();
  const auto& it = layout_.blocks()[block];
  const auto& unit = layout_.units()[it.unit];
  return gradient_.part(rank_.holder.rank()) + (rank_.stage < 2 ? it.offset : it.offset - unit.offset);
}

template <class Real>
void HostStore<Real>::sum_in_holder(std::size_t from, std::size_t n) {
  if (rank_.holder.size() == 1) return;
  constexpr std::size_t length = 1024;  // stays in the first-level cache
  std::array<Real, length> sum;
  for (const std::size_t end = from + n; from < end; from += length) {
    const std::size_t now = std::min(length, end - from);
    std::copy_n(gradient_.part(0) + from, now, sum.data());
    for (int rank = 1; rank < rank_.holder.size(); ++rank) {
      const Real* const other = gradient_.part(rank) + from;
      for (std::size_t i = 0; i < now; ++i) sum[i] += other[i];
    }
    for (int rank = 0; rank < rank_.holder.size(); ++rank)
      if (rank != rank_.holder.rank()) std::fill_n(gradient_.part(rank) + from, now, Real(0));
    std::copy_n(sum.data(), now, gradient_.part(rank_.holder.rank()) + from);
  }
}

template <class Real>
void HostStore<Real>::finish(int block) {
  progress();
  if (rank_.stage < 2) return;
  const std::size_t unit = layout_.blocks()[block].unit;
  if (block != layout_.units()[unit].first_block) return;
  finish_reduction();
  start_reduction(unit);
  if (!overlaps_) finish_reduction();
}

template <class Real>
void HostStore<Real>::start_reduction(std::size_t number) {
  const Unit& unit = layout_.units()[number];
  gradient_.synchronise();
  sum_in_holder(rank_.share(unit), rank_.share_size(unit));
  const auto mine = gradients(rank_.holder.rank(), rank_.share(unit), rank_.share_size(unit));
  reducing_.emplace(rank_.across.start_reduce_scatter(std::span<const Real>(mine), std::span(workspace_)));
  reduced_ = number;
}

template <class Real>
void HostStore<Real>::finish_reduction() {
  if (!reducing_) return;
  const Unit& unit = layout_.units()[reduced_];
  reducing_->wait(std::span(slices_).subspan(rank_.place_of(unit), unit.slice));
  reducing_.reset();
  const auto mine = gradients(rank_.holder.rank(), rank_.share(unit), rank_.share_size(unit));
  std::fill(mine.begin(), mine.end(), Real(0));
  gradient_.synchronise();  // the next unit may come
}

template <class Real>
void HostStore<Real>::refuse_bad_gradients(std::int64_t t) {
  int first = *bad_.part(rank_.holder.rank());
  if (rank_.holder.size() > 1) {
    bad_.synchronise();
    for (int rank = 0; rank < rank_.holder.size(); ++rank) first = std::min(first, *bad_.part(rank));
  }
  if (rank_.across.size() > 1) first = rank_.across.minimum(first);
  if (first == INT_MAX) return;
  clear_gradient();
  const auto& block = layout_.blocks()[layout_.units()[first].first_block];
  throw NumericalError(bad_gradient_text(t, block.name));
}

/// |g|^2 is summed from the slices of all ranks, in their order, so that neither holder nor stage changes a
/// bit.
template <class Real>
void HostStore<Real>::clip_gradients() {
  const auto& units = layout_.units();
  double own = 0;
  for (std::size_t u = 0; u < units.size(); ++u)
    own += sum_of_squares<Real>(
        sums_[u].subspan(rank_.slice(units[u]) - rank_.updated(units[u]), units[u].slice));
  double squares = own;
  if (rank_.all.size() > 1) {
    squares = 0;
    for (const double part : rank_.all.all_gather(own)) squares += part;
  }
  const double norm = std::sqrt(squares);
  if (norm <= clip_norm_) return;
  const Real scale = clip_norm_ / norm;
  for (const auto sum : sums_)
    for (Real& g : sum) g *= scale;
}

// Gradients are summed among the ranks of a holder and then across holders; each rank moves its slice. A bad
// number is told by all ranks before any value has moved.
template <class Real>
void HostStore<Real>::step(std::int64_t t, double learning_rate) {
  settle();
  const auto& units = layout_.units();
  const int self = rank_.holder.rank();
  finish_reduction();
  if (rank_.stage < 2) gradient_.synchronise();
  int& bad = *bad_.part(self);
  bad = INT_MAX;
  sums_.clear();
  for (std::size_t u = 0; u < units.size(); ++u) {
    const Unit& unit = units[u];
    if (rank_.stage >= 2) {
      sums_.push_back(std::span(slices_).subspan(rank_.place_of(unit), unit.slice));
    } else {
      sum_in_holder(unit.offset + rank_.share(unit), rank_.share_size(unit));
      const auto mine = gradients(self, unit.offset + rank_.share(unit), rank_.share_size(unit));
      const auto own = gradients(self, unit.offset + rank_.slice(unit), unit.slice);
      sums_.push_back(rank_.stage == 0 ? mine : own);
      if (rank_.across.size() > 1) {
        rank_.across.reduce_scatter(std::span<const Real>(mine), own, std::span(workspace_));
        if (rank_.stage == 0)
          rank_.across.all_gather_into(mine);
        else {
          std::fill(mine.data(), own.data(), Real(0));
          std::fill(own.data() + own.size(), mine.data() + mine.size(), Real(0));
        }
      }
    }
    if (bad == INT_MAX && !all_finite<Real>(sums_.back())) bad = u;
  }
  refuse_bad_gradients(t);
  if (clip_norm_ > 0) clip_gradients();
  if (offload_.delays(t)) {
    pending_t_ = t;
    pending_rate_ = learning_rate;
    Real* to = pending_.data();
    for (const auto sum : sums_) {
      to = std::copy(sum.begin(), sum.end(), to);
      std::fill(sum.begin(), sum.end(), Real(0));
    }
    return;
  }
  update(t, learning_rate, values_.updated(), sums_);
  values_.gather();
}

template <class Real>
void HostStore<Real>::update(std::int64_t t, double learning_rate,
                             const std::vector<std::span<std::byte>>& values,
                             const std::vector<std::span<Real>>& gradients) {
  const Real kept = 1 - learning_rate * weight_decay_;
  std::size_t place = 0;
  for (std::size_t u = 0; u < values.size(); place += gradients[u++].size()) {
    before_.clear();
    visit_twins(u, values[u], [&](Real value) {
      before_.push_back(value * kept);
      return value;
    });
    states_.update(t, learning_rate, place, values[u], gradients[u]);
    auto before = before_.begin();
    visit_twins(u, values[u], [&](Real value) { return value + (value - *before++); });
  }
  states_.finish(t);
}

template <class Real>
template <class Visit>
void HostStore<Real>::visit_twins(std::size_t number, std::span<std::byte> values, const Visit& visit) const {
  const Unit& unit = layout_.units()[number];
  auto* const numbers = reinterpret_cast<Real*>(values.data());
  const std::size_t begin = unit.first + rank_.updated(unit), end = begin + values.size() / sizeof(Real);
  for (const auto& [first, n] : twins_)
    for (std::size_t i = std::max(first, begin); i < std::min({first + n, end, unit.first + unit.size}); ++i)
      numbers[i - begin] = visit(numbers[i - begin]);
}

template <class Real>
void HostStore<Real>::begin_step() {
  if (pending_t_ == 0 || updating_.valid()) return;
  updating_ = std::async(std::launch::async, [this] {
    std::vector<std::span<std::byte>> values;
    std::vector<std::span<Real>> gradients;
    std::size_t place = 0;
    for (const auto part : values_.updated()) {
      const std::size_t n = part.size() / values_.width();
      values.push_back(std::span(next_).subspan(place * values_.width(), part.size()));
      gradients.push_back(std::span(pending_).subspan(place, n));
      std::copy(part.begin(), part.end(), values.back().begin());
      place += n;
    }
    update(pending_t_, pending_rate_, values, gradients);
  });
}

template <class Real>
void HostStore<Real>::settle() {
  begin_step();
  if (!updating_.valid()) return;
  updating_.get();
  pending_t_ = 0;
  values_.synchronise();  // others may still read them
  const std::byte* from = next_.data();
  for (const auto part : values_.updated()) {
    std::copy_n(from, part.size(), part.data());
    from += part.size();
  }
  values_.gather();
}

template <class Real>
void HostStore<Real>::clear_gradient() {
  finish_reduction();
  gradient_.synchronise();  // others may still read it
  std::fill_n(gradient_.part(rank_.holder.rank()), gradient_size(), Real(0));
  std::fill(slices_.begin(), slices_.end(), Real(0));
}

template <class Real>
HeldBytes HostStore<Real>::bytes() const {
  const std::size_t gradients = gradient_size() * sizeof(Real);
  return {values_.kept_bytes(),
          rank_.stage < 2 ? gradients : slices_.size() * sizeof(Real),
          states_.host_bytes(),
          (rank_.stage < 2 ? 0 : gradients) + values_.at_hand_bytes(),
          workspace_.size() * sizeof(Real),
          values_.expanded_bytes()};
}

template <class Real>
std::int64_t HostStore<Real>::bytes_sent() const {
  return traffic(Comm::Call::reduce_scatter).bytes + traffic(Comm::Call::all_gather_into).bytes;
}

template class HostStore<float>;
template class HostStore<double>;

}  // namespace quintet
