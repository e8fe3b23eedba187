#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "physics/convection/device/column_kernels.hpp"
#include "physics/convection/device/device_flows.hpp"
#include "physics/convection/device/device_multigrid.hpp"
#include "physics/convection/device/slab_traffic.hpp"
#include "physics/convection/device/tally_kernels.hpp"

namespace quintet::convection::device {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
template <class T>
using HostView = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

constexpr int n_sets = 3, fields_of_set[n_sets] = {4, 4, 3};  // state, stage and correction, first push
constexpr int n_eliminated = 3;
constexpr std::size_t fast_memory = 40000;  ///< bytes that every device has for a team

/// Numbers on the device.
template <class T>
Kokkos::View<T*, Memory> copied(const char* label, const std::vector<T>& from) {
  Kokkos::View<T*, Memory> to(std::string("convection::") + label, std::max<std::size_t>(from.size(), 1));
  if (!from.empty())
    Kokkos::deep_copy(
        Kokkos::subview(to, std::pair<std::size_t, std::size_t>(0, from.size())),
        Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
  return to;
}

std::vector<int> radices(int n) {
  std::vector<int> result;
  for (const int r : {4, 2, 3, 5, 7, 11, 13})
    for (; n % r == 0; n /= r) result.push_back(r);
  return result;
}

int length_of(const DeviceEquations& equations, int n) {
  return equations.forward.empty() && equations.basis == LineBasis::sine_faces ? 2 * n : n;
}

/// Columns of a matrix one after the other.
std::vector<double> transposed(const std::vector<double>& matrix, std::size_t n) {
  std::vector<double> result(matrix.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) result[k * n + i] = matrix[i * n + k];
  return result;
}

/// Bases in which u, w and b are waves, as spectra.cpp has them.
std::array<DeviceEquations, 3> waves_of(const DeviceFlowSetup& setup) {
  std::array<DeviceEquations, 3> waves;
  for (auto& unknown : waves) unknown.basis = setup.periodic ? LineBasis::periodic : LineBasis::cosine;
  if (!setup.periodic) waves[0].basis = LineBasis::sine_faces;
  return waves;
}

/// Rows of neighbours that are kept.
int margin_of(const DeviceFlowSetup& setup) { return setup.n_slabs() > 1 ? 1 : 0; }

/// Those of a slab's rows.
std::vector<double> rows_of(const DeviceFlowSetup& setup, const std::vector<double>& values) {
  const auto first = values.begin() + setup.first_row();
  return {first, first + setup.rows_here()};
}

/// [n_z] of Flows::to_mean, for the pressure that is 0 in row `pinned`. L q = r has the volume mean sum_j s_j
/// y_j r_j of these solutions, s_j the share of the whole height and L y = 1 in all rows but that one, y = 0
/// there: weight L is symmetric.
std::vector<double> lacking_mean(const DeviceFlowSetup& setup, const std::vector<double>& share, int pinned) {
  const auto n = share.size(), pin = static_cast<std::size_t>(pinned);
  const std::vector<double>& above = setup.equations[3].above;
  std::vector<double> y(n, 0.0), result;
  double flux = 0;  // through the upper face of row j, over the whole height
  for (std::size_t j = 0; j < pin; ++j) {
    flux += share[j];
    y[j] = flux / (above[j] * share[j]);  // y_{j+1} - y_j
  }
  for (std::size_t j = pin; j-- > 0;) y[j] = y[j + 1] - y[j];
  flux = 0;
  for (std::size_t j = n - 1; j > pin; --j) {
    flux += share[j];
    y[j] = -flux / (above[j - 1] * share[j - 1]);  // y_j - y_{j-1}
  }
  for (std::size_t j = pin + 1; j < n; ++j) y[j] += y[j - 1];
  for (std::size_t j = 0; j < n; ++j) result.push_back(-share[j] * y[j]);
  return result;
}

/// Measures which order of the same work is the faster. Ranks may choose differently: messages are the same.
class TimedOverlap {
 public:
  explicit TimedOverlap(Overlap choice) : on_(choice != Overlap::never), open_(choice == Overlap::timed) {}
  [[nodiscard]] bool on() const { return on_; }
  /// Whether steps are still timed.
  [[nodiscard]] bool open() const { return open_; }
  /// So long a step took: the shortest of each order counts, the first two of all not.
  void took(double seconds) {
    constexpr int warm_up = 2, n_timed = 8;
    double& least = on_ ? with_ : without_;
    if (n_++ >= warm_up) least = std::min(least, seconds);
    open_ = n_ < warm_up + n_timed;
    on_ = open_ ? !on_ : with_ <= without_;
  }

 private:
  bool on_, open_;
  int n_ = 0;
  double with_ = HUGE_VAL, without_ = HUGE_VAL;
};

class ResidentFlows final : public DeviceFlows {
 public:
  explicit ResidentFlows(const DeviceFlowSetup& setup)
      : n_slabs_(setup.n_slabs()),
        fast_(setup.fast),
        traffic_(setup),
        overlap_(setup.overlap),
        by_multigrid_(DeviceMultigrid::used(setup)),
        multigrid_(setup, [this](const char* label, const auto& values) { return keep(label, values); }) {
    set_mesh(setup);
    flows_.margin = margin_of(setup);
    flows_.n_members = setup.n_members;
    flows_.viscosity = setup.viscosity;
    flows_.left = setup.left;
    flows_.right = setup.right;
    flows_.bottom = setup.bottom;
    flows_.top = setup.top;
    const std::size_t size = flows_.n_members * flows_.stride();
    const auto array = [&](const char* label, int fields) {
      numbers_.emplace_back(std::string("convection::") + label, fields * size);
      return numbers_.back().data();
    };
    flows_.state = array("state", fields_of_set[0]);
    flows_.stage = array("stage", fields_of_set[1]);
    flows_.first = array("first", fields_of_set[2]);
    flows_.eliminated = array("eliminated", n_eliminated);
    std::vector<RowPlan> plans;
    for (std::size_t which = 0; which < setup.equations.size(); ++which) {
      const DeviceEquations& equations = setup.equations[which];
      if (!by_multigrid_) {
        plans.push_back(plan_of(equations, setup.n_x));
        work_length_ = std::max(work_length_, plans.back().length);
      }
      std::vector<double> all;
      for (const auto* part : {&equations.below, &equations.diagonal, &equations.above}) {
        const auto rows = rows_of(setup, *part);
        all.insert(all.end(), rows.begin(), rows.end());
      }
      all.insert(all.end(), equations.squares.begin(), equations.squares.end());
      flows_.equations[which] = keep("equations", all);
      flows_.diffusivity[which] = equations.diffusivity;
    }
    plans_ = copied("plans", plans);
    flows_.rows = plans_.data();
    walls_ = {setup.sides_hold, setup.bottom_holds, setup.top_holds, setup.heated_sides};
    if (fast_) {
      std::vector<RowPlan> waves;
      for (const DeviceEquations& unknown : waves_of(setup)) {
        waves.push_back(plan_of(unknown, setup.n_x));
        wave_length_ = std::max(wave_length_, waves.back().length);
      }
      wave_plans_ = copied("plans", waves);
    }
    middle_ = setup.n_z / 2 - setup.first_row();
    for (const double width : setup.z_widths) height_ += width;
    std::vector<double> share;
    for (const double width : setup.z_widths) share.push_back(width / height_);
    flows_.share = keep("share", rows_of(setup, share));
    if (n_slabs_ > 1)  // the first row of the last slab is the unknown that remains
      flows_.to_mean = keep("to_mean", rows_of(setup, lacking_mean(setup, share, setup.slabs.back())));
  }

  void put(int member, const std::array<std::span<const double>, 4>& fields) override {
    for (int which = 0; which < 4; ++which)
      Kokkos::deep_copy(view_of(which, member),
                        Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                            fields[which].data(), fields[which].size()));
    if (n_slabs_ > 1) traffic_.finish(flows_);
    edges_are_old_ = true;
  }
  void take(int member, const std::array<std::span<double>, 4>& fields) const override {
    for (int which = 0; which < 4; ++which)
      Kokkos::deep_copy(HostView<double>(fields[which].data(), fields[which].size()), view_of(which, member));
  }

  void advance(double dt) override {
    const double g = 1 - std::sqrt(0.5), d = 1 - 1 / (2 * g), a = g * dt;
    renew_edges();
    const auto both = [&] {
      stage({flows_, false, a, 0, 0, 0}, flows_.stage, a);
      stage({flows_, true, a, (1 - g) / g, dt * (d - 1 + g), dt * (1 - d)}, flows_.state, a);
    };
    if (n_slabs_ == 1 || !overlap_.open()) return both();
    traffic_.finish(flows_);
    Exec().fence();
    const auto start = std::chrono::steady_clock::now();
    both();
    traffic_.finish(flows_);
    Exec().fence();
    overlap_.took(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }

  std::vector<FlowTally> tallies() const override {
    renew_edges();
    if (n_slabs_ > 1) traffic_.finish(flows_);
    std::vector<FlowTally> result(flows_.n_members);
    const auto add = [&](auto kernel, auto totals, auto FlowTally::*part) {
      Kokkos::parallel_for("convection::tally", range(kernel.threads()), kernel);
      const std::size_t n = kernel.n * flows_.n_members;
      Kokkos::parallel_for("convection::tally_totals",
                           Kokkos::TeamPolicy<Exec>(static_cast<int>(n), Kokkos::AUTO), totals);
      std::vector<double> found(n);
      Kokkos::deep_copy(HostView<double>(found.data(), n), Part(flows_.first, n));
      for (std::size_t i = 0; i < n; ++i) (result[i % result.size()].*part)[i / result.size()] = found[i];
    };
    // Between steps the stage and the first push are nobody's.
    const std::int64_t n_parts = Tallied<false>{flows_, walls_, nullptr}.threads() / flows_.n_members;
    add(Tallied<false>{flows_, walls_, flows_.stage}, TallyTotals<false>{flows_.stage, n_parts, flows_.first},
        &FlowTally::sums);
    add(Tallied<true>{flows_, walls_, flows_.stage}, TallyTotals<true>{flows_.stage, n_parts, flows_.first},
        &FlowTally::most);
    return result;
  }

  std::vector<double> powers() const override {
    if (!fast_) return {};
    const std::size_t size = 3 * flows_.n_members * flows_.stride();
    Kokkos::deep_copy(Exec(), Part(flows_.stage, size), Part(flows_.state, size));
    Flows of_waves = flows_;
    of_waves.rows = wave_plans_.data();
    rows<true>(of_waves, flows_.stage, 0, 3, wave_length_);
    const std::size_t n = 4 * flows_.n_members * flows_.mesh.n_x;
    Kokkos::parallel_for("convection::powers", range(std::int64_t{flows_.n_members} * flows_.mesh.n_x),
                         RowPowers{flows_, flows_.stage, middle_, height_, flows_.first});
    std::vector<double> result(n);
    Kokkos::deep_copy(HostView<double>(result.data(), n), Part(flows_.first, n));
    return result;
  }

  Solves take_solves() override { return multigrid_.take_solves(); }

  double courant_rate() const override {
    renew_edges();
    if (n_slabs_ > 1) traffic_.finish(flows_);
    double result = 0;
    Kokkos::parallel_reduce("convection::courant_rate", cells(), CourantRate{flows_},
                            Kokkos::Max<double>(result));
    return result;
  }

 private:
  [[nodiscard]] Kokkos::RangePolicy<Exec> cells() const {
    return {0, static_cast<std::size_t>(flows_.size())};
  }
  [[nodiscard]] static Kokkos::RangePolicy<Exec> range(std::int64_t n) {
    return {0, static_cast<std::size_t>(n)};
  }
  using Part = Kokkos::View<double*, Memory, Kokkos::MemoryUnmanaged>;
  [[nodiscard]] Part view_of(int which, int member) const {
    return Part(flows_.field(flows_.state, which, member), static_cast<std::size_t>(flows_.cells()));
  }

  /// A stage of the scheme, whose result is `set`: diffusion is solved, then the flow made solenoidal.
  void stage(const RightHandSide& right, double* set, double a) {
    for_cells("convection::right_hand_side", right, true, true);
    solve(set, 0, 3, 1.0, a);
    if (n_slabs_ > 1) send({{}, {flows_.field(set, 1, 0)}, 0, 1});
    for_cells("convection::divergence", Divergence{flows_, set, a}, false, true);
    solve(flows_.stage, 3, 1, 0.0, 0.0);
    if (n_slabs_ > 1) send({{flows_.field(flows_.stage, 3, 0)}, {}, 1, 0});
    for_cells("convection::projection", Projection{flows_, set, a}, true, false);
    if (n_slabs_ > 1) send_all(set);
  }

  /// A kernel of cells. Where rows of neighbours are on their way, those that need them, the lowest or the
  /// highest, wait for them, the others do not.
  template <class Kernel>
  void for_cells(const char* label, const Kernel& kernel, bool lowest, bool highest) {
    if (n_slabs_ == 1) return Kokkos::parallel_for(label, cells(), kernel);
    const auto some = [&](int first, int n) {
      const SomeRows<Kernel> rows{kernel, first, n};
      if (n > 0)
        Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, static_cast<std::size_t>(rows.size())),
                             rows);
    };
    const int n_z = flows_.mesh.n_z, n_edges = std::min(n_z, (lowest ? 1 : 0) + (highest ? 1 : 0));
    if (!traffic_.under_way()) return some(0, n_z);
    some(lowest ? 1 : 0, n_z - n_edges);
    traffic_.finish(flows_);
    some(highest ? n_z - 1 : 0, n_edges);
  }

