#include "physics/sparse/sparse_product.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"

namespace quintet {

namespace {

constexpr int tag_h = 11, tag_a = 12, tag_sum = 13, tag_gather = 14;
constexpr int pieces = 8;  ///< of a stage's product, between which MPI moves on what is under way

bool is_1d(const SpmmLayout& layout) {
  return layout.kind == SpmmKind::one_d || layout.kind == SpmmKind::sparse_1d;
}

/// A block of A: unit row and column, and where its values begin.
struct Element {
  std::int32_t row, column;
  std::int64_t offset;
};

std::vector<Element> elements_of(const SparseRows& a, int first) {
  std::vector<Element> list;
  list.reserve(a.column.size());
  for (int r = 0; r < std::ssize(a.row_begin) - 1; ++r)
    for (auto p = a.row_begin[r]; p < a.row_begin[r + 1]; ++p) {
      const std::size_t at = p;
      list.push_back({first + r, a.column[at], a.offset.empty() ? p : a.offset[at]});
    }
  return list;
}

/// Elements of all ranks that this one holds, rows ascending, values in `to`.
std::vector<Element> hand_out(const Comm& comm, const SparseRows& a, const SpmmLayout& layout,
                              AlignedVector<double>& to) {
  const RowShares& shares = a.shares;
  const std::size_t n_ranks = comm.size();
  std::vector<std::vector<std::int32_t>> places(n_ranks);
  std::vector<std::vector<double>> values(n_ranks);
  const auto area = [&](int row, int column) { return std::int64_t{shares.size(row)} * shares.size(column); };
  for (const auto& e : elements_of(a, shares.rank_begin[comm.rank()])) {
    const std::size_t holder = holder_of(shares, layout, e.row, e.column);
    places[holder].insert(places[holder].end(), {e.row, e.column});
    values[holder].insert(values[holder].end(), a.value + e.offset,
                          a.value + e.offset + area(e.row, e.column));
  }
  const auto all_places = comm.all_to_all(places);
  places.clear();
  std::vector<Element> list;
  std::int64_t offset = 0;
  for (const auto& of_rank : all_places)
    for (std::size_t p = 0; p < of_rank.size(); p += 2) {
      list.push_back({of_rank[p], of_rank[p + 1], offset});
      offset += area(of_rank[p], of_rank[p + 1]);
    }
  to.reserve(offset);
  for (const auto& of_rank : comm.all_to_all(values)) to.insert(to.end(), of_rank.begin(), of_rank.end());
  return list;
}

}  // namespace

/// Messages of a stage; a rank that ends with an error waits for none of them.
struct SparseProduct::UnderWay {
  std::vector<Comm::Pending> pending;
  void progress() {
    for (auto& one : pending) one.progress();
  }
};

SparseProduct::SparseProduct(const Comm& comm, const SparseRows& a, const SpmmLayout& layout)
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

void SparseProduct::check(const SparseRows& a) const {
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

void SparseProduct::add_block(Part& part, int row, int inner_place, int column, std::int64_t offset) const {
  if (scalars_) {
    part.scalars.column.push_back(inner_place);
  } else {
    part.blocks.source.push_back(inner_place);
    part.blocks.inner.push_back(shares_.size(column));
    part.blocks.offset.push_back(offset);
  }
  part.n_values += std::int64_t{shares_.size(row)} * shares_.size(column);
}

void SparseProduct::close_row(Part& part, int row) const {
  if (scalars_) {
    part.scalars.row_begin.push_back(part.scalars.column.size());
    return;
  }
  part.blocks.first.push_back(shares_.unit_begin[row] - shares_.unit_begin[first_]);
  part.blocks.rows.push_back(shares_.size(row));
  part.blocks.begin.push_back(part.blocks.source.size());
}

void SparseProduct::plan_sparse_1d(const SparseRows& a) {
  const std::size_t n_ranks = comm_.size();
  const int own_row = shares_.unit_begin[first_];
  std::vector<std::int32_t> place(shares_.n_units(), -1);
  for (const auto k : a.column)
    if (k < first_ || k >= last_) place[k] = 0;
  std::vector<std::vector<std::int32_t>> ask(n_ranks);
  stages_.resize(2);
  Stage &own = stages_[0], &foreign = stages_[1];
  own.own_rows = true;
  own.n_rows = part_.n_rows();
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const int before = foreign.n_rows;
    for (int k = shares_.rank_begin[rank]; k < shares_.rank_begin[rank + 1]; ++k) {
      if (place[k] < 0) continue;
      place[k] = foreign.n_rows;
      foreign.n_rows += shares_.size(k);
      ask[rank].push_back(k);
    }
    if (foreign.n_rows > before)
      foreign.receive_h.push_back(
          {rank, static_cast<std::size_t>(before), static_cast<std::size_t>(foreign.n_rows - before)});
  }
  n_foreign_ = foreign.n_rows;
  const auto asked = comm_.all_to_all(ask);
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const std::size_t before = packed_rows_.size();
    for (const auto k : asked[rank])
      for (int i = shares_.unit_begin[k]; i < shares_.unit_begin[k + 1]; ++i)
        packed_rows_.push_back(i - own_row);
    if (packed_rows_.size() > before) foreign.send_h.push_back({rank, before, packed_rows_.size() - before});
  }
  AlignedVector<double> more;  // of the foreign part, where values are copied
  borrowed_ = scalars_ ? nullptr : a.value;
  int row = first_;
  const auto close_rows_before = [&](int next) {
    for (; row < next; ++row)
      for (Stage& stage : stages_) close_row(stage.part, row);
  };
  for (const auto& e : elements_of(a, first_)) {
    close_rows_before(e.row);
    const bool here = e.column >= first_ && e.column < last_;
    add_block((here ? own : foreign).part, e.row,
              here ? shares_.unit_begin[e.column] - own_row : place[e.column], e.column, e.offset);
    if (scalars_) (here ? values_ : more).push_back(a.value[e.offset]);
  }
  close_rows_before(last_);
  foreign.value = values_.size();
  values_.insert(values_.end(), more.begin(), more.end());
}

