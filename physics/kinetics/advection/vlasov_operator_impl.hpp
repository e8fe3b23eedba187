#pragma once

#include <numeric>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/kinetics/advection/vlasov_kernel.hpp"
#include "physics/kinetics/advection/vlasov_operator.hpp"

// The sweep of the collisionless operator over the cells of a block. Configuration cells are shared out over
// the threads; the formulas are in vlasov_kernel.hpp.
//
//   apply(): for each configuration cell, configuration_cell():
//     1. make_cell_force()          a = A(x) + v x B(x) as matrices in x, for all its velocity cells
//     for each row of velocity cells, row_of_cells(), and each pack of the row:
//     2. streaming()                -v df/dx: the volume and both faces, along each x
//     3. acceleration_volume()      -a df/dv: the volume, along each v
//     4. across_rows()              faces to the next row, along each v but the last; it gets their flux
//     5. along_row()                faces between the lanes and to the next pack, along the last v
//     6. update()                   out = keep f0 + advance (f + dt df), while the pack is in cache
//     7. MomentSums::add()          M0 and M1 of the new f, where they are wanted: write_moments()
//
//   2, 4 and 5 are in vlasov_faces_impl.hpp.
//   add_exterior(), in vlasov_edges_impl.hpp: the faces of 2, 4 and 5 at the edge of the block, with the
//   traces from beyond it. Fluxes are linear in the traces, so this may come later.
namespace quintet::kinetics {

/// VlasovOperator for one basis. Included by the vlasov_operator_*.cpp alone, which instantiate it.
template <class Tr>
class VlasovOperatorOf final : public VlasovOperator {
 public:
  using Open = std::array<std::array<bool, 2>, 6>;
  VlasovOperatorOf(const PhaseBlock& block, Flux flux, const Open& is_open);

  void apply(const Exec& exec, const Stage& stage, const Distribution& f, const Distribution& f0,
             const ConfField& acceleration, const Distribution& out, const StageMoments& moments) override;
  void add_exterior(const Exec& exec, const Stage& stage, const FaceTraces& exterior,
                    const ConfField& acceleration, const Distribution& out,
                    const StageMoments& moments) override;
  void trace(const Exec& exec, const Distribution& f, int direction, int side,
             const Array<double>& out) const override;
  [[nodiscard]] std::size_t trace_size(int direction) const override;
  void mirror(const Exec& exec, int direction, const Array<double>& own, double share, bool add,
              const Array<double>& out) const override;
  [[nodiscard]] CountedOutflow outflow(const Exec& exec, Flux flux, int direction, int side,
                                       const Array<double>& inside,
                                       const Array<double>& outside) const override;
  [[nodiscard]] double frequency(const Exec& exec, const ConfField& acceleration) const override;
  void sum_moments(const Exec& exec, const Distribution& f, const StageMoments& moments) const override;

 private:
  static constexpr int vdim = Tr::vdim, cdim = Tr::cdim, last = Tr::vdim - 1;
  static constexpr int cell_size = Tr::n_modes * lanes;
  static constexpr int face_size = Tr::n_face_modes * lanes;
  static constexpr int conf_face_size = Tr::n_conf_face_modes * lanes;
  static constexpr int largest_face = std::max(face_size, conf_face_size);

  /// Coefficients of a pack of cells or faces, on the stack: those of an unrolled basis, all of whose
  /// functions are inlined, stay in registers.
  template <int size>
  struct alignas(64) Local {
    double mode[size];
    QUINTET_INLINE operator double*() { return mode; }
    QUINTET_INLINE operator const double*() const { return mode; }
  };
  using Cell = Local<cell_size>;
  using VelocityFace = Local<face_size>;
  using ConfFace = Local<conf_face_size>;

