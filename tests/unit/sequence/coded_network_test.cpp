#include "surrogates/sequence/network/coded_matrices.hpp"

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/sequence/network/network.hpp"
#include "tests/unit/sequence/network_cases.hpp"

namespace quintet::sequence {
namespace {

using test::numbers;

constexpr int steps = 8;

std::vector<double> outputs_of(const Architecture& architecture, const std::vector<double>& parameters,
                               const std::vector<double>& windows) {
  Network<double> network(architecture, steps);
  const int n = static_cast<int>(windows.size()) / (steps * architecture.n_inputs);
  std::vector<double> outputs(std::int64_t{n} * network.n_outputs());
  network.refresh(parameters.data());
  network.forward(windows.data(), n, outputs.data());
  return outputs;
}

/// Whoever multiplies, and however few windows there are.
TEST(CodedNetwork, is_the_network_of_the_decoded_matrices) {
  for (const Architecture& architecture : test::some_networks())
    for (const int n : {1, 40}) {
      const Graph graph = graph_of(architecture);
      const auto trained = numbers<double>(graph.n_parameters, 0.3, 0.5);
      const auto windows = numbers<double>(std::int64_t{n} * steps * architecture.n_inputs, 1.0);
      for (const CodeOptions options : {CodeOptions{1, 0, 2}, CodeOptions{3, 8, 2}}) {
        const auto codes = encode_matrices(graph, trained, options);
        const auto decoded = decode_matrices(graph, trained, codes);
        const auto exact = outputs_of(architecture, decoded, windows);
        for (const CodeKernel kernel :
             {CodeKernel::fp32, CodeKernel::tables, CodeKernel::bf16, CodeKernel::automatic}) {
          const auto found = predict_coded(architecture, steps, decoded, codes, kernel, windows);
          ASSERT_EQ(found.size(), exact.size());
          for (std::size_t i = 0; i < exact.size(); ++i)
            ASSERT_NEAR(found[i], exact[i], is_exact(kernel) ? 1e-5 : 5e-2)
                << summary(architecture) << ", " << name_of(kernel) << ", " << n << " windows";
        }
      }
    }
}

TEST(CodedNetwork, biases_and_matrices_are_all_parameters) {
  for (const Architecture& architecture : test::some_networks()) {
    const Graph graph = graph_of(architecture);
    const auto parameters = numbers<double>(graph.n_parameters, 0.3, 0.5);
    const auto biases = biases_of(graph, parameters);
    std::size_t in_matrices = 0;
    for (const auto& place : matrices_of(graph)) in_matrices += place.size();
    EXPECT_EQ(biases.size() + in_matrices, graph.n_parameters);
    const auto codes = encode_matrices(graph, parameters, {2, 0, 2});
    EXPECT_EQ(decode_matrices(graph, with_biases(graph, biases), codes),
              decode_matrices(graph, parameters, codes));
  }
}

TEST(CodedNetwork, weights_come_back_at_a_refresh_and_codes_have_no_gradient) {
  const Architecture architecture = test::some_networks()[3];
  Network<float> network(architecture, steps);
  const auto parameters = numbers<float>(network.n_parameters(), 0.3, 0.5);
  const auto windows = numbers<float>(std::int64_t{steps} * architecture.n_inputs, 1.0);
  std::vector<float> first(network.n_outputs()), coded(first), again(first), gradient(network.n_parameters());
  network.refresh(parameters.data());
  network.forward(windows.data(), 1, first.data());
  network.take_codes(
      encode_matrices(network.graph(), std::vector<double>(parameters.begin(), parameters.end()), {1, 0, 0}),
      CodeKernel::tables);
  network.forward(windows.data(), 1, coded.data());
  EXPECT_NE(coded, first);
  EXPECT_THROW((void)network.loss_and_gradient(windows.data(), first.data(), 1, gradient.data()),
               InternalError);
  network.refresh(parameters.data());
  network.forward(windows.data(), 1, again.data());
  EXPECT_EQ(again, first);
  (void)network.loss_and_gradient(windows.data(), first.data(), 1, gradient.data());
}

TEST(CodedNetwork, codes_of_another_network_are_refused) {
  const Graph graph = graph_of(test::some_networks()[0]), other = graph_of(test::some_networks()[2]);
  const auto codes = encode_matrices(other, numbers<double>(other.n_parameters, 0.3), {1, 0, 0});
  try {
    check_matrices(graph, codes, "model.h5");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("model.h5: 3 matrices; the network has 4"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace quintet::sequence
