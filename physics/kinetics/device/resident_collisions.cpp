#include "physics/kinetics/device/resident_collisions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/collisions/bgk_target.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/collisions/lenard_bernstein_kernel.hpp"
#include "physics/kinetics/initial/maxwellian_tables.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"
#include "physics/kinetics/space/velocity_halo.hpp"
#include "physics/kinetics/space/velocity_weights.hpp"

namespace quintet::kinetics {

namespace {

// The tables of the basis in small integers, which every thread of a kernel reads.
CollisionGroups make_groups(const PhaseBasis& basis) {
  CollisionGroups t;
  t.n_groups = basis.n_groups();
  const int n = basis.conf().size();
  for (int g = 0; g < t.n_groups; ++g) {
    t.offset[g] = static_cast<short>(basis.offset(g));
    t.n_conf[g] = static_cast<signed char>(basis.n_conf(g));
    for (int d = 0; d < basis.vdim(); ++d) {
      MultiIndex degrees = basis.group(g);
      t.degree[d][g] = static_cast<signed char>(degrees[d]);
      for (int k = 0; k < t.n; ++k) {
        degrees[d] = k;
        const int group = basis.find_group(degrees);
        if (group < 0) break;
        t.line[d][g][t.n_line[d][g]++] = static_cast<short>(basis.offset(group));
        if (basis.n_conf(group) == n) ++t.n_full[d][g];
      }
    }
  }
  for (int d = 0; d < 3; ++d)
    for (int k = 0; k < t.n; ++k) {
      MultiIndex degrees{};
      degrees[d] = k;
      const int group = d < basis.vdim() ? basis.find_group(degrees) : -1;
      t.axis[d][k] = static_cast<short>(group < 0 ? -1 : basis.offset(group));
      t.axis_n_conf[d][k] = static_cast<signed char>(group < 0 ? 0 : basis.n_conf(group));
    }
  for (int k = 0; k < t.n; ++k) {
    t.end[k] = lenard_bernstein::line_tables.end[k];
    for (int l = 0; l < t.n; ++l) {
      t.derivative[k][l] = lenard_bernstein::line_tables.derivative[k][l];
      t.weighted[k][l] = lenard_bernstein::line_tables.weighted[k][l];
    }
  }
  return t;
}

/// Basis and cells.
DeviceCollisionOptions make_options(const PhaseBasis& basis, const PhaseBlock& block) {
  DeviceCollisionOptions options;
  const PhaseGrid& grid = block.grid;
  const int n = basis.conf().size();
  options.n_conf = block.n_conf();
  options.vdim = basis.vdim();
  options.n_modes = basis.size();
  options.n_conf_modes = n;
  options.n_degrees = velocity_degree(basis) + 1;
  options.groups = make_groups(basis);
  const ConfProducts products(basis.conf());
  options.triple = products.dense();
  for (int m = 0; m < n; ++m) {
    std::vector<double> one(n, 0.0);
    one[m] = 1;
    options.greatest.push_back(products.bounds(one.data()).upper);
  }
  for (int d = 0; d < basis.vdim(); ++d) {
    const int axis = grid.cdim + d;
    options.cells[d] = block.extent[axis];
    options.begin[d] = block.begin[axis];
    options.grid_cells[d] = grid.cells[axis];
    for (int i = 0; i <= grid.cells[axis]; ++i) options.edge[d].push_back(grid.edge(axis, i));
    for (int i = 0; i < grid.cells[axis]; ++i) {
      options.centre[d].push_back(grid.centre(axis, i));
      options.half[d].push_back(0.5 * grid.width(axis, i));
    }
    const auto volume = velocity_weights(Functional::v0, block, d, 1);
    options.volume[d].assign(volume.begin(), volume.begin() + block.extent[axis]);
  }
  return options;
}

/// Each term is a functional in one direction, int dv in the others.
void set_moments(const PhaseBasis& basis, const PhaseBlock& block,
                 const std::vector<FunctionalSum>& components, DeviceCollisionOptions& options) {
  for (const auto& component : components) {
    auto& moment = options.moments.emplace_back();
    for (const auto& term : component) {
      int along = 0;
      for (int d = 0; d < basis.vdim(); ++d) {
        if (term[d] == Functional::v0) continue;
        if (term[along] != Functional::v0 && along != d)
          throw InternalError("a device sums moments of one direction at a time");
        along = d;
      }
      const int n = options.cells[along];
      const auto of = velocity_weights(term[along], block, along, options.n_degrees);
      const std::size_t stride = of.size() / options.n_degrees;
      auto& weight = moment.weight[along];
      weight.resize((max_degree + 1) * n);
      for (int k = 0; k < options.n_degrees; ++k)
        for (int i = 0; i < n; ++i) weight[k * n + i] += of[k * stride + i] / options.volume[along][i];
    }
  }
}

void set_drag_diffusion(const PhaseBasis& basis, const PhaseBlock& block, DeviceCollisionOptions& options) {
  const auto& t = lenard_bernstein::line_tables;
  constexpr int n = max_degree + 1;
  for (int d = 0; d < basis.vdim(); ++d) {
    const int axis = block.grid.cdim + d, n_cells = options.cells[d];
    auto& weights = options.diffusion[d];
    weights.assign(n * n * n * 3 * n_cells, 0.0);
    for (int i = 0; i < n_cells; ++i)
      for (int n_in = 1; n_in <= options.n_degrees; ++n_in) {
        const int cell = block.begin[axis] + i;
        const double half = 0.5 * block.grid.width(axis, cell);
        const auto lower = lenard_bernstein::face_recovery(block.grid, axis, cell, 0, n_in),
                   upper = lenard_bernstein::face_recovery(block.grid, axis, cell, 1, n_in);
        for (int k = 0; k < options.n_degrees; ++k)
          for (int l = 0; l < n_in; ++l) {
            // phi_k(-1) = sign phi_k(1), phi_k'(-1) = -sign phi_k'(1)
            const double sign = k % 2 == 0 ? 1 : -1;
            const double below = -sign * (t.end[k] * lower.slope[0][l] + t.slope[k] * lower.value[0][l]);
            const double own = t.end[k] * (upper.slope[0][l] - sign * lower.slope[1][l]) -
                               t.slope[k] * (upper.value[0][l] + sign * lower.value[1][l]) + t.second[k][l];
            const double above = t.end[k] * upper.slope[1][l] - t.slope[k] * upper.value[1][l];
            double* const to = weights.data() + ((((n_in - 1) * n + k) * n + l) * 3 * n_cells + i);
            to[0] = below / (half * half);
            to[n_cells] = own / (half * half);
            to[2 * n_cells] = above / (half * half);
          }
      }
    const double least = block.grid.least_width(axis);
    options.drag_rate[d] = LenardBernstein::drag_rate(options.n_degrees, basis.order());
    options.diffusion_rate[d] =
        LenardBernstein::diffusion_rate(options.n_degrees, basis.order(), block.grid.is_uniform(axis)) /
        (least * least);
  }
}

void set_relaxation(const PhaseBasis& basis, const PhaseBlock& block, DeviceCollisionOptions& options) {
  options.bgk = BgkTarget(basis).tables();
  options.n_nodes = options.bgk.n_nodes;
  PhaseBlock whole = block;
  for (int axis = block.grid.cdim; axis < block.grid.dim(); ++axis) {
    whole.begin[axis] = 0;
    whole.extent[axis] = block.grid.cells[axis];
  }
  for (int d = 0; d < basis.vdim(); ++d)
    for (const auto power : {Functional::v0, Functional::v1, Functional::v2}) {
      const auto weights = velocity_weights(power, whole, d, options.n_degrees);
      const auto stride = std::ssize(weights) / options.n_degrees;
      for (int k = 0; k < options.n_degrees; ++k) {
        const auto begin = weights.begin() + k * stride;
        options.power[d].insert(options.power[d].end(), begin, begin + options.grid_cells[d]);
      }
    }
  const auto& rule = gauss_rule(options.n_degrees);
  for (std::size_t q = 0; q < rule.node.size(); ++q) {
    options.node.push_back(rule.node[q]);
    for (int k = 0; k < options.n_degrees; ++k)
      options.node_weight.push_back(rule.weight[q] * legendre(k, rule.node[q]));
  }
}

/// One species' collisions: the engine is made when all is known that it is to do.
struct ResidentSpecies {
  ResidentOperator& vlasov;
  PhaseBlock block;
  DeviceCollisionOptions options;
  std::unique_ptr<DeviceCollisions> device = nullptr;
};
using SharedSpecies = std::shared_ptr<ResidentSpecies>;

class ResidentMoments final : public MomentSums {
 public:
  explicit ResidentMoments(SharedSpecies species) : of_(std::move(species)) {}
  void run(const Exec& exec, const Distribution& f, const ConfField& out, int first) const override {
    if (first != 0 || out.extent(1) != of_->options.moments.size())
      throw InternalError("a device fills all components of a field of moments");
    exec.fence();
    of_->device->moments(of_->vlasov.buffer(f), out.data());
  }
  void sum(const Exec& exec, const Distribution& f, const ConfField&) const override {
    exec.fence();
    of_->device->sum_moments(of_->vlasov.buffer(f));
  }
  void fetch(const ConfField& out) const override { of_->device->get_moments(out.data()); }
  void replace(const ConfField& sums) const override { of_->device->set_moments(sums.data()); }