  /// Work arrays of one worker (a thread).
  struct Workspace {
    std::array<AlignedVector<double>, 2> slab[Tr::vdim];  ///< fluxes between rows, by parity of the row
    Force<Tr> force;
  };
  /// Data that a pack leaves for the next one of its row, along the last direction.
  struct Along {
    VelocityFace trace;  ///< its own lower trace: of the next pack
    VelocityFace flux;   ///< upper fluxes of the pack before
  };
  /// Everything apply() hands down.
  struct Task {
    Stage stage;
    Distribution f, f0, out;
    ConfField acceleration, moments;
  };

  [[nodiscard]] PackContext<Tr> context(const std::array<int, 3>& row) const;
  void set_last_velocity(PackContext<Tr>& c, int pack) const;
  void make_cell_force(const ConfField& acceleration, int conf, Force<Tr>& force) const;
  void configuration_cell(Workspace& w, const Task& task, int conf) const;
  void row_of_cells(Workspace& w, const Task& task, int conf, int row, const double* const (*beside)[2],
                    MomentSums<Tr>& sums) const;
  template <int I>
  void streaming(const PackContext<Tr>& c, const double* f, const double* lower, const double* upper,
                 double* df, const double* next) const;
  template <int D>
  void across_rows(Workspace& w, const PackContext<Tr>& c, const Distribution& f, int conf, int row,
                   const std::array<int, 3>& index, int pack, double* df) const;
  void along_row(const Force<Tr>& force, const PackContext<Tr>& c, const double* f, int pack, Along& along,
                 double* df) const;
  void start_row(const Force<Tr>& force, const PackContext<Tr>& c, const double* f, Along& along) const;
  template <int D>
  static void face_flux(const Force<Tr>& force, const PackContext<Tr>& c, const Weights& weights,
                        const double* left, const double* right, double* flux);
  template <int D>
  static void edge_flux(const Force<Tr>& force, const PackContext<Tr>& c, const Weights& weights,
                        const double* left, const double* right, double* flux);
  void update(const Task& task, int conf, int row, int pack, const double* df) const;
  void write_moments(const MomentSums<Tr>& sums, const ConfField& moments, int conf, bool add) const;

  template <int I>
  void add_conf_exterior(const Task& task, int side, const double* exterior, int number) const;
  template <int D>
  void add_velocity_exterior(Workspace& w, const Task& task, int side, const double* exterior,
                             int conf) const;
  void add_delta(const Task& task, const PackContext<Tr>& c, int conf, int row, int pack, double* df,
                 MomentSums<Tr>& sums) const;
  /// Configuration cell `number` of the edge at a side of direction i.
  [[nodiscard]] int edge_conf(int i, int side, int number) const;
  [[nodiscard]] int n_edge_conf(int i) const { return block_.n_conf() / block_.extent[i]; }
  /// Row `number` of the edge at a side of velocity direction d (not the last).
  [[nodiscard]] int edge_row(int d, int side, int number) const;
  [[nodiscard]] int n_edge_rows(int d) const { return block_.n_rows() / block_.extent[cdim + d]; }
  /// Run body(workspace, i) for i < n, contiguous chunks a worker.
  template <class Body>
  void for_each(const Exec& exec, const char* label, int n, const Body& body) const;
  [[nodiscard]] bool open(int direction, int side) const { return is_open_[direction][side < 0 ? 0 : 1]; }

  PhaseBlock block_;
  Open is_open_;
  /// The cells of one velocity direction, past the last one up to whole packs.
  struct VelocityCells {
    AlignedVector<double> centre, half, relative, stretch;
    double greatest_rdv = 0, greatest_speed = 0;  ///< of the whole grid, that all ranks step alike; of these
  };
  static VelocityCells velocity_cells(const PhaseBlock& block, int d);

