#include "surrogates/potential/model/dp_writer.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/model/dp_document.hpp"
#include "tests/support/deep_potential_case.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::potential {
namespace {

namespace fs = std::filesystem;

std::string source(const std::string& path) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/" + path;
}

/// Those of one descriptor are; what a model of isolated atoms says of them becomes part of its biases.
bool is_written(const fs::path& path) {
  const Model model = read_dp(path.string());
  return model.further.empty() && model.frame_parameters.count() == 0 && path.stem() != "atom_energy";
}

/// Models that DeePMD-kit wrote.
std::vector<std::string> models() {
  std::vector<std::string> paths{source("inputs/dpmd/copper/copper.dp")};
  for (const auto& entry : fs::directory_iterator(source("tests/data/deep_potential")))
    if (entry.path().extension() == ".dp" && is_written(entry.path())) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void expect_equal(const std::vector<Network>& a, const std::vector<Network>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].layers.size(), b[i].layers.size()) << what;
    for (std::size_t l = 0; l < a[i].layers.size(); ++l) {
      const auto &x = a[i].layers[l], &y = b[i].layers[l];
      EXPECT_TRUE(x.n_in == y.n_in && x.n_out == y.n_out && x.activation == y.activation && x.skip == y.skip)
          << what << " network " << i << " layer " << l;
      EXPECT_TRUE(x.weight == y.weight && x.bias == y.bias && x.timestep == y.timestep)
          << what << " network " << i << " layer " << l;
    }
  }
}

void expect_equal(const Model& a, const Model& b, const std::string& what) {
  EXPECT_EQ(a.kind, b.kind) << what;
  EXPECT_EQ(a.type_names, b.type_names) << what;
  EXPECT_TRUE(a.rcut == b.rcut && a.rcut_smooth == b.rcut_smooth && a.protection == b.protection) << what;
  EXPECT_EQ(a.sel, b.sel) << what;
  EXPECT_EQ(a.axis_neuron, b.axis_neuron) << what;
  EXPECT_EQ(a.type_one_side, b.type_one_side) << what;
  EXPECT_TRUE(a.mean == b.mean && a.deviation == b.deviation) << what;
  EXPECT_TRUE(a.atom_bias == b.atom_bias && a.output_bias == b.output_bias) << what;
  EXPECT_EQ(a.excluded_descriptor_pairs, b.excluded_descriptor_pairs) << what;
  EXPECT_EQ(a.excluded_pairs, b.excluded_pairs) << what;
  EXPECT_EQ(a.excluded_atoms, b.excluded_atoms) << what;
  EXPECT_EQ(a.excluded_fitting, b.excluded_fitting) << what;
  EXPECT_EQ(a.single_precision, b.single_precision) << what;
  EXPECT_EQ(a.least_distance, b.least_distance) << what;
  EXPECT_EQ(a.version, b.version) << what;
  EXPECT_EQ(a.atom_parameters.mean, b.atom_parameters.mean) << what;
  EXPECT_EQ(a.atom_parameters.inverse_deviation, b.atom_parameters.inverse_deviation) << what;
  expect_equal(a.embedding, b.embedding, what + " embedding");
  expect_equal(a.fitting, b.fitting, what + " fitting");
  EXPECT_TRUE(a.gates == b.gates && a.smooth_gates == b.smooth_gates) << what;
  ASSERT_EQ(a.readers.has_value(), b.readers.has_value()) << what;
  if (a.readers) {
    EXPECT_EQ(a.readers->types_have_bias, b.readers->types_have_bias) << what;
    EXPECT_EQ(a.readers->fitting_reads_types, b.readers->fitting_reads_types) << what;
    expect_equal(a.readers->fitting, b.readers->fitting, what + " shared fitting");
    expect_equal({a.readers->types, a.readers->embedding, a.readers->gate},
                 {b.readers->types, b.readers->embedding, b.readers->gate}, what + " readers");
  }
  ASSERT_EQ(a.tables.size(), b.tables.size()) << what;
  for (std::size_t i = 0; i < a.tables.size(); ++i) {
    EXPECT_TRUE(a.tables[i].lower == b.tables[i].lower && a.tables[i].upper == b.tables[i].upper &&
                a.tables[i].maximum == b.tables[i].maximum && a.tables[i].stride == b.tables[i].stride)
        << what;
    EXPECT_EQ(a.tables[i].coefficients, b.tables[i].coefficients) << what;
  }
}

