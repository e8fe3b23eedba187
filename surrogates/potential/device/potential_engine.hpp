#pragma once

#include <array>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "physics/kernels/dense_multiply.hpp"
#include "surrogates/potential/device/descriptor_kernels.hpp"
#include "surrogates/potential/device/device_model.hpp"
#include "surrogates/potential/device/engine_atoms.hpp"
#include "surrogates/potential/device/environment_kernels.hpp"
#include "surrogates/potential/device/fitting_kernels.hpp"
#include "surrogates/potential/device/forces_kernel.hpp"
#include "surrogates/potential/device/neighbour_kernels.hpp"
#include "surrogates/potential/device/potential_device.hpp"
#include "surrogates/potential/device/replay.hpp"
#include "surrogates/potential/device/repulsion_kernel.hpp"
#include "surrogates/potential/device/upload.hpp"

// Deep Potential on an execution space. Atoms are taken by type, in chunks whose temporaries stay bounded:
//
//   MomentsKernel        list -> neighbours within the cutoff -> moments M
//   multiply             T += M C                               C: polynomials of the embedding networks,
//                                                               and their products with gates
//   DescriptorKernel     D = T T[:M2]^T; of distances alone T is D, and dE/dD is dE/dT
//   multiply, Activation a layer of the fitting network, thrice
//   EnergyKernel         E
//   Slope, multiply      back through the layers: dE/dD
//   DescriptorBackKernel dE/dT
//   multiply             dE/dM = dE/dT C^T
//   ForcesKernel         dE/dR of each neighbour -> forces and virial
//
// then all atoms, whatever their type, where a repulsion is asked for:
//
//   RepulsionKernel      list -> neighbours within `outer` -> energy, forces, virial
namespace quintet::potential {

template <class Space, class Real>
class PotentialEngine {
 public:
  PotentialEngine(const DeviceModel& model, const Space& space);

  /// Types of the local atoms and their neighbours: after each change of the atoms or of their order.
  void build(const EngineAtoms& atoms, int n_all, double range);

  /// Add the forces; energy and virial stay on the device until totals().
  void compute(const EngineAtoms& atoms);

  /// Energy (with the constants of atoms that are not evaluated) and virial of the last compute(), and what
  /// went wrong since the last call. Waits.
  DeviceTotals totals();

  void set_chunk(int atoms) { chunk_ = atoms; }
  void set_timing(bool on) { timing_ = on; }
  [[nodiscard]] const std::map<std::string, double>& timings() const { return timings_; }
  [[nodiscard]] std::size_t bytes_resident() const { return neighbours_.bytes() + 4 * order_.extent(0); }
  [[nodiscard]] std::size_t bytes_of_chunks() const {
    std::size_t bytes =
        4 * row_.extent(0) + 4 * row_size_.extent(0) + 8 * (sums_.extent(0) + partial_.extent(0));
    for (const auto* buffer : {&moments_, &t_, &dt_, &d_, &y_[0], &y_[1]})
      bytes += sizeof(Real) * buffer->extent(0);
    for (const auto& buffer : slope_) bytes += sizeof(Real) * buffer.extent(0);
    return bytes;
  }

  /// Adds up the time of stages, waiting for each, where that is asked for.
  class Clock {
   public:
    Clock(PotentialEngine& engine, const char* stage) : engine_(engine), stage_(stage) {
      if (engine_.timing_) engine_.space_.fence();
      timer_.reset();
    }
    ~Clock() {
      if (!engine_.timing_) return;
      engine_.space_.fence();
      engine_.timings_[stage_] += timer_.seconds();
    }
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;

   private:
    PotentialEngine& engine_;
    const char* stage_;
    Kokkos::Timer timer_;
  };

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

