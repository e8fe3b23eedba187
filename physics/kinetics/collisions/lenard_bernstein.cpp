#include "physics/kinetics/collisions/lenard_bernstein.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "io/log/error.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/kinetics/collisions/drag_face.hpp"
#include "physics/kinetics/collisions/lenard_bernstein_kernel.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"
#include "physics/kinetics/space/conf_products.hpp"
#include "physics/kinetics/space/velocity_halo.hpp"

namespace quintet::kinetics {

namespace lenard_bernstein {

std::vector<Line> make_lines(const PhaseBasis& basis, int d) {
  std::vector<Line> lines;
  const int n = basis.conf().size();
  for (int g = 0; g < basis.n_groups(); ++g) {
    if (basis.group(g)[d] != 0) continue;
    Line line;
    int full = 0;  // degrees with as many configuration modes as degree 0
    for (int k = 0; k <= max_degree; ++k) {
      MultiIndex degrees = basis.group(g);
      degrees[d] = k;
      const int group = basis.find_group(degrees);
      if (group < 0) break;
      line.offset[k] = basis.offset(group);
      line.scratch[k] = group * n;
      ++line.n_out;
      if (basis.n_conf(group) == basis.n_conf(g)) ++full;
      line.count = basis.n_conf(group);
    }
    line.n_in = line.n_out;
    lines.push_back(line);
    if (full == line.n_out) continue;
    Line rest = line;
    rest.first = line.count;
    rest.count = basis.n_conf(g) - line.count;
    rest.n_in = full;
    for (int k = 0; k < line.n_out; ++k) {
      rest.offset[k] += rest.first;
      rest.scratch[k] += rest.first;
    }
    lines.push_back(rest);
  }
  return lines;
}

FaceRecovery face_recovery(const PhaseGrid& grid, int axis, int cell, int side, int n) {
  const int face = cell + side;
  FaceRecovery result;
  if (face == 0 || face == grid.cells[axis]) {
    for (int k = 0; k < n; ++k) result.value[1 - side][k] = legendre_end(k, 2 * side - 1);
    return result;
  }
  const auto half = [&](int i) { return 0.5 * grid.width(axis, i); };
  result = recovery(n, half(face - 1), half(face));
  for (auto& weights : result.slope)
    for (double& weight : weights) weight *= half(cell);
  return result;
}

}  // namespace lenard_bernstein

namespace {

using namespace lenard_bernstein;

constexpr int max_groups = 27, max_modes = 243;
enum FaceTable { face_left, face_right, face_v_left, face_v_right, n_face_tables };

/// b shifted by one lane: lane i holds lane i - 1 of (a, b).
inline Value shift_up(Value a, Value b) {
  if constexpr (lanes == 1) {
    return a;
  } else {
    double both[2 * lanes];
    store(both, a);
    store(both + lanes, b);
    return load(both + lanes - 1);
  }
}
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
using Index = std::int64_t __attribute__((vector_size(64)));
inline Value lower_neighbour(Value previous, Value own) {
  return __builtin_shuffle(previous, own, Index{7, 8, 9, 10, 11, 12, 13, 14});
}
inline Value upper_neighbour(Value own, Value next) {
  return __builtin_shuffle(own, next, Index{1, 2, 3, 4, 5, 6, 7, 8});
}
#else
inline Value lower_neighbour(Value previous, Value own) { return shift_up(previous, own); }
inline Value upper_neighbour(Value own, Value next) {
  if constexpr (lanes == 1) {
    return next;
  } else {
    double both[2 * lanes];
    store(both, own);
    store(both + lanes, next);
    return load(both + 1);
  }
}
#endif

}  // namespace

struct LenardBernstein::Implementation {
  PhaseBlock block;
  int vdim, n_groups, n_full_groups, n_conf_modes, n_lin, n_modes, order;
  bool uniform_rate;
  ConfProducts products;
  VelocityHalo halo;
  std::array<std::vector<Line>, 3> lines;
  /// Per direction: where its faces begin in a configuration cell's table.
  std::array<int, 4> first_face{};
  /// Geometry of the last direction's cells; valid: 1, 0 past the end.
  AlignedVector<double> centres, halves, inverse_halves, valid;
  /// Where cells differ in a direction: of its cells, or of packs of them (last direction).
  std::array<AlignedVector<CellRecovery>, 3> recoveries;
  AlignedVector<double> faces;     ///< [n_conf, n_face_tables, first_face[vdim]]
  AlignedVector<double> inner;     ///< [first_face[vdim]]: 0 at the ends of velocity space
  AlignedVector<double> matrices;  ///< [n_conf, vdim + 2, n_conf_modes^2]
  std::vector<double> rates;       ///< [n_conf]
  AlignedVector<double> zeros;

