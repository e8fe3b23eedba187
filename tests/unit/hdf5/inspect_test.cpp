#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "tests/unit/hdf5/foreign.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::hdf5 {
namespace {

/// Expects each part in the text; prints the text once if any is missing.
void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts) EXPECT_TRUE(contains(text, part)) << "no \"" << part << "\" in:\n" << text;
}

TEST(Inspect, a_result_shows_provenance_and_the_tree_with_units) {
  const Scratch scratch("inspect");
  {
    auto file = File::create(Comm::self(), scratch / "run.h5");
    auto provenance = current_provenance();
    provenance.program = "dpmd run";
    provenance.configuration = "run:\n  steps: 10\n";
    write_header(file.root(), "dpmd.run", 2, provenance);
    const std::vector<double> values(6);
    file.root().write("atoms/positions", std::span<const double>(values), {2, 3},
                      {"angstrom", {"atom", "xyz"}, "Where the atoms are."});
  }

  expect_parts(inspect(Comm::self(), scratch / "run.h5"),
               {"run.h5 (", "Quintet file, schema dpmd.run version 2", "made by: dpmd run", "  steps: 10",
                "  atoms/", "positions  float64 [2, 3] (atom, xyz)  units angstrom  Where the atoms are."});
}

TEST(Inspect, a_checkpoint_says_whether_it_is_whole) {
  const Scratch scratch("inspect_checkpoint");
  const CheckpointStore store(Comm::self(), scratch.path(), 1);
  store.write(42, current_provenance(), [](Group& root) {
    const std::vector<double> values(1000);
    root.write("x", std::span<const double>(values), {1000}, {});
  });

  expect_parts(inspect(Comm::self(), store.path(42)), {"checkpoint, whole", "of step 42"});

  std::fstream file(store.path(42), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-100, std::ios::end);  // in the header at the end of the file
  file.put('x');
  file.close();
  expect_parts(inspect(Comm::self(), store.path(42)),
               {"\nDAMAGED: ", "checksum", "unreadable header: "});  // what it was is in the header

  store.write(42, current_provenance(), [](Group&) {});
  std::filesystem::resize_file(store.path(42), std::filesystem::file_size(store.path(42)) - 1);
  expect_parts(inspect(Comm::self(), store.path(42)), {"checkpoint, DAMAGED: ", "truncated", "of step 42"});
}

TEST(Inspect, a_foreign_file_is_listed_without_going_round_in_circles) {
  const Scratch scratch("inspect_foreign");
  foreign::write_mixture(scratch / "a.h5");

  expect_parts(inspect(Comm::self(), scratch / "a.h5"),
               {"HDF5 file that is not of Quintet", "big_endian  float64 [4]", "compound  compound [1]",
                "circle/", "again/", "dangling  unreadable: "});
}

TEST(Inspect, a_model_shows_types_descriptor_and_networks) {
  const Scratch scratch("inspect_model");
  foreign::write_model(
      scratch / "a.dp",
      R"({"software": "deepmd-kit", "version": "3", "model": {"type_map": ["O", "H"], "descriptor":
                       {"type": "se_e2_a", "rcut": 6.0, "rcut_smth": 0.5, "sel": [6, 12], "neuron": [4, 8],
                       "axis_neuron": 4}, "fitting": {"type": "ener", "neuron": [12, 12]}}})");

  const auto text = inspect(Comm::self(), scratch / "a.dp");

  expect_parts(text, {"Deep Potential model", "type_map: [\"O\",", "se_e2_a", "rcut 6.0 angstrom", "sel [6,",
                      "neuron [4,", "fitting: \"ener\"", "variable_0000  float64 [1, 2, 3]"});
}

TEST(Inspect, a_model_with_nonsense_in_its_json_shows_gaps_and_says_why) {
  const Scratch scratch("inspect_nonsense");
  for (const std::string json : {"", "[1, 2]", "{\"model\": 3}", "{\"model\": {\"descriptor\": []}}"}) {
    foreign::write_model(scratch / "a.dp", json);
    EXPECT_TRUE(contains(inspect(Comm::self(), scratch / "a.dp"), "type_map: -")) << json;
  }
  foreign::write_model(scratch / "a.dp", "{\"model\": ");
  expect_parts(inspect(Comm::self(), scratch / "a.dp"), {"unreadable header: ", "a.dp: attribute 'json'"});
}

TEST(Inspect, what_is_no_hdf5_file_is_an_input_error) {
  const Scratch scratch("inspect_text");
  std::ofstream(scratch / "a.h5") << "text";

  EXPECT_THROW((void)inspect(Comm::self(), scratch / "a.h5"), InputError);
}

}  // namespace
}  // namespace quintet::hdf5
