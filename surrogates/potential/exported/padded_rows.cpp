#include "surrogates/potential/exported/padded_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace quintet::potential {

PaddedRows::PaddedRows(const ExportedFacts& facts)
    : cutoff_(facts.cutoff),
      sel_(facts.sel),
      counts_together_(facts.counts_together),
      least_width_(std::accumulate(facts.sel.begin(), facts.sel.end(), 0)),
      of_type_(facts.type_names.size()) {}

/// Neighbours of local atom i within the cutoff, nearest first.
void PaddedRows::find(const Atoms& atoms, const NeighbourList& list, int i) {
  near_.clear();
  for (std::size_t c = list.offset(i); c < list.offset(i + 1); ++c) {
    const int j = list.neighbour(c);
    double distance2 = 0;
    for (int k = 0; k < 3; ++k) {
      const double d = atoms.position(j, k) - atoms.position(i, k);
      distance2 += d * d;
    }
    if (distance2 < cutoff_ * cutoff_) near_.push_back({distance2, j});
  }
  std::sort(near_.begin(), near_.end(), [](const Near& a, const Near& b) {
    return a.distance2 != b.distance2 ? a.distance2 < b.distance2 : a.row < b.row;
  });
}

/// Note whether the centre at hand has more neighbours than sel holds.
void PaddedRows::count(const Atoms& atoms) {
  if (sel_.empty()) return;
  const int n = near_.size();
  bool is_full = n > least_width_;
  if (!counts_together_) {
    std::fill(of_type_.begin(), of_type_.end(), 0);
    for (const Near& near : near_) ++of_type_[atoms.type(near.row)];
    for (std::size_t t = 0; t < sel_.size(); ++t) is_full = is_full || of_type_[t] > sel_[t];
  }
  if (!is_full) return;
  ++overflowing_;
  most_ = std::max(most_, n);
}

int PaddedRows::number_of(int row) {
  int& number = number_[row];
  if (number < 0) {
    number = rows_.size();
    rows_.push_back(row);
  }
  return number;
}

/// Append a row; who stands in it gets a number. Crowded ghosts are counted where they are local.
void PaddedRows::add_row(const Atoms& atoms, const NeighbourList& list, int row) {
  find(atoms, list, row);
  if (row < atoms.n_local) count(atoms);
  for (const Near& near : near_) all_.push_back(number_of(near.row));
  offset_.push_back(all_.size());
}

void PaddedRows::fill(const Atoms& atoms, const NeighbourList& list, int begin, int end, int layers,
                      ExportedSystem& system) {
  for (const int row : rows_) number_[row] = -1;  // of the last system: not all atoms, part by part
  rows_.clear();
  if (std::ssize(number_) < atoms.n_all()) number_.resize(atoms.n_all(), -1);
  all_.clear();
  offset_.assign(1, 0);
  for (int i = begin; i < end; ++i) number_of(i);
  int n_rows = 0;
  for (int layer = 0; layer < layers; ++layer)
    for (const int known = rows_.size(); n_rows < known; ++n_rows) add_row(atoms, list, rows_[n_rows]);
  std::size_t width = least_width_;
  for (int i = 0; i < n_rows; ++i) width = std::max(width, offset_[i + 1] - offset_[i]);
  system.n_centres = end - begin;
  system.n_rows = n_rows;
  system.width = width;
  system.neighbour.assign(n_rows * width, -1);
  for (int i = 0; i < n_rows; ++i)
    std::copy(all_.begin() + offset_[i], all_.begin() + offset_[i + 1], system.neighbour.begin() + i * width);
  system.type.clear();
  system.position.clear();
  for (const int row : rows_) {
    system.type.push_back(atoms.type(row));
    for (int k = 0; k < 3; ++k) system.position.push_back(atoms.position(row, k));
  }
}

std::pair<std::int64_t, int> PaddedRows::take_overflow() {
  return {std::exchange(overflowing_, 0), std::exchange(most_, 0)};
}

}  // namespace quintet::potential
