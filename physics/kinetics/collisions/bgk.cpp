#include "physics/kinetics/collisions/bgk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "physics/kinetics/collisions/bgk_target.hpp"
#include "physics/kinetics/initial/maxwellian_tables.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::kinetics {

namespace {

constexpr int lanes = PhaseBlock::lanes;
constexpr int max_conf_modes = BgkTarget::max_modes, max_groups = 27;
constexpr int max_functions = BgkTarget::max_nodes + MaxwellianTables::n_powers;
using Value = Pack<double>;

/// What is worked out for one configuration cell; one a thread.
struct Work {
  MaxwellianTables tables;
  BgkTarget::Cell cell;
  BgkTarget::Factors factors;
};

}  // namespace

struct Bgk::Implementation {
  const PhaseBasis basis;
  PhaseBlock block;
  bool uniform_rate;
  int vdim, n, n_degrees, n_nodes;
  BgkTarget target;
  AlignedVector<double> valid;
  std::vector<double> rates;
  std::vector<std::unique_ptr<Work>> idle;
  std::mutex mutex;

  Implementation(const PhaseBasis& b, const PhaseBlock& block_, bool uniform)
      : basis(b),
        block(block_),
        uniform_rate(uniform),
        vdim(b.vdim()),
        n(b.conf().size()),
        n_degrees(velocity_degree(b) + 1),
        target(b),
        rates(block.n_conf()) {
    n_nodes = target.n_nodes();
    valid.assign(block.n_packs() * lanes, 0.0);
    for (int i = 0; i < block.n_last(); ++i) valid[i] = 1;
  }

  bool prepare(int conf, const CollisionMoments& moments, const MomentGain& gain, const ConfField& rate,
               double relax_time, Work& work) const {
    const auto& cell = work.cell;
    if (!target.start(conf, moments, gain, rate, relax_time, work.cell)) return false;
    for (int q = 0; q < n_nodes; ++q)
      work.tables.compute(q, 1, cell.node[q].drift, std::sqrt(cell.node[q].thermal_square));
    work.tables.compute(n_nodes, MaxwellianTables::n_powers, cell.mean.drift,
                        std::sqrt(cell.mean.thermal_square));
    return target.finish(work.tables.moments(), cell, work.factors);
  }

  /// Factors of the functions of the last direction for a row of cells: [function][group][mode].
  void row_factors(const Work& work, const std::array<int, 3>& index, double* factors) const {
    const int size = basis.n_groups() * n;
    for (int g = 0; g < basis.n_groups(); ++g) {
      const auto& degrees = basis.group(g);
      const auto product = [&](int table, int direction, int power) {
        double result = 1;
        for (int d = 0; d < vdim - 1; ++d)
          result *= work.tables.row(table + (d == direction ? power : 0), d, degrees[d])[index[d]];
        return result;
      };
      const int linear = g < basis.n_full_groups() ? 0 : 1;
      const auto& amplitude = work.factors.amplitude[linear];
      const auto& correction = work.factors.correction[linear];
      for (int q = 0; q < n_nodes; ++q) {
        const double p = product(q, -1, 0);
        for (int a = 0; a < basis.n_conf(g); ++a) factors[q * size + g * n + a] = p * amplitude[q][a];
      }
      double plain = product(n_nodes, -1, 0), shifted[3] = {}, squared = 0;
      for (int d = 0; d < vdim - 1; ++d) {
        shifted[d] = product(n_nodes, d, 1);
        squared += product(n_nodes, d, 2);
      }
      for (int a = 0; a < basis.n_conf(g); ++a) {
        double of_plain = plain * correction[0][a] + squared * correction[vdim + 1][a];
        for (int d = 0; d < vdim - 1; ++d) of_plain += shifted[d] * correction[1 + d][a];
        double* to = factors + n_nodes * size + g * n + a;
        to[0] = of_plain;
        to[size] = plain * correction[vdim][a];
        to[2 * size] = plain * correction[vdim + 1][a];
      }
    }
  }

