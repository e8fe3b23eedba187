#include "physics/kinetics/device/resident_operator.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/kinetics/advection/wall_emission.hpp"

namespace quintet::kinetics {

DeviceVlasovOptions device_vlasov_options(const PhaseBasis& basis, const PhaseBlock& block, Flux flux,
                                          const std::array<std::array<bool, 2>, 6>& is_open) {
  const PhaseGrid& grid = block.grid;
  DeviceVlasovOptions options;
  options.cdim = basis.cdim();
  options.vdim = basis.vdim();
  options.order = basis.order();
  options.family = basis.family();
  options.flux = flux;
  options.cells = block.extent;
  options.lanes = PhaseBlock::lanes;
  options.open = is_open;
  for (int d = 0; d < grid.dim(); ++d) {
    if (d < grid.cdim) {
      options.dx[d] = grid.width(d);
      continue;
    }
    const int v = d - grid.cdim;
    options.mean_dv[v] = grid.mean_width(d);
    options.least_dv[v] = grid.least_width(d);
    for (int i = block.begin[d]; i < block.begin[d] + block.extent[d]; ++i) {
      options.centre[v].push_back(grid.centre(d, i));
      options.relative[v].push_back(grid.relative_width(d, i));
    }
  }
  return options;
}

ResidentOperator::ResidentOperator(const PhaseBlock& block, Flux flux,
                                   const std::array<std::array<bool, 2>, 6>& is_open,
                                   std::unique_ptr<DeviceVlasov> device)
    : VlasovOperator(flux), device_(std::move(device)), block_(block) {
  for (const auto& [lower, upper] : is_open) has_exterior_ = has_exterior_ || lower || upper;
  if (device_ == nullptr) throw InternalError("a device without kernels for a basis that the host has");
}

void ResidentOperator::hold(const Distribution& f) {
  held_.push_back(f.data);
  while (device_->n_buffers() < std::ssize(held_)) device_->add_buffer();
}

void ResidentOperator::add(const Exec& exec, double factor, const Distribution& f, const Distribution& out) {
  exec.fence();
  const std::array terms{DeviceVlasov::Term{1, buffer(out)}, DeviceVlasov::Term{factor, buffer(f)}};
  device_->combine(buffer(out), terms);
}

Limited ResidentOperator::limit(const Exec& exec, const Positivity& positivity, const Distribution& f) {
  exec.fence();
  const auto there = device_->limit(buffer(f), positivity.node_values(), positivity.constant());
  Limited result;
  for (std::size_t i = 0; i < 3; ++i) result.momentum[i] = positivity.scale() * there.change[i];
  result.square = positivity.scale() * there.change[3];
  result.least_mean = there.least_mean;
  result.conf = there.conf;
  result.row = there.velocity_cell / f.block.n_last();
  result.last = there.velocity_cell % f.block.n_last();
  return result;
}

int ResidentOperator::buffer(const Distribution& f) const {
  for (std::size_t i = 0; i < held_.size(); ++i)
    if (held_[i].data() == f.data.data()) return i;
  throw InternalError("a distribution that is not on the device");
}

void ResidentOperator::upload(const Distribution& f) { device_->upload(buffer(f), f.data.data()); }
void ResidentOperator::download(const Distribution& f) const { device_->download(buffer(f), f.data.data()); }

void ResidentOperator::apply(const Exec& exec, const Stage& stage, const Distribution& f,
                             const Distribution& f0, const ConfField& acceleration, const Distribution& out,
                             const StageMoments& moments) {
  exec.fence();
  from_ = buffer(f);
  device_->stage(
      {stage.keep, stage.advance, stage.dt, from_, stage.keep == 0 ? from_ : buffer(f0), buffer(out)},
      acceleration.data());
  if (moments.size() > 0 && !has_exterior_) sum_moments(exec, out, moments);
}

void ResidentOperator::add_exterior(const Exec& exec, const Stage& stage, const FaceTraces& exterior,
                                    const ConfField&, const Distribution& out, const StageMoments& moments) {
  exec.fence();
  for (int d = 0; d < block_.grid.dim(); ++d)
    for (const int side : {-1, 1}) {
      const auto& from = exterior.side[d][side > 0];
      if (from.size() == 0) continue;
      device_->add_exterior({stage.keep, stage.advance, stage.dt, from_, from_, buffer(out)}, d, side,
                            from.data());
    }
  if (has_exterior_ && moments.size() > 0) sum_moments(exec, out, moments);
}

void ResidentOperator::trace(const Exec& exec, const Distribution& f, int direction, int side,
                             const Array<double>& out) const {
  exec.fence();
  device_->trace(buffer(f), direction, side, out.data());
}

std::size_t ResidentOperator::trace_size(int direction) const { return device_->trace_size(direction); }

VlasovOperator::Halo ResidentOperator::halo(int direction, int side) const {
  const auto there = device_->halo(direction, side);
  if (there.own == nullptr) throw InternalError("traces at an edge that is closed");
  const auto n = trace_size(direction);
  return {Array<double>(there.own, n), Array<double>(there.outside, n)};
}

void ResidentOperator::fence(const Exec& exec) const {
  exec.fence();
  device_->fence();
}

void ResidentOperator::mirror(const Exec& exec, int direction, const Array<double>& own, double share,
                              bool add, const Array<double>& out) const {
  exec.fence();
  device_->mirror(direction, own.data(), share, add, out.data());
}

void ResidentOperator::emit(const Exec& exec, const WallEmission& wall, const std::vector<double>& flux,
                            const Array<double>& out) const {
  exec.fence();
  device_->emit(wall.direction(), wall.side(), wall.shape(), flux, out.data());
}

VlasovOperator::CountedOutflow ResidentOperator::outflow(const Exec& exec, Flux flux, int direction, int side,
                                                         const Array<double>& inside,
                                                         const Array<double>& outside) const {
  exec.fence();
  device_->count_outflow(flux, direction, side, inside.data(), outside.data());
  return [this, direction, side] {
    const auto counted = device_->outflow(direction, side);
    const int vdim = block_.grid.vdim, n_faces = block_.n_conf() / block_.extent[direction];
    const int n_sums = static_cast<int>(counted.size()) / n_faces, n_modes = n_sums - vdim - 1;
    double scale = side;  // int phi_0 over the face's x directions
    for (int i = 0; i < block_.grid.cdim; ++i)
      if (i != direction) scale *= block_.grid.width(i) / std::sqrt(2.0);
    Outflow out;
    for (int face = 0; face < n_faces; ++face) {
      const auto of = counted.subspan(face * n_sums, n_sums);
      for (int a = 0; a < n_modes; ++a) out.particles.push_back(side * of[a]);
      out.amount.particles += scale * of[0];
      for (int d = 0; d < vdim; ++d) out.amount.momentum[d] += scale * of[n_modes + d];
      out.amount.energy += 0.5 * scale * of[n_modes + vdim];
    }
    return out;
  };
}

double ResidentOperator::frequency(const Exec&, const ConfField& acceleration) const {
  return device_->frequency(acceleration.data());
}

void ResidentOperator::sum_moments(const Exec& exec, const Distribution& f,
                                   const StageMoments& moments) const {
  exec.fence();
  device_->moments(buffer(f), moments.extent(1), moments.data());
}

void ResidentOperator::start_moments(const Exec& exec, const Distribution& f, const StageMoments& moments) {
  finish_moments();
  exec.fence();
  device_->start_moments(buffer(f), moments.extent(1));
  started_ = moments;
}

void ResidentOperator::finish_moments() {
  if (started_.size() == 0) return;
  const auto there = device_->started_moments();
  std::copy(there.begin(), there.end(), started_.data());
  started_ = {};
}

void ResidentOperator::sum_three_moments(const Exec& exec, const Distribution& f,
                                         const ConfField& moments) const {
  exec.fence();
  device_->moments(buffer(f), block_.grid.vdim + 2, moments.data());
}

ResidentOperator::Summary ResidentOperator::summarise(const Exec& exec, const Positivity& positivity,
                                                      const Distribution& f) const {
  exec.fence();
  std::vector<DeviceVlasov::Summary> cells(block_.n_conf());
  device_->summarise(buffer(f), positivity.node_values(), positivity.node_weights(), cells);
  Summary sum;
  sum.least_mean = cells[0].least;
  sum.greatest_mean = cells[0].greatest;
  for (const auto& cell : cells) {
    sum.l2 += cell.square;
    sum.negative += cell.negative;
    if (cell.least < sum.least_mean || std::isnan(cell.least)) sum.least_mean = cell.least;
    sum.greatest_mean = std::fmax(sum.greatest_mean, cell.greatest);
    sum.at_ends.push_back(ends_in_grid(block_, cell.at_ends));
  }
  const double cell_volume = positivity.scale() / positivity.constant();
  sum.l2 *= cell_volume * std::pow(0.5, block_.grid.dim());
  sum.negative *= cell_volume;
  sum.least_mean *= positivity.constant();
  sum.greatest_mean *= positivity.constant();
  return sum;
}

}  // namespace quintet::kinetics
