#include "physics/particles/domain/domain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "io/parallel/together.hpp"
#include "physics/particles/device/at_home.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "physics/particles/domain/domain_distribution.hpp"
#include "physics/particles/domain/domain_grid.hpp"
#include "physics/particles/domain/domain_migration.hpp"
#include "physics/particles/domain/ghosts.hpp"
#include "physics/particles/domain/neighbour_list.hpp"
#include "physics/particles/domain/parameter_rows.hpp"

namespace quintet {
namespace {

/// How a box has changed: x0 in the old one corresponds to origin_new + (x0 - origin_old) D.
struct Deformation {
  Vec3 from, to;
  Mat3 map{1, 0, 0, 0, 1, 0, 0, 0, 1};
  double stretch = 1;  ///< bound of ||D^-1||: how many times longer a vector can have been before
};

Deformation deformation_between(const Box& before, const Box& now) {
  Deformation d{before.origin(), now.origin()};
  if (before.rows() == now.rows()) return d;
  d.map = product(before.inverse(), now.rows());
  // With A = D^-1: ||A||_2^2 is the largest eigenvalue of A^T A, no larger than its largest sum of |elements|
  // of a row.
  const Mat3 back = product(now.inverse(), before.rows());
  double largest = 0;
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (int j = 0; j < 3; ++j)
      sum += std::abs(back[i] * back[j] + back[3 + i] * back[3 + j] + back[6 + i] * back[6 + j]);
    largest = std::max(largest, sum);
  }
  d.stretch = std::sqrt(largest);
  return d;
}

/// Largest |x - x0 D|^2 over the local atoms; infinity if a position is not finite.
double largest_displacement_squared(const Exec& exec, int n, const Vectors& x, const Vectors& x0,
                                    const Deformation& d) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "particles::largest_displacement", Kokkos::RangePolicy<Exec>(exec, 0, n),
      KOKKOS_LAMBDA(const int i, double& most) {
        double squared = 0;
        for (int l = 0; l < 3; ++l) {
          double expected = d.to[l];
          for (int k = 0; k < 3; ++k) expected += (x0(i, k) - d.from[k]) * d.map[3 * k + l];
          squared += (x(i, l) - expected) * (x(i, l) - expected);
        }
        // Not a number compares false, so that it comes out as infinitely far.
        if (!(squared <= most)) most = squared < INFINITY ? squared : INFINITY;
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// How many come from each rank, of how many go to each. Collective.
std::vector<std::size_t> counts_from(const Comm& comm, const std::vector<std::size_t>& to) {
  std::vector<std::vector<std::size_t>> told(to.size());
  for (std::size_t r = 0; r < to.size(); ++r)
    if (to[r] > 0) told[r] = {to[r]};
  std::vector<std::size_t> from;
  for (const auto& count : comm.all_to_all(told)) from.push_back(count.empty() ? 0 : count.front());
  return from;
}

/// The first local atom whose type, place or velocity no run could have come to; empty if there is none.
std::string first_unusable(const Atoms& atoms, std::vector<AtomRecord>& records) {
  pack_records(atoms, records);
  const int n_types = atoms.type_names.size();
  for (const AtomRecord& r : records)
    if (r.type < 0 || r.type >= n_types)
      return fmt::format("atom {} has type index {}; expected 0 to {}", r.id, r.type, n_types - 1);
  return wrap(atoms.box, records);
}

}  // namespace

struct Domain::Implementation {
  Comm comm;
  DomainOptions options;
  double range;
  std::array<int, 3> grid;
  std::shared_ptr<Ghosts> ghosts;
  NeighbourListBuilder builder;
  NeighbourList list;
  Vectors built_positions;  // the first rows of list.built
  Box built_box;
  std::vector<AtomRecord> records;
  std::shared_ptr<ResidentAtoms> resident;  // that has made ghosts, and knows where atoms were then
  std::int64_t rebuilds = 0, dangerous = 0, checks = 0;

  Implementation(Comm c, const DomainOptions& o, const Box& box)
      : comm(std::move(c)),
        options(o),
        range(o.cutoff + o.skin),
        grid(choose_rank_grid(comm.size(), o.ranks, range, box)),
        ghosts(std::make_shared<Ghosts>(comm, grid, range)) {}