  void add_row(const Distribution& f, const Work& work, double weight, int conf, int row,
               const Distribution& out) const {
    double factors[max_functions * max_groups * max_conf_modes];
    const double* matrix = work.cell.matrix;
    row_factors(work, block.row_index(row), factors);
    const int size = basis.n_groups() * n, n_functions = n_nodes + MaxwellianTables::n_powers;
    for (int p = 0; p < block.n_packs(); ++p) {
      const Value w = weight * load(valid.data() + p * lanes);
      const double* from = f.pack(conf, row, p);
      double* to = out.pack(conf, row, p);
      for (int g = 0; g < basis.n_groups(); ++g) {
        const int modes = basis.n_conf(g), degree = basis.group(g)[vdim - 1];
        Value sum[max_conf_modes]{};
        for (int j = 0; j < n_functions; ++j) {
          const Value h = load(work.tables.row(j, vdim - 1, degree) + p * lanes);
          const double* factor = factors + j * size + g * n;
          for (int a = 0; a < modes; ++a) sum[a] += factor[a] * h;
        }
        if (uniform_rate)
          for (int a = 0; a < modes; ++a) sum[a] -= matrix[0] * load(from + a * lanes);
        else
          for (int l = 0; l < modes; ++l)
            for (int a = 0; a < modes; ++a) sum[l] -= matrix[l * n + a] * load(from + a * lanes);
        for (int a = 0; a < modes; ++a, from += lanes, to += lanes) store<double>(to, load(to) + w * sum[a]);
      }
    }
  }

  std::unique_ptr<Work> take() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return std::make_unique<Work>(Work{{block, n_degrees, n_nodes + 3}, {}, {}});
    auto work = std::move(idle.back());
    idle.pop_back();
    return work;
  }
  void give_back(std::unique_ptr<Work> work) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(work));
  }

  void bound(int conf, const ConfField& rate) { rates[conf] = target.bound(rate, conf); }

  /// relax_time > 0: for so long, with out = f; else add the rate times `weight`.
  bool run_cell(int conf, const Distribution& f, const CollisionMoments& moments, const MomentGain& gain,
                const ConfField& rate, double weight, const Distribution& out, double relax_time = 0) {
    bound(conf, rate);
    if (!BgkTarget::collides(rate, conf, n)) return true;
    auto work = take();
    const bool good = prepare(conf, moments, gain, rate, relax_time, *work);
    for (int row = 0; row < block.n_rows() && good; ++row) add_row(f, *work, weight, conf, row, out);
    give_back(std::move(work));
    return good;
  }

  /// cell(conf) for all cells; the first that it returns false for is named.
  template <class Cell>
  void run(const Exec& exec, const std::string& species, const CollisionMoments& moments,
           const MomentGain& gain, const ConfField& rate, const Cell& cell) const {
    int bad = std::numeric_limits<int>::max();
    Kokkos::parallel_reduce(
        "kinetics::bgk", Kokkos::RangePolicy<Exec>(exec, 0, block.n_conf()),
        [&](int conf, int& first) {
          if (!cell(conf)) first = std::min(first, conf);
        },
        Kokkos::Min<int>(bad));
    exec.fence();
    if (bad != std::numeric_limits<int>::max())
      target.refuse(species, moments, block, bad, gain.size() > 0 ? &gain(bad, 0, 0) : nullptr,
                    &rate(bad, 0, 0));
  }
};

Bgk::Bgk(const PhaseBasis& basis, const PhaseBlock& block, bool uniform_rate)
    : implementation_(std::make_unique<Implementation>(basis, block, uniform_rate)) {}
Bgk::~Bgk() = default;

void Bgk::apply(const Exec& exec, const Distribution& f, const CollisionMoments& moments,
                const MomentGain& gain, const ConfField& rate, const std::string& species, double weight,
                const Distribution& out) {
  auto& i = *implementation_;
  i.run(exec, species, moments, gain, rate,
        [&](int conf) { return i.run_cell(conf, f, moments, gain, rate, weight, out); });
}

void Bgk::relax(const Exec& exec, const Distribution& f, const CollisionMoments& moments,
                const ConfField& rate, const std::string& species, double dt) {
  auto& i = *implementation_;
  if (!(dt > 0)) return;
  i.run(exec, species, moments, MomentGain(), rate,
        [&](int conf) { return i.run_cell(conf, f, moments, MomentGain(), rate, 1, f, dt); });
}

void Bgk::bound(const ConfField& rate) {
  for (int conf = 0; conf < implementation_->block.n_conf(); ++conf) implementation_->bound(conf, rate);
}

double Bgk::frequency() const {
  return *std::max_element(implementation_->rates.begin(), implementation_->rates.end());
}

}  // namespace quintet::kinetics
