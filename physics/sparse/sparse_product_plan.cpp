#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/sparse/sparse_product.hpp"

/// Plans of a SparseProduct: who holds which elements of A, and what comes and goes in which stage.
namespace quintet {

namespace {

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

template <class Real>
void SparseProduct<Real>::add_block(Part& part, int row, int inner_place, int column,
                                    std::int64_t offset) const {
  if (scalars_) {
    part.scalars.column.push_back(inner_place);
  } else {
    part.blocks.source.push_back(inner_place);
    part.blocks.inner.push_back(shares_.size(column));
    part.blocks.offset.push_back(offset);
  }
  part.n_values += std::int64_t{shares_.size(row)} * shares_.size(column);
}

template <class Real>
void SparseProduct<Real>::close_row(Part& part, int row) const {
  if (scalars_) {
    part.scalars.row_begin.push_back(part.scalars.column.size());
    return;
  }
  part.blocks.first.push_back(shares_.unit_begin[row] - shares_.unit_begin[first_]);
  part.blocks.rows.push_back(shares_.size(row));
  part.blocks.begin.push_back(part.blocks.source.size());
}

template <class Real>
void SparseProduct<Real>::plan_sparse_1d(const SparseRows& a) {
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
  AlignedVector<Real> more;  // of the foreign part, where values are copied
  if (!scalars_) borrow(a);
  int row = first_;
  const auto close_rows_before = [&](int next) {
    for (; row < next; ++row)
      for (Stage& stage : stages_) close_row(stage.part, row);
  };
  for (const auto& e : elements_of(a, first_)) {
    close_rows_before(e.row);
    const bool here = e.column >= first_ && e.column < last_;
    Part& part = (here ? own : foreign).part;
    const std::int64_t n = std::int64_t{shares_.size(e.row)} * shares_.size(e.column);
    add_block(part, e.row, here ? shares_.unit_begin[e.column] - own_row : place[e.column], e.column,
              borrowed_ != nullptr ? e.offset : static_cast<std::int64_t>(part.n_values));
    auto& values = here ? values_ : more;
    if (borrowed_ == nullptr) values.insert(values.end(), a.value + e.offset, a.value + e.offset + n);
  }
  close_rows_before(last_);
  foreign.value = values_.size();
  values_.insert(values_.end(), more.begin(), more.end());
}

template <class Real>
void SparseProduct<Real>::plan_stages(const SparseRows& a) {
  const int self = comm_.rank();
  AlignedVector<double> received;
  const auto list = is_1d(layout_) ? elements_of(a, first_) : hand_out(comm_, a, layout_, received);
  const double* const from = is_1d(layout_) ? a.value : received.data();
  if (is_1d(layout_) && !scalars_) borrow(a);

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

  std::vector<AlignedVector<Real>> values(mine.size());
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
    AlignedVector<Real>().swap(values[s]);
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

template void SparseProduct<float>::plan_sparse_1d(const SparseRows&);
template void SparseProduct<float>::plan_stages(const SparseRows&);
template void SparseProduct<double>::plan_sparse_1d(const SparseRows&);
template void SparseProduct<double>::plan_stages(const SparseRows&);

}  // namespace quintet
