#include "physics/sparse/sparse_product.hpp"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"

namespace quintet {

namespace {

constexpr int tag_h = 11, tag_a = 12, tag_sum = 13, tag_gather = 14;
constexpr int pieces = 8;  ///< of a stage's product, between which MPI moves on what is under way

}  // namespace

/// Messages of a stage; a rank that ends with an error waits for none of them.
template <class Real>
struct SparseProduct<Real>::UnderWay {
  std::vector<Comm::Pending> pending;
  void progress() {
    for (auto& one : pending) one.progress();
  }
};

template <class Real>
SparseProduct<Real>::SparseProduct(const Comm& comm, const SparseRows& a, const SpmmLayout& layout)
    : comm_(comm), shares_(a.shares), layout_(layout) {
  together(comm, [&] { check(a); });
  part_ = panel_part(shares_, layout_, comm.rank());
  const int i = comm.rank() / (layout.columns * layout.layers);
  first_ = shares_.cut(i, layout.rows);
  last_ = shares_.cut(i + 1, layout.rows);
  scalars_ = shares_.n_units() == shares_.n_rows();
  for (int l = 0; l <= layout.layers && layout.layers > 1; ++l)
    slice_.push_back(shares_.unit_begin[slice_cut(shares_, layout, i, l)] - shares_.unit_begin[first_]);
  if (layout.kind == SpmmKind::sparse_1d)
    plan_sparse_1d(a);
  else
    plan_stages(a);
}

template <class Real>
std::size_t SparseProduct<Real>::bytes() const {
  const auto of = [](const auto& list) {
    return list.capacity() * sizeof(typename std::decay_t<decltype(list)>::value_type);
  };
  std::size_t sum = of(values_) + of(packed_rows_) + of(packed_) + of(sum_) + of(slices_);
  for (const auto* buffers : {buffer_h_, buffer_a_}) sum += of(buffers[0]) + of(buffers[1]);
  for (const Stage& stage : stages_) {
    const auto& [scalars, blocks, n_values] = stage.part;
    sum += of(scalars.row_begin) + of(scalars.column) + of(blocks.first) + of(blocks.rows) +
           of(blocks.begin) + of(blocks.source) + of(blocks.inner) + of(blocks.offset);
  }
  return sum;
}

template <class Real>
void SparseProduct<Real>::check(const SparseRows& a) const {
  const RowShares& s = shares_;
  QUINTET_CHECK(
      layout_.kind != SpmmKind::automatic && layout_.n_ranks() == comm_.size() && s.n_ranks() == comm_.size(),
      "a sparse product laid out {}, of rows shared out over {} ranks, on {} ranks: expected as many",
      layout_.name(), s.n_ranks(), comm_.size());
  QUINTET_CHECK(s.rank_begin.front() == 0 && s.rank_begin.back() == s.n_units() &&
                    std::is_sorted(s.rank_begin.begin(), s.rank_begin.end()) && s.unit_begin.front() == 0 &&
                    std::is_sorted(s.unit_begin.begin(), s.unit_begin.end()),
                "shares of {} blocks of rows: expected ascending from 0 to all of them", s.n_units());
  check_shares(s, layout_);
  const int first = s.rank_begin[comm_.rank()], n_rows = s.rank_begin[comm_.rank() + 1] - first;
  const std::int64_t n = a.column.size();
  QUINTET_CHECK(
      std::ssize(a.row_begin) == n_rows + 1 && a.row_begin.front() == 0 && a.row_begin.back() == n &&
          std::is_sorted(a.row_begin.begin(), a.row_begin.end()),
      "{} block rows with {} blocks of a sparse matrix for a share of {}: expected as many, their starts "
      "ascending from 0",
      std::ssize(a.row_begin) - 1, n, n_rows);
  QUINTET_CHECK(a.offset.empty() ? s.n_units() == s.n_rows() : std::ssize(a.offset) == n,
                "{} places of values for {} blocks: expected as many", a.offset.size(), n);
  for (const auto k : a.column)
    QUINTET_CHECK(k >= 0 && k < s.n_units(),
                  "block column {} of a square sparse matrix of {}: expected 0 to {}", k, s.n_units(),
                  s.n_units() - 1);
}

template <class Real>
void SparseProduct<Real>::start(std::size_t s, const AlignedVector<Real>& x, int columns, UnderWay& to) {
  const Stage& stage = stages_[s];
  const std::size_t f = columns;
  auto &h = buffer_h_[s % 2], &a = buffer_a_[s % 2];
  if (f > 0 && !stage.receive_h.empty()) {
    h.reserve(stage.n_rows * f);  // to the byte: parts differ by a row, and resize() alone would double
    h.resize(stage.n_rows * f);
    for (const auto& message : stage.receive_h)
      receive(std::span<Real>(h).subspan(message.first * f, message.n * f), message.rank, tag_h, to,
              received_.dense_words);
  }
  if (stage.receive_a.n > 0) {
    a.reserve(stage.receive_a.n);
    a.resize(stage.receive_a.n);
    receive(std::span<Real>(a), stage.receive_a.rank, tag_a, to, received_.nonzeros);
  }
  const AlignedVector<Real>& rows = packed_rows_.empty() ? x : packed_;
  for (const auto& message : stage.send_h)
    send(std::span<const Real>(rows).subspan(message.first * f, message.n * f), message.rank, tag_h, to);
  for (const auto& message : stage.send_a)
    send(std::span<const Real>(values_).subspan(message.first, message.n), message.rank, tag_a, to);
}

template <class Real>
void SparseProduct<Real>::receive(std::span<Real> numbers, int rank, int tag, UnderWay& to,
                                  std::int64_t& words) {
  if (numbers.empty()) return;
  words += numbers.size();
  ++received_.messages;
  to.pending.push_back(comm_.start_exchange(std::span<const Real>(), -1, numbers, rank, tag));
}

template <class Real>
void SparseProduct<Real>::send(std::span<const Real> numbers, int rank, int tag, UnderWay& to) {
  if (numbers.empty()) return;
  to.pending.push_back(comm_.start_exchange(numbers, rank, std::span<Real>(), -1, tag));
}

template <class Real>
void SparseProduct<Real>::multiply(std::size_t s, const Real* x, Real* z, int f, bool add,
                                   UnderWay& beside) const {
  const Stage& stage = stages_[s];
  const Real* const h = stage.own_rows ? x + std::int64_t{stage.row} * f : buffer_h_[s % 2].data();
  const Real* const value = !stage.own_values      ? buffer_a_[s % 2].data()
                            : borrowed_ != nullptr ? borrowed_
                                                   : values_.data() + stage.value;
  const int n = last_ - first_;
  for (int piece = 0; piece < pieces; ++piece) {
    const auto cut = [&](int p) { return static_cast<int>(std::int64_t{n} * p / pieces); };
    const int first = cut(piece), last = cut(piece + 1);
    if (first == last) continue;
    const auto product = [&](const auto& pattern) {
      if (add)
        multiply_add(pattern, value, h, z, f, first, last);
      else
        quintet::multiply(pattern, value, h, z, f, first, last);
    };
    if (scalars_)
      product(stage.part.scalars);
    else
      product(stage.part.blocks);
    beside.progress();
  }
}

template <class Real>
void SparseProduct<Real>::operator()(const AlignedVector<Real>& x, AlignedVector<Real>& z, int f) {
  QUINTET_CHECK(f > 0 && x.size() == static_cast<std::size_t>(part_.n_rows()) * part_.n_columns(f),
                "a panel of {} numbers for {} rows and {} of {} columns", x.size(), part_.n_rows(),
                part_.n_columns(f), f);
  const int columns = part_.n_columns(f);
  const std::size_t width = columns;
  received_ = {};
  if (!packed_rows_.empty()) {
    packed_.resize(packed_rows_.size() * width);
    for (std::size_t i = 0; i < packed_rows_.size(); ++i)
      std::copy_n(x.data() + packed_rows_[i] * width, width, packed_.data() + i * width);
  }
  const int n_rows = shares_.unit_begin[last_] - shares_.unit_begin[first_];
  const bool summed = layout_.layers > 1;
  AlignedVector<Real>& sum = summed ? sum_ : z;
  sum.resize(n_rows * width);
  bool begun = false;  // the first part that has nonzeros needs no zeros to add to
  UnderWay now, next;
  start(0, x, columns, now);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (s + 1 < stages_.size()) start(s + 1, x, columns, next);
    for (auto& one : now.pending) one.wait();
    if (stages_[s].part.n_values > 0 && columns > 0) {
      multiply(s, x.data(), sum.data(), columns, begun, next);
      begun = true;
    }
    now.pending = std::exchange(next.pending, {});
  }
  if (!begun) std::fill(sum.begin(), sum.end(), Real(0));
  if (summed) add_up(z, columns);
}

