#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "physics/convection/device/column_kernels.hpp"
#include "physics/convection/device/device_flows.hpp"
#include "physics/kernels/device_buffer.hpp"

namespace quintet::convection::device {

/// Exchanges between the slabs of flows in a step: rows at their edges, and the ends of the elimination.
/// Parcels are packed on the device, and go through the host where MPI does not read its memory.
class SlabTraffic {
  using Exec = Kokkos::DefaultExecutionSpace;
  using Numbers = quintet::device::Buffer<double, Exec>;
#ifdef KOKKOS_ENABLE_CUDA
  using Staging = Kokkos::CudaHostPinnedSpace;
#else
  using Staging = Kokkos::HostSpace;
#endif
  static constexpr int n_diffused = 3;  ///< u, w and b; of the pressure 1

 public:
  /// On a single slab nothing is allocated, and nothing may be called.
  explicit SlabTraffic(const DeviceFlowSetup& setup)
      : links_(setup.links), n_(setup.n_slabs()), me_(setup.slab) {
    if (n_ == 1) return;
    for (Numbers* parcel : {&outgoing_, &incoming_}) *parcel = made("parcel", parcel_size(setup));
    sides_ = made("ends", n_ * slice_size(setup.n_x, setup.n_members, n_diffused));
    const std::int64_t n_x = setup.n_x;
    for (const bool pressure : {false, true}) {
      const std::int64_t n = (pressure ? 1 : n_diffused) * n_x;
      Joint& joint = pressure ? pressure_ : diffusion_;
      joint.numbers = made("factors", n_ * n * EndFactors::n_factors);
      joint.inverse = made("pivots", n_ * n);
      joint.factors = {setup.n_x, n_, n, joint.numbers.data(), joint.inverse.data()};
    }
    if (links_->direct()) return;
    const std::size_t most =
        std::max({2 * outgoing_.extent(0), sides_.extent(0), diffusion_.numbers.extent(0)});
    staged_ = Kokkos::View<double*, Staging>(
        Kokkos::view_alloc(std::string("convection::staged"), Kokkos::WithoutInitializing), most);
  }
  /// Numbers that it allocates on the device.
  static double size(const DeviceFlowSetup& setup) {
    if (setup.n_slabs() == 1) return 0;
    const double factors = double{EndFactors::n_factors + 1} * (n_diffused + 1) * setup.n_x;
    return 2.0 * parcel_size(setup) +
           setup.n_slabs() * (factors + slice_size(setup.n_x, setup.n_members, n_diffused));
  }

  ~SlabTraffic() {
    if (under_way_) links_->drop();  // before the memory that they use
  }
  SlabTraffic(const SlabTraffic&) = delete;
  SlabTraffic& operator=(const SlabTraffic&) = delete;

  /// Rows of these fields from the neighbours to beyond this slab's own: on their way from here to finish(),
  /// while which all other rows may be changed and nothing else may be sent.
  void start(const Flows& f, const EdgeFields& fields) {
    finish(f);
    const std::int64_t line = std::int64_t{f.n_members} * f.mesh.n_x, n_up = fields.n_up * line,
                       n_down = fields.n_down * line, n = n_up + n_down;
    Kokkos::parallel_for("convection::pack", range(n), EdgeRows<true>{f, fields, outgoing_.data()});
    double *out = outgoing_.data(), *in = incoming_.data();
    if (!links_->direct()) {
      out = staged_.data();
      in = out + n;
      copy(out, outgoing_.data(), n);
    }
    Exec().fence();
    links_->start({out, n_up, out + n_up, n_down, in, in + n_up});
    travelling_ = fields;
    under_way_ = true;
  }
  [[nodiscard]] bool under_way() const { return under_way_; }
  void finish(const Flows& f) {
    if (!std::exchange(under_way_, false)) return;
    links_->finish();
    const std::int64_t n = std::int64_t{travelling_.n_up + travelling_.n_down} * f.n_members * f.mesh.n_x;
    if (!links_->direct()) copy_back(incoming_.data(), staged_.data() + n, n);
    Kokkos::parallel_for("convection::unpack", range(n), EdgeRows<false>{f, travelling_, incoming_.data()});
  }

