#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>

#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/core_rate.hpp"
#include "physics/kernels/gemm_bf16.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/flow/decoder/autograd/decoder_function.hpp"
#include "surrogates/flow/encoder/unet.hpp"
#include "surrogates/flow/equations/pde_system.hpp"
#include "surrogates/training/optimiser.hpp"
#include "tests/bench/flow/nested_decoder.hpp"

/// A training step of MeshfreeFlowNet (U-Net, decoder, L1 of values and gamma x L1 of the four residuals of
/// Rayleigh-Benard convection, gradient, Adam) two ways, interleaved: the decoder's derivatives by nested
/// reverse mode as the reference takes them (25 gradient calls), and by the decoder's channels. U-Net and
/// Adam are the same in both. Then inference on a full field, extrapolated from chunks. CPU time of one
/// thread, minimum of repeats; memory is the largest resident set of a process of its own. See --help.
namespace quintet::flow {
namespace {

template <class Body>
double timed(Body&& body) {
  const double start = cpu_seconds();
  body();
  return cpu_seconds() - start;
}

struct Arguments {
  std::vector<int> batches = {2, 10};
  int points = 512, repeats = 3;
  double prandtl = 1;
  double steepness = 1;  ///< of the first layer's weights of the place in inference, over initial ones
  bool steps = true, inference = true;
  std::string alone;  ///< run one step of this side in this process (memory)
  double gamma = 0.0125;
};

constexpr double rayleigh = 1e6;
constexpr std::int64_t full_field[] = {192, 128, 512};

/// The reference's sizes: a crop of 16 x 128 x 128 seen from 4 x 16 x 16 nodes.
NodeGrid crop_grid() {
  const auto even = [](int n, double length) {
    NodeAxis axis{{}, false, 0, length};
    for (int i = 0; i < n; ++i) axis.nodes.push_back(length * i / (n - 1));
    return axis;
  };
  return {even(4, 3.75), even(16, 1.0), even(16, 127.0 / 128)};
}

struct Sample {
  at::Tensor input, targets;  ///< [sample, 4, t, z, x], [sample, point, field]
  std::shared_ptr<DecoderQueries> queries;
};

Sample make_sample(int batch, int points) {
  Sample sample;
  sample.queries = std::make_shared<DecoderQueries>();
  auto& q = *sample.queries;
  q.grids = {crop_grid()};
  q.n_samples = batch;
  q.n_points = points;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < batch * points; ++i)
    for (const auto& axis : q.grids[0]) q.points.push_back(axis.upper * uniform(random));
  at::manual_seed(3);
  sample.input = at::randn({batch, 4, 4, 16, 16});
  sample.targets = at::randn({batch, points, 4});
  return sample;
}

PdeSystem convection() {
  return PdeSystem({{"continuity", "dx(u) + dz(w)", ""},
                    {"buoyancy", "dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b))", ""},
                    {"momentum_x", "dt(u) + u*dx(u) + w*dz(u) - R*(dxx(u) + dzz(u)) + dx(p)", ""},
                    {"momentum_z", "dt(w) + u*dx(w) + w*dz(w) - R*(dxx(w) + dzz(w)) + dz(p) - b", ""}},
                   {{"p", "b", "u", "w"}, {"t", "z", "x"}, {"P", "R"}});
}

/// Networks, gradient and moments; both ways train the same from the same start.
class Trainer {
 public:
  Trainer(double prandtl, double gamma) : gamma_(gamma), decoder_(DecoderOptions{}), unet_(UnetOptions{}) {
    diffusivity_ = 1 / std::sqrt(rayleigh * prandtl);
    viscosity_ = std::sqrt(prandtl / rayleigh);
    const auto as_tensor = [](const std::vector<double>& values) { return at::tensor(values, at::kFloat); };
    encoder_ = as_tensor(unet_.initial_parameters(1)).set_requires_grad(true);
    network_ = as_tensor(decoder_.initial_parameters(2)).set_requires_grad(true);
    statistics_ = at::tensor(unet_.initial_statistics(), at::kDouble);
    for (const auto& parameters : {encoder_, network_})
      for (auto* moments : {&moment1_, &moment2_}) moments->push_back(at::zeros_like(parameters).detach());
  }

  at::Tensor encode(const Sample& sample) {
    return unet_.train(Comm::self(), encoder_, sample.input, statistics_).contiguous();
  }

