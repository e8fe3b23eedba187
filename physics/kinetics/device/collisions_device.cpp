#include "physics/kinetics/device/collisions_device.hpp"

#include <algorithm>

#include "physics/kinetics/device/collisions_kernels.hpp"
#include "physics/kinetics/device/collisions_solve_kernels.hpp"
#include "physics/kinetics/device/relaxation_kernels.hpp"
#include "physics/kinetics/device/vlasov_edge_kernels.hpp"

namespace quintet::kinetics {
namespace device {
namespace {

/// Sizes of everything that is allocated, in doubles.
struct CollisionSizes {
  std::ptrdiff_t n_conf, n_vel = 1, n_packs, parts, moments, weights = 0, velocity = 0, fields = 0,
                         diffusion = 0, solves = 0;  ///< solves: gain, and what is refused
  std::ptrdiff_t halos = 0;  ///< cells of faces with other blocks beyond, and of those
  std::ptrdiff_t products, tables = 0, table_moments = 0, factors = 0,
                           of_grid = 0;  ///< a configuration cell; for all
  int n_parts, part, most_relaxing = 0;

  explicit CollisionSizes(const DeviceCollisionOptions& o) : n_conf(o.n_conf) {
    const int n = o.n_conf_modes, n_moments = o.moments.size();
    std::ptrdiff_t grid = 0;
    for (int d = 0; d < o.vdim; ++d) {
      n_vel *= o.cells[d];
      velocity += 5 * o.cells[d];
      grid += o.grid_cells[d];
      diffusion += o.diffusion[d].size();
      for (const auto& moment : o.moments) weights += moment.weight[d].size();
    }
    n_packs = (n_vel + lanes - 1) / lanes;
    // Enough teams for moments where configuration cells are few.
    const auto wanted = std::max<std::ptrdiff_t>(1, 4096 / n_conf);
    n_parts = std::min(wanted, (n_vel + 511) / 512);
    part = (n_vel + n_parts - 1) / n_parts;
    products = n * n * n + n;
    moments = n_conf * n_moments * n;
    parts = moments * n_parts;
    if (diffusion > 0) {
      fields = n_conf * (o.vdim + 2) * n;
      for (int d = 0; d < o.vdim; ++d) {
        halos += 2 * face_size(o, d) * ((o.begin[d] > 0) + (o.begin[d] + o.cells[d] < o.grid_cells[d]));
      }
    }
    solves = n_conf * ((o.vdim + 1) * n + 2);
    if (o.n_nodes == 0) return;
    fields = n_conf * n;
    solves += 2 * o.n_nodes * n + n * n * n;
    of_grid =
        (2 + 3 * o.n_degrees) * grid + static_cast<std::ptrdiff_t>(o.node.size() + o.node_weight.size());
    tables = (o.n_nodes + 3) * o.n_degrees * grid;
    table_moments = (o.n_nodes + 3) * o.vdim * 6 + (o.n_nodes + 1) * (o.vdim + 1);
    factors = 2 * (o.n_nodes + o.vdim + 2) * n + n * n +
              static_cast<std::ptrdiff_t>(sizeof(BgkCell::Work) / sizeof(double));
    // Maxwellians take at most 64 MB (or are those of one configuration cell).
    most_relaxing = std::clamp<std::ptrdiff_t>((std::ptrdiff_t{8} << 20) / tables, 1, n_conf);
  }
  /// 0 where velocity space is not shared out along v_d.
  [[nodiscard]] std::ptrdiff_t face_size(const DeviceCollisionOptions& o, int d) const {
    if (d >= o.vdim || o.cells[d] == o.grid_cells[d]) return 0;
    return n_conf * ((n_vel / o.cells[d] + lanes - 1) / lanes) * o.n_modes * lanes;
  }
  [[nodiscard]] double bytes() const {
    return 8.0 * (products + halos + parts + moments + weights + velocity + fields + solves + diffusion +
                  of_grid + most_relaxing * (tables + table_moments + factors)) +
           sizeof(CollisionGroups);
  }
};

DeviceArray copy(const char* label, const std::vector<double>& values) {
  const auto there = device_array(label, values.size());
  to_device(there, values.data(), values.size());
  return there;
}

template <int N>
class CollisionsOf final : public DeviceCollisions {
 public:
  CollisionsOf(const DeviceCollisionOptions& options, DeviceVlasov& vlasov)
      : options_(options),
        size_(options),
        vlasov_(vlasov),
        groups_(device_copy("collisions::groups", options.groups)),
        triple_(copy("collisions::triple", options.triple)),
        greatest_(copy("collisions::greatest", options.greatest)) {
    make_cells();
    make_moments();
    fields_ = device_array("collisions::fields", size_.fields);
    Kokkos::deep_copy(fields_, 0.0);
    gain_ = device_array("collisions::gain", size_.n_conf * (options.vdim + 1) * N);
    refused_ = device_array("collisions::refused", size_.n_conf);
    fetched_refused_.reserve(refused_.extent(0));
    if (size_.diffusion > 0) {
      for (int d = 0; d < options.vdim; ++d) {
        diffusion_[d] = copy("collisions::diffusion", options.diffusion[d]);
        for (int side = 0; side < 2; ++side)
          if (!cells_.at_end[d][side])
            halos_[d][side] = HaloArrays("collisions::halo", edge_size(d), options.sends_directly);
      }
    }
    if (options.n_nodes > 0) make_relaxation();
  }

