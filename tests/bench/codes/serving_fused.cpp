// serving_fused [--quick] [--repeat N] [--no-decoder] [--no-python]
//
// Small networks whose rows stay in the cache through all layers, beside LibTorch's operators one after the
// other, in turns in one process, one core, CPU time, the least of the repeats:
// - one window of 8 steps through stacked LSTMs and a head, as `podlstm forecast` runs it, a step: beside
// at::lstm (all layers in one call), at::lstm_cell
//   step by step, and PyTorch in Python (nn.LSTM, nn.LSTMCell; a process of its own, after);
// - fields of MeshfreeFlowNet's decoder, a point, 8 rows each: beside addmm, softplus and cat on 2000 points
// (nested_decoder.cpp).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/core_rate.hpp"
#include "physics/kernels/gemm_bf16.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/flow/decoder/decoder.hpp"
#include "surrogates/sequence/network/network.hpp"
#include "tests/bench/codes/sides.hpp"
#include "tests/bench/flow/nested_decoder.hpp"

namespace quintet {
namespace {

constexpr int steps = 8;

struct Arguments {
  int repeats = 15;
  bool decoder = true, python = true;
};

struct Stack {
  std::string name;
  int inputs, units, depth, outputs;
};

/// LibTorch's LSTMs with the weights of ours.
class Peer {
 public:
  Peer(const sequence::Graph& graph, const std::vector<float>& parameters) : graph_(graph) {
    const auto matrix = [&](std::size_t first, int rows, int columns) {
      return at::tensor(at::ArrayRef<float>(parameters.data() + first, std::int64_t{rows} * columns))
          .view({rows, columns})
          .t()
          .contiguous();
    };
    for (const auto& operation : graph.operations) {
      const int in = operation.n_in, n = operation.n_out;
      if (operation.kind == sequence::Operation::Kind::lstm) {
        const std::size_t u = operation.first + std::int64_t{in} * 4 * n, b = u + std::int64_t{n} * 4 * n;
        const auto bias = matrix(b, 4 * n, 1).view({4 * n});
        layers_.push_back(
            {matrix(operation.first, in, 4 * n), matrix(u, n, 4 * n), bias, at::zeros_like(bias)});
      } else {
        layers_.push_back(
            {matrix(operation.first, in, n), matrix(operation.first + std::int64_t{in} * n, n, 1).view({n})});
      }
    }
  }
  /// Layer by layer, all steps at once.
  at::Tensor layers(at::Tensor x) const {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i].size() == 2) return dense(i, x.select(0, steps - 1));
      const auto zero = at::zeros({1, 1, graph_.operations[i].n_out});
      x = std::get<0>(at::lstm(x, {zero, zero}, layers_[i], true, 1, 0.0, false, false, false));
    }
    return x;
  }
  /// Step by step, all layers at once.
  at::Tensor cells(const at::Tensor& x) const {
    std::vector<at::Tensor> h, c, all;
    for (const auto& operation : graph_.operations)
      h.push_back(at::zeros({1, operation.n_out})), c.push_back(h.back());
    for (int t = 0; t < steps; ++t) {
      at::Tensor row = x.select(0, t);
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        if (layers_[i].size() == 2) continue;
        std::tie(h[i], c[i]) =
            at::lstm_cell(row, {h[i], c[i]}, layers_[i][0], layers_[i][1], layers_[i][2], layers_[i][3]);
        row = h[i];
      }
      all.push_back(row);
    }
    return layers_.back().size() == 2 ? dense(layers_.size() - 1, all.back()) : at::stack(all);
  }

 private:
  [[nodiscard]] at::Tensor dense(std::size_t i, const at::Tensor& x) const {
    return at::linear(x, layers_[i][0], layers_[i][1]);
  }
  sequence::Graph graph_;
  std::vector<std::vector<at::Tensor>> layers_;
};

/// Microseconds a step of nn.LSTM and of nn.LSTMCell in Python; 0 where there is none.
std::pair<double, double> python_steps(const Stack& stack, int repeats) {
  const auto command =
      fmt::format("OMP_NUM_THREADS=1 '{}' '{}' {} {} {} {} {} {} 2>/dev/null", QUINTET_PYTHON, QUINTET_PEER,
                  stack.inputs, stack.units, stack.depth, stack.outputs, steps, repeats);
  double lstm = 0, cell = 0;
  if (std::FILE* pipe = popen(command.c_str(), "r")) {
    if (std::fscanf(pipe, "%lf %lf", &lstm, &cell) != 2) lstm = cell = 0;
    pclose(pipe);
  }
  return {lstm, cell};
}

