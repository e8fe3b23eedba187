#include "physics/particles/files/h5md_rows.hpp"

#include <algorithm>

#include "io/log/error.hpp"

namespace quintet::h5md {

namespace {

Row row_of(const Atoms& atoms, int i) {
  Row row{};
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

RowOrder::RowOrder(Comm comm, const Atoms& atoms) : comm_(std::move(comm)) {
  std::int64_t largest = 0, smallest = 1;
  for (int i = 0; i < atoms.n_local; ++i) {
    largest = std::max(largest, atoms.id(i));
    smallest = std::min(smallest, atoms.id(i));
  }
  largest_id_ = comm_.maximum(largest);
  if (comm_.minimum(smallest) < 1) throw NumericalError("an atom has an id less than 1; ids count from 1");
  const auto counts = comm_.all_gather(static_cast<std::uint64_t>(exchanged(atoms).size()));
  for (int r = 0; r < comm_.size(); ++r) {
    if (r < comm_.rank()) offset_ += counts[r];
    n_rows_ += counts[r];
  }
  n_own_ = counts[comm_.rank()];
}

int RowOrder::rank_of(std::int64_t id) const {
  // (id - 1) / largest is below 1; ids of later frames that are larger than any before are caught by the
  // count.
  return static_cast<int>(std::clamp<double>(static_cast<double>(id - 1) /
                                                 static_cast<double>(std::max<std::int64_t>(largest_id_, 1)) *
                                                 comm_.size(),
                                             0, comm_.size() - 1));
}

std::vector<Row> RowOrder::exchanged(const Atoms& atoms) const {
  std::vector<std::vector<Row>> send(comm_.size());
  for (int i = 0; i < atoms.n_local; ++i) send[rank_of(atoms.id(i))].push_back(row_of(atoms, i));
  std::vector<Row> rows;
  for (const auto& part : comm_.all_to_all(send)) rows.insert(rows.end(), part.begin(), part.end());
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  return rows;
}

std::vector<Row> RowOrder::sort(const Atoms& atoms) const {
  auto rows = exchanged(atoms);
  const auto twice =
      std::adjacent_find(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id == b.id; });
  const bool doubled = twice != rows.end();
  const std::int64_t id = comm_.maximum(doubled ? twice->id : 0);
  if (id > 0)
    throw NumericalError(fmt::format("atom {} is on two ranks or twice on one: atoms were doubled", id));
  const auto n_now = comm_.sum(static_cast<std::int64_t>(rows.size()));
  if (comm_.any(rows.size() != n_own_))
    throw NumericalError(fmt::format(
        "the trajectory has {} atoms, the run now {}: atoms were lost or renamed", n_rows_, n_now));
  return rows;
}

}  // namespace quintet::h5md
