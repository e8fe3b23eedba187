#include "physics/particles/observables/observables_homes.hpp"

#include <algorithm>
#include <limits>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {

AtomHomes::AtomHomes(const Comm& comm, std::int64_t n_ids, std::int64_t n_atoms) : n_ids_(n_ids) {
  QUINTET_CHECK(n_ids <= 8 * n_atoms + 1024,
                "the largest atom id is {} for {} atoms; time correlations keep a place for each id: "
                "renumber the atoms "
                "from 1",
                n_ids, n_atoms);
  block_ = std::max<std::int64_t>(1, (n_ids + comm.size() - 1) / comm.size());
  require_fit(block_);
  first_ = std::min(n_ids, block_ * comm.rank());
  count_ = std::min(n_ids, first_ + block_) - first_;
}

std::int64_t AtomHomes::largest_id(const Comm& comm, const Atoms& atoms) {
  std::int64_t largest = 0;
  for (int i = 0; i < atoms.n_local; ++i) largest = std::max(largest, atoms.id(i));
  return comm.maximum(static_cast<long>(largest));
}

void AtomHomes::send_home(const Comm& comm, const std::vector<AtomSample>& samples,
                          std::vector<double>& value, std::vector<int>& type) const {
  std::vector<std::vector<AtomSample>> send(comm.size());
  for (const auto& sample : samples) send[(sample.id - 1) / block_].push_back(sample);
  value.assign(std::int64_t{3} * count_, 0.0);
  type.assign(count_, -1);
  for (const auto& part : comm.all_to_all(send))
    for (const auto& sample : part) {
      const std::int64_t row = sample.id - 1 - first_;
      std::copy_n(sample.value, 3, value.begin() + 3 * row);
      type[row] = sample.type;
    }
}

}  // namespace quintet
