#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include <benchmark/benchmark.h>

#include "physics/kernels/gemm.hpp"
#include "surrogates/potential/evaluation/embedding.hpp"
#include "surrogates/potential/evaluation/environment.hpp"
#include "surrogates/potential/model/chains.hpp"
#include "tests/support/deep_potential_writer.hpp"

/// Where the time of a Deep Potential goes: its parts on water-shaped input, one core, in microseconds an
/// atom.
///
/// GFLOPS counts a multiply-add as two; `fma_peak` is what this core does in registers at the same moment,
/// `blas_gemm` the same product by OpenBLAS; fitting_both_ways<float, true> has its products in bfloat16.
extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
            const int*, const double*, const int*, const double*, double*, const int*);
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
            const int*, const float*, const int*, const float*, float*, const int*);
}

namespace {

using namespace quintet;
using namespace quintet::potential;
using benchmark::Counter;

constexpr int batch_atoms = 32;

void set_rate(benchmark::State& state, double flop) {
  state.counters["GFLOPS"] = Counter(1e-9 * flop * state.iterations(), Counter::kIsRate);
}
void set_time_per_atom(benchmark::State& state, int atoms) {
  state.counters["us_per_atom"] =
      Counter(1e-6 * atoms * state.iterations(), Counter::kIsRate | Counter::kInvert);
}

template <class T>
AlignedVector<T> noise(std::size_t n) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  AlignedVector<T> values(n);
  for (T& value : values) value = static_cast<T>(normal(random));
  return values;
}

template <class T>
void fma_peak(benchmark::State& state) {
  constexpr int chains = 20;
  Pack<T> sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = broadcast<T>(T(i));
  Pack<T> a = broadcast<T>(T(0.999)), b = broadcast<T>(T(1e-3));
  constexpr int rounds = 1000;
  for (auto _ : state) {
    benchmark::DoNotOptimize(a);
    for (int k = 0; k < rounds; ++k)
#pragma GCC unroll 32
      for (int i = 0; i < chains; ++i) sum[i] = sum[i] * a + b;
    for (int i = 0; i < chains; ++i) benchmark::DoNotOptimize(sum[i]);
  }
  set_rate(state, 2.0 * rounds * chains * pack_width<T>);
}
BENCHMARK_TEMPLATE(fma_peak, double);
BENCHMARK_TEMPLATE(fma_peak, float);

template <class T>
void our_gemm(benchmark::State& state) {
  const int m = batch_atoms, k = state.range(0), n = state.range(1);
  const auto b = noise<double>(std::int64_t{k} * n);
  const PackedMatrix<T> packed(b.data(), k, n);
  const auto a = noise<T>(std::int64_t{m} * k);
  AlignedVector<T> c(std::int64_t{m} * packed.stride());
  for (auto _ : state) {
    multiply(a.data(), k, m, packed, c.data(), packed.stride());
    benchmark::ClobberMemory();
  }
  set_rate(state, 2.0 * m * n * k);
}

template <class T>
void blas_gemm(benchmark::State& state) {
  const int m = batch_atoms, k = state.range(0), n = state.range(1);
  const auto a = noise<T>(std::int64_t{m} * k), b = noise<T>(std::int64_t{k} * n);
  AlignedVector<T> c(std::int64_t{m} * n);
  const T one = 1, zero = 0;
  // Row-major C = A B is column-major C^T = B^T A^T.
  for (auto _ : state) {
    if constexpr (sizeof(T) == 8)
      dgemm_("N", "N", &n, &m, &k, &one, b.data(), &n, a.data(), &k, &zero, c.data(), &n);
    else
      sgemm_("N", "N", &n, &m, &k, &one, b.data(), &n, a.data(), &k, &zero, c.data(), &n);
    benchmark::ClobberMemory();
  }
  set_rate(state, 2.0 * m * n * k);
}
#define QUINTET_GEMM_SIZES Args({1480, 240})->Args({240, 240})->Args({240, 1480})
BENCHMARK_TEMPLATE(our_gemm, double)->QUINTET_GEMM_SIZES;
BENCHMARK_TEMPLATE(blas_gemm, double)->QUINTET_GEMM_SIZES;
BENCHMARK_TEMPLATE(our_gemm, float)->QUINTET_GEMM_SIZES;
BENCHMARK_TEMPLATE(blas_gemm, float)->QUINTET_GEMM_SIZES;

/// A batch of centre atoms of type O in a liquid: a jittered lattice of 0.1 atoms/angstrom^3, listed within 8
/// angstrom.
template <class Real>
struct Liquid {
  Liquid() : model(dp::random_model({}, 20)), environment(model, SelRule::per_type) {
    constexpr int n = 14;
    const double a = 2.154;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> jitter(-0.3, 0.3);
    for (int i = 0; i < n * n * n; ++i)
      for (const int cell : {i / (n * n), i / n % n, i % n}) position.push_back(a * cell + jitter(random));
    for (int i = 0; i < n * n * n; ++i) type.push_back(i % 3 == 0 ? 0 : 1);
    for (int i = 0; std::ssize(centres) < batch_atoms; ++i) {
      const int x = 4 + i / 36, y = 4 + i / 6 % 6, z = 4 + i % 6, atom = (x * n + y) * n + z;
      if (type[atom] == 0) centres.push_back(atom);
    }
    offset.assign(type.size() + 1, 0);
    for (int i = 0; i < std::ssize(type); ++i) {
      offset[i] = list.size();
      if (std::find(centres.begin(), centres.end(), i) != centres.end())
        for (int t = 0; t < 2; ++t)
          for (int j = 0; j < std::ssize(type); ++j)
            if (j != i && type[j] == t && squared(i, j) < 64) list.push_back(j);
    }
    offset.back() = list.size();
    batch.reserve(batch_atoms, 256, 2, model.n_channels());
  }
  [[nodiscard]] double squared(int i, int j) const {
    double sum = 0;
    for (int l = 0; l < 3; ++l)
      sum += (position[3 * i + l] - position[3 * j + l]) * (position[3 * i + l] - position[3 * j + l]);
    return sum;
  }
  void gather() {
    batch.n_atoms = 0;
    for (const int i : centres)
      environment.append(i, position.data(), type.data(), offset.data(), list.data(), batch, scratch);
  }
  Model model;
  Environment environment;
  Environment::Scratch scratch;
  Batch<Real> batch;
  std::vector<double> position;
  std::vector<int> type, centres, list;
  std::vector<std::size_t> offset;
};