/// Slices of sum_, each added up in the order of the layers by the rank that has it; copies share the
/// results.
template <class Real>
void SparseProduct<Real>::add_up(AlignedVector<Real>& z, int columns) {
  const int layers = layout_.layers, l = comm_.rank() % layers;
  const std::size_t f = columns;
  const auto begin = [&](int slice) { return slice_[slice] * f; };
  const std::size_t own = begin(l + 1) - begin(l);
  const auto rank_of_layer = [&](int layer) { return comm_.rank() - l + layer; };
  slices_.resize(own * layers);
  UnderWay sums;
  for (int d = 1; d < layers; ++d) {
    const int from = (l + layers - d) % layers, to = (l + d) % layers;
    receive(std::span<Real>(slices_).subspan(own * from, own), rank_of_layer(from), tag_sum, sums,
            received_.dense_words);
    send(std::span<const Real>(sum_).subspan(begin(to), begin(to + 1) - begin(to)), rank_of_layer(to),
         tag_sum, sums);
  }
  for (auto& one : sums.pending) one.wait();
  const bool copies = layout_.kind == SpmmKind::one_and_a_half_d;
  z.resize(copies ? sum_.size() : own);
  Real* const total = z.data() + (copies ? begin(l) : 0);
  for (int layer = 0; layer < layers; ++layer) {
    const Real* const one = layer == l ? sum_.data() + begin(l) : slices_.data() + own * layer;
    for (std::size_t i = 0; i < own; ++i) total[i] = layer == 0 ? one[i] : total[i] + one[i];
  }
  if (!copies) return;
  UnderWay gathered;
  for (int d = 1; d < layers; ++d) {
    const int from = (l + layers - d) % layers, to = (l + d) % layers;
    receive(std::span<Real>(z).subspan(begin(from), begin(from + 1) - begin(from)), rank_of_layer(from),
            tag_gather, gathered, received_.dense_words);
    send(std::span<const Real>(z).subspan(begin(l), own), rank_of_layer(to), tag_gather, gathered);
  }
  for (auto& one : gathered.pending) one.wait();
}

template class SparseProduct<float>;
template class SparseProduct<double>;

}  // namespace quintet