  Implementation(const Decomposition& decomposition, const PhaseBasis& basis, const PhaseBlock& block_,
                 bool uniform)
      : block(block_),
        vdim(basis.vdim()),
        n_groups(basis.n_groups()),
        n_full_groups(basis.n_full_groups()),
        n_conf_modes(basis.conf().size()),
        n_lin(1 << basis.cdim()),
        n_modes(basis.size()),
        order(basis.order()),
        uniform_rate(uniform),
        products(basis.conf()),
        halo(decomposition, block, n_modes) {
    for (int d = 0; d < vdim; ++d) {
      lines[d] = make_lines(basis, d);
      first_face[d + 1] = first_face[d] + padded(cells(d) + 1, lanes) + lanes;
    }
    const int n_conf = block.n_conf(), n_faces = first_face[vdim];
    faces.resize(std::int64_t{n_conf} * n_face_tables * n_faces);
    inner.assign(n_faces, 1.0);
    for (int d = 0; d < vdim; ++d)
      for (int j = 0; j <= cells(d); ++j)
        if (is_end(d, j)) inner[first_face[d] + j] = 0;
    matrices.resize(std::int64_t{n_conf} * ((vdim + 2) * n_conf_modes * n_conf_modes));
    rates.resize(n_conf);
    zeros.assign(block.n_packs() * n_modes * lanes, 0.0);
    centres.assign(block.n_packs() * lanes, 0.0);
    halves.assign(centres.size(), 1.0);
    inverse_halves.assign(centres.size(), 1.0);
    valid.assign(centres.size(), 0.0);
    for (int i = 0; i < block.n_last(); ++i) {
      centres[i] = centre(vdim - 1, i);
      halves[i] = half(vdim - 1, i);
      inverse_halves[i] = 1 / halves[i];
      valid[i] = 1;
    }
    for (int d = 0; d < vdim; ++d)
      if (!block.grid.is_uniform(axis(d))) make_recoveries(d);
  }

  void make_recoveries(int d) {
    const int n_lanes = d == vdim - 1 ? lanes : 1;
    recoveries[d].resize((cells(d) + n_lanes - 1) / n_lanes);
    for (int i = 0; i < cells(d); ++i) {
      CellRecovery& pack = recoveries[d][i / n_lanes];
      for (int n = 1; n <= max_degree + 1; ++n)
        for (const int side : {0, 1}) {
          const FaceRecovery face = face_recovery(block.grid, axis(d), block.begin[axis(d)] + i, side, n);
          CellRecovery::Side& to = (side == 0 ? pack.lower : pack.upper)[n - 1];
          for (const int cell : {0, 1})
            for (int k = 0; k < n; ++k) {
              set(to.value[cell][k], n_lanes == 1 ? -1 : i % lanes, face.value[cell][k]);
              set(to.slope[cell][k], n_lanes == 1 ? -1 : i % lanes, face.slope[cell][k]);
            }
        }
    }
  }
  /// One lane, or all of them (-1).
  static void set(Value& pack, int lane, double value) {
    double all[lanes];
    store(all, pack);
    for (int l = 0; l < lanes; ++l)
      if (lane < 0 || l == lane) all[l] = value;
    pack = load(all);
  }

  [[nodiscard]] int axis(int d) const { return block.grid.cdim + d; }
  [[nodiscard]] int cells(int d) const { return block.extent[axis(d)]; }
  /// Half the width of local cell i, which may lie outside the block.
  [[nodiscard]] double half(int d, int i) const {
    return 0.5 * block.grid.width(axis(d), block.begin[axis(d)] + i);
  }
  [[nodiscard]] double centre(int d, int i) const {
    return block.grid.centre(axis(d), block.begin[axis(d)] + i);
  }
  /// Is face j (below local cell j) an end of velocity space?
  [[nodiscard]] bool is_end(int d, int j) const {
    const int global = block.begin[axis(d)] + j;
    return global == 0 || global == block.grid.cells[axis(d)];
  }