TEST(written_model, reads_back_equal_to_the_bit) {
  const Scratch scratch("written_model");
  for (const auto& path : models())
    for (const char* name : {"again.dp", "again.yaml"}) {
      const Model model = read_dp(path);

      write_dp(scratch / name, model);

      expect_equal(read_dp(scratch / name), model, path + " as " + name);
    }
  for (const auto& entry : fs::directory_iterator(scratch.path()))
    EXPECT_EQ(entry.path().stem(), "again") << "left behind";
}

TEST(written_model, of_every_flag_set_reads_back) {
  const Scratch scratch("written_flags");
  Model model = read_dp(source("tests/data/deep_potential/oneside.dp"));
  model.excluded_descriptor_pairs = {true, false, false, false};
  model.excluded_pairs = {false, true, true, false};
  model.excluded_atoms = {false, true};
  model.excluded_fitting = {true, false};
  model.protection = 1e-5;
  model.least_distance.reset();

  write_dp(scratch / "flags.dp", model);
  write_dp(scratch / "flags.yaml", model);

  expect_equal(read_dp(scratch / "flags.dp"), model, "flags.dp");
  expect_equal(read_dp(scratch / "flags.yaml"), model, "flags.yaml");
}

TEST(written_model, gives_the_same_energies) {
  const Scratch scratch("written_energies");
  for (const char* name :
       {"twoside", "float32", "exclude_types", "oneside_compressed", "idt_protection_outstd"}) {
    const std::string path = source(std::string("tests/data/deep_potential/") + name);
    write_dp(scratch / "again.dp", read_dp(path + ".dp"));
    const DeepPotentialOptions options{Precision::model, Compression::automatic, SelRule::two_stage};
    DeepPotential first(read_dp(path + ".dp"), options), second(read_dp(scratch / "again.dp"), options);
    for (const auto& item : read_cases(path + ".ref.json", first.type_names())) {
      const auto a = evaluate(Comm::self(), first, item.configuration);
      const auto b = evaluate(Comm::self(), second, item.configuration);

      EXPECT_EQ(a.energy, b.energy) << name << " " << item.name;
      EXPECT_EQ(a.force, b.force) << name << " " << item.name;
    }
  }
}

/// Every key of `theirs` is in `ours`.
void expect_keys(const Tree& theirs, const Tree& ours, const std::string& place) {
  if (theirs.is_map())
    for (const auto& [key, value] : theirs.entries()) {
      const Tree* found = ours.is_map() ? ours.find(key) : nullptr;
      EXPECT_TRUE(found) << place << " lacks " << key;
      if (found) expect_keys(value, *found, place + "." + key);
    }
  if (theirs.is_list() && !theirs.items().empty() && theirs.items().front().is_map()) {
    ASSERT_EQ(theirs.items().size(), ours.items().size()) << place;
    for (std::size_t i = 0; i < theirs.items().size(); ++i)
      expect_keys(theirs.items()[i], ours.items()[i], place + "." + std::to_string(i));
  }
}

TEST(written_model, has_all_keys_that_deepmd_kit_writes) {
  const Scratch scratch("written_keys");
  for (const auto& path : models()) {
    write_dp(scratch / "again.dp", read_dp(path));
    const auto description = [](const std::string& file) {
      return parse_yaml(hdf5::File::open(Comm::self(), file).root().text_attribute("json"), file);
    };
    const Tree theirs = description(path), ours = description(scratch / "again.dp");

    expect_keys(theirs.at("model"), ours.at("model"), path + ": model");
    for (const char* key : {"software", "version", "time", "backend", "model_def_script"})
      EXPECT_TRUE(ours.has(key)) << key;
  }
}

