#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/atoms/atom_record.hpp"
#include "physics/particles/atoms/atoms.hpp"
#include "physics/particles/device/resident_atoms.hpp"

/// Atoms on the move: from the rank that holds them to the rank of their brick, and into the order of space.
namespace quintet {

/// A local atom as a record.
[[nodiscard]] AtomRecord record_at(const Atoms& atoms, int i);
/// The local atoms as records, in their order.
void pack_records(const Atoms& atoms, std::vector<AtomRecord>& records);
/// One more local atom; no ghosts may be there. Throws ResourceError for more than fit.
void append_record(const AtomRecord& record, Atoms& atoms);
/// The records as local atoms; no ghosts.
void unpack_records(const std::vector<AtomRecord>& records, Atoms& atoms);

/// Move an atom into the box along periodic directions, counting the crossings. Returns "" or what is wrong
/// with it: not finite, or further out than can be counted.
[[nodiscard]] std::string wrap(const Box& box, AtomRecord& atom);
/// Wrap all atoms into the box; returns "" or an error message on the first that cannot be placed.
[[nodiscard]] std::string wrap(const Box& box, std::vector<AtomRecord>& records);

/// The rank whose brick holds this position; beyond an open end, the last brick's.
[[nodiscard]] int owner_of(const Box& box, const std::array<int, 3>& grid, const double* position);

/// Send each record to the rank of its brick. Records that stay keep their order; those that arrive follow,
/// sorted by the rank that sent them. Collective.
void migrate(const Comm& comm, const Box& box, const std::array<int, 3>& grid,
             std::vector<AtomRecord>& records);

/// The brick of a rank and the cells of sort_by_cell() that its atoms are in, for a device that sorts.
[[nodiscard]] BrickOfAtoms brick_of(const Box& box, const std::array<int, 3>& grid, int rank, double cell);

/// Sort by cells of about `cell` (angstrom), by id within a cell: atoms near in space become near in memory,
/// in an order that depends on nothing else. In place.
void sort_by_cell(const Box& box, double cell, std::vector<AtomRecord>& records);

}  // namespace quintet
