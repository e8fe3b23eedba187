#include "surrogates/potential/evaluation/spectral/spectral_embedding.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "io/log/error.hpp"
#include "surrogates/potential/model/environment_cell.hpp"

// T = 1/n sum_j R_j G(s_j), with no network evaluated at a neighbour. Equations: spectral_embedding.hpp.
//
//   once: choose_layout(), spectral_coefficients(), set_table()     G on interval p is sum_k c_pk x^k
//
//   forward(), for each atom of the batch:
//     1. accumulate_moments()    M_pka = sum_{j in p} x_j^k R_ja; locate() tells p and x of each neighbour
//     2. contract()              T = 1/n sum_p sum_k c_pk M_pka, for seven packs of channels at a time
//     3. add_empty_slots()       slots of sel that no neighbour fills give a constant
//   backward(), for one atom, from dE/dT:
//     4. contract_back()         dE/dM_pka = c_pk . dE/dT, in place of the moments
//     5. differentiate()         dE/dR_ja of each neighbour: polynomials in x with these coefficients
namespace quintet::potential {

template <class Real>
SpectralEmbedding<Real>::SpectralEmbedding(const DescriptorModel& model, const SpectralLayout& layout,
                                           int more_groups)
    : layout_(layout),
      empty_(model),
      n_types_(model.n_types()),
      n_groups_(n_types_ + more_groups),
      n_channels_(model.n_channels()),
      stride_(padded(model.n_channels(), pack_width<Real>)) {
  for (int centre = 0; centre < n_types_; ++centre)
    for (int g = 0; g < n_groups_; ++g) index_.push_back(g < n_types_ ? model.network_index(centre, g) : 0);
  tables_.resize(model.embedding.size());
  for (std::size_t i = 0; i < tables_.size(); ++i)
    set_table(i, kept_coefficients(model.embedding[i], layout).data());
}

template <class Real>
void SpectralEmbedding<Real>::set_table(int network, const double* c) {
  const int n = layout_.order, m = n_channels_;
  Table& table = tables_[network];
  table.forward.resize(std::int64_t{layout_.n_intervals} * n * stride_, Real(0));
  table.backward.resize(std::int64_t{layout_.n_intervals} * n * m);
  for (int p = 0; p < layout_.n_intervals; ++p)
    for (int k = 0; k < n; ++k)
      for (int q = 0; q < m; ++q) {
        const Real value = c[(std::int64_t{p} * n + k) * m + q];
        table.forward[(std::int64_t{p} * n + k) * stride_ + q] = value;
        table.backward[(std::int64_t{p} * m + q) * n + k] = value;
      }
}

template <class Real>
std::string SpectralEmbedding<Real>::description() const {
  constexpr double safety = 3;  // the errors are the largest of many samples, not of all points
  return fmt::format(
      "piecewise polynomials of order {} on {} intervals of {}, relative error bound {:.1e} (slope {:.1e})",
      layout_.order, layout_.n_intervals, layout_.width, safety * layout_.error,
      safety * layout_.slope_error);
}

/// Interval and place in it of rows begin .. end, and the list of occupied intervals with their moments set
/// to 0.
template <class Real>
void SpectralEmbedding<Real>::locate(const Batch<Real>& batch, int begin, int end, int type,
                                     Scratch& scratch) const {
  const Real lower = layout_.lower, inverse = 1 / layout_.width;
  int* occupied = scratch.occupied.data() + type * layout_.n_intervals;
  char* marked = scratch.marked.data() + type * layout_.n_intervals;
  const int order4 = 4 * layout_.order;
  int n = 0;
  for (int r = begin; r < end; ++r) {
    const auto [p, local] =
        SpectralPlace<Real>(batch.row[4 * std::int64_t{r}], lower, inverse, layout_.n_intervals);
    if (p >= layout_.n_intervals) {
      std::fill_n(marked, layout_.n_intervals, char(0));  // a host may go on with other positions
      throw NumericalError(fmt::format(
          "two atoms came closer than {} angstrom (distance {:.4f} angstrom, neighbour of atom index {}): "
          "overlapping atoms "
          "or too large a time step",
          0.2, std::sqrt(batch.dx[r] * batch.dx[r] + batch.dy[r] * batch.dy[r] + batch.dz[r] * batch.dz[r]),
          batch.neighbour[r]));
    }
    scratch.interval[r] = p;
    scratch.local[r] = local;
    if (!marked[p]) {
      marked[p] = 1;
      occupied[n++] = p;
      std::fill_n(scratch.moments.data() + (std::int64_t{type} * layout_.n_intervals + p) * order4, order4,
                  Real(0));
    }
  }
  for (int i = 0; i < n; ++i) marked[occupied[i]] = 0;
  std::sort(occupied, occupied + n);
  scratch.count[type] = n;
}

/// M_pka = sum_{j in p} x_j^k R_ja of atom b.
template <class Real>
void SpectralEmbedding<Real>::accumulate_moments(const Batch<Real>& batch, int b, Scratch& scratch) const {
  constexpr int lanes = moment_lanes<Real>;
  const int n_packs = 4 * layout_.order / lanes;
  for (int t = 0; t < n_types_; ++t) {
    const int begin = batch.first[b * n_types_ + t], end = batch.first[b * n_types_ + t + 1];
    locate(batch, begin, end, t, scratch);
    Real* moments = scratch.moments.data() + std::int64_t{t} * layout_.n_intervals * 4 * layout_.order;
    const auto* interval = scratch.interval.data();
    const Real *local = scratch.local.data(), *rows = columns(batch, scratch);
    with_packs(n_packs, [&, size = 4 * layout_.order](auto n) {
      for (int r = begin; r < end; ++r) {
        const MomentPowers<Real> power(local[r]);
        MomentPack<Real> term = power.weight * columns_of<Real>(rows + 4 * std::int64_t{r});
        Real* m = moments + std::int64_t{interval[r]} * size;
        for (int i = 0; i < n; ++i) {
          store<Real, lanes>(m + i * lanes, load<Real, lanes>(m + i * lanes) + term);
          term = term * power.next;
        }
      }
    });
  }
}

/// Channels [first_pack, first_pack + packs) of T: sum over occupied intervals and powers, in registers.
template <class Real>
template <int packs>
void SpectralEmbedding<Real>::contract_packs(Groups groups, int centre, int first_pack,
                                             const Scratch& scratch, Real* t) const {
  constexpr int w = pack_width<Real>;
  Pack<Real> sum[4][packs] = {};
  const int n = layout_.order;
  for (int type = groups.begin; type < groups.end; ++type) {
    const Real* coefficients = table(centre, type).forward.data() + first_pack * w;
    for (int i = 0; i < scratch.count[type]; ++i) {
      const int p = scratch.occupied[type * layout_.n_intervals + i];
      const Real* c = coefficients + std::int64_t{p} * n * stride_;
      const Real* m = scratch.moments.data() + (std::int64_t{type} * layout_.n_intervals + p) * 4 * n;
      for (int k = 0; k < n; ++k, c += stride_, m += 4) {
        Pack<Real> right[packs];
#pragma GCC unroll 8
        for (int q = 0; q < packs; ++q) right[q] = load<Real>(c + q * w);
#pragma GCC unroll 4
        for (int a = 0; a < 4; ++a)
#pragma GCC unroll 8
          for (int q = 0; q < packs; ++q) sum[a][q] += m[a] * right[q];
      }
    }
  }
  for (int a = 0; a < 4; ++a)
    for (int q = 0; q < packs; ++q)
      store<Real>(t + std::int64_t{a} * stride_ + (first_pack + q) * w, sum[a][q] * empty_.inverse_slots);
}

template <class Real>
void SpectralEmbedding<Real>::contract(Groups groups, int centre, const Scratch& scratch, Real* t) const {
  const int packs = stride_ / pack_width<Real>;
  for (int first = 0; first < packs; first += 7) switch (std::min(7, packs - first)) {
      case 1:
        contract_packs<1>(groups, centre, first, scratch, t);
        break;
      case 2:
        contract_packs<2>(groups, centre, first, scratch, t);
        break;
      case 3:
        contract_packs<3>(groups, centre, first, scratch, t);
        break;
      case 4:
        contract_packs<4>(groups, centre, first, scratch, t);
        break;
      case 5:
        contract_packs<5>(groups, centre, first, scratch, t);
        break;
      case 6:
        contract_packs<6>(groups, centre, first, scratch, t);
        break;
      case 7:
        contract_packs<7>(groups, centre, first, scratch, t);
        break;
      default:
        throw InternalError("more packs at once than there is a kernel for");
    }
}

template <class Real>
void SpectralEmbedding<Real>::add_empty_slots(const Batch<Real>& batch, int b, Real* t) const {
  constexpr int w = pack_width<Real>;
  for (int type = 0; type < n_types_; ++type) {
    const Real* constant = empty_.value[batch.centre * n_types_ + type].data();
    const auto share = static_cast<Real>(batch.empty[b * n_types_ + type]) * empty_.inverse_slots;
    for (int a = 0; a < 4; ++a) {
      const Real factor = share * empty_.row[batch.centre][a];
      if (factor == 0) continue;  // the angular means are 0 in all models but hand-made ones
      Real* to = t + std::int64_t{a} * stride_;
      for (int q = 0; q < stride_; q += w)
        store<Real>(to + q, load<Real>(to + q) + factor * load<Real>(constant + q));
    }
  }
}

template <class Real>
void SpectralEmbedding<Real>::reserve(const Batch<Real>& batch, Scratch& scratch) const {
  const std::size_t intervals = std::int64_t{n_groups_} * layout_.n_intervals;
  scratch.moments.resize(intervals * 4 * layout_.order);
  scratch.occupied.resize(intervals);
  scratch.marked.resize(intervals, 0);
  scratch.count.resize(n_groups_);
  scratch.local.resize(batch.neighbour.size());
  scratch.interval.resize(batch.neighbour.size());
  if (!empty_.is_radial) return;
  const std::size_t filled = scratch.ones.size(), needed = 4 * batch.neighbour.size() + moment_lanes<Real>;
  if (filled < needed) scratch.ones.resize(needed, Real(0));
  for (std::size_t k = filled; k < scratch.ones.size(); ++k) scratch.ones[k] = k % 4 == 0 ? 1 : 0;
}

template <class Real>
void SpectralEmbedding<Real>::forward(Batch<Real>& batch, Scratch& scratch) const {
  reserve(batch, scratch);
  for (int b = 0; b < batch.n_atoms; ++b) {
    accumulate_moments(batch, b, scratch);
    Real* t = batch.t.data() + std::int64_t{b} * 4 * stride_;
    contract(batch.centre, scratch, t);
    add_empty_slots(batch, b, t);
  }
}

namespace {
/// dM[k] = sum_m c_m[k] dT_a[m] for `units` packs of powers at once; rows[u] points to pack u of channel 0,
/// step `order`.
template <class Real, int units>
void back_products(const Real* const* rows, Real* const* out, int order, int n_channels, const Real* dt,
                   int stride) {
  constexpr int w = pack_width<Real>;
  Pack<Real> sum[4][units] = {};
  for (int m = 0; m < n_channels; ++m) {
    Pack<Real> c[units];
#pragma GCC unroll 4
    for (int u = 0; u < units; ++u) c[u] = load<Real>(rows[u] + std::int64_t{m} * order);
#pragma GCC unroll 4
    for (int a = 0; a < 4; ++a)
#pragma GCC unroll 4
      for (int u = 0; u < units; ++u) sum[a][u] += dt[std::int64_t{a} * stride + m] * c[u];
  }
  for (int u = 0; u < units; ++u)
    for (int a = 0; a < 4; ++a) {
      Real lanes[w];
      store<Real>(lanes, sum[a][u]);
      for (int k = 0; k < w; ++k) out[u][4 * k + a] = lanes[k];
    }
}
}  // namespace

/// dE/dM_pka of the occupied intervals, in place of the moments.
template <class Real>
void SpectralEmbedding<Real>::contract_back(Groups groups, int centre, const Real* dt,
                                            Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  const int n = layout_.order;
  const Real* rows[4];
  Real* out[4];
  int units = 0;
  const auto flush = [&] {
    switch (units) {
      case 0:
        break;
      case 1:
        back_products<Real, 1>(rows, out, n, n_channels_, dt, stride_);
        break;
      case 2:
        back_products<Real, 2>(rows, out, n, n_channels_, dt, stride_);
        break;
      case 3:
        back_products<Real, 3>(rows, out, n, n_channels_, dt, stride_);
        break;
      case 4:
        back_products<Real, 4>(rows, out, n, n_channels_, dt, stride_);
        break;
      default:
        throw InternalError("more intervals at once than there is a kernel for");
    }
    units = 0;
  };
  for (int type = groups.begin; type < groups.end; ++type) {
    const Real* backward = table(centre, type).backward.data();
    for (int i = 0; i < scratch.count[type]; ++i) {
      const int p = scratch.occupied[type * layout_.n_intervals + i];
      Real* m = scratch.moments.data() + (std::int64_t{type} * layout_.n_intervals + p) * 4 * n;
      for (int k = 0; k < n; k += w) {
        rows[units] = backward + std::int64_t{p} * n_channels_ * n + k;
        out[units++] = m + 4 * k;
        if (units == 4) flush();
      }
    }
  }
  flush();
}

template <class Real>
void SpectralEmbedding<Real>::differentiate(RowRange rows, int group, Batch<Real>& batch,
                                            const Scratch& scratch) const {
  slopes_of_rows<Real>(
      rows, scratch.moments.data() + std::int64_t{group} * layout_.n_intervals * 4 * layout_.order,
      {layout_.order, static_cast<Real>(2 / layout_.width), empty_.inverse_slots}, columns(batch, scratch),
      [&](int r) {
        return MomentPlace<Real>{scratch.local[r], scratch.interval[r]};
      },
      [&](int begin, int n, const MomentPack<Real>& values, const MomentPack<Real>& through_s) {
        const MomentPack<Real> gradient = empty_.is_radial ? through_s : values + through_s;
        std::memcpy(batch.gradient.data() + 4 * std::int64_t{begin}, &gradient,
                    std::min(moment_lanes<Real> / 4, n) * 4 * sizeof(Real));
      });
}

template <class Real>
void SpectralEmbedding<Real>::relist(int begin, int end, int group, Scratch& scratch) const {
  int* occupied = scratch.occupied.data() + group * layout_.n_intervals;
  char* marked = scratch.marked.data() + group * layout_.n_intervals;
  int n = 0;
  for (int r = begin; r < end; ++r)
    if (const int p = scratch.interval[r]; !marked[p]) {
      marked[p] = 1;
      occupied[n++] = p;
    }
  for (int i = 0; i < n; ++i) marked[occupied[i]] = 0;
  scratch.count[group] = n;
}

template <class Real>
void SpectralEmbedding<Real>::backward(Batch<Real>& batch, int b, Scratch& scratch) const {
  // The moments of this atom were overwritten by later ones; only the list of its occupied intervals is
  // needed again.
  for (int t = 0; t < n_types_; ++t)
    relist(batch.first[b * n_types_ + t], batch.first[b * n_types_ + t + 1], t, scratch);
  contract_back({0, n_types_}, batch.centre, batch.dt.data(), scratch);
  for (int t = 0; t < n_types_; ++t)
    differentiate({batch.first[b * n_types_ + t], batch.first[b * n_types_ + t + 1]}, t, batch, scratch);
}

template class SpectralEmbedding<float>;
template class SpectralEmbedding<double>;

}  // namespace quintet::potential