  /// Fields of a set become the solutions of their equations, as Columns' with `shift` and `a`.
  void solve(double* set, int first, int n_fields, double shift, double a) {
    if (by_multigrid_) return multigrid_.solve(flows_, set, first, n_fields, shift, a);
    rows<true>(flows_, set, first, n_fields, work_length_);
    columns(set, first, n_fields, shift, a);
    rows<false>(flows_, set, first, n_fields, work_length_);
  }

  void send(const EdgeFields& fields) const {
    traffic_.start(flows_, fields);
    if (!overlap_.on()) traffic_.finish(flows_);
  }
  /// Neighbours of u, w and b of a set, and those below of p: what the next right-hand side needs.
  void send_all(double* set) const {
    double *const u = flows_.field(set, 0, 0), *const w = flows_.field(set, 1, 0),
                  *const b = flows_.field(set, 2, 0), *const p = flows_.field(flows_.state, 3, 0);
    send({{u, w, b, p}, {u, w, b}, 4, 3});
  }
  void renew_edges() const {
    if (n_slabs_ > 1 && edges_are_old_) send_all(flows_.state);
    edges_are_old_ = false;
  }

  template <bool Forward>
  static void rows(const Flows& f, double* set, int first, int n_fields, int length) {
    const std::size_t bytes = 4 * sizeof(double) * length;
    const int level = bytes <= fast_memory ? 0 : 1;
    const int teams = (f.mesh.n_z + 1) / 2 * f.n_members * n_fields;
    Kokkos::parallel_for(
        "convection::rows",
        Kokkos::TeamPolicy<Exec>(teams, Kokkos::AUTO).set_scratch_size(level, Kokkos::PerTeam(bytes + 64)),
        Rows<Forward>{f, set, first, level, length});
  }
  void columns(double* set, int first, int n_fields, double shift, double a) {
    const double* const beyond =
        n_slabs_ > 1 ? traffic_.ends(flows_, set, first, n_fields, shift, a) : nullptr;
    const auto n = std::int64_t{flows_.mesh.n_x} * flows_.n_members * n_fields;
    Kokkos::parallel_for("convection::columns", Kokkos::RangePolicy<Exec>(0, n),
                         Columns{flows_, set, first, shift, a, beyond});
  }

