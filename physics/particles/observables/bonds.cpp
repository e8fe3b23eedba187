#include "physics/particles/observables/bonds.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "io/config/table.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/observables/bond_search.hpp"

namespace quintet {

namespace {

/// Add bonds to lengths [n_types, n_types, n_lengths] and pairs of them to angles [n_types, n_types, n_types,
/// n_angles] by the type of the atom and of the ends, the lesser one first.
struct BondCounter {
  std::int64_t n_types, n_lengths, n_angles;
  double bin_width;
  std::int64_t *lengths, *angles;

  void add(int type, const std::vector<Bond>& bonds) const {
    for (std::size_t p = 0; p < bonds.size(); ++p) {
      add_length(type, bonds[p]);
      for (std::size_t q = 0; q < p; ++q) add_angle(type, bonds[p], bonds[q]);
    }
  }
  void add_length(int type, const Bond& bond) const {
    const auto bin = std::min<std::int64_t>(bond.length / bin_width, n_lengths - 1);
    Kokkos::atomic_add(&lengths[(type * n_types + bond.type) * n_lengths + bin], std::int64_t{1});
  }
  void add_angle(int type, const Bond& p, const Bond& q) const {
    const std::int64_t first = std::min(p.type, q.type), last = std::max(p.type, q.type);
    const std::int64_t bin = std::lround(angle_between(p, q) / std::numbers::pi * (n_angles - 1));
    Kokkos::atomic_add(&angles[((type * n_types + first) * n_types + last) * n_angles + bin],
                       std::int64_t{1});
  }
};

/// Place in `to` of each name of `from`; past its end where it has none.
std::vector<int> places(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  std::vector<int> place;
  for (const auto& name : from)
    place.push_back(static_cast<int>(std::find(to.begin(), to.end(), name) - to.begin()));
  return place;
}

/// A density over bins of equal width from counts; with half_ends the outer bins are half as wide.
std::vector<double> density(std::span<const std::int64_t> counts, double width, bool half_ends) {
  const double total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<double> values(counts.size());
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const bool outer = bin == 0 || bin + 1 == counts.size();
    values[bin] = counts[bin] / (total * (half_ends && outer ? width / 2 : width));
  }
  return values;
}

/// Names as `pairs` joins them.
std::string joined(const std::string& a, const std::string& b) { return a + "_" + b; }

/// Throws InputError for a key of `pairs` that no two types make, or that another one makes, too.
void require_pairs(const BondOptions& options, const std::vector<std::string>& types) {
  std::vector<std::string> seen;
  for (const auto& [pair, cutoff] : options.pairs) {
    std::string usual;
    for (std::size_t a = 0; a < types.size(); ++a)
      for (std::size_t b = a; b < types.size(); ++b)
        if (pair == joined(types[a], types[b]) || pair == joined(types[b], types[a]))
          usual = joined(types[a], types[b]);
    QUINTET_CHECK(!usual.empty(), "observables.bonds.pairs: {} is no pair of {}; write two types as {}", pair,
                  name_list(types), joined(types.front(), types.back()));
    QUINTET_CHECK(std::find(seen.begin(), seen.end(), usual) == seen.end(),
                  "observables.bonds.pairs gives {} twice; leave one out", usual);
    seen.push_back(usual);
  }
}

}  // namespace

std::size_t BondGeometry::n_lengths() const {
  return std::max(1.0, std::ceil(longest_ / options_.bin_width - 1e-9));
}

double BondGeometry::cutoff_of(const std::string& a, const std::string& b) const {
  for (const auto& [pair, cutoff] : options_.pairs)
    if (pair == joined(a, b) || pair == joined(b, a)) return cutoff;
  return options_.cutoff;
}

std::vector<double> BondGeometry::widths() const {
  return {options_.bin_width, static_cast<double>(options_.angle_bins)};
}

void BondGeometry::set_cutoffs() {
  cutoffs_.clear();
  for (const auto& a : type_names_)
    for (const auto& b : type_names_) cutoffs_.push_back(cutoff_of(a, b));
  longest_ = cutoffs_.empty() ? 0 : *std::max_element(cutoffs_.begin(), cutoffs_.end());
}

void BondGeometry::begin(const Comm& comm, const Atoms& atoms) {
  require_pairs(options_, atoms.type_names);
  std::vector<std::int64_t> n_of_type(atoms.type_names.size(), 0);
  for (int i = 0; i < atoms.n_local; ++i) ++n_of_type[atoms.type(i)];
  comm.reduce(std::span<std::int64_t>(n_of_type), Comm::Reduction::sum);
  type_names_.clear();
  for (std::size_t t = 0; t < n_of_type.size(); ++t)
    if (n_of_type[t] > 0) type_names_.push_back(atoms.type_names[t]);
  set_cutoffs();
  length_count_.assign(n_types() * n_types() * n_lengths(), 0);
  angle_count_.assign(n_types() * n_types() * n_types() * n_angles(), 0);
}

