#include "surrogates/sequence/network/network.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "io/log/error.hpp"

namespace quintet::sequence {

template <class Real>
Network<Real>::Network(const Architecture& architecture, int steps, Products products)
    : graph_(graph_of(architecture)), steps_(steps), products_(products) {
  constexpr int w = pack_width<Real>;
  QUINTET_CHECK(steps >= 1, "windows of {} steps; expected 1 or more", steps);
  QUINTET_CHECK(architecture.head == Head::last_state || architecture.steps_out == steps,
                "a network whose head goes step for step gives {} steps, not {}; for another number: head: "
                "last_state",
                steps, architecture.steps_out);
  n_outputs_ = architecture.steps_out * architecture.n_outputs;
  tensors_.push_back({graph_.n_inputs, padded(graph_.n_inputs, w), {}, {}, false});
  if (std::is_same_v<Real, double> && products != Products::exact)
    throw InternalError("products of rounded numbers in a network of double");
  int widest = 0;
  for (const Operation& operation : graph_.operations) {
    int stride = padded(operation.n_out, w);
    switch (operation.kind) {
      case Operation::Kind::lstm: {
        // What nobody reads on may lie in half packs.
        const bool is_last = &operation == &graph_.operations.back();
        LstmLayer<Real> layer(operation.n_in, operation.n_out, products, is_last);
        stride = layer.stride();
        layers_.emplace_back(std::move(layer));
        break;
      }
      case Operation::Kind::dense:
        layers_.emplace_back(DenseLayer<Real>(operation.n_in, operation.n_out, operation.relu, products));
        break;
      case Operation::Kind::merge:
        layers_.emplace_back(Merge{});
        break;
    }
    tensors_.push_back({operation.n_out, stride, {}, {}, false});
    widest = std::max(widest, padded(operation.n_in, w));
  }
  for (Tensor& tensor : tensors_) tensor.values.assign(std::int64_t{steps} * block * tensor.stride, Real(0));
  share_.resize(std::int64_t{steps} * block * widest);
}

template <class Real>
void Network<Real>::refresh(const Real* parameters) {
  coded_ = false;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Real* own = parameters + graph_.operations[i].first;
    if (auto* lstm = std::get_if<LstmLayer<Real>>(&layers_[i])) lstm->refresh(own);
    if (auto* dense = std::get_if<DenseLayer<Real>>(&layers_[i])) dense->refresh(own);
  }
}

template <class Real>
void Network<Real>::take_codes(const std::vector<NamedCodes>& codes, CodeKernel kernel) {
  check_matrices(graph_, codes, "codes of a network");
  coded_ = true;
  auto next = codes.begin();
  for (auto& layer : layers_) {
    if (auto* lstm = std::get_if<LstmLayer<Real>>(&layer)) {
      lstm->take_codes(next[0].codes, next[1].codes, kernel);
      next += 2;
    }
    if (auto* dense = std::get_if<DenseLayer<Real>>(&layer)) dense->take_codes((next++)->codes, kernel);
  }
}

template <class Real>
void Network<Real>::merge(const Operation& operation, int n) {
  constexpr int w = pack_width<Real>;
  const Pack<Real> zero{};
  Tensor& to = tensors_[&operation - graph_.operations.data() + 1];
  const std::size_t size = std::int64_t{steps_} * n * to.stride;
  for (std::size_t at = 0; at < size; at += w) {
    Pack<Real> sum{};
    for (const int from : operation.inputs) sum += load<Real>(tensors_[from].values.data() + at);
    store<Real>(to.values.data() + at, sum < zero ? zero : sum);
  }
}

template <class Real>
void Network<Real>::merge_back(const Operation& operation, int n) {
  constexpr int w = pack_width<Real>;
  const Pack<Real> zero{};
  const Tensor& tensor = tensors_[&operation - graph_.operations.data() + 1];
  const std::size_t size = std::int64_t{steps_} * n * tensor.stride;
  for (const int from : operation.inputs) {
    if (from == 0) continue;
    Real* to = begin_bar(from);
    for (std::size_t at = 0; at < size; at += w) {
      const Pack<Real> bar = load<Real>(tensor.bar.data() + at);
      store<Real>(to + at, load<Real>(tensor.values.data() + at) > zero ? bar : zero);
    }
    end_bar(from, n);
  }
}

template <class Real>
Real* Network<Real>::begin_bar(int tensor) {
  return tensors_[tensor].has_bar ? share_.data() : tensors_[tensor].bar.data();
}

template <class Real>
void Network<Real>::end_bar(int tensor, int n) {
  constexpr int w = pack_width<Real>;
  Tensor& to = tensors_[tensor];
  const std::size_t size = std::int64_t{steps_} * n * to.stride;
  if (to.has_bar)
    for (std::size_t at = 0; at < size; at += w)
      store<Real>(to.bar.data() + at, load<Real>(to.bar.data() + at) + load<Real>(share_.data() + at));
  to.has_bar = true;
}

