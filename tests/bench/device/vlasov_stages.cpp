#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "physics/kinetics/device/vlasov_device.hpp"

/// Stages and whole Runge-Kutta steps of DeviceVlasov with a resident f, on whatever Kokkos's default
/// execution space is. Prints JSON lines: ns a cell and stage, DOF updates a second, bytes of the buffers,
/// and the share of the time that copying 21.3 bytes a DOF (f, f_0 in two stages of three, out) takes at the
/// rate of a plain copy, measured in the same run.
///
/// vlasov_stages [--quick] [--all]      timings; --all: every basis at one size, both ways to share out cells
/// vlasov_stages --write FILE           sums of results on small grids, by this space
/// vlasov_stages --check FILE           compares with them: what another space has written
///
/// Needs Kokkos and the kernels of physics/kinetics/device alone.
namespace quintet::kinetics {
namespace {

struct Case {
  const char* dims;
  int cdim, vdim;
  const char* basis;
  int order;
  Family family;
  std::vector<int> cells;
};

constexpr auto ser = Family::serendipity, ten = Family::tensor, hyb = Family::hybrid;

const std::vector<Case> timed{
    {"1x1v", 1, 1, "ser p2", 2, ser, {256, 512}},
    {"1x1v", 1, 1, "ser p2", 2, ser, {1024, 1024}},
    {"1x1v", 1, 1, "ser p2", 2, ser, {2048, 4096}},
    {"1x2v", 1, 2, "ser p2", 2, ser, {32, 64, 64}},
    {"1x2v", 1, 2, "ser p2", 2, ser, {256, 64, 64}},
    {"1x2v", 1, 2, "ser p2", 2, ser, {512, 128, 128}},
    {"2x2v", 2, 2, "ser p2", 2, ser, {16, 16, 20, 20}},
    {"2x2v", 2, 2, "ser p2", 2, ser, {32, 32, 32, 32}},
    {"2x2v", 2, 2, "ser p2", 2, ser, {64, 64, 40, 40}},
    {"2x3v", 2, 3, "ser p2", 2, ser, {8, 8, 12, 12, 12}},
    {"2x3v", 2, 3, "ser p2", 2, ser, {16, 16, 16, 16, 16}},
    {"2x3v", 2, 3, "ser p2", 2, ser, {24, 24, 20, 20, 20}},
};

struct BasisRow {
  const char* dims;
  int cdim, vdim;
  const char* basis;
  int order;
  Family family;
};
const std::vector<BasisRow> bases{{"1x1v", 1, 1, "p1", 1, ser},     {"1x1v", 1, 1, "hybrid p1", 1, hyb},
                                  {"1x1v", 1, 1, "ser p2", 2, ser}, {"1x1v", 1, 1, "tensor p2", 2, ten},
                                  {"1x1v", 1, 1, "ser p3", 3, ser}, {"1x1v", 1, 1, "tensor p3", 3, ten},
                                  {"1x2v", 1, 2, "p1", 1, ser},     {"1x2v", 1, 2, "hybrid p1", 1, hyb},
                                  {"1x2v", 1, 2, "ser p2", 2, ser}, {"1x2v", 1, 2, "tensor p2", 2, ten},
                                  {"1x2v", 1, 2, "ser p3", 3, ser}, {"1x2v", 1, 2, "tensor p3", 3, ten},
                                  {"1x3v", 1, 3, "p1", 1, ser},     {"1x3v", 1, 3, "hybrid p1", 1, hyb},
                                  {"1x3v", 1, 3, "ser p2", 2, ser}, {"1x3v", 1, 3, "tensor p2", 2, ten},
                                  {"2x2v", 2, 2, "p1", 1, ser},     {"2x2v", 2, 2, "hybrid p1", 1, hyb},
                                  {"2x2v", 2, 2, "ser p2", 2, ser}, {"2x2v", 2, 2, "tensor p2", 2, ten},
                                  {"2x3v", 2, 3, "p1", 1, ser},     {"2x3v", 2, 3, "hybrid p1", 1, hyb},
                                  {"2x3v", 2, 3, "ser p2", 2, ser}, {"2x3v", 2, 3, "tensor p2", 2, ten},
                                  {"3x3v", 3, 3, "p1", 1, ser}};

/// About a million cells in those dimensions.
std::vector<int> million(const BasisRow& b) {
  if (b.cdim == 1 && b.vdim == 1) return {1024, 1024};
  if (b.cdim == 1 && b.vdim == 2) return {256, 64, 64};
  if (b.cdim == 1) return {64, 25, 25, 25};
  if (b.vdim == 2) return {32, 32, 32, 32};
  if (b.cdim == 2) return {16, 16, 16, 16, 16};
  return {8, 8, 8, 12, 12, 12};
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

/// Bytes a second of a copy, read and written ones counted.
double copy_rate(std::size_t n) {
  using Space = Kokkos::DefaultExecutionSpace;
  const Kokkos::View<double*, Space> a("a", n), b("b", n);
  std::vector<double> times;
  for (int repeat = 0; repeat < 15; ++repeat) {
    Space().fence();
    const double start = seconds();
    Kokkos::deep_copy(Space(), b, a);
    Space().fence();
    times.push_back(seconds() - start);
  }
  return 16.0 * static_cast<double>(n) / median(times);
}

int n_cells(const std::vector<int>& cells) {
  int n = 1;
  for (const int c : cells) n *= c;
  return n;
}

DeviceVlasovOptions make_options(int cdim, int vdim, int order, Family family, const std::vector<int>& cells,
                                 bool stretched) {
  DeviceVlasovOptions o;
  o.cdim = cdim;
  o.vdim = vdim;
  o.order = order;
  o.family = family;
  o.lanes = 8;
  for (std::size_t d = 0; d < cells.size(); ++d) o.cells[d] = cells[d];
  for (int i = 0; i < cdim; ++i) o.dx[i] = 1.0 / cells[i];
  for (int d = 0; d < vdim; ++d) {
    const int n = cells[cdim + d];
    o.mean_dv[d] = 12.0 / n;
    double edge = -6;
    for (int i = 0; i < n; ++i) {
      const double relative = stretched ? 1 + 0.3 * std::cos(M_PI * (i + 0.5) / n) : 1;
      o.centre[d].push_back(edge + 0.5 * relative * o.mean_dv[d]);
      o.relative[d].push_back(relative);
      edge += relative * o.mean_dv[d];
      o.least_dv[d] = i == 0 ? relative * o.mean_dv[d] : std::min(o.least_dv[d], relative * o.mean_dv[d]);
    }
  }
  return o;
}

/// Doubles of f in the host's layout, and the modes in x.
struct Sizes {
  std::size_t f, acceleration;
  int n_modes, n_conf_modes, n_conf, n_rows, host_packs;
};
Sizes sizes_of(const DeviceVlasovOptions& o, const DeviceVlasov& engine) {
  Sizes s{};
  s.n_modes = engine.n_modes();
  s.n_conf_modes = engine.n_conf_modes();
  s.n_conf = s.n_rows = 1;
  for (int i = 0; i < o.cdim; ++i) s.n_conf *= o.cells[i];
  for (int d = 0; d + 1 < o.vdim; ++d) s.n_rows *= o.cells[o.cdim + d];
  s.host_packs = (o.cells[o.cdim + o.vdim - 1] + o.lanes - 1) / o.lanes;
  s.f = std::size_t(s.n_conf) * s.n_rows * s.host_packs * s.n_modes * o.lanes;
  s.acceleration = std::size_t(s.n_conf) * 6 * s.n_conf_modes;
  return s;
}

/// Numbers in -1 ... 1, the same on every machine.
struct Numbers {
  std::uint64_t state = 88172645463325252ull;
  double next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return 2 * static_cast<double>(state >> 11) / 9007199254740992.0 - 1;
  }
};

void time_case(const char* dims, const char* name, DeviceVlasovOptions o, const char* sweep, double rate,
               int repeats, bool first) {
  const double bytes = DeviceVlasov::bytes(o);
  const auto engine = DeviceVlasov::make(o);
  if (engine == nullptr) return;
  const Sizes size = sizes_of(o, *engine);
  Numbers numbers;
  {
    std::vector<double> f(size.f);
    for (double& x : f) x = numbers.next();
    engine->upload(0, f.data());
  }
  std::vector<double> acceleration(size.acceleration);
  for (double& x : acceleration) x = 0.2 * numbers.next();
  std::vector<double> moments(std::size_t(size.n_conf) * (1 + o.vdim) * size.n_conf_modes);
  double n = 1;
  for (const int c : o.cells) n *= c;
  const auto measure = [&](auto&& body) {
    body();
    std::vector<double> times;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      engine->fence();
      const double start = seconds();
      body();
      engine->fence();
      times.push_back(seconds() - start);
    }
    return median(times);
  };
  const double dt = 1e-6;
  const auto stage = [&](double keep, double advance, int from, int to) {
    engine->stage({keep, advance, dt, from, 0, to}, acceleration.data());
  };
  const double one = measure([&] { stage(0.75, 0.25, 1, 2); });
  const double sums = measure([&] { engine->moments(1, 1 + o.vdim, moments.data()); });
  const double step = measure([&] {
    (void)engine->frequency(acceleration.data());
    stage(0, 1, 0, 1);
    engine->moments(1, 1 + o.vdim, moments.data());
    stage(0.75, 0.25, 1, 2);
    engine->moments(2, 1 + o.vdim, moments.data());
    stage(1.0 / 3, 2.0 / 3, 2, 0);
    engine->moments(0, 1 + o.vdim, moments.data());
  });
  const double dof = n * size.n_modes, floor = 24 * dof / rate, step_floor = 64 * dof / rate;
  std::printf(
      "%s{\"bench\": \"vlasov_stages\", \"case\": \"%s %s\", \"sweep\": \"%s\", \"cells\": %.0f, \"modes\": "
      "%d, "
      "\"ours\": %.4g, \"unit\": \"ns a cell and stage\", \"dof_per_s\": %.4g, \"share_of_copy\": %.3f, "
      "\"moments_ns_per_cell\": %.4g, \"step_ns_per_cell\": %.4g, \"step_dof_per_s\": %.4g, "
      "\"step_share_of_copy\": %.3f, \"bytes_per_cell\": %.1f, \"copy_bytes_per_s\": %.4g}\n",
      first ? "" : ",", dims, name, sweep, n, size.n_modes, 1e9 * one / n, dof / one, floor / one,
      1e9 * sums / n, 1e9 * step / n, 3 * dof / step, step_floor / step, bytes / n, rate);
  std::fflush(stdout);
}

/// Sums over velocity space, with weights, of what three stages and walls make on a small grid.
std::vector<double> results() {
  std::vector<double> all;
  for (const auto& b : bases)
    for (const auto flux : {Flux::upwind, Flux::lax_friedrichs, Flux::central})
      for (const auto sweep : {DeviceSweep::groups, DeviceSweep::cells}) {
        std::vector<int> cells;
        for (int d = 0; d < b.cdim; ++d) cells.push_back(3 - d / 2);
        for (int d = 0; d < b.vdim; ++d)
          cells.push_back(b.vdim == 1 ? 150 : d + 1 == b.vdim ? 13 : b.vdim == 3 ? 3 : 11);
        auto o = make_options(b.cdim, b.vdim, b.order, b.family, cells, flux != Flux::central);
        o.flux = flux;
        o.sweep = sweep;
        const bool wall = flux == Flux::upwind;
        if (wall) o.open[0] = {true, true};
        const auto engine = DeviceVlasov::make(o);
        if (engine == nullptr) continue;
        const Sizes size = sizes_of(o, *engine);
        Numbers numbers;
        std::vector<double> f(size.f), acceleration(size.acceleration), trace(engine->trace_size(0));
        for (double& x : f) x = numbers.next();
        for (double& x : acceleration) x = 3 * numbers.next();
        engine->upload(0, f.data());
        const double dt = 0.05 / engine->frequency(acceleration.data());
        const DeviceVlasov::Stage stages[3] = {
            {0, 1, dt, 0, 0, 1}, {0.75, 0.25, dt, 1, 0, 2}, {1.0 / 3, 2.0 / 3, dt, 2, 0, 0}};
        for (const auto& stage : stages) {
          if (wall) engine->trace(stage.from, 0, 1, trace.data());
          engine->stage(stage, acceleration.data());
          if (wall) engine->add_exterior(stage, 0, 1, trace.data());
        }
        engine->download(0, f.data());
        const std::size_t at_once = std::size_t(size.n_modes) * o.lanes, packs = f.size() / at_once;
        std::vector<double> sums(std::size_t(size.n_conf) * size.n_modes, 0.0);
        const std::size_t n_last = o.cells[o.cdim + o.vdim - 1];
        for (std::size_t p = 0; p < packs; ++p)
          for (std::size_t i = 0; i < at_once; ++i) {
            const std::size_t last = p % size.host_packs * o.lanes + i % o.lanes;
            if (last >= n_last) continue;
            const std::size_t conf = p / (std::size_t(size.n_rows) * size.host_packs);
            sums[conf * size.n_modes + i / o.lanes] +=
                f[p * at_once + i] * std::cos(0.7 * (p * o.lanes + last));
          }
        all.insert(all.end(), sums.begin(), sums.end());
        std::vector<double> moments(std::size_t(size.n_conf) * (2 + o.vdim) * size.n_conf_modes);
        engine->moments(0, 2 + o.vdim, moments.data());
        all.insert(all.end(), moments.begin(), moments.end());
      }
  return all;
}

int write(const char* file) {
  const auto all = results();
  std::FILE* out = std::fopen(file, "wb");
  if (out == nullptr) return 1;
  const bool ok = std::fwrite(all.data(), 8, all.size(), out) == all.size();
  std::fclose(out);
  return ok ? 0 : 1;
}

int check(const char* file) {
  const auto all = results();
  std::vector<double> expected(all.size() + 1);
  std::FILE* in = std::fopen(file, "rb");
  if (in == nullptr) return 1;
  const bool ok = std::fread(expected.data(), 8, expected.size(), in) == all.size();
  std::fclose(in);
  double worst = 0, scale = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    scale = std::max(scale, std::abs(expected[i]));
    const double error = std::abs(all[i] - expected[i]) / (1 + std::abs(expected[i]));
    if (!(error <= worst)) {
      worst = error;
      where = i;
    }
  }
  std::printf(
      "{\"check\": \"vlasov_stages\", \"numbers\": %zu, \"same_length\": %s, \"greatest\": %.4g, "
      "\"worst_relative\": %.3g, \"at\": %zu}\n",
      all.size(), ok ? "true" : "false", scale, worst, where);
  return ok && worst < 1e-11 ? 0 : 1;
}

