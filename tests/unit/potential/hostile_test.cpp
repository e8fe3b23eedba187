#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "tests/support/deep_potential_writer.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::potential {
namespace {

std::string data(const std::string& name) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/tests/data/deep_potential/" + name;
}

/// What read_dp() and the set-up of a force field say of a file: "" if they take it, else the InputError's
/// text, which must name the file. Anything else that they throw fails the test.
std::string complaint(const std::string& path) {
  try {
    DeepPotential field(read_dp(path), {Precision::model, Compression::off, SelRule::per_type});
    return "";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos)
        << "does not name the file: " << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << path << ": not an InputError but: " << error.what();
    return error.what();
  }
}

class HostileModel : public ::testing::Test {
 protected:
  std::string complaint_of(const dp::Document& document) {
    const std::string path = scratch_ / "damaged.dp";
    dp::write(document, path);
    return complaint(path);
  }
  /// Of the whole file with another description: the arrays are written once.
  std::string complaint_of_description(const Tree& description) {
    const std::string path = scratch_ / "described.dp", whole = scratch_ / "whole.dp";
    if (!std::filesystem::exists(whole)) dp::write(whole_, whole);
    std::filesystem::copy_file(whole, path, std::filesystem::copy_options::overwrite_existing);
    {
      auto file = hdf5::File::open_for_update(Comm::self(), path);
      file.root().set_attribute("json", to_json(description, 0));
      file.close();
    }
    return complaint(path);
  }
  std::string complaint_of_bytes(const std::string& bytes) {
    const std::string path = scratch_ / "damaged_bytes.dp";
    std::ofstream(path, std::ios::binary) << bytes;
    return complaint(path);
  }
  Scratch scratch_{"hostile_model"};
  dp::Document whole_ = dp::read(data("oneside.dp"));
};

/// Calls `visit(path, tree)` for every node below `tree`; dotted paths as Tree::set_path takes them.
void for_nodes(const Tree& tree, const std::string& path,
               const std::function<void(const std::string&, const Tree&)>& visit) {
  if (!path.empty()) visit(path, tree);
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (tree.is_map())
    for (const auto& [key, value] : tree.entries()) for_nodes(value, below(key), visit);
  if (tree.is_list())
    for (std::size_t i = 0; i < tree.items().size(); ++i)
      for_nodes(tree.items()[i], below(std::to_string(i)), visit);
}

/// The tree without the node at a dotted path.
Tree without(const Tree& tree, const std::string& path, const std::string& here = "") {
  const auto below = [&](const std::string& key) { return here.empty() ? key : here + "." + key; };
  if (tree.is_map()) {
    Tree copy = Tree::map();
    for (const auto& [key, value] : tree.entries())
      if (below(key) != path) copy.set(key, without(value, path, below(key)));
    return copy;
  }
  if (tree.is_list()) {
    Tree copy = Tree::list();
    for (std::size_t i = 0; i < tree.items().size(); ++i)
      if (below(std::to_string(i)) != path)
        copy.append(without(tree.items()[i], path, below(std::to_string(i))));
    return copy;
  }
  return tree;
}

TEST_F(HostileModel, written_again_is_still_good) { EXPECT_EQ(complaint_of(whole_), ""); }

TEST_F(HostileModel, without_any_one_key_is_read_or_refused_with_the_files_name) {
  int refused = 0, read = 0;
  for_nodes(whole_.description, "", [&](const std::string& path, const Tree&) {
    SCOPED_TRACE("without " + path);
    (complaint_of_description(without(whole_.description, path)).empty() ? read : refused)++;
  });
  EXPECT_GT(refused, 50);
  EXPECT_GT(read, 50);
}

