#include "physics/kinetics/advection/positivity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::kinetics {

namespace {

constexpr int lanes = PhaseBlock::lanes;
using Value = Pack<double>;

struct LobattoRule {
  std::vector<double> node, weight;  ///< weights add up to 1
};

LobattoRule lobatto_rule(int n) {
  if (n == 2) return {{-1, 1}, {0.5, 0.5}};
  if (n == 3) return {{-1, 0, 1}, {1.0 / 6, 4.0 / 6, 1.0 / 6}};
  const double inner = std::sqrt(0.2);
  return {{-1, -inner, inner, 1}, {1.0 / 12, 5.0 / 12, 5.0 / 12, 1.0 / 12}};
}

int find(const PhaseBasis& basis, int direction, int degree) {
  MultiIndex mode{};
  mode[direction] = degree;
  return basis.find(mode);
}

}  // namespace

double positive_step(const PhaseBasis& basis) {
  // Three points integrate cell means up to order 3; more would only shorten the step.
  const int order = std::max(basis.order(), velocity_degree(basis));
  return lobatto_rule(std::min(order + 1, 3)).weight[0];
}

Positivity::Positivity(const PhaseBasis& basis, const PhaseBlock& block)
    : n_modes_(basis.size()),
      cdim_(basis.cdim()),
      vdim_(basis.vdim()),
      mean_(std::pow(0.5, 0.5 * basis.dim())),
      cell_volume_(block.grid.conf_cell_volume() * block.grid.mean_velocity_cell_volume()) {
  std::vector<LobattoRule> rules;
  for (int d = 0; d < basis.dim(); ++d) {
    rules.push_back(lobatto_rule((d < cdim_ ? basis.order() : velocity_degree(basis)) + 1));
    n_nodes_ *= static_cast<int>(rules.back().node.size());
  }
  for (int node = 0; node < n_nodes_; ++node) {
    std::array<double, 6> xi{};
    double weight = 1;
    int rest = node;
    for (int d = 0; d < basis.dim(); ++d) {
      const auto& rule = rules[d];
      const auto i = rest % rule.node.size();
      rest /= static_cast<int>(rule.node.size());
      xi[d] = rule.node[i];
      weight *= rule.weight[i];
    }
    weights_.push_back(weight);
    for (int m = 0; m < n_modes_; ++m)
      values_.push_back(basis.value(m, std::span<const double>(xi.data(), basis.dim())));
  }
  for (int d = 0; d < vdim_; ++d) slope_[d] = {find(basis, cdim_ + d, 1), find(basis, cdim_ + d, 2)};
}

double Positivity::cell_negative(const Distribution& f, int conf) const {
  Value sum{};
  for (int pack = 0; pack < f.block.n_rows() * f.block.n_packs(); ++pack) {
    const double* cells = f.pack(conf, 0, pack);
    const auto volume = relative_volumes(f.block, pack / f.block.n_packs(), pack % f.block.n_packs());
    for (int node = 0; node < n_nodes_; ++node) {
      const double* value = values_.data() + node * n_modes_;
      Value x{};
      for (int m = 0; m < n_modes_; ++m) x += value[m] * load(cells + m * lanes);
      sum -= weights_[node] * load(volume.data()) * (x < Value{} ? x : Value{});
    }
  }
  return cell_volume_ * horizontal_sum<double>(sum);
}

double Positivity::negative_part(const Exec& exec, const Distribution& f) const {
  std::vector<double> cells(f.block.n_conf());  // summed in order: the same bits on any number of threads
  Kokkos::parallel_for("kinetics::negative_part", Kokkos::RangePolicy<Exec>(exec, 0, f.block.n_conf()),
                       [&](int conf) { cells[conf] = cell_negative(f, conf); });
  exec.fence();
  double sum = 0;
  for (const double one : cells) sum += one;
  return sum;
}

void Positivity::limit_cell(const Distribution& f, int conf, Tally& tally) const {
  const PhaseGrid& grid = f.block.grid;
  const Value zero{}, one = zero + 1.0;
  tally.least_mean = std::numeric_limits<double>::infinity();
  for (int row = 0; row < f.block.n_rows(); ++row)
    for (int p = 0; p < f.block.n_packs(); ++p) {
      double* cells = f.pack(conf, row, p);
      Value least = zero;
      for (int node = 0; node < n_nodes_; ++node) {
        const double* value = values_.data() + node * n_modes_;
        Value x = zero;
        for (int m = 0; m < n_modes_; ++m) x += value[m] * load(cells + m * lanes);
        least = x < least ? x : least;
      }
      const int end = std::min(lanes, f.block.n_last() - p * lanes);
      for (int lane = 0; lane < end; ++lane)
        if (!(mean_ * cells[lane] >= tally.least_mean)) {
          tally.least_mean = mean_ * cells[lane];
          tally.row = row;
          tally.last = p * lanes + lane;
        }
      if (horizontal_sum<double>(least) == 0) continue;  // none is negative
      const Value mean = mean_ * load(cells);
      const Value positive = mean > zero ? mean : zero;
      const Value theta = least < zero ? positive / (positive - least) : one;
      const auto volume = relative_volumes(f.block, row, p);
      const Value loss = load(volume.data()) * (theta - one);
      const auto index = f.block.row_index(row);
      for (int d = 0; d < vdim_; ++d) {
        // int xi phi_1 and int xi^2 phi_2 relative to int phi_0; v = centre + h xi
        double centres[lanes], halves[lanes];
        for (int lane = 0; lane < lanes; ++lane) {
          const int cell = f.block.begin[cdim_ + d] + (d == vdim_ - 1 ? p * lanes + lane : index[d]);
          centres[lane] = grid.centre(cdim_ + d, cell);
          halves[lane] = 0.5 * grid.width(cdim_ + d, cell);
        }
        const Value h = load(halves);
        const Value first = (h / std::sqrt(3.0)) * (loss * load(cells + slope_[d][0] * lanes));
        tally.change[d] += horizontal_sum<double>(first);
        Value square = 2 * (load(centres) * first);
        if (const int m = slope_[d][1]; m >= 0)
          square += (h * h * std::sqrt(5.0) * 2 / 15) * (loss * load(cells + m * lanes));
        tally.change[3] += horizontal_sum<double>(square);
      }
      for (int m = 1; m < n_modes_; ++m) store<double>(cells + m * lanes, theta * load(cells + m * lanes));
    }
}

Limited Positivity::limit(const Exec& exec, const Distribution& f) const {
  std::vector<Tally> cells(f.block.n_conf());
  Kokkos::parallel_for("kinetics::limit", Kokkos::RangePolicy<Exec>(exec, 0, f.block.n_conf()),
                       [&](int conf) { limit_cell(f, conf, cells[conf]); });
  exec.fence();
  Limited result;
  result.least_mean = std::numeric_limits<double>::infinity();
  for (int conf = 0; conf < f.block.n_conf(); ++conf) {
    const Tally& tally = cells[conf];
    for (std::size_t i = 0; i < 3; ++i) result.momentum[i] += scale() * tally.change[i];
    result.square += scale() * tally.change[3];
    if (tally.least_mean >= result.least_mean) continue;
    result.least_mean = tally.least_mean;
    result.conf = conf;
    result.row = tally.row;
    result.last = tally.last;
  }
  return result;
}

}  // namespace quintet::kinetics