void SparseProduct::plan_stages(const SparseRows& a) {
  const int self = comm_.rank();
  AlignedVector<double> received;
  const auto list = is_1d(layout_) ? elements_of(a, first_) : hand_out(comm_, a, layout_, received);
  const double* const from = is_1d(layout_) ? a.value : received.data();
  borrowed_ = is_1d(layout_) && !scalars_ ? a.value : nullptr;

  const auto mine = stages_of(shares_, layout_, self);
  std::map<int, std::size_t> stage_of;  // by its last unit
  stages_.resize(mine.size());
  for (std::size_t s = 0; s < mine.size(); ++s) {
    const SpmmStage& plan = mine[s];
    Stage& stage = stages_[s];
    if (plan.begin < plan.end) stage_of[plan.end] = s;
    stage.n_rows = shares_.unit_begin[plan.end] - shares_.unit_begin[plan.begin];
    stage.own_rows = plan.h_rank == self;
    stage.own_values = plan.a_rank == self;
    if (stage.own_rows)
      stage.row = shares_.unit_begin[plan.begin] - part_.first;
    else if (stage.n_rows > 0)
      stage.receive_h.push_back({plan.h_rank, 0, static_cast<std::size_t>(stage.n_rows)});
    n_foreign_ += stage.own_rows ? 0 : stage.n_rows;
  }

  std::vector<AlignedVector<double>> values(mine.size());
  std::vector<std::vector<std::int32_t>> pattern(mine.size());  // rows and columns, for those who need it
  int row = first_;
  const auto close_rows_before = [&](int next) {
    for (; row < next; ++row)
      for (Stage& stage : stages_)
        if (stage.own_values) close_row(stage.part, row);
  };
  for (const auto& e : list) {
    close_rows_before(e.row);
    const std::size_t s = stage_of.upper_bound(e.column)->second;
    Part& part = stages_[s].part;
    const std::size_t n = std::int64_t{shares_.size(e.row)} * shares_.size(e.column);
    const auto offset = borrowed_ != nullptr ? e.offset : static_cast<std::int64_t>(part.n_values);
    add_block(part, e.row, shares_.unit_begin[e.column] - shares_.unit_begin[mine[s].begin], e.column,
              offset);
    if (borrowed_ == nullptr) values[s].insert(values[s].end(), from + e.offset, from + e.offset + n);
    pattern[s].insert(pattern[s].end(), {e.row, e.column});
  }
  close_rows_before(last_);
  for (std::size_t s = 0; s < mine.size(); ++s) {
    stages_[s].value = values_.size();
    values_.insert(values_.end(), values[s].begin(), values[s].end());
    AlignedVector<double>().swap(values[s]);
  }

  // What others take from here, in their stage of the same number.
  std::vector<std::vector<std::int32_t>> tell(comm_.size());
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const auto theirs = stages_of(shares_, layout_, rank);
    if (theirs.size() > stages_.size()) stages_.resize(theirs.size());
    for (std::size_t s = 0; rank != self && s < theirs.size(); ++s) {
      const SpmmStage& plan = theirs[s];
      const int rows = shares_.unit_begin[plan.end] - shares_.unit_begin[plan.begin];
      if (plan.h_rank == self && rows > 0)
        stages_[s].send_h.push_back({rank,
                                     static_cast<std::size_t>(shares_.unit_begin[plan.begin] - part_.first),
                                     static_cast<std::size_t>(rows)});
      if (plan.a_rank != self || plan.begin == plan.end) continue;
      const std::size_t here = stage_of.at(plan.end);
      if (stages_[here].part.n_values == 0) continue;
      stages_[s].send_a.push_back({rank, stages_[here].value, stages_[here].part.n_values});
      QUINTET_CHECK(
          pattern[here].size() <= std::numeric_limits<std::int32_t>::max(),
          "{}: a part of the matrix has {} nonzero blocks: expected at most 1073741823; take more ranks",
          layout_.name(), pattern[here].size() / 2);
      auto& words = tell[rank];
      words.insert(words.end(), {plan.end, static_cast<std::int32_t>(pattern[here].size())});
      words.insert(words.end(), pattern[here].begin(), pattern[here].end());
    }
  }
  if (layout_.columns == 1) return;
  const auto told = comm_.all_to_all(tell);
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const auto& words = told[rank];
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t s = stage_of.at(words[at]), end = at + 2 + words[at + 1];
      Stage& stage = stages_[s];
      int next = first_;
      for (at += 2; at < end; at += 2) {
        for (; next < words[at]; ++next) close_row(stage.part, next);
        add_block(stage.part, words[at],
                  shares_.unit_begin[words[at + 1]] - shares_.unit_begin[mine[s].begin], words[at + 1],
                  static_cast<std::int64_t>(stage.part.n_values));
      }
      for (; next < last_; ++next) close_row(stage.part, next);
      stage.receive_a = {rank, 0, stage.part.n_values};
    }
  }
}