  std::array<VelocityCells, Tr::vdim> cells_;
  double rdx_[3]{}, rdv_[3]{}, half_dv_[3]{}, moment_factor_ = 1;  ///< rdv, half_dv: of the mean width
  AlignedVector<double> zero_;
  mutable std::vector<Workspace> workspaces_;
};

template <class Tr>
VlasovOperatorOf<Tr>::VlasovOperatorOf(const PhaseBlock& block, Flux flux, const Open& is_open)
    : VlasovOperator(flux), block_(block), is_open_(is_open), zero_(largest_face, 0.0) {
  for (int i = 0; i < cdim; ++i) rdx_[i] = 2 / block.grid.width(i);
  for (int d = 0; d < vdim; ++d) {
    cells_[d] = velocity_cells(block, d);
    rdv_[d] = 2 / block.grid.mean_width(cdim + d);
    half_dv_[d] = 0.5 * block.grid.mean_width(cdim + d);
    moment_factor_ *= half_dv_[d] * constant_sqrt(2);  // int phi_0 dv
  }
  workspaces_.resize(std::max<int>(1, Exec().concurrency()));
  const std::int64_t n_packs = block.n_packs();
  for (auto& w : workspaces_) {
    std::size_t slab = n_packs * face_size;
    for (int d = vdim - 2; d >= 0; --d) {
      for (auto& parity : w.slab[d]) parity.resize(slab);
      slab *= block.extent[cdim + d];
    }
  }
}

template <class Tr>
typename VlasovOperatorOf<Tr>::VelocityCells VlasovOperatorOf<Tr>::velocity_cells(const PhaseBlock& block,
                                                                                  int d) {
  VelocityCells cells;
  const int axis = cdim + d, begin = block.begin[axis], n = block.extent[axis];
  for (int i = 0; i < (n + lanes - 1) / lanes * lanes; ++i) {
    cells.centre.push_back(block.grid.centre(axis, begin + i));
    cells.half.push_back(0.5 * block.grid.width(axis, begin + i));
    cells.relative.push_back(block.grid.relative_width(axis, begin + i));
    cells.stretch.push_back(1 / cells.relative.back());
  }
  cells.greatest_rdv = 2 / block.grid.least_width(axis);
  const double low = cells.centre[0] - cells.half[0],
               n_mean = std::accumulate(cells.relative.begin(), cells.relative.begin() + n, 0.0);
  cells.greatest_speed = std::max(std::abs(low), std::abs(low + n_mean * block.grid.mean_width(axis)));
  return cells;
}

template <class Tr>
template <class Body>
void VlasovOperatorOf<Tr>::for_each(const Exec& exec, const char* label, int n, const Body& body) const {
  const int workers = workspaces_.size();
  Workspace* const spaces = workspaces_.data();
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, workers), [=, &body](int worker) {
    const int begin = std::int64_t{n} * worker / workers;
    const int end = std::int64_t{n} * (worker + 1) / workers;
    for (int i = begin; i < end; ++i) body(spaces[worker], i);
  });
}

template <class Tr>
PackContext<Tr> VlasovOperatorOf<Tr>::context(const std::array<int, 3>& row) const {
  PackContext<Tr> c{};
  c.rdx = rdx_;
  c.flux = flux();
  c.row_volume = 1;
  for (int d = 0; d < last; ++d) {
    const auto& cells = cells_[d];
    const auto i = row[d];
    c.v[d] = P{} + cells.centre[i];
    c.half_dv[d] = P{} + cells.half[i];
    c.relative[d] = P{} + cells.relative[i];
    c.stretch[d] = P{} + cells.stretch[i];
    c.row_volume *= cells.relative[i];
  }
  return c;
}

template <class Tr>
void VlasovOperatorOf<Tr>::set_last_velocity(PackContext<Tr>& c, int pack) const {
  const auto& cells = cells_[last];
  const int first = pack * lanes;
  c.v[last] = load<double>(cells.centre.data() + first);
  c.half_dv[last] = load<double>(cells.half.data() + first);
  c.relative[last] = load<double>(cells.relative.data() + first);
  c.stretch[last] = load<double>(cells.stretch.data() + first);
  c.volume = c.row_volume * c.relative[last];
}

