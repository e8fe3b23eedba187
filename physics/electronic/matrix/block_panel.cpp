#include "physics/electronic/matrix/block_panel.hpp"

#include <algorithm>
#include <span>

#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"

namespace quintet::electronic {

PanelProduct::PanelProduct(const BlockMatrix& a) : a_(a) {
  const Blocking& blocks = *a.blocking;
  const int n_ranks = a.comm.size(), start = blocks.begin[a.first];
  n_own_ = blocks.begin[a.last] - start;
  std::vector<std::int32_t> place(blocks.n_blocks(), -1);
  for (const auto row : a.row)
    if (row < a.first || row >= a.last) place[row] = 0;
  std::vector<std::vector<std::int32_t>> ask(n_ranks);
  n_received_.assign(n_ranks, 0);
  for (int b = 0; b < blocks.n_blocks(); ++b) {  // in the order of the owners
    if (place[b] < 0) continue;
    place[b] = n_foreign_;
    n_foreign_ += blocks.size(b);
    ask[a.owner(b)].push_back(b);
    n_received_[a.owner(b)] += static_cast<std::size_t>(blocks.size(b));
  }
  n_sent_.assign(n_ranks, 0);
  const auto asked = a.comm.all_to_all(ask);
  for (int rank = 0; rank < n_ranks; ++rank)
    for (const auto b : asked[rank]) {
      for (int i = 0; i < blocks.size(b); ++i) sent_.push_back(blocks.begin[b] - start + i);
      n_sent_[rank] += static_cast<std::size_t>(blocks.size(b));
    }
  for (int c = 0; c < a.n_columns(); ++c) {
    for (BlockRows* part : {&own_, &foreign_}) {
      part->first.push_back(blocks.begin[a.first + c] - start);
      part->rows.push_back(blocks.size(a.first + c));
    }
    for (auto p = a.column_begin[c]; p < a.column_begin[c + 1]; ++p) {
      const int b = a.row[p];
      const bool here = b >= a.first && b < a.last;
      BlockRows& part = here ? own_ : foreign_;
      part.source.push_back(here ? blocks.begin[b] - start : place[b]);
      part.inner.push_back(blocks.size(b));
      part.offset.push_back(a.offset[p]);
    }
    for (BlockRows* part : {&own_, &foreign_})
      part->begin.push_back(static_cast<std::int64_t>(part->source.size()));
  }
}

void PanelProduct::operator()(const AlignedVector<double>& x, AlignedVector<double>& y, int f) {
  const std::size_t columns = static_cast<std::size_t>(f), n = static_cast<std::size_t>(n_own_) * columns;
  QUINTET_CHECK(f > 0 && x.size() == n, "a panel of {} numbers for {} rows of {} columns", x.size(), n_own_,
                f);
  send_.resize(sent_.size() * columns);
  receive_.resize(static_cast<std::size_t>(n_foreign_) * columns);
  for (std::size_t i = 0; i < sent_.size(); ++i)
    std::copy_n(x.data() + static_cast<std::size_t>(sent_[i]) * columns, columns, send_.data() + i * columns);
  const auto numbers = [&](std::vector<std::size_t> rows) {
    for (auto& count : rows) count *= columns;
    return rows;
  };
  const auto n_send = numbers(n_sent_), n_receive = numbers(n_received_);
  auto under_way = a_.comm.start_all_to_all_into(std::span<const double>(send_), n_send,
                                                 std::span<double>(receive_), n_receive);
  y.assign(n, 0.0);
  multiply_add(own_, a_.value.data(), x.data(), y.data(), f);
  under_way.wait();
  multiply_add(foreign_, a_.value.data(), receive_.data(), y.data(), f);
}

AlignedVector<double> random_sign_panel(const BlockMatrix& a, std::uint64_t seed, int first, int f) {
  const Blocking& blocks = *a.blocking;
  const int start = blocks.begin[a.first], n = blocks.begin[a.last] - start;
  AlignedVector<double> x(static_cast<std::size_t>(n) * static_cast<std::size_t>(f));
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < f; ++c) {
      std::uint32_t word[4] = {static_cast<std::uint32_t>(start + i), static_cast<std::uint32_t>(first + c),
                               0, 0};
      philox4x32(word, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
      x[static_cast<std::size_t>(i) * f + c] = (word[0] >> 31) != 0 ? -1.0 : 1.0;
    }
  return x;
}

}  // namespace quintet::electronic
