#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "physics/kinetics/device/vlasov_device.hpp"
#include "tests/bench/device/bench.hpp"

/// Stages and whole Runge-Kutta steps of DeviceVlasov with a resident f, on whatever Kokkos's default
/// execution space is. Prints JSON lines: ns a cell and stage, DOF updates a second, bytes of the buffers,
/// and the share of the time that copying 24 bytes a DOF (f, f_0, out; 21.3 in the mean of a step's stages)
/// takes at the rate of a plain copy, measured in the same run.
///
/// vlasov_stages [--all] [CHOICE]       timings, 1e5 to 1e7 cells, of the dimensions that --only has; --all:
///                                      every basis at one size, each way to share out cells
/// vlasov_stages --walls [CHOICE]       the same between reflecting walls in x
/// vlasov_stages --write FILE [DIMS]    sums of results on small grids, by this space; of --tiny's with DIMS
/// vlasov_stages --check FILE [DIMS]    compares with them: what another space has written
/// vlasov_stages --tiny DIMS            a step of one basis in each way to share out cells, between walls and
///                                      without, two cells of x by 36 or 40 of v: for racecheck
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

using device_bench::Numbers;
using device_bench::Row;
constexpr auto ser = Family::serendipity, ten = Family::tensor, hyb = Family::hybrid;

