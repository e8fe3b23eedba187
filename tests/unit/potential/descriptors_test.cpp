#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/potential/device/device_tables.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/model/dp_writer.hpp"
#include "surrogates/potential/model/parameters.hpp"
#include "surrogates/potential/model/stored_networks.hpp"
#include "tests/support/deep_potential_case.hpp"
#include "tests/support/deep_potential_writer.hpp"
#include "tests/support/scratch.hpp"

/// What of the descriptors beside se_e2_a is read, and what is refused by name.
namespace quintet::potential {
namespace {

std::string data(const std::string& name) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/tests/data/deep_potential/" + name;
}

/// "" where `work` succeeds, else the text of its InputError.
template <class Work>
std::string complaint_of(Work&& work) {
  try {
    work();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

class Descriptors : public ::testing::Test {
 protected:
  /// Of a model with one value of its description replaced.
  std::string complaint_with(const std::string& name, const std::string& path, const Tree& value) {
    dp::Document document = dp::read(data(name));
    document.description.set_path(path, value);
    return complaint_of_document(document);
  }
  std::string complaint_of_document(const dp::Document& document) {
    const std::string path = scratch_ / "changed.dp";
    dp::write(document, path);
    return complaint_of([&] { DeepPotential field(read_dp(path), {}); });
  }
  Scratch scratch_{"descriptors"};
};

void expect_refused(const std::string& complaint, const std::string& what, const std::string& way) {
  EXPECT_NE(complaint.find(what), std::string::npos) << "'" << complaint << "' does not say '" << what << "'";
  EXPECT_NE(complaint.find(way), std::string::npos) << "'" << complaint << "' does not say '" << way << "'";
}

TEST_F(Descriptors, of_other_names_are_taken) {
  for (const auto& [file, name] : {std::pair{"se_e2_r.dp", "se_e2_r"},
                                   {"dpa1_concat.dp", "se_atten"},
                                   {"dpa1_strip.dp", "se_atten_v2"},
                                   {"se_e3.dp", "se_at"},
                                   {"se_e3.dp", "se_a_3be"},
                                   {"oneside.dp", "se_a"}})
    EXPECT_EQ(complaint_with(file, "model.descriptor.type", Tree::text(name)), "") << name;
}

TEST_F(Descriptors, that_are_not_known_are_refused_by_name) {
  for (const std::string name : {"se_e3_tebd", "dpa2", "dpa3", "se_e2_b"})
    expect_refused(complaint_with("dpa1_strip.dp", "model.descriptor.type", Tree::text(name)),
                   "descriptor '" + name + "' is not supported", "DeePMD-kit");
  expect_refused(complaint_with("hybrid.dp", "model.descriptor.list.1.type", Tree::text("se_e3_tebd")),
                 "descriptor 'se_e3_tebd' is not supported", "DeePMD-kit");
}

TEST_F(Descriptors, with_attention_layers_are_refused) {
  EXPECT_EQ(complaint_with("dpa1_strip.dp", "model.descriptor.attn_layer", Tree::integer(0)), "");
  expect_refused(complaint_with("dpa1_strip.dp", "model.descriptor.attn_layer", Tree::integer(1)),
                 "attn_layer: 1", "train with attn_layer: 0");
}

TEST_F(Descriptors, refuse_what_makes_another_model_of_dpa1) {
  const std::string strip = "dpa1_strip.dp";
  expect_refused(complaint_with(strip, "model.descriptor.use_econf_tebd", Tree::boolean(true)),
                 "use_econf_tebd", "use_econf_tebd: false");
  expect_refused(complaint_with(strip, "model.descriptor.tebd_input_mode", Tree::text("sum")),
                 "tebd_input_mode: sum", "");
  expect_refused(
      complaint_with(strip, "model.descriptor.sel", Tree::list({Tree::integer(15), Tree::integer(15)})),
      "sel has 2 entries", "counts them together");
  EXPECT_EQ(complaint_with(strip, "model.descriptor.compress", Tree()), "");
  expect_refused(complaint_with(strip, "model.descriptor.compress", Tree::map({{"x", Tree::integer(1)}})),
                 "type_embd_data", "");
  expect_refused(
      complaint_with("dpa1_concat.dp", "model.descriptor.compress", Tree::map({{"x", Tree::integer(1)}})),
      "a compressed dpa1 with tebd_input_mode: concat", "");
}

TEST_F(Descriptors, whose_empty_slots_would_have_the_type_of_an_atom_are_refused) {
  dp::Document document = dp::read(data("dpa1_concat.dp"));
  const auto name = document.description.at("model").at("descriptor").at("@variables").at("davg").as_text();
  EXPECT_EQ(complaint_of_document(document), "");

  for (std::size_t i = 0; i < document.datasets[name].values.size(); i += 4)
    document.datasets[name].values[i] = 1e-9;

  expect_refused(complaint_of_document(document), "davg is not 0", "set_davg_zero: true");
}

TEST_F(Descriptors, refuse_exclusions_and_two_sides_of_se_e2_r) {
  const auto pair = Tree::list({Tree::list({Tree::integer(0), Tree::integer(1)})});
  EXPECT_EQ(complaint_with("se_e2_r.dp", "model.pair_exclude_types", pair), "");
  expect_refused(complaint_with("se_e2_r.dp", "model.descriptor.exclude_types", pair), "exclude_types",
                 "pair_exclude_types");
  expect_refused(complaint_with("se_e2_r.dp", "model.descriptor.type_one_side", Tree::boolean(false)),
                 "type_one_side: false", "");
}

TEST_F(Descriptors, refuse_no_tables_and_no_room_of_se_e3) {
  const auto sel = [](int first) { return Tree::list({Tree::integer(first), Tree::integer(18)}); };
  EXPECT_EQ(complaint_with("se_e3.dp", "model.descriptor.sel", sel(14)), "");
  expect_refused(complaint_with("se_e3.dp", "model.descriptor.sel", sel(0)), "sel = 0 for type O",
                 "at least 1");
  EXPECT_EQ(complaint_with("se_e3.dp", "model.descriptor.compress", Tree()), "");
  expect_refused(
      complaint_with("se_e3.dp", "model.descriptor.compress", Tree::map({{"x", Tree::integer(1)}})),
      "changed.dp", "@variables");
}

/// DeePMD-kit never uses the networks of pairs of types that are in the other order.
TEST_F(Descriptors, of_triplets_have_one_network_for_two_types_in_any_order) {
  const Model model = read_dp(data("se_e3_three_types.dp"));
  ASSERT_EQ(model.embedding.size(), 6u);
  for (int t = 0; t < 3; ++t)
    for (int u = 0; u < 3; ++u) EXPECT_EQ(model.network_index(t, u), model.network_index(u, t));
  EXPECT_EQ(model.network_index(1, 2), 4);
}

TEST_F(Descriptors, with_parameters_of_atoms_have_as_many_inputs_and_no_mask) {
  EXPECT_EQ(complaint_with("oneside.dp", "model.fitting.numb_aparam", Tree::integer(0)), "");
  expect_refused(complaint_with("oneside.dp", "model.fitting.numb_aparam", Tree::integer(1)),
                 "expected [25, outputs]", "");
  EXPECT_EQ(complaint_with("oneside.dp", "model.fitting.use_aparam_as_mask", Tree::boolean(true)), "");
  expect_refused(
      complaint_with("atom_parameters.dp", "model.fitting.use_aparam_as_mask", Tree::boolean(true)),
      "use_aparam_as_mask is not supported", "");
}

/// A configuration of the model atom_parameters.dp, with the numbers it reads of each atom.
Configuration with_parameters() {
  return read_cases(data("atom_parameters.ref.json"), {"O", "H"}).front().configuration;
}

TEST(AtomParameters, that_are_missing_or_of_another_number_are_refused) {
  const auto with = [](int n) {
    return complaint_of([&] {
      DeepPotential field(read_dp(data("atom_parameters.dp")), {});
      EXPECT_EQ(field.n_atom_parameters(), 2);
      auto c = with_parameters();
      c.parameters.assign(n * c.n_atoms(), 0.5);
      static_cast<void>(evaluate(Comm::world(), field, c));
    });
  };
  EXPECT_EQ(with(2), "");
  expect_refused(with(0), "reads 2 numbers of each atom (aparam), these atoms have 0", "aparam:R:2");
  expect_refused(with(3), "these atoms have 3", "aparam.npy");
}

TEST(AtomParameters, of_types_are_those_of_all_their_atoms) {
  auto c = with_parameters();
  const std::vector<double> of_type[] = {{0.3, -1.2}, {-0.4, 0.9}};
  for (std::size_t i = 0; i < c.n_atoms(); ++i)
    std::copy_n(of_type[c.types[i]].begin(), 2, c.parameters.begin() + 2 * i);
  DeepPotential own(read_dp(data("atom_parameters.dp")), {});
  DeepPotentialOptions options;
  options.atom_parameters = {{{"H"}, of_type[1]}, {{"O"}, of_type[0]}};
  DeepPotential by_type(read_dp(data("atom_parameters.dp")), options);
  EXPECT_EQ(by_type.n_atom_parameters(), 0);
  const auto expected = evaluate(Comm::world(), own, c);
  c.parameters.clear();
  const auto found = evaluate(Comm::world(), by_type, c);
  EXPECT_NEAR(found.energy, expected.energy, 1e-12 * std::abs(expected.energy));
  for (std::size_t k = 0; k < found.force.size(); ++k) EXPECT_NEAR(found.force[k], expected.force[k], 1e-12);
}

TEST(AtomParameters, of_types_are_given_once_for_each_of_them) {
  const auto with = [](std::vector<AtomParameters> given) {
    return complaint_of([&] {
      DeepPotentialOptions options;
      options.atom_parameters = std::move(given);
      DeepPotential field(read_dp(data("atom_parameters.dp")), options);
    });
  };
  EXPECT_EQ(with({{{"O", "H"}, {1, 2}}}), "");
  expect_refused(with({{{"O", "H"}, {1}}}), "reads 2 numbers of each atom (aparam), 1 given", "");
  expect_refused(with({{{"O", "Cu"}, {1, 2}}}), "names the type Cu", "the model knows O, H");
  expect_refused(with({{{"O", "H"}, {1, 2}}, {{"O"}, {3, 4}}}), "names the type O twice", "");
  expect_refused(with({{{"O"}, {1, 2}}}), "says nothing of the type H", "all types");
}

TEST(FrameParameters, are_as_many_as_the_model_reads) {
  const auto with = [](const std::string& name, std::vector<double> values) {
    return complaint_of([&] {
      DeepPotentialOptions options;
      options.frame_parameters = std::move(values);
      DeepPotential field(read_dp(data(name)), options);
    });
  };
  EXPECT_EQ(with("frame_parameters.dp", {0.1, 0.2}), "");
  EXPECT_EQ(with("dpa1_default_parameter.dp", {}), "");
  EXPECT_EQ(with("dpa1_default_parameter.dp", {0.3}), "");
  expect_refused(with("frame_parameters.dp", {}), "reads 2 frame parameters (fparam), 0 given",
                 "potential.frame_parameters");
  expect_refused(with("frame_parameters.dp", {0.1}), "reads 2 frame parameters (fparam), 1 given", "");
  expect_refused(with("dpa1_default_parameter.dp", {0.3, 0.4}), "reads 1 frame parameters (fparam), 2 given",
                 "");
  expect_refused(with("oneside.dp", {0.3}), "reads 0 frame parameters (fparam), 1 given", "none for a model");
}

TEST(FrameParameters, change_the_energy_smoothly_and_the_default_is_what_the_file_says) {
  const auto energy = [](std::vector<double> values) {
    DeepPotentialOptions options;
    options.frame_parameters = std::move(values);
    DeepPotential field(read_dp(data("dpa1_default_parameter.dp")), options);
    return evaluate(Comm::world(), field,
                    read_cases(data("dpa1_strip.ref.json"), {"O", "H"}).front().configuration)
        .energy;
  };
  const double usual = energy({}), h = 1e-4;
  EXPECT_EQ(energy({0.7}), usual);
  EXPECT_GT(std::abs(energy({0.9}) - usual), 1e-6);
  EXPECT_NEAR(energy({0.7 + h}) + energy({0.7 - h}) - 2 * usual, 0, 1e-5);
}

/// What is made for se_e2_a alone takes it, and says of others what runs them. One descriptor is written and
/// compressed (compressed_test.cpp).
TEST(Plain, models_alone_are_rounded_and_run_on_a_device) {
  const Scratch scratch("plain");
  for (const std::string name : {"oneside", "dpa1_strip", "se_e2_r", "se_e3", "hybrid", "hybrid_triplets",
                                 "frame_parameters", "atom_parameters"}) {
    const Model model = read_dp(data(name + ".dp"));
    const auto expect = [&](const std::string& complaint, const std::vector<std::string>& taken = {}) {
      if (name == "oneside" || std::count(taken.begin(), taken.end(), name) > 0)
        EXPECT_EQ(complaint, "");
      else if (name == "frame_parameters")
        expect_refused(complaint, "models without frame parameters", "reads 2");
      else if (name == "atom_parameters")
        expect_refused(complaint, "models without parameters of atoms (aparam); this one reads 2",
                       "potential.atom_parameters");
      else
        expect_refused(complaint, "models with the descriptor se_e2_a", "dpmd run");
    };
    expect(complaint_of([&] { write_dp(scratch / "written.dp", model); }),
           {"se_e2_r", "se_e3", "dpa1_strip", "atom_parameters"});
    if (name == "frame_parameters") continue;  // they are constants of a run
    DeepPotentialOptions rounded;
    rounded.precision = Precision::bf16;
    expect(complaint_of([&] { DeepPotential field(model, rounded); }), {"dpa1_strip"});
    DeepPotentialOptions mixed;
    mixed.precision = Precision::mixed;
    expect(complaint_of([&] { static_cast<void>(device_model(model, mixed)); }),
           {"dpa1_strip", "se_e2_r", "se_e3", "hybrid", "hybrid_triplets"});
  }
}

/// What is stored is what a training changes, each number once.
TEST(StoredNetworks, of_dpa1_have_the_parameters_that_are_trained) {
  int n_gates = 0;
  for (const std::string name : {"dpa1_concat", "dpa1_concat_oneside", "dpa1_strip",
                                 "dpa1_strip_oneside_rough", "dpa1_one_type", "dpa1_ten_types"}) {
    const Model model = read_dp(data(name + ".dp"));
    std::size_t parameters = 0;
    std::int64_t rows = 0;
    for (const auto& network : stored_networks(model)) {
      parameters += network.parameters();
      if (network.title != "network of gates") continue;
      ++n_gates;
      rows = network.n_rows;
    }
    EXPECT_EQ(parameters, ParameterLayout(model).size) << name;
    if (!model.gates.empty()) {
      EXPECT_EQ(rows, model.type_one_side ? model.n_types() : std::ssize(model.gates));
    }
  }
  EXPECT_EQ(n_gates, 4);
  EXPECT_TRUE(stored_networks(read_dp(data("oneside.dp"))).empty());
}

TEST(Networks, with_constants_are_the_network_at_those_inputs) {
  std::mt19937_64 random(3);
  const Network network = dp::random_network(5, {7, 14}, true, 1.0, random);
  const auto left = with_constants(network, {std::nullopt, 0.3, std::nullopt, -0.7, 0.2});

  EXPECT_EQ(left.n_in(), 2);
  EXPECT_NEAR(outputs_of(left, {1.5, -0.4}).front(), outputs_of(network, {1.5, 0.3, -0.4, -0.7, 0.2}).front(),
              1e-14);
  const Network skipping = dp::random_network(5, {10}, false, 1.0, random);
  expect_refused(complaint_of([&] {
                   static_cast<void>(with_constants(skipping, {std::nullopt, 0.3, 0.1, -0.7, 0.2}));
                 }),
                 "adds its inputs", "another width");
}

}  // namespace
}  // namespace quintet::potential