  /// l_below and f_above of `n_fields` unknowns from number `first_field` on, whose columns in `set` are
  /// right-hand sides yet: [unknown, flow, 2, n_x]. The equations are Columns' with `shift` and `a`; those of
  /// diffusion are made anew where `a` is another than before.
  const double* ends(const Flows& f, double* set, int first_field, int n_fields, double shift, double a) {
    const bool pressure = a == 0;
    Joint& joint = pressure ? pressure_ : diffusion_;
    if (joint.a != a) factorise(f, joint, first_field, shift, a);
    const std::int64_t n = std::int64_t{n_fields} * f.n_members * f.mesh.n_x,
                       size = slice_size(f.mesh.n_x, f.n_members, n_fields);
    double* const own = sides_.data() + me_ * size;
    Kokkos::parallel_for("convection::ends", range(n), EndSides{f, set, first_field, shift, a, own});
    gather(sides_, size);
    Kokkos::parallel_for("convection::join_ends", range(n),
                         JoinedSides{f, joint.factors, me_, pressure, sides_.data(), size});
    return own;
  }

 private:
  struct Joint {
    double a = -1;  ///< of which the factors are
    Numbers numbers, inverse;
    JoinedFactors factors{};
  };

  static std::int64_t slice_size(int n_x, int n_members, int n_fields) {
    return std::int64_t{2} * n_fields * n_members * n_x + (n_fields == 1 ? n_members : 0);
  }
  static std::int64_t parcel_size(const DeviceFlowSetup& setup) {
    return std::int64_t{2} * EdgeFields::most * setup.n_members * setup.n_x;
  }
  static Numbers made(const char* label, std::int64_t n) {
    return Numbers(std::string("convection::") + label, static_cast<std::size_t>(n));
  }
  static Kokkos::RangePolicy<Exec> range(std::int64_t n) { return {0, static_cast<std::size_t>(n)}; }

  static void copy(double* host, const double* device, std::int64_t n) {
    const std::size_t size = n;
    Kokkos::deep_copy(Exec(), Kokkos::View<double*, Staging, Kokkos::MemoryUnmanaged>(host, size),
                      Kokkos::View<const double*, Exec::memory_space, Kokkos::MemoryUnmanaged>(device, size));
  }
  static void copy_back(double* device, const double* host, std::int64_t n) {
    const std::size_t size = n;
    Kokkos::deep_copy(Exec(),
                      Kokkos::View<double*, Exec::memory_space, Kokkos::MemoryUnmanaged>(device, size),
                      Kokkos::View<const double*, Staging, Kokkos::MemoryUnmanaged>(host, size));
  }

  void factorise(const Flows& f, Joint& joint, int first_field, double shift, double a) {
    const std::int64_t n = joint.factors.n, size = EndFactors::n_factors * n;
    Kokkos::parallel_for("convection::end_factors", range(n),
                         EndFactors{f, first_field, shift, a, joint.numbers.data() + me_ * size});
    gather(joint.numbers, size);
    Kokkos::parallel_for("convection::join_factors", range(n), joint.factors);
    joint.a = a;
  }

  /// Slices of all ranks, [n_ranks, size], of which this rank has its own.
  void gather(const Numbers& numbers, std::int64_t size) {
    double* slices = numbers.data();
    if (!links_->direct()) {
      slices = staged_.data();
      copy(slices + me_ * size, numbers.data() + me_ * size, size);
    }
    Exec().fence();
    links_->with_all(slices, n_ * size);
    if (!links_->direct()) copy_back(numbers.data(), slices, n_ * size);
  }

  std::shared_ptr<SlabLinks> links_;
  int n_, me_;
  EdgeFields travelling_{};
  bool under_way_ = false;
  Numbers outgoing_, incoming_, sides_;
  Joint diffusion_, pressure_;
  Kokkos::View<double*, Staging> staged_;
};

}  // namespace quintet::convection::device