 private:
  SharedSpecies of_;
};

class ResidentDragDiffusion final : public DragDiffusionSweep {
 public:
  ResidentDragDiffusion(SharedSpecies species, const Decomposition& decomposition)
      : of_(std::move(species)),
        exchange_(decomposition, of_->block.grid,
                  {of_->device->edge_size(0), of_->device->edge_size(1), of_->device->edge_size(2)},
                  [this](int d, int side) {
                    const auto [own, outside] = of_->device->halo(d, side);
                    const std::size_t n = of_->device->edge_size(d);
                    return VelocityExchange::Memory{{own, n}, {outside, n}};
                  }) {}
  void start(const Exec& exec, const Distribution& f) override {
    exec.fence();
    for_faces([&](int d, int side) { of_->device->edge(of_->vlasov.buffer(f), d, side); });
    of_->vlasov.device().fence();
    exchange_.start();
  }
  void apply(const Exec& exec, const Distribution& f, const DragDiffusion& coefficients, double weight,
             const Distribution& out) override {
    exchange_.finish();
    for_faces([&](int d, int side) { of_->device->set_beyond(d, side); });
    bound(exec, coefficients);
    of_->device->add_drag_diffusion(of_->vlasov.buffer(f), weight, of_->vlasov.buffer(out));
  }
  void bound(const Exec& exec, const DragDiffusion& coefficients) override {
    exec.fence();
    if (!is_solved_) of_->device->set_drag_diffusion(coefficients.data());
  }
  [[nodiscard]] bool solves() const override { return true; }
  void solve(const Exec& exec) override {
    exec.fence();
    of_->device->solve_drag_diffusion();
    is_solved_ = true;
  }
  [[nodiscard]] int refused(const DragDiffusion& coefficients) const override {
    const int bad = is_solved_ ? of_->device->refused() : -1;
    if (bad >= 0) of_->device->get_drag_diffusion(coefficients.data());
    return bad;
  }
  [[nodiscard]] double frequency() const override { return of_->device->drag_diffusion_rate(); }

