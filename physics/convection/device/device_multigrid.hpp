#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "physics/convection/device/device_flows.hpp"
#include "physics/convection/device/multigrid_kernels.hpp"
#include "physics/kernels/device_buffer.hpp"

namespace quintet::convection::device {

/// The linear equations of a step on cells of any width, by conjugate gradients whose preconditioner is a
/// cycle of geometric multigrid: columns are eliminated, every second one at a time (zebra), on grids of ever
/// fewer columns (semi-coarsening). Cells may be as flat or as slender as they like: along z equations are
/// solved, along x there is a grid on which they are not stiff. All pairs of unknown and flow go at once; a
/// number an iteration comes to the host. Sources: Brandt & Livne 2011, Multigrid Techniques, section 3.3
/// (lines, semi-coarsening); Tatebe 1993, NASA CP 3224, 621 (a cycle as preconditioner).
class DeviceMultigrid {
  using Exec = Kokkos::DefaultExecutionSpace;
  template <class T>
  using Numbers = quintet::device::Buffer<T, Exec>;
  static constexpr int most_fields = 3;  ///< u, w and b; of the pressure 1
  static constexpr int most_iterations = 100;
  /// A grid on which what neighbours add is less than this part of the equations' own needs no coarser one.
  static constexpr double weak = 0.05;
  static constexpr int most_segments = 32, fewest_rows = 8, tile = 256;

 public:
  /// @param keep puts a vector into the device's memory and says where
  template <class Keep>
  DeviceMultigrid(const DeviceFlowSetup& setup, const Keep& keep)
      : tolerance_(setup.tolerance), segments_(setup.segments) {
    if (!used(setup)) return;
    volume_ = sum(setup.x_widths) * sum(setup.z_widths);
    const auto& levels = setup.equations[0].levels;
    numbers_ = Numbers<double>("convection::multigrid", static_cast<std::size_t>(vector_size(setup)));
    scalars_ =
        Numbers<Scalars>("convection::scalars", static_cast<std::size_t>(most_fields * setup.n_members));
    places_ = Numbers<int>("convection::places", static_cast<std::size_t>(n_places(setup)));
    const auto places = Kokkos::create_mirror_view(places_);
    double* next = numbers_.data();
    int n_placed = 0;
    const auto place = [&](const std::vector<int>& values) {
      std::copy(values.begin(), values.end(), places.data() + n_placed);
      return places_.data() + std::exchange(n_placed, n_placed + static_cast<int>(values.size()));
    };
    const auto field = [&](int n) {
      return std::exchange(next, next + std::int64_t{most_fields} * setup.n_members * setup.n_z * n);
    };
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const int n = levels[l].weight.size(), n_kept = (n + 1) / 2;
      GridLevel level{n, n_kept, nullptr, nullptr, nullptr, {}, field(n), field(n)};
      std::vector<int> left, right, coarser, from_left;
      for (int k = 0; k < n; ++k) {
        const int i = number_of(n, k);
        from_left.push_back(i);
        left.push_back(place_of(n, (i + n - 1) % n));
        right.push_back(place_of(n, (i + 1) % n));
        if (k < n_kept) coarser.push_back(place_of(n_kept, k));
      }
      level.left = place(left);
      level.right = place(right);
      level.coarser = place(coarser);
      if (l == 0) from_left_ = place(from_left);
      for (std::size_t which = 0; which < setup.equations.size(); ++which) {
        const auto& line = setup.equations[which].levels[l];
        std::vector<double> values;
        for (const auto* part : {&line.below, &line.diagonal, &line.above, &line.weight})
          for (const int i : from_left) values.push_back((*part)[i]);
        level.lines[which] = keep("lines", values);
        stiffness_[which].push_back(*std::max_element(line.diagonal.begin(), line.diagonal.end()));
      }
      levels_.push_back(level);
    }
    directions_ = field(setup.n_x);
    partial_ = next;
    periodic_ = setup.periodic;
    Kokkos::deep_copy(places_, places);
    for (std::size_t which = 0; which < setup.equations.size(); ++which)
      z_weight_[which] = keep("z_weight", setup.equations[which].z_weight);
  }
  static bool used(const DeviceFlowSetup& setup) { return setup.tolerance > 0; }

  /// Bytes that it allocates, with what it has kept.
  static double bytes(const DeviceFlowSetup& setup) {
    if (!used(setup)) return 0;
    double kept = 4.0 * setup.n_z;
    for (const auto& level : setup.equations[0].levels) kept += 16.0 * level.weight.size();
    return sizeof(double) * (vector_size(setup) + kept) +
           sizeof(Scalars) * double{most_fields} * setup.n_members +
           sizeof(int) * static_cast<double>(n_places(setup));
  }