  /// The loss, with gradients left in the parameters. The reference's way.
  double nested(const Sample& sample, bool pde) {
    const auto columns = columns_of(sample, pde);
    const auto fields =
        nested_fields(decoder_.options(), sample.queries->grids[0], encode(sample), network_, columns);
    auto loss = (fields - sample.targets).abs().mean();
    if (pde) {
      const auto residuals = nested_residuals(fields, columns, diffusivity_, viscosity_);
      loss = loss + gamma_ * at::cat(residuals, 2).abs().mean();
    }
    loss.backward();
    return loss.item<double>();
  }

  /// The same by the decoder's channels.
  double channels(const Sample& sample, bool pde) {
    auto queries = sample.queries;
    std::optional<Residuals> residuals;
    if (pde) {
      queries = std::make_shared<DecoderQueries>(*queries);
      residuals.emplace(system_.residuals(std::vector<std::vector<double>>(
          queries->n_samples, std::vector<double>{diffusivity_, viscosity_})));
      for (int i = 0; i < queries->n_samples; ++i) {
        const auto operators = residuals->operators(i);
        queries->operators.emplace_back(operators.begin(), operators.end());
      }
    }
    const auto jets =
        decode(decoder_, std::shared_ptr<const DecoderQueries>(queries), encode(sample), network_);
    n_channels_ = queries->n_channels();
    auto bar = at::zeros_like(jets);
    const auto difference = jets.detach().select(2, 0) - sample.targets;
    double loss = difference.abs().mean().item<double>();
    bar.select(2, 0).copy_(difference.sign() / static_cast<double>(difference.numel()));
    if (pde) loss += gamma_ * add_residuals(*queries, *residuals, jets.detach(), bar);
    torch::autograd::backward({jets}, {bar});
    return loss;
  }

  void update() {
    ++step_;
    for (auto* trained : {&encoder_, &network_}) {
      if (!trained->grad().defined()) continue;
      const std::size_t n = trained->numel();
      const auto numbers = [n](const at::Tensor& tensor) {
        return std::span(tensor.mutable_data_ptr<float>(), n);
      };
      const std::size_t which = trained == &network_;
      optimiser_step<float>({}, step_, 1e-3,
                            {numbers(trained->detach()),
                             numbers(trained->grad()),
                             {numbers(moment1_[which]), numbers(moment2_[which])}});
      trained->mutable_grad() = at::Tensor();
    }
  }
  /// Gradients of both networks, one after the other; clears them.
  at::Tensor take_gradient() {
    const auto gradient = at::cat({encoder_.grad(), network_.grad()});
    encoder_.mutable_grad() = network_.mutable_grad() = at::Tensor();
    return gradient;
  }

  double step(const std::string& side, const Sample& sample, bool pde) {
    const double loss = side == "nested" ? nested(sample, pde) : channels(sample, pde);
    update();
    return loss;
  }

  [[nodiscard]] const Decoder<float>& decoder() const { return decoder_; }
  [[nodiscard]] int n_channels() const { return n_channels_; }
  [[nodiscard]] const PdeSystem& system() const { return system_; }
  [[nodiscard]] std::vector<double> constants() const { return {diffusivity_, viscosity_}; }
  [[nodiscard]] const at::Tensor& network() const { return network_; }
  [[nodiscard]] std::vector<at::Tensor> columns_of(const Sample& sample, bool differentiate) const {
    const auto points = at::tensor(sample.queries->points, at::kDouble)
                            .to(at::kFloat)
                            .view({sample.queries->n_samples, sample.queries->n_points, n_axes});
    std::vector<at::Tensor> columns;
    for (int i = 0; i < n_axes; ++i)
      columns.push_back(points.slice(2, i, i + 1).contiguous().set_requires_grad(differentiate));
    return columns;
  }

 private:
  double add_residuals(const DecoderQueries& queries, const Residuals& residuals, const at::Tensor& jets,
                       at::Tensor& bar) const {
    const int n = queries.n_points, n_equations = residuals.n_equations();
    const double count = static_cast<double>(queries.n_samples) * n * n_equations;
    const std::int64_t row = jets.stride(0);
    std::vector<float> values(std::int64_t{n} * n_equations);
    double sum = 0;
    for (int sample = 0; sample < queries.n_samples; ++sample) {
      const float* from = jets.const_data_ptr<float>() + sample * row;
      residuals.evaluate(sample, n, from, nullptr, values.data());
      for (float& value : values) {
        sum += std::abs(value);
        value = static_cast<float>((value > 0 ? gamma_ : -gamma_) / count);
      }
      residuals.add_adjoint(sample, n, from, nullptr, values.data(),
                            bar.mutable_data_ptr<float>() + sample * row);
    }
    return sum / count;
  }