template <class Real>
void environment_append(benchmark::State& state) {
  Liquid<Real> liquid;
  for (auto _ : state) {
    liquid.gather();
    benchmark::ClobberMemory();
  }
  set_time_per_atom(state, batch_atoms);
  state.counters["neighbours"] = static_cast<double>(liquid.batch.first[2 * batch_atoms]) / batch_atoms;
}
BENCHMARK_TEMPLATE(environment_append, double);
BENCHMARK_TEMPLATE(environment_append, float);

template <class Real, Compression compression>
void embedding_forward(benchmark::State& state) {
  Liquid<Real> liquid;
  liquid.gather();
  const auto embedding = make_embedding<Real>(liquid.model, compression);
  typename Embedding<Real>::Scratch scratch;
  for (auto _ : state) {
    embedding->forward(liquid.batch, scratch);
    benchmark::ClobberMemory();
  }
  set_time_per_atom(state, batch_atoms);
}
template <class Real, Compression compression>
void embedding_backward(benchmark::State& state) {
  Liquid<Real> liquid;
  liquid.gather();
  const auto embedding = make_embedding<Real>(liquid.model, compression);
  typename Embedding<Real>::Scratch scratch;
  embedding->forward(liquid.batch, scratch);
  const auto dt = noise<Real>(liquid.batch.dt.size());
  std::copy(dt.begin(), dt.end(), liquid.batch.dt.begin());
  for (auto _ : state) {
    // The gradients of one atom after another, as the engine asks for them.
    for (int b = 0; b < batch_atoms; ++b) embedding->backward(liquid.batch, b, scratch);
    benchmark::ClobberMemory();
  }
  set_time_per_atom(state, batch_atoms);
}
BENCHMARK_TEMPLATE(embedding_forward, double, Compression::automatic);
BENCHMARK_TEMPLATE(embedding_forward, float, Compression::automatic);
BENCHMARK_TEMPLATE(embedding_forward, double, Compression::off);
BENCHMARK_TEMPLATE(embedding_backward, double, Compression::automatic);
BENCHMARK_TEMPLATE(embedding_backward, float, Compression::automatic);
BENCHMARK_TEMPLATE(embedding_backward, double, Compression::off);

template <class Real>
void descriptor_both_ways(benchmark::State& state) {
  const Descriptor descriptor(100, 16, pack_width<Real>);
  const int stride = padded(100, pack_width<Real>);
  const auto t = noise<Real>(4 * std::int64_t{stride} + pack_width<Real>);
  AlignedVector<Real> d(descriptor.stride()), dt(4 * std::int64_t{stride}), work(16 * std::int64_t{stride});
  for (auto _ : state) {
    descriptor.forward(t.data(), stride, d.data());
    descriptor.backward(t.data(), stride, d.data(), dt.data(), work.data());
    benchmark::ClobberMemory();
  }
  set_time_per_atom(state, 1);
  set_rate(state, 2.0 * 4 * (descriptor.size() + 2.0 * 16 * 100));
}
BENCHMARK_TEMPLATE(descriptor_both_ways, double);
BENCHMARK_TEMPLATE(descriptor_both_ways, float);

template <class Real, bool rounded = false>
void fitting_both_ways(benchmark::State& state) {
  const Model model = dp::random_model({}, 20);
  const Descriptor descriptor(model.n_channels(), model.axis_neuron, pack_width<Real>);
  auto net = fitting_chain<Real>(model.fitting.front(), descriptor);
  if (rounded) net.round_about(std::vector<double>(descriptor.size(), 0.0).data());
  const auto start = noise<Real>(std::int64_t{batch_atoms} * descriptor.stride());
  auto d = start;
  networks::Tape<Real> tape;
  for (auto _ : state) {
    std::copy(start.begin(), start.end(), d.begin());
    net.forward_and_adjoint({d.data(), descriptor.stride()}, batch_atoms, networks::Keep::adjoint,
                            {d.data(), descriptor.stride()}, tape);
    benchmark::ClobberMemory();
  }
  set_time_per_atom(state, batch_atoms);
  set_rate(state, 2.0 * 2.0 * batch_atoms * (descriptor.size() * 240.0 + 2 * 240.0 * 240.0));
}
BENCHMARK_TEMPLATE(fitting_both_ways, double);
BENCHMARK_TEMPLATE(fitting_both_ways, float);
BENCHMARK_TEMPLATE(fitting_both_ways, float, true);

}  // namespace

int main(int argc, char** argv) {
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