  void moments(int buffer, double* host) const override {
    make_sums(buffer);
    get_moments(host);
  }
  void sum_moments(int buffer) override { make_sums(buffer); }
  void get_moments(double* host) const override { to_host(host, moments_, size_.moments); }
  void set_moments(const double* host) override { to_device(moments_, host, size_.moments); }
  [[nodiscard]] std::size_t edge_size(int d) const override { return size_.face_size(options_, d); }
  [[nodiscard]] DeviceVlasov::Halo halo(int d, int side) const override { return of_face(d, side).seen(); }
  void edge(int buffer, int d, int side) const override {
    for_all("collisions::edge", static_cast<std::ptrdiff_t>(edge_size(d)),
            CopyEdge{cells_, EdgeCells(cells_, d), side, vlasov_.data(buffer), of_face(d, side).own.data()});
    of_face(d, side).leave();
  }
  void set_beyond(int d, int side) override { of_face(d, side).arrive(); }
  void set_drag_diffusion(const double* coefficients) override {
    to_device(fields_, coefficients, size_.fields);
  }
  void get_drag_diffusion(double* coefficients) const override {
    to_host(coefficients, fields_, size_.fields);
  }
  void exchange(const ExchangeTables& tables, std::span<const double> profiles,
                std::span<DeviceCollisions* const> all, std::span<const char> gains) override {
    if (exchange_.refused.extent(0) == 0) keep_tables(tables, profiles.size());
    if (!profiles.empty()) exchange_.sent_profiles.send(exchange_.profiles, profiles.data(), profiles.size());
    ExchangeCell cell(tables);
    const double* numbers = exchange_.numbers.data();
    const auto next = [&numbers](const std::vector<double>& of) {
      const double* const here = numbers;
      numbers += of.size();
      return here;
    };
    cell.values = next(tables.values);
    cell.weights = next(tables.weights);
    cell.control = next(tables.control);
    cell.masses = next(tables.masses);
    cell.numbers = next(tables.numbers);
    cell.profile_of = reinterpret_cast<const int*>(exchange_.profile_of.data());
    cell.profiles = exchange_.profiles.data();
    cell.profile_size = size_.n_conf * tables.n_nodes;
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (all[s] == nullptr) continue;
      auto& one = static_cast<CollisionsOf&>(*all[s]);
      cell.of[s] = {true,
                    one.moments_.data(),
                    one.fields_.data(),
                    gains[s] != 0 ? one.gain_.data() : nullptr,
                    std::ssize(one.options_.moments) * N,
                    one.size_.fields / one.size_.n_conf,
                    (options_.vdim + 1) * N};
      one.has_gain_ = gains[s] != 0;
    }
    for_all("collisions::exchange", size_.n_conf, Exchange{cell, exchange_.refused.data()});
    exchange_.fetched_refused.fetch(exchange_.refused, exchange_.refused.extent(0));
  }
  [[nodiscard]] int exchange_refused() const override { return first_of_refused(exchange_.fetched_refused); }
  void solve_drag_diffusion() override {
    using Kernel = SolveDragDiffusion<N>;
    launch_teams<Kernel::threads, 4>(
        "collisions::solve", cells_.n_conf, Kernel::threads,
        Kernel{options_.vdim, static_cast<int>(options_.moments.size()), options_.drag_places, triple_.data(),
               moments_.data(), has_gain_ ? gain_.data() : nullptr, fields_.data(), refused_.data()});
    fetched_refused_.fetch(refused_, refused_.extent(0));
  }
  [[nodiscard]] int refused() const override { return first_of_refused(fetched_refused_); }
  void add_drag_diffusion(int buffer, double weight, int to) const override {
    AddDragDiffusion<N> add{cells_, fields_.data(),        triple_.data(),       greatest_.data(), {},    {},
                            {},     options_.uniform_rate, vlasov_.data(buffer), vlasov_.data(to), weight};
    for (int d = 0; d < options_.vdim; ++d) {
      add.diffusion[d] = diffusion_[d].data();
      add.edge[d] = EdgeCells(cells_, d);
      for (int side = 0; side < 2; ++side) add.beyond[d][side] = halos_[d][side].outside.data();
    }
    sweep("collisions::drag_diffusion", cells_.n_conf, add);
  }
  [[nodiscard]] double drag_diffusion_rate() const override {
    DragDiffusionRate<N> rate{cells_, fields_.data(), greatest_.data(), {}, {}};
    for (int d = 0; d < options_.vdim; ++d) {
      rate.drag_rate[d] = options_.drag_rate[d];
      rate.diffusion_rate[d] = options_.diffusion_rate[d];
    }
    double most = 0;
    Kokkos::parallel_reduce("collisions::rate",
                            Kokkos::RangePolicy<Space, Kokkos::IndexType<std::ptrdiff_t>>(0, size_.n_conf),
                            rate, Kokkos::Max<double>(most));
    Space().fence();
    return most;
  }

