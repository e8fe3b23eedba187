// serving_codes [--quick] [--repeat N] [--bits N] [--size N]
//
// Y = X W^T of a square matrix as binary codes, one core: our products by tables, in fp32, in bf16 and by the
// timed choice, beside OpenBLAS's sgemv (one row of X; sgemm for more), LibTorch's float32 and bfloat16 and,
// for one row, its _dyn_quant_matmul_4bit, in turns in one process. Tables are made anew in every product.
// Bytes of W: n^2 (bits/8 + 4 bits/n) by tables, 4 n^2 in fp32; 2 n^2 flops a row. CPU time, the least of the
// repeats; a repeat is as many products as last 0.2 ms.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/codes/coded_matrix.hpp"
#include "physics/kernels/core_rate.hpp"
#include "physics/kernels/pack.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "tests/bench/codes/sides.hpp"

namespace quintet {
namespace {

/// OpenBLAS by itself: LibTorch brings a BLAS of its own.
class OpenBlas {
 public:
  OpenBlas() : library_(dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) {
    QUINTET_CHECK(library_ != nullptr, "libopenblas.so.0 is not here: {}", dlerror());
    gemv_ = reinterpret_cast<Gemv>(dlsym(library_, "cblas_sgemv"));
    gemm_ = reinterpret_cast<Gemm>(dlsym(library_, "cblas_sgemm"));
    auto* const threads = reinterpret_cast<void (*)(int)>(dlsym(library_, "openblas_set_num_threads"));
    auto* const config = reinterpret_cast<const char* (*)()>(dlsym(library_, "openblas_get_config"));
    QUINTET_CHECK(gemv_ && gemm_ && threads && config, "libopenblas.so.0 lacks sgemv, sgemm or its settings");
    threads(1);
    name_ = config();
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  void multiply(const float* w, const float* x, int n, int rows, float* y) const {
    constexpr int row_major = 101, as_it_is = 111, transposed = 112;
    if (rows == 1)
      gemv_(row_major, as_it_is, n, n, 1, w, n, x, 1, 0, y, 1);
    else
      gemm_(row_major, as_it_is, transposed, rows, n, n, 1, x, n, w, n, 0, y, n);
  }

 private:
  using Gemv = void (*)(int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  using Gemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                        float*, int);
  void* library_;
  Gemv gemv_ = nullptr;
  Gemm gemm_ = nullptr;
  std::string name_;
};

struct Arguments {
  int repeats = 15;
  std::vector<int> sizes = {512, 1024, 2048, 4096}, bits = {1, 2, 3, 4}, rows = {1, 16, 64};
};

void run(const Arguments& arguments) {
  const c10::InferenceMode inference;
  const OpenBlas blas;
  fmt::print("tables {}; bf16 {}; {}; LibTorch {}\n", doc_of(table_unit()), doc_of(bf16_unit()), blas.name(),
             TORCH_VERSION);
  std::vector<std::string> lines;
  double worst = 0;
  std::string worst_case;
  for (const int n : arguments.sizes) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> w(std::int64_t{n} * n);
    for (float& v : w) v = normal(random);
    const std::vector<double> exact(w.begin(), w.end());
    const auto torch_w = at::from_blob(w.data(), {n, n}, at::kFloat),
               torch_w16 = w.empty() ? at::Tensor() : torch_w.to(at::kBFloat16);
    const auto quarter = at::_dyn_quant_pack_4bit_weight(at::randint(0, 255, {n, n / 2}, at::kByte),
                                                         at::rand({n, 1}), {}, n, n, n);
    for (const int bits : arguments.bits) {
      const auto codes = encode(exact, n, n, {bits, 0, 0});
      CodedMatrix by_tables(codes, CodeKernel::tables), in_fp32(codes, CodeKernel::fp32),
          in_bf16(codes, CodeKernel::bf16), chosen(codes);
      for (const int rows : arguments.rows) {
        AlignedVector<float> x(std::int64_t{rows} * n), y(x.size());
        for (float& v : x) v = normal(random);
        const auto torch_x = at::from_blob(x.data(), {rows, n}, at::kFloat),
                   torch_x16 = torch_x.to(at::kBFloat16);
        const auto ours = [&](CodedMatrix& matrix) {
          return [&, rows] { matrix.multiply(x.data(), n, rows, y.data(), n); };
        };
        std::vector<Side> sides = {
            {"tables", ours(by_tables)},
            {"fp32", ours(in_fp32)},
            {"bf16", ours(in_bf16)},
            {"auto", ours(chosen)},
            {"OpenBLAS", [&] { blas.multiply(w.data(), x.data(), n, rows, y.data()); }},
            {"torch fp32", [&] { (void)at::linear(torch_x, torch_w); }},
            {"torch bf16", [&] { (void)at::linear(torch_x16, torch_w16); }}};
        if (rows == 1)
          sides.push_back(
              {"torch 4 bits", [&] { (void)at::_dyn_quant_matmul_4bit(torch_x, quarter, n, n, n); }});
        compare(sides, arguments.repeats, 2e-4);
        // What auto chose is the same code as one of the three: two samples of one time.
        const double best = std::min({sides[0].seconds, sides[1].seconds, sides[2].seconds});
        const auto same = std::find_if(sides.begin(), sides.end(), [&](const Side& side) {
          return side.name == name_of(chosen.kernel_for(rows));
        });
        const double share = std::max(1.0, std::min(sides[3].seconds, same->seconds) / best);
        const std::string name = fmt::format("{} bits, {} x {}, {} rows", bits, n, n, rows);
        if (share > worst) worst = share, worst_case = name;
        fmt::print("{}:", name);
        for (const Side& side : sides) fmt::print(" {} {:.2f} us,", side.name, 1e6 * side.seconds);
        fmt::print(" auto ({}) {:.2f} of the best; tables {:.2f} x OpenBLAS\n",
                   name_of(chosen.kernel_for(rows)), share, sides[4].seconds / sides[0].seconds);
        std::fflush(stdout);
        std::vector<std::string> all;
        for (const Side& side : sides) all.push_back(fmt::format(R"("{}": {:.5g})", side.name, side.seconds));
        lines.push_back(fmt::format(
            R"({{"bench": "serving_codes", "case": "{}", "ours": {:.5g}, "peer": {:.5g}, "ratio": {:.4g}, "unit": "CPU s", "auto": "{}", "auto_to_best": {:.4g}, "seconds": {{{}}}}})",
            name, sides[0].seconds, sides[4].seconds, sides[4].seconds / sides[0].seconds,
            name_of(chosen.kernel_for(rows)), share, fmt::join(all, ", ")));
      }
    }
  }
  fmt::print("auto, at worst: {:.2f} of the best of three ({})\n[{}]\n", worst, worst_case,
             fmt::join(lines, ", "));
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&] { return std::atoi(i + 1 < argc ? argv[++i] : "0"); };
    if (flag == "--quick")
      a.repeats = 3, a.sizes = {512, 1024}, a.bits = {1, 2};
    else if (flag == "--repeat")
      a.repeats = value();
    else if (flag == "--bits")
      a.bits = {value()};
    else if (flag == "--size")
      a.sizes = {value()};
    else
      throw UsageError("serving_codes [--quick] [--repeat N] [--bits N] [--size N]");
  }
  QUINTET_CHECK(a.repeats >= 1 && a.sizes[0] >= 32 && a.sizes[0] % 32 == 0 && a.sizes[0] <= 8192,
                "--repeat 1 or more, --size a multiple of 32 up to 8192");
  return a;
}

}  // namespace
}  // namespace quintet

int main(int argc, char** argv) {
  try {
    const auto arguments = quintet::parse(argc, argv);
    const quintet::Runtime runtime(argc, argv, 1, {quintet::torch_subsystem()});
    quintet::run(arguments);
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