 private:
  /// action(d, side) for the faces of the block with another rank beyond.
  template <class Do>
  void for_faces(const Do& action) const {
    for (int d = 0; d < of_->options.vdim; ++d)
      for (int side = 0; side < 2; ++side)
        if (exchange_.has(d, side)) action(d, side);
  }

  SharedSpecies of_;
  VelocityExchange exchange_;
  bool is_solved_ = false;  ///< B and D were solved for there
};

class ResidentRelaxation final : public RelaxationSweep {
 public:
  ResidentRelaxation(SharedSpecies species, const PhaseBasis& basis)
      : of_(std::move(species)), target_(basis) {}

  [[nodiscard]] bool works_there() const override { return true; }
  void apply(const Exec& exec, const Distribution& f, const CollisionMoments& moments, const MomentGain&,
             const ConfField&, const std::string& species, double weight, const Distribution& out) override {
    run(exec, f, moments, species, weight, out, 0);
  }
  void relax(const Exec& exec, const Distribution& f, const CollisionMoments& moments, const ConfField&,
             const std::string& species, double dt) override {
    if (dt > 0) run(exec, f, moments, species, 1, f, dt);
  }
  void bound(const ConfField&) override {}
  [[nodiscard]] double frequency() const override { return target_.bound_of(of_->device->relaxation_rate()); }

 private:
  void run(const Exec& exec, const Distribution& f, const CollisionMoments& moments,
           const std::string& species, double weight, const Distribution& out, double relax_time) {
    exec.fence();
    of_->device->relax(of_->vlasov.buffer(f), weight, of_->vlasov.buffer(out), relax_time);
    const int bad = of_->device->refused();
    if (bad < 0) return;
    moments.fetch();
    target_.refuse(species, moments, of_->block, bad, nullptr, nullptr);
  }