template <class Tr>
void VlasovOperatorOf<Tr>::make_cell_force(const ConfField& acceleration, int conf, Force<Tr>& force) const {
  make_force<Tr>(&acceleration(conf, 0, 0), rdv_, half_dv_, force);
}

template <class Tr>
void VlasovOperatorOf<Tr>::apply(const Exec& exec, const Stage& stage, const Distribution& f,
                                 const Distribution& f0, const ConfField& acceleration,
                                 const Distribution& out, const StageMoments& moments) {
  const Task task{stage, f, f0, out, acceleration, moments};
  for_each(exec, "vlasov::apply", block_.n_conf(),
           [&](Workspace& w, int conf) { configuration_cell(w, task, conf); });
}

template <class Tr>
void VlasovOperatorOf<Tr>::configuration_cell(Workspace& w, const Task& task, int conf) const {
  make_cell_force(task.acceleration, conf, w.force);
  // Cells beside this one in x; none beyond an open edge.
  const double* beside[cdim][2];
  auto index = block_.conf_index(conf);
  for (int i = 0; i < cdim; ++i) {
    const int here = index[i], n = block_.extent[i];
    for (const int side : {-1, 1}) {
      const bool edge = here == (side < 0 ? 0 : n - 1);
      index[i] = (here + side + n) % n;
      beside[i][side > 0] = edge && open(i, side) ? nullptr : task.f.pack(block_.conf_number(index), 0, 0);
    }
    index[i] = here;
  }
  MomentSums<Tr> sums;
  for (int row = 0; row < block_.n_rows(); ++row) row_of_cells(w, task, conf, row, beside, sums);
  write_moments(sums, task.moments, conf, false);
}

// One pass through a row of velocity cells does all of a cell while it is in registers: streaming,
// acceleration, moments and the stage of the step.
template <class Tr>
void VlasovOperatorOf<Tr>::row_of_cells(Workspace& w, const Task& task, int conf, int row,
                                        const double* const (*beside)[2], MomentSums<Tr>& sums) const {
  const auto index = block_.row_index(row);
  auto c = context(index);
  const int n_packs = block_.n_packs();
  set_last_velocity(c, 0);
  Along along;
  start_row(w.force, c, task.f.pack(conf, row, 0), along);
  for (int pack = 0; pack < n_packs; ++pack) {
    set_last_velocity(c, pack);
    const double* f = task.f.pack(conf, row, pack);
    Cell df;
    for_modes<Tr, Tr::n_modes>([&](auto m) QUINTET_INLINE { store_mode(df, m, P{}); });
    const std::ptrdiff_t here = (std::int64_t{row} * n_packs + pack) * cell_size;
    repeat<cdim>([&](auto i) QUINTET_INLINE {
      const auto* pair = beside[i];
      const double *lower = pair[0] ? pair[0] + here : nullptr, *upper = pair[1] ? pair[1] + here : nullptr;
      const double* upwind = c.v[i][0] < 0 ? upper : lower;
      streaming<i>(c, f, lower, upper, df, upwind ? upwind + cell_size : nullptr);
    });
    repeat<vdim>([&](auto d) QUINTET_INLINE {
      const double* next = nullptr;
      if (d == 0) next = task.out.pack(conf, row, pack) + cell_size;
      if (d == 1 && task.stage.keep != 0) next = task.f0.pack(conf, row, pack) + cell_size;
      acceleration_volume<Tr, d>(c, w.force, f, df, next);
    });
    repeat<last>([&](auto d) QUINTET_INLINE { across_rows<d>(w, c, task.f, conf, row, index, pack, df); });
    along_row(w.force, c, f, pack, along, df);
    update(task, conf, row, pack, df);
    if (task.moments.size() > 0) sums.add(c, task.out.pack(conf, row, pack));
  }
}