void SparseProduct::start(std::size_t s, const AlignedVector<double>& x, int columns, UnderWay& to) {
  const Stage& stage = stages_[s];
  const std::size_t f = columns;
  auto &h = buffer_h_[s % 2], &a = buffer_a_[s % 2];
  if (f > 0 && !stage.receive_h.empty()) {
    h.resize(stage.n_rows * f);
    for (const auto& message : stage.receive_h)
      receive(std::span<double>(h).subspan(message.first * f, message.n * f), message.rank, tag_h, to,
              received_.dense_words);
  }
  if (stage.receive_a.n > 0) {
    a.resize(stage.receive_a.n);
    receive(std::span<double>(a), stage.receive_a.rank, tag_a, to, received_.nonzeros);
  }
  const AlignedVector<double>& rows = packed_rows_.empty() ? x : packed_;
  for (const auto& message : stage.send_h)
    send(std::span<const double>(rows).subspan(message.first * f, message.n * f), message.rank, tag_h, to);
  for (const auto& message : stage.send_a)
    send(std::span<const double>(values_).subspan(message.first, message.n), message.rank, tag_a, to);
}

void SparseProduct::receive(std::span<double> numbers, int rank, int tag, UnderWay& to, std::int64_t& words) {
  if (numbers.empty()) return;
  words += numbers.size();
  ++received_.messages;
  to.pending.push_back(comm_.start_exchange(std::span<const double>(), -1, numbers, rank, tag));
}

