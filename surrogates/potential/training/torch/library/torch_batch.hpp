#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "surrogates/potential/training/torch/torch_steps.hpp"

/// Rows of frames on a device, and those of several frames as one: centres of all frames ordered by type, so
/// that each network sees its own in one piece.
namespace quintet::potential {

/// Numbers of centres that are ordered by type.
struct ByType {
  at::Tensor all;
  std::vector<at::Tensor> part;  ///< [type] views of it
};

struct TorchRows final : KeptRows {
  std::int64_t n_atoms = 0;
  std::vector<int> centre, first;  ///< on the host, as in FrameRows
  std::vector<ByType> row;         ///< [type of neighbours] [centre, slot of that type, 4] R
  ByType slope, separation;        ///< [centre, slot, 4, 3], [centre, slot, 3]
  ByType neighbour;                ///< [centre, slot] atom of the frame
  at::Tensor seen_by;              ///< [atom, n_seen_by] rows of the frame, then no_row
  [[nodiscard]] std::int64_t n_centres() const { return first.back(); }
};
using FramesOfBatch = std::span<const std::shared_ptr<const TorchRows>>;

/// Sizes of a batch that the operators of a step depend on: equal shapes, equal operators.
struct BatchShape {
  std::int64_t n_frames = 0, n_atoms = 0;
  std::int64_t n_seen_by = 0;       ///< of the frame with most
  std::int64_t n_of_frame = 0;      ///< most centres of a frame
  std::vector<std::int64_t> first;  ///< [n_types + 1] first centre of each type
  [[nodiscard]] std::int64_t n_centres() const { return first.back(); }
  bool operator==(const BatchShape&) const = default;
};
[[nodiscard]] BatchShape shape_of(FramesOfBatch frames);

struct TorchBatch {
  BatchShape shape;
  /// R [centre, slot, 4] of neighbours of a type: [type] where all centres share networks, else [type of the
  /// centre * n_types + type].
  std::vector<at::Tensor> row;
  at::Tensor slope, separation;  ///< [centre, slot, 4, 3], [centre, slot, 3]
  at::Tensor neighbour;          ///< [centre, slot] atom of its frame
  at::Tensor seen_by;            ///< [atom, n_seen_by] rows of its frame, then no_row
  at::Tensor places;             ///< int64; one after the other what follows

  [[nodiscard]] at::Tensor centre() const;      ///< [centre] atom of the batch
  [[nodiscard]] at::Tensor frame() const;       ///< [centre]
  [[nodiscard]] at::Tensor first_atom() const;  ///< [centre] of its frame
  [[nodiscard]] at::Tensor by_frame() const;    ///< [centre] all centres, frame by frame
  [[nodiscard]] at::Tensor first_row() const;   ///< [atom] of its frame, where centres are ordered by_frame()
  [[nodiscard]] at::Tensor of_frame() const;    ///< [frame, n_of_frame] its centres, then n_centres
};

/// Beyond every row, and without overflow where a first row is added.
inline constexpr int no_row = 1 << 30;

template <class Real>
[[nodiscard]] std::shared_ptr<TorchRows> rows_on(c10::Device device, const FrameRows<Real>& rows,
                                                 const NetworkShapes& shapes);

/// The frames as one, without a copy where there is one; and these in the memory of another batch of their
/// shape.
[[nodiscard]] TorchBatch batch_of(FramesOfBatch frames, const NetworkShapes& shapes);
void refill(TorchBatch& batch, FramesOfBatch frames, const NetworkShapes& shapes);
/// A copy of a batch in memory of its own.
[[nodiscard]] TorchBatch copy_of(const TorchBatch& batch);

}  // namespace quintet::potential
