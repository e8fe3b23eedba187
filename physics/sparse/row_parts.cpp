#include "physics/sparse/row_parts.hpp"

#include <cstddef>
#include <optional>

#include "io/log/error.hpp"

namespace quintet {

namespace {

constexpr int tag_part = 15;

}  // namespace

template <class Real>
void RowParts<Real>::visit(std::span<const Real> own, int f,
                           const std::function<void(int group, const Real* part)>& visit) {
  const int groups = part_.groups, l = comm_.rank() % layout_.layers;
  const int i = comm_.rank() / (layout_.columns * layout_.layers);
  const std::size_t n_rows = part_.n_rows();
  const auto size_of = [&](int group) { return n_rows * part_.beside(group).n_columns(f); };
  QUINTET_CHECK(own.size() == size_of(part_.group), "{} numbers of {} rows and {} of {} columns", own.size(),
                n_rows, part_.n_columns(f), f);
  received_ = {};
  // In step d this rank takes from the one d groups on, and gives to the one d groups before.
  const auto start = [&](int d) {
    const int from = (part_.group + d) % groups, to = (part_.group + groups - d) % groups;
    AlignedVector<Real>& buffer = buffer_[d % 2];
    buffer.reserve(size_of(from));  // to the byte
    buffer.resize(size_of(from));
    received_.dense_words += static_cast<std::int64_t>(buffer.size());
    received_.messages += buffer.empty() ? 0 : 1;
    return comm_.start_exchange(own, own.empty() ? -1 : layout_.rank(i, to, l), std::span<Real>(buffer),
                                buffer.empty() ? -1 : layout_.rank(i, from, l), tag_part);
  };
  std::optional<Comm::Pending> now, next;
  for (int d = 0; d < groups; ++d) {
    if (d + 1 < groups) next.emplace(start(d + 1));
    const int group = (part_.group + d) % groups;
    if (d > 0) now->wait();
    if (size_of(group) > 0) visit(group, d == 0 ? own.data() : buffer_[d % 2].data());
    now.reset();
    if (next) now.emplace(std::move(*next));
    next.reset();
  }
}

template class RowParts<float>;
template class RowParts<double>;

}  // namespace quintet