  double gamma_, diffusivity_, viscosity_;
  PdeSystem system_ = convection();
  Decoder<float> decoder_;
  Unet unet_;
  at::Tensor encoder_, network_, statistics_;
  std::vector<at::Tensor> moment1_, moment2_;
  int step_ = 0, n_channels_ = 1;
};

/// Largest resident set of this process (MB), from /proc: unlike rusage it forgets what was before exec.
double largest_resident_set() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  return NAN;
}

/// That of a process that takes two steps.
double memory_of(const std::string& side, bool pde, int batch, const Arguments& arguments) {
  const std::string command = fmt::format("'{}' --alone {}{} --batch {} --points {} --prandtl {}",
                                          std::filesystem::read_symlink("/proc/self/exe").string(), side,
                                          pde ? "" : "-values", batch, arguments.points, arguments.prandtl);
  FILE* child = popen(command.c_str(), "r");
  double megabytes = NAN;
  if (child == nullptr || std::fscanf(child, "%lf", &megabytes) != 1) megabytes = NAN;
  return child == nullptr || pclose(child) != 0 ? NAN : megabytes;
}

/// GFLOP/s of products as the decoder's widest layer has them.
double gemm_rate() {
  const int m = 2048, k = 512, n = 256;
  const AlignedVector<float> a(std::int64_t{m} * k, 0.5f);
  const std::vector<float> b(std::int64_t{k} * n, 0.25f);
  AlignedVector<float> c(std::int64_t{m} * n);
  PackedMatrix<float> packed;
  packed.assign(b.data(), k, n);
  double best = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat < 20; ++repeat)
    best = std::min(best, timed([&] {
                      for (int row = 0; row < m; row += 512)
                        multiply(a.data() + std::ptrdiff_t{row} * k, k, 512, packed,
                                 c.data() + std::ptrdiff_t{row} * n, n);
                    }));
  return 2.0 * m * k * n / best / 1e9;
}
double torch_gemm_rate() {
  const auto a = at::randn({8192, 512}), b = at::randn({512, 256});
  double best = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat < 5; ++repeat) best = std::min(best, timed([&] { (void)at::mm(a, b); }));
  return 2.0 * 8192 * 512 * 256 / best / 1e9;
}

/// Multiply-adds of products with the hidden part of a layer's input, a row and channel.
double hidden_products(const DecoderOptions& options) {
  double sum = 0;
  for (std::size_t l = 0; l < options.widths.size(); ++l)
    sum += static_cast<double>(options.widths[l]) *
           (l + 1 < options.widths.size() ? options.widths[l + 1] : options.n_fields);
  return sum;
}
/// Flops of products of a point in a forward pass; a step takes three times as many.
double flops_of_point(const DecoderOptions& options, int n_channels) {
  return 2.0 * 8 * n_channels * hidden_products(options);
}

struct Row {
  std::string name, unit;
  double ours, peer;
  std::string more;
};
std::string json(const Row& row) {
  return fmt::format(
      R"({{"bench": "meshfreeflow_step", "case": "{}", "ours": {:.5g}, "peer": {:.5g}, "ratio": {:.4g}, "unit": "{}"{}}})",
      row.name, row.ours, row.peer, row.peer / row.ours, row.unit, row.more);
}

