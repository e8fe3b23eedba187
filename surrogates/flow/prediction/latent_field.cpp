#include "surrogates/flow/prediction/latent_field.hpp"

#include <algorithm>
#include <cstddef>

#include "surrogates/flow/model/flow_network.hpp"

namespace quintet::flow {
namespace {

bool is_circular(const FlowModelOptions& options, std::size_t axis) {
  const auto& padding = options.encoder.padding;
  return padding[padding.size() == 1 ? 0 : axis] == "circular";
}

}  // namespace

LatentField::LatentField(const FlowModel& model, const FieldBlock& coarse, std::vector<double> parameters,
                         EncoderCover cover, const DeviceSession& device)
    : model_(&model),
      coarse_(&coarse),
      parameters_(std::move(parameters)),
      device_(device),
      n_channels_(decoder_options(model.header.options, model.header.fields.size()).n_latent) {
  if (model.header.options.decoder.kind == DecoderKind::convolutional) {
    refinement_ = model.header.refinement;
    n_channels_ = model.header.fields.size();
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int n = coarse.axes[axis].size(), refined = n * refinement_[axis];
    const int block = cover == EncoderCover::whole ? n : model.header.block[axis];
    windows_[axis] =
        cover_axis(n, block, coarse.axes[axis].periodic, is_circular(model.header.options, axis));
    weight_sums_[axis].assign(refined, 0);
    const int length = windows_[axis].length * refinement_[axis];
    for (const int start : windows_[axis].starts)
      for (int i = 0; i < length; ++i)
        weight_sums_[axis][(start * refinement_[axis] + i) % refined] += AxisWindows::weight(i, length);
  }
}

GridShape LatentField::shape() const {
  return {windows_[0].n * refinement_[0], windows_[1].n * refinement_[1], windows_[2].n * refinement_[2]};
}

double LatentField::window_bytes() const {
  const GridShape window = {windows_[0].length, windows_[1].length, windows_[2].length};
  const FlowNetwork<float> network(model_->header);
  double bytes = 0;
  for (const auto& block : network.describe(window).blocks)
    if (block.name.rfind("decoder ", 0) != 0) bytes += block.output_bytes;
  return bytes;
}

void LatentField::add_window(const std::array<int, 3>& start, int first, int count,
                             std::vector<float>& latents) const {
  const GridShape n = {windows_[0].length, windows_[1].length, windows_[2].length};
  std::vector<float> fields;
  fields.reserve(std::int64_t{coarse_->n_fields} * n[0] * n[1] * n[2]);
  for (int field = 0; field < coarse_->n_fields; ++field)
    for (int t = 0; t < n[0]; ++t)
      for (int z = 0; z < n[1]; ++z)
        for (int x = 0; x < n[2]; ++x) {
          std::size_t place = field;
          place = place * windows_[0].n + (start[0] + t) % windows_[0].n;
          place = place * windows_[1].n + (start[1] + z) % windows_[1].n;
          place = place * windows_[2].n + (start[2] + x) % windows_[2].n;
          fields.push_back(coarse_->values[place]);
        }
  const auto own = encode_fields(*model_, 1, n, fields, parameters_, device_);
  const GridShape refined = shape();
  std::array<std::vector<double>, 3> share;  // of this window at its nodes
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int length = n[axis] * refinement_[axis];
    for (int i = 0; i < length; ++i)
      share[axis].push_back(AxisWindows::weight(i, length) /
                            weight_sums_[axis][(start[axis] * refinement_[axis] + i) % refined[axis]]);
  }
  const float* from = own.data();
  const int period = coarse_->axes[0].periodic ? refined[0] : 0;
  for (std::size_t t = 0; t < share[0].size(); ++t) {
    // A node may be asked for twice: as itself, and as its image beyond the end of the period.
    std::vector<int> places;
    for (const int image : {-1, 0, 1}) {
      const int to_t =
          start[0] * refinement_[0] + static_cast<int>(t) + image * period - first * refinement_[0];
      if (to_t >= 0 && to_t < count * refinement_[0] && (image == 0 || period > 0)) places.push_back(to_t);
    }
    for (std::size_t z = 0; z < share[1].size(); ++z)
      for (std::size_t x = 0; x < share[2].size(); ++x, from += n_channels_) {
        if (places.empty()) continue;
        const auto to_z = (start[1] * refinement_[1] + static_cast<int>(z)) % refined[1];
        const auto to_x = (start[2] * refinement_[2] + static_cast<int>(x)) % refined[2];
        const float weight = share[0][t] * share[1][z] * share[2][x];
        for (const int to_t : places) {
          float* to = &latents[((std::int64_t{to_t} * refined[1] + to_z) * refined[2] + to_x) * n_channels_];
          for (int c = 0; c < n_channels_; ++c) to[c] += weight * from[c];
        }
      }
  }
}

std::vector<float> LatentField::of_range(int first, int count) const {
  const GridShape refined = shape();
  std::vector<float> latents(std::int64_t{count} * refinement_[0] * refined[1] * refined[2] * n_channels_);
  for (const int t : windows_[0].starts) {
    const auto reaches = [&](int from) { return from + windows_[0].length > first && from < first + count; };
    const int period = coarse_->axes[0].periodic ? windows_[0].n : 0;
    if (!reaches(t) && !reaches(t - period) && !reaches(t + period)) continue;
    for (const int z : windows_[1].starts)
      for (const int x : windows_[2].starts) add_window({t, z, x}, first, count, latents);
  }
  return latents;
}

}  // namespace quintet::flow
