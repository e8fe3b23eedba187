#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "physics/kinetics/device/sweeps/vlasov_cell_kernels.hpp"
#include "physics/kinetics/device/vlasov_device.hpp"
#include "physics/kinetics/device/vlasov_edge_kernels.hpp"
#include "physics/kinetics/device/vlasov_large_sweeps.hpp"
#include "physics/kinetics/device/vlasov_launch.hpp"
#include "physics/kinetics/device/vlasov_limit_kernels.hpp"
#include "physics/kinetics/device/vlasov_wall_kernels.hpp"

// DeviceVlasov for one basis. Included by the vlasov_*_device.cpp alone, which instantiate it.
namespace quintet::kinetics::device {

/// Sizes of everything that an engine allocates, in doubles.
struct EngineSizes {
  std::ptrdiff_t n_conf = 1, n_vel = 1, n_packs = 1, f = 0, host_conf = 0, staging_conf = 0;
  int n_rows = 1, n_last = 1, host_packs = 1;
  /// How velocity space is shared out where it is summed over.
  struct Parts {
    int n = 1, cells = 1;
  };
  Parts parts;  ///< of moments

  EngineSizes(const DeviceVlasovOptions& o, int n_modes) {
    for (int d = 0; d < o.cdim; ++d) n_conf *= o.cells[d];
    for (int d = 0; d < o.vdim; ++d) n_vel *= o.cells[o.cdim + d];
    n_last = o.cells[o.cdim + o.vdim - 1];
    n_rows = n_vel / n_last;
    n_packs = (n_vel + lanes - 1) / lanes;
    host_packs = (n_last + o.lanes - 1) / o.lanes;
    f = n_conf * n_packs * n_modes * lanes;
    host_conf = std::ptrdiff_t{n_rows} * host_packs * n_modes * o.lanes;
    // f passes through at most 64 MB (or one configuration cell) on its way.
    staging_conf = std::clamp<std::ptrdiff_t>((std::ptrdiff_t{8} << 20) / host_conf, 1, n_conf);
    parts = parts_of(n_conf);
  }
  /// Enough teams where there are few cells or faces to sum for.
  [[nodiscard]] Parts parts_of(std::ptrdiff_t n_places) const {
    const auto wanted = std::max<std::ptrdiff_t>(1, 4096 / n_places);
    const auto n = std::min(wanted, (n_vel + 511) / 512);
    return {static_cast<int>(n), static_cast<int>((n_vel + n - 1) / n)};
  }
};

template <class Tr>
class DeviceVlasovOf final : public DeviceVlasov {
 public:
  // All arrays are made here: a step allocates nothing.
  explicit DeviceVlasovOf(const DeviceVlasovOptions& options)
      : options_(options), size_(options, Tr::n_modes) {
    cells_.n_conf = size_.n_conf;
    cells_.n_vel = size_.n_vel;
    cells_.n_packs = size_.n_packs;
    cells_.flux = options.flux;
    for (int i = 0; i < cdim; ++i) {
      cells_.nx[i] = options.cells[i];
      cells_.rdx[i] = 2 / options.dx[i];
      for (int side = 0; side < 2; ++side) cells_.open[i][side] = options.open[i][side];
    }
    for (int b = 0; b < options.n_buffers; ++b) buffers_.push_back(device_array("vlasov::f", size_.f));
    forces_ = device_array("vlasov::forces", size_.n_conf * Places::size);
    acceleration_ = device_array("vlasov::acceleration", size_.n_conf * 6 * Tr::n_full);
    parts_ = device_array("vlasov::parts", size_.n_conf * size_.parts.n * part_size);
    moments_ = device_array("vlasov::moments", size_.n_conf * (2 + vdim) * Tr::n_full);
    sent_acceleration_.reserve(acceleration_.extent(0));
    started_moments_.reserve(moments_.extent(0));
    if (!is_host) staging_ = device_array("vlasov::staging", size_.staging_conf * size_.host_conf);
    for_each_edge(options, [&](int d, int i) {
      const bool is_wall = d < cdim && !options.halo[d][i];
      halos_[d][i] =
          HaloArrays("vlasov::halo", trace_size(d), is_wall && options.empty[d][i] ? 0 : trace_size(d),
                     is_wall || options.sends_directly);
      if (!is_wall) return;
      Wall& wall = walls_[d][i];
      wall.parts = device_array("vlasov::outflow_parts", n_outflow_parts(size_, options, d));
      wall.outflow = device_array("vlasov::outflow", n_outflow(size_, options, d));
      wall.counted = StagedArray("counted_outflow", wall.outflow.extent(0));
    });
    make_velocity_cells();
    make_tables();
  }