TEST(written_model, in_single_precision_is_rounded_but_for_the_biases) {
  const Scratch scratch("written_single");
  Model model = read_dp(source("tests/data/deep_potential/oneside.dp"));
  model.single_precision = true;

  write_dp(scratch / "single.dp", model);

  const Model again = read_dp(scratch / "single.dp");
  EXPECT_TRUE(again.single_precision);
  EXPECT_EQ(again.output_bias, model.output_bias);
  EXPECT_EQ(again.atom_bias, model.atom_bias);
  const auto &w = model.fitting[0].layers[0].weight, &rounded = again.fitting[0].layers[0].weight;
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_EQ(rounded[i], static_cast<float>(w[i]));
}

TEST(written_model, text_has_numbers_that_pyyaml_takes_for_numbers) {
  const Scratch scratch("written_digits");
  Model model = read_dp(source("tests/data/deep_potential/oneside.dp"));
  model.fitting[0].layers[0].weight[0] = 1e-7;
  model.protection = 1e-5;

  write_dp(scratch / "small.yaml", model);

  std::ifstream file(scratch / "small.yaml");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("1.0e-07"), std::string::npos);
  EXPECT_NE(text.find("\"env_protection\": 1.0e-05"), std::string::npos);
}

TEST(written_model, text_of_deepmd_kit_is_read) {
  const std::string folder = source("../shared/data/deep_potential/");
  if (!fs::exists(folder)) GTEST_SKIP() << "../shared/data/deep_potential is not here";

  expect_equal(read_dp(folder + "deeppot_sea.yaml"), read_dp(folder + "deeppot_sea.dp"), "deeppot_sea");
}

/// The error's text, or "" if `action` throws none.
template <class Kind>
std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

TEST(written_model, that_cannot_be_written_leaves_nothing_and_says_why) {
  const Scratch scratch("unwritten_model");
  const Model model = read_dp(source("tests/data/deep_potential/oneside.dp"));
  fs::create_directories(scratch / "taken.dp/x");

  EXPECT_NE(complaint<InputError>([&] { write_dp(scratch / "absent/m.dp", model); }).find("no folder"),
            std::string::npos);
  EXPECT_NE(complaint<ResourceError>([&] { write_dp(scratch / "taken.dp", model); }).find("taken.dp"),
            std::string::npos);
  EXPECT_NE(complaint<Error>([&] { write_dp("/proc/m.dp", model); }).find("/proc/m.dp"), std::string::npos);
  EXPECT_FALSE(fs::exists(scratch / "taken.dp.unfinished"));
}