  // --- once a configuration cell
  void prepare(const DragDiffusion& coefficients, int conf) {
    const int n = n_conf_modes, n2 = n * n;
    double* m = matrices.data() + std::int64_t{conf} * ((vdim + 2) * n2);
    std::fill(m, m + (vdim + 2) * n2, 0.0);
    for (int c = 0; c < vdim + 2; ++c)
      if (c > 0 || !uniform_rate) products.add_matrix(&coefficients(conf, c, 0), 1, m + c * n2, n);
    const auto rate = products.bounds(&coefficients(conf, 0, 0));
    const auto diffusion = products.bounds(&coefficients(conf, vdim + 1, 0));
    double sum = 0;
    for (int d = 0; d < vdim; ++d) {
      const double fastest = prepare_faces(d, coefficients, conf, rate);
      const int n_degrees = lines[d][0].n_out;
      const double least = block.grid.least_width(axis(d));
      sum += LenardBernstein::drag_rate(n_degrees, order) * fastest +
             LenardBernstein::diffusion_rate(n_degrees, order, block.grid.is_uniform(axis(d))) *
                 std::max(diffusion.upper, -diffusion.lower) / (least * least);
    }
    rates[conf] = sum;
  }

  /// Fluxes of direction d; returns the greatest |A v - B|/dv.
  double prepare_faces(int d, const DragDiffusion& coefficients, int conf, const ConfProducts::Bounds& rate) {
    const int n_faces = first_face[vdim];
    double* table = faces.data() + std::int64_t{conf} * (n_face_tables * n_faces) + first_face[d];
    const auto set = [&](FaceTable which, int j, double value) { table[which * n_faces + j] = value; };
    const double mean_rate = 0.5 * (rate.lower + rate.upper);
    const double* drift = &coefficients(conf, 1 + d, 0);
    const double* nu = &coefficients(conf, 0, 0);
    // Where A is uniform, the deviation of A v - B from its mean is the same at all faces.
    const auto of_drift = products.bounds(drift);
    const double mean_nu = products.constant() * nu[0];
    double fastest = 0;
    double speed[16];
    for (int j = 0; j <= cells(d); ++j) {
      const double v = block.grid.edge(axis(d), block.begin[axis(d)] + j);
      double least = mean_nu * v - of_drift.upper, greatest = mean_nu * v - of_drift.lower;
      if (!uniform_rate) {
        for (int n = 0; n < n_conf_modes; ++n) speed[n] = v * nu[n] - drift[n];
        const auto bounds = products.bounds(speed);
        least = bounds.lower;
        greatest = bounds.upper;
      }
      const DragFace face = drag_face(v, least, greatest, mean_rate, rate.upper, is_end(d, j));
      const double narrowest = 2 * std::min(half(d, std::max(j - 1, 0)), half(d, std::min(j, cells(d) - 1)));
      fastest = std::max(fastest, face.speed / narrowest);
      set(face_left, j, face.left);
      set(face_right, j, face.right);
      set(face_v_left, j, face.v_left);
      set(face_v_right, j, face.v_right);
    }
    return fastest;
  }

  // --- once a pack
  /// Where the cells around a pack lie.
  struct Surroundings {
    double below[max_modes * lanes], above[max_modes * lanes];  ///< of the last direction
  };

  void shift_last(const Distribution& f, int conf, int row, int p, Surroundings& s) const {
    const double* own = f.pack(conf, row, p);
    const double* previous = p > 0 ? f.pack(conf, row, p - 1) : zeros.data();
    const double* next = p + 1 < block.n_packs() ? f.pack(conf, row, p + 1) : zeros.data();
    for (int m = 0; m < n_modes; ++m) {
      const Value o = load(own + m * lanes);
      store<double>(s.below + m * lanes, lower_neighbour(load(previous + m * lanes), o));
      store<double>(s.above + m * lanes, upper_neighbour(o, load(next + m * lanes)));
    }
    const double* ghost = p == 0 ? halo.pack(vdim - 1, 0, conf, row, 0) : nullptr;
    if (ghost != nullptr)
      for (int i = 0; i < n_modes * lanes; ++i) s.below[i] += ghost[i];
    ghost = p + 1 == block.n_packs() ? halo.pack(vdim - 1, 1, conf, row, 0) : nullptr;
    if (ghost != nullptr)
      for (int i = 0; i < n_modes * lanes; ++i) s.above[i] += ghost[i];
  }

  /// The first pack of the row next to `row` on a side of direction d < vdim - 1.
  const double* neighbour(const Distribution& f, int d, int side, int conf, int row) const {
    auto index = block.row_index(row);
    index[d] += 2 * side - 1;
    if (index[d] >= 0 && index[d] < cells(d)) return f.pack(conf, block.row_number(index), 0);
    const double* ghost = halo.pack(d, side, conf, row, 0);
    return ghost != nullptr ? ghost : zeros.data();
  }

