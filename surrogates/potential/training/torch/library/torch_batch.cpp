#include "surrogates/potential/training/torch/library/torch_batch.hpp"

#include <algorithm>
#include <type_traits>

#include "surrogates/bridge/operators.hpp"

namespace quintet::potential {

namespace {

using at::Tensor;

template <class T>
Tensor on(c10::Device device, const std::vector<T>& numbers, at::IntArrayRef shape, at::ScalarType type) {
  return at::from_blob(const_cast<T*>(numbers.data()), shape, type)
      .to(at::TensorOptions(device), /*non_blocking=*/false, /*copy=*/true);
}

ByType by_type(Tensor all, const std::vector<int>& first) {
  ByType made{std::move(all), {}};
  for (std::size_t t = 0; t + 1 < first.size(); ++t)
    made.part.push_back(made.all.narrow(0, first[t], first[t + 1] - first[t]));
  return made;
}

/// In `to`, where that is defined.
void join(const std::vector<Tensor>& parts, Tensor& to) {
  if (to.defined())
    at::cat_out(to, parts);
  else
    to = parts.size() == 1 ? parts.front() : at::cat(parts);
}

/// Numbers of all frames, centres of a type together.
template <class Member>
void join_types(FramesOfBatch frames, Member&& member, Tensor& to) {
  std::vector<Tensor> parts;
  if (frames.size() == 1) {
    parts.push_back(member(*frames.front()).all);
  } else {
    for (std::size_t t = 0; t < member(*frames.front()).part.size(); ++t)
      for (const auto& frame : frames) parts.push_back(member(*frame).part[t]);
  }
  join(parts, to);
}

/// TorchBatch::places on the host.
std::vector<std::int64_t> places_of(FramesOfBatch frames, const BatchShape& shape, std::int64_t n_slots) {
  const std::int64_t n = shape.n_centres();
  std::vector<std::int64_t> places(4 * n + shape.n_atoms + shape.n_frames * shape.n_of_frame, n);
  std::int64_t *const centre = places.data(), *const of = centre + n, *const first_atom = of + n,
                      *const by_frame = first_atom + n, *const first_row = by_frame + n,
                      *of_frame = first_row + shape.n_atoms;
  auto next = shape.first;
  std::int64_t atoms = 0, centres = 0;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const TorchRows& frame = *frames[f];
    for (std::size_t t = 0; t + 1 < frame.first.size(); ++t)
      for (int c = frame.first[t]; c < frame.first[t + 1]; ++c) {
        const std::int64_t at = next[t]++;
        centre[at] = frame.centre[c] + atoms;
        of[at] = f;
        first_atom[at] = atoms;
        by_frame[centres + c] = at;
        of_frame[c] = at;
      }
    std::fill_n(first_row + atoms, frame.n_atoms, centres * n_slots);
    atoms += frame.n_atoms;
    centres += frame.n_centres();
    of_frame += shape.n_of_frame;
  }
  return places;
}

// Frames of one shape are joined by type, and kept where they are if the batch was made before: a recorded
// step reads the same memory.
void gather(TorchBatch& batch, FramesOfBatch frames, const NetworkShapes& shapes) {
  const std::size_t n_types = shapes.n_types();
  batch.row.resize(shapes.type_one_side ? n_types : n_types * n_types);
  for (std::size_t t = 0; t < n_types; ++t) {
    if (shapes.type_one_side) {
      join_types(
          frames, [t](const TorchRows& rows) -> const ByType& { return rows.row[t]; }, batch.row[t]);
      continue;
    }
    for (std::size_t centre = 0; centre < n_types; ++centre) {
      std::vector<Tensor> parts;
      for (const auto& frame : frames) parts.push_back(frame->row[t].part[centre]);
      join(parts, batch.row[centre * n_types + t]);
    }
  }
  join_types(
      frames, [](const TorchRows& rows) -> const ByType& { return rows.slope; }, batch.slope);
  join_types(
      frames, [](const TorchRows& rows) -> const ByType& { return rows.separation; }, batch.separation);
  join_types(
      frames, [](const TorchRows& rows) -> const ByType& { return rows.neighbour; }, batch.neighbour);
  std::vector<Tensor> lists;
  for (const auto& frame : frames) {
    const std::int64_t missing = batch.shape.n_seen_by - frame->seen_by.size(1);
    lists.push_back(missing == 0 ? frame->seen_by
                                 : at::constant_pad_nd(frame->seen_by, {0, missing}, no_row));
  }
  join(lists, batch.seen_by);
  const auto places = places_of(frames, batch.shape, batch.separation.size(1));
  const std::int64_t n = places.size();
  if (batch.places.defined())
    batch.places.copy_(at::from_blob(const_cast<std::int64_t*>(places.data()), {n}, at::kLong));
  else
    batch.places = on(batch.slope.device(), places, {n}, at::kLong);
}

}  // namespace

