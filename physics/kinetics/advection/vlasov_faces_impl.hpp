#pragma once

#include "physics/kinetics/advection/vlasov_operator_impl.hpp"

/// What passes the faces of a pack of cells, in the order of a row's sweep. Part of VlasovOperatorOf.
namespace quintet::kinetics {

// Volume term and two faces; where v has one sign in the cell, only the upwind trace is read.
template <class Tr>
template <int I>
QUINTET_INLINE inline void VlasovOperatorOf<Tr>::streaming(const PackContext<Tr>& c, const double* f,
                                                           const double* lower, const double* upper,
                                                           double* df, const double* next) const {
  ConfFace left, right;
  streaming_volume<Tr, I>(c, f, df, next);
  const auto weights = face_weights(c.flux, c.v[I], c.half_dv[I]);
  if (weights.sign > 0) {
    conf_trace<Tr, I, 1>(f, left);
    streaming_lift<Tr, I, 1>(c, left, nullptr, df);
    if (lower == nullptr) return;
    conf_trace<Tr, I, 1>(lower, left);
    streaming_lift<Tr, I, -1>(c, left, nullptr, df);
  } else if (weights.sign < 0) {
    conf_trace<Tr, I, -1>(f, right);
    streaming_lift<Tr, I, -1>(c, right, nullptr, df);
    if (upper == nullptr) return;
    conf_trace<Tr, I, -1>(upper, right);
    streaming_lift<Tr, I, 1>(c, right, nullptr, df);
  } else {
    ConfFace blended, jump;
    conf_trace<Tr, I, -1>(f, right);
    if (lower) conf_trace<Tr, I, 1>(lower, left);
    blend<Tr, Tr::n_conf_face_modes>(weights, lower ? +left : nullptr, right, blended, jump);
    streaming_lift<Tr, I, -1>(c, blended, jump, df);
    conf_trace<Tr, I, 1>(f, left);
    if (upper) conf_trace<Tr, I, -1>(upper, right);
    blend<Tr, Tr::n_conf_face_modes>(weights, left, upper ? +right : nullptr, blended, jump);
    streaming_lift<Tr, I, 1>(c, blended, jump, df);
  }
}

/// Flux through a velocity face from the traces at its two sides (null: zero), into `flux`.
template <class Tr>
template <int D>
QUINTET_INLINE inline void VlasovOperatorOf<Tr>::face_flux(const Force<Tr>& force, const PackContext<Tr>& c,
                                                           const Weights& weights, const double* left,
                                                           const double* right, double* flux) {
  if (weights.sign != 0) {
    const double* upwind = weights.sign > 0 ? left : right;
    if (upwind == nullptr)
      for_modes<Tr, Tr::n_face_modes>([&](auto m) QUINTET_INLINE { store_mode(flux, m, P{}); });
    else
      acceleration_flux<Tr, D>(c, force, upwind, nullptr, flux);
  } else {
    VelocityFace blended, jump;
    blend<Tr, Tr::n_face_modes>(weights, left, right, blended, jump);
    acceleration_flux<Tr, D>(c, force, blended, jump, flux);
  }
}

/// Flux through a velocity face at an edge of the block, as face_flux(): rare, so not inlined.
template <class Tr>
template <int D>
__attribute__((noinline)) void VlasovOperatorOf<Tr>::edge_flux(const Force<Tr>& force,
                                                               const PackContext<Tr>& c,
                                                               const Weights& weights, const double* left,
                                                               const double* right, double* flux) {
  face_flux<D>(force, c, weights, left, right, flux);
}

/// Faces towards the next row in velocity direction D; its flux is kept for that row.
template <class Tr>
template <int D>
QUINTET_INLINE inline void VlasovOperatorOf<Tr>::across_rows(Workspace& w, const PackContext<Tr>& c,
                                                             const Distribution& f, int conf, int row,
                                                             const std::array<int, 3>& index, int pack,
                                                             double* df) const {
  const int here = index[D], n = block_.extent[cdim + D];
  int stride = 1;
  for (int d = D + 1; d < last; ++d) stride *= block_.extent[cdim + d];
  const int place = ((row % stride) * block_.n_packs() + pack) * face_size;
  const double* own = f.pack(conf, row, pack);
  const auto weights = force_weights<Tr, D>(c, w.force);

  double* const lower = w.slab[D][here % 2].data() + place;
  if (here == 0) {
    if (open(cdim + D, -1)) {
      VelocityFace right;
      velocity_trace<Tr, D, -1>(own, right);
      edge_flux<D>(w.force, c, weights, nullptr, right, lower);
    } else {
      std::copy_n(zero_.data(), face_size, lower);
    }
  }
  double* const upper = w.slab[D][(here + 1) % 2].data() + place;
  if (here < n - 1 || open(cdim + D, 1)) {
    VelocityFace left, right;
    const bool from_above = here < n - 1 && weights.sign <= 0;
    if (weights.sign >= 0) velocity_trace<Tr, D, 1>(own, left);
    if (from_above) velocity_trace<Tr, D, -1>(f.pack(conf, row + stride, pack), right);
    face_flux<D>(w.force, c, weights, left, from_above ? +right : nullptr, upper);
  } else {
    std::copy_n(zero_.data(), face_size, upper);
  }
  velocity_lift<Tr, D>(c, lower, upper, df);
}

/// The lower trace of a row's first pack, and the flux that enters it from below.
template <class Tr>
void VlasovOperatorOf<Tr>::start_row(const Force<Tr>& force, const PackContext<Tr>& c, const double* f,
                                     Along& along) const {
  velocity_trace<Tr, last, -1>(f, along.trace);
  std::copy_n(zero_.data(), face_size, along.flux.mode);
  if (!open(cdim + last, -1)) return;
  const auto weights = force_weights<Tr, last>(c, force);
  VelocityFace flux;
  edge_flux<last>(force, c, weights, nullptr, along.trace, flux);
  for (int m = 0; m < Tr::n_face_modes; ++m)  // the flux below lane 0 is the one above the lane before it
    along.flux.mode[m * lanes + lanes - 1] = flux.mode[m * lanes];
}

/// Faces along the packed direction: between lanes, and to the next pack.
template <class Tr>
QUINTET_INLINE inline void VlasovOperatorOf<Tr>::along_row(const Force<Tr>& force, const PackContext<Tr>& c,
                                                           const double* f, int pack, Along& along,
                                                           double* df) const {
  constexpr int n_modes = Tr::n_face_modes;
  const int n = block_.n_last(), first = pack * lanes;
  const bool is_last = pack + 1 == block_.n_packs();
  const auto weights = force_weights<Tr, last>(c, force);
  VelocityFace next, left, right, flux;
  if (is_last)
    for_modes<Tr, n_modes>([&](auto m) QUINTET_INLINE { store_mode(next, m, P{}); });
  else
    velocity_trace<Tr, last, -1>(f + cell_size, next);
  if (weights.sign >= 0) velocity_trace<Tr, last, 1>(f, left);
  if (weights.sign <= 0)
    for_modes<Tr, n_modes>([&](auto m) QUINTET_INLINE {
      store_mode(right, m, shift_up<double>(load_mode(along.trace, m), load_mode(next, m)));
    });
  along.trace = next;
  face_flux<last>(force, c, weights, left, right, flux);
  const auto first_lanes = [](int n_lanes) {
    alignas(64) double mask[lanes];
    for (int l = 0; l < lanes; ++l) mask[l] = l < n_lanes ? 1 : 0;
    return load<double>(mask);
  };
  const bool passes = open(cdim + last, 1);
  if (is_last) {  // nothing passes the end of velocity space, nor between the cells that only pad
    const P valid = first_lanes(n - first - (passes ? 0 : 1));
    for_modes<Tr, n_modes>([&](auto m) QUINTET_INLINE { store_mode(flux, m, valid * load_mode(flux, m)); });
  }
  VelocityFace lower;
  const P cells = first_lanes(is_last && passes ? n - first : lanes);
  for_modes<Tr, n_modes>([&](auto m) QUINTET_INLINE {
    store_mode(lower, m, cells * shift_down<double>(load_mode(along.flux, m), load_mode(flux, m)));
  });
  velocity_lift<Tr, last>(c, lower, flux, df);
  along.flux = flux;
}

}  // namespace quintet::kinetics
