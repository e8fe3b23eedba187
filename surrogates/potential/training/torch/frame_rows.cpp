#include "surrogates/potential/training/torch/frame_rows.hpp"

#include <algorithm>

#include "io/config/tree.hpp"

namespace quintet::potential {

namespace {

/// Row r of a batch of one atom to a slot.
template <class Real>
void fill_slot(const Batch<Real>& batch, int r, const std::array<double, 4>& deviation,
               const std::vector<int>& owner, std::size_t slot, FrameRows<Real>& rows) {
  const double d[3] = {batch.dx[r], batch.dy[r], batch.dz[r]};
  std::copy_n(batch.row.begin() + 4 * std::ptrdiff_t{r}, 4, rows.row.begin() + 4 * slot);
  double* slope = rows.slope.data() + 12 * slot;
  for (int l = 0; l < 3; ++l) {
    rows.separation[3 * slot + l] = d[l];
    slope[l] = batch.slope[r] * d[l];
    for (int k = 0; k < 3; ++k)
      slope[3 * (k + 1) + l] = ((k == l ? batch.q[r] : 0.0) + batch.dq[r] * d[k] * d[l]) / deviation[k + 1];
  }
  rows.neighbour[slot] = owner[batch.neighbour[r]];
}

/// The transposed list: of each atom the rows whose neighbour it is.
template <class Real>
void invert(const std::vector<std::vector<int>>& seen, FrameRows<Real>& rows) {
  for (const auto& list : seen) rows.n_seen_by = std::max<int>(rows.n_seen_by, list.size());
  rows.seen_by.assign(seen.size() * rows.n_seen_by, rows.n_centres() * rows.n_slots);
  for (std::size_t i = 0; i < seen.size(); ++i)
    std::copy(seen[i].begin(), seen[i].end(), rows.seen_by.begin() + i * rows.n_seen_by);
}

}  // namespace

template <class Real>
FrameRows<Real> make_rows(const TrainingFrame& frame, const AtomShare& share, const Model& model,
                          const Environment& environment, Environment::Scratch& scratch) {
  FrameRows<Real> rows;
  rows.n_atoms = frame.n_atoms;
  rows.n_slots = model.n_slots();
  rows.first.push_back(0);
  for (const auto& atoms : share.atoms) {
    rows.centre.insert(rows.centre.end(), atoms.begin(), atoms.end());
    rows.first.push_back(rows.n_centres());
  }
  const std::size_t n = rows.centre.size() * rows.n_slots;
  rows.row.assign(4 * n, Real(0));
  rows.slope.assign(12 * n, 0.0);
  rows.separation.assign(3 * n, 0.0);
  rows.neighbour.assign(n, 0);
  std::vector<std::vector<int>> seen(frame.n_atoms);
  Batch<Real> batch;
  batch.reserve(1, rows.n_slots, model.n_types(), model.n_channels());
  std::size_t slot = 0;
  for (const int i : rows.centre) {
    batch.centre = frame.type[i];
    batch.n_atoms = 0;
    environment.append(i, frame.position.data(), frame.type.data(), frame.offset.data(),
                       frame.neighbour.data(), batch, scratch);
    const auto &mean = model.mean[batch.centre], &deviation = model.deviation[batch.centre];
    for (int t = 0; t < model.n_types(); ++t) {
      std::size_t at = slot;
      for (int r = batch.first[t]; r < batch.first[t + 1]; ++r, ++at) {
        fill_slot(batch, r, deviation, frame.owner, at, rows);
        seen[rows.neighbour[at]].push_back(at);
      }
      for (int k = 0; k < batch.empty[t]; ++k, ++at)
        for (int a = 0; a < 4; ++a) rows.row[4 * at + a] = static_cast<Real>(-mean[a] / deviation[a]);
      slot += model.sel[t];
    }
  }
  invert(seen, rows);
  return rows;
}

template <class Real>
double bytes_of_centre(const Model& model) {
  // A row: R, dR/dd and d, its neighbour and its place in the transposed list, which is padded.
  return double(model.n_slots()) * (4 * sizeof(Real) + 15 * sizeof(double) + 3 * sizeof(int));
}

template FrameRows<float> make_rows(const TrainingFrame&, const AtomShare&, const Model&, const Environment&,
                                    Environment::Scratch&);
template FrameRows<double> make_rows(const TrainingFrame&, const AtomShare&, const Model&, const Environment&,
                                     Environment::Scratch&);
template double bytes_of_centre<float>(const Model&);
template double bytes_of_centre<double>(const Model&);

}  // namespace quintet::potential