  [[nodiscard]] int n_moments() const { return model_.n_groups() * model_.n_dense * model_.order; }
  [[nodiscard]] int d_size() const {
    return model_.axis == 0 ? model_.n_channels : descriptor_offset(model_.n_channels, model_.axis);
  }
  /// D, and dE/dT after fit(): in T's own place where T is D.
  [[nodiscard]] Real* d() const { return model_.axis == 0 ? t_.data() : d_.data(); }
  [[nodiscard]] Real* dt() const { return model_.axis == 0 ? t_.data() : dt_.data(); }

  void upload_tables();

  /// Room for chunks of the n atoms with an environment, and for sums of all that are repelled.
  void reserve(int n, int n_repelled);

  [[nodiscard]] EnvironmentNumbers numbers() const {
    bool excludes = false;
    for (std::size_t i = 0; i < model_.dropped.size(); ++i)
      excludes = excludes || model_.dropped[i] || model_.emptied[i];
    const SwitchRange range{model_.rcut_smooth, 1 / (model_.rcut - model_.rcut_smooth), model_.protection};
    return {model_.rcut,       range,          model_.lower,
            1 / model_.width,  model_.n_types, model_.n_groups(),
            model_.n_channels, model_.n_slots, model_.n_intervals,
            model_.n_dense,    excludes,       model_.limits_total};
  }

  void compute_chunk(const EngineAtoms& atoms, int begin, int end);

  // The way of the host engine, one kernel each: moments, embedding, descriptor, fitting, and the same
  // backwards.
  template <int order, Form form>
  void compute_chunk_of(const EngineAtoms& atoms, int begin, int end) {
    const int n = end - begin, channels = model_.n_channels;
    const AtomRows rows{order_.data() + begin, atoms.x,          atoms.type,  neighbours_.offset(),
                        neighbours_.list(),    row_size_.data(), row_.data(), capacity_};
    const EnvironmentNumbers e = numbers();
    const EnvironmentTables tables{mean_.data(),    scale_.data(),   sel_.data(),    slots_.data(),
                                   dropped_.data(), emptied_.data(), network_.data()};
    {
      Clock clock(*this, "moments");
      device::for_each_atom(space_, "potential::moments", n,
                            MomentsKernel<Space, Real, order, form>{
                                rows, e, tables, polynomial_.data(), gate_.data(), empty_.data(),
                                moments_.data(), t_.data(), trouble_.data()});
    }
    {
      Clock clock(*this, "embedding_gemm");
      contract(begin, end, false);
    }
    if constexpr (form != Form::distances) {
      Clock clock(*this, "descriptor");
      device::for_each_atom(
          space_, "potential::descriptor", n,
          DescriptorKernel<Space, Real>{t_.data(), d_.data(), channels, model_.axis, d_size()});
    }
    fork_types_ = n <= few_atoms && !timing_;
    if (fork_types_) branches_.fork();
    for_types(begin, end, [&](int t, int first, int size) { fit(atoms, t, begin, first, size); });
    if (fork_types_) branches_.join();
    if constexpr (form != Form::distances) {
      Clock clock(*this, "descriptor_back");
      device::for_each_atom(space_, "potential::descriptor_back", n,
                            DescriptorBackKernel<Space, Real>{t_.data(), d_.data(), dt_.data(), channels,
                                                              model_.axis, d_size()});
    }
    {
      Clock clock(*this, "embedding_gemm_back");
      contract(begin, end, true);
    }
    {
      Clock clock(*this, "forces");
      device::for_each_atom(space_, "potential::forces", n,
                            ForcesKernel<Space, Real, order, form>{
                                rows, e, tables, polynomial_.data(), gate_.data(), moments_.data(), dt(),
                                atoms.owner, atoms.force, atoms.atom_virial, sums_.data(), trouble_.data()});
    }
    {
      Clock clock(*this, "sums");
      add_up(n);
    }
  }

  /// The repulsion of atoms [begin, end) and their neighbours.
  void repel(const EngineAtoms& atoms, int begin, int end);

