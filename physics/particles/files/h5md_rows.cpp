#include "physics/particles/files/h5md_rows.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet::h5md {

namespace {

AtomRow row_of(const Atoms& atoms, int i) {
  AtomRow row{};
  row.id = atoms.id(i);
  row.type = atoms.type(i);
  for (int k = 0; k < 3; ++k) {
    row.image[k] = atoms.image(i, k);
    row.position[k] = atoms.position(i, k);
    row.velocity[k] = atoms.velocity(i, k);
    row.force[k] = atoms.force(i, k);
  }
  return row;
}

}  // namespace

RowOrder::RowOrder(Comm comm, const Atoms& atoms, std::int64_t part_rows) : comm_(std::move(comm)) {
  std::int64_t largest = 0, smallest = 1;
  for (int i = 0; i < atoms.n_local; ++i) {
    largest = std::max(largest, atoms.id(i));
    smallest = std::min(smallest, atoms.id(i));
  }
  largest_id_ = comm_.maximum(largest);
  if (comm_.minimum(smallest) < 1) throw NumericalError("an atom has an id less than 1; ids count from 1");
  std::vector<std::int64_t> counts(comm_.size(), 0);
  for (int i = 0; i < atoms.n_local; ++i) ++counts[place_of(atoms.id(i)).rank];
  comm_.reduce(std::span<std::int64_t>(counts), Comm::Reduction::sum);
  for (int r = 0; r < comm_.size(); ++r) {
    if (r < comm_.rank()) offset_ += counts[r];
    n_rows_ += counts[r];
  }
  n_own_ = counts[comm_.rank()];
  n_parts_ = 1 + static_cast<std::int64_t>(n_rows_) / comm_.size() / part_rows;
}

RowOrder::Place RowOrder::place_of(std::int64_t id) const {
  // (id - 1) / largest is below 1; ids of later frames that are larger than any before are caught by the
  // count. Ranks alone first: the parts must not change whose row it is.
  const double share = static_cast<double>(id - 1) / (std::max<std::int64_t>(largest_id_, 1)) * comm_.size();
  const double rank = std::clamp<double>(std::floor(share), 0, comm_.size() - 1);
  const double part =
      std::clamp<double>(std::floor((share - rank) * n_parts_), 0, static_cast<double>(n_parts_ - 1));
  return {static_cast<int>(rank), static_cast<std::int64_t>(part)};
}

void RowOrder::visit(const Atoms& atoms, const std::function<void(std::span<const AtomRow>)>& take) const {
  std::int64_t doubled = 0;
  std::uint64_t n_found = 0;
  for (std::int64_t part = 0; part < n_parts_; ++part) {
    std::vector<std::vector<AtomRow>> send(comm_.size());
    for (int i = 0; i < atoms.n_local; ++i)
      if (const Place place = place_of(atoms.id(i)); place.part == part)
        send[place.rank].push_back(row_of(atoms, i));
    std::vector<AtomRow> rows;
    for (const auto& some : comm_.all_to_all(send)) rows.insert(rows.end(), some.begin(), some.end());
    std::sort(rows.begin(), rows.end(), [](const AtomRow& a, const AtomRow& b) { return a.id < b.id; });
    const auto twice = std::adjacent_find(rows.begin(), rows.end(),
                                          [](const AtomRow& a, const AtomRow& b) { return a.id == b.id; });
    if (twice != rows.end()) doubled = std::max(doubled, twice->id);
    n_found += rows.size();
    take(rows);
  }
  const std::int64_t id = comm_.maximum(doubled);
  if (id > 0)
    throw NumericalError(fmt::format("atom {} is on two ranks or twice on one: atoms were doubled", id));
  const auto n_now = comm_.sum(static_cast<std::int64_t>(n_found));
  if (comm_.any(n_found != n_own_))
    throw NumericalError(fmt::format(
        "the trajectory has {} atoms, the run now {}: atoms were lost or renamed", n_rows_, n_now));
}

}  // namespace quintet::h5md