void compare_lstm(const Arguments& arguments, std::vector<std::string>& lines) {
  using namespace sequence;
  for (const Stack& stack :
       {Stack{"LSTM-80, LSTM(5)", 5, 80, 1, 5}, Stack{"LSTM-80 x 2, LSTM(5)", 5, 80, 2, 5},
        Stack{"the default of podlstm: LSTM-16, dense from the last state", 7, 16, 1, 0}}) {
    const bool last_state = stack.outputs == 0;
    Architecture architecture{stack.inputs,
                              std::vector<Node>(stack.depth, {NodeKind::lstm, stack.units}),
                              {},
                              last_state ? Head::last_state : Head::lstm,
                              5,
                              steps};
    validate(architecture);
    Network<float> network(architecture, steps), rounded(architecture, steps, Products::bf16);
    std::vector<float> parameters(network.n_parameters()), window(std::int64_t{steps} * stack.inputs),
        outputs(steps * 5), again(steps * 5);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i] = 0.2F * static_cast<float>(std::sin(1.3 * (i * i % 7919)));
    for (std::size_t i = 0; i < window.size(); ++i) window[i] = static_cast<float>(std::cos(0.37 * i));
    network.refresh(parameters.data());
    rounded.refresh(parameters.data());
    const Peer peer(network.graph(), parameters);
    const auto x = at::tensor(at::ArrayRef<float>(window)).view({steps, 1, stack.inputs});
    network.forward(window.data(), 1, outputs.data());
    for (const auto& theirs : {peer.layers(x), peer.cells(x)}) {
      const auto flat = theirs.contiguous().view({-1});
      for (std::size_t i = 0; i < outputs.size(); ++i)
        QUINTET_CHECK(std::abs(flat[i].item<float>() - outputs[i]) < 1e-4F,
                      "LibTorch's output {} is {}, not {}", i, flat[i].item<float>(), outputs[i]);
    }
    std::vector<Side> sides = {{"ours", [&] { network.forward(window.data(), 1, outputs.data()); }},
                               {"ours, bf16", [&] { rounded.forward(window.data(), 1, again.data()); }},
                               {"at::lstm", [&] { (void)peer.layers(x); }},
                               {"at::lstm_cell", [&] { (void)peer.cells(x); }}};
    compare(sides, arguments.repeats, 3e-4);
    const auto [python, python_cell] =
        arguments.python ? python_steps(stack, arguments.repeats) : std::pair{0.0, 0.0};
    for (Side& side : sides) side.seconds /= steps;
    double flops = 0;
    for (const auto& operation : network.graph().operations)
      if (operation.kind == Operation::Kind::lstm)
        flops += 8.0 * operation.n_out * (operation.n_in + operation.n_out);
    const double best = std::min(sides[2].seconds, python > 0 ? 1e-6 * python : HUGE_VAL);
    fmt::print(
        "{}, one window, a step: ours {:.2f} us ({:.0f} GFLOP/s), in bf16 {:.2f}; at::lstm {:.2f}, "
        "at::lstm_cell {:.2f}; in Python nn.LSTM {:.2f}, "
        "nn.LSTMCell {:.2f}; {:.1f} x the faster LSTM\n",
        stack.name, 1e6 * sides[0].seconds, 1e-9 * flops / sides[0].seconds, 1e6 * sides[1].seconds,
        1e6 * sides[2].seconds, 1e6 * sides[3].seconds, python, python_cell, best / sides[0].seconds);
    std::fflush(stdout);
    lines.push_back(fmt::format(
        R"({{"bench": "serving_fused", "case": "{}, one window", "ours": {:.5g}, "peer": {:.5g}, "ratio": {:.4g}, "unit": "CPU s/step", "bf16": {:.5g}, "at_lstm": {:.5g}, "at_lstm_cell": {:.5g}, "python_lstm": {:.5g}, "python_cell": {:.5g}}})",
        stack.name, sides[0].seconds, best, best / sides[0].seconds, sides[1].seconds, sides[2].seconds,
        sides[3].seconds, 1e-6 * python, 1e-6 * python_cell));
  }
}

