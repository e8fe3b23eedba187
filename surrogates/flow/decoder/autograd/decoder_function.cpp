#include "surrogates/flow/decoder/autograd/decoder_function.hpp"

#include <utility>

#include <c10/core/Allocator.h>
#include <torch/csrc/autograd/custom_function.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/bridge/tensor.hpp"

namespace quintet::flow {

namespace {

/// Data that a backward pass needs beside the tensors; torch keeps it with the graph.
template <class Real>
struct Kept : torch::CustomClassHolder {
  explicit Kept(bool made_again) : tape(made_again) {}
  const Decoder<Real>* decoder = nullptr;
  std::shared_ptr<const DecoderQueries> queries;
  DecoderTape<Real> tape;
  std::int64_t counted = 0;

  /// The tape is memory that the graph holds: who counts torch's hears of it.
  void count() { report(counted = static_cast<std::int64_t>(tape.bytes())); }
  ~Kept() override { report(-counted); }

 private:
  void report(std::int64_t bytes) {
    if (bytes != 0) c10::reportMemoryUsageToProfiler(this, bytes, 0, 0, c10::Device(c10::DeviceType::CPU));
  }
};

template <class Real>
at::Tensor new_jets(const Decoder<Real>& decoder, const DecoderQueries& queries, const at::Tensor& like) {
  return at::empty({queries.n_samples, queries.n_points, queries.n_channels(), decoder.options().n_fields},
                   like.options().requires_grad(false));
}

template <class Real>
struct DecodeFunction : torch::autograd::Function<DecodeFunction<Real>> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& latents,
                            const at::Tensor& parameters, const Decoder<Real>* decoder,
                            const std::shared_ptr<const DecoderQueries>& queries, bool made_again) {
    auto kept = c10::make_intrusive<Kept<Real>>(made_again);
    kept->decoder = decoder;
    kept->queries = queries;
    at::Tensor jets = new_jets(*decoder, *queries, latents);
    decoder->forward(latents.const_data_ptr<Real>(), *queries, jets.mutable_data_ptr<Real>(), &kept->tape);
    kept->count();
    context->save_for_backward({latents, parameters});  // torch sees to it that they have not changed
    context->saved_data["kept"] = c10::IValue::make_capsule(std::move(kept));
    return jets;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& jets_bar) {
    const auto saved = context->get_saved_variables();
    const auto kept = c10::static_intrusive_pointer_cast<Kept<Real>>(context->saved_data["kept"].toCapsule());
    const at::Tensor bar = jets_bar[0].contiguous();
    at::Tensor latents_bar, parameters_bar = at::zeros_like(saved[1]);
    if (context->needs_input_grad(0)) latents_bar = at::zeros_like(saved[0]);
    kept->decoder->backward(saved[0].const_data_ptr<Real>(), *kept->queries, kept->tape,
                            bar.const_data_ptr<Real>(), parameters_bar.mutable_data_ptr<Real>(),
                            latents_bar.defined() ? latents_bar.mutable_data_ptr<Real>() : nullptr);
    context->saved_data.erase("kept");  // the tape is not needed while the blocks before are differentiated
    return {latents_bar, parameters_bar, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

template <class Real>
void check(const Decoder<Real>& decoder, const DecoderQueries& queries, const at::Tensor& latents,
           const at::Tensor& parameters) {
  const NodeGrid& grid = queries.grids.at(0);
  const std::int64_t shape[] = {queries.n_samples, grid[0].size(), grid[1].size(), grid[2].size(),
                                decoder.options().n_latent};
  const std::int64_t numbers[] = {static_cast<std::int64_t>(decoder.n_parameters())};
  bridge::check(latents, {"latents", bridge::scalar_type<Real>(), shape});
  bridge::check(parameters, {"parameters of the decoder", bridge::scalar_type<Real>(), numbers});
}

}  // namespace

template <class Real>
at::Tensor decode(Decoder<Real>& decoder, std::shared_ptr<const DecoderQueries> queries,
                  const at::Tensor& latents, const at::Tensor& parameters, bool made_again) {
  return translate_torch_errors("Decoding", [&] {
    check(decoder, *queries, latents, parameters);
    decoder.refresh(parameters.const_data_ptr<Real>());
    if (at::GradMode::is_enabled() && (latents.requires_grad() || parameters.requires_grad()))
      return DecodeFunction<Real>::apply(latents, parameters, static_cast<const Decoder<Real>*>(&decoder),
                                         queries, made_again);
    at::Tensor jets = new_jets(decoder, *queries, latents);
    decoder.forward(latents.const_data_ptr<Real>(), *queries, jets.mutable_data_ptr<Real>());
    return jets;
  });
}

template at::Tensor decode<float>(Decoder<float>&, std::shared_ptr<const DecoderQueries>, const at::Tensor&,
                                  const at::Tensor&, bool);
template at::Tensor decode<double>(Decoder<double>&, std::shared_ptr<const DecoderQueries>, const at::Tensor&,
                                   const at::Tensor&, bool);

}  // namespace quintet::flow