  static double bytes(const DeviceVlasovOptions& options) {
    const EngineSizes size(options, Tr::n_modes);
    double n_velocity = 0;
    for (int d = 0; d < vdim; ++d) n_velocity += 4.0 * options.cells[cdim + d];
    const double numbers = static_cast<double>(options.n_buffers) * size.f +
                           static_cast<double>(size.n_conf) *
                               (Places::size + Tr::n_full * (6 + 2 + vdim) + 1.0 * part_size * size.parts.n) +
                           (is_host ? 0.0 : static_cast<double>(size.staging_conf) * size.host_conf) +
                           n_velocity + n_triple + static_cast<double>(at_edges(options));
    return 8 * numbers + sizeof(GroupTables<Tr>);
  }

  [[nodiscard]] int n_modes() const override { return Tr::n_modes; }
  [[nodiscard]] int n_conf_modes() const override { return Tr::n_full; }

  void upload(int buffer, const double* host) override { pass(buffer, const_cast<double*>(host), false); }
  void download(int buffer, double* host) const override { pass(buffer, host, true); }

  void stage(const Stage& stage, const double* acceleration) override {
    sent_acceleration_.send(acceleration_, acceleration, acceleration_.extent(0));
    for_all("vlasov::forces", size_.n_conf * Places::size, make_forces());
    const Update update{stage.keep,
                        stage.advance,
                        stage.advance * stage.dt,
                        buffers_[stage.from].data(),
                        buffers_[stage.from0].data(),
                        buffers_[stage.to].data()};
    if (by_cells(options_.sweep)) {
      if constexpr (can_do_cells) sweep_cells(update);
    } else {
      large_.run(options_.sweep, cells_, forces_.data(), update, size_.f);
    }
  }
  [[nodiscard]] std::span<const SweepTime> sweep_times() const override { return large_.times(); }

  [[nodiscard]] int n_buffers() const override { return buffers_.size(); }
  void add_buffer() override { buffers_.push_back(device_array("vlasov::f", size_.f)); }
  [[nodiscard]] double* data(int buffer) const override { return buffers_[buffer].data(); }
  void combine(int to, std::span<const Term> terms) override {
    CombineDistributions sum{buffers_[to].data(), {}, {}, static_cast<int>(terms.size())};
    for (int i = 0; i < sum.n; ++i) {
      sum.factor[i] = terms[i].factor;
      sum.from[i] = buffers_[terms[i].buffer].data();
    }
    for_all("vlasov::combine", size_.f, sum);
  }

  Limited limit(int buffer, std::span<const double> nodes, double mean) override {
    keep_nodes(nodes);
    const Range all(0, size_.n_conf * size_.n_vel);
    const int n_nodes = static_cast<int>(nodes.size()) / Tr::n_modes;
    Limited result;
    typename LeastMean<Tr>::Found least;
    Kokkos::parallel_reduce("vlasov::least_mean", all, LeastMean<Tr>{cells_, mean, buffers_[buffer].data()},
                            Kokkos::MinLoc<double, std::ptrdiff_t>(least));
    Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> change(result.change.data(), 4);
    Kokkos::parallel_reduce("vlasov::limit", all,
                            LimitCell<Tr>{4, cells_, nodes_.data(), n_nodes, mean, buffers_[buffer].data()},
                            change);
    Space().fence();
    result.least_mean = least.val;
    result.conf = least.loc / size_.n_vel;
    result.velocity_cell = least.loc % size_.n_vel;
    return result;
  }

  void moments(int buffer, int n_components, double* host) const override {
    sum_moments(buffer, n_components);
    to_host(host, moments_, n_moments(n_components));
  }
  void start_moments(int buffer, int n_components) override {
    sum_moments(buffer, n_components);
    started_moments_.fetch(moments_, n_moments(n_components));
  }
  [[nodiscard]] std::span<const double> started_moments() const override {
    return started_moments_.fetched();
  }

