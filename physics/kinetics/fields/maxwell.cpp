#include "physics/kinetics/fields/maxwell.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/fields/field_boundaries.hpp"
#include "physics/kinetics/fields/maxwell_kernels.hpp"
#include "physics/kinetics/space/conf_halo.hpp"

namespace quintet::kinetics {

namespace {

/// This rank's cells as lines along one direction: cell = (outer * n + i) * n_inner + inner, and the face
/// below cell i of a line is (outer * (n + 1) + i) * n_inner + inner.
struct Lines {
  int n_outer = 1, n = 1, n_inner = 1;

  Lines() = default;
  Lines(const PhaseBlock& block, int d) : n(block.extent[d]) {
    for (int e = 0; e < d; ++e) n_outer *= block.extent[e];
    for (int e = d + 1; e < block.grid.cdim; ++e) n_inner *= block.extent[e];
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int n_lines() const { return n_outer * n_inner; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int n_faces() const { return n_outer * (n + 1) * n_inner; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int cell(int line, int i) const {
    return (line / n_inner * n + i) * n_inner + line % n_inner;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int face(int line, int i) const {
    return (line / n_inner * (n + 1) + i) * n_inner + line % n_inner;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int face_below(int cell) const {
    return cell + cell / (n * n_inner) * n_inner;
  }
};

/// Signs of the components in the mirror image of a perfect conductor normal to d: tangential E, normal B and
/// phi vanish on it.
struct Mirror {
  double sign[n_field] = {-1, -1, -1, 1, 1, 1, -1, 1};
  explicit Mirror(int d) {
    sign[field_ex + d] = 1;
    sign[field_bx + d] = -1;
  }
};

// ---- kernels ----

/// state [cell, mode, component] = field [cell, component, mode].
void transpose(const Exec& exec, const ConfModes& modes, const ConfField& field, const Array<double>& state) {
  const int n = modes.n_modes;
  Kokkos::parallel_for(
      "kinetics::maxwell_transpose", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(field.extent(0))),
      KOKKOS_LAMBDA(const int cell) {
        const double* from = field.data() + std::int64_t{cell} * n_field * n;
        double* to = state.data() + std::int64_t{cell} * n_field * n;
        for (int i = 0; i < n; ++i)
          for (int q = 0; q < n_field; ++q) to[i * n_field + q] = from[q * n + i];
      });
}

/// out [line, face mode, 8] = traces on face `side` of the cells of layer `i` along d.
void layer_traces(const Exec& exec, const ConfModes& modes, const Lines& lines, int d, int i, int side,
                  const Array<double>& state, double* out) {
  const int n_face = modes.n_face[d], n_modes = modes.n_modes;
  Kokkos::parallel_for(
      "kinetics::maxwell_layer", Kokkos::RangePolicy<Exec>(exec, 0, lines.n_lines()),
      KOKKOS_LAMBDA(const int line) {
        const double* u = state.data() + std::int64_t{lines.cell(line, i)} * n_modes * n_field;
        double* to = out + std::int64_t{line} * n_face * n_field;
        for (int m = 0; m < n_face; ++m) field_trace(modes, d, side, m, u, to + m * n_field);
      });
}

void apply_mirror(const Exec& exec, const Mirror& mirror, int n, double* traces) {
  Kokkos::parallel_for(
      "kinetics::maxwell_mirror", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(const int i) {
        for (int q = 0; q < n_field; ++q) traces[i * n_field + q] *= mirror.sign[q];
      });
}

/// States of all faces normal to d between two cells of this rank.
void interior_faces(const Exec& exec, const ConfModes& modes, const MaxwellCoupling& coupling,
                    const Lines& lines, int d, FaceFlux flux, const Array<double>& state,
                    const Array<double>& faces) {
  const int n_face = modes.n_face[d], n_modes = modes.n_modes, n_between = lines.n - 1;
  Kokkos::parallel_for(
      "kinetics::maxwell_faces", Kokkos::RangePolicy<Exec>(exec, 0, lines.n_lines() * n_between),
      KOKKOS_LAMBDA(const int number) {
        const int line = number / n_between, i = 1 + number % n_between;
        const std::size_t cell_size = std::int64_t{n_modes} * n_field;
        const double* below = state.data() + lines.cell(line, i - 1) * cell_size;
        const double* above = state.data() + lines.cell(line, i) * cell_size;
        double* to = faces.data() + std::int64_t{lines.face(line, i)} * n_face * n_field;
        double lower[n_field], upper[n_field];
        for (int m = 0; m < n_face; ++m) {
          field_trace(modes, d, 1, m, below, lower);
          field_trace(modes, d, 0, m, above, upper);
          face_state(coupling, d, flux, lower, upper, to + m * n_field);
        }
      });
}

/// States of the faces on one side of this rank's box, `outside` [line, face mode, 8] beyond them.
void outer_faces(const Exec& exec, const ConfModes& modes, const MaxwellCoupling& coupling,
                 const Lines& lines, int d, int side, FaceFlux flux, const Array<double>& state,
                 const double* outside, const Array<double>& faces) {
  const int n_face = modes.n_face[d], n_modes = modes.n_modes, n = lines.n;
  Kokkos::parallel_for(
      "kinetics::maxwell_outer_faces", Kokkos::RangePolicy<Exec>(exec, 0, lines.n_lines()),
      KOKKOS_LAMBDA(const int line) {
        const int cell = lines.cell(line, side == 0 ? 0 : n - 1);
        const double* u = state.data() + std::int64_t{cell} * n_modes * n_field;
        const double* beyond = outside + std::int64_t{line} * n_face * n_field;
        double* to = faces.data() + std::int64_t{lines.face(line, side == 0 ? 0 : n)} * n_face * n_field;
        double inside[n_field];
        for (int m = 0; m < n_face; ++m) {
          field_trace(modes, d, side, m, u, inside);
          const double* other = beyond + m * n_field;
          face_state(coupling, d, flux, side == 0 ? other : inside, side == 0 ? inside : other,
                     to + m * n_field);
        }
      });
}

/// What the cells need beside the state.
struct CellRate {
  ConfModes modes;
  MaxwellCoupling coupling;
  Lines lines[3];
  double scale[3];                         ///< 2/dx
  double inverse_epsilon0, charge_factor;  ///< 1/epsilon0, chi_e/epsilon0
  Array<double> state, faces[3];
  ConfField current, charge, rate;
  double electric_damping = 0, magnetic_damping = 0;  ///< of phi and psi, 1/time

  /// rate of mode i of a cell = sum_d 2/dx_d A_d (minus the weak derivative) + sources.
  KOKKOS_INLINE_FUNCTION void operator()(const int cell) const {
    const double* u = state.data() + std::int64_t{cell} * modes.n_modes * n_field;
    const double *lower[3], *upper[3];
    for (int d = 0; d < modes.dim; ++d) {
      const int face = lines[d].face_below(cell), size = modes.n_face[d] * n_field;
      lower[d] = faces[d].data() + std::int64_t{face} * size;
      upper[d] = lower[d] + std::int64_t{lines[d].n_inner} * size;
    }
    double* out = rate.data() + std::int64_t{cell} * modes.n_modes * n_field;
    for (int i = 0; i < modes.n_modes; ++i) {
      double sum[n_field], derivative[n_field];
      sources(cell, i, u + i * n_field, sum);
      for (int d = 0; d < modes.dim; ++d) {
        weak_derivative(modes, d, i, u, lower[d], upper[d], derivative);
        for (int q = 0; q < n_field; ++q)
          sum[q] += scale[d] * coupling.coefficient[d][q] * derivative[coupling.partner[d][q]];
      }
      store_components(sum, modes.n_modes, out + i);
    }
  }

  /// sum [8] = (-J/epsilon0, 0, chi_e rho/epsilon0 - nu_e phi, -nu_m psi) of mode i, `u` [8].
  KOKKOS_INLINE_FUNCTION void sources(int cell, int i, const double* u, double* sum) const {
    for (int l = 0; l < 3; ++l) {
      sum[field_ex + l] = -inverse_epsilon0 * current(cell, l, i);
      sum[field_bx + l] = 0;
    }
    sum[field_phi] =
        (charge_factor == 0 ? 0 : charge_factor * charge(cell, 0, i)) - electric_damping * u[field_phi];
    sum[field_psi] = -magnetic_damping * u[field_psi];
  }
};

void check_options(const PhaseGrid& grid, const MaxwellOptions& options) {
  QUINTET_CHECK(options.epsilon0 > 0 && options.mu0 > 0,
                "epsilon0 = {} and mu0 = {}: both must be positive (1 and 1 in normalised units)",
                options.epsilon0, options.mu0);
  QUINTET_CHECK(options.electric_cleaning >= 0 && options.magnetic_cleaning >= 0,
                "electric_cleaning = {}, magnetic_cleaning = {}: speeds in units of c, 0 (none) or more",
                options.electric_cleaning, options.magnetic_cleaning);
  QUINTET_CHECK(options.cleaning_damping >= 0, "cleaning_damping = {}: expected 0 (none) or more",
                options.cleaning_damping);
  for (int d = 0; d < grid.cdim; ++d)
    for (const auto boundary : options.boundary[d]) {
      static_cast<void>(row_of(field_boundaries, boundary));
      QUINTET_CHECK(
          (boundary == FieldBoundary::periodic) == grid.periodic[d],
          "the field's boundary along x{} is {}periodic, but the grid is {}periodic there: make both "
          "ends of field and grid agree",
          d, boundary == FieldBoundary::periodic ? "" : "not ", grid.periodic[d] ? "" : "not ");
    }
}

}  // namespace

struct Maxwell::Implementation {
  Implementation(const Decomposition& decomposition, const PhaseGrid& grid, const Basis& conf,
                 const MaxwellOptions& o)
      : options(o),
        block(decomposition.block(grid)),
        comm(decomposition.conf_comm()),
        modes(conf),
        speed(1 / std::sqrt(o.epsilon0 * o.mu0)),
        coupling(speed, o.electric_cleaning, o.magnetic_cleaning),
        halo(decomposition, grid, buffer_sizes()) {
    state = make_view<Array<double>>("kinetics::maxwell_state",
                                     std::int64_t{block.n_conf()} * modes.n_modes * n_field);
    for (int d = 0; d < grid.cdim; ++d)
      faces[d] = make_view<Array<double>>("kinetics::maxwell_faces",
                                          std::int64_t{lines(d).n_faces()} * modes.n_face[d] * n_field);
  }

  [[nodiscard]] Lines lines(int d) const { return Lines(block, d); }
  [[nodiscard]] std::array<int, 3> buffer_sizes() const {
    std::array<int, 3> sizes{};
    for (int d = 0; d < block.grid.cdim; ++d) sizes[d] = lines(d).n_lines() * modes.n_face[d] * int{n_field};
    return sizes;
  }
  /// Flux of faces that no wave leaves through.
  [[nodiscard]] FaceFlux inside() const {
    if (!options.upwind) return FaceFlux::central;
    return options.upwind_cleaning ? FaceFlux::upwind : FaceFlux::light;
  }
  [[nodiscard]] double damping(double cleaning) const;
  [[nodiscard]] FieldBoundary boundary(int d, int side) const { return options.boundary[d][side]; }
  /// Traces on face `side` of the outermost cells at end `end` of direction d.
  void end_traces(const Exec& exec, int d, int end, int side, double* out) const {
    layer_traces(exec, modes, lines(d), d, end == 0 ? 0 : lines(d).n - 1, side, state, out);
  }
  void pack(const Exec& exec) const;
  void fill_walls(const Exec& exec) const;
  void fill_wall(const Exec& exec, int d, int side) const;
  void compute_outer_faces(const Exec& exec) const;
  [[nodiscard]] double outflow(int d, int side) const;

  MaxwellOptions options;
  PhaseBlock block;
  Comm comm;
  ConfModes modes;
  double speed;  ///< c
  MaxwellCoupling coupling;
  ConfHalo halo;
  Array<double> state;     ///< [n_conf, n_modes, 8]
  Array<double> faces[3];  ///< [n_faces, n_face, 8]: states of all faces normal to d
};

/// What the neighbours need of this rank's outer cells.
void Maxwell::Implementation::pack(const Exec& exec) const {
  bool any = false;
  for (int d = 0; d < modes.dim; ++d)
    for (int side = 0; side < 2; ++side)
      if (halo.has_neighbour(d, side)) {
        end_traces(exec, d, side, side, halo.send(d, side));
        any = true;
      }
  if (any) exec.fence();
}

/// What lies outside where no other rank is: the other end of a periodic direction, or a wall.
void Maxwell::Implementation::fill_walls(const Exec& exec) const {
  for (int d = 0; d < modes.dim; ++d)
    for (int side = 0; side < 2; ++side) {
      if (halo.has_neighbour(d, side)) continue;
      if (halo.is_wall(d, side))
        fill_wall(exec, d, side);
      else
        end_traces(exec, d, 1 - side, 1 - side, halo.outside(d, side));
    }
}

void Maxwell::Implementation::fill_wall(const Exec& exec, int d, int side) const {
  double* outside = halo.outside(d, side);
  if (boundary(d, side) == FieldBoundary::conductor) {
    end_traces(exec, d, side, side, outside);
    apply_mirror(exec, Mirror(d), lines(d).n_lines() * modes.n_face[d], outside);
  } else if (boundary(d, side) == FieldBoundary::open) {
    end_traces(exec, d, side, 1 - side, outside);  // the cell outside is a copy of the one inside
  }
}

void Maxwell::Implementation::compute_outer_faces(const Exec& exec) const {
  for (int d = 0; d < modes.dim; ++d)
    for (int side = 0; side < 2; ++side) {
      const bool lets_waves_out = halo.is_wall(d, side) && boundary(d, side) != FieldBoundary::conductor;
      outer_faces(exec, modes, coupling, lines(d), d, side, lets_waves_out ? FaceFlux::upwind : inside(),
                  state, halo.outside(d, side), faces[d]);
    }
}

/// Rate at which a cleaning potential falls, d chi c 2 pi/L of the longest side L; no more than chi c/dx,
/// which any step that bears the waves bears too.
double Maxwell::Implementation::damping(double cleaning) const {
  const PhaseGrid& grid = block.grid;
  double longest = 0, widest = 0;
  for (int d = 0; d < modes.dim; ++d) {
    longest = std::max(longest, grid.upper[d] - grid.lower[d]);
    widest = std::max(widest, grid.width(d));
  }
  return cleaning * speed * std::min(options.cleaning_damping * 2 * M_PI / longest, 1 / widest);
}

double Maxwell::Implementation::outflow(int d, int side) const {
  const Lines along = lines(d);
  const int n_face = modes.n_face[d], e = (d + 1) % 3, f = (d + 2) % 3;
  double sum = 0;
  for (int line = 0; line < along.n_lines(); ++line) {
    const double* u =
        state.data() + std::int64_t{along.cell(line, side == 0 ? 0 : along.n - 1)} * modes.n_modes * n_field;
    const double* face =
        faces[d].data() + std::int64_t{along.face(line, side == 0 ? 0 : along.n)} * n_face * n_field;
    for (int m = 0; m < n_face; ++m, face += n_field) {
      double in[n_field];
      field_trace(modes, d, side, m, u, in);
      const auto product = [&](int a, int b) { return in[a] * face[b] + face[a] * in[b] - in[a] * in[b]; };
      sum += product(field_ex + e, field_bx + f) - product(field_ex + f, field_bx + e);
    }
  }
  // int w_i w_j dS = delta_ij prod dx/2 over the other directions
  const double area = block.grid.conf_cell_volume() / (1 << modes.dim) * 2 / block.grid.width(d);
  return (side == 0 ? -1 : 1) * sum * area / options.mu0;
}

Maxwell::Maxwell(const Decomposition& decomposition, const PhaseGrid& grid, const Basis& conf,
                 const MaxwellOptions& options) {
  check_options(grid, options);
  implementation_ = std::make_unique<Implementation>(decomposition, grid, conf, options);
}

Maxwell::~Maxwell() = default;

void Maxwell::rate(const Exec& exec, const ConfField& field, const ConfField& current,
                   const ConfField& charge, const ConfField& rate) {
  const auto& self = *implementation_;
  transpose(exec, self.modes, field, self.state);
  self.pack(exec);
  auto exchange = self.halo.start();
  for (int d = 0; d < self.modes.dim; ++d)
    interior_faces(exec, self.modes, self.coupling, self.lines(d), d, self.inside(), self.state,
                   self.faces[d]);
  self.fill_walls(exec);
  exchange.wait();
  self.compute_outer_faces(exec);

  CellRate cells{self.modes, self.coupling, {},     {},  1 / self.options.epsilon0, 0, self.state,
                 {},         current,       charge, rate};
  cells.charge_factor = self.options.electric_cleaning / self.options.epsilon0;
  cells.electric_damping = self.damping(self.options.electric_cleaning);
  cells.magnetic_damping = self.damping(self.options.magnetic_cleaning);
  for (int d = 0; d < self.modes.dim; ++d) {
    cells.lines[d] = self.lines(d);
    cells.scale[d] = 2 / self.block.grid.width(d);
    cells.faces[d] = self.faces[d];
  }
  Kokkos::parallel_for("kinetics::maxwell_cells", Kokkos::RangePolicy<Exec>(exec, 0, self.block.n_conf()),
                       cells);
}

std::array<std::array<double, 2>, 3> Maxwell::outflow() const {
  const auto& self = *implementation_;
  std::array<std::array<double, 2>, 3> out{};
  for (int d = 0; d < self.modes.dim; ++d)
    for (int side = 0; side < 2; ++side)
      if (self.halo.is_wall(d, side) && self.boundary(d, side) != FieldBoundary::conductor)
        out[d][side] = self.outflow(d, side);
  return out;
}

void Maxwell::hold_boundary(const Exec& exec, const ConfField& field) {
  const auto& self = *implementation_;
  transpose(exec, self.modes, field, self.state);
  for (int d = 0; d < self.modes.dim; ++d)
    for (int side = 0; side < 2; ++side)
      if (self.halo.is_wall(d, side) && self.boundary(d, side) == FieldBoundary::fixed)
        self.end_traces(exec, d, side, side, self.halo.outside(d, side));
}

double Maxwell::frequency() const {
  const auto& self = *implementation_;
  const double fastest =
      self.speed * std::max({1.0, self.options.electric_cleaning, self.options.magnetic_cleaning});
  double sum = 0;
  for (int d = 0; d < self.modes.dim; ++d) sum += fastest / self.block.grid.width(d);
  return sum;
}

std::array<double, n_field> Maxwell::integrals(const Exec& exec, const ConfField& field) const {
  const auto& self = *implementation_;
  const int n_modes = self.modes.n_modes;
  // int w_i w_j dx = delta_ij prod_d dx_d/2
  const double volume = self.block.grid.conf_cell_volume() / (1 << self.modes.dim);
  std::array<double, n_field> result{};
  for (int q = 0; q < n_field; ++q) {
    double sum = 0;
    Kokkos::parallel_reduce(
        "kinetics::maxwell_integrals", Kokkos::RangePolicy<Exec>(exec, 0, self.block.n_conf()),
        KOKKOS_LAMBDA(const int cell, double& part) {
          for (int i = 0; i < n_modes; ++i) part += field(cell, q, i) * field(cell, q, i);
        },
        sum);
    result[q] = sum * volume;
  }
  self.comm.reduce(std::span<double>(result), Comm::Reduction::sum);
  return result;
}

}  // namespace quintet::kinetics