  [[nodiscard]] double list_range() const {
    return options.list_cutoff ? *options.list_cutoff + options.skin : range;
  }
  /// Whether no pair within a cutoff can have been further apart than cutoff + skin.
  [[nodiscard]] bool still_lists(double displacement, double stretch) const {
    const auto lists = [&](double cutoff) {
      return (cutoff + 2 * displacement) * stretch <= cutoff + options.skin;
    };
    return lists(options.cutoff) && (!options.list_cutoff || lists(0));
  }

  /// Ghosts and list of the local atoms where they are.
  void build(const Exec& exec, Atoms& atoms) {
    ghosts->build(exec, atoms);
    atoms.ghost_rows = ghosts;
    if (options.rows) builder.build(exec, atoms, list_range(), list);
    const std::size_t n = atoms.n_local, n_all = atoms.n_all();
    if (list.built.extent(0) < n_all) {
      list.built = built_positions = {};
      list.built = make_view<Vectors>("particles::list_built", n_all + n_all / 16);
    }
    copy_rows(exec, atoms.position, list.built, atoms.n_all());
    list.range = list_range();
    list.skin = options.skin;
    list.version = new_list_version();
    built_positions = Kokkos::subview(list.built, std::make_pair(std::size_t{0}, n), Kokkos::ALL());
    built_box = atoms.box;
    checks = 0;
  }

  static void copy_rows(const Exec& exec, const Vectors& from, const Vectors& to, int n) {
    Kokkos::parallel_for(
        "particles::copy_rows", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(const int i) {
          for (int l = 0; l < 3; ++l) to(i, l) = from(i, l);
        });
    exec.fence();
  }

  /// To the device, if the atoms stay on one.
  void hand_over(const Exec& exec, Atoms& atoms) {
    if (!atoms.resident) return;
    exec.fence();
    const HostRows host{atoms.n_local,         atoms.n_all(),      atoms.position.data(),
                        atoms.velocity.data(), list.built.data(),  atoms.type.data(),
                        atoms.id.data(),       atoms.image.data(), atoms.masses};
    if (options.rows) {
      atoms.resident->take(host, ghosts->plan(atoms));
    } else if (comm.size() == 1) {
      take_images(atoms, atoms.resident->take_alone(host, cell_of(built_box)));
    } else {
      atoms.resident->take_local(host);
      make_ghosts_there(atoms);
    }
    // After a restart they are not where their list was made.
    ghosts->update_positions(exec, atoms);
  }

  [[nodiscard]] CellOfAtoms cell_of(const Box& box) const {
    return {box.rows(), box.inverse(), box.origin(), box.periodic(), range};
  }
  /// Ghosts of the only rank, all of them images.
  void take_images(Atoms& atoms, int n_ghost) {
    require_fit(std::int64_t{atoms.n_local} + n_ghost);
    atoms.n_ghost = n_ghost;
    ghosts->plan_images(atoms.n_local, n_ghost);
    know_there(atoms);
  }
  void make_ghosts_there(Atoms& atoms) {
    ghosts->build_there(atoms, built_box, cell_of(built_box));
    know_there(atoms);
  }
  /// The device has made ghosts, and knows where all were then (see built_positions_now()).
  void know_there(Atoms& atoms) {
    const std::size_t n_all = atoms.n_all();
    if (n_all > atoms.capacity()) atoms.reserve(n_all + n_all / 16);
    resident = atoms.resident;
    atoms.ghost_rows = nullptr;
    list.built = built_positions = {};
  }
  /// Wrap, migrate and sort the atoms on the device.
  void migrate_there(Atoms& atoms) {
    ResidentAtoms& there = *atoms.resident;
    const auto leaving = there.part(cell_of(atoms.box), brick_of(atoms.box, grid, comm.rank(), range / 2));
    const auto arriving = counts_from(comm, leaving);
    const auto total = [](const std::vector<std::size_t>& counts) {
      return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    };
    const std::size_t n_leaving = total(leaving), n_arriving = total(arriving);
    require_fit(atoms.n_local + static_cast<std::int64_t>(n_arriving));
    const auto parcel = there.pack_leaving(n_arriving);
    comm.all_to_all_into(std::span(static_cast<const AtomRecord*>(parcel.send), n_leaving),
                         std::span<const std::size_t>(leaving),
                         std::span(static_cast<AtomRecord*>(parcel.receive), n_arriving),
                         std::span<const std::size_t>(arriving));
    atoms.n_local = there.settle(n_arriving);
    check_count(atoms);
  }
  void rebuild_there(Atoms& atoms) {
    ghosts->check_reach(atoms.box);
    built_box = atoms.box;
    if (comm.size() == 1) {
      take_images(atoms, atoms.resident->rebuild(cell_of(atoms.box)));
    } else {
      migrate_there(atoms);
      make_ghosts_there(atoms);
    }
    list.range = list_range();
    list.skin = options.skin;
    list.version = new_list_version();
    checks = 0;
  }
  const Vectors& built_positions_now() {
    if (resident == nullptr || list.built.extent(0) > 0) return built_positions;
    const ResidentRows rows = resident->rows();
    list.built = make_view<Vectors>("particles::list_built", rows.n_all);
    resident->fetch_built(list.built.data());
    built_positions =
        Kokkos::subview(list.built, std::make_pair(std::size_t{0}, std::size_t(rows.n_local)), Kokkos::ALL());
    return built_positions;
  }