template <class Real>
std::shared_ptr<TorchRows> rows_on(c10::Device device, const FrameRows<Real>& rows,
                                   const NetworkShapes& shapes) {
  constexpr auto real = std::is_same_v<Real, float> ? at::kFloat : at::kDouble;
  auto made = std::make_shared<TorchRows>();
  made->n_atoms = rows.n_atoms;
  made->centre = rows.centre;
  made->first = rows.first;
  const std::int64_t n = rows.n_centres(), n_slots = rows.n_slots;
  const Tensor row = on(device, rows.row, {n, n_slots, 4}, real);
  std::int64_t slot = 0;
  for (const int sel : shapes.sel) {
    made->row.push_back(by_type(row.narrow(1, slot, sel).clone(at::MemoryFormat::Contiguous), rows.first));
    slot += sel;
  }
  made->slope = by_type(on(device, rows.slope, {n, n_slots, 4, 3}, at::kDouble), rows.first);
  made->separation = by_type(on(device, rows.separation, {n, n_slots, 3}, at::kDouble), rows.first);
  made->neighbour = by_type(on(device, rows.neighbour, {n, n_slots}, at::kInt), rows.first);
  // Lists as long as a multiple of this: a batch's is a function of its frames alone, yet few lengths occur.
  constexpr std::int64_t quantum = 16;
  const std::int64_t n_seen_by = rows.n_seen_by, padded = (n_seen_by + quantum - 1) / quantum * quantum;
  const Tensor seen_by = on(device, rows.seen_by, {rows.n_atoms, n_seen_by}, at::kInt);
  made->seen_by = at::constant_pad_nd(seen_by.masked_fill(seen_by.eq(n * n_slots), no_row),
                                      {0, padded - n_seen_by}, no_row);
  return made;
}

BatchShape shape_of(FramesOfBatch frames) {
  BatchShape shape;
  shape.n_frames = frames.size();
  shape.first.assign(frames.front()->first.size(), 0);
  for (const auto& frame : frames) {
    shape.n_atoms += frame->n_atoms;
    shape.n_seen_by = std::max(shape.n_seen_by, frame->seen_by.size(1));
    shape.n_of_frame = std::max(shape.n_of_frame, frame->n_centres());
    for (std::size_t t = 0; t < shape.first.size(); ++t) shape.first[t] += frame->first[t];
  }
  return shape;
}

Tensor TorchBatch::centre() const { return places.narrow(0, 0, shape.n_centres()); }
Tensor TorchBatch::frame() const { return places.narrow(0, shape.n_centres(), shape.n_centres()); }
Tensor TorchBatch::first_atom() const { return places.narrow(0, 2 * shape.n_centres(), shape.n_centres()); }
Tensor TorchBatch::by_frame() const { return places.narrow(0, 3 * shape.n_centres(), shape.n_centres()); }
Tensor TorchBatch::first_row() const { return places.narrow(0, 4 * shape.n_centres(), shape.n_atoms); }
Tensor TorchBatch::of_frame() const {
  return places.narrow(0, 4 * shape.n_centres() + shape.n_atoms, shape.n_frames * shape.n_of_frame);
}

TorchBatch batch_of(FramesOfBatch frames, const NetworkShapes& shapes) {
  TorchBatch batch;
  batch.shape = shape_of(frames);
  gather(batch, frames, shapes);
  return batch;
}

void refill(TorchBatch& batch, FramesOfBatch frames, const NetworkShapes& shapes) {
  gather(batch, frames, shapes);
}

TorchBatch copy_of(const TorchBatch& batch) {
  TorchBatch copy = batch;
  for (Tensor& row : copy.row) row = row.clone();
  for (Tensor* tensor : {&copy.slope, &copy.separation, &copy.neighbour, &copy.seen_by, &copy.places})
    *tensor = tensor->clone();
  return copy;
}

template std::shared_ptr<TorchRows> rows_on(c10::Device, const FrameRows<float>&, const NetworkShapes&);
template std::shared_ptr<TorchRows> rows_on(c10::Device, const FrameRows<double>&, const NetworkShapes&);

}  // namespace quintet::potential
