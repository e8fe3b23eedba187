#pragma once

#include "physics/kinetics/advection/vlasov_faces_impl.hpp"

/// The edges of a block: traces for neighbours and walls, and what comes from beyond. Part of
/// VlasovOperatorOf.
namespace quintet::kinetics {

template <class Tr>
int VlasovOperatorOf<Tr>::edge_conf(int i, int side, int number) const {
  std::array<int, 3> index{};
  for (int d = cdim - 1; d >= 0; --d) {
    if (d == i) {
      index[d] = side < 0 ? 0 : block_.extent[d] - 1;
    } else {
      index[d] = number % block_.extent[d];
      number /= block_.extent[d];
    }
  }
  return block_.conf_number(index);
}

template <class Tr>
int VlasovOperatorOf<Tr>::edge_row(int d, int side, int number) const {
  std::array<int, 3> index{};
  for (int e = last - 1; e >= 0; --e) {
    const int n = block_.extent[cdim + e];
    if (e == d) {
      index[e] = side < 0 ? 0 : n - 1;
    } else {
      index[e] = number % n;
      number /= n;
    }
  }
  return block_.row_number(index);
}

template <class Tr>
std::size_t VlasovOperatorOf<Tr>::trace_size(int direction) const {
  const std::int64_t n_conf = block_.n_conf();
  const std::int64_t row = block_.n_packs();
  if (direction < cdim) return std::int64_t{n_edge_conf(direction)} * block_.n_rows() * row * conf_face_size;
  if (direction == cdim + last) return n_conf * block_.n_rows() * Tr::n_face_modes;
  return n_conf * n_edge_rows(direction - cdim) * row * face_size;
}

template <class Tr>
void VlasovOperatorOf<Tr>::trace(const Exec& exec, const Distribution& f, int direction, int side,
                                 const Array<double>& out) const {
  const int n_packs = block_.n_packs(), n_rows = block_.n_rows();
  double* const to = out.data();
  repeat<cdim>([&](auto i) {
    if (i != direction) return;
    for_each(exec, "vlasov::trace", n_edge_conf(i), [&](Workspace&, int number) {
      const int conf = edge_conf(i, side, number);
      for (int pack = 0; pack < n_rows * n_packs; ++pack) {
        const double* from = f.pack(conf, 0, pack);
        double* trace = to + (std::int64_t{number} * n_rows * n_packs + pack) * conf_face_size;
        side > 0 ? conf_trace<Tr, i, 1>(from, trace) : conf_trace<Tr, i, -1>(from, trace);
      }
    });
  });
  repeat<last>([&](auto d) {
    if (cdim + d != direction) return;
    for_each(exec, "vlasov::trace", block_.n_conf(), [&](Workspace&, int conf) {
      for (int number = 0; number < n_edge_rows(d); ++number)
        for (int pack = 0; pack < n_packs; ++pack) {
          const double* from = f.pack(conf, edge_row(d, side, number), pack);
          double* trace = to + ((std::int64_t{conf} * n_edge_rows(d) + number) * n_packs + pack) * face_size;
          side > 0 ? velocity_trace<Tr, d, 1>(from, trace) : velocity_trace<Tr, d, -1>(from, trace);
        }
    });
  });
  if (direction != cdim + last) return;
  const int cell = side < 0 ? 0 : block_.n_last() - 1;
  for_each(exec, "vlasov::trace", block_.n_conf(), [&](Workspace&, int conf) {
    VelocityFace face;
    for (int row = 0; row < n_rows; ++row) {
      const double* from = f.pack(conf, row, cell / lanes);
      side > 0 ? velocity_trace<Tr, last, 1>(from, face) : velocity_trace<Tr, last, -1>(from, face);
      for (int m = 0; m < Tr::n_face_modes; ++m)
        to[(std::int64_t{conf} * n_rows + row) * Tr::n_face_modes + m] = face.mode[m * lanes + cell % lanes];
    }
  });
}

template <class Tr>
void VlasovOperatorOf<Tr>::add_exterior(const Exec& exec, const Stage& stage, const FaceTraces& exterior,
                                        const ConfField& acceleration, const Distribution& out,
                                        const StageMoments& moments) {
  const Task task{stage, {}, {}, out, acceleration, moments};
  for (const int side : {-1, 1}) {
    repeat<cdim>([&](auto i) {
      const auto& from = exterior.side[i][side > 0];
      if (from.size() == 0) return;
      for_each(exec, "vlasov::add_exterior", n_edge_conf(i),
               [&](Workspace&, int number) { add_conf_exterior<i>(task, side, from.data(), number); });
    });
    repeat<vdim>([&](auto d) {
      const auto& from = exterior.side[cdim + d][side > 0];
      if (from.size() == 0) return;
      for_each(exec, "vlasov::add_exterior", block_.n_conf(),
               [&](Workspace& w, int conf) { add_velocity_exterior<d>(w, task, side, from.data(), conf); });
    });
  }
}

template <class Tr>
template <int I>
void VlasovOperatorOf<Tr>::add_conf_exterior(const Task& task, int side, const double* exterior,
                                             int number) const {
  const int conf = edge_conf(I, side, number), n_packs = block_.n_packs();
  Cell df;
  ConfFace blended, jump;
  MomentSums<Tr> sums;
  for (int row = 0; row < block_.n_rows(); ++row) {
    auto c = context(block_.row_index(row));
    for (int pack = 0; pack < n_packs; ++pack) {
      set_last_velocity(c, pack);
      const double* outside =
          exterior + ((std::int64_t{number} * block_.n_rows() + row) * n_packs + pack) * conf_face_size;
      const auto weights = face_weights(c.flux, c.v[I], c.half_dv[I]);
      if (weights.sign == side) continue;  // what is outside lies downwind
      for (int i = 0; i < cell_size; i += lanes) store<double>(df + i, P{});
      blend<Tr, Tr::n_conf_face_modes>(weights, side < 0 ? outside : nullptr, side < 0 ? nullptr : outside,
                                       blended, jump);
      if (side < 0)
        streaming_lift<Tr, I, -1>(c, blended, jump, df);
      else
        streaming_lift<Tr, I, 1>(c, blended, jump, df);
      add_delta(task, c, conf, row, pack, df, sums);
    }
  }
  write_moments(sums, task.moments, conf, true);
}

template <class Tr>
template <int D>
void VlasovOperatorOf<Tr>::add_velocity_exterior(Workspace& w, const Task& task, int side,
                                                 const double* exterior, int conf) const {
  make_cell_force(task.acceleration, conf, w.force);
  const int n_packs = block_.n_packs(), edge_cell = side < 0 ? 0 : block_.n_last() - 1;
  const int n_rows = D == last ? block_.n_rows() : n_edge_rows(D);
  Cell df;
  VelocityFace outside, flux;
  MomentSums<Tr> sums;
  for (int number = 0; number < n_rows; ++number) {
    const int row = D == last ? number : edge_row(D, side, number);
    auto c = context(block_.row_index(row));
    const int first = D == last ? edge_cell / lanes : 0, end = D == last ? first + 1 : n_packs;
    for (int pack = first; pack < end; ++pack) {
      set_last_velocity(c, pack);
      const auto weights = force_weights<Tr, D>(c, w.force);
      if (weights.sign == side) continue;  // what is outside lies downwind
      const std::size_t face = std::int64_t{conf} * n_rows + number;
      if constexpr (D == last) {  // one lane has the edge as its face
        std::copy_n(zero_.data(), face_size, outside.mode);
        for (int m = 0; m < Tr::n_face_modes; ++m)
          outside.mode[m * lanes + edge_cell % lanes] = exterior[face * Tr::n_face_modes + m];
      } else {
        std::copy_n(exterior + (face * n_packs + pack) * face_size, face_size, outside.mode);
      }
      for (int i = 0; i < cell_size; i += lanes) store<double>(df + i, P{});
      edge_flux<D>(w.force, c, weights, side < 0 ? +outside : nullptr, side < 0 ? nullptr : +outside, flux);
      if (side < 0)
        velocity_lift<Tr, D>(c, flux, zero_.data(), df);
      else
        velocity_lift<Tr, D>(c, zero_.data(), flux, df);
      add_delta(task, c, conf, row, pack, df, sums);
    }
  }
  write_moments(sums, task.moments, conf, true);
}

template <class Tr>
void VlasovOperatorOf<Tr>::add_delta(const Task& task, const PackContext<Tr>& c, int conf, int row, int pack,
                                     double* df, MomentSums<Tr>& sums) const {
  const double rate = task.stage.advance * task.stage.dt;
  double* out = task.out.pack(conf, row, pack);
  for (int i = 0; i < cell_size; i += lanes) {
    const P delta = rate * load<double>(df + i);
    store<double>(df + i, delta);
    store<double>(out + i, load<double>(out + i) + delta);
  }
  if (task.moments.size() > 0) sums.add(c, df);
}

template <class Tr>
void VlasovOperatorOf<Tr>::mirror(const Exec& exec, int direction, const Array<double>& own, double share,
                                  bool add, const Array<double>& out) const {
  const int n_packs = block_.n_packs(), n_rows = block_.n_rows(), n_last = block_.n_last();
  const auto value = [&](const Array<double>& a, int number, int row, int cell, int m) -> double& {
    return a.data()[((std::int64_t{number} * n_rows + row) * n_packs + cell / lanes) * conf_face_size +
                    m * lanes + cell % lanes];
  };
  for_each(exec, "vlasov::mirror", n_edge_conf(direction), [&](Workspace&, int number) {
    for (int row = 0; row < n_rows; ++row) {
      auto index = block_.row_index(row);
      if (direction >= 0 && direction < last) {
        auto& j = index[direction];
        j = block_.extent[cdim + direction] - 1 - j;
      }
      const int from = block_.row_number(index);
      for (int g = 0; g < Tr::n_groups; ++g) {
        const double factor = Tr::groups.modes[g][direction] % 2 == 1 ? -share : share;
        const int end = Tr::conf_face_offset(g + 1);
        for (int m = Tr::conf_face_offset(g); m < end; ++m)
          for (int cell = 0; cell < n_last; ++cell) {
            double& to = value(out, number, row, cell, m);
            const double mirrored =
                factor * value(own, number, from, direction == last ? n_last - 1 - cell : cell, m);
            to = add ? to + mirrored : mirrored;
          }
      }
    }
  });
}

template <class Tr>
VlasovOperator::CountedOutflow VlasovOperatorOf<Tr>::outflow(const Exec& exec, Flux flux, int direction,
                                                             int side, const Array<double>& inside,
                                                             const Array<double>& outside) const {
  exec.fence();  // traces are made by kernels, read here
  constexpr int n = Tr::n_conf_face_full;
  const int n_packs = block_.n_packs();
  Outflow out;
  out.particles.assign(n_edge_conf(direction) * n, 0.0);
  FaceOutflow<Tr> sum;
  ConfFace blended, jump;
  for (int number = 0; number < n_edge_conf(direction); ++number)
    for (int row = 0; row < block_.n_rows(); ++row) {
      auto c = context(block_.row_index(row));
      for (int pack = 0; pack < n_packs; ++pack) {
        set_last_velocity(c, pack);
        const auto place = ((std::int64_t{number} * block_.n_rows() + row) * n_packs + pack) * conf_face_size;
        const double* in = inside.size() > 0 ? inside.data() + place : nullptr;
        const double* beyond = outside.size() > 0 ? outside.data() + place : nullptr;
        const auto weights = face_weights(flux, c.v[direction], c.half_dv[direction]);
        blend<Tr, Tr::n_conf_face_modes>(weights, side > 0 ? in : beyond, side > 0 ? beyond : in, blended,
                                         jump);
        sum.add(c, direction, blended, jump);
        const auto particles =
            times_velocity<OnConfFace<Tr>, n>(direction, 0, c.v[direction], c.half_dv[direction], blended);
        for (int a = 0; a < n; ++a)
          out.particles[number * n + a] +=
              side * moment_factor_ * horizontal_sum<double>(c.volume * (particles[a] - load_mode(jump, a)));
      }
    }
  double scale = side * moment_factor_;  // int phi_0 over the face's x directions
  for (int i = 0; i < cdim; ++i)
    if (i != direction) scale *= block_.grid.width(i) / constant_sqrt(2);
  out.amount = {scale * horizontal_sum<double>(sum.m0), {}, 0.5 * scale * horizontal_sum<double>(sum.m2)};
  for (std::size_t d = 0; d < Tr::vdim; ++d)
    out.amount.momentum[d] = scale * horizontal_sum<double>(sum.m1[d]);
  return [out] { return out; };
}

}  // namespace quintet::kinetics