const std::vector<Case> timed{
    {"1x1v", 1, 1, "ser p2", 2, ser, {256, 512}},
    {"1x1v", 1, 1, "ser p2", 2, ser, {1024, 1024}},
    {"1x1v", 1, 1, "ser p2", 2, ser, {2560, 4096}},
    {"1x2v", 1, 2, "ser p2", 2, ser, {32, 64, 64}},
    {"1x2v", 1, 2, "ser p2", 2, ser, {256, 64, 64}},
    {"1x2v", 1, 2, "ser p2", 2, ser, {640, 128, 128}},
    {"2x2v", 2, 2, "ser p2", 2, ser, {16, 16, 20, 20}},
    {"2x2v", 2, 2, "ser p2", 2, ser, {32, 32, 32, 32}},
    {"2x2v", 2, 2, "ser p2", 2, ser, {80, 80, 40, 40}},
    {"2x3v", 2, 3, "ser p2", 2, ser, {8, 8, 12, 12, 12}},
    {"2x3v", 2, 3, "ser p2", 2, ser, {16, 16, 16, 16, 16}},
    {"2x3v", 2, 3, "ser p2", 2, ser, {32, 32, 22, 22, 22}},
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

/// What VlasovSystem asks for at a reflecting wall before and after a stage.
void start_wall(DeviceVlasov& engine, int from, int side) {
  const auto traces = engine.halo(0, side);
  engine.trace(from, 0, side, traces.own);
  engine.mirror(0, traces.own, 1, false, traces.outside);
  engine.count_outflow(Flux::upwind, 0, side, traces.own, traces.outside);
}
void finish_wall(DeviceVlasov& engine, const DeviceVlasov::Stage& stage, int side) {
  engine.add_exterior(stage, 0, side, engine.halo(0, side).outside);
}

/// The sweeps that were compared in the first stage, which has no f_0.
void print_sweeps(const std::string& title, const DeviceVlasov& engine) {
  for (const auto& of : engine.sweep_times())
    Row("device_vlasov_stages", title)
        .text("sweep", of.name)
        .number("warps", of.warps)
        .text("fits", of.fits ? "yes" : "no")
        .text("same_bits", of.same_bits ? "yes" : "NO")
        .text("chosen", of.is_chosen ? "yes" : "no")
        .number("ns_per_cell_without_f0", of.ns_per_cell);
}

void time_case(const char* dims, const char* name, const DeviceVlasovOptions& o, const char* sweep,
               double rate, int repeats) {
  const double bytes = DeviceVlasov::bytes(o);
  double n = 1;
  for (const int c : o.cells) n *= c;
  const std::string title = std::string(dims) + " " + name + ", " + sweep;
  if (!device_bench::has_room(bytes)) {
    Row("device_vlasov_stages", title).number("cells", n).text("skipped", "too little memory");
    return;
  }
  const auto engine = DeviceVlasov::make(o);
  if (engine == nullptr) return;
  const Sizes size = sizes_of(o, *engine);
  const auto n_packs = (static_cast<std::int64_t>(n) / size.n_conf + 31) / 32;  // of the engine: 32 cells
  device_bench::fill_on_device(engine->data(0), n_packs * 32 * size.n_modes * size.n_conf, 0, 1);
  Numbers numbers;
  std::vector<double> acceleration(size.acceleration);
  for (double& x : acceleration) x = 0.2 * numbers.next();
  std::vector<double> moments(std::size_t(size.n_conf) * (1 + o.vdim) * size.n_conf_modes);
  const auto measure = [&](auto&& body) { return device_bench::median_seconds(repeats, body); };
  const double dt = 1e-6;
  const auto stage = [&](double keep, double advance, int from, int to) {
    const DeviceVlasov::Stage one{keep, advance, dt, from, 0, to};
    for (const int side : {-1, 1})
      if (o.open[0][0]) start_wall(*engine, from, side);
    engine->stage(one, acceleration.data());
    for (const int side : {-1, 1})
      if (o.open[0][0]) finish_wall(*engine, one, side);
  };
  stage(0, 1, 0, 1);
  print_sweeps(title, *engine);
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
  Row("device_vlasov_stages", title)
      .number("cells", n)
      .number("modes", size.n_modes)
      .number("ns_per_cell_and_stage", 1e9 * one / n)
      .number("dof_per_s", dof / one)
      .number("share_of_copy", floor / one)
      .number("h200_floor_ns", 1e9 * 24 * size.n_modes / device_bench::h200_copy)
      .number("moments_ns_per_cell", 1e9 * sums / n)
      .number("step_ns_per_cell", 1e9 * step / n)
      .number("step_dof_per_s", 3 * dof / step)
      .number("step_share_of_copy", step_floor / step)
      .number("bytes_per_cell", bytes / n)
      .number("copy_bytes_per_s", rate);
}

/// Cells of a small grid, no multiple of 32 in velocity space, and of the smallest with more than 32 there.
std::vector<int> small_grid(const BasisRow& b) {
  std::vector<int> cells;
  for (int d = 0; d < b.cdim; ++d) cells.push_back(3 - d / 2);
  for (int d = 0; d < b.vdim; ++d)
    cells.push_back(b.vdim == 1 ? 150 : d + 1 == b.vdim ? 13 : b.vdim == 3 ? 3 : 11);
  return cells;
}
std::vector<int> tiny_grid(const BasisRow& b) {
  std::vector<int> cells(b.cdim, 1);
  cells[0] = 2;
  for (int d = 0; d < b.vdim; ++d)
    cells.push_back(b.vdim == 1 ? 40 : d + 1 == b.vdim ? 4 : b.vdim == 3 ? 3 : 9);
  return cells;
}

/// Sums over velocity space, with weights, of what three stages and walls make on a small grid; with `dims`
/// of one basis of these dimensions on the smallest.
std::vector<double> results(std::string_view dims = {}) {
  std::vector<double> all;
  for (const auto& b : bases)
    for (const auto flux : {Flux::upwind, Flux::lax_friedrichs, Flux::central})
      for (const auto sweep :
           {DeviceSweep::groups, DeviceSweep::cells, DeviceSweep::owners, DeviceSweep::measured}) {
        const bool is_tiny = !dims.empty();
        if (is_tiny && (dims != b.dims || b.basis != std::string_view("ser p2") || flux == Flux::central))
          continue;
        const auto cells = is_tiny ? tiny_grid(b) : small_grid(b);
        auto o = make_options(b.cdim, b.vdim, b.order, b.family, cells, flux != Flux::central);
        o.flux = flux;
        o.sweep = sweep;
        const bool wall = flux == Flux::upwind;
        if (wall) o.open[0] = {true, true};
        const auto engine = DeviceVlasov::make(o);
        if (engine == nullptr) continue;
        const Sizes size = sizes_of(o, *engine);
        Numbers numbers;
        std::vector<double> f(size.f), acceleration(size.acceleration);
        // Coefficients of velocity groups, of which there are fewer than modes.
        std::vector<double> shape(size.f / size.n_conf), given(size.n_conf * size.n_conf_modes);
        for (double& x : f) x = numbers.next();
        for (double& x : acceleration) x = 3 * numbers.next();
        for (auto* const list : {&shape, &given})
          for (double& x : *list) x = numbers.next();
        engine->upload(0, f.data());
        const double dt = 0.05 / engine->frequency(acceleration.data());
        const DeviceVlasov::Stage stages[3] = {
            {0, 1, dt, 0, 0, 1}, {0.75, 0.25, dt, 1, 0, 2}, {1.0 / 3, 2.0 / 3, dt, 2, 0, 0}};
        for (const auto& stage : stages) {
          const auto emits = engine->halo(0, -1);
          if (wall) {
            start_wall(*engine, stage.from, 1);
            engine->trace(stage.from, 0, -1, emits.own);
            engine->emit(0, -1, shape, given, emits.outside);
            engine->mirror(0, emits.own, 0.3, true, emits.outside);
            engine->count_outflow(Flux::lax_friedrichs, 0, -1, emits.own, emits.outside);
          }
          engine->stage(stage, acceleration.data());
          if (!wall) continue;
          for (const int side : {-1, 1}) {
            finish_wall(*engine, stage, side);
            const auto counted = engine->outflow(0, side);
            all.insert(all.end(), counted.begin(), counted.end());
          }
        }
        for (const auto& of : engine->sweep_times())
          if (!of.same_bits) print_sweeps(std::string(b.dims) + " " + b.basis + ", other bits", *engine);
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

int tiny(const char* dims) {
  const auto all = results(dims);
  const bool good =
      !all.empty() && std::all_of(all.begin(), all.end(), [](double x) { return std::isfinite(x); });
  Row("device_vlasov_stages", std::string("tiny ") + dims)
      .text("finite", good ? "yes" : "NO")
      .number("numbers", all.size());
  return good ? 0 : 1;
}

int write(const char* file, std::string_view dims) {
  const auto all = results(dims);
  std::FILE* out = std::fopen(file, "wb");
  if (out == nullptr) return 1;
  const bool ok = std::fwrite(all.data(), 8, all.size(), out) == all.size();
  std::fclose(out);
  return ok ? 0 : 1;
}

int check(const char* file, std::string_view dims) {
  const auto all = results(dims);
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
  const bool good = ok && worst < 1e-11;
  Row("device_vlasov_stages", "check")
      .text("same", good ? "yes" : "NO")
      .number("numbers", all.size())
      .number("greatest", scale)
      .number("worst_relative", worst)
      .number("at", where);
  return good ? 0 : 1;
}

int run(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--write") == 0) return write(argv[2], argc > 3 ? argv[3] : "");
  if (argc > 2 && std::strcmp(argv[1], "--check") == 0) return check(argv[2], argc > 3 ? argv[3] : "");
  if (argc > 2 && std::strcmp(argv[1], "--tiny") == 0) return tiny(argv[2]);
  const bool every = argc > 1 && std::strcmp(argv[1], "--all") == 0;
  const bool walls = argc > 1 && std::strcmp(argv[1], "--walls") == 0;
  const device_bench::Choice choice(argc, argv, every || walls ? 2 : 1);
  const bool quick = choice.quick;
  const double rate = device_bench::copy_rate(quick ? std::size_t{1} << 24 : std::size_t{1} << 28);
  const int repeats = quick ? 3 : 15;
  if (!every)
    for (const auto& c : timed) {
      const int n = n_cells(c.cells);
      if (!choice.wants(c.dims) || (quick && (n > 200000 || c.vdim == 3)) || (choice.large && n < 5000000))
        continue;
      auto o = make_options(c.cdim, c.vdim, c.order, c.family, c.cells, false);
      if (walls) o.open[0] = {true, true};
      time_case(c.dims, c.basis, o, walls ? "walls" : "automatic", rate, repeats);
    }
  if (every)
    for (const auto& b : bases)
      for (const auto& [sweep, name] : {std::pair{DeviceSweep::cells, "cells"},
                                        {DeviceSweep::groups, "groups"},
                                        {DeviceSweep::measured, "measured"}}) {
        auto o = make_options(b.cdim, b.vdim, b.order, b.family, million(b), false);
        o.sweep = sweep;
        time_case(b.dims, b.basis, o, name, rate, repeats);
      }
  return 0;
}

}  // namespace
}  // namespace quintet::kinetics

int main(int argc, char** argv) {
  const device_bench::Session session("device_vlasov_stages");
  if (!session.ok()) return 4;
  return device_bench::guarded("device_vlasov_stages", [&] { return quintet::kinetics::run(argc, argv); });
}
