#pragma once

#include <cstdint>

#include "surrogates/potential/device/atom_environment.hpp"

/// Neighbours to moments: the kernel at the beginning of an evaluation, and what it shares with that of
/// forces.
namespace quintet::potential {

/// What a neighbour adds to T beside G: the forms that the kernels are made in.
enum class Form {
  rows,       ///< its row of R, in four columns
  gated,      ///< that row, and a smooth gate that reads w(r)
  distances,  ///< 1, in one column: se_e2_r
};
/// Columns of T.
[[nodiscard]] constexpr int columns_of(Form form) { return form == Form::distances ? 1 : 4; }

/// Computes for each atom the neighbours within the cutoff, moments M `[A, K]` with K = (group, interval,
/// power), and T `[A, channels]`, A = columns_of(form), as far as it does not come from moments (empty slots,
/// near neighbours).
///
/// Groups are types. Of a gated model moments of types are weighted with w(r), and a last group has those of
/// all neighbours, without weights (see GatedEmbedding). Writes A (K + channels) reals and the row's indices,
/// reads 28 bytes a listed atom.
template <class Space, class Real, int order, Form form>
struct MomentsKernel {
  static constexpr int width = device::Cut<Space>::lanes, padded_order = order + 1;
  static constexpr bool gated = form == Form::gated;
  static constexpr int n_a = columns_of(form), columns = gated ? 5 : n_a;  // R, and w
  using Team = device::Lanes<width>;
  AtomRows rows;
  EnvironmentNumbers e;
  EnvironmentTables table;
  const Real *polynomial, *gate, *empty;
  Real *moments, *t;
  int t_stride;  ///< from atom to atom
  Trouble* trouble;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION int bins() const { return e.n_groups * e.n_dense; }
  [[nodiscard]] int scratch_bytes() const {
    const int reals = n_a * bins() * padded_order + width * (padded_order + columns);
    return (reals * static_cast<int>(sizeof(Real)) + 7) / 8 * 8 +
           (width + e.n_types) * static_cast<int>(sizeof(int));
  }

  /// T += R G(s) of a neighbour that is too near for the moments. @param pair of types (centre, neighbour)
  KOKKOS_INLINE_FUNCTION void add_near(int pair, int interval, Real x, const Real* r, Real* t_of_b) const {
    const int net = table.network[pair];
    const Real* c = polynomial + (std::int64_t{net} * e.n_intervals + interval) * order * e.n_channels;
    for (int m = Team::own(); m < e.n_channels; m += width) {
      Real g = 0;
      for (int k = order - 1; k >= 0; --k) g = g * x + c[std::int64_t{k} * e.n_channels + m];
      if constexpr (gated) g *= 1 + r[4] * gate[std::int64_t{pair} * e.n_channels + m];
      for (int a = 0; a < n_a; ++a) t_of_b[a * e.n_channels + m] += r[a] * g;
    }
  }