  void relax(int buffer, double weight, int to, double relax_time) override {
    BgkCell formulas(options_.bgk);
    formulas.triple = triple_.data();
    formulas.values = of_nodes_.data();
    formulas.weights = of_nodes_.data() + options_.bgk.values.size();
    auto* const work = reinterpret_cast<BgkCell::Work*>(work_.data());
    for (int first = 0; first < options_.n_conf; first += size_.most_relaxing) {
      const int n = std::min(size_.most_relaxing, options_.n_conf - first);
      for_all("collisions::start_relaxation", n,
              StartRelaxation{formulas, first, moments_.data(), has_gain_ ? gain_.data() : nullptr,
                              fields_.data(), std::ssize(options_.moments) * N, relax_time, work,
                              states_.data(), refused_.data()});
      tabulate(n);
      for_all("collisions::finish_relaxation", n,
              FinishRelaxation{formulas, first, fields_.data(), table_moments_.data(), work, factors_.data(),
                               matrices_.data(), refused_.data()});
      sweep_relaxation(first, n, buffer, weight, to);
    }
    fetched_refused_.fetch(refused_, refused_.extent(0));
  }
  [[nodiscard]] double relaxation_rate() const override {
    double most = 0;
    Kokkos::parallel_reduce("collisions::greatest_rate",
                            Kokkos::RangePolicy<Space, Kokkos::IndexType<std::ptrdiff_t>>(0, size_.n_conf),
                            GreatestRate{N, fields_.data(), greatest_.data()}, Kokkos::Max<double>(most));
    Space().fence();
    return most;
  }

