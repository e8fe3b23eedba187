#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/atoms/atoms.hpp"

/// Parameters of atoms (Atoms::parameters) on their way between ranks, beside the atoms' records.
///
/// A row is the atom's id, then its numbers, all in double precision. Nothing is sent where there are none.
namespace quintet {

/// The rows of the local atoms with ids first ... last.
[[nodiscard]] std::vector<double> parameter_rows(
    const Atoms& atoms, std::int64_t first = std::numeric_limits<std::int64_t>::min(),
    std::int64_t last = std::numeric_limits<std::int64_t>::max());

/// The rows of all ranks' atoms, each on the rank that `rank_of` says of a local atom. Collective.
[[nodiscard]] std::vector<double> sent_parameters(const Comm& comm, const Atoms& atoms,
                                                  const std::function<int(int)>& rank_of);

/// Give each local atom its row among `rows`, which hold them all in any order.
void set_parameters(const std::vector<double>& rows, Atoms& atoms);

/// The numbers of some rows, without ids, in the order of these. @param n numbers of each atom
[[nodiscard]] std::vector<double> numbers_by_id(const std::vector<double>& rows, std::size_t n);

}  // namespace quintet