int run(int argc, char** argv) {
  bool quick = false, every = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
    if (std::strcmp(argv[i], "--all") == 0) every = true;
    if (std::strcmp(argv[i], "--write") == 0 && i + 1 < argc) return write(argv[i + 1]);
    if (std::strcmp(argv[i], "--check") == 0 && i + 1 < argc) return check(argv[i + 1]);
  }
  const double rate = copy_rate(quick ? std::size_t{1} << 24 : std::size_t{1} << 28);
  std::printf("[");
  bool first = true;
  const int repeats = quick ? 3 : 15;
  if (!every)
    for (const auto& c : timed) {
      if (quick && (n_cells(c.cells) > 200000 || c.vdim == 3)) continue;
      time_case(c.dims, c.basis, make_options(c.cdim, c.vdim, c.order, c.family, c.cells, false), "automatic",
                rate, repeats, first);
      first = false;
    }
  if (every)
    for (const auto& b : bases)
      for (const auto sweep : {DeviceSweep::cells, DeviceSweep::groups}) {
        auto o = make_options(b.cdim, b.vdim, b.order, b.family, million(b), false);
        o.sweep = sweep;
        time_case(b.dims, b.basis, o, sweep == DeviceSweep::cells ? "cells" : "groups", rate, repeats, first);
        first = false;
      }
  std::printf("]\n");
  return 0;
}

}  // namespace
}  // namespace quintet::kinetics

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard guard(argc, argv);
  return quintet::kinetics::run(argc, argv);
}