  SharedSpecies of_;
  BgkTarget target_;
};

class ResidentCollisionEngines final : public CollisionEngines {
 public:
  ResidentCollisionEngines(const Decomposition& decomposition, const PhaseBasis& basis,
                           const std::vector<Species>& species,
                           const std::vector<ResidentOperator*>& operators,
                           const DeviceVlasovFactory& factory)
      : decomposition_(decomposition), basis_(basis), factory_(factory) {
    for (std::size_t s = 0; s < species.size(); ++s) {
      const PhaseBlock block = decomposition.block(species[s].grid);
      species_.push_back(std::make_shared<ResidentSpecies>(
          ResidentSpecies{*operators.at(s), block, make_options(basis, block)}));
    }
  }
  [[nodiscard]] std::unique_ptr<MomentSums> moment_sums(
      int s, const std::vector<FunctionalSum>& components) override {
    auto& of = *species_[s];
    set_moments(basis_, of.block, components, of.options);
    return std::make_unique<ResidentMoments>(species_[s]);
  }
  [[nodiscard]] std::unique_ptr<DragDiffusionSweep> drag_diffusion(int s, bool uniform_rate) override {
    auto& of = *species_[s];
    set_drag_diffusion(basis_, of.block, of.options);
    of.options.drag_places = CollisionMoments::places(basis_);
    make(of, uniform_rate);
    return std::make_unique<ResidentDragDiffusion>(species_[s], decomposition_);
  }
  [[nodiscard]] std::unique_ptr<RelaxationSweep> relaxation(int s, bool uniform_rate) override {
    auto& of = *species_[s];
    set_relaxation(basis_, of.block, of.options);
    make(of, uniform_rate);
    return std::make_unique<ResidentRelaxation>(species_[s], basis_);
  }
  [[nodiscard]] bool exchanges() const override { return true; }
  void exchange(const Exec& exec, const ExchangeTables& tables, std::span<const double> profiles,
                const std::vector<char>& gains) override {
    exec.fence();
    std::vector<DeviceCollisions*> all;
    for (const auto& species : species_) all.push_back(species->device.get());
    one_of_all().exchange(tables, profiles, all, gains);
  }
  [[nodiscard]] int exchange_refused() const override { return one_of_all().exchange_refused(); }
  void combine(const Exec& exec, int s, const Distribution& out, std::span<const Term> terms) override {
    exec.fence();
    const ResidentOperator& vlasov = species_[s]->vlasov;
    std::vector<DeviceVlasov::Term> there;
    for (const auto& term : terms) there.push_back({term.factor, vlasov.buffer(term.f)});
    vlasov.device().combine(vlasov.buffer(out), there);
  }

 private:
  /// That of the first species that collides.
  [[nodiscard]] DeviceCollisions& one_of_all() const {
    for (const auto& species : species_)
      if (species->device) return *species->device;
    throw InternalError("rates of collisions that no species has");
  }
  void make(ResidentSpecies& of, bool uniform_rate) const {
    of.options.uniform_rate = uniform_rate;
    of.options.sends_directly = factory_.sends_directly;
    of.device.reset(factory_.make_collisions(of.options, of.vlasov.device()));
    if (of.device == nullptr) throw InternalError("no collision kernels on the device for this basis");
  }

  Decomposition decomposition_;
  const PhaseBasis basis_;
  DeviceVlasovFactory factory_;
  std::vector<SharedSpecies> species_;
};

}  // namespace

std::unique_ptr<CollisionEngines> resident_collision_engines(const Decomposition& decomposition,
                                                             const PhaseBasis& basis,
                                                             const std::vector<Species>& species,
                                                             const std::vector<ResidentOperator*>& operators,
                                                             const DeviceVlasovFactory& factory) {
  return std::make_unique<ResidentCollisionEngines>(decomposition, basis, species, operators, factory);
}

double resident_collision_bytes(const PhaseBasis& basis, const PhaseBlock& block, int s,
                                const CollisionOptions& options, const DeviceVlasovFactory& factory) {
  const auto& frequency = options.frequency.at(s);
  if (std::none_of(frequency.begin(), frequency.end(), [](double nu) { return nu > 0; })) return 0;
  const auto& row = row_of(collision_operators(), options.kind);
  auto of = make_options(basis, block);
  set_moments(basis, block, CollisionMoments::components(basis, row.diffuses && options.conserving), of);
  if (row.diffuses)
    set_drag_diffusion(basis, block, of);
  else
    set_relaxation(basis, block, of);
  double n_profiles = 0, n_nodes = 1;
  for (const auto& row_of_species : options.profile)
    n_profiles += std::count_if(row_of_species.begin(), row_of_species.end(),
                                [](const auto& profile) { return bool(profile); });
  for (int d = 0; d < basis.cdim(); ++d) n_nodes *= basis.order() + 1;
  return factory.collision_bytes(of) + 8 * n_profiles * n_nodes * block.n_conf();
}

}  // namespace quintet::kinetics
