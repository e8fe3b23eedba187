#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/bench.hpp"
#include "tests/bench/device/collisions_case.hpp"

/// Collisions of one species with itself on a device, by Lenard-Bernstein's operator and by BGK's.
///
///   device_collisions CASES check            moments and C(f) beside those of the SIMD engine
///   device_collisions CASES time [CHOICE]    moments of f, and C(f) with the small solves of each cell of x,
///                                            of 1e5 to 1e7 cells: each case's, again and again in x
///
/// CASES comes from build/tests/bench/vlasov_device_case. Shares of a copy: 8 bytes a degree of freedom for
/// moments, 24 for C(f) added to what is there.
namespace quintet::kinetics {
namespace {

using device_bench::Row;
using Cases = std::vector<CollisionsCase>;

/// A case's cells `times` times in x, on the device: buffer 0 is f, 1 what C(f) is added to.
class Resident {
 public:
  explicit Resident(const CollisionsCase& c, int times = 1) : case_(c) {
    auto [vlasov, options] = options_of(c, times);
    moments_.resize(c.moments.size() * times);
    vlasov_ = DeviceVlasov::make(vlasov);
    collisions_ = vlasov_ ? DeviceCollisions::make(options, *vlasov_) : nullptr;
    if (!collisions_) throw std::runtime_error("no kernels for " + c.name);
  }
  struct Options {
    DeviceVlasovOptions vlasov;
    DeviceCollisionOptions collisions;
  };
  static Options options_of(const CollisionsCase& c, int times) {
    Options o{c.vlasov, c.options};
    o.vlasov.cells[0] *= times;
    o.vlasov.n_buffers = 2;
    o.collisions.n_conf *= times;
    return o;
  }
  [[nodiscard]] DeviceVlasov& vlasov() { return *vlasov_; }

  const std::vector<double>& moments() {
    collisions_->moments(0, moments_.data());
    return moments_;
  }
  /// f_1 += weight C(f_0), after sum_moments().
  void add() {
    DeviceCollisions* const all[] = {collisions_.get()};
    constexpr char no_gain[] = {0};
    collisions_->exchange(case_.tables, {}, all, no_gain);
    if (case_.options.n_nodes > 0) {
      collisions_->relax(0, case_.weight, 1, 0);
    } else {
      collisions_->solve_drag_diffusion();
      collisions_->add_drag_diffusion(0, case_.weight, 1);
    }
  }
  [[nodiscard]] bool refused() const { return collisions_->refused() >= 0; }

 private:
  const CollisionsCase& case_;
  std::vector<double> moments_;
  std::unique_ptr<DeviceVlasov> vlasov_;
  std::unique_ptr<DeviceCollisions> collisions_;
};

int check(const Cases& cases) {
  constexpr double bound = 1e-10;
  int bad = cases.empty() ? 1 : 0;
  for (const auto& c : cases) {
    Resident resident(c);
    resident.vlasov().upload(0, c.f.data());
    std::vector<double> rate(c.f.size());
    resident.vlasov().upload(1, rate.data());
    const double moments = device_bench::relative_difference(resident.moments(), c.moments);
    resident.add();
    resident.vlasov().download(1, rate.data());
    const double of_rate = device_bench::relative_difference(rate, c.rate);
    const bool good = !resident.refused() && moments < bound && of_rate < bound;
    if (!good) bad = 1;
    Row("device_collisions", "check " + c.name)
        .text("same", good ? "yes" : "NO")
        .number("moments_difference", moments)
        .number("rate_difference", of_rate);
  }
  return bad;
}

void time_case(const CollisionsCase& c, double cells, double copy_rate) {
  double of_case = c.options.n_conf;
  for (int d = 0; d < c.options.vdim; ++d) of_case *= c.options.cells[d];
  const int times = std::max(1, static_cast<int>(cells / of_case + 0.5));
  const auto [vlasov, collisions] = Resident::options_of(c, times);
  const double n = of_case * times, dof = n * c.options.n_modes;
  const double bytes = DeviceVlasov::bytes(vlasov) + DeviceCollisions::bytes(collisions);
  if (!device_bench::has_room(bytes)) {
    Row("device_collisions", c.name).number("cells", n).text("skipped", "too little memory");
    return;
  }
  Resident resident(c, times);
  std::vector<double> f;  // of the case, again and again: its Maxwellians must be found
  for (int i = 0; i < times; ++i) f.insert(f.end(), c.f.begin(), c.f.end());
  resident.vlasov().upload(0, f.data());
  resident.vlasov().upload(1, f.data());
  const double moments = device_bench::median_seconds(10, [&] { (void)resident.moments(); });
  const double add = device_bench::median_seconds(10, [&] { resident.add(); });
  Row("device_collisions", c.name)
      .number("cells", n)
      .number("ns_per_cell", 1e9 * add / n)
      .number("dof_per_s", dof / add)
      .number("share_of_copy", 24 * dof / copy_rate / add)
      .number("h200_floor_ns", 1e9 * 24 * dof / n / device_bench::h200_copy)
      .number("moments_ns_per_cell", 1e9 * moments / n)
      .number("moments_share_of_copy", 8 * dof / copy_rate / moments)
      .number("bytes_per_cell", bytes / n);
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "device_collisions CASES check | CASES time [--quick] [--large] [--only TEXT]\n");
    return 1;
  }
  const auto cases = device_bench::read_cases<Cases>(argv[1]);
  if (std::strcmp(argv[2], "check") == 0) return check(cases);
  const device_bench::Choice choice(argc, argv, 3);
  const double rate = device_bench::copy_rate(choice.quick ? std::size_t{1} << 23 : std::size_t{1} << 27);
  for (const auto& c : cases)
    if (choice.wants(c.name))
      for (const double cells : {1e4, 1e5, 1e6, 1e7})
        if ((cells < 1e5) == choice.quick && (!choice.large || cells > 5e6)) time_case(c, cells, rate);
  return 0;
}

}  // namespace
}  // namespace quintet::kinetics

int main(int argc, char** argv) {
  const device_bench::Session session("device_collisions");
  if (!session.ok()) return 4;
  return device_bench::guarded("device_collisions", [&] { return quintet::kinetics::run(argc, argv); });
}