  const double* keep(const char* label, const std::vector<double>& values) {
    numbers_.push_back(copied(label, values));
    return numbers_.back().data();
  }

  /// Set the mesh of each axis: widths, their reciprocals and those of gaps, with one more at both ends, as
  /// Metrics has them.
  void set_mesh(const DeviceFlowSetup& setup) {
    const auto extended = [&](const std::vector<double>& values, bool periodic, bool reciprocal) {
      std::vector<double> result(values);
      result.insert(result.begin(), periodic ? values.back() : values.front());
      result.push_back(periodic ? values.front() : values.back());
      for (double& value : result) value = reciprocal ? 1 / value : value;
      return keep("mesh", result) + 1;
    };
    const int n = setup.rows_here(), first = setup.first_row();
    flows_.mesh = {setup.n_x,
                   n,
                   setup.slab == 0 ? 0 : -1,
                   setup.slab == setup.n_slabs() - 1 ? n - 1 : n,
                   setup.periodic,
                   extended(setup.x_widths, setup.periodic, false),
                   extended(setup.x_widths, setup.periodic, true),
                   extended(setup.x_gaps, false, true),
                   extended(setup.z_widths, false, false) + first,
                   extended(setup.z_widths, false, true) + first,
                   extended(setup.z_gaps, false, true) + first};
  }