TEST(written_model, on_a_full_disk_leaves_nothing_and_says_why) {
  const Scratch scratch("full_disk");
  const Model model = read_dp(source("tests/data/deep_potential/oneside.dp"));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 8192;
  setrlimit(RLIMIT_FSIZE, &small);

  const std::string binary = complaint<ResourceError>([&] { write_dp(scratch / "m.dp", model); });
  const std::string text = complaint<ResourceError>([&] { write_dp(scratch / "m.yaml", model); });
  setrlimit(RLIMIT_FSIZE, &before);

  EXPECT_NE(binary.find("m.dp"), std::string::npos) << binary;
  EXPECT_NE(text.find("m.yaml"), std::string::npos) << text;
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

Model without_tables(Model model) {
  model.tables.clear();
  model.version = 2;
  return model;
}

TEST(compressed_model, has_the_tables_of_deepmd_kit) {
  for (const char* name : {"oneside_compressed", "twoside_compressed"}) {
    const Model theirs = read_dp(source(std::string("tests/data/deep_potential/") + name + ".dp"));

    const Model ours = compressed(without_tables(theirs), 2.5, {0.05, 0.25}, 1.5);

    EXPECT_EQ(ours.version, 3);
    ASSERT_EQ(ours.tables.size(), theirs.tables.size());
    for (std::size_t i = 0; i < ours.tables.size(); ++i) {
      const auto &a = ours.tables[i], &b = theirs.tables[i];
      EXPECT_TRUE(a.lower == b.lower && a.upper == b.upper && a.maximum == b.maximum && a.stride == b.stride)
          << name << " table " << i;
      ASSERT_EQ(a.coefficients.size(), b.coefficients.size());
      const std::size_t fine =
          static_cast<std::size_t>(std::lround((a.upper - a.lower) / a.stride[0])) * (6 * a.n_channels);
      for (std::size_t k = 0; k < a.coefficients.size(); ++k) {
        // a_k t^k is what the coefficient adds at the row's right end.
        const double weight = std::pow(a.stride[k < fine ? 0 : 1], static_cast<double>(k % 6));
        ASSERT_NEAR(a.coefficients[k] * weight, b.coefficients[k] * weight, 1e-13)
            << name << " " << i << " " << k;
      }
    }
  }
}

TEST(compressed_model, equals_its_networks_for_every_smooth_activation_and_with_time_steps) {
  for (const char* name : {"oneside", "twoside", "gelu", "sigmoid_softplus", "silu_relu",
                           "equalwidth_noresnetdt", "idt_protection_outstd"}) {
    Model model = read_dp(source(std::string("tests/data/deep_potential/") + name + ".dp"));
    if (std::string(name) == "sigmoid_softplus")  // have softplus in the descriptor too
      model.embedding[0].layers[1].activation = Activation::softplus;

    const Model ours = compressed(model, 0.9);

    std::vector<double> g, dg, value(model.n_channels()), slope(model.n_channels());
    double worst = 0;
    for (std::size_t i = 0; i < ours.tables.size(); ++i)
      for (double s = ours.tables[i].lower; s < ours.tables[i].upper; s += 0.0137) {
        evaluate_scalar(model.embedding[i], s, g, dg);
        ours.tables[i].evaluate(s, value.data(), slope.data());
        for (int m = 0; m < model.n_channels(); ++m)
          worst = std::max({worst, std::abs(value[m] - g[m]), 0.01 * std::abs(slope[m] - dg[m])});
      }
    EXPECT_LT(worst, 1e-12) << name;
  }
}

TEST(compressed_model, gives_the_energies_of_its_networks) {
  for (const char* name : {"oneside", "twoside", "exclude_types", "idt_protection_outstd"}) {
    const std::string path = source(std::string("tests/data/deep_potential/") + name);
    DeepPotential table(compressed(read_dp(path + ".dp"), 0.9),
                        {Precision::model, Compression::file, SelRule::two_stage});
    for (const auto& item : read_cases(path + ".ref.json", table.type_names())) {
      const auto found = evaluate(Comm::self(), table, item.configuration);

      EXPECT_NEAR(found.energy, item.energy, 1e-10) << name << " " << item.name;
      for (std::size_t i = 0; i < item.force.size(); ++i)
        EXPECT_NEAR(found.force[i], item.force[i], 1e-9) << name << " " << item.name;
    }
  }
}

TEST(compressed_model, cannot_be_made_of_impossible_distances_or_twice) {
  const Model model = read_dp(source("tests/data/deep_potential/oneside.dp"));

  EXPECT_THROW((void)compressed(model, 0), InputError);
  EXPECT_THROW((void)compressed(model, std::nan("")), InputError);
  EXPECT_THROW((void)compressed(model, model.rcut), InputError);
  EXPECT_THROW((void)compressed(model, 1, {0, 0.1}), InputError);
  EXPECT_THROW((void)compressed(compressed(model, 1), 1), InputError);
}

}  // namespace
}  // namespace quintet::potential
