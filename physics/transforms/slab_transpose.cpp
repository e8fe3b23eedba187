#include "physics/transforms/slab_transpose.hpp"

#include <cstring>
#include <span>

#include "io/parallel/comm.hpp"

namespace quintet {

namespace {

constexpr int tag = 71;

std::size_t area(int a, int b) { return std::int64_t{a} * b; }

/// Copy a block of `rows` by `columns` between arrays with these strides.
void copy_block(const double* from, int from_stride, double* to, int to_stride, int rows, int columns) {
  if (columns == 0) return;  // there may be no array
  for (int r = 0; r < rows; ++r)
    std::memcpy(to + area(r, to_stride), from + area(r, from_stride), area(columns, sizeof(double)));
}

}  // namespace

SlabTranspose::SlabTranspose(const Comm& comm, int n_rows, int n_columns)
    : comm_(std::make_shared<const Comm>(comm)),
      rank_(comm.rank()),
      rows_{n_rows, comm.size()},
      columns_{n_columns, comm.size()} {
  by_rows_.resize(area(rows_here(), n_columns));
  if (rows_.n_ranks == 1) return;
  by_columns_.resize(area(n_rows, columns_here()));
  send_.resize(by_rows_.size() + by_columns_.size());
  receive_.resize(send_.size());
}

void SlabTranspose::to_columns() {
  if (rows_.n_ranks > 1) exchange(true);
}

void SlabTranspose::to_rows() {
  if (rows_.n_ranks > 1) exchange(false);
}

void SlabTranspose::exchange(bool forwards) {
  // With rank + d at once to every other rank: in turn d = 0 (a copy), 1, 2 ...
  const int n_ranks = rows_.n_ranks, self = rank_, n_columns = columns_.n;
  std::vector<Comm::Pending> pending;
  std::size_t sent = 0, received = 0;
  struct Arrival {
    int rank;
    std::size_t offset;
  };
  std::vector<Arrival> arrivals;
  const auto rows_block = [&](int other) {
    return rows_here() == 0 ? rows() : rows() + columns_.first(other);
  };
  const auto columns_block = [&](int other) { return columns() + area(rows_.first(other), columns_here()); };
  copy_block(forwards ? rows_block(self) : columns_block(self), forwards ? n_columns : columns_here(),
             forwards ? columns_block(self) : rows_block(self), forwards ? columns_here() : n_columns,
             rows_here(), columns_here());
  for (int d = 1; d < n_ranks; ++d) {
    const int to = (self + d) % n_ranks, from = (self + n_ranks - d) % n_ranks;
    // A block that goes from rows to columns has my rows and the other's columns.
    const int send_rows = forwards ? rows_here() : rows_.size(to),
              send_columns = forwards ? columns_.size(to) : columns_here();
    const int get_rows = forwards ? rows_.size(from) : rows_here(),
              get_columns = forwards ? columns_here() : columns_.size(from);
    double *const out = send_.data() + sent, *const in = receive_.data() + received;
    copy_block(forwards ? rows_block(to) : columns_block(to), forwards ? n_columns : columns_here(), out,
               send_columns, send_rows, send_columns);
    arrivals.push_back({from, received});
    sent += area(send_rows, send_columns);
    received += area(get_rows, get_columns);
    pending.push_back(comm_->start_exchange(std::span<const double>(out, area(send_rows, send_columns)), to,
                                            std::span<double>(in, area(get_rows, get_columns)), from, tag));
  }
  for (std::size_t i = 0; i < pending.size(); ++i) {
    pending[i].wait();
    const auto [from, offset] = arrivals[i];
    const int get_rows = forwards ? rows_.size(from) : rows_here(),
              get_columns = forwards ? columns_here() : columns_.size(from);
    copy_block(receive_.data() + offset, get_columns, forwards ? columns_block(from) : rows_block(from),
               forwards ? columns_here() : n_columns, get_rows, get_columns);
  }
}

}  // namespace quintet