  void summarise(int buffer, std::span<const double> nodes, std::span<const double> weights,
                 std::span<Summary> summaries) override {
    keep_nodes(nodes);
    if (node_weights_.extent(0) != weights.size()) {
      node_weights_ = device_array("vlasov::node_weights", std::ssize(weights));
      to_device(node_weights_, weights.data(), weights.size());
    }
    using Kernel = PartialSummary<Tr>;
    const int n_parts = size_.parts.n, n_teams = cells_.n_conf * n_parts;
    launch_teams<Kernel::threads, 4>(
        "vlasov::summary", n_teams, Kernel::threads,
        Kernel{cells_, nodes_.data(), node_weights_.data(), static_cast<int>(weights.size()),
               buffers_[buffer].data(), parts_.data(), n_parts, size_.parts.cells});
    std::vector<double> parts(std::int64_t{n_teams} * Kernel::n_numbers);
    to_host(parts.data(), parts_, parts.size());
    for (std::size_t conf = 0; conf < summaries.size(); ++conf)
      for (int p = 0; p < n_parts; ++p) {
        Summary one;
        std::memcpy(static_cast<void*>(&one), parts.data() + (conf * n_parts + p) * Kernel::n_numbers,
                    sizeof one);
        if (p == 0)
          summaries[conf] = one;
        else
          join(summaries[conf], one);
      }
  }

  [[nodiscard]] std::size_t trace_size(int d) const override { return trace_size(options_, d); }

  [[nodiscard]] Halo halo(int d, int side) const override { return halos_[d][side > 0].seen(); }

  void trace(int buffer, int d, int side, double* to) const override {
    const HaloArrays& halo = halos_[d][side > 0];
    const bool travels = to == halo.seen().own;
    double* const out = travels ? halo.own.data() : to;  // lanes that pad stay 0
    if (d >= cdim)
      for_all("vlasov::trace", n_edge_cells(d),
              MakeVelocityTrace<Tr>{velocity_edge(d, side), tables(), buffers_[buffer].data(), out});
    else
      for_all("vlasov::trace", n_faces(d) * size_.n_vel,
              MakeTrace<Tr>{edge(d, side), buffers_[buffer].data(), out});
    if (travels) halo.leave();
  }

  void add_exterior(const Stage& stage, int d, int side, const double* from) override {
    const HaloArrays& halo = halos_[d][side > 0];
    const bool travels = from == halo.seen().outside;
    if (travels) halo.arrive();
    const double* const outside = travels ? halo.outside.data() : from;
    if (d >= cdim)
      for_all("vlasov::add_exterior", n_edge_cells(d) * Tr::n_groups,
              AddVelocityExterior<Tr>{velocity_edge(d, side), tables(), forces_.data(),
                                      buffers_[stage.from].data(), outside, buffers_[stage.to].data(),
                                      stage.advance * stage.dt});
    else
      for_all("vlasov::add_exterior", n_faces(d) * size_.n_vel,
              AddExterior<Tr>{edge(d, side), tables(), outside, buffers_[stage.to].data(),
                              stage.advance * stage.dt});
  }

  void mirror(int d, const double* own, double share, bool add, double* out) const override {
    for_all("vlasov::mirror", n_faces(d) * Tr::n_groups * size_.n_vel,
            MirrorTrace<Tr>{edge(d, 1), tables(), own, share, add, out});
  }

  void emit(int d, int side, std::span<const double> shape, std::span<const double> flux,
            double* out) override {
    Wall& wall = walls_[d][side > 0];
    const auto keep = [](DeviceArray& there, const char* label, std::span<const double> numbers) {
      if (there.extent(0) != numbers.size()) there = device_array(label, std::ssize(numbers));
      to_device(there, numbers.data(), numbers.size());
    };
    if (wall.shape.extent(0) != shape.size()) keep(wall.shape, "vlasov::emission_shape", shape);
    if (!std::equal(flux.begin(), flux.end(), wall.emitted.begin(), wall.emitted.end())) {
      keep(wall.flux, "vlasov::emitted_flux", flux);
      wall.emitted.assign(flux.begin(), flux.end());
    }
    for_all("vlasov::emit", n_faces(d) * Tr::n_groups * size_.n_vel,
            EmitTrace<Tr>{edge(d, side), tables(), wall.shape.data(), wall.flux.data(), out});
  }

