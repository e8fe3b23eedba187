#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "physics/kernels/dense_multiply.hpp"
#include "surrogates/potential/device/device_model.hpp"
#include "surrogates/potential/device/engine_atoms.hpp"
#include "surrogates/potential/device/engine_part.hpp"
#include "surrogates/potential/device/fitting_kernels.hpp"
#include "surrogates/potential/device/moments_part.hpp"
#include "surrogates/potential/device/neighbour_kernels.hpp"
#include "surrogates/potential/device/potential_device.hpp"
#include "surrogates/potential/device/replay.hpp"
#include "surrogates/potential/device/repulsion_kernel.hpp"
#include "surrogates/potential/device/triplets_part.hpp"
#include "surrogates/potential/device/upload.hpp"

// Deep Potential on an execution space. Atoms are taken by type, in chunks whose temporaries stay bounded.
// Each descriptor (a part) has its own rows of neighbours and writes its numbers of D:
//
//   MomentsKernel        list -> neighbours within the cutoff -> moments M
//   multiply             T += M C                               C: polynomials of the embedding networks,
//                                                               and their products with gates
//   DescriptorKernel     D = T T[:M2]^T; of distances alone T is D, and dE/dD is dE/dT
//   TripletKernel        of se_e3: list -> neighbours -> their pairs -> D
//
// then the fitting networks read those of all parts:
//
//   multiply, Activation a layer of the fitting network, thrice
//   EnergyKernel         E
//   Slope, multiply      back through the layers: dE/dD
//
// and each part goes back with its own:
//
//   DescriptorBackKernel dE/dT
//   multiply             dE/dM = dE/dT C^T
//   ForcesKernel         dE/dR of each neighbour -> forces and virial
//   TripletForcesKernel  of se_e3: dE/dD -> forces and virial
//
// then all atoms, whatever their type, where a repulsion is asked for:
//
//   RepulsionKernel      list -> neighbours within `outer` -> energy, forces, virial
namespace quintet::potential {

template <class Space, class Real>
class PotentialEngine {
 public:
  PotentialEngine(const DeviceModel& model, const Space& space);
  PotentialEngine(const PotentialEngine&) = delete;  // its parts know where it is
  PotentialEngine& operator=(const PotentialEngine&) = delete;

  /// Types of the local atoms and their neighbours: after each change of the atoms or of their order.
  void build(const EngineAtoms& atoms, int n_all, double range);

  /// Add the forces; energy and virial stay on the device until totals().
  void compute(const EngineAtoms& atoms);

  /// Energy (with the constants of atoms that are not evaluated) and virial of the last compute(), and what
  /// went wrong since the last call. Waits.
  DeviceTotals totals();

  void set_chunk(int atoms) { chunk_ = atoms; }
  void set_timing(bool on) { stages_.on = on; }
  [[nodiscard]] const std::map<std::string, double>& timings() const { return stages_.seconds; }
  [[nodiscard]] std::size_t bytes_resident() const { return neighbours_.bytes() + 4 * order_.extent(0); }
  [[nodiscard]] std::size_t bytes_of_chunks() const {
    std::size_t bytes = 8 * (sums_.extent(0) + partial_.extent(0));
    for (const auto& part : parts_) bytes += part->bytes();
    for (const auto* buffer : {&d_, &y_[0], &y_[1]}) bytes += sizeof(Real) * buffer->extent(0);
    for (const auto& buffer : slope_) bytes += sizeof(Real) * buffer.extent(0);
    return bytes;
  }

 private:
  using Reals = device::Buffer<Real, Space>;
  struct Layer {
    int n_in, n_out, skip;
    Activation kind;
    Reals weight, transposed, bias, timestep;
  };
  struct Fitting {
    std::vector<Layer> hidden;
    Reals last;
  };

  void make_parts();

  /// Room for chunks of the n atoms with an environment, and for sums of all that are repelled.
  void reserve(int n, int n_repelled);

  void compute_chunk(const EngineAtoms& atoms, int begin, int end);

  /// The repulsion of atoms [begin, end) and their neighbours.
  void repel(const EngineAtoms& atoms, int begin, int end);

  /// Energies of atoms of one type, and dE/dD in place of D.
  void fit(const Chunk<Real>& chunk, int type, int first, int n);
  /// Types side by side: for few atoms, whose kernels leave most of a GPU idle.
  static constexpr int few_atoms = 4096;

