#include "physics/particles/observables/rdf.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/observables/point_cells.hpp"

namespace quintet {

namespace {

constexpr int all_types = -1;

/// Counts [n_types, n_types, n_bins] of ordered pairs, by the types of both and the distance.
struct PairCounter {
  std::int64_t n_types, n_bins;
  double bin_width;
  std::int64_t* counts;

  void add(int first, int second, double square) const {
    const auto bin = std::min(static_cast<std::int64_t>(std::sqrt(square) / bin_width), n_bins - 1);
    Kokkos::atomic_add(&counts[(first * n_types + second) * n_bins + bin], std::int64_t{1});
  }
};

/// Count every pair (visitor, point or image of one) of the cells.
void count_pairs(const Exec& exec, const PointCells& cells, std::span<const TypedPoint> visitors,
                 const PairCounter& counter) {
  const TypedPoint* const visitor = visitors.data();
  const PointCells* const near = &cells;
  Kokkos::parallel_for("particles::count_pairs", Kokkos::RangePolicy<Exec>(exec, 0, visitors.size()),
                       [=](std::size_t i) {
                         const auto add = [&](const TypedPoint& point, const double*, double square) {
                           counter.add(visitor[i].type, point.type, square);
                         };
                         near->visit_near(visitor[i].x, add);
                       });
  exec.fence();
}

/// Count every pair (local atom, neighbour) of the list that is nearer than `reach`.
void count_listed_pairs(const Exec& exec, const Atoms& atoms, const NeighbourList& list, double reach,
                        const PairCounter& counter) {
  Kokkos::parallel_for("particles::count_listed_pairs", Kokkos::RangePolicy<Exec>(exec, 0, atoms.n_local),
                       [=](int i) {
                         const auto add = [&](int j, const double*, double square) {
                           counter.add(atoms.type(i), atoms.type(j), square);
                         };
                         visit_listed(atoms, list, i, reach, add);
                       });
  exec.fence();
}

/// Count every pair nearer than `reach`, images included: the atoms of each rank meet those of all others.
void count_all_pairs(const Exec& exec, const Comm& comm, const Atoms& atoms, double reach,
                     const PairCounter& counter) {
  std::vector<TypedPoint> visitors = local_points(exec, atoms);
  const PointCells cells(atoms.box, visitors, reach);
  for (int turn = 0; turn < comm.size(); ++turn) {
    if (turn > 0) visitors = pass_round(comm, visitors);
    count_pairs(exec, cells, visitors, counter);
  }
}

}  // namespace

std::size_t RadialDistribution::n_bins() const {
  return std::ceil(options_.r_max / options_.bin_width - 1e-9);
}

void RadialDistribution::begin(const Comm& comm, const Atoms& atoms) {
  QUINTET_CHECK(atoms.box.fully_periodic(),
                "rdf needs a cell that is periodic in all directions; remove the section rdf");
  type_names_ = atoms.type_names;
  n_of_type_.assign(type_names_.size(), 0);
  for (int i = 0; i < atoms.n_local; ++i) ++n_of_type_[atoms.type(i)];
  comm.reduce(std::span<std::int64_t>(n_of_type_), Comm::Reduction::sum);
  count_.assign(type_names_.size() * type_names_.size() * n_bins(), 0);
}

void RadialDistribution::sample(const Exec& exec, const Atoms& atoms, const Domain& domain) {
  const Comm& comm = domain.comm();
  if (n_samples_ == 0) begin(comm, atoms);
  std::vector<std::int64_t> counts(count_.size(), 0);
  const PairCounter counter{std::ssize(type_names_), static_cast<std::int64_t>(n_bins()), options_.bin_width,
                            counts.data()};
  if (lists_pairs(atoms, domain.list(), options_.r_max))
    count_listed_pairs(exec, atoms, domain.list(), options_.r_max, counter);
  else
    count_all_pairs(exec, comm, atoms, options_.r_max, counter);
  comm.reduce(std::span<std::int64_t>(counts), Comm::Reduction::sum);
  for (std::size_t i = 0; i < counts.size(); ++i) count_[i] += counts[i];
  inverse_volume_ += 1 / atoms.box.volume();
  ++n_samples_;
}

double RadialDistribution::ordered_pairs(int a, int b) const {
  const std::int64_t n = std::accumulate(n_of_type_.begin(), n_of_type_.end(), std::int64_t{0});
  if (a == all_types) return static_cast<double>(n) * (n - 1);
  return static_cast<double>(n_of_type_[a]) * (n_of_type_[b] - (a == b ? 1 : 0));
}

double RadialDistribution::count(int a, int b, std::size_t bin) const {
  const std::size_t n_types = type_names_.size();
  if (a != all_types) return count_[(a * n_types + b) * n_bins() + bin];
  std::int64_t sum = 0;
  for (std::size_t pair = 0; pair < n_types * n_types; ++pair) sum += count_[pair * n_bins() + bin];
  return sum;
}

Column RadialDistribution::distribution(int a, int b) const {
  const std::string pair = a == all_types ? "all" : type_names_[a] + "_" + type_names_[b];
  Column column{pair, "1", "g(r) of " + pair, std::vector<double>(n_bins(), 0.0)};
  const double pairs = ordered_pairs(a, b) * inverse_volume_;
  for (std::size_t bin = 0; bin < n_bins() && pairs > 0; ++bin) {
    const double inner = bin * options_.bin_width;
    const double outer = std::min(inner + options_.bin_width, options_.r_max);
    const double shell = 4.0 / 3.0 * std::numbers::pi * (outer * outer * outer - inner * inner * inner);
    column.values[bin] = count(a, b, bin) / (pairs * shell);
  }
  return column;
}

Column RadialDistribution::coordination(int a, int b) const {
  const std::string pair = "coordination_" + type_names_[a] + "_" + type_names_[b];
  Column column{pair, "1",
                "Neighbours " + type_names_[b] + " of " + type_names_[a] + " up to the bin's outer radius",
                std::vector<double>(n_bins(), 0.0)};
  double sum = 0;
  for (std::size_t bin = 0; bin < n_bins() && n_of_type_[a] > 0; ++bin) {
    sum += count(a, b, bin) / (static_cast<double>(n_of_type_[a]) * n_samples_);
    column.values[bin] = sum;
  }
  return column;
}

std::vector<Table> RadialDistribution::tables() const {
  if (n_samples_ == 0) return {};
  std::vector<double> r(n_bins());
  for (std::size_t bin = 0; bin < r.size(); ++bin) r[bin] = (bin + 0.5) * options_.bin_width;
  Table table{"rdf",
              "Radial distribution functions and coordination numbers",
              {{"r", "angstrom", "Middle of the bin", r}, distribution(all_types, all_types)}};
  const int n_types = type_names_.size();
  for (int a = 0; a < n_types; ++a)
    for (int b = a; b < n_types; ++b) table.columns.push_back(distribution(a, b));
  for (int a = 0; a < n_types; ++a)
    for (int b = 0; b < n_types; ++b) table.columns.push_back(coordination(a, b));
  return {table};
}

void RadialDistribution::save(hdf5::Group& group) const {
  group.set_attribute("samples", n_samples_);
  if (n_samples_ == 0) return;
  const std::uint64_t types = type_names_.size(), bins = n_bins();
  group.write_text("type_names", join_lines(type_names_));
  group.set_attribute("r_max_bin_width", std::vector<double>{options_.r_max, options_.bin_width});
  group.set_attribute("inverse_volume_sum", inverse_volume_);
  group.write("atoms_of_type", std::span<const std::int64_t>(n_of_type_), {types},
              {"1", {"type"}, "Atoms of each type"});
  group.write("counts", std::span<const std::int64_t>(count_), {types, types, bins},
              {"1", {"type", "neighbour_type", "bin"}, "Ordered pairs"});
}

void RadialDistribution::restore(const Comm&, const hdf5::Group& group) {
  n_samples_ = group.number_attribute("samples").at(0);
  if (n_samples_ == 0) return;
  QUINTET_CHECK(
      group.number_attribute("r_max_bin_width") == std::vector<double>({options_.r_max, options_.bin_width}),
      "rdf.r_max or rdf.bin_width differ from the checkpoint's; restart with the options of the first run");
  type_names_ = split_lines(group.read_text("type_names"));
  inverse_volume_ = group.number_attribute("inverse_volume_sum").at(0);
  n_of_type_ = group.read<std::int64_t>("atoms_of_type", {type_names_.size()});
  count_ = group.read<std::int64_t>("counts", {type_names_.size(), type_names_.size(), n_bins()});
}

}  // namespace quintet