 private:
  /// Tables of the Maxwellians of states_, and their moments.
  void tabulate(int n) const {
    for_all("collisions::maxwellians", std::int64_t{n} * maxwellians_.n_tables() * maxwellians_.n_cells(),
            MakeMaxwellians{maxwellians_});
    constexpr int threads = MaxwellianMoments::threads;
    launch_teams<threads, 8>("collisions::maxwellian_moments", n * maxwellians_.n_tables() * options_.vdim,
                             threads, MaxwellianMoments{maxwellians_, table_moments_.data()});
  }
  void sweep_relaxation(int first, int n, int buffer, double weight, int to) const {
    sweep("collisions::relaxation", n,
          AddRelaxation<N>{cells_, maxwellians_, factors_.data(), matrices_.data(), options_.uniform_rate,
                           first, vlasov_.data(buffer), vlasov_.data(to), weight});
  }
  static int first_of_refused(const Passage& passage) {
    const auto cells = passage.fetched();
    const auto bad = std::find_if(cells.begin(), cells.end(), [](double one) { return one != 0; });
    return bad == cells.end() ? -1 : bad - cells.begin();
  }
  void keep_tables(const ExchangeTables& tables, std::size_t n_profiles) {
    std::vector<double> all;
    for (const auto* of : {&tables.values, &tables.weights, &tables.control, &tables.masses, &tables.numbers})
      all.insert(all.end(), of->begin(), of->end());
    exchange_.numbers = copy("collisions::exchange_numbers", all);
    std::array<int, ExchangeCell::most_species * ExchangeCell::most_species> profile_of{};
    std::copy(tables.profile_of.begin(), tables.profile_of.end(), profile_of.begin());
    exchange_.profile_of = device_copy("collisions::profile_of", profile_of);
    exchange_.profiles = device_array("collisions::profiles", n_profiles);
    exchange_.sent_profiles.reserve(n_profiles);
    exchange_.refused = device_array("collisions::exchange_refused", size_.n_conf);
    exchange_.fetched_refused.reserve(exchange_.refused.extent(0));
  }
  [[nodiscard]] const HaloArrays& of_face(int d, int side) const { return halos_[d][side]; }
  void make_sums(int buffer) const {
    const int n_moments = options_.moments.size(), n_out = n_moments * N;
    SumMoments<N> sum{cells_,        n_moments,     {},        weights_.data(), vlasov_.data(buffer),
                      parts_.data(), size_.n_parts, size_.part};
    for (int c = 0; c < n_moments; ++c)
      for (int d = 0; d < 3; ++d) sum.weight_at[c][d] = weight_at_[3 * c + d];
    constexpr int threads = SumMoments<N>::threads;
    launch_teams<threads, 8>("collisions::moments", cells_.n_conf * size_.n_parts, threads, sum);
    for_all("collisions::add_moments", size_.moments,
            AddParts{size_.n_parts, n_out, n_out, parts_.data(), moments_.data()});
  }
  /// A team for 32 velocity cells of n configuration cells.
  template <class Kernel>
  void sweep(const char* label, int n, const Kernel& kernel) const {
    launch_teams<Kernel::threads, Kernel::blocks>(label, n * cells_.n_packs, Kernel::threads, kernel);
  }
  void make_cells() {
    cells_.n_conf = options_.n_conf;
    cells_.n_vel = size_.n_vel;
    cells_.n_packs = size_.n_packs;
    cells_.n_modes = options_.n_modes;
    cells_.vdim = options_.vdim;
    cells_.groups = reinterpret_cast<const CollisionGroups*>(groups_.data());
    for (int i = 0; i < options_.vdim; ++i) {
      const std::size_t d = i;
      const int n = options_.cells[d], begin = options_.begin[d];
      cells_.nv[i] = n;
      cells_.at_end[i][0] = begin == 0;
      cells_.at_end[i][1] = begin + n == options_.grid_cells[d];
      std::vector<double> of;
      for (int cell = begin; cell < begin + n; ++cell) {
        const std::size_t c = cell;
        of.insert(of.end(),
                  {options_.edge[d][c], options_.edge[d][c + 1], options_.centre[d][c], options_.half[d][c]});
      }
      velocity_[d] = copy("collisions::velocity", of);
      volume_[d] = copy("collisions::volume", options_.volume[d]);
      cells_.velocity[i] = velocity_[d].data();
      cells_.volume[i] = volume_[d].data();
    }
  }
  void make_moments() {
    std::vector<double> weights;
    for (const auto& moment : options_.moments)
      for (const auto& weight : moment.weight) {
        weight_at_.push_back(weight.empty() ? -1 : static_cast<int>(weights.size()));
        weights.insert(weights.end(), weight.begin(), weight.end());
      }
    weights_ = copy("collisions::weights", weights);
    parts_ = device_array("collisions::moment_parts", size_.parts);
    moments_ = device_array("collisions::moments", size_.moments);
  }
  // Arrays for Maxwellians are made once; kernels take raw pointers, so their owners are kept beside them.
  void make_relaxation() {
    maxwellians_.vdim = options_.vdim;
    maxwellians_.n_nodes = options_.n_nodes;
    maxwellians_.n_degrees = options_.n_degrees;
    maxwellians_.n_points = options_.node.size();
    for (int i = 0; i < 3; ++i) {
      const std::size_t d = i;
      maxwellians_.cells[i] = i < options_.vdim ? options_.grid_cells[d] : 0;
      maxwellians_.begin[i] = options_.begin[d];
      if (i >= options_.vdim) continue;
      grid_[d] = {copy("collisions::centre", options_.centre[d]), copy("collisions::half", options_.half[d]),
                  copy("collisions::power", options_.power[d])};
      maxwellians_.centre[i] = grid_[d][0].data();
      maxwellians_.half[i] = grid_[d][1].data();
      maxwellians_.power[i] = grid_[d][2].data();
    }
    points_ = {copy("collisions::points", options_.node),
               copy("collisions::point_weights", options_.node_weight)};
    maxwellians_.point = points_[0].data();
    maxwellians_.point_weight = points_[1].data();
    const std::ptrdiff_t n = size_.most_relaxing;
    tables_ = device_array("collisions::tables", n * size_.tables);
    states_ = device_array("collisions::states", n * (options_.n_nodes + 1) * (options_.vdim + 1));
    table_moments_ =
        device_array("collisions::table_moments", n * (options_.n_nodes + 3) * options_.vdim * 6);
    factors_ = device_array("collisions::factors", n * 2 * (options_.n_nodes + options_.vdim + 2) * N);
    matrices_ = device_array("collisions::matrices", n * N * N);
    work_ = ByteArray("collisions::relaxing", n * sizeof(BgkCell::Work));
    auto of_nodes = options_.bgk.values;
    of_nodes.insert(of_nodes.end(), options_.bgk.weights.begin(), options_.bgk.weights.end());
    of_nodes_ = copy("collisions::of_nodes", of_nodes);
    maxwellians_.values = tables_.data();
    maxwellians_.states = states_.data();
  }