template <class Real>
void Network<Real>::run_operation(std::size_t i, int n, bool keep) {
  const Operation& operation = graph_.operations[i];
  const Tensor& from = tensors_[operation.inputs.front()];
  Real* to = tensors_[i + 1].values.data();
  if (auto* lstm = std::get_if<LstmLayer<Real>>(&layers_[i])) {
    lstm->forward({from.values.data(), from.stride}, steps_, n, to, keep);
  } else if (auto* dense = std::get_if<DenseLayer<Real>>(&layers_[i])) {
    const std::size_t last = std::int64_t{steps_ - 1} * n * from.stride;
    dense->forward(from.values.data() + (operation.last_step ? last : 0), from.stride,
                   operation.last_step ? n : steps_ * n, to);
  } else {
    merge(operation, n);
  }
}

template <class Real>
void Network<Real>::run_operation_back(std::size_t i, int n, Real* gradient) {
  const Operation& operation = graph_.operations[i];
  if (operation.kind == Operation::Kind::merge) return merge_back(operation, n);
  const int input = operation.inputs.front();
  const Tensor& from = tensors_[input];
  Tensor& own = tensors_[i + 1];
  Real* x_bar = input == 0 ? nullptr : begin_bar(input);
  gradient += operation.first;
  if (auto* lstm = std::get_if<LstmLayer<Real>>(&layers_[i])) {
    lstm->backward({from.values.data(), from.stride}, steps_, n, own.values.data(), own.bar.data(), x_bar,
                   gradient);
  } else if (auto* dense = std::get_if<DenseLayer<Real>>(&layers_[i])) {
    const std::size_t last = operation.last_step ? std::int64_t{steps_ - 1} * n * from.stride : 0;
    if (x_bar != nullptr) {
      std::fill_n(x_bar, last, Real(0));
      x_bar += last;
    }
    dense->backward(from.values.data() + last, from.stride, operation.last_step ? n : steps_ * n,
                    own.values.data(), own.bar.data(), x_bar, gradient);
  }
  if (input != 0) end_bar(input, n);
}

template <class Real>
void Network<Real>::run(const Real* windows, int n, bool keep) {
  Tensor& input = tensors_.front();
  for (int b = 0; b < n; ++b)
    for (int t = 0; t < steps_; ++t)
      std::copy_n(windows + (std::int64_t{b} * steps_ + t) * input.width, input.width,
                  input.values.data() + (std::int64_t{t} * n + b) * input.stride);
  for (std::size_t i = 0; i < layers_.size(); ++i) run_operation(i, n, keep);
}

template <class Real>
void Network<Real>::run_back(int n, Real* gradient) {
  for (std::size_t i = layers_.size(); i-- > 0;) run_operation_back(i, n, gradient);
}

template <class Real>
template <class Visit>
void Network<Real>::visit_outputs(int n, Visit&& visit) const {
  const Tensor& last = tensors_.back();
  const int steps = graph_.operations.back().last_step ? 1 : steps_;
  for (int b = 0; b < n; ++b)
    for (int t = 0; t < steps; ++t)
      for (int i = 0; i < last.width; ++i)
        visit((std::int64_t{b} * steps + t) * last.width + i, (std::int64_t{t} * n + b) * last.stride + i);
}

template <class Real>
void Network<Real>::forward(const Real* windows, int n, Real* outputs) {
  const std::ptrdiff_t window = std::ptrdiff_t{steps_} * graph_.n_inputs;
  for (int first = 0; first < n; first += block) {
    const int some = std::min(block, n - first);
    run(windows + first * window, some, false);
    Real* to = outputs + std::ptrdiff_t{first} * n_outputs_;
    const Real* values = tensors_.back().values.data();
    visit_outputs(some, [&](std::ptrdiff_t place, std::ptrdiff_t at) { to[place] = values[at]; });
  }
}

template <class Real>
double Network<Real>::loss_and_gradient(const Real* windows, const Real* targets, int n, Real* gradient,
                                        int batch) {
  if (coded_) throw InternalError("the gradient of a network of binary codes");
  const std::ptrdiff_t window = std::ptrdiff_t{steps_} * graph_.n_inputs;
  const double count = static_cast<double>(batch) * n_outputs_;
  const Real scale = 2 / count;
  for (Tensor& tensor : tensors_) tensor.bar.resize(tensor.values.size(), Real(0));
  double loss = 0;
  for (int first = 0; first < n; first += gradient_block()) {
    const int some = std::min(gradient_block(), n - first);
    run(windows + first * window, some, true);
    for (Tensor& tensor : tensors_) tensor.has_bar = false;
    const Real* wanted = targets + std::ptrdiff_t{first} * n_outputs_;
    const Real* values = tensors_.back().values.data();
    Real* bar = tensors_.back().bar.data();  // its padding is never written: it stays 0
    visit_outputs(some, [&](std::ptrdiff_t place, std::ptrdiff_t at) {
      const Real error = values[at] - wanted[place];
      loss += static_cast<double>(error) * error;
      bar[at] = scale * error;
    });
    run_back(some, gradient);
  }
  return loss / count;
}

template class Network<float>;
template class Network<double>;

}  // namespace quintet::sequence
