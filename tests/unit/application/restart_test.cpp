#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "apps/application/life/input_identity.hpp"
#include "apps/application/life/restart.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

namespace fs = std::filesystem;

struct Options {
  double dt = 1;
  std::int64_t steps = 10;
  std::int64_t cells = 8;
  std::vector<std::string> files;
};

void describe(Schema& schema, Options& options) {
  schema.quantity("dt", options.dt, "ps", "Step");
  schema.integer("steps", options.steps, "Steps").on_restart(OnRestart::free);
  schema.integer("cells", options.cells, "Cells").on_restart(OnRestart::fixed);
  schema.texts("files", options.files, "Files").existing_file();
}

class Restart : public ::testing::Test {
 protected:
  Restart() {
    std::string name = (fs::temp_directory_path() / "quintet_restart_XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    request_.program = "demo run";
    request_.restart = "auto";
  }
  ~Restart() override { fs::remove_all(directory_); }

  void keep(
      const std::function<void(hdf5::Group&)>& change = [](hdf5::Group&) {},
      const std::string& program = "demo run") {
    auto provenance = hdf5::current_provenance();
    provenance.program = program;
    provenance.run = "this one";
    provenance.configuration = to_yaml(options_tree(described(options_)));
    provenance.inputs = identify_inputs(comm_, described(options_));
    hdf5::CheckpointStore(comm_, directory_ + "/checkpoints", 9).write(7, provenance, change);
  }
  [[nodiscard]] RestartPoint find() {
    return find_restart(comm_, request_, directory_, described(options_),
                        identify_inputs(comm_, described(options_)));
  }
  [[nodiscard]] std::string refusal() {
    try {
      (void)find();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  void expect_refusal(const std::string& part) {
    const auto text = refusal();
    EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
  }
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = fs::path(directory_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  Comm comm_ = Comm::self();
  std::string directory_;
  Request request_;
  Options options_;
};

TEST_F(Restart, goes_on_from_the_newest_checkpoint_of_this_run) {
  EXPECT_FALSE(find().file);
  keep();
  const auto point = find();
  ASSERT_TRUE(point.file);
  EXPECT_EQ(fs::path(*point.file).filename(), "step_000000000007.h5");
  EXPECT_EQ(point.run, "this one");
  EXPECT_EQ(point.changes, "");
}

TEST_F(Restart, checks_schema_version_and_command) {
  keep([](hdf5::Group& root) { root.set_attribute("schema_version", 2); });
  expect_refusal("use a newer Quintet");
  keep([](hdf5::Group& root) { root.set_attribute("schema", std::string("quintet_matrix")); });
  expect_refusal("has schema 'quintet_matrix'");
  keep([](hdf5::Group&) {}, "vlasov run");
  expect_refusal("is a checkpoint of 'vlasov run'; 'demo run' cannot go on from it");
}

TEST_F(Restart, treats_a_change_by_the_rule_of_its_key) {
  keep();
  options_.steps = 20;
  EXPECT_EQ(find().changes, "");
  options_.dt = 2;
  expect_refusal("dt: 1 ps there, 2 ps here");
  request_.restart_with_changes = true;
  const Tree changes = parse_yaml(find().changes, "changes");
  ASSERT_EQ(changes.items().size(), 1u);
  EXPECT_EQ(changes.items()[0].at("step").as_integer(), 7);
  EXPECT_EQ(changes.items()[0].at("from").as_text(), "1 ps");
  options_.cells = 16;
  expect_refusal("cells: 8 there, 16 here");
}

TEST_F(Restart, knows_files_by_their_content) {
  options_.files = {write("a", "one"), write("folder/set/b", "two"),
                    (fs::path(directory_) / "pattern/*.c").string()};
  write("pattern/1.c", "three");
  options_.files[1] = (fs::path(directory_) / "folder").string();
  keep();
  EXPECT_EQ(refusal(), "");
  fs::rename(options_.files[0], directory_ + "/moved");
  options_.files[0] = directory_ + "/moved";
  EXPECT_EQ(refusal(), "");
  const auto changed = [&](const std::string& name, const std::string& was, const std::string& is) {
    write(name, is);
    expect_refusal("files: ");
    write(name, was);
    EXPECT_EQ(refusal(), "");
  };
  changed("moved", "one", "One");
  changed("folder/set/b", "two", "Two");
  changed("pattern/1.c", "three", "Three");
  write("pattern/2.c", "");
  write("folder/c", "more");
  expect_refusal("files: ");
  fs::remove(directory_ + "/folder/c");
  options_.files.pop_back();
  expect_refusal("files: ");
}

TEST_F(Restart, without_a_checkpoint_the_results_must_be_of_the_same_run) {
  {
    auto provenance = hdf5::current_provenance();
    provenance.program = "demo run";
    provenance.configuration = to_yaml(options_tree(described(options_)));
    auto file = hdf5::File::create(comm_, directory_ + "/run.h5");
    hdf5::write_header(file.root(), results_schema, results_version, provenance);
  }
  EXPECT_EQ(refusal(), "");
  options_.cells = 4;
  expect_refusal("replace it with --overwrite");
  request_.program = "demo compare";
  expect_refusal("is a file of results of 'demo run'");
}

/// Thousands of files of a record would take longer to read than the run: beyond a thousand, their ends
/// count.
TEST_F(Restart, files_by_the_thousand_are_known_by_their_ends) {
  constexpr std::uintmax_t bytes = 1'100'000;
  fs::create_directory(directory_ + "/days");
  const auto path = [&](int i) { return fmt::format("{}/days/{}.nc", directory_, i); };
  const auto put = [&](int i, std::streamoff at, char byte) {
    std::fstream file(path(i), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put(byte);
  };
  const auto identity = [&] { return identify_inputs(comm_, described(options_)); };
  for (int i = 0; i < 1001; ++i) {
    std::ofstream{path(i)};
    fs::resize_file(path(i), bytes);  // holes take no room
  }
  options_.files = {directory_ + "/days/*.nc"};
  const auto many = identity();
  EXPECT_NE(many.find(fmt::format("bytes: {}", 1001 * bytes)), std::string::npos) << many;
  put(500, bytes / 2, 'x');
  EXPECT_EQ(identity(), many);
  put(500, bytes - 1, 'x');
  EXPECT_NE(identity(), many);
  fs::remove(path(1000));  // a thousand are read whole
  const auto whole = identity();
  put(400, bytes / 2, 'x');
  EXPECT_NE(identity(), whole);
}

}  // namespace
}  // namespace quintet