  /// (shift - c (L_x + L_z)) q = r, r in fields `first` ... of `set`, which become q, as ColumnEquations
  /// (c of `a`). A pressure has zero mean, and its right-hand side is taken without one.
  void solve(const Flows& f, double* set, int first, int n_fields, double shift, double a) {
    const Solve solve{f, first, n_fields, shift, a, {z_weight_[0], z_weight_[1], z_weight_[2], z_weight_[3]}};
    const bool pressure = a == 0;
    depth_ = depth(solve);
    if (pressure) centre(solve, set);
    sum_of<Does::start>(solve, set);
    int n = 0;
    double residual = 1;
    while (n++ < most_iterations && residual > tolerance_) {
      cycle(solve, pressure);
      sum_of<Does::dot>(solve, set);
      vectors<Does::direct>(solve, set);
      sum_of<Does::apply>(solve, set);
      sum_of<Does::advance>(solve, set);
      double square = 0;
      Kokkos::parallel_reduce("convection::residual", range(solve.pairs()), WorstResidual{scalars_.data()},
                              Kokkos::Max<double>(square));
      ++solves_.iterations;
      residual = std::sqrt(square);
      if (!std::isfinite(residual)) break;  // a flow with NaN, which courant_rate() reports
    }
    if (std::isfinite(residual)) {
      solves_.residual = std::max(solves_.residual, residual);
      solves_.converged = solves_.converged && residual <= tolerance_;
    }
    if (pressure) centre(solve, set);
  }

  DeviceFlows::Solves take_solves() { return std::exchange(solves_, {}); }

 private:
  static double sum(const std::vector<double>& values) {
    double result = 0;
    for (const double value : values) result += value;
    return result;
  }
  static std::int64_t n_parts(const DeviceFlowSetup& setup) {
    return std::int64_t{(setup.n_z + Part::rows - 1) / Part::rows} * setup.n_x;
  }
  static std::int64_t vector_size(const DeviceFlowSetup& setup) {
    std::int64_t columns = setup.n_x;  // directions
    for (const auto& level : setup.equations[0].levels) columns += 2 * std::ssize(level.weight);
    return most_fields * setup.n_members * (columns * setup.n_z + n_parts(setup));
  }
  static std::int64_t n_places(const DeviceFlowSetup& setup) {
    std::int64_t n = setup.n_x;
    for (const auto& level : setup.equations[0].levels) {
      const std::int64_t columns = level.weight.size();
      n += 2 * columns + (columns + 1) / 2;
    }
    return n + n % 2;  // memory comes in words of 8 bytes
  }
  /// Number of the column stored at `place` of n: those that coarsening keeps, the even ones, come first.
  static int number_of(int n, int place) {
    const int n_kept = (n + 1) / 2;
    return place < n_kept ? 2 * place : 2 * (place - n_kept) + 1;
  }
  static int place_of(int n, int number) { return number % 2 == 0 ? number / 2 : (n + 1) / 2 + number / 2; }

  static Kokkos::RangePolicy<Exec> range(std::int64_t n) { return {0, static_cast<std::size_t>(n)}; }

  /// Grids that these equations need.
  [[nodiscard]] int depth(const Solve& solve) const {
    const int all = levels_.size();
    if (solve.a == 0) return all;
    for (int l = 0; l < all; ++l) {
      double stiff = 0;
      for (int which = solve.first; which < solve.first + solve.n_fields; ++which)
        stiff = std::max(stiff, solve.a * solve.f.diffusivity[which] * stiffness_[which][l]);
      if (stiff < weak * solve.shift) return l + 1;
    }
    return all;
  }