void SparseProduct::send(std::span<const double> numbers, int rank, int tag, UnderWay& to) {
  if (numbers.empty()) return;
  to.pending.push_back(comm_.start_exchange(numbers, rank, std::span<double>(), -1, tag));
}

void SparseProduct::multiply(std::size_t s, const double* x, double* z, int f, bool add,
                             UnderWay& beside) const {
  const Stage& stage = stages_[s];
  const double* const h = stage.own_rows ? x + std::int64_t{stage.row} * f : buffer_h_[s % 2].data();
  const double* const value = !stage.own_values      ? buffer_a_[s % 2].data()
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

void SparseProduct::operator()(const AlignedVector<double>& x, AlignedVector<double>& z, int f) {
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
  AlignedVector<double>& sum = summed ? sum_ : z;
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
  if (!begun) std::fill(sum.begin(), sum.end(), 0.0);
  if (summed) add_up(z, columns);
}

/// Slices of sum_, each added up in the order of the layers by the rank that has it; copies share the
/// results.
void SparseProduct::add_up(AlignedVector<double>& z, int columns) {
  const int layers = layout_.layers, l = comm_.rank() % layers;
  const std::size_t f = columns;
  const auto begin = [&](int slice) { return slice_[slice] * f; };
  const std::size_t own = begin(l + 1) - begin(l);
  const auto rank_of_layer = [&](int layer) { return comm_.rank() - l + layer; };
  slices_.resize(own * layers);
  UnderWay sums;
  for (int d = 1; d < layers; ++d) {
    const int from = (l + layers - d) % layers, to = (l + d) % layers;
    receive(std::span<double>(slices_).subspan(own * from, own), rank_of_layer(from), tag_sum, sums,
            received_.dense_words);
    send(std::span<const double>(sum_).subspan(begin(to), begin(to + 1) - begin(to)), rank_of_layer(to),
         tag_sum, sums);
  }
  for (auto& one : sums.pending) one.wait();
  const bool copies = layout_.kind == SpmmKind::one_and_a_half_d;
  z.resize(copies ? sum_.size() : own);
  double* const total = z.data() + (copies ? begin(l) : 0);
  for (int layer = 0; layer < layers; ++layer) {
    const double* const one = layer == l ? sum_.data() + begin(l) : slices_.data() + own * layer;
    for (std::size_t i = 0; i < own; ++i) total[i] = layer == 0 ? one[i] : total[i] + one[i];
  }
  if (!copies) return;
  UnderWay gathered;
  for (int d = 1; d < layers; ++d) {
    const int from = (l + layers - d) % layers, to = (l + d) % layers;
    receive(std::span<double>(z).subspan(begin(from), begin(from + 1) - begin(from)), rank_of_layer(from),
            tag_gather, gathered, received_.dense_words);
    send(std::span<const double>(z).subspan(begin(l), own), rank_of_layer(to), tag_gather, gathered);
  }
  for (auto& one : gathered.pending) one.wait();
}

}  // namespace quintet