  void count_outflow(Flux flux, int d, int side, const double* inside, const double* outside) override {
    using Kernel = PartialOutflow<Tr>;
    const Wall& wall = walls_[d][side > 0];
    const auto parts = size_.parts_of(n_faces(d));
    Edge<Tr> here = edge(d, side);
    here.cells.flux = flux;
    launch_teams<Kernel::threads, 4>(
        "vlasov::outflow", static_cast<int>(n_faces(d)) * parts.n, Kernel::threads,
        Kernel{here, mean_volume(), inside, outside, wall.parts.data(), parts.n, parts.cells});
    for_all("vlasov::add_outflow", n_faces(d) * Kernel::n_sums,
            AddParts{parts.n, Kernel::n_sums, Kernel::n_sums, wall.parts.data(), wall.outflow.data()});
    Kokkos::deep_copy(Space(), wall.counted, wall.outflow);
  }
  [[nodiscard]] std::span<const double> outflow(int d, int side) const override {
    Space().fence();
    const StagedArray& counted = walls_[d][side > 0].counted;
    return {counted.data(), counted.size()};
  }

  [[nodiscard]] double frequency(const double* acceleration) const override {
    double streaming = 0, greatest = 0;
    for (int i = 0; i < cdim; ++i) streaming += greatest_speed_[i] / options_.dx[i];
    const auto bound = [&](std::ptrdiff_t conf, int c) {
      double sum = 0;
      for (int m = 0; m < Tr::n_full; ++m)
        sum += std::abs(acceleration[(conf * 6 + c) * Tr::n_full + m]) * Tr::triple.greatest[m];
      return sum;
    };
    for (std::ptrdiff_t conf = 0; conf < size_.n_conf; ++conf) {
      double sum = 0;
      for (int d = 0; d < vdim; ++d) {
        double a = bound(conf, d);
        for (int j = 0; j < vdim; ++j)
          if (j != d) a += greatest_speed_[j] * bound(conf, 3 + (3 - d - j));
        sum += a / options_.least_dv[d];
      }
      greatest = std::max(greatest, sum);
    }
    return streaming + greatest;
  }

  void fence() const override { Space().fence(); }

  /// Sweeps by cells are faster, as measured on an H100 (docs/how_vlasov_works.md), up to 32 modes, and with
  /// three velocities up to 16.
  static constexpr bool can_do_cells = Tr::n_modes <= most_modes_a_thread;
  static constexpr bool faster_by_cells = can_do_cells && (Tr::vdim < 3 || Tr::n_modes <= 16);
  static bool has(DeviceSweep sweep) {
    if (sweep == DeviceSweep::cells) return can_do_cells;
    return !faster_by_cells || (sweep != DeviceSweep::owners && sweep != DeviceSweep::measured);
  }
  static bool by_cells(DeviceSweep sweep) {
    return sweep == DeviceSweep::automatic ? faster_by_cells : sweep == DeviceSweep::cells;
  }

 private:
  static constexpr int cdim = Tr::cdim, vdim = Tr::vdim;
  using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::ptrdiff_t>>;
  static constexpr int n_triple = Tr::n_full * Tr::n_full * Tr::n_full + Tr::n_full;
  using Places = ForcePlaces<Tr>;
  /// Numbers of a configuration cell and a part of its velocity cells: sums of moments, or a summary.
  static constexpr int part_size = std::max((2 + vdim) * Tr::n_full, Summary::n_numbers);