void BondGeometry::sample(const Exec& exec, const Atoms& atoms, const Domain& domain) {
  const Comm& comm = domain.comm();
  if (n_samples_ == 0) begin(comm, atoms);
  std::vector<TypedPoint> points = local_points(exec, atoms);
  const auto number = places(atoms.type_names, type_names_);
  for (TypedPoint& point : points) point.type = number[point.type];
  ++n_samples_;
  if (longest_ == 0) return;
  const int types = static_cast<int>(n_types());
  const auto bonds = lists_pairs(atoms, domain.list(), longest_)
                         ? listed_bonds(exec, atoms, domain.list(), number, cutoffs_, types)
                         : find_bonds(exec, comm, atoms.box, points, cutoffs_, types);
  std::vector<std::int64_t> lengths(length_count_.size(), 0), angles(angle_count_.size(), 0);
  const auto n = [](std::size_t size) { return static_cast<std::int64_t>(size); };
  const BondCounter counter{n(n_types()),       n(n_lengths()), n(n_angles()),
                            options_.bin_width, lengths.data(), angles.data()};
  const TypedPoint* const point = points.data();
  const std::vector<Bond>* const of_point = bonds.data();
  Kokkos::parallel_for("particles::count_bonds", Kokkos::RangePolicy<Exec>(exec, 0, points.size()),
                       [=](std::size_t i) { counter.add(point[i].type, of_point[i]); });
  exec.fence();
  comm.reduce(std::span<std::int64_t>(lengths), Comm::Reduction::sum);
  comm.reduce(std::span<std::int64_t>(angles), Comm::Reduction::sum);
  for (std::size_t i = 0; i < lengths.size(); ++i) length_count_[i] += lengths[i];
  for (std::size_t i = 0; i < angles.size(); ++i) angle_count_[i] += angles[i];
}

Table BondGeometry::lengths() const {
  const std::size_t n = n_lengths();
  std::vector<double> r(n);
  for (std::size_t bin = 0; bin < n; ++bin) r[bin] = (bin + 0.5) * options_.bin_width;
  Table table{"bond_lengths", "Bond lengths", {{"r", "angstrom", "Middle of the bin", r}}};
  for (std::size_t a = 0; a < n_types(); ++a)
    for (std::size_t b = a; b < n_types(); ++b) {
      const auto counts = std::span(length_count_).subspan((a * n_types() + b) * n, n);
      if (std::all_of(counts.begin(), counts.end(), [](auto c) { return c == 0; })) continue;
      const std::string pair = joined(type_names_[a], type_names_[b]);
      table.columns.push_back({pair, "1/angstrom", "Density of the length of bonds " + pair,
                               density(counts, options_.bin_width, false)});
    }
  return table;
}

Table BondGeometry::angles() const {
  const std::size_t n = n_angles(), types = n_types();
  const double width = 180.0 / options_.angle_bins;
  std::vector<double> angle(n);
  for (std::size_t bin = 0; bin < n; ++bin) angle[bin] = bin * width;
  Table table{"bond_angles", "Bond angles", {{"angle", "degree", "Middle of the bin", angle}}};
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b)
      for (std::size_t c = b; c < types; ++c) {
        const auto counts = std::span(angle_count_).subspan(((a * types + b) * types + c) * n, n);
        if (std::all_of(counts.begin(), counts.end(), [](auto k) { return k == 0; })) continue;
        const std::string triple = joined(joined(type_names_[b], type_names_[a]), type_names_[c]);
        table.columns.push_back({triple, "1/degree", "Density of the angle at the middle atom of " + triple,
                                 density(counts, width, true)});
      }
  return table;
}

std::vector<Table> BondGeometry::tables() const {
  if (n_samples_ == 0) return {};
  return {lengths(), angles()};
}

void BondGeometry::save(hdf5::Group& group) const {
  group.set_attribute("samples", n_samples_);
  if (n_samples_ == 0) return;
  const std::uint64_t n = n_types();
  group.write_text("type_names", join_lines(type_names_));
  group.set_attribute("bin_width_angle_bins", widths());
  group.write("cutoffs", std::span<const double>(cutoffs_), {n, n},
              {"angstrom", {"type", "neighbour_type"}, "Lengths below which atoms are bonded"});
  group.write("lengths", std::span<const std::int64_t>(length_count_), {n, n, n_lengths()},
              {"1", {"type", "neighbour_type", "bin"}, "Bonds, each from both of its ends"});
  group.write("angles", std::span<const std::int64_t>(angle_count_), {n, n, n, n_angles()},
              {"1", {"centre_type", "end_type", "other_end_type", "bin"}, "Pairs of bonds"});
}

void BondGeometry::restore(const Comm&, const hdf5::Group& group) {
  n_samples_ = group.number_attribute("samples").at(0);
  if (n_samples_ == 0) return;
  type_names_ = split_lines(group.read_text("type_names"));
  set_cutoffs();
  const std::uint64_t n = n_types();
  QUINTET_CHECK(
      group.read<double>("cutoffs", {n, n}) == cutoffs_ &&
          group.number_attribute("bin_width_angle_bins") == widths(),
      "cutoff, pairs, bin_width or angle_bins of observables.bonds differ from the checkpoint's; restart "
      "with the options of the first run");
  length_count_ = group.read<std::int64_t>("lengths", {n, n, n_lengths()});
  angle_count_ = group.read<std::int64_t>("angles", {n, n, n, n_angles()});
}

}  // namespace quintet
