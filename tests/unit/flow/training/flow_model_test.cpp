#include "surrogates/flow/model/flow_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "surrogates/flow/model/coded_decoder.hpp"
#include "surrogates/flow/model/flow_inference.hpp"
#include "surrogates/flow/model/flow_network.hpp"
#include "surrogates/flow/model/refined_grid.hpp"
#include "tests/unit/flow/training/flow_sample.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::flow {
namespace {

FlowModel small_model() {
  FlowModel model{small_header(), {}, {}};
  const FlowNetwork<float> network(model.header);
  const auto parameters = network.initial_parameters(1);
  model.parameters.assign(parameters.begin(), parameters.end());
  model.statistics = network.initial_statistics();
  return model;
}

TEST(FlowModel, comes_back_from_its_file) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_whole");
  const std::string path = scratch / "a.h5";
  const FlowModel model = small_model();
  save_flow_model(comm, path, model, {});
  const FlowModel read = load_flow_model(comm, path);
  EXPECT_EQ(read.parameters, model.parameters);
  EXPECT_EQ(read.statistics, model.statistics);
  EXPECT_EQ(read.header.field_names(), model.header.field_names());
  EXPECT_EQ(read.header.axis_names(), model.header.axis_names());
  EXPECT_EQ(read.header.axis_periods(), model.header.axis_periods());
  EXPECT_EQ(read.header.block, model.header.block);
  EXPECT_EQ(read.header.fields[1].deviation, 1.3);
  EXPECT_EQ(read.header.parameters[1].range.most, 10000);
  EXPECT_EQ(read.header.options.conditioning, model.header.options.conditioning);
  const auto equations = read.header.flow_equations();
  EXPECT_EQ(equations.interior().n_equations(), 2);
  EXPECT_EQ(equations.walls().size(), 2u);
  EXPECT_EQ(equations.constants({{"Ra", 100}, {"Pr", 1}}), (std::vector<double>{1, 100, 0.1, 0.1}));
}

TEST(FlowModel, of_Fourier_layers_comes_back_from_its_file) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_fourier");
  FlowModel model{small_fourier_header(), {}, {}};
  const auto parameters = FlowNetwork<float>(model.header).initial_parameters(1);
  model.parameters.assign(parameters.begin(), parameters.end());
  save_flow_model(comm, scratch / "a.h5", model, {});
  const FlowModel read = load_flow_model(comm, scratch / "a.h5");
  EXPECT_EQ(read.parameters, model.parameters);
  EXPECT_TRUE(read.statistics.empty());
  EXPECT_EQ(read.header.options.encoder.kind, EncoderKind::fourier);
  EXPECT_EQ(read.header.options.encoder.modes, model.header.options.encoder.modes);
}

TEST(FlowModel, codes_change_the_matrices_of_its_decoder_alone) {
  const FlowModel model = small_model();
  const std::size_t encoder = flow_network_size(model.header).encoder, n = model.parameters.size();
  double before = HUGE_VAL;
  for (const int bits : {1, 2, 4, 8}) {
    const CodedDecoder coded = code_decoder(model, {bits, 8, 8});
    ASSERT_EQ(coded.model.parameters.size(), n);
    EXPECT_EQ(coded.bytes_float, 4 * (n - encoder));
    double error = 0, size = 0;
    std::size_t same = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double was = model.parameters[i], is = coded.model.parameters[i];
      if (i < encoder)
        ASSERT_EQ(is, was);
      else
        error += std::pow(is - was, 2), size += was * was, same += is == was ? 1 : 0;
    }
    std::size_t biases = 0, bytes = 0;
    for (const auto& layer : continuous_decoder(model).describe().blocks) {
      biases += layer.n_out;
      bytes += 4U * layer.n_out + (bits * layer.n_out * ((layer.n_in + 7) / 8 * 5));
    }
    EXPECT_GE(same, biases);
    EXPECT_EQ(coded.bytes, bytes);
    EXPECT_LT(error, before) << bits;
    EXPECT_LT(error, 0.5 * size);
    before = error;
  }
}

TEST(FlowModel, a_file_that_names_no_base_has_none) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_without_base");
  const std::string path = scratch / "a.h5", key = "base: none";
  save_flow_model(comm, path, small_model(), {});
  {
    hdf5::File file = hdf5::File::open_for_update(comm, path);
    auto text = file.root().read_text("model");
    const auto at = text.find(key);
    ASSERT_NE(at, std::string::npos) << text;
    const auto line = text.rfind('\n', at);
    file.root().write_text("model", text.erase(line, at + key.size() - line));
    file.close();
  }
  const FlowModel read = load_flow_model(comm, path);
  EXPECT_EQ(read.header.options.decoder.base, DecoderBase::none);
  EXPECT_EQ(read.parameters, small_model().parameters);
}