TEST_F(HostileModel, of_other_descriptors_without_any_one_key_is_read_or_refused_with_the_files_name) {
  for (const std::string name : {"dpa1_concat.dp", "dpa1_strip.dp", "hybrid_mixed.dp", "se_e2_r.dp"}) {
    whole_ = dp::read(data(name));
    std::filesystem::remove(scratch_ / "whole.dp");
    EXPECT_EQ(complaint_of_description(whole_.description), "") << name;
    int refused = 0;
    for_nodes(whole_.description, "", [&](const std::string& path, const Tree&) {
      if (!path.starts_with("model.descriptor.")) return;  // all else is as in the test above
      SCOPED_TRACE(name + " without " + path);
      refused += complaint_of_description(without(whole_.description, path)).empty() ? 0 : 1;
    });
    EXPECT_GT(refused, 25) << name;
  }
}

TEST_F(HostileModel, without_what_the_energy_needs_is_refused) {
  for (const std::string path : {"model",
                                 "model.type_map",
                                 "model.descriptor",
                                 "model.descriptor.type",
                                 "model.descriptor.rcut",
                                 "model.descriptor.rcut_smth",
                                 "model.descriptor.sel",
                                 "model.descriptor.axis_neuron",
                                 "model.descriptor.embeddings",
                                 "model.descriptor.@variables",
                                 "model.descriptor.@variables.davg",
                                 "model.descriptor.@variables.dstd",
                                 "model.descriptor.embeddings.networks",
                                 "model.descriptor.embeddings.networks.1",
                                 "model.descriptor.embeddings.networks.0.layers",
                                 "model.descriptor.embeddings.networks.0.layers.1",
                                 "model.descriptor.embeddings.networks.0.layers.0.@variables",
                                 "model.descriptor.embeddings.networks.0.layers.0.@variables.w",
                                 "model.descriptor.embeddings.networks.0.layers.0.activation_function",
                                 "model.fitting",
                                 "model.fitting.nets",
                                 "model.fitting.nets.networks.1.layers.3",
                                 "model.fitting.nets.networks.1.layers.3.@variables.w"}) {
    dp::Document document = whole_;
    document.description = without(whole_.description, path);
    EXPECT_NE(complaint_of(document), "") << "read without " << path;
  }
}

TEST_F(HostileModel, with_any_one_value_replaced_by_nonsense_is_read_or_refused_with_the_files_name) {
  const std::vector<Tree> nonsense{
      Tree::number(-1),       Tree::number(1e30), Tree::number(0.5),
      Tree::text("nonsense"), Tree::text("nan"),  Tree(),
      Tree::list(),           Tree::map(),        Tree::list({Tree::integer(2000000000)}),
      Tree::text("/absent")};
  int refused = 0;
  std::size_t n_nodes = 0;
  for_nodes(whole_.description, "", [&](const std::string& path, const Tree&) {
    const std::size_t first = n_nodes++;  // two of the ten at each node, others at the next
    for (std::size_t i = 0; i < 2; ++i) {
      const Tree& value = nonsense[(first + 5 * i) % nonsense.size()];
      Tree description = whole_.description;
      description.set_path(path, value);
      SCOPED_TRACE(path + " = " + to_json(value, 0));
      refused += !complaint_of_description(description).empty();
    }
  });
  EXPECT_GT(refused, 100);
}

TEST_F(HostileModel, truncated_anywhere_is_refused) {
  std::ifstream file(data("oneside.dp"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(bytes.size(), 10000u);
  for (std::size_t size = 0; size < bytes.size(); size += 311) {
    SCOPED_TRACE("first " + std::to_string(size) + " bytes");
    EXPECT_NE(complaint_of_bytes(bytes.substr(0, size)), "");
  }
}

TEST_F(HostileModel, with_one_flipped_bit_is_read_or_refused_with_the_files_name) {
  std::ifstream file(data("oneside.dp"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 61) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    SCOPED_TRACE("byte " + std::to_string(at));
    refused += !complaint_of_bytes(flipped).empty();
  }
  EXPECT_GT(refused, 10);
}

TEST_F(HostileModel, with_a_number_that_is_not_finite_names_the_array) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const auto& [name, array] : whole_.datasets) {
      dp::Document document = whole_;
      document.datasets[name].values.back() = value;
      const std::string said = complaint_of(document);
      if (name == whole_.description.at("model").at("@variables").at("out_std").as_text())
        continue;  // does not enter the energy
      EXPECT_NE(said.find(name), std::string::npos) << "array " << name << ": '" << said << "'";
    }
}

