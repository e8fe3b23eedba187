#include "surrogates/training/stores/gathered_slices.hpp"

#include <algorithm>

#include "io/parallel/comm.hpp"

namespace quintet {

SlicePart slice_part(const FlatLayout::Unit& unit, int slice) {
  const std::size_t first = std::min(unit.size, slice * unit.slice);
  return {first, std::min(unit.slice, unit.size - first)};
}

template <class Real>
std::vector<Real> gathered_slices(const Comm& comm, const FlatLayout& layout, int slice,
                                  std::span<const Real> own) {
  const auto slice_of = comm.gather(std::span<const int>(&slice, 1));
  const auto gathered = comm.gather(own);
  if (!comm.is_root()) return {};
  std::vector<Real> all(layout.n_parameters());
  const Real* from = gathered.data();
  for (const int number : slice_of)
    for (const auto& unit : layout.units()) {
      const SlicePart part = slice_part(unit, number);
      std::copy_n(from, part.n, all.data() + unit.first + part.first);
      from += unit.slice;
    }
  return all;
}

template std::vector<float> gathered_slices(const Comm&, const FlatLayout&, int, std::span<const float>);
template std::vector<double> gathered_slices(const Comm&, const FlatLayout&, int, std::span<const double>);

}  // namespace quintet