TEST(FlowModel, a_byte_that_changed_is_noticed) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_sealed");
  const std::string path = scratch / "a.h5";
  save_flow_model(comm, path, small_model(), {});
  EXPECT_EQ(load_flow_model(comm, path).parameters, small_model().parameters);
  comm.barrier();
  if (comm.is_root()) {
    const auto size = std::filesystem::file_size(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(size / 2));
    const char byte = file.get() ^ 1;
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.put(byte);
  }
  comm.barrier();
  try {
    static_cast<void>(load_flow_model(comm, path));
    FAIL() << "it was read";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("it is corrupt"), std::string::npos) << error.what();
  }
}

TEST(FlowModel, hostile_files_end_in_a_message) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_hostile");
  const std::string path = scratch / "a.h5";
  const auto message = [&](const std::function<void(hdf5::Group&)>& harm) -> std::string {
    save_flow_model(comm, path, small_model(), {});
    {
      hdf5::File file = hdf5::File::open_for_update(comm, path);
      harm(file.root());
      file.close();
    }
    try {
      static_cast<void>(load_flow_model(comm, path));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto write = [](hdf5::Group& root, const char* name, const std::vector<float>& values) {
    root.write<float>(name, values, {values.size()}, {});
  };
  EXPECT_EQ(message([](auto&) {}), "accepted");
  EXPECT_NE(message([&](auto& root) {
              write(root, "parameters", {1, 2, 3});
            }).find("parameters"),
            std::string::npos);
  auto wrong = small_model().parameters;
  wrong[7] = std::nanf("");
  EXPECT_NE(message([&](auto& root) { write(root, "parameters", wrong); }).find("not finite"),
            std::string::npos);
  EXPECT_NE(message([](auto& root) { root.write_text("model", "{"); }).find(path), std::string::npos);
  EXPECT_NE(message([](auto& root) { root.write_text("model", "{axes: []}"); }), "accepted");
  EXPECT_NE(message([](auto& root) {
              auto text = root.read_text("model");
              const auto at = text.find("dt(b)");
              root.write_text("model", text.replace(at, 5, "dt(q)"));
            }).find("unknown name 'q'"),
            std::string::npos);
  EXPECT_NE(message([](auto& root) {
              auto text = root.read_text("model");
              const auto at = text.find("latents: 3");
              root.write_text("model", text.replace(at, 10, "latents: 60000"));
            }),
            "accepted");
}

TEST(FlowModel, knows_what_it_was_not_trained_for) {
  const FlowModelHeader header = small_header();
  PredictionSetting setting{{{"Ra", 1000}, {"Pr", 1}}, header.axes};
  EXPECT_TRUE(beyond_training(header, setting).empty());
  const auto found = [&](auto&& change) {
    PredictionSetting other = setting;
    change(other);
    const auto sentences = beyond_training(header, other);
    return sentences.size() == 1 ? sentences[0] : std::to_string(sentences.size()) + " sentences";
  };
  EXPECT_EQ(found([](auto& s) { s.parameters["Ra"] = 1e5; }),
            "Ra = 100000; the model was trained for 100 to 10000");
  EXPECT_EQ(
      found([](auto& s) { s.parameters.erase("Pr"); }),
      "Pr is not known (describe_file: {parameters: {Pr: ...}} gives it); the model was trained for 1 to 1");
  EXPECT_EQ(found([](auto& s) {
              s.axes[0].spacing = {0.25, 0.25};
            }),
            "spacing along t of 0.25 to 0.25; the model was trained for 0.5 to 0.5");
  EXPECT_EQ(found([](auto& s) { s.axes[1].lower = -1; }),
            "walls of z at -1 and 0.5; the model was trained for -0.5 and 0.5");
  EXPECT_EQ(found([](auto& s) { s.axes[2].periodic = false; }),
            "axis x is not periodic; the model was trained for one that is");
  EXPECT_EQ(found([](auto& s) { s.axes[2].upper = 4; }), "period of 4 along x; the model was trained for 2");
}

TEST(FlowModel, knows_a_period_only_if_blocks_reached_around_it) {
  FlowModelHeader header = small_header();
  PredictionSetting setting{{{"Ra", 1000}, {"Pr", 1}}, header.axes};
  setting.axes[2].upper = 4;
  EXPECT_EQ(beyond_training(header, setting).size(), 1u);
  header.block[2] -= 1;  // one node short of the period
  EXPECT_TRUE(beyond_training(header, setting).empty());
}

TEST(FlowModel, encoder_sees_parameters_between_minus_one_and_one) {
  const FlowModelHeader header = small_header();
  const std::vector<float> fields(2 * 2 * 32, 0.5f);
  const auto features =
      encoder_features<float>(header, {2, 4, 4}, fields, std::vector<double>{1, 100, 1, 1000});
  ASSERT_EQ(features.size(), 2u * 3 * 32);
  EXPECT_EQ(features[0], 0.5f);
  EXPECT_FLOAT_EQ(features[64], -1);
  EXPECT_NEAR(features[96 + 64], 0, 1e-6);
}

/// Of fields f(t, z, x) = 3 t + z^2 + [x = 0] and 0 on 3 x 4 x 4 nodes.
std::vector<float> features_with_differences(const FlowModelHeader& header) {
  std::vector<float> fields;
  for (int t = 0; t < 3; ++t)
    for (int z = 0; z < 4; ++z)
      for (int x = 0; x < 4; ++x) fields.push_back(static_cast<float>(3 * t + z * z + (x == 0 ? 1 : 0)));
  fields.resize(2 * fields.size());
  return encoder_features<float>(header, {3, 4, 4}, fields, std::vector<double>{1, 100});
}

TEST(FlowModel, encoder_sees_differences_of_neighbours) {
  FlowModelHeader header = small_header();
  header.options.encoder.differences = true;
  header.options.encoder.padding = {"replicate", "zeros", "circular"};
  const auto features = features_with_differences(header);
  ASSERT_EQ(features.size(), 9u * 48);  // two fields, three differences of each, Ra
  const auto of_axis = [&](int axis, int t, int z, int x) {
    return features[(2 + axis) * 48 + (t * 4 + z) * 4 + x];
  };
  EXPECT_EQ(of_axis(0, 1, 2, 3), 4 * 6);
  EXPECT_EQ(of_axis(0, 0, 2, 3), 4 * 3);  // first frame: it goes on before it
  EXPECT_EQ(of_axis(0, 2, 2, 3), 4 * 3);
  EXPECT_EQ(of_axis(1, 1, 2, 0), 4 * 2);
  EXPECT_EQ(of_axis(1, 1, 0, 0), 4 * 1);
  EXPECT_EQ(of_axis(1, 1, 3, 0), 4 * -5);
  EXPECT_EQ(of_axis(2, 1, 2, 0), 4 * -2);
  EXPECT_EQ(of_axis(2, 1, 2, 1), 4);
  EXPECT_EQ(of_axis(2, 1, 2, 2), 0);
  EXPECT_EQ(of_axis(2, 1, 2, 3), 4);  // around the period
  for (int i = 5 * 48; i < 8 * 48; ++i) EXPECT_EQ(features[i], 0) << i;
  EXPECT_EQ(features[8 * 48], -1);  // parameters come last
}

TEST(FlowModel, differences_know_walls_and_volumes) {
  FlowModelHeader header = small_header();
  header.options.encoder.differences = true;
  const auto features = features_with_differences(header);
  EXPECT_EQ(features[4 * 48], -4);     // x = 0 beside what is like itself
  EXPECT_EQ(features[4 * 48 + 3], 0);  // not around
  header.axes[0].name = "y";           // 3 y: bent at its ends alone
  const auto of_volumes = features_with_differences(header);
  EXPECT_EQ(of_volumes[2 * 48], 4 * 3);
  EXPECT_EQ(of_volumes[2 * 48 + 16], 0);
  EXPECT_EQ(of_volumes[2 * 48 + 32], 4 * -3);
}

TEST(FlowModel, that_sees_differences_comes_back_from_its_file) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_differences");
  FlowModel model{small_header(), {}, {}};
  model.header.options.encoder.differences = true;
  const FlowNetwork<float> network(model.header);
  EXPECT_GT(network.size().encoder, FlowNetwork<float>(small_header()).size().encoder);
  const auto parameters = network.initial_parameters(1);
  model.parameters.assign(parameters.begin(), parameters.end());
  model.statistics = network.initial_statistics();
  save_flow_model(comm, scratch / "a.h5", model, {});
  const FlowModel read = load_flow_model(comm, scratch / "a.h5");
  EXPECT_TRUE(read.header.options.encoder.differences);
  std::vector<float> fields;
  for (int i = 0; i < 2 * 32; ++i) fields.push_back(std::sin(0.7f * static_cast<float>(i)));
  const std::vector<double> numbers{1, 1000};
  EXPECT_EQ(encode_fields(read, 1, {2, 4, 4}, fields, numbers),
            encode_fields(model, 1, {2, 4, 4}, fields, numbers));
}

TEST(RefinedGrid, parts_cells_evenly) {
  const NodeAxis walls = refined_axis({{-0.4, 0, 0.3}, false, -0.5, 0.5}, 2);
  const std::vector<double> expected{-0.425, -0.275, -0.1125, 0.0625, 0.2375, 0.4125};
  ASSERT_EQ(walls.nodes.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(walls.nodes[i], expected[i], 1e-14);
  const NodeAxis periodic = refined_axis({{0, 0.5, 1, 1.5}, true, 0, 2}, 4);
  EXPECT_NEAR(periodic.lower, -0.25, 1e-15);
  EXPECT_NEAR(periodic.upper, 1.75, 1e-15);
  ASSERT_EQ(periodic.nodes.size(), 16u);
  for (std::size_t i = 1; i < 16; ++i) EXPECT_NEAR(periodic.nodes[i] - periodic.nodes[i - 1], 0.125, 1e-14);
  static_cast<void>(check_grid({walls, walls, periodic}));
}

}  // namespace
}  // namespace quintet::flow