  /// body(type, first row, rows) for the types whose atoms are among order_[begin, end).
  template <class Body>
  void for_types(int begin, int end, const Body& body) {
    for (int t = 0; t < model_.n_types; ++t) {
      const int first = std::max(begin, first_[t]), last = std::min(end, first_[t + 1]);
      if (first < last) body(t, first - begin, last - first);
    }
  }

  /// T += M C, or dM = dT C^T.
  void contract(int begin, int end, bool back);

  /// Energies of atoms of one type, and dE/dD in place of D.
  void fit(const EngineAtoms& atoms, int type, int begin, int first, int n);
  /// Types side by side: for few atoms, whose kernels leave most of a GPU idle.
  static constexpr int few_atoms = 4096;

  void add_up(int n);

  DeviceModel model_;
  Space space_;
  device::DenseMultiplier<Space> multiplier_;
  device::Branches<Space> branches_;  ///< a type each
  device::Replay<Space> replay_;
  bool fork_types_ = false;
  device::Neighbours<Space> neighbours_;
  std::vector<Fitting> fitting_;
  device::Buffer<double, Space> mean_, scale_, sums_, partial_, total_;
  device::Buffer<int, Space> sel_, slots_, network_, order_, row_, row_size_;
  device::Buffer<char, Space> dropped_, emptied_;
  device::Buffer<NuclearPair, Space> repulsion_;
  Reals polynomial_, gate_, empty_, moments_, t_, dt_, d_, y_[2];
  std::vector<Reals> contraction_, contraction_back_, slope_;
  Kokkos::View<Trouble, typename Space::memory_space> trouble_;
  std::vector<int> first_{0}, count_;  ///< [n_types + 1] places in order_, atoms by type
  int chunk_ = 65536, capacity_ = 0;
  std::size_t widest_ = 1;
  bool timing_ = false;
  std::map<std::string, double> timings_;
};

template <class Space, class Real>
PotentialEngine<Space, Real>::PotentialEngine(const DeviceModel& model, const Space& space)
    : model_(model), space_(space), multiplier_(space), branches_(model.n_types, space, multiplier_) {
  upload_tables();
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
  trouble_ = Kokkos::View<Trouble, typename Space::memory_space>("potential::trouble");
  total_ = device::Buffer<double, Space>("potential::total", 10);
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::build(const EngineAtoms& atoms, int n_all, double range) {
  Clock clock(*this, "neighbour_list");
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
  if (std::max(n, n_repelled) > chunk_ || timing_) return all();
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
                                  place(row_.data()),
                                  place(moments_.data()),
                                  place(sums_.data()),
                                  static_cast<std::uintptr_t>(n_repelled),
                                  static_cast<std::uintptr_t>(capacity_)};
  for (const int first : first_) key.push_back(first);
  replay_(space_, key, all);
}

template <class Space, class Real>
DeviceTotals PotentialEngine<Space, Real>::totals() {
  double sums[10];
  Trouble trouble;
  Kokkos::deep_copy(space_, device::OnHost<double>(sums, 10), total_);
  Kokkos::deep_copy(space_, Kokkos::View<Trouble, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&trouble),
                    trouble_);
  Kokkos::deep_copy(space_, trouble_, Trouble{});
  space_.fence();
  DeviceTotals totals;
  totals.energy = sums[0];
  for (int t = 0; t < model_.n_types; ++t)
    if (!model_.fitting[t].evaluated) totals.energy += count_[t] * model_.fitting[t].constant;
  for (int k = 0; k < 9; ++k) totals.virial[k] = sums[1 + k];
  totals.overflowing = trouble.overflowing;
  totals.too_close = trouble.too_close - 1;
  totals.too_strong = trouble.too_strong - 1;
  return totals;
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::upload_tables() {
  mean_ = upload<Space>("potential::mean", model_.mean);
  scale_ = upload<Space>("potential::scale", model_.inverse_deviation);
  sel_ = upload<Space>("potential::sel", model_.sel);
  slots_ = upload<Space>("potential::slots", model_.slots);
  dropped_ = upload<Space>("potential::dropped", model_.dropped);
  emptied_ = upload<Space>("potential::emptied", model_.emptied);
  network_ = upload<Space>("potential::network", model_.network);
  polynomial_ = upload_as<Space, Real>("potential::polynomial", model_.polynomial);
  gate_ = upload_as<Space, Real>("potential::gate", model_.gate);
  empty_ = upload_as<Space, Real>("potential::empty", model_.empty);
  repulsion_ = upload<Space>("potential::nuclear_pairs", model_.repulsion);
  for (int centre = 0; centre < (model_.one_sided ? 1 : model_.n_types); ++centre) {
    const auto c = contraction_of(model_, centre);
    contraction_.push_back(upload_as<Space, Real>("potential::contraction", c));
    contraction_back_.push_back(
        upload_as<Space, Real>("potential::contraction_back", transpose(c, n_moments(), model_.n_channels)));
  }
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::reserve(int n, int n_repelled) {
  const std::size_t rows = n, summed = std::max(n, n_repelled), own = model_.axis == 0 ? 0 : rows;
  std::size_t widest = 1, layers = 0;
  for (const auto& f : fitting_) {
    layers = std::max(layers, f.hidden.size());
    for (const auto& layer : f.hidden) widest = std::max<std::size_t>(widest, layer.n_out);
  }
  widest_ = widest;
  // Seldom another number, so that the launches stay the same.
  capacity_ = std::max(1, (neighbours_.longest() + 31) / 32 * 32);
  device::make_room<int, Space>(row_, "potential::row", rows * capacity_, 1.05);
  device::make_room<int, Space>(row_size_, "potential::row_size", rows);
  device::make_room<Real, Space>(moments_, "potential::moments", rows * model_.columns() * n_moments());
  device::make_room<Real, Space>(t_, "potential::t", rows * model_.columns() * model_.n_channels);
  device::make_room<Real, Space>(dt_, "potential::dt", own * 4 * model_.n_channels);
  device::make_room<Real, Space>(d_, "potential::d", own * d_size());
  for (auto& y : y_) device::make_room<Real, Space>(y, "potential::y", rows * widest);
  slope_.resize(layers);
  for (auto& slope : slope_) device::make_room<Real, Space>(slope, "potential::slope", rows * widest);
  device::make_room<double, Space>(sums_, "potential::sums", summed * 10);
  device::make_room<double, Space>(partial_, "potential::partial", 10 * (summed / 1024 + 1));
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::contract(int begin, int end, bool back) {
  const int k = n_moments(), channels = model_.n_channels, columns = model_.columns();
  const auto part = [&](int table, int first, int size) {
    Real* m = moments_.data() + std::int64_t{first} * columns * k;
    Real* t = t_.data() + std::int64_t{first} * columns * channels;
    const Real* dt = this->dt() + std::int64_t{first} * columns * channels;
    if (back)
      multiplier_.multiply(space_, device::Product<Real>{dt, channels, contraction_back_[table].data(), m, k,
                                                         columns * size, channels, k});
    else
      multiplier_.multiply(space_, device::Product<Real>{m, k, contraction_[table].data(), t, channels,
                                                         columns * size, k, channels, true});
  };
  if (model_.one_sided)
    part(0, 0, end - begin);
  else
    for_types(begin, end, part);
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::fit(const EngineAtoms& atoms, int type, int begin, int first, int n) {
  const Fitting& net = fitting_[type];
  const Space& space = branches_.space(fork_types_ ? type : 0);
  const auto& multiplier = branches_.multiplier(fork_types_ ? type : 0);
  // Each type has its own rows of the temporaries.
  const std::size_t own_rows = first * widest_;
  const auto slope = [&](std::size_t l) { return slope_[l].data() + own_rows; };
  const auto y = [&](int k) { return y_[k].data() + own_rows; };
  Real* const d = this->d() + std::int64_t{first} * d_size();
  const Real* x = d;
  int now = 0;
  for (std::size_t l = 0; l < net.hidden.size(); ++l) {
    const Layer& layer = net.hidden[l];
    {
      Clock clock(*this, l == 0 ? "fitting_gemm_first" : "fitting_gemm");
      multiplier.multiply(space, device::Product<Real>{x, layer.n_in, layer.weight.data(), slope(l),
                                                       layer.n_out, n, layer.n_in, layer.n_out});
    }
    Clock clock(*this, "activation");
    Kokkos::parallel_for("potential::activation", Kokkos::RangePolicy<Space>(space, 0, n * layer.n_out),
                         ActivationKernel<Real>{slope(l), x, layer.bias.data(), layer.timestep.data(), y(now),
                                                layer.n_in, layer.n_out, layer.skip, layer.kind});
    x = y(now);
    now = 1 - now;
  }
  {
    Clock clock(*this, "energy");
    device::for_each_atom(
        space, "potential::energy", n,
        EnergyKernel<Space, Real>{x, net.last.data(), model_.fitting[type].constant, net.hidden.back().n_out,
                                  order_.data() + begin + first,
                                  sums_.data() + 10 * static_cast<std::size_t>(first), atoms.atom_energy});
  }
  const Real* dy = net.last.data();
  int dy_stride = 0;
  for (std::size_t l = net.hidden.size(); l-- > 0;) {
    const Layer& layer = net.hidden[l];
    // Where x was added to y, dx begins as dy: dy's own place, if it has one.
    const bool in_place = l > 0 && layer.skip == 1 && dy_stride > 0;
    Real* const dx = l == 0 ? d : y(in_place ? 1 - now : now);
    {
      Clock clock(*this, "activation_back");
      if (layer.skip == 2)
        Kokkos::parallel_for("potential::skip", Kokkos::RangePolicy<Space>(space, 0, n * layer.n_in),
                             SkipKernel<Real>{dy, dx, layer.n_in, layer.n_out, dy_stride});
      Kokkos::parallel_for("potential::slope", Kokkos::RangePolicy<Space>(space, 0, n * layer.n_out),
                           SlopeKernel<Real>{slope(l), dy, layer.skip == 1 && !in_place ? dx : nullptr,
                                             layer.n_out, dy_stride});
    }
    Clock clock(*this, l == 0 ? "fitting_gemm_first_back" : "fitting_gemm_back");
    multiplier.multiply(space, device::Product<Real>{slope(l), layer.n_out, layer.transposed.data(), dx,
                                                     layer.n_in, n, layer.n_out, layer.n_in, layer.skip > 0});
    dy = dx;
    dy_stride = layer.n_in;
    if (!in_place) now = 1 - now;
  }
}

template <class Space, class Real>
void PotentialEngine<Space, Real>::repel(const EngineAtoms& atoms, int begin, int end) {
  Clock clock(*this, "repulsion");
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

template <class Space, class Real>
void PotentialEngine<Space, Real>::compute_chunk(const EngineAtoms& atoms, int begin, int end) {
  const auto with_order = [&]<int order>(std::integral_constant<int, order>) {
    if (model_.axis == 0)
      compute_chunk_of<order, Form::distances>(atoms, begin, end);
    else if (model_.gate.empty())
      compute_chunk_of<order, Form::rows>(atoms, begin, end);
    else
      compute_chunk_of<order, Form::gated>(atoms, begin, end);
  };
  switch (model_.order) {
    case 8:
      return with_order(std::integral_constant<int, 8>());
    case 16:
      return with_order(std::integral_constant<int, 16>());
    case 24:
      return with_order(std::integral_constant<int, 24>());
    default:
      throw std::runtime_error("polynomials of this order have no kernel");
  }
}

// Instantiated in potential_device.cpp.
extern template class PotentialEngine<Kokkos::DefaultExecutionSpace, float>;
extern template class PotentialEngine<Kokkos::DefaultExecutionSpace, double>;

}  // namespace quintet::potential