  /// q of the finest grid becomes what a cycle from 0 makes of r there: symmetric, as conjugate gradients
  /// ask.
  void cycle(const Solve& solve, bool pressure) {
    for (int l = 0; l < depth_; ++l) {
      relax_down(solve, at(l), pressure);
      if (l + 1 < depth_)
        Kokkos::parallel_for("convection::restrict", parts(solve, at(l).n_kept),
                             Restriction{solve, at(l), at(l + 1)});
    }
    for (int l = depth_; l-- > 0;) {
      if (l + 1 < depth_)
        Kokkos::parallel_for("convection::correct", parts(solve, at(l).n_kept),
                             Correction{solve, at(l), at(l + 1)});
      relax_up(solve, at(l));
    }
  }
  /// The columns kept, then the others; in a ring of odd number the last one, beside which is another of
  /// those kept, before all.
  void relax_down(const Solve& solve, const GridLevel& level, bool pressure) {
    const int odd = ring_is_odd(level) ? 1 : 0;
    if (odd == 1) {  // what is not there yet counts as 0
      Kokkos::deep_copy(Exec(),
                        Kokkos::View<double*, Exec::memory_space, Kokkos::MemoryUnmanaged>(
                            level.q, static_cast<std::size_t>(level.begin(solve.f, solve.pairs()))),
                        0.0);
      relax(solve, level, level.n_kept - 1, level.n_kept, true, false);
    }
    relax(solve, level, 0, level.n_kept - odd, odd == 0, pressure && level.n == 1);
    relax(solve, level, level.n_kept, level.n, false, false);
  }
  void relax_up(const Solve& solve, const GridLevel& level) {
    if (level.n == 1) return;  // solved
    const int odd = ring_is_odd(level) ? 1 : 0;
    relax(solve, level, level.n_kept, level.n, false, false);
    relax(solve, level, 0, level.n_kept - odd, false, false);
    if (odd == 1) relax(solve, level, level.n_kept - 1, level.n_kept, false, false);
  }
  [[nodiscard]] bool ring_is_odd(const GridLevel& level) const {
    return periodic_ && level.n % 2 == 1 && level.n > 1;
  }
  void relax(const Solve& solve, const GridLevel& level, int from, int to, bool alone, bool singular) {
    if (from == to) return;
    const std::int64_t lines = std::int64_t{to - from} * solve.pairs();
    const std::int64_t room = Exec().concurrency();
    const int most = std::max(std::min(most_segments, solve.f.mesh.n_z / fewest_rows), 1);
    const int segments = segments_ > 0 ? std::min(segments_, solve.f.mesh.n_z)
                                       : static_cast<int>(std::clamp<std::int64_t>(room / lines, 1, most));
    const int width = std::clamp(tile / segments, 1, to - from);
    const Relaxation kernel{solve, level, from, to, alone, singular, width, segments};
    // A kernel of more than 512 bytes would go by way of constant memory, and the host wait for the last one.
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>;
    const auto policy = [&](auto size) {
      return Policy(kernel.tiles() * solve.pairs(), size)
          .set_scratch_size(0, Kokkos::PerTeam(kernel.scratch() + 64));
    };
    const int team =
        std::min(width * segments, policy(Kokkos::AUTO).team_size_max(kernel, Kokkos::ParallelForTag()));
    Kokkos::parallel_for("convection::relax", policy(team), kernel);
  }

  [[nodiscard]] const GridLevel& at(int l) const { return levels_[l]; }
  [[nodiscard]] static Kokkos::RangePolicy<Exec> parts(const Solve& solve, int n) {
    return range(std::int64_t{parts_of(solve.f)} * n * solve.pairs());
  }
  template <Does what>
  void vectors(const Solve& solve, double* set) {
    Kokkos::parallel_for(
        "convection::vectors", parts(solve, at(0).n),
        Vectors<what>{solve, at(0), from_left_, set, directions_, partial_, scalars_.data()});
  }
  template <Does what>
  void sum_of(const Solve& solve, double* set) {
    vectors<what>(solve, set);
    const std::int64_t n = std::int64_t{parts_of(solve.f)} * at(0).n;
    Kokkos::parallel_for("convection::totals", Kokkos::TeamPolicy<Exec>(solve.pairs(), Kokkos::AUTO),
                         Totals{what, partial_, n, volume_, tolerance_ * tolerance_, scalars_.data()});
  }
  void centre(const Solve& solve, double* set) {
    sum_of<Does::mean>(solve, set);
    vectors<Does::centre>(solve, set);
  }

  double tolerance_, volume_ = 0;
  int segments_;
  bool periodic_ = false;
  std::vector<GridLevel> levels_;     ///< the finest first
  std::vector<double> stiffness_[4];  ///< of each unknown and grid: the greatest diagonal along x
  int depth_ = 0;
  Numbers<double> numbers_;
  Numbers<Scalars> scalars_;
  Numbers<int> places_;
  const int* from_left_ = nullptr;
  double *directions_ = nullptr, *partial_ = nullptr;
  const double* z_weight_[4] = {};
  DeviceFlows::Solves solves_;
};

}  // namespace quintet::convection::device