void compare_steps(const Arguments& arguments, std::vector<Row>& rows) {
  for (const int batch : arguments.batches)
    for (const bool pde : {true, false}) {
      Trainer nested(arguments.prandtl, arguments.gamma), ours(arguments.prandtl, arguments.gamma);
      const Sample sample = make_sample(batch, arguments.points);
      const double expected = nested.nested(sample, pde), found = ours.channels(sample, pde);
      const auto gradient = nested.take_gradient(), ours_gradient = ours.take_gradient();
      const double off = ((ours_gradient - gradient).norm() / gradient.norm()).item<double>();
      double best[2] = {1e30, 1e30}, encoder = 1e30;
      for (int repeat = 0; repeat < arguments.repeats; ++repeat) {
        best[0] = std::min(best[0], timed([&] { (void)nested.step("nested", sample, pde); }));
        for (int again = 0; again < 3; ++again)  // ours is short
          best[1] = std::min(best[1], timed([&] { (void)ours.step("channels", sample, pde); }));
        encoder = std::min(encoder, timed([&] {
                             auto latents = ours.encode(sample);
                             torch::autograd::backward({latents}, {at::ones_like(latents)});
                             ours.update();
                           }));
      }
      const double gemm = gemm_rate();
      const double flops =
          3 * flops_of_point(ours.decoder().options(), ours.n_channels()) * batch * arguments.points;
      const double limit = flops / gemm / 1e9;
      const std::string name =
          fmt::format("step {} PDE, batch {}, {} points, Pr {}", pde ? "with" : "without", batch,
                      arguments.points, arguments.prandtl);
      fmt::print(
          "{}: nested {:.3f} s, ours {:.3f} s, {:.1f} x; U-Net and Adam {:.3f} s of both; loss differs by "
          "{:.1e}, gradient "
          "by {:.1e}\n  {} channels, {:.1f} GFLOP at {:.0f} GFLOP/s (torch {:.0f}): products alone {:.3f} s, "
          "{:.0f} % of the step beside the U-Net\n",
          name, best[0], best[1], best[0] / best[1], encoder, std::abs(found / expected - 1), off,
          ours.n_channels(), flops / 1e9, gemm, torch_gemm_rate(), limit, 100 * limit / (best[1] - encoder));
      std::fflush(stdout);
      rows.push_back({name, "CPU s", best[1], best[0],
                      fmt::format(R"(, "encoder_s": {:.4f}, "gemm_limit_s": {:.4f}, "gemm_gflops": {:.1f})",
                                  encoder, limit, gemm)});
      const double memory[2] = {memory_of("nested", pde, batch, arguments),
                                memory_of("channels", pde, batch, arguments)};
      fmt::print("  largest resident set: nested {:.0f} MB, ours {:.0f} MB, {:.1f} x\n", memory[0], memory[1],
                 memory[0] / memory[1]);
      rows.push_back({name, "MB", memory[1], memory[0], ""});
    }
}

