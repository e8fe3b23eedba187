#include "physics/kinetics/space/row_exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "io/parallel/comm.hpp"

namespace quintet::kinetics {

RowExchange::RowExchange(const Comm& comm, std::vector<CellBox> boxes, std::vector<bool> gives,
                         const std::array<int, 6>& cells, int dim, std::size_t values, Owner owner,
                         std::size_t chunk_bytes)
    : comm_(std::make_shared<const Comm>(comm)),
      rank_(comm.rank()),
      boxes_(std::move(boxes)),
      gives_(std::move(gives)),
      cells_(cells),
      dim_(dim),
      values_(values),
      row_size_(values),
      owner_(owner) {
  for (int d = 1; d < dim; ++d) row_size_ *= cells[d];
  const std::size_t row_bytes = std::max<std::size_t>(1, row_size_ * sizeof(double));
  rows_a_chunk_ = std::clamp<std::size_t>(chunk_bytes / row_bytes, 1, cells[0]);
  for (int rank = 0; rank < comm.size(); ++rank) {
    owned_.push_back(share(rank));
    const auto own = owned_.back();
    n_chunks_ = std::max(n_chunks_, (own.size() + rows_a_chunk_ - 1) / rows_a_chunk_);
    const auto& box = boxes_[rank];
    bool whole = own.begin == box.begin[0] && own.size() == box.extent[0];
    for (int d = 1; d < dim; ++d) whole = whole && box.extent[d] == cells[d];
    all_local_ = all_local_ && whole;
  }
}

RowRange RowExchange::share(int rank) const {
  if (owner_ == Owner::root) return {0, rank == 0 ? cells_[0] : 0};
  // The ranks with these rows follow each other: part number `part` of `parts` of the box's rows is this
  // rank's.
  const int first = boxes_[rank].begin[0], n = boxes_[rank].extent[0];
  const auto same = [&](const CellBox& box) { return box.begin[0] == first; };
  const int parts = std::count_if(boxes_.begin(), boxes_.end(), same);
  const int part = std::count_if(boxes_.begin(), boxes_.begin() + rank, same);
  const auto begin = [&](int i) { return first + i * (n / parts) + std::min(i, n % parts); };
  return {begin(part), begin(part + 1)};
}

RowRange RowExchange::chunk(int rank, int i) const {
  const auto own = owned_[rank];
  const int begin = std::min(own.end, own.begin + i * rows_a_chunk_);
  return {begin, std::min(own.end, begin + rows_a_chunk_)};
}

RowRange RowExchange::common(int rank, const RowRange& range) const {
  const auto& box = boxes_[rank];
  return {std::max(range.begin, box.begin[0]), std::min(range.end, box.begin[0] + box.extent[0])};
}

std::size_t RowExchange::box_row_size(int rank) const {
  std::size_t size = values_;
  for (int d = 1; d < dim_; ++d) size *= boxes_[rank].extent[d];
  return size;
}

template <class Visit>
void RowExchange::visit_runs(int rank, const RowRange& common, int first_row, const Visit& visit) const {
  const auto& box = boxes_[rank];
  if (common.size() == 0) return;
  const int last = dim_ - 1;
  const std::size_t run = (last == 0 ? 1 : box.extent[last]) * values_;
  std::size_t n_runs = common.size();
  for (int d = 1; d < last; ++d) n_runs *= box.extent[d];
  for (std::size_t i = 0; i < n_runs; ++i) {
    std::size_t rest = i, place = 0, stride = values_;
    if (last > 0) {
      place = std::int64_t{box.begin[last]} * stride;
      stride *= cells_[last];
    }
    for (int d = last - 1; d > 0; --d) {
      place += (box.begin[d] + rest % box.extent[d]) * stride;
      rest /= box.extent[d];
      stride *= cells_[d];
    }
    place += (common.begin - first_row + rest) * row_size_;
    visit(place, i * run, run);
  }
}

void RowExchange::collect(int i, const Give& give, std::span<double> rows) const {
  const int self = rank_;
  const auto mine = chunk(self, i);
  if (all_local_) {
    if (mine.size() > 0) give(mine.begin - boxes_[self].begin[0], mine.size(), rows.data());
    return;
  }
  std::vector<std::vector<double>> send(comm_->size());
  for (int to = 0; to < comm_->size() && gives_[self]; ++to) {
    const auto part = common(self, chunk(to, i));
    if (part.size() == 0) continue;
    send[to].resize(std::int64_t{part.size()} * box_row_size(self));
    give(part.begin - boxes_[self].begin[0], part.size(), send[to].data());
  }
  const auto received = comm_->all_to_all(send);
  for (int from = 0; from < comm_->size(); ++from) {
    if (!gives_[from]) continue;
    const double* values = received[from].data();
    visit_runs(from, common(from, mine), mine.begin, [&](std::size_t place, std::size_t part, std::size_t n) {
      std::copy_n(values + part, n, rows.data() + place);
    });
  }
}

std::vector<double> RowExchange::collect(const Give& give) const {
  std::vector<double> result(std::int64_t{rows().size()} * row_size_);
  for (int i = 0; i < n_chunks_; ++i) {
    const auto part = chunk(i);
    collect(i, give,
            std::span(result).subspan(std::int64_t{part.begin - rows().begin} * row_size_,
                                      std::int64_t{part.size()} * row_size_));
  }
  return result;
}

void RowExchange::spread(int i, std::span<const double> rows, const Take& take) const {
  const int self = rank_;
  const auto mine = chunk(self, i);
  if (all_local_) {
    if (mine.size() > 0) take(mine.begin - boxes_[self].begin[0], mine.size(), rows.data());
    return;
  }
  std::vector<std::vector<double>> send(comm_->size());
  for (int to = 0; to < comm_->size(); ++to) {
    const auto part = common(to, mine);
    send[to].resize(std::int64_t{part.size()} * box_row_size(to));
    visit_runs(to, part, mine.begin, [&](std::size_t place, std::size_t place_in_box, std::size_t n) {
      std::copy_n(rows.data() + place, n, send[to].data() + place_in_box);
    });
  }
  const auto received = comm_->all_to_all(send);
  for (int from = 0; from < comm_->size(); ++from) {
    const auto part = common(self, chunk(from, i));
    if (part.size() > 0) take(part.begin - boxes_[self].begin[0], part.size(), received[from].data());
  }
}

}  // namespace quintet::kinetics