  [[nodiscard]] std::size_t n_moments(int n_components) const {
    return size_.n_conf * n_components * Tr::n_full;
  }
  void sum_moments(int buffer, int n_components) const {
    const PartialMoments<Tr> parts{cells_,        mean_volume(),     buffers_[buffer].data(), parts_.data(),
                                   size_.parts.n, size_.parts.cells, n_components > 1 + vdim};
    constexpr int threads = PartialMoments<Tr>::threads;
    launch_teams<threads, 4>("vlasov::moments", cells_.n_conf * size_.parts.n, threads, parts);
    const int n_out = n_components * Tr::n_full;
    for_all("vlasov::add_moments", size_.n_conf * n_out,
            AddParts{size_.parts.n, (2 + vdim) * Tr::n_full, n_out, parts_.data(), moments_.data()});
  }
  void keep_nodes(std::span<const double> nodes) {
    if (nodes_.extent(0) == nodes.size()) return;
    nodes_ = device_array("vlasov::nodes", std::ssize(nodes));
    to_device(nodes_, nodes.data(), nodes.size());
  }
  static std::size_t trace_size(const DeviceVlasovOptions& options, int d) {
    const EngineSizes size(options, Tr::n_modes);
    if (d == cdim + vdim - 1) return size.n_conf * size.n_rows * Tr::n_face_modes;
    const int modes = d < cdim ? Tr::n_conf_face_modes : Tr::n_face_modes;
    return size.n_conf * size.n_rows / options.cells[d] * size.host_packs * modes * options.lanes;
  }
  /// action(d, i) for the open edges, i = 0 at side -1.
  template <class Action>
  static void for_each_edge(const DeviceVlasovOptions& options, const Action& action) {
    for (int d = 0; d < cdim + vdim; ++d)
      for (int i = 0; i < 2; ++i)
        if (options.open[d][i]) action(d, i);
  }
  /// Sums of a wall, and of the parts that they are made of.
  static std::ptrdiff_t n_outflow(const EngineSizes& size, const DeviceVlasovOptions& options, int d) {
    return size.n_conf / options.cells[d] * PartialOutflow<Tr>::n_sums;
  }
  static std::ptrdiff_t n_outflow_parts(const EngineSizes& size, const DeviceVlasovOptions& options, int d) {
    return size.parts_of(size.n_conf / options.cells[d]).n * n_outflow(size, options, d);
  }
  static std::ptrdiff_t at_edges(const DeviceVlasovOptions& options) {
    const EngineSizes size(options, Tr::n_modes);
    std::ptrdiff_t sum = 0;
    for_each_edge(options, [&](int d, int i) {
      const bool one = !options.halo[d][i] && options.empty[d][i];
      sum += (one ? 1 : 2) * trace_size(options, d);
      if (d >= cdim || options.halo[d][i]) return;
      // What is counted there, and the shape and flux that it may emit.
      sum += n_outflow(size, options, d) + n_outflow_parts(size, options, d) + Tr::n_groups * size.n_vel +
             size.n_conf / options.cells[d] * Tr::n_conf_face_full;
    });
    return sum;
  }
  /// int phi_0 over a velocity cell of mean width.
  [[nodiscard]] double mean_volume() const {
    double volume = 1;
    for (int d = 0; d < vdim; ++d) volume *= 0.5 * options_.mean_dv[d] * constant_sqrt(2);
    return volume;
  }
  /// Number of faces of an edge across x_d.
  [[nodiscard]] std::ptrdiff_t n_faces(int d) const { return size_.n_conf / options_.cells[d]; }

  void make_velocity_cells() {
    for (int d = 0; d < vdim; ++d) {
      const int n = options_.cells[cdim + d];
      cells_.nv[d] = n;
      std::vector<double> of;
      double width = 0;
      for (int i = 0; i < n; ++i) {
        const double relative = options_.relative[d][i];
        for (const double x :
             {options_.centre[d][i], 0.5 * relative * options_.mean_dv[d], relative, 1 / relative})
          of.push_back(x);
        width += relative;
      }
      velocity_[d] = device_array("vlasov::velocity", 4 * n);
      to_device(velocity_[d], of.data(), of.size());
      cells_.velocity[d] = velocity_[d].data();
      const double low = of[0] - of[1];
      greatest_speed_[d] = std::max(std::abs(low), std::abs(low + width * options_.mean_dv[d]));
    }
  }
  void make_tables() {
    std::vector<double> triple;
    for (int l = 0; l < Tr::n_full; ++l)
      for (int m = 0; m < Tr::n_full; ++m)
        for (int k = 0; k < Tr::n_full; ++k) triple.push_back(Tr::triple.c[l][m][k]);
    for (int k = 0; k < Tr::n_full; ++k) triple.push_back(Tr::triple.greatest[k]);
    triple_ = device_array("vlasov::triple", n_triple);
    to_device(triple_, triple.data(), triple.size());
    static constexpr GroupTables<Tr> tables = make_group_tables<Tr>();
    tables_ = device_copy("vlasov::tables", tables);
  }
  [[nodiscard]] const GroupTables<Tr>* tables() const {
    return reinterpret_cast<const GroupTables<Tr>*>(tables_.data());
  }
  [[nodiscard]] MakeForces<Tr> make_forces() const {
    MakeForces<Tr> make{};
    for (int d = 0; d < vdim; ++d) {
      make.rdv[d] = 2 / options_.mean_dv[d];
      make.half_dv[d] = 0.5 * options_.mean_dv[d];
    }
    make.triple = triple_.data();
    make.acceleration = acceleration_.data();
    make.forces = forces_.data();
    return make;
  }
  [[nodiscard]] std::ptrdiff_t n_edge_cells(int d) const {
    return size_.n_conf * (size_.n_vel / options_.cells[d]);
  }
  [[nodiscard]] VelocityEdge<Tr> velocity_edge(int d, int side) const {
    return {cells_, d - cdim, side, size_.n_last, options_.lanes, size_.host_packs};
  }
  [[nodiscard]] Edge<Tr> edge(int d, int side) const {
    return {cells_, d, side, size_.n_last, options_.lanes, size_.host_packs};
  }