/// Points on a fine grid of a few cells, 4 x 8 x 8 a cell, as super-resolution asks for them.
flow::DecoderQueries fine_points(int nt, int nz, int nx) {
  const auto even = [](int n, double length) {
    flow::NodeAxis axis{{}, false, 0, length};
    for (int i = 0; i < n; ++i) axis.nodes.push_back(length * i / (n - 1));
    return axis;
  };
  flow::DecoderQueries q;
  q.grids = {{even(4, 3.75), even(16, 1.0), even(16, 127.0 / 128)}};
  const double cells[] = {4, 8, 8};
  for (int t = 0; t < nt; ++t)
    for (int z = 0; z < nz; ++z)
      for (int x = 0; x < nx; ++x) {
        const int index[] = {t, z, x};
        for (int i = 0; i < flow::n_axes; ++i) {
          const auto& axis = q.grids[0][i];
          q.points.push_back(axis.upper * (index[i] + 0.5) / cells[i] / (axis.size() - 1));
        }
      }
  q.n_points = static_cast<int>(q.points.size()) / flow::n_axes;
  return q;
}

void compare_decoder(const Arguments& arguments, std::vector<std::string>& lines) {
  flow::DecoderOptions options;
  flow::Decoder<float> decoder(options);
  const auto start = decoder.initial_parameters(2);
  const std::vector<float> parameters(start.begin(), start.end());
  decoder.refresh(parameters.data());
  decoder.prepare_bf16(parameters.data());
  const auto latents = at::randn({1, 4, 16, 16, options.n_latent}),
             network = at::tensor(at::ArrayRef<float>(parameters));
  auto all = fine_points(4, 16, 32), some = fine_points(4, 16, 32);
  const auto columns_of = [](const flow::DecoderQueries& q) {
    const auto points =
        at::tensor(at::ArrayRef<double>(q.points)).to(at::kFloat).view({1, q.n_points, flow::n_axes});
    std::vector<at::Tensor> columns;
    for (int i = 0; i < flow::n_axes; ++i) columns.push_back(points.slice(2, i, i + 1).contiguous());
    return columns;
  };
  const auto columns = columns_of(some);
  std::vector<float> fields(std::int64_t{all.n_points} * options.n_fields), rounded(fields.size());
  auto in_bf16 = all;
  in_bf16.bf16 = true;
  decoder.forward(latents.const_data_ptr<float>(), all, fields.data());
  const auto theirs = flow::nested_fields(options, some.grids[0], latents, network, columns).contiguous();
  double largest = 0;
  for (std::size_t i = 0; i < fields.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(theirs.const_data_ptr<float>()[i]) - fields[i]));
  QUINTET_CHECK(largest < 1e-4, "LibTorch's fields differ by {}", largest);
  std::vector<Side> sides = {
      {"ours", [&] { decoder.forward(latents.const_data_ptr<float>(), all, fields.data()); }},
      {"ours, bf16", [&] { decoder.forward(latents.const_data_ptr<float>(), in_bf16, rounded.data()); }},
      {"LibTorch", [&] { (void)flow::nested_fields(options, some.grids[0], latents, network, columns); }}};
  compare(sides, arguments.repeats, 3e-4);
  for (Side& side : sides) side.seconds /= all.n_points;
  fmt::print(
      "fields of the decoder, a point of {}: ours {:.2f} us, in bf16 {:.2f} us ({}), LibTorch's chain {:.2f} "
      "us, {:.2f} x\n",
      all.n_points, 1e6 * sides[0].seconds, 1e6 * sides[1].seconds, doc_of(bf16_unit()),
      1e6 * sides[2].seconds, sides[2].seconds / sides[0].seconds);
  lines.push_back(fmt::format(
      R"({{"bench": "serving_fused", "case": "fields of MFN's decoder, {} points", "ours": {:.5g}, "peer": {:.5g}, "ratio": {:.4g}, "unit": "CPU s/point", "bf16": {:.5g}}})",
      all.n_points, sides[0].seconds, sides[2].seconds, sides[2].seconds / sides[0].seconds,
      sides[1].seconds));
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--quick")
      a.repeats = 3;
    else if (flag == "--repeat")
      a.repeats = std::max(1, std::atoi(i + 1 < argc ? argv[++i] : "0"));
    else if (flag == "--no-decoder")
      a.decoder = false;
    else if (flag == "--no-python")
      a.python = false;
    else
      throw UsageError("serving_fused [--quick] [--repeat N] [--no-decoder] [--no-python]");
  }
  return a;
}

}  // namespace
}  // namespace quintet

int main(int argc, char** argv) {
  try {
    const auto arguments = quintet::parse(argc, argv);
    const quintet::Runtime runtime(argc, argv, 1, {quintet::torch_subsystem()});
    const c10::InferenceMode inference;
    std::vector<std::string> lines;
    quintet::compare_lstm(arguments, lines);
    if (arguments.decoder) quintet::compare_decoder(arguments, lines);
    fmt::print("[{}]\n", fmt::join(lines, ", "));
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