  RowPlan plan_of(const DeviceEquations& equations, int n) {
    RowPlan plan{};
    plan.basis = equations.basis;
    plan.n = n;
    plan.length = length_of(equations, n);
    plan.first = std::sqrt(1.0 / n);
    plan.norm = std::sqrt(2.0 / n);
    if (!equations.forward.empty()) {
      plan.forward = keep("forward", transposed(equations.forward, n));
      plan.backward = keep("backward", transposed(equations.backward, n));
      return plan;
    }
    for (const int radix : radices(plan.length)) plan.radix[plan.n_stages++] = radix;
    const auto table = [&](int size, double step, auto function) {
      std::vector<double> values;
      for (int k = 0; k < size; ++k) values.push_back(function(std::numbers::pi * k * step));
      return keep("table", values);
    };
    const auto cosine = [](double x) { return std::cos(x); };
    const auto sine = [](double x) { return std::sin(x); };
    plan.cosine = table(plan.length, 2.0 / plan.length, cosine);
    plan.sine = table(plan.length, 2.0 / plan.length, sine);
    plan.half_cosine = table(n, 0.5 / n, cosine);
    plan.half_sine = table(n, 0.5 / n, sine);
    return plan;
  }

  Flows flows_{};
  int n_slabs_;
  bool fast_;
  mutable SlabTraffic traffic_;
  TimedOverlap overlap_;
  mutable bool edges_are_old_ = true;                   ///< the neighbours' rows of the state
  std::vector<Kokkos::View<double*, Memory>> numbers_;  ///< what flows_ points to
  bool by_multigrid_;
  DeviceMultigrid multigrid_;
  Kokkos::View<RowPlan*, Memory> plans_, wave_plans_;
  int work_length_ = 1, wave_length_ = 1;
  WallsHold walls_{};
  int middle_ = 0;
  double height_ = 0;
};

}  // namespace
}  // namespace quintet::convection::device

