#include "surrogates/training/shared_parameters.hpp"

#include <algorithm>

namespace quintet {

namespace {

/// The ranks that share memory, where all nodes have equally many; else each rank for itself.
Comm sharing_ranks(const Comm& comm) {
  const Comm node = comm.node();
  const int n = node.size();
  return comm.minimum(n) == comm.maximum(n) ? node : comm.split(comm.rank(), 0);
}

/// Start of slice `rank` of n numbers among `ranks`, at multiples of whole packs.
std::size_t slice(std::size_t n, int ranks, int rank) {
  constexpr std::size_t grain = 64;
  return std::min(n, (n / grain * rank / ranks) * grain + (rank == ranks ? n % grain : 0));
}

}  // namespace

template <class Real>
SharedParameters<Real>::SharedParameters(const Comm& comm, std::span<const double> start)
    : SharedParameters(comm, start, comm.size() == 1 ? comm : sharing_ranks(comm)) {}

template <class Real>
SharedParameters<Real>::SharedParameters(const Comm& comm, std::span<const double> start, const Comm& node)
    : size_(start.size()),
      comm_(comm),
      node_(node),
      across_(comm.size() == 1 ? comm : comm.split(node_.rank(), comm.rank())),
      begin_(slice(size_, node_.size(), node_.rank())),
      end_(slice(size_, node_.size(), node_.rank() + 1)),
      values_(node_, node_.is_root() ? size_ : 0),
      moment1_(node_, node_.is_root() ? size_ : 0),
      moment2_(node_, node_.is_root() ? size_ : 0),
      gradient_(node_, size_) {
  if (node_.is_root())
    std::transform(start.begin(), start.end(), values_.part(0),
                   [](double v) { return static_cast<Real>(v); });
  values_.synchronise();
}

template <class Real>
std::vector<double> SharedParameters<Real>::total_gradient() const {
  const auto own = gradient();
  std::vector<double> total(own.begin(), own.end());
  comm_.reduce(std::span<double>(total), Comm::Reduction::sum);
  return total;
}

template <class Real>
void SharedParameters<Real>::step(const AdamOptions& options, std::int64_t t, double learning_rate) {
  constexpr std::size_t block = 4096;  // stays in the first-level cache between sum and update
  const bool alone = across_.size() == 1;
  const auto add_others = [&](std::size_t from, std::size_t n) {
    Real* sum = gradient_.part(node_.rank()) + from;
    for (int rank = 0; rank < node_.size(); ++rank) {
      if (rank == node_.rank()) continue;
      Real* other = gradient_.part(rank) + from;
      for (std::size_t i = 0; i < n; ++i) sum[i] += other[i];
      std::fill_n(other, n, Real(0));
    }
  };
  const auto part = [&](const SharedArray<Real>& array, int rank, std::size_t from, std::size_t n) {
    return std::span<Real>(array.part(rank) + from, n);
  };
  gradient_.synchronise();
  if (!alone) {
    add_others(begin_, end_ - begin_);
    across_.reduce(part(gradient_, node_.rank(), begin_, end_ - begin_), Comm::Reduction::sum);
  }
  for (std::size_t from = begin_; from < end_; from += block) {
    const std::size_t n = std::min(block, end_ - from);
    if (alone) add_others(from, n);
    adam_step(options, t, learning_rate, part(values_, 0, from, n), part(gradient_, node_.rank(), from, n),
              part(moment1_, 0, from, n), part(moment2_, 0, from, n));
  }
  values_.synchronise();
}

template <class Real>
void SharedParameters<Real>::assign(std::span<const Real> values, std::span<const Real> moment1,
                                    std::span<const Real> moment2) {
  values_.synchronise();
  if (node_.is_root()) {
    std::copy(values.begin(), values.end(), values_.part(0));
    std::copy(moment1.begin(), moment1.end(), moment1_.part(0));
    std::copy(moment2.begin(), moment2.end(), moment2_.part(0));
  }
  values_.synchronise();
}

template class SharedParameters<float>;
template class SharedParameters<double>;

}  // namespace quintet
