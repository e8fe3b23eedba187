#pragma once

#include <vector>

#include "surrogates/potential/device/engine_part.hpp"
#include "surrogates/potential/device/triplet_kernels.hpp"

namespace quintet::potential {

/// A descriptor of pairs of neighbours: se_e3.
template <class Space, class Real>
class TripletsPart final : public EnginePart<Space, Real> {
  using Part = EnginePart<Space, Real>;
  using Part::model_, Part::place_, Part::tools_, Part::polynomial_;

 public:
  TripletsPart(const DevicePart& model, const typename Part::Place& place, const typename Part::Tools& tools)
      : Part(model, place, tools),
        x_by_theta_(upload_as<Space, Real>("potential::x_by_theta", model.x_by_theta)) {}

  void reserve(std::size_t rows, int capacity) override {
    Part::reserve(rows, capacity);
    device::make_room<int, Space>(filled_, "potential::filled", rows * model_.n_types);
  }
  void forward(const Chunk<Real>& chunk) override {
    Clock clock(tools_.stages, "triplets");
    device::for_each_atom(
        tools_.space, "potential::triplets", chunk.n,
        TripletKernel<Space, Real>{inputs(chunk), chunk.d + place_.d_offset, chunk.d_stride, place_.trouble});
  }
  void backward(const Chunk<Real>& chunk) override {
    Clock clock(tools_.stages, "triplet_forces");
    device::for_each_atom(tools_.space, "potential::triplet_forces", chunk.n,
                          TripletForcesKernel<Space, Real>{inputs(chunk), chunk.d + place_.d_offset,
                                                           chunk.d_stride, this->targets(chunk)});
  }
  [[nodiscard]] std::size_t bytes() const override { return Part::bytes() + 4 * filled_.extent(0); }
  [[nodiscard]] std::vector<const void*> places() const override {
    auto all = Part::places();
    all.push_back(filled_.data());
    return all;
  }

 private:
  [[nodiscard]] TripletInputs<Space, Real> inputs(const Chunk<Real>& chunk) const {
    const TripletNumbers numbers{model_.n_slots + model_.n_types, model_.order, model_.part_bits,
                                 model_.n_intervals / 2};
    return {this->rows(chunk),  this->numbers(),    this->tables(), numbers,
            polynomial_.data(), x_by_theta_.data(), filled_.data()};
  }

  typename Part::Reals x_by_theta_;
  device::Buffer<int, Space> filled_;
};

}  // namespace quintet::potential
