#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "physics/kernels/dense_multiply.hpp"
#include "surrogates/potential/device/device_model.hpp"
#include "surrogates/potential/device/engine_atoms.hpp"
#include "surrogates/potential/device/force_sums.hpp"
#include "surrogates/potential/device/upload.hpp"

/// What the descriptors of an engine share.
namespace quintet::potential {

/// Times of an engine's stages, measured where that is asked for.
template <class Space>
struct Stages {
  Space space;
  bool on = false;
  std::map<std::string, double> seconds{};
};

/// Adds up the time of a stage, waiting for it, where that is asked for.
template <class Space>
class Clock {
 public:
  Clock(Stages<Space>& stages, const char* stage) : stages_(stages), stage_(stage) {
    if (stages_.on) stages_.space.fence();
    timer_.reset();
  }
  ~Clock() {
    if (!stages_.on) return;
    stages_.space.fence();
    stages_.seconds[stage_] += timer_.seconds();
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

 private:
  Stages<Space>& stages_;
  const char* stage_;
  Kokkos::Timer timer_;
};

/// Some atoms in the engine's order, types one after the other.
template <class Real>
struct Chunk {
  const EngineAtoms& atoms;
  int n;
  const int* order;  ///< [n] local indices
  const std::int64_t* offset;
  const int* list;         ///< neighbours of all local atoms
  std::vector<int> first;  ///< [n_types + 1] a type's first row
  Real* d;                 ///< [n, d_stride] D of all parts, dE/dD in backward()
  int d_stride;
  double* sums;  ///< [n, 10] energy, virial

  /// body(type, first row, rows) for the types that are there.
  template <class Body>
  void for_types(const Body& body) const {
    for (std::size_t t = 0; t + 1 < first.size(); ++t)
      if (first[t] < first[t + 1]) body(static_cast<int>(t), first[t], first[t + 1] - first[t]);
  }
};

/// A descriptor on an execution space: from neighbours to D, and from dE/dD to forces.
template <class Space, class Real>
class EnginePart {
 public:
  using Reals = device::Buffer<Real, Space>;
  /// What all parts of an engine work with; they and the model outlive it.
  struct Tools {
    const Space& space;
    const device::DenseMultiplier<Space>& multiplier;
    Stages<Space>& stages;
  };
  /// Where a part stands among those of its model.
  struct Place {
    int index;
    int d_offset;  ///< of its numbers in D
    double largest_force;
    Trouble* trouble;
  };
  EnginePart(const DevicePart& model, const Place& place, const Tools& tools)
      : model_(model), place_(place), tools_(tools) {
    mean_ = upload<Space>("potential::mean", model_.mean);
    scale_ = upload<Space>("potential::scale", model_.inverse_deviation);
    sel_ = upload<Space>("potential::sel", model_.sel);
    slots_ = upload<Space>("potential::slots", model_.slots);
    dropped_ = upload<Space>("potential::dropped", model_.dropped);
    emptied_ = upload<Space>("potential::emptied", model_.emptied);
    network_ = upload<Space>("potential::network", model_.network);
    polynomial_ = upload_as<Space, Real>("potential::polynomial", model_.polynomial);
  }
  virtual ~EnginePart() = default;
  EnginePart(const EnginePart&) = delete;
  EnginePart& operator=(const EnginePart&) = delete;

  /// Room for chunks of `rows` atoms with up to `capacity` listed neighbours.
  virtual void reserve(std::size_t rows, int capacity) {
    capacity_ = capacity;
    device::make_room<int, Space>(row_, "potential::row", rows * capacity, 1.05);
    device::make_room<int, Space>(row_size_, "potential::row_size", rows);
  }
  /// Set its numbers of D.
  virtual void forward(const Chunk<Real>& chunk) = 0;
  /// Add its forces, and its virial to `chunk.sums`; after forward() of the same chunk.
  virtual void backward(const Chunk<Real>& chunk) = 0;
  /// Memory of its temporaries (bytes).
  [[nodiscard]] virtual std::size_t bytes() const { return 4 * (row_.extent(0) + row_size_.extent(0)); }
  /// Where these are: launches that are recorded hold for them.
  [[nodiscard]] virtual std::vector<const void*> places() const { return {row_.data()}; }

 protected:
  [[nodiscard]] AtomRows rows(const Chunk<Real>& chunk) const {
    return {chunk.order, chunk.atoms.x,    chunk.atoms.type, chunk.offset,
            chunk.list,  row_size_.data(), row_.data(),      capacity_};
  }
  [[nodiscard]] EnvironmentTables tables() const {
    return {mean_.data(),    scale_.data(),   sel_.data(),    slots_.data(),
            dropped_.data(), emptied_.data(), network_.data()};
  }
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
  [[nodiscard]] ForceTargets targets(const Chunk<Real>& chunk) const {
    const auto& atoms = chunk.atoms;
    return {atoms.owner,    atoms.force,          atoms.atom_virial, chunk.sums,
            place_.trouble, place_.largest_force, place_.index > 0};
  }

  const DevicePart& model_;
  Place place_;
  Tools tools_;
  Reals polynomial_;

 private:
  device::Buffer<double, Space> mean_, scale_;
  device::Buffer<int, Space> sel_, slots_, network_, row_, row_size_;
  device::Buffer<char, Space> dropped_, emptied_;
  int capacity_ = 0;
};

}  // namespace quintet::potential