  /// The face tables of direction d from face j on: of a pack of cells (last direction) or of one cell.
  Face face(int d, int conf, int j) const {
    const int n_faces = first_face[vdim];
    const double* t = faces.data() + std::int64_t{conf} * (n_face_tables * n_faces) + first_face[d] + j;
    const double* in = inner.data() + first_face[d] + j;
    if (d == vdim - 1)
      return {load(t + face_left * n_faces), load(t + face_right * n_faces), load(t + face_v_left * n_faces),
              load(t + face_v_right * n_faces), load(in)};
    const auto all = [&](FaceTable which) { return broadcast<double>(t[which * n_faces]); };
    return {all(face_left), all(face_right), all(face_v_left), all(face_v_right), broadcast<double>(*in)};
  }

  /// The first cells of a row, for direction d < vdim - 1.
  Cell first_cell(const Distribution& f, int d, int conf, int row) const {
    const int i = block.row_index(row)[d];
    return {neighbour(f, d, 0, conf, row),
            f.pack(conf, row, 0),
            neighbour(f, d, 1, conf, row),
            face(d, conf, i),
            face(d, conf, i + 1),
            is_end(d, i) || is_end(d, i + 1),
            broadcast<double>(centre(d, i)),
            broadcast<double>(half(d, i)),
            broadcast<double>(1 / half(d, i)),
            recoveries[d].empty() ? nullptr : &recoveries[d][i]};
  }
  /// Pack p of a row, for the last direction.
  Cell last_direction(const double* own, int conf, int p, const Surroundings& s) const {
    const int d = vdim - 1, i = p * lanes, end = std::min(i + lanes, block.n_last());
    return {s.below,
            own,
            s.above,
            face(d, conf, i),
            face(d, conf, i + 1),
            is_end(d, i) || is_end(d, end),
            load(centres.data() + i),
            load(halves.data() + i),
            load(inverse_halves.data() + i),
            recoveries[d].empty() ? nullptr : &recoveries[d][p]};
  }

  // Drag and diffusion of a cell by its neighbours in v, then the products with the coefficients' expansions
  // in x.
  template <int N>
  void add_row(const Distribution& f, const DragDiffusion& coefficients, double weight,
               const Distribution& out, int conf, int row) const {
    Surroundings surroundings;
    Value drag_v[max_groups * N], drag[max_groups * N], diffusion[max_groups * N], sum[max_groups * N];
    const double* matrix = matrices.data() + std::int64_t{conf} * ((vdim + 2) * N * N);
    const double rate = uniform_rate ? coefficients(conf, 0, 0) * products.constant() : 1;
    Cell here[3];
    for (int d = 0; d < vdim - 1; ++d) here[d] = first_cell(f, d, conf, row);
    for (int p = 0; p < block.n_packs(); ++p) {
      shift_last(f, conf, row, p, surroundings);
      here[vdim - 1] = last_direction(f.pack(conf, row, p), conf, p, surroundings);
      std::fill(sum, sum + n_groups * N, Value{});
      std::fill(diffusion, diffusion + n_groups * N, Value{});
      if (!uniform_rate) std::fill(drag_v, drag_v + n_groups * N, Value{});
      const Scratch scratch{uniform_rate ? sum : drag_v, drag, diffusion, broadcast<double>(rate)};
      for (int d = 0; d < vdim; ++d) {
        std::fill(drag, drag + n_groups * N, Value{});
        for (const auto& line : lines[d]) add_line(line, here[d], scratch);
        here[d].advance(n_modes * lanes);
        add_product<N>(matrix + (1 + d) * N * N, drag, n_groups, n_full_groups, n_lin, sum);
      }
      add_product<N>(matrix + (1 + vdim) * N * N, diffusion, n_groups, n_full_groups, n_lin, sum);
      if (!uniform_rate) add_product<N>(matrix, drag_v, n_groups, n_full_groups, n_lin, sum);
      const Value w = weight * load(valid.data() + p * lanes);
      double* to = out.pack(conf, row, p);
      for (int q = 0; q < n_groups; ++q) {
        const int n = q < n_full_groups ? N : n_lin;
        for (int a = 0; a < n; ++a, to += lanes) store<double>(to, load(to) + w * sum[q * N + a]);
      }
    }
  }