  /// M_ka += x^k R_a of a set of lanes' neighbours in one bin; with gates x^k R_a w there, and x^k R_a in the
  /// same interval of all neighbours.
  KOKKOS_INLINE_FUNCTION void add_moments(unsigned set, const Real* power, const Real* column,
                                          Real* all_banks, int bin, int a_stride) const {
    constexpr int n = (n_a * order + width - 1) / width;
    const int lane = Team::own();
    Real* const bank = all_banks + bin * padded_order;
    Real sum[n] = {}, weighted[gated ? n : 1] = {};
    for (; set != 0; set &= set - 1) {
      const int c = Team::first(set);
      for (int q = 0; q < n; ++q) {
        const int o = lane + q * width;
        if (!(n_a * order % width == 0 || o < n_a * order)) continue;
        if constexpr (gated) {
          const Real term = power[c * padded_order + o % order] * column[columns * c + o / order];
          sum[q] += term;
          weighted[q] += column[columns * c + 4] * term;
        } else {
          sum[q] += power[c * padded_order + o % order] * column[columns * c + o / order];
        }
      }
    }
    for (int q = 0; q < n; ++q) {
      const int o = lane + q * width;
      if (!(n_a * order % width == 0 || o < n_a * order)) continue;
      const int at = o / order * a_stride + o % order;
      if constexpr (gated) {
        bank[at] += weighted[q];
        all_banks[(e.n_types * e.n_dense + bin % e.n_dense) * padded_order + at] += sum[q];
      } else {
        bank[at] += sum[q];
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const int b, char* scratch) const {
    const int lane = Team::own(), i = rows.atom[b], centre = rows.type[i], n_bins = bins(),
              a_stride = n_bins * padded_order;
    Real* const bank = reinterpret_cast<Real*>(scratch);
    Real* const power = bank + n_a * a_stride;
    Real* const column = power + width * padded_order;
    int* const place = reinterpret_cast<int*>(
        scratch + ((n_a * a_stride + width * (padded_order + columns)) * sizeof(Real) + 7) / 8 * 8);
    int* const count = place + width;
    const double* from = rows.x + 3 * std::int64_t{i};
    const int* const row = rows.row + std::int64_t{b} * rows.capacity;
    for (int o = lane; o < n_a * a_stride; o += width) bank[o] = 0;
    const int n = NeighbourSelection<Space>{rows, e, table, trouble}.find(b, i, count);

    Real* const t_of_b = t + std::int64_t{b} * t_stride;
    for (int m = lane; m < e.n_channels; m += width)
      for (int a = 0; a < n_a; ++a) {
        Real sum = 0;
        for (int s = 0; s < e.n_types; ++s)
          sum += static_cast<Real>(table.slots[s] - count[s]) *
                 empty[((centre * e.n_types + s) * n_a + a) * e.n_channels + m];
        t_of_b[a * e.n_channels + m] = sum;
      }

    const double *mean = table.mean + 4 * centre, *scale = table.scale + 4 * centre;
    for (int base = 0; base < n; base += width) {
      const int r = base + lane;
      if (r < n) {
        const int j = row[r];
        if (j < 0) {
          place[lane] = -1;
        } else {
          const NeighbourTerm<Real> term(e, mean, scale, from, rows.x + 3 * std::int64_t{j});
          const int s = rows.type[j];
          if (term.interval >= e.n_intervals) {
            place[lane] = -1;
            (void)Kokkos::atomic_fetch_max(&trouble->too_close, i + 1);
          } else {
            place[lane] = term.interval < e.n_dense ? s * e.n_dense + term.interval
                                                    : -2 - (s * e.n_intervals + term.interval);
          }
          Real x = 1;
          for (int k = 0; k < order; ++k, x *= term.local) power[lane * padded_order + k] = x;
          for (int a = 0; a < n_a; ++a)
            column[columns * lane + a] = form == Form::distances ? Real(1) : term.row[a];
          if constexpr (gated) column[columns * lane + 4] = static_cast<Real>(term.w);
        }
      }
      Team::sync();
      const int filled = n - base < width ? n - base : width;
      // Those of one interval together: their sums are in registers, the bank is written once.
      for (unsigned rest = Team::which(lane < filled); rest != 0;) {
        const int bin = place[Team::first(rest)];
        unsigned same = Team::which(lane < filled && place[lane] == bin);
        rest &= ~same;
        if (bin >= 0)
          add_moments(same, power, column, bank, bin, a_stride);
        else if (bin < -1)
          for (; same != 0; same &= same - 1) {
            const int c = Team::first(same);
            add_near(centre * e.n_types + (-2 - bin) / e.n_intervals, (-2 - bin) % e.n_intervals,
                     power[c * padded_order + 1], column + columns * c, t_of_b);
          }
      }
      Team::sync();
    }
    Real* const out = moments + std::int64_t{b} * n_a * n_bins * order;
    for (int o = lane; o < n_a * n_bins * order; o += width)
      out[o] = bank[o / order * padded_order + o % order];
  }
};

}  // namespace quintet::potential
