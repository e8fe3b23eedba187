#include "surrogates/networks/chain.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "io/log/error.hpp"

namespace quintet::networks {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw InternalError("chain: " + what); }

/// Index of the tensor that layer `l` reads by name: one made before it.
template <class Real>
int tensor_named(const std::string& name, const std::string& input, const std::vector<Layer<Real>>& before,
                 const LayerSpec& reader) {
  if (name == input) return Layer<Real>::outside;
  for (std::size_t l = before.size(); l-- > 0;)
    if (before[l].spec.name == name) return l;
  refuse(fmt::format("layer {} reads {}, which no layer before it makes", reader.name, name));
}

/// Go through the layers as the way back does, and mark who finds a share of the adjoint already there.
template <class Real>
void mark_way_back(std::vector<Layer<Real>>& layers) {
  std::vector<bool> has(layers.size() + 1, false);  // [tensor + 1]
  has.back() = true;
  for (std::size_t l = layers.size(); l-- > 0;) {
    auto& layer = layers[l];
    if (!has[l + 1]) refuse(fmt::format("nothing reads the output of layer {}", layer.spec.name));
    layer.input_has_adjoint = has[layer.input + 1];
    has[layer.input + 1] = true;
    if (layer.skip == Layer<Real>::none) continue;
    layer.skip_has_adjoint = has[layer.skip + 1];
    has[layer.skip + 1] = true;
  }
}

}  // namespace

template <class Real>
Chain<Real>::Chain(std::string input, int n_in, const std::vector<LayerSpec>& layers, Output output,
                   std::vector<int> tied)
    : input_(std::move(input)), n_in_(n_in), specs_(layers), output_(output), tied_(std::move(tied)) {
  const bool any_tied = !tied_.empty();
  if (!any_tied) {
    tied_.resize(n_in);
    std::iota(tied_.begin(), tied_.end(), 0);
  }
  const int n_network_inputs = tied_.size();
  const auto width = [&](int tensor) { return tensor < 0 ? n_network_inputs : layers_[tensor].spec.n_out; };
  for (const auto& spec : layers) {
    Layer<Real> layer;
    layer.spec = spec;
    layer.input = tensor_named(spec.input, input_, layers_, spec);
    if (spec.name == input_ || spec.n_out < 1) refuse(fmt::format("layer {} cannot be made", spec.name));
    for (const auto& other : layers_)
      if (other.spec.name == spec.name) refuse(fmt::format("two layers are named {}", spec.name));
    if (spec.n_in != width(layer.input))
      refuse(fmt::format("layer {} takes {} numbers, {} has {}", spec.name, spec.n_in, spec.input,
                         width(layer.input)));
    layer.n_in = layer.input < 0 ? n_in_ : spec.n_in;
    layer.stride = padded(spec.n_out, pack_width<Real>);
    layer.bias.assign(layer.stride, Real(0));
    layer.timestep.assign(layer.stride, Real(0));
    if (!spec.skip.empty()) {
      layer.skip = tensor_named(spec.skip, input_, layers_, spec);
      const int period = width(layer.skip);
      if (spec.n_out % period != 0)
        refuse(fmt::format("layer {} cannot add {} of {} numbers to {}", spec.name, spec.skip, period,
                           spec.n_out));
      layer.skip_width = period;
      for (int o = 0; any_tied && layer.skip < 0 && o < spec.n_out; ++o)
        layer.skip_place.push_back(tied_[o % period]);
    }
    layers_.push_back(std::move(layer));
  }
  if (output_ == Output::sum) {
    sum_ = specs_.back();
    if (layers_.size() < 2 || sum_.n_out != 1 || sum_.activation != Activation::linear ||
        !sum_.skip.empty() || layers_.back().input != std::ssize(layers_) - 2)
      refuse("a sum is a linear layer of one output without a skip, after the last of other layers");
    layers_.pop_back();
    sum_weight_.assign(layers_.back().stride, Real(0));
  }
  if (layers_.empty()) refuse("a chain needs a layer");
  mark_way_back(layers_);

  members_.resize(n_in_);
  for (int i = n_network_inputs; i-- > 0;) members_.at(tied_[i]).push_back(i);
  for (int k = 0; k < n_in_; ++k)
    if (members_[k].empty()) refuse(fmt::format("input {} of the chain is none of the network's", k));
}

/// Rows of weights of the chain's inputs, those that are tied added up.
template <class Real>
std::vector<const Real*> Chain<Real>::fold(const Real* weight, int n_out) {
  const auto row = [&](int i) { return weight + std::int64_t{i} * n_out; };
  std::vector<const Real*> rows(n_in_);
  folded_.resize(static_cast<std::size_t>(std::count_if(members_.begin(), members_.end(),
                                                        [](const auto& of) { return of.size() > 1; })) *
                 n_out);
  Real* sum = folded_.data();
  for (int k = 0; k < n_in_; ++k) {
    rows[k] = row(members_[k].front());
    if (members_[k].size() == 1) continue;
    std::copy_n(rows[k], n_out, sum);
    for (std::size_t i = 1; i < members_[k].size(); ++i)
      std::transform(sum, sum + n_out, row(members_[k][i]), sum, std::plus<>());
    rows[k] = sum;
    sum += n_out;
  }
  return rows;
}

template <class Real>
template <class Source>
void Chain<Real>::refresh_weights(Layer<Real>& layer, const Source* weight) {
  const int n_out = layer.spec.n_out;
  if constexpr (!std::is_same_v<Source, Real>) {
    const std::vector<Real> converted(weight, weight + std::int64_t{layer.spec.n_in} * n_out);
    return refresh_weights(layer, converted.data());
  } else {
    std::vector<const Real*> rows;
    if (layer.input == Layer<Real>::outside)
      rows = fold(weight, n_out);
    else
      for (int i = 0; i < layer.n_in; ++i) rows.push_back(weight + std::int64_t{i} * n_out);
    PackedMatrix<Real>::assign_both(rows, n_out, layer.weight, layer.transposed);
  }
}

template <class Real>
template <class Source>
void Chain<Real>::refresh(const Source* parameters) {
  rounded_.clear();
  for (auto& layer : layers_) {
    const auto& place = layer.spec.place;
    const int n_out = layer.spec.n_out;
    refresh_weights(layer, parameters + place.weight);
    std::copy_n(parameters + place.bias, n_out, layer.bias.begin());
    if (place.has_timestep)
      std::copy_n(parameters + place.timestep, n_out, layer.timestep.begin());
    else
      std::fill_n(layer.timestep.begin(), n_out, Real(1));
  }
  if (output_ == Output::rows) return;
  const Source idt = sum_.place.has_timestep ? parameters[sum_.place.timestep] : Source(1);
  std::transform(parameters + sum_.place.weight, parameters + sum_.place.weight + sum_.n_in,
                 sum_weight_.begin(), [idt](Source w) { return static_cast<Real>(w * idt); });
  sum_bias_ = parameters[sum_.place.bias] * idt;
}

template <class Real>
ChainDescription Chain<Real>::describe(Keep keep) const {
  ChainDescription result{input_, n_in_, {}};
  for (const auto& layer : layers_)
    result.blocks.push_back(describe_layer(layer.spec, layer.n_in, sizeof(Real), pack_width<Real>, keep));
  if (output_ == Output::sum) result.blocks.push_back(describe_sum(sum_, sizeof(Real)));
  return result;
}

template class Chain<float>;
template class Chain<double>;
template void Chain<float>::refresh(const float*);
template void Chain<float>::refresh(const double*);
template void Chain<double>::refresh(const float*);
template void Chain<double>::refresh(const double*);

}  // namespace quintet::networks
