#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "physics/kinetics/device/sweeps/vlasov_owner_kernels.hpp"
#include "physics/kinetics/device/vlasov_launch.hpp"

/// The sweeps that there are for a large basis, and which of them is used.
namespace quintet::kinetics::device {

/// A number that tells arrays apart by their bits, of zeros not the sign.
struct BitSum {
  const double* f;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i, std::uint64_t& sum) const {
    const double x = f[i] == 0 ? 0 : f[i];
    std::uint64_t bits = 0;
    memcpy(&bits, &x, sizeof x);
    bits += 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(i) + 1);
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    sum += bits ^ (bits >> 31);
  }
};

/// One way to sweep.
template <class Tr>
struct SweepForm {
  const char* name;
  int warps;       ///< of a multiprocessor that it is compiled for: the more, the fewer registers for each
  bool (*fits)();  ///< whether that many are at work at a time
  void (*run)(const Cells<Tr>& cells, const double* forces, const Update& update);
};
template <int Teams, int Warps, class Sweep, class Tr>
bool sweep_fits() {
  return teams_fit<32 * Warps, Teams, Sweep>();
}
template <int Teams, int Warps, class Sweep, class Tr>
void run_sweep(const Cells<Tr>& cells, const double* forces, const Update& update) {
  static_assert(sizeof(Sweep) <= 4096, "CUDA before 12.1 passes no more to a kernel");
  const Sweep sweep{cells, Sweep::make_tables(), forces, update};
  launch_teams<32 * Warps, Teams>("vlasov::stage", cells.n_conf * cells.n_packs, 32 * Warps, sweep);
}
template <int Teams, int Warps, class Sweep, class Tr>
constexpr SweepForm<Tr> sweep_form(const char* name) {
  return {name, Teams * Warps, &sweep_fits<Teams, Warps, Sweep, Tr>, &run_sweep<Teams, Warps, Sweep, Tr>};
}

/// Warps of a team of owners: one for each full group, or for some of them where they are many.
template <class Tr>
constexpr int owner_warps() {
  constexpr int n = Tr::n_full_groups;
  for (const int warps : {9, 10, 8})
    if (n > warps && n % warps == 0) return warps;
  return std::min(n, 9);
}

/// Owners in teams of `Warps`, where `Teams` of them find room and registers: shared memory of sm_90, at most
/// 27 warps.
template <class Tr, int Teams, int Warps>
constexpr auto owner_forms() {
  using Sweep = OwnerSweep<Tr, Warps>;
  constexpr int room = 227 * 1024 / (8 * Sweep::scratch + 1024);
  if constexpr (Teams <= room && Teams * Warps <= 27)
    return std::array{sweep_form<Teams, Warps, Sweep, Tr>("owners")};
  else
    return std::array<SweepForm<Tr>, 0>{};
}
template <class Tr, std::size_t... N>
constexpr auto joined(const std::array<SweepForm<Tr>, N>&... lists) {
  std::array<SweepForm<Tr>, (N + ...)> all{};
  std::size_t n = 0;
  const auto add = [&](const auto& list) {
    for (const auto& form : list) all[n++] = form;
  };
  (add(lists), ...);
  return all;
}

/// By groups; with Owners also with df in registers: about 16 warps on a multiprocessor, more warps of fewer
/// registers, and, of eight warps, teams of half as many that own twice as much.
template <class Tr, bool Owners>
constexpr auto sweep_forms() {
  constexpr int warps = Tr::n_groups >= 16 ? 8 : Tr::n_groups >= 4 ? 4 : Tr::n_groups;
  constexpr std::array groups{sweep_form<16 / warps, warps, GroupSweep<Tr>, Tr>("groups")};
  if constexpr (!Owners) {
    return groups;
  } else {
    constexpr int n = owner_warps<Tr>(), few = (16 + n / 2) / n;
    constexpr auto owners = joined<Tr>(groups, owner_forms<Tr, few, n>(), owner_forms<Tr, few + 1, n>());
    if constexpr (n == 4)
      return joined<Tr>(owners, owner_forms<Tr, few + 2, n>());
    else if constexpr (n == 8)
      return joined<Tr>(owners, owner_forms<Tr, 3, 4>());
    else if constexpr (owners.size() == 1)
      return joined<Tr>(owners, owner_forms<Tr, 1, n>());
    else
      return owners;
  }
}

/// The fastest of those that fit and have the first one's bits; the first one does.
[[nodiscard]] inline std::size_t fastest(std::span<const SweepTime> times) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i].fits && times[i].same_bits && times[i].ns_per_cell < times[best].ns_per_cell) best = i;
  return best;
}

/// Sweeps by groups and by owners. All give the same bits, so that a run goes on from a checkpoint as if it
/// had not ended whichever is used; one that does not is not chosen.
template <class Tr, bool Owners>
class LargeSweeps {
 public:
  void run(DeviceSweep wanted, const Cells<Tr>& cells, const double* forces, const Update& update,
           std::ptrdiff_t n_written) {
    const bool measures = forms.size() > 1 &&
                          (wanted == DeviceSweep::measured || (wanted == DeviceSweep::automatic && !is_host));
    if (measures && !is_measured_ && update.keep == 0) measure(cells, forces, update, n_written);
    const std::size_t form = wanted == DeviceSweep::owners ? forms.size() > 1 : chosen_;
    forms[form].run(cells, forces, update);
  }
  [[nodiscard]] std::span<const SweepTime> times() const {
    return {times_.data(), is_measured_ ? times_.size() : 0};
  }

 private:
  static constexpr auto forms = sweep_forms<Tr, Owners>();

  /// All write update.out, which a sweep without f_0 does not read.
  void measure(const Cells<Tr>& cells, const double* forces, const Update& update, std::ptrdiff_t n_written) {
    std::uint64_t first_bits = 0;
    for (std::size_t i = 0; i < forms.size(); ++i) {
      SweepTime& of = times_[i];
      of.name = forms[i].name;
      of.warps = forms[i].warps;
      of.fits = i == 0 || forms[i].fits();
      if (!of.fits) continue;
      forms[i].run(cells, forces, update);
      const std::uint64_t bits = bits_of(update.out, n_written);
      if (i == 0) first_bits = bits;
      of.same_bits = bits == first_bits;
      const double seconds = seconds_of(forms[i], cells, forces, update);
      of.ns_per_cell = 1e9 * seconds / (static_cast<double>(cells.n_conf) * cells.n_vel);
    }
    chosen_ = fastest(times_);
    times_[chosen_].is_chosen = true;
    is_measured_ = true;
  }
  static std::uint64_t bits_of(const double* f, std::ptrdiff_t n) {
    std::uint64_t sum = 0;
    Kokkos::parallel_reduce(
        "vlasov::bits", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::ptrdiff_t>>(0, n), BitSum{f}, sum);
    return sum;
  }
  /// The least of a few, which are fewer where they are long.
  static double seconds_of(const SweepForm<Tr>& form, const Cells<Tr>& cells, const double* forces,
                           const Update& update) {
    constexpr double enough = 0.02;
    double least = std::numeric_limits<double>::infinity(), sum = 0;
    for (int repeat = 0; repeat < 5 && sum < enough; ++repeat) {
      Space().fence();
      const Kokkos::Timer timer;
      form.run(cells, forces, update);
      Space().fence();
      least = std::min(least, timer.seconds());
      sum += timer.seconds();
    }
    return least;
  }

  std::size_t chosen_ = 0;
  bool is_measured_ = false;
  std::array<SweepTime, forms.size()> times_{};
};

}  // namespace quintet::kinetics::device
