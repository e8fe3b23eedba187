#pragma once

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "surrogates/potential/device/descriptor_kernels.hpp"
#include "surrogates/potential/device/engine_part.hpp"
#include "surrogates/potential/device/environment_kernels.hpp"
#include "surrogates/potential/device/forces_kernel.hpp"

namespace quintet::potential {

/// A descriptor whose neighbours enter one by one, through moments: se_e2_a, dpa1, se_e2_r.
template <class Space, class Real>
class MomentsPart final : public EnginePart<Space, Real> {
  using Part = EnginePart<Space, Real>;
  using Part::model_, Part::place_, Part::tools_, Part::polynomial_;
  using typename Part::Reals;

 public:
  MomentsPart(const DevicePart& model, const typename Part::Place& place, const typename Part::Tools& tools)
      : Part(model, place, tools) {
    gate_ = upload_as<Space, Real>("potential::gate", model_.gate);
    empty_ = upload_as<Space, Real>("potential::empty", model_.empty);
    for (int centre = 0; centre < (model_.one_sided ? 1 : model_.n_types); ++centre) {
      const auto c = contraction_of(model_, centre);
      contraction_.push_back(upload_as<Space, Real>("potential::contraction", c));
      contraction_back_.push_back(upload_as<Space, Real>(
          "potential::contraction_back", transpose(c, model_.n_moments(), model_.n_channels)));
    }
  }

  void reserve(std::size_t rows, int capacity) override {
    Part::reserve(rows, capacity);
    const std::size_t t = has_axis() ? rows * 4 * model_.n_channels : 0;
    device::make_room<Real, Space>(moments_, "potential::moments",
                                   rows * model_.columns() * model_.n_moments());
    device::make_room<Real, Space>(t_, "potential::t", t);
    device::make_room<Real, Space>(dt_, "potential::dt", t);
  }

  void forward(const Chunk<Real>& chunk) override {
    const Columns t = columns(chunk, t_);
    {
      Clock clock(tools_.stages, "moments");
      with_kernels([&]<int order, Form form>() {
        device::for_each_atom(
            tools_.space, "potential::moments", chunk.n,
            MomentsKernel<Space, Real, order, form>{this->rows(chunk), this->numbers(), this->tables(),
                                                    polynomial_.data(), gate_.data(), empty_.data(),
                                                    moments_.data(), t.of, t.stride, place_.trouble});
      });
    }
    {
      Clock clock(tools_.stages, "embedding_gemm");
      contract(chunk, t, false);
    }
    if (!has_axis()) return;
    Clock clock(tools_.stages, "descriptor");
    device::for_each_atom(tools_.space, "potential::descriptor", chunk.n,
                          DescriptorKernel<Space, Real>{t_.data(), chunk.d + place_.d_offset,
                                                        model_.n_channels, model_.axis, chunk.d_stride});
  }

  void backward(const Chunk<Real>& chunk) override {
    const Columns dt = columns(chunk, dt_);
    if (has_axis()) {
      Clock clock(tools_.stages, "descriptor_back");
      device::for_each_atom(
          tools_.space, "potential::descriptor_back", chunk.n,
          DescriptorBackKernel<Space, Real>{t_.data(), chunk.d + place_.d_offset, dt_.data(),
                                            model_.n_channels, model_.axis, model_.size(), chunk.d_stride});
    }
    {
      Clock clock(tools_.stages, "embedding_gemm_back");
      contract(chunk, dt, true);
    }
    Clock clock(tools_.stages, "forces");
    with_kernels([&]<int order, Form form>() {
      device::for_each_atom(tools_.space, "potential::forces", chunk.n,
                            ForcesKernel<Space, Real, order, form>{
                                this->rows(chunk), this->numbers(), this->tables(), polynomial_.data(),
                                gate_.data(), moments_.data(), dt.of, dt.stride, this->targets(chunk)});
    });
  }

  [[nodiscard]] std::size_t bytes() const override {
    return Part::bytes() + sizeof(Real) * (moments_.extent(0) + t_.extent(0) + dt_.extent(0));
  }
  [[nodiscard]] std::vector<const void*> places() const override {
    auto all = Part::places();
    all.insert(all.end(), {moments_.data(), t_.data(), dt_.data()});
    return all;
  }

 private:
  /// T or dE/dT of a chunk; where T is D, in D's own place.
  struct Columns {
    Real* of;
    int stride;  ///< from atom to atom
  };
  [[nodiscard]] bool has_axis() const { return model_.axis > 0; }
  [[nodiscard]] Columns columns(const Chunk<Real>& chunk, const Reals& own) const {
    if (has_axis()) return {own.data(), 4 * model_.n_channels};
    return {chunk.d + place_.d_offset, chunk.d_stride};
  }

  /// T += M C, or dM = dT C^T.
  void contract(const Chunk<Real>& chunk, const Columns& columns, bool back) const {
    const int k = model_.n_moments(), channels = model_.n_channels, n_a = model_.columns(),
              stride = columns.stride / n_a;
    const auto part = [&](int table, int first, int size) {
      Real* m = moments_.data() + std::int64_t{first} * n_a * k;
      Real* t = columns.of + std::int64_t{first} * columns.stride;
      if (back)
        tools_.multiplier.multiply(
            tools_.space,
            device::Product<Real>{t, stride, contraction_back_[table].data(), m, k, n_a * size, channels, k});
      else
        tools_.multiplier.multiply(
            tools_.space, device::Product<Real>{m, k, contraction_[table].data(), t, stride, n_a * size, k,
                                                channels, true});
    };
    if (model_.one_sided)
      part(0, 0, chunk.n);
    else
      chunk.for_types(part);
  }

  /// body of the order and the form that the kernels are made in.
  template <class Body>
  void with_kernels(const Body& body) const {
    const auto with_order = [&]<int order>(std::integral_constant<int, order>) {
      if (model_.axis == 0)
        body.template operator()<order, Form::distances>();
      else if (model_.gate.empty())
        body.template operator()<order, Form::rows>();
      else
        body.template operator()<order, Form::gated>();
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

  Reals gate_, empty_, moments_, t_, dt_;
  std::vector<Reals> contraction_, contraction_back_;
};

}  // namespace quintet::potential