  void check_count(const Atoms& atoms) const {
    const auto n = comm.sum(static_cast<std::int64_t>(atoms.n_local));
    if (n != atoms.n_global)
      throw NumericalError(
          fmt::format("atoms were lost: {} of {} are left; the bricks hold them all, so the arrays of "
                      "atoms were changed from outside",
                      n, atoms.n_global));
  }
};

Domain::Domain(const Comm& comm, const DomainOptions& options, const Box& box) {
  QUINTET_CHECK(std::isfinite(options.cutoff) && options.cutoff > 0,
                "the cutoff of the force field is {} A; expected a positive length", options.cutoff);
  QUINTET_CHECK(std::isfinite(options.skin) && options.skin >= 0, "the skin is {} A; expected 0 or more",
                options.skin);
  QUINTET_ASSERT(
      !options.list_cutoff || (*options.list_cutoff >= 0 && *options.list_cutoff <= options.cutoff),
      "rows of the list cannot reach further than ghosts");
  for (int k = 0; k < 3; ++k)
    QUINTET_CHECK(
        !box.periodic()[k] || options.cutoff + options.skin <= most_images * box.width(k),
        "the cell is too small: it is {:.4g} A wide along direction {}, less than 1/{} of the communication "
        "range (cutoff + skin = {:.4g} A); check its unit (angstrom) or replicate it",
        box.width(k), k, most_images, options.cutoff + options.skin);
  implementation_ = std::make_unique<Implementation>(comm, options, box);
}

Domain::~Domain() = default;

Atoms Domain::distribute(const Configuration& configuration, const Copies& copies) const {
  return distribute_copies(implementation_->comm, implementation_->grid, implementation_->range,
                           configuration, copies);
}

Configuration Domain::gather(const Atoms& atoms, bool unwrapped) const {
  return gather(atoms, unwrapped, std::numeric_limits<std::int64_t>::min(),
                std::numeric_limits<std::int64_t>::max());
}

Configuration Domain::gather(const Atoms& atoms, bool unwrapped, std::int64_t first_id,
                             std::int64_t last_id) const {
  const auto& d = *implementation_;
  bring_home(atoms);
  std::vector<AtomRecord> mine;
  for (int i = 0; i < atoms.n_local; ++i)
    if (atoms.id(i) >= first_id && atoms.id(i) <= last_id) mine.push_back(record_at(atoms, i));
  auto all = d.comm.gather(std::span<const AtomRecord>(mine));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  Configuration c;
  c.box = atoms.box;
  c.type_names = atoms.type_names;
  c.masses = atoms.masses;
  for (const AtomRecord& r : all) {
    Vec3 x{r.position[0], r.position[1], r.position[2]};
    for (int k = 0; unwrapped && k < 3; ++k)
      for (int l = 0; l < 3; ++l) x[l] += r.image[k] * atoms.box.rows()[3 * k + l];
    c.positions.push_back(x);
    c.velocities.push_back({r.velocity[0], r.velocity[1], r.velocity[2]});
    c.forces.push_back({r.force[0], r.force[1], r.force[2]});
    c.types.push_back(r.type);
    c.ids.push_back(r.id);
  }
  if (atoms.n_parameters() == 0) return c;
  const auto rows = d.comm.gather(std::span<const double>(parameter_rows(atoms, first_id, last_id)));
  c.parameters = numbers_by_id(rows, atoms.n_parameters());
  return c;
}

void Domain::rebuild(const Exec& exec, Atoms& atoms) {
  auto& d = *implementation_;
  exec.fence();
  bring_home(atoms);
  pack_records(atoms, d.records);
  throw_together<NumericalError>(d.comm, wrap(atoms.box, d.records));
  const auto parameters = sent_parameters(
      d.comm, atoms, [&](int i) { return owner_of(atoms.box, d.grid, d.records[i].position); });
  migrate(d.comm, atoms.box, d.grid, d.records);
  sort_by_cell(atoms.box, d.range / 2, d.records);
  unpack_records(d.records, atoms);
  set_parameters(parameters, atoms);
  d.records = {};  // room for the list
  d.check_count(atoms);
  d.build(exec, atoms);
  d.hand_over(exec, atoms);
  ++d.rebuilds;
}

bool Domain::refresh(const Exec& exec, Atoms& atoms) {
  auto& d = *implementation_;
  const Deformation deformation = deformation_between(d.built_box, atoms.box);
  const double squared =
      d.comm.maximum(atoms.resident ? atoms.resident->largest_displacement_squared(
                                          deformation.from, deformation.to, deformation.map)
                                    : largest_displacement_squared(exec, atoms.n_local, atoms.position,
                                                                   d.built_positions, deformation));
  ++d.checks;
  if (d.still_lists(std::sqrt(squared), deformation.stretch)) {
    d.ghosts->update_positions(exec, atoms);
    return false;
  }
  if (d.checks == 1 && d.options.skin > 0) ++d.dangerous;
  // An atom that is far away, or nowhere, is for the host to name.
  constexpr double far = 1e3;
  if (atoms.resident && !d.options.rows && squared < far * far) {
    d.rebuild_there(atoms);
    ++d.rebuilds;
  } else {
    rebuild(exec, atoms);
  }
  return true;
}

void Domain::return_forces(const Exec& exec, Atoms& atoms) const {
  if (atoms.resident) return implementation_->ghosts->return_resident_forces(*atoms.resident);
  return_rows(exec, atoms, atoms.force.data(), 3);
}

void Domain::return_rows(const Exec& exec, const Atoms& atoms, double* rows, int width) const {
  implementation_->ghosts->return_rows(exec, atoms, rows, width);
}

void Domain::restore(const Exec& exec, Atoms& atoms, const Vectors& built_positions, const Box& built_box) {
  auto& d = *implementation_;
  d.check_count(atoms);
  const int n = atoms.n_local;
  const auto now = make_view<Vectors>("particles::current_positions", n);
  const Box box_now = atoms.box;
  std::string unusable = first_unusable(atoms, d.records);
  Implementation::copy_rows(exec, atoms.position, now, n);
  Implementation::copy_rows(exec, built_positions, atoms.position, n);
  atoms.box = built_box;
  if (unusable.empty()) unusable = first_unusable(atoms, d.records);
  throw_together(d.comm, unusable);
  d.build(exec, atoms);
  Implementation::copy_rows(exec, now, atoms.position, n);
  atoms.box = box_now;
  d.ghosts->update_positions(exec, atoms);
}

void Domain::stay_on(const Exec& exec, Atoms& atoms, std::shared_ptr<ResidentAtoms> resident) {
  atoms.resident = std::move(resident);
  implementation_->hand_over(exec, atoms);
}

const NeighbourList& Domain::list() const { return implementation_->list; }
const std::array<int, 3>& Domain::rank_grid() const { return implementation_->grid; }
const Comm& Domain::comm() const { return implementation_->comm; }
std::int64_t Domain::rebuilds() const { return implementation_->rebuilds; }
std::int64_t Domain::dangerous_rebuilds() const { return implementation_->dangerous; }
const Vectors& Domain::built_positions() const { return implementation_->built_positions_now(); }
const Box& Domain::built_box() const { return implementation_->built_box; }

}  // namespace quintet
