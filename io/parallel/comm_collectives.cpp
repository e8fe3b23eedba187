#include <algorithm>
#include <climits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/comm_implementation.hpp"
#include "io/parallel/mpi_error.hpp"

// One rank alone needs no MPI.
namespace quintet {

using detail::all_to_all_tag;
using detail::gather_tag;
using detail::in_pieces;
using detail::max_piece;

void Comm::broadcast_bytes(std::span<std::byte> values, int root) const {
  implementation_->count(Call::broadcast, rank() == root ? values.size() : 0);
  if (size() == 1) return;
  in_pieces(values.size(), max_piece, [&](std::size_t offset, int length) {
    check_mpi(MPI_Bcast(values.data() + offset, length, MPI_BYTE, root, implementation_->comm), "MPI_Bcast");
  });
}

std::string Comm::broadcast(std::string text, int root) const {
  text.resize(broadcast(static_cast<std::uint64_t>(text.size()), root));
  broadcast(std::span<char>(text), root);
  return text;
}

namespace {

MPI_Datatype type_of(int) { return MPI_INT; }
MPI_Datatype type_of(unsigned) { return MPI_UNSIGNED; }
MPI_Datatype type_of(long) { return MPI_LONG; }
MPI_Datatype type_of(long long) { return MPI_LONG_LONG; }
MPI_Datatype type_of(unsigned long) { return MPI_UNSIGNED_LONG; }
MPI_Datatype type_of(unsigned long long) { return MPI_UNSIGNED_LONG_LONG; }
MPI_Datatype type_of(float) { return MPI_FLOAT; }
MPI_Datatype type_of(double) { return MPI_DOUBLE; }

MPI_Op operation_of(Comm::Reduction reduction) {
  switch (reduction) {
    case Comm::Reduction::sum:
      return MPI_SUM;
    case Comm::Reduction::minimum:
      return MPI_MIN;
    case Comm::Reduction::maximum:
      return MPI_MAX;
  }
  throw InternalError("a reduction without an MPI operation");
}

}  // namespace

template <class T>
void Comm::reduce(std::span<T> values, Reduction reduction) const {
  implementation_->count(Call::reduce, values.size_bytes());
  if (size() == 1) return;
  const auto type = type_of(T{});
  const auto operation = operation_of(reduction);
  in_pieces(values.size(), max_piece / sizeof(T), [&](std::size_t offset, int length) {
    check_mpi(
        MPI_Allreduce(MPI_IN_PLACE, values.data() + offset, length, type, operation, implementation_->comm),
        "MPI_Allreduce");
  });
}
template void Comm::reduce(std::span<int>, Reduction) const;
template void Comm::reduce(std::span<unsigned>, Reduction) const;
template void Comm::reduce(std::span<long>, Reduction) const;
template void Comm::reduce(std::span<long long>, Reduction) const;
template void Comm::reduce(std::span<unsigned long>, Reduction) const;
template void Comm::reduce(std::span<unsigned long long>, Reduction) const;
template void Comm::reduce(std::span<float>, Reduction) const;
template void Comm::reduce(std::span<double>, Reduction) const;

namespace {

std::size_t total(const std::vector<std::uint64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

/// Every rank's number on every rank. Collective.
std::vector<std::uint64_t> all_sizes(MPI_Comm comm, int n_ranks, std::uint64_t size) {
  std::vector<std::uint64_t> sizes(n_ranks);
  check_mpi(MPI_Allgather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm), "MPI_Allgather");
  return sizes;
}

/// all_gather of more bytes than MPI counts: each rank's part is broadcast. `result` has room for all.
void all_gather_by_broadcast(MPI_Comm comm, int rank, std::span<const std::byte> values,
                             const std::vector<std::uint64_t>& sizes, std::byte* result) {
  for (int root = 0; root < std::ssize(sizes); ++root) {
    const auto length = sizes[root];
    if (root == rank) std::copy(values.begin(), values.end(), result);
    in_pieces(length, max_piece, [&](std::size_t offset, int piece) {
      check_mpi(MPI_Bcast(result + offset, piece, MPI_BYTE, root, comm), "MPI_Bcast");
    });
    result += length;
  }
}

}  // namespace

std::vector<std::byte> Comm::all_gather_bytes(std::span<const std::byte> values) const {
  implementation_->count(Call::gather, values.size());
  if (size() == 1) return {values.begin(), values.end()};
  const MPI_Comm comm = implementation_->comm;
  const auto sizes = all_sizes(comm, size(), values.size());
  std::vector<std::byte> result(total(sizes));
  if (result.size() > INT_MAX) {
    all_gather_by_broadcast(comm, rank(), values, sizes, result.data());
    return result;
  }
  const std::vector<int> counts(sizes.begin(), sizes.end());
  std::vector<int> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  check_mpi(MPI_Allgatherv(values.data(), values.size(), MPI_BYTE, result.data(), counts.data(),
                           offsets.data(), MPI_BYTE, comm),
            "MPI_Allgatherv");
  return result;
}

std::vector<std::byte> Comm::gather_bytes(std::span<const std::byte> values, int root) const {
  implementation_->count(Call::gather, values.size());
  if (size() == 1) return {values.begin(), values.end()};
  const MPI_Comm comm = implementation_->comm;
  const auto sizes = all_sizes(comm, size(), values.size());
  Pending::Requests requests;
  std::vector<std::byte> result(rank() == root ? total(sizes) : 0);
  std::size_t offset = 0;
  for (int source = 0; source < size() && rank() == root; ++source) {
    const auto part = std::span(result).subspan(offset, sizes[source]);
    if (source == root)
      std::copy(values.begin(), values.end(), part.begin());
    else
      requests.receive(comm, part, source, gather_tag);
    offset += part.size();
  }
  if (rank() != root) requests.send(comm, values, root, gather_tag);
  requests.wait();
  return result;
}

std::vector<std::vector<std::byte>> Comm::all_to_all_bytes(
    const std::vector<std::span<const std::byte>>& send) const {
  const std::size_t self = rank(), n_ranks = size();
  if (send.size() != n_ranks) {
    throw InternalError(fmt::format("all_to_all was given {} parts for {} ranks.", send.size(), n_ranks));
  }
  std::vector<std::uint64_t> n_send(n_ranks), n_receive(n_ranks);
  for (std::size_t r = 0; r < n_ranks; ++r) n_send[r] = send[r].size();
  implementation_->count(Call::gather, total(n_send) - n_send[self]);

  std::vector<std::vector<std::byte>> result(n_ranks);
  result[self].assign(send[self].begin(), send[self].end());
  if (n_ranks == 1) return result;
  const MPI_Comm comm = implementation_->comm;
  check_mpi(MPI_Alltoall(n_send.data(), 1, MPI_UINT64_T, n_receive.data(), 1, MPI_UINT64_T, comm),
            "MPI_Alltoall");
  Pending::Requests requests;
  for (std::size_t r = 0; r < n_ranks; ++r) {
    if (r == self) continue;
    result[r].resize(n_receive[r]);
    requests.receive(comm, result[r], r, all_to_all_tag);
    requests.send(comm, send[r], r, all_to_all_tag);
  }
  requests.wait();
  return result;
}

}  // namespace quintet