  DeviceCollisionOptions options_;
  CollisionSizes size_;
  DeviceVlasov& vlasov_;
  ByteArray groups_;
  DeviceArray triple_, greatest_, weights_, parts_, moments_, fields_, gain_, refused_;
  Passage fetched_refused_;
  /// Arrays of exchange(), which one species does for all.
  struct {
    DeviceArray numbers, profiles, refused;
    ByteArray profile_of;
    Passage sent_profiles, fetched_refused;
  } exchange_;
  std::array<DeviceArray, 3> velocity_, volume_, diffusion_;
  std::array<std::array<HaloArrays, 2>, 3> halos_;
  std::array<std::array<DeviceArray, 3>, 3> grid_;
  std::array<DeviceArray, 2> points_;
  DeviceArray tables_, states_, table_moments_, factors_, matrices_, of_nodes_;
  ByteArray work_;              ///< BgkCell::Work of the cells that relax
  bool has_gain_ = false;       ///< of the last exchange()
  std::vector<int> weight_at_;  ///< [n_moments, 3]
  CollisionCells cells_;
  Maxwellians maxwellians_{};
};

}  // namespace
}  // namespace device

std::unique_ptr<DeviceCollisions> DeviceCollisions::make(const DeviceCollisionOptions& options,
                                                         DeviceVlasov& vlasov) {
  switch (options.n_conf_modes) {
    case 2:
      return std::make_unique<device::CollisionsOf<2>>(options, vlasov);
    case 3:
      return std::make_unique<device::CollisionsOf<3>>(options, vlasov);
    case 4:
      return std::make_unique<device::CollisionsOf<4>>(options, vlasov);
    case 8:
      return std::make_unique<device::CollisionsOf<8>>(options, vlasov);
    case 9:
      return std::make_unique<device::CollisionsOf<9>>(options, vlasov);
    default:
      return nullptr;
  }
}

double DeviceCollisions::bytes(const DeviceCollisionOptions& options) {
  return device::CollisionSizes(options).bytes();
}

}  // namespace quintet::kinetics

quintet::kinetics::DeviceCollisions* quintet_make_device_collisions(
    const quintet::kinetics::DeviceCollisionOptions& options, quintet::kinetics::DeviceVlasov& vlasov) {
  return quintet::kinetics::DeviceCollisions::make(options, vlasov).release();
}

double quintet_device_collision_bytes(const quintet::kinetics::DeviceCollisionOptions& options) {
  return quintet::kinetics::DeviceCollisions::bytes(options);
}