  template <int N>
  void run(const Exec& exec, const Distribution& f, const DragDiffusion& coefficients, double weight,
           const Distribution& out) const {
    const int n_rows = block.n_rows();
    Kokkos::parallel_for("kinetics::lenard_bernstein",
                         Kokkos::RangePolicy<Exec>(exec, 0, block.n_conf() * n_rows),
                         [=, this, &f, &coefficients, &out](int i) {
                           add_row<N>(f, coefficients, weight, out, i / n_rows, i % n_rows);
                         });
  }
};

LenardBernstein::LenardBernstein(const Decomposition& decomposition, const PhaseBasis& basis,
                                 const PhaseBlock& block, bool uniform_rate)
    : implementation_(std::make_unique<Implementation>(decomposition, basis, block, uniform_rate)) {}
LenardBernstein::~LenardBernstein() = default;

void LenardBernstein::start(const Exec& exec, const Distribution& f) { implementation_->halo.start(exec, f); }

void LenardBernstein::apply(const Exec& exec, const Distribution& f, const DragDiffusion& coefficients,
                            double weight, const Distribution& out) {
  auto& i = *implementation_;
  i.halo.finish();
  bound(exec, coefficients);
  switch (i.n_conf_modes) {
    case 2:
      return i.run<2>(exec, f, coefficients, weight, out);
    case 3:
      return i.run<3>(exec, f, coefficients, weight, out);
    case 4:
      return i.run<4>(exec, f, coefficients, weight, out);
    case 8:
      return i.run<8>(exec, f, coefficients, weight, out);
    case 9:
      return i.run<9>(exec, f, coefficients, weight, out);
    default:
      throw InternalError(
          fmt::format("no Lenard-Bernstein kernel for {} configuration modes", i.n_conf_modes));
  }
}

void LenardBernstein::bound(const Exec& exec, const DragDiffusion& coefficients) {
  auto& i = *implementation_;
  Kokkos::parallel_for("kinetics::lenard_bernstein_faces",
                       Kokkos::RangePolicy<Exec>(exec, 0, i.block.n_conf()),
                       [&i, &coefficients](int conf) { i.prepare(coefficients, conf); });
  exec.fence();
}

double LenardBernstein::frequency() const {
  return *std::max_element(implementation_->rates.begin(), implementation_->rates.end());
}

double LenardBernstein::drag_rate(int n_degrees, int order) {
  // |alpha| dt/dv that SSP-RK3 bears with upwind DG: Cockburn & Shu, J. Sci. Comput. 16, 173 (2001),
  // table 2.2.
  constexpr double limit[] = {1, 1.256, 0.409, 0.209, 0.130};
  return std::max(1.0, 1 / (limit[n_degrees] * (2 * order + 1)));
}

double LenardBernstein::diffusion_rate(int n_degrees, int order, bool equal_cells) {
  // Greatest eigenvalue of -dv^2 d2/dv2 with recovery and ends of velocity space (without ends 15, 33, 68),
  // over the 2.51 that SSP-RK3 bears and 2 p + 1.
  constexpr double greatest[] = {0, 4, 15.1, 43.1, 117};
  // With the least width, of all sequences of widths tried (random, geometric, alternating).
  constexpr double of_unequal[] = {0, 4, 15.1, 43.4, 119.1};
  return (equal_cells ? greatest : of_unequal)[n_degrees] / (2.51 * (2 * order + 1));
}

void LenardBernstein::check_cells(const PhaseBasis& basis, const PhaseGrid& grid,
                                  const std::string& species) {
  if (grid.is_uniform()) return;
  QUINTET_CHECK(
      basis.find_group({2}) >= 0,
      "Lenard-Bernstein collisions of '{}' need equal velocity cells where the basis lacks v^2, or energy "
      "is not kept; take a basis that holds it (order 2, or hybrid) or equal cells",
      species);
  // Ratio of widths up to which the recovered diffusion surely lowers int f^2: found by the eigenvalues of
  // its symmetric part for cells of two alternating widths, the worst of the sequences tried. (No widths at
  // all make a mode grow, but beyond it f may rise for a time.)
  constexpr double greatest[] = {0, 1, 3.5, 2.5, 1.6};
  const double most = greatest[velocity_degree(basis) + 1];
  for (int d = grid.cdim; d < grid.dim(); ++d)
    for (int i = 1; i < grid.cells[d]; ++i) {
      const double below = grid.relative_width(d, i - 1), above = grid.relative_width(d, i);
      QUINTET_CHECK(
          std::max(below, above) <= most * std::min(below, above),
          "Lenard-Bernstein collisions of '{}': cells {} and {} along v{} are {:.4g} and {:.4g} wide; with "
          "this basis neighbours may differ by a factor of {}: choose a smoother mapping, or more cells",
          species, i - 1, i, "xyz"[d - grid.cdim], grid.width(d, i - 1), grid.width(d, i), most);
    }
}

}  // namespace quintet::kinetics