  void sweep_cells(const Update& update) const {
    constexpr int threads = 128;
    const int n_chunks = (cells_.n_vel + threads - 1) / threads;
    const int even = (cells_.n_vel + n_chunks - 1) / n_chunks, chunk = (even + lanes - 1) / lanes * lanes;
    const CellSweep<Tr> sweep{cells_, forces_.data(), update, n_chunks, chunk};
    // Registers of a thread: 80, 96, 168 or 255, with next to nothing spilt.
    constexpr int n = Tr::n_modes, blocks = vdim == 1 && n <= 8 ? 6 : n <= 9 ? 5 : n <= 20 ? 3 : 2;
    launch_teams<threads, blocks>("vlasov::stage", cells_.n_conf * n_chunks, chunk, sweep);
  }
  void pass(int buffer, double* host, bool to_host_too) const {
    const int n = size_.staging_conf;
    for (std::ptrdiff_t first = 0; first < size_.n_conf; first += n) {
      const auto count = std::min<std::ptrdiff_t>(n, size_.n_conf - first);
      double* const there = host + first * size_.host_conf;
      double* const here = is_host ? there : staging_.data();
      if (to_host_too && is_host) std::fill_n(there, count * size_.host_conf, 0.0);
      if (to_host_too && !is_host) Kokkos::deep_copy(staging_, 0.0);
      if (!to_host_too && !is_host) to_device(staging_, there, count * size_.host_conf);
      const std::ptrdiff_t packs = count * size_.n_packs * Tr::n_modes * lanes;
      for_all("vlasov::relayout", packs,
              Relayout{Tr::n_modes, size_.n_rows, size_.n_last, options_.lanes, size_.host_packs,
                       cells_.n_packs, cells_.n_vel, to_host_too, here,
                       buffers_[buffer].data() + first * size_.n_packs * Tr::n_modes * lanes});
      Space().fence();
      if (to_host_too && !is_host) to_host(there, staging_, count * size_.host_conf);
    }
  }

  DeviceVlasovOptions options_;
  EngineSizes size_;
  Cells<Tr> cells_;
  LargeSweeps<Tr, !faster_by_cells> large_;
  std::vector<DeviceArray> buffers_;
  DeviceArray forces_, acceleration_, parts_, moments_, staging_, triple_, nodes_, node_weights_;
  Passage sent_acceleration_, started_moments_;
  DeviceArray velocity_[Tr::vdim];
  HaloArrays halos_[cdim + vdim][2];
  /// An open edge of x without another rank beyond.
  struct Wall {
    DeviceArray parts, outflow;   ///< of count_outflow()
    StagedArray counted;          ///< its sums on the host
    DeviceArray shape, flux;      ///< of emit()
    std::vector<double> emitted;  ///< what is in `flux`
  };
  Wall walls_[cdim + vdim][2];
  ByteArray tables_;
  double greatest_speed_[3]{};
};

/// Engine of a basis in CDim x VDim, or its bytes; null or -1 if it is not built in.
template <int CDim, int VDim>
std::unique_ptr<DeviceVlasov> make_device_vlasov(const DeviceVlasovOptions& options) {
  std::unique_ptr<DeviceVlasov> made;
  visit_orders<CDim, VDim>(options.order, options.family, [&]<class Tr>() {
    if (!DeviceVlasovOf<Tr>::has(options.sweep)) return;
    made = std::make_unique<DeviceVlasovOf<Tr>>(options);
  });
  return made;
}
template <int CDim, int VDim>
double device_vlasov_bytes(const DeviceVlasovOptions& options) {
  double bytes = -1;
  visit_orders<CDim, VDim>(options.order, options.family,
                           [&]<class Tr>() { bytes = DeviceVlasovOf<Tr>::bytes(options); });
  return bytes;
}

}  // namespace quintet::kinetics::device