/// out = keep f0 + advance (f + dt df).
template <class Tr>
QUINTET_INLINE inline void VlasovOperatorOf<Tr>::update(const Task& task, int conf, int row, int pack,
                                                        const double* df) const {
  const double keep = task.stage.keep, advance = task.stage.advance;
  const double* f = task.f.pack(conf, row, pack);
  double* out = task.out.pack(conf, row, pack);
  const double rate = advance * task.stage.dt;
  if (keep == 0) {
    for_modes<Tr, Tr::n_modes>([&](auto m) QUINTET_INLINE {
      store_mode(out, m, advance * load_mode(f, m) + rate * load_mode(df, m));
    });
  } else {
    const double* f0 = task.f0.pack(conf, row, pack);
    for_modes<Tr, Tr::n_modes>([&](auto m) QUINTET_INLINE {
      store_mode(out, m, keep * load_mode(f0, m) + advance * load_mode(f, m) + rate * load_mode(df, m));
    });
  }
}

template <class Tr>
void VlasovOperatorOf<Tr>::write_moments(const MomentSums<Tr>& sums, const ConfField& moments, int conf,
                                         bool add) const {
  if (moments.size() == 0) return;
  for (int i = 0; i < 1 + vdim; ++i)
    for (int a = 0; a < Tr::n_full; ++a) {
      const double sum = moment_factor_ * horizontal_sum<double>(sums.sum[i][a]);
      moments(conf, i, a) = (add ? moments(conf, i, a) : 0) + sum;
    }
}

template <class Tr>
void VlasovOperatorOf<Tr>::sum_moments(const Exec& exec, const Distribution& f,
                                       const StageMoments& moments) const {
  for_each(exec, "vlasov::sum_moments", block_.n_conf(), [&](Workspace&, int conf) {
    MomentSums<Tr> sums;
    for (int row = 0; row < block_.n_rows(); ++row) {
      auto c = context(block_.row_index(row));
      for (int pack = 0; pack < block_.n_packs(); ++pack) {
        set_last_velocity(c, pack);
        sums.add(c, f.pack(conf, row, pack));
      }
    }
    write_moments(sums, moments, conf, false);
  });
}

template <class Tr>
double VlasovOperatorOf<Tr>::frequency(const Exec& exec, const ConfField& acceleration) const {
  (void)exec;
  const auto greatest_speed = [&](int d) { return cells_[d].greatest_speed; };
  double streaming = 0;
  for (int i = 0; i < cdim; ++i) streaming += greatest_speed(i) * rdx_[i] / 2;
  constexpr int n = Tr::n_full;
  const auto bound = [&](const double* mode) {
    double sum = 0;
    for (int m = 0; m < n; ++m) sum += std::abs(mode[m]) * Tr::triple.greatest[m];
    return sum;
  };
  double greatest = 0;
  for (int conf = 0; conf < block_.n_conf(); ++conf) {
    double sum = 0;
    for (int d = 0; d < vdim; ++d) {
      double a = bound(&acceleration(conf, d, 0));
      for (int j = 0; j < vdim; ++j)
        if (j != d) a += greatest_speed(j) * bound(&acceleration(conf, 3 + cross_term(d, j).k, 0));
      sum += a * cells_[d].greatest_rdv / 2;
    }
    greatest = std::max(greatest, sum);
  }
  return streaming + greatest;
}

/// The operator of a basis in CDim x VDim; null if it is not built in.
template <int CDim, int VDim>
std::unique_ptr<VlasovOperator> make_vlasov_operator(const PhaseBasis& basis, const PhaseBlock& block,
                                                     Flux flux,
                                                     const std::array<std::array<bool, 2>, 6>& is_open) {
  std::unique_ptr<VlasovOperator> made;
  visit_orders<CDim, VDim>(basis.order(), basis.family(), [&]<class Tr>() {
    made = std::make_unique<VlasovOperatorOf<Tr>>(block, flux, is_open);
  });
  return made;
}

}  // namespace quintet::kinetics