TEST_F(HostileModel, with_an_array_of_wrong_shape_is_refused) {
  // Two arrays do not enter the energy: out_std and the least distance in the training data.
  const auto out_std = whole_.description.at("model").at("@variables").at("out_std").as_text();
  const auto* least = whole_.description.find("@variables");
  for (const auto& [name, array] : whole_.datasets) {
    if (name == out_std || (least && least->at("min_nbor_dist").as_text() == name)) continue;
    for (const std::uint64_t extra : {0u, 1u, 7u}) {
      dp::Document document = whole_;
      auto& changed = document.datasets[name];
      changed.shape.assign(1, extra == 0 ? 1 : array.values.size() + extra);
      changed.values.resize(changed.shape[0], 0.5);
      if (changed.values.size() == array.values.size()) continue;
      EXPECT_NE(complaint_of(document), "") << name << " with " << changed.shape[0] << " values";
    }
  }
}

TEST_F(HostileModel, with_a_deviation_of_zero_is_refused) {
  dp::Document document = whole_;
  const auto name = whole_.description.at("model").at("descriptor").at("@variables").at("dstd").as_text();
  for (double& value : document.datasets[name].values) value = 0;
  EXPECT_NE(complaint_of(document), "");
}

TEST_F(HostileModel, that_needs_what_we_do_not_have_is_refused_by_name) {
  const std::vector<std::tuple<std::string, Tree, std::string>> cases{
      {"model.fitting.numb_fparam", Tree::integer(2), "expected [26, outputs]"},
      {"model.fitting.numb_aparam", Tree::integer(1), "expected [25, outputs]"},
      {"model.fitting.dim_case_embd", Tree::integer(1), "dim_case_embd"},
      {"model.fitting.mixed_types", Tree::boolean(true), "2 networks in a collection, expected 1"},
      {"model.fitting.type", Tree::text("dipole"), "dipole"},
      {"model.descriptor.type", Tree::text("se_e3_tebd"), "se_e3_tebd"},
      {"model.descriptor.spin", Tree::map({{"use_spin", Tree::boolean(true)}}), "spin"},
      {"model.descriptor.precision", Tree::text("float16"), "float16"},
      {"model.descriptor.@version", Tree::integer(9), "9"},
      {"model.descriptor.env_mat.use_exp_switch", Tree::boolean(true), "use_exp_switch"},
      {"model.descriptor.embeddings.networks.0.layers.1.activation_function", Tree::text("swish_of_mine"),
       "swish_of_mine"},
      {"model.type", Tree::text("zbl"), "zbl"}};
  for (const auto& [path, value, name] : cases) {
    dp::Document document = whole_;
    document.description.set_path(path, value);
    const std::string said = complaint_of(document);
    EXPECT_NE(said.find(name), std::string::npos) << path << ": '" << said << "'";
  }
}

TEST_F(HostileModel, that_is_no_model_at_all_is_refused) {
  EXPECT_NE(complaint(scratch_ / "absent.dp"), "");
  EXPECT_NE(complaint_of_bytes("model: water\n"), "");
  EXPECT_NE(complaint_of_bytes(""), "");
  EXPECT_NE(complaint(scratch_.path()), "");
  const std::string other = scratch_ / "other.h5";
  {
    auto file = hdf5::File::create(Comm::self(), other);
    file.root().write<double>("x", std::vector<double>{1, 2}, {2}, {});
  }
  EXPECT_NE(complaint(other).find("json"), std::string::npos);
  dp::Document broken = whole_;
  broken.description = Tree::text("{ not json");
  EXPECT_NE(complaint_of(broken), "");
}

}  // namespace
}  // namespace quintet::potential