quintet::convection::DeviceFlows* quintet_make_device_flows(
    const quintet::convection::DeviceFlowSetup& setup) {
  return new quintet::convection::device::ResidentFlows(setup);
}

double quintet_device_flows_bytes(const quintet::convection::DeviceFlowSetup& setup) {
  using namespace quintet::convection::device;
  const double n_x = setup.n_x, n_z = setup.n_z, rows = setup.rows_here();
  double numbers = n_eliminated;
  for (const int fields : fields_of_set) numbers += fields;
  numbers *= setup.n_members * n_x * (rows + 2 * margin_of(setup));
  numbers += 3 * (n_x + 2 + n_z + 2) + 2;  // a gap more than widths
  numbers += rows * (setup.n_slabs() > 1 ? 2 : 1);
  for (const auto& equations : setup.equations) {
    numbers += 3 * rows + equations.squares.size();
    if (DeviceMultigrid::used(setup)) continue;
    numbers += equations.forward.empty() ? 2.0 * length_of(equations, setup.n_x) + 2 * n_x : 2 * n_x * n_x;
  }
  double plans = DeviceMultigrid::used(setup) ? 1.0 : static_cast<double>(setup.equations.size());
  if (setup.fast)
    for (const auto& unknown : waves_of(setup)) {
      numbers += 2.0 * length_of(unknown, setup.n_x) + 2 * n_x;
      ++plans;
    }
  numbers += SlabTraffic::size(setup);
  return sizeof(double) * numbers + sizeof(RowPlan) * plans + DeviceMultigrid::bytes(setup);
}
