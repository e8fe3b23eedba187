#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/application/life/run_directory.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

class Directory : public ::testing::Test {
 protected:
  Directory() {
    std::string name = (fs::temp_directory_path() / "quintet_directory_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    request_.program = "demo run";
    request_.output = root_ + "/a/run";
  }
  ~Directory() override { fs::remove_all(root_); }

  void write(const std::string& name) const {
    const fs::path path = fs::path(request_.output) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
  }
  /// A run that writes `names`, having said `said`.
  void run(const std::vector<std::string>& said, const Names& names, bool goes_on = false,
           const std::vector<std::string>& reads = {}) const {
    RunDirectory directory(comm_, request_);
    directory.begin(said, goes_on, reads);
    for (const auto& name : names) write(name);
  }
  template <class Work>
  std::string refusal(const Work& work) const {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  /// The files in the directory but those of our own folder.
  [[nodiscard]] Names files() const {
    Names names;
    for (const auto& entry : fs::recursive_directory_iterator(request_.output))
      if (!entry.is_directory()) names.insert(entry.path().lexically_relative(request_.output).string());
    std::erase_if(names, [](const auto& name) { return name.starts_with(".quintet/"); });
    return names;
  }

  Comm comm_ = Comm::self();
  std::string root_;
  Request request_;
};

TEST_F(Directory, that_was_not_written_to_leaves_nothing) {
  { const RunDirectory directory(comm_, request_); }
  EXPECT_FALSE(fs::exists(root_ + "/a"));
  fs::create_directories(root_ + "/a");
  { const RunDirectory directory(comm_, request_); }
  EXPECT_TRUE(fs::exists(root_ + "/a"));
  EXPECT_FALSE(fs::exists(request_.output));
  request_.validate = true;
  { const RunDirectory directory(comm_, request_); }
  EXPECT_FALSE(fs::exists(request_.output));
}

TEST_F(Directory, what_a_killed_process_had_not_named_yet_goes_with_the_next_start) {
  run({"gkyl/run-*.gkyl"}, {"run.h5", "summary.json"});
  for (const char* name :
       {"summary.json.tmp4711", "report.html.tmp1", "gkyl/run-f.gkyl.tmp", "notes.txt.tmp12", "run.h5.tmpx",
        ".quintet/files.tmp99", ".quintet/last_word.tmp7"})
    write(name);

  request_.restart = "auto";
  run({"gkyl/run-*.gkyl"}, {}, true);
  EXPECT_EQ(files(), (Names{"run.h5", "summary.json", "notes.txt.tmp12", "run.h5.tmpx"}));
  EXPECT_FALSE(fs::exists(request_.output + "/.quintet/files.tmp99"));
  EXPECT_FALSE(fs::exists(request_.output + "/.quintet/last_word.tmp7"));
}

TEST_F(Directory, an_overwritten_run_goes_when_the_new_one_begins_and_nothing_else) {
  const std::vector<std::string> said{"gkyl/run-*.gkyl", "iteration_*/**", "x.dp"};
  const Names ours{"run.h5",
                   "run.log",
                   "x.dp",
                   "checkpoints/step_000000000010.h5",
                   "gkyl/run-f_0.gkyl",
                   "iteration_00/train/model_0/run.h5",
                   "iteration_01/done"},
      users{"notes.txt", "gkyl/notes.txt", "checkpoints/notes", "train/model_0/run.h5", "iteration_00.txt"};
  run(said, ours);
  for (const auto& name : users) write(name);
  EXPECT_NE(refusal([&] { run(said, {}); }).find("already holds a run"), std::string::npos);
  request_.validate = true;  // what the run will refuse
  EXPECT_NE(refusal([&] { const RunDirectory directory(comm_, request_); }).find("already holds a run"),
            std::string::npos);
  request_.validate = false;
  request_.overwrite = true;
  Names all = ours;
  all.insert(users.begin(), users.end());
  {
    const RunDirectory directory(comm_, request_);  // the command finds a mistake
  }
  EXPECT_EQ(files(), all);
  const std::string input = request_.output + "/iteration_00/train/model_0/run.h5";
  EXPECT_NE(refusal([&] { run(said, {}, false, {input}); }).find("is an input of this run"),
            std::string::npos);
  EXPECT_EQ(files(), all);
  run(said, {});
  EXPECT_EQ(files(), users);
  EXPECT_FALSE(fs::exists(request_.output + "/iteration_00"));
}

TEST_F(Directory, what_is_replaced_waits_until_the_new_run_is_done) {
  const auto kept = [&](const std::string& name) {
    return fs::exists(request_.output + "/.quintet/replaced/" + name);
  };
  run({"frames/**"}, {"run.h5", "frames/a/1"});
  write("notes.txt");
  request_.overwrite = true;
  for (int i = 0; i < 2; ++i) {  // a second that fails removes the first, not what was done
    RunDirectory directory(comm_, request_);
    EXPECT_EQ(directory.replaced(), "");  // not begun
    directory.begin({"x.dp"}, false, {});
    EXPECT_EQ(files(), Names{"notes.txt"});
    write("x.dp");
    EXPECT_EQ(directory.replaced(), request_.output + "/.quintet/replaced");
    EXPECT_TRUE(kept("run.h5") && kept("frames/a/1"));
    EXPECT_FALSE(kept("x.dp") || kept("notes.txt"));
  }
  RunDirectory directory(comm_, request_);
  directory.begin({}, true, {});
  EXPECT_TRUE(kept("run.h5"));
  directory.forget_replaced();
  EXPECT_EQ(directory.replaced(), "");
  EXPECT_EQ(files(), Names{"notes.txt"});
}

TEST_F(Directory, what_was_taken_back_by_hand_is_kept_again) {
  run({"frames/**"}, {"run.h5", "frames/a/1"});
  request_.overwrite = true;
  const fs::path kept = request_.output + "/.quintet/replaced";
  for (int i = 0; i < 2; ++i) {
    RunDirectory directory(comm_, request_);
    directory.begin({"frames/**"}, false, {});
    ASSERT_TRUE(fs::exists(kept / "run.h5") && fs::exists(kept / "frames/a/1")) << i;
    fs::create_directories(request_.output + "/frames/a");
    for (const char* name : {"run.h5", "frames/a/1"}) fs::rename(kept / name, request_.output + "/" + name);
    EXPECT_EQ(directory.replaced(), "");
  }
}

TEST_F(Directory, a_run_does_not_read_what_goes_when_it_is_done) {
  run({"model.h5"}, {"run.h5", "model.h5"});
  request_.overwrite = true;
  {
    RunDirectory directory(comm_, request_);
    directory.begin({}, false, {});  // stopped
  }
  const std::string input = request_.output + "/.quintet/replaced/model.h5";
  const auto text = refusal([&] { run({}, {}, false, {input}); });
  EXPECT_NE(text.find("goes when the run is done"), std::string::npos) << text;
  EXPECT_TRUE(fs::exists(input));
  fs::copy_file(input, request_.output + "_model.h5");
  run({}, {}, false, {request_.output + "_model.h5"});
  fs::remove(request_.output + "_model.h5");
}

TEST_F(Directory, a_kill_among_what_is_replaced_loses_nothing) {
  run({}, {"run.h5", "report.html", "summary.json"});
  fs::create_directories(request_.output + "/.quintet/replacing");
  fs::rename(request_.output + "/run.h5", request_.output + "/.quintet/replacing/run.h5");
  request_.overwrite = true;

  RunDirectory directory(comm_, request_);
  directory.begin({}, false, {});

  EXPECT_EQ(files(), Names{});
  for (const char* name : {"run.h5", "report.html", "summary.json"})
    EXPECT_TRUE(fs::exists(directory.replaced() + "/" + name)) << name;
}

TEST_F(Directory, a_file_of_the_users_is_in_the_way) {
  write("x.dp");
  const auto text = refusal([&] { run({"x.dp"}, {}); });
  EXPECT_NE(text.find("x.dp' is in the way"), std::string::npos) << text;
  EXPECT_EQ(files(), Names{"x.dp"});
  RunDirectory directory(comm_, request_);
  directory.begin({}, false, {});
  EXPECT_THROW(directory.claim("x.dp"), InputError);
  directory.claim("y.dp");
}

TEST_F(Directory, a_name_that_was_the_runs_is_the_users_again_once_it_is_gone) {
  run({"x.dp"}, {"x.dp", "run.h5"});
  request_.overwrite = true;
  run({}, {"run.h5"});
  write("x.dp");
  run({}, {});
  EXPECT_EQ(files(), Names{"x.dp"});
}

TEST_F(Directory, a_restart_removes_nothing_and_takes_up_what_has_no_list) {
  run({"x.dp"}, {"x.dp", "run.h5"});
  request_.restart = "auto";
  run({"x.dp", "y.dp"}, {"y.dp"}, true);
  EXPECT_EQ(files(), (Names{"x.dp", "y.dp", "run.h5"}));
  fs::remove_all(request_.output + "/.quintet");
  run({"x.dp"}, {}, true);
  EXPECT_EQ(files(), (Names{"x.dp", "y.dp", "run.h5"}));
  fs::remove_all(request_.output + "/.quintet");
  request_.restart.clear();
  request_.overwrite = true;
  EXPECT_NE(refusal([&] { run({}, {}); }).find("no list of what runs wrote"), std::string::npos);
}

}  // namespace
}  // namespace quintet
