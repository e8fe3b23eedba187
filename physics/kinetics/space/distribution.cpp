#include "physics/kinetics/space/distribution.hpp"

#include "io/tiers/huge_pages.hpp"

namespace quintet::kinetics {

Distribution::Distribution(const char* label, const PhaseBlock& block_, int n_modes_)
    : block(block_),
      n_modes(n_modes_),
      n_rows_(block_.n_rows()),
      n_packs_(block_.n_packs()),
      pack_size_(std::int64_t{n_modes_} * PhaseBlock::lanes) {
  data = make_view<Array<double>>(label, std::int64_t{block.n_conf()} * n_rows_ * n_packs_ * pack_size_);
  prefer_huge_pages(data.data(), data.size() * sizeof(double));
  Kokkos::deep_copy(data, 0.0);
}

Distribution Distribution::named(const char* label, const PhaseBlock& block, int n_modes) {
  Distribution name;
  name.block = block;
  name.n_modes = n_modes;
  name.data = Array<double>(std::string(label), 1);  // whose place in memory is its name
  return name;
}

}  // namespace quintet::kinetics