  void add_up(int n);

  DeviceModel model_;
  Space space_;
  device::DenseMultiplier<Space> multiplier_;
  device::Branches<Space> branches_;  ///< a type each
  device::Replay<Space> replay_;
  bool fork_types_ = false;
  Stages<Space> stages_;
  std::vector<std::unique_ptr<EnginePart<Space, Real>>> parts_;
  device::Neighbours<Space> neighbours_;
  std::vector<Fitting> fitting_;
  device::Buffer<double, Space> sums_, partial_, total_;
  device::Buffer<int, Space> order_;
  device::Buffer<NuclearPair, Space> repulsion_;
  Reals d_, y_[2];
  std::vector<Reals> slope_;
  device::Buffer<Trouble, Space> trouble_;  ///< of each part; the first has the repulsion's, too
  std::vector<int> first_{0}, count_;       ///< [n_types + 1] places in order_, atoms by type
  int chunk_ = 65536, capacity_ = 0;
  std::size_t widest_ = 1;
};

template <class Space, class Real>
PotentialEngine<Space, Real>::PotentialEngine(const DeviceModel& model, const Space& space)
    : model_(model),
      space_(space),
      multiplier_(space),
      branches_(model.n_types, space, multiplier_),
      stages_{space} {
  make_parts();
  for (const auto& fitting : model.fitting) {
    Fitting f;
    for (const auto& layer : fitting.hidden)
      f.hidden.push_back({layer.n_in, layer.n_out, layer.skip, layer.activation,
                          upload_as<Space, Real>("potential::weight", layer.weight),
                          upload_as<Space, Real>("potential::weight_transposed",
                                                 transpose(layer.weight, layer.n_in, layer.n_out)),
                          upload_as<Space, Real>("potential::bias", layer.bias),
                          upload_as<Space, Real>("potential::timestep", layer.timestep)});
    f.last = upload_as<Space, Real>("potential::last", fitting.last);
    fitting_.push_back(std::move(f));
  }
  repulsion_ = upload<Space>("potential::nuclear_pairs", model_.repulsion);
  total_ = device::Buffer<double, Space>("potential::total", 10);
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::build(const EngineAtoms& atoms, int n_all, double range) {
  Clock clock(stages_, "neighbour_list");
  neighbours_.build(space_, atoms.x, atoms.n_local, n_all, range);
  device::make_room<int, Space>(order_, "potential::order", atoms.n_local, 1.02);
  first_.assign(1, 0);
  count_.clear();
  for (int t = 0; t < model_.n_types; ++t) {
    int n = 0;
    if (atoms.n_local > 0)
      Kokkos::parallel_scan("potential::order_by_type", Kokkos::RangePolicy<Space>(space_, 0, atoms.n_local),
                            CountType{atoms.type, t, order_.data() + first_.back()}, n);
    space_.fence();
    count_.push_back(n);
    first_.push_back(first_.back() + (model_.fitting[t].evaluated ? n : 0));
  }
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::compute(const EngineAtoms& atoms) {
  const int n = first_.back(), n_repelled = model_.repulsion.empty() ? 0 : atoms.n_local;
  reserve(std::min(n, chunk_), std::min(n_repelled, chunk_));
  const auto all = [&] {
    Kokkos::deep_copy(space_, total_, 0.0);
    for (int begin = 0; begin < n; begin += chunk_) compute_chunk(atoms, begin, std::min(n, begin + chunk_));
    for (int begin = 0; begin < n_repelled; begin += chunk_)
      repel(atoms, begin, std::min(n_repelled, begin + chunk_));
  };
  if (std::max(n, n_repelled) > chunk_ || stages_.on) return all();
  const auto place = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  std::vector<std::uintptr_t> key{place(atoms.x),
                                  place(atoms.type),
                                  place(atoms.owner),
                                  place(atoms.force),
                                  place(atoms.atom_energy),
                                  place(atoms.atom_virial),
                                  place(neighbours_.list()),
                                  place(neighbours_.offset()),
                                  place(order_.data()),
                                  place(d_.data()),
                                  place(sums_.data()),
                                  static_cast<std::uintptr_t>(n_repelled),
                                  static_cast<std::uintptr_t>(capacity_)};
  for (const int first : first_) key.push_back(first);
  for (const auto& part : parts_)
    for (const void* pointer : part->places()) key.push_back(place(pointer));
  replay_(space_, key, all);
}

template <class Space, class Real>
DeviceTotals PotentialEngine<Space, Real>::totals() {
  double sums[10];
  std::vector<Trouble> found(parts_.size());
  Kokkos::deep_copy(space_, device::OnHost<double>(sums, 10), total_);
  Kokkos::deep_copy(space_, device::OnHost<Trouble>(found.data(), found.size()), trouble_);
  Kokkos::deep_copy(space_, trouble_, Trouble{});
  space_.fence();
  DeviceTotals totals;
  totals.energy = sums[0];
  for (int t = 0; t < model_.n_types; ++t)
    if (!model_.fitting[t].evaluated) totals.energy += count_[t] * model_.fitting[t].constant;
  for (int k = 0; k < 9; ++k) totals.virial[k] = sums[1 + k];
  for (const auto& trouble : found) {  // overflowing: of the part that has room for the fewest
    totals.overflowing = std::max(totals.overflowing, trouble.overflowing);
    totals.too_close = std::max(totals.too_close, trouble.too_close - 1);
    totals.too_strong = std::max(totals.too_strong, trouble.too_strong - 1);
  }
  return totals;
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::make_parts() {
  const int n = static_cast<int>(model_.parts.size());
  trouble_ = device::Buffer<Trouble, Space>("potential::trouble", n);
  int offset = 0;
  for (int i = 0; i < n; ++i) {
    // A pair's force is that of all parts: each has its share of what the sums hold.
    const typename EnginePart<Space, Real>::Place place{i, offset, largest_pair_force / n,
                                                        trouble_.data() + i};
    const typename EnginePart<Space, Real>::Tools tools{space_, multiplier_, stages_};
    if (const auto& part = model_.parts[i]; part.has_triplets)
      parts_.push_back(std::make_unique<TripletsPart<Space, Real>>(part, place, tools));
    else
      parts_.push_back(std::make_unique<MomentsPart<Space, Real>>(part, place, tools));
    offset += model_.parts[i].size();
  }
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::reserve(int n, int n_repelled) {
  const std::size_t rows = n, summed = std::max(n, n_repelled);
  std::size_t widest = 1, layers = 0;
  for (const auto& f : fitting_) {
    layers = std::max(layers, f.hidden.size());
    for (const auto& layer : f.hidden) widest = std::max<std::size_t>(widest, layer.n_out);
  }
  widest_ = widest;
  // Seldom another number, so that the launches stay the same.
  capacity_ = std::max(1, (neighbours_.longest() + 31) / 32 * 32);
  for (auto& part : parts_) part->reserve(rows, capacity_);
  device::make_room<Real, Space>(d_, "potential::d", rows * model_.n_inputs());
  for (auto& y : y_) device::make_room<Real, Space>(y, "potential::y", rows * widest);
  slope_.resize(layers);
  for (auto& slope : slope_) device::make_room<Real, Space>(slope, "potential::slope", rows * widest);
  device::make_room<double, Space>(sums_, "potential::sums", summed * 10);
  device::make_room<double, Space>(partial_, "potential::partial", 10 * (summed / 1024 + 1));
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::fit(const Chunk<Real>& chunk, int type, int first, int n) {
  const Fitting& net = fitting_[type];
  const Space& space = branches_.space(fork_types_ ? type : 0);
  const auto& multiplier = branches_.multiplier(fork_types_ ? type : 0);
  // Each type has its own rows of the temporaries.
  const std::size_t own_rows = first * widest_;
  const auto slope = [&](std::size_t l) { return slope_[l].data() + own_rows; };
  const auto y = [&](int k) { return y_[k].data() + own_rows; };
  Real* const d = chunk.d + std::int64_t{first} * chunk.d_stride;
  const Real* x = d;
  int now = 0;
  for (std::size_t l = 0; l < net.hidden.size(); ++l) {
    const Layer& layer = net.hidden[l];
    {
      Clock clock(stages_, l == 0 ? "fitting_gemm_first" : "fitting_gemm");
      multiplier.multiply(space, device::Product<Real>{x, layer.n_in, layer.weight.data(), slope(l),
                                                       layer.n_out, n, layer.n_in, layer.n_out});
    }
    Clock clock(stages_, "activation");
    Kokkos::parallel_for("potential::activation", Kokkos::RangePolicy<Space>(space, 0, n * layer.n_out),
                         ActivationKernel<Real>{slope(l), x, layer.bias.data(), layer.timestep.data(), y(now),
                                                layer.n_in, layer.n_out, layer.skip, layer.kind});
    x = y(now);
    now = 1 - now;
  }
  {
    Clock clock(stages_, "energy");
    device::for_each_atom(
        space, "potential::energy", n,
        EnergyKernel<Space, Real>{x, net.last.data(), model_.fitting[type].constant, net.hidden.back().n_out,
                                  chunk.order + first, chunk.sums + 10 * static_cast<std::size_t>(first),
                                  chunk.atoms.atom_energy});
  }
  const Real* dy = net.last.data();
  int dy_stride = 0;
  for (std::size_t l = net.hidden.size(); l-- > 0;) {
    const Layer& layer = net.hidden[l];
    // Where x was added to y, dx begins as dy: dy's own place, if it has one.
    const bool in_place = l > 0 && layer.skip == 1 && dy_stride > 0;
    Real* const dx = l == 0 ? d : y(in_place ? 1 - now : now);
    {
      Clock clock(stages_, "activation_back");
      if (layer.skip == 2)
        Kokkos::parallel_for("potential::skip", Kokkos::RangePolicy<Space>(space, 0, n * layer.n_in),
                             SkipKernel<Real>{dy, dx, layer.n_in, layer.n_out, dy_stride});
      Kokkos::parallel_for("potential::slope", Kokkos::RangePolicy<Space>(space, 0, n * layer.n_out),
                           SlopeKernel<Real>{slope(l), dy, layer.skip == 1 && !in_place ? dx : nullptr,
                                             layer.n_out, dy_stride});
    }
    Clock clock(stages_, l == 0 ? "fitting_gemm_first_back" : "fitting_gemm_back");
    multiplier.multiply(space, device::Product<Real>{slope(l), layer.n_out, layer.transposed.data(), dx,
                                                     layer.n_in, n, layer.n_out, layer.n_in, layer.skip > 0});
    dy = dx;
    dy_stride = layer.n_in;
    if (!in_place) now = 1 - now;
  }
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::repel(const EngineAtoms& atoms, int begin, int end) {
  Clock clock(stages_, "repulsion");
  device::for_each_atom(
      space_, "potential::repulsion", end - begin,
      RepulsionKernel<Space>{atoms.x, atoms.type, neighbours_.offset(), neighbours_.list(), repulsion_.data(),
                             model_.n_types, model_.repulsion.front().outer, begin, atoms.owner, atoms.force,
                             atoms.atom_energy, atoms.atom_virial, sums_.data(), trouble_.data()});
  add_up(end - begin);
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::add_up(int n) {
  constexpr int length = 1024;
  const int groups = (n + length - 1) / length;
  if (groups == 1) {
    device::for_each_atom(space_, "potential::sum", 1,
                          SumRowsKernel<Space>{sums_.data(), total_.data(), n, length, true}, 1);
    return;
  }
  device::for_each_atom(space_, "potential::sum_groups", groups,
                        SumRowsKernel<Space>{sums_.data(), partial_.data(), n, length, false}, 1);
  device::for_each_atom(space_, "potential::sum", 1,
                        SumRowsKernel<Space>{partial_.data(), total_.data(), groups, groups, true}, 1);
}

// The way of the host engine, a few kernels each: descriptors, fitting, and the same backwards.
template <class Space, class Real>
void PotentialEngine<Space, Real>::compute_chunk(const EngineAtoms& atoms, int begin, int end) {
  Chunk<Real> chunk{atoms, end - begin, order_.data() + begin, neighbours_.offset(), neighbours_.list(),
                    {},    d_.data(),   model_.n_inputs(),     sums_.data()};
  for (const int first : first_) chunk.first.push_back(std::clamp(first, begin, end) - begin);
  for (auto& part : parts_) part->forward(chunk);
  fork_types_ = chunk.n <= few_atoms && !stages_.on;
  if (fork_types_) branches_.fork();
  chunk.for_types([&](int t, int first, int n) { fit(chunk, t, first, n); });
  if (fork_types_) branches_.join();
  for (auto& part : parts_) part->backward(chunk);
  Clock clock(stages_, "sums");
  add_up(chunk.n);
}

// Instantiated in potential_device.cpp.
extern template class PotentialEngine<Kokkos::DefaultExecutionSpace, float>;
extern template class PotentialEngine<Kokkos::DefaultExecutionSpace, double>;

}  // namespace quintet::potential
