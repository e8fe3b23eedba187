#include "surrogates/networks/spectral/spectral_layer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::networks {

namespace {

template <class Real>
void grow(AlignedVector<Real>& array, std::size_t size) {
  if (array.size() < size) array.resize(size);
}

std::size_t product(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

}  // namespace

template <class Real>
SpectralLayer<Real>::SpectralLayer(const SpectralSpec& spec) : spec_(spec) {
  QUINTET_CHECK(
      spec.width >= 1 && spec.hop >= 1 && spec.n_lines >= 1 && spec.n_bands >= 0,
      "spectral layer {}: frames of {} samples, {} apart, {} lines and {} bands; expected 1 or more (no "
      "bands: 0)",
      spec.name, spec.width, spec.hop, spec.n_lines, spec.n_bands);
  QUINTET_CHECK(spec.floor >= 0, "spectral layer {}: a floor of {:g}; expected 0 or more", spec.name,
                spec.floor);
}

template <class Real>
int SpectralLayer<Real>::half() const {
  return padded(spec_.n_lines, pack_width<Real>);
}
template <class Real>
int SpectralLayer<Real>::stride() const {
  return padded(spec_.n_out(), pack_width<Real>);
}

template <class Real>
template <class Source>
void SpectralLayer<Real>::refresh(const Source* parameters) {
  const Source* const re = parameters + spec_.first_parameter;
  const Source* const im = re + product(spec_.width, spec_.n_lines);
  const Source* const bands = im + product(spec_.width, spec_.n_lines);
  const int n = 2 * half();
  std::vector<Real> both(product(spec_.width, n), Real(0));
  for (int j = 0; j < spec_.width; ++j)
    for (int k = 0; k < spec_.n_lines; ++k) {
      const std::size_t from = product(j, spec_.n_lines) + static_cast<std::size_t>(k);
      both[product(j, n) + static_cast<std::size_t>(k)] = static_cast<Real>(re[from]);
      both[product(j, n) + static_cast<std::size_t>(half() + k)] = static_cast<Real>(im[from]);
    }
  kernels_.assign(both.data(), spec_.width, n);
  transposed_.assign(both.data(), n, spec_.width, true);
  if (spec_.n_bands == 0) return;
  const std::vector<Real> own(bands, bands + product(spec_.n_lines, spec_.n_bands));
  bands_.assign(own.data(), spec_.n_lines, spec_.n_bands);
  to_lines_.assign(own.data(), spec_.n_bands, spec_.n_lines, true);
}

template <class Real>
int SpectralLayer<Real>::n_frames(std::size_t n_samples) const {
  const auto width = static_cast<std::size_t>(spec_.width);
  QUINTET_CHECK(n_samples >= width, "spectral layer {}: a signal of {} samples; expected {} or more",
                spec_.name, n_samples, width);
  return static_cast<int>((n_samples - width) / static_cast<std::size_t>(spec_.hop)) + 1;
}

template <class Real>
void SpectralLayer<Real>::forward(const Real* x, std::size_t n_samples, Tape& tape) const {
  const int n = n_frames(n_samples), lines = half(), inner = 2 * lines, out = stride();
  tape.n = n;
  grow(tape.y, product(n, out));
  grow(tape.y_bar, product(n, out));
  grow(tape.z, product(n, inner));
  grow(tape.power, product(n, lines));
  multiply<Real>(x, spec_.hop, n, kernels_, tape.z.data(), inner);
  const bool has_bands = spec_.n_bands > 0;
  const auto floor = static_cast<Real>(spec_.floor);
  for (int f = 0; f < n; ++f) {
    const Real* const z = tape.z.data() + product(f, inner);
    Real* const p = tape.power.data() + product(f, lines);
    for (int k = 0; k < lines; ++k) p[k] = z[k] * z[k] + z[lines + k] * z[lines + k];
  }
  if (has_bands) multiply<Real>(tape.power.data(), lines, n, bands_, tape.y.data(), out);
  for (int f = 0; f < n; ++f) {
    Real* const y = tape.y.data() + product(f, out);
    const Real* const from = has_bands ? y : tape.power.data() + product(f, lines);
    for (int o = 0; o < out; ++o)
      y[o] = o < spec_.n_out() ? std::sqrt(std::max(from[o], Real(0)) + floor) : Real(0);
  }
}

template <class Real>
template <class Parameter>
void SpectralLayer<Real>::gradient(const Real* x, Tape& tape, Parameter* gradient, Real* x_bar) const {
  const int n = tape.n, lines = half(), inner = 2 * lines, out = stride();
  grow(tape.power_bar, product(n, lines));
  grow(tape.z_bar, product(n, inner));
  // The slope in what stands under the root takes y_bar's place.
  const auto floor = static_cast<Real>(spec_.floor);
  for (std::size_t i = 0; i < product(n, out); ++i) {
    const Real y = tape.y[i];
    const bool is_cut = y * y <= floor * (1 + 4 * std::numeric_limits<Real>::epsilon()) && spec_.n_bands > 0;
    tape.y_bar[i] = y > 0 && !is_cut ? tape.y_bar[i] / (2 * y) : Real(0);
  }
  Real* p_bar = tape.y_bar.data();
  if (spec_.n_bands > 0) {
    multiply<Real>(tape.y_bar.data(), out, n, to_lines_, tape.power_bar.data(), lines);
    p_bar = tape.power_bar.data();
    add_to_bands(tape, gradient);
  }
  for (int f = 0; f < n; ++f) {
    const Real *const z = tape.z.data() + product(f, inner), *const bar = p_bar + product(f, lines);
    Real* const z_bar = tape.z_bar.data() + product(f, inner);
    for (int k = 0; k < lines; ++k) {
      z_bar[k] = 2 * z[k] * bar[k];
      z_bar[lines + k] = 2 * z[lines + k] * bar[k];
    }
  }
  add_to_kernels(x, tape, gradient);
  if (x_bar == nullptr) return;
  const int width = transposed_.stride();
  grow(tape.product, product(n, width));
  multiply<Real>(tape.z_bar.data(), inner, n, transposed_, tape.product.data(), width);
  for (int f = 0; f < n; ++f) {
    const Real* const of_frame = tape.product.data() + product(f, width);
    Real* const to = x_bar + product(f, spec_.hop);
    for (int j = 0; j < spec_.width; ++j) to[j] += of_frame[j];
  }
}

template <class Real>
template <class Parameter>
void SpectralLayer<Real>::add_to_kernels(const Real* x, Tape& tape, Parameter* gradient) const {
  const int lines = half(), inner = 2 * lines, n_lines = spec_.n_lines;
  tape.gradient.assign(product(spec_.width, inner), Real(0));
  add_transposed_products<Real>({{x, spec_.hop, tape.z_bar.data(), inner}}, tape.n, spec_.width, inner,
                                tape.gradient.data(), inner);
  Parameter* const re = gradient + spec_.first_parameter;
  Parameter* const im = re + product(spec_.width, n_lines);
  for (int j = 0; j < spec_.width; ++j)
    for (int k = 0; k < n_lines; ++k) {
      const std::size_t to = product(j, n_lines) + static_cast<std::size_t>(k);
      const Real* const from = tape.gradient.data() + product(j, inner) + k;
      re[to] += static_cast<Parameter>(from[0]);
      im[to] += static_cast<Parameter>(from[lines]);
    }
}

template <class Real>
template <class Parameter>
void SpectralLayer<Real>::add_to_bands(Tape& tape, Parameter* gradient) const {
  const int n_lines = spec_.n_lines, n_bands = spec_.n_bands, out = stride();
  tape.gradient.assign(product(n_lines, out), Real(0));
  add_transposed_products<Real>({{tape.power.data(), half(), tape.y_bar.data(), out}}, tape.n, n_lines, out,
                                tape.gradient.data(), out);
  Parameter* const to = gradient + spec_.first_parameter + 2 * product(spec_.width, n_lines);
  for (int k = 0; k < n_lines; ++k)
    for (int b = 0; b < n_bands; ++b)
      to[product(k, n_bands) + static_cast<std::size_t>(b)] +=
          static_cast<Parameter>(tape.gradient[product(k, out) + static_cast<std::size_t>(b)]);
}

template <class Real>
BlockDescription SpectralLayer<Real>::describe() const {
  BlockDescription made;
  made.name = spec_.name;
  made.kind = spec_.n_bands > 0 ? fmt::format("spectral, {} lines in bands", spec_.n_lines) : "spectral";
  made.inputs = {spec_.input};
  made.n_in = made.n_weights_in = spec_.width;
  made.n_out = spec_.n_out();
  made.parameters = spec_.n_parameters();
  made.parameter_bytes = made.parameters * sizeof(Real);
  const double lines = spec_.n_lines, bands = spec_.n_bands;
  made.forward_flops = 4 * lines * spec_.width + 3 * lines + 2 * lines * bands + 2.0 * spec_.n_out();
  made.adjoint_flops = 2 * made.forward_flops;
  made.output_bytes = sizeof(Real) * static_cast<std::size_t>(stride());
  made.kept_bytes = made.output_bytes + 3 * sizeof(Real) * static_cast<std::size_t>(half());
  return made;
}

template class SpectralLayer<float>;
template class SpectralLayer<double>;
template void SpectralLayer<float>::refresh(const float*);
template void SpectralLayer<float>::refresh(const double*);
template void SpectralLayer<double>::refresh(const float*);
template void SpectralLayer<double>::refresh(const double*);
template void SpectralLayer<float>::gradient(const float*, Tape&, float*, float*) const;
template void SpectralLayer<double>::gradient(const double*, Tape&, float*, double*) const;
template void SpectralLayer<double>::gradient(const double*, Tape&, double*, double*) const;

}  // namespace quintet::networks