/// The full field from a chunk of it: a grid of points in some cells for us, what the reference takes at once
/// for it.
void compare_inference(const Arguments& arguments, std::vector<Row>& rows) {
  const double all = static_cast<double>(full_field[0]) * full_field[1] * full_field[2];
  Trainer trainer(arguments.prandtl, arguments.gamma);
  const auto residuals = trainer.system().residuals(std::vector<std::vector<double>>{trainer.constants()});
  for (const bool pde : {false, true}) {
    Sample chunk = make_sample(1, 1), small = make_sample(1, 2000);
    auto& q = *chunk.queries;
    q.points.clear();  // one frame's fine points of 8 x 8 cells, 8 x 8 a cell, as superresolve takes them
    for (int z = 0; z < 64; ++z)
      for (int x = 0; x < 64; ++x) {
        const double places[] = {0.125, (z + 0.5) / 8, (x + 0.5) / 8};  // in cells
        for (int i = 0; i < n_axes; ++i) {
          const auto& axis = q.grids[0][i];
          q.points.push_back(axis.upper * places[i] / (axis.size() - 1));
        }
      }
    q.n_points = static_cast<int>(q.points.size()) / n_axes;
    if (pde) q.operators = {{residuals.operators(0).begin(), residuals.operators(0).end()}};
    const auto latents = at::randn({1, 4, 16, 16, 32});
    Decoder<float> decoder{DecoderOptions{}};
    auto network = trainer.network().detach().clone();
    network.narrow(0, 0, n_axes * decoder.options().widths[0]).mul_(arguments.steepness);
    network.set_requires_grad(true);
    decoder.refresh(network.const_data_ptr<float>());
    decoder.prepare_bf16(network.const_data_ptr<float>());
    std::vector<float> jets(std::int64_t{q.n_points} * q.n_channels() * 4), values(q.n_points * 4),
        jets_in_bf16(jets.size());
    double best[3] = {1e30, 1e30, 1e30};
    for (int repeat = 0; repeat < arguments.repeats; ++repeat) {
      best[1] = std::min(best[1], timed([&] {
                           decoder.forward(latents.const_data_ptr<float>(), q, jets.data());
                           if (pde) residuals.evaluate(0, q.n_points, jets.data(), nullptr, values.data());
                         }));
      q.bf16 = true;
      best[2] = std::min(best[2], timed([&] {
                           decoder.forward(latents.const_data_ptr<float>(), q, jets_in_bf16.data());
                           if (pde)
                             residuals.evaluate(0, q.n_points, jets_in_bf16.data(), nullptr, values.data());
                         }));
      q.bf16 = false;
      best[0] = std::min(best[0], timed([&] {
                           const auto columns = trainer.columns_of(small, pde);
                           if (pde) {
                             const auto fields =
                                 nested_fields(decoder.options(), q.grids[0], latents, network, columns);
                             const auto r = nested_residuals(fields, columns, trainer.constants()[0],
                                                             trainer.constants()[1]);
                             if (r[0].numel() == 0) throw InternalError("no residuals");
                           } else {
                             at::NoGradGuard no_grad;
                             (void)nested_fields(decoder.options(), q.grids[0], latents, network, columns);
                           }
                         }));
    }
    best[0] *= all / 2000;
    best[1] *= all / q.n_points;
    best[2] *= all / q.n_points;
    double error = 0, size = 0;
    for (std::size_t i = 0; i < jets.size(); ++i) {
      error += std::pow(static_cast<double>(jets_in_bf16[i]) - jets[i], 2);
      size += std::pow(static_cast<double>(jets[i]), 2);
    }
    const std::string name = fmt::format(
        "inference {} residuals, {} x {} x {}, extrapolated from {} points (peer: 2000), Pr {}",
        pde ? "with" : "without", full_field[0], full_field[1], full_field[2], q.n_points, arguments.prandtl);
    const double gemm = gemm_rate(),
                 limit = flops_of_point(decoder.options(), q.n_channels()) * all / gemm / 1e9;
    fmt::print(
        "{}: nested {:.0f} s, ours {:.0f} s, {:.1f} x; products alone {:.0f} s; with products of bf16 {:.0f} "
        "s, {:.2f} x "
        "({}), results changed by {:.2g} of their size (rms)\n",
        name, best[0], best[1], best[0] / best[1], limit, best[2], best[1] / best[2], doc_of(bf16_unit()),
        std::sqrt(error / size));
    std::fflush(stdout);
    rows.push_back({name, "CPU s", best[1], best[0],
                    fmt::format(R"(, "gemm_limit_s": {:.1f}, "bf16_s": {:.5g})", limit, best[2])});
  }
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : "0"); };
    if (flag == "--quick")
      a.batches = {2}, a.repeats = 1, a.points = 256;
    else if (flag == "--batch")
      a.batches = {std::stoi(value())};
    else if (flag == "--points")
      a.points = std::stoi(value());
    else if (flag == "--repeat")
      a.repeats = std::stoi(value());
    else if (flag == "--prandtl")
      a.prandtl = std::stod(value());
    else if (flag == "--steepness")
      a.steepness = std::stod(value());
    else if (flag == "--no-inference")
      a.inference = false;
    else if (flag == "--no-steps")
      a.steps = false;
    else if (flag == "--alone")
      a.alone = value();
    else
      throw UsageError(
          "meshfreeflow_step [--quick] [--batch N] [--points N] [--repeat N] [--prandtl PR] "
          "[--steepness TIMES] [--no-inference] [--no-steps]");
  }
  return a;
}

void run(const Arguments& arguments) {
  if (!arguments.alone.empty()) {
    const std::string side = arguments.alone.substr(0, arguments.alone.find('-'));
    Trainer trainer(arguments.prandtl, arguments.gamma);
    const Sample sample = make_sample(arguments.batches[0], arguments.points);
    for (int i = 0; i < 2; ++i) (void)trainer.step(side, sample, side == arguments.alone);
    fmt::print("{:.1f}\n", largest_resident_set());
    return;
  }
  std::vector<Row> rows;
  if (arguments.steps) compare_steps(arguments, rows);
  if (arguments.inference) compare_inference(arguments, rows);
  std::vector<std::string> lines;
  for (const auto& row : rows) lines.push_back(json(row));
  fmt::print("[{}]\n", fmt::join(lines, ", "));
}

}  // namespace
}  // namespace quintet::flow

int main(int argc, char** argv) {
  try {
    const auto arguments = quintet::flow::parse(argc, argv);
    const quintet::Runtime runtime(argc, argv, 1, {quintet::torch_subsystem()});
    quintet::flow::run(arguments);
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
