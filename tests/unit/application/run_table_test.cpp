#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/application/loop/run_loop.hpp"
#include "apps/application/table/run_table.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "tests/unit/application/toy_run.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet {
namespace {

namespace fs = std::filesystem;
using toy::ToyRun;

struct Row {
  std::int64_t step;
  double x;
};
using Numbers = std::vector<double>;

RunTable<Row> make_table(Context& context, std::int64_t step, bool with_square = false) {
  std::vector<RunColumn<Row>> columns{
      {"step", "1", "Step", [](const Row& row) { return static_cast<double>(row.step); }},
      {"x", "m", "Place", [](const Row& row) { return row.x; }},
      {"pair",
       "1",
       "Two numbers",
       {},
       [](const Row& row) {
         return Numbers{row.x, -row.x};
       },
       {2},
       {"side"}}};
  columns.front().is_integer = true;
  if (with_square)
    columns.push_back({"square", "1", "Of a newer version", [](const Row& row) { return row.x * row.x; }});
  return RunTable<Row>(context, {"places"}, std::move(columns), step);
}

/// A toy that writes a row of its number at its start and after each step.
class Tables : public ::testing::Test {
 protected:
  Tables() {
    request_.program = "demo run";
    request_.output = folder_ / "run";
    request_.quiet = true;
  }
  ~Tables() override { log::configure({.speaks = false, .quiet = true, .file = ""}); }

  /// Go to this step, saving every second one. Returns the columns x, as the program sees them at the end.
  Numbers run_to(std::int64_t steps, const std::function<void(const Instant&)>& look = {}) {
    ToyRun run(request_, steps);
    auto table = make_table(run.context, run.toy->step());
    const auto add = [&](const Instant& now) {
      table.add({now.step, comm_.broadcast(run.toy->x())});
      if (look) look(now);
    };
    run_loop(run.context, run.toy, CheckpointOptions{.interval = 2, .keep = 99},
             {{"row", at_start() | every_steps(1), add}});
    losses_ = run.implementation().losses;
    return table.column("x");
  }
  void restart(const std::string& file = "auto") { request_.restart = file; }
  [[nodiscard]] std::string checkpoint(std::int64_t step) const {
    return hdf5::CheckpointStore(comm_, request_.output + "/checkpoints", 9).path(step);
  }
  [[nodiscard]] std::string results() const { return request_.output + "/run.h5"; }
  template <class Action>
  void on_disk(const Action& action) const {
    comm_.barrier();
    if (comm_.is_root()) action();
    comm_.barrier();
  }
  /// What a table's column has on the disk.
  [[nodiscard]] Numbers stored(const std::string& name) const {
    return hdf5::File::open(comm_, results()).root().open_group("places").read<double>(name);
  }
  /// What two kills left: zeros in the rows from `first` on, of all columns, under the former extent.
  void zero_rows(std::uint64_t first) const {
    auto file = hdf5::File::open_for_update(comm_, results());
    auto group = file.root().open_group("places");
    const auto zero = [&](hdf5::Series series, auto value, std::uint64_t width) {
      const std::uint64_t n = series.size() - first;
      const std::vector<decltype(value)> zeros(n * width, value);
      series.truncate(first);
      series.append_entries<decltype(value)>(n, zeros);
    };
    zero(group.series<std::int64_t>("step", {}, {}), std::int64_t{0}, 1);
    zero(group.series<double>("x", {}, {}), 0.0, 1);
    zero(group.series<double>("pair", {2}, {}), 0.0, 2);
  }

  Comm comm_ = Comm::world();
  SharedScratch folder_{"tables"};
  Request request_;
  std::vector<std::pair<std::string, std::string>> losses_;
};

TEST_F(Tables, have_what_was_added_on_the_disk_and_in_memory) {
  const Numbers x = run_to(5);

  ASSERT_EQ(x.size(), 6u);
  EXPECT_EQ(stored("x"), x);
  EXPECT_EQ(stored("step"), (Numbers{0, 1, 2, 3, 4, 5}));
  const auto group = hdf5::File::open(comm_, results()).root().open_group("places");
  EXPECT_EQ(group.shape("pair"), (hdf5::Shape{6, 2}));
  EXPECT_EQ(group.element_type("step"), "int64");
  EXPECT_EQ(group.member_text_attribute("x", "units"), "m");
  EXPECT_EQ(group.member_texts_attribute("pair", "axes"), (std::vector<std::string>{"sample", "side"}));
}

TEST_F(Tables, of_a_run_killed_inside_a_checkpoint_are_those_of_the_uninterrupted_run) {
  const Numbers whole = run_to(7);
  // run.h5 was flushed, the checkpoints of steps 6 and 7 never got their names.
  on_disk([&] { fs::remove(checkpoint(6)), fs::remove(checkpoint(7)); });

  restart();
  EXPECT_EQ(run_to(7), whole);
  EXPECT_EQ(stored("x"), whole);
  EXPECT_TRUE(losses_.empty());
}

TEST_F(Tables, are_cut_on_the_disk_before_the_first_step) {
  const Numbers whole = run_to(7);
  on_disk([&] { fs::remove(checkpoint(6)), fs::remove(checkpoint(7)); });

  // The file as a kill after step 5 leaves it, before any further checkpoint.
  restart();
  run_to(7, [&](const Instant& now) {
    if (now.step == 5) on_disk([&] { fs::copy_file(results(), folder_ / "killed.h5"); });
  });
  on_disk([&] { fs::copy_file(folder_ / "killed.h5", results(), fs::copy_options::overwrite_existing); });
  on_disk([&] { fs::remove(checkpoint(6)), fs::remove(checkpoint(7)); });

  EXPECT_EQ(stored("step"), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(stored("x"), Numbers(whole.begin(), whole.begin() + 5));
  EXPECT_EQ(run_to(7), whole);
  EXPECT_TRUE(losses_.empty());
}

TEST_F(Tables, take_zeros_that_two_kills_left_for_no_rows) {
  const Numbers whole = run_to(7);
  on_disk([&] { fs::remove(checkpoint(6)), fs::remove(checkpoint(7)); });
  zero_rows(5);

  restart();
  EXPECT_EQ(run_to(7), whole);
  EXPECT_EQ(stored("step"), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(losses_.empty());
}

TEST_F(Tables, of_older_checkpoints_without_counts_are_known_by_rising_steps) {
  const Numbers whole = run_to(7);
  zero_rows(5);
  on_disk([&] {
    // As an older version wrote it: no group `rows`.
    const auto from = hdf5::File::open(Comm::self(), checkpoint(4));
    const auto x = from.root().read<double>("x");
    hdf5::CheckpointStore(Comm::self(), folder_ / "older", 9)
        .write(4, hdf5::read_provenance(from.root()), [&](hdf5::Group& root) {
          root.set_attribute("step", 4);
          root.write<double>("x", x, {x.size()}, {});
        });
    fs::copy_file(folder_ / "older/step_000000000004.h5", checkpoint(4),
                  fs::copy_options::overwrite_existing);
    fs::remove(checkpoint(6)), fs::remove(checkpoint(7));
  });

  restart();
  EXPECT_EQ(run_to(7), whole);
  EXPECT_TRUE(losses_.empty());
}

TEST_F(Tables, survive_one_kill_after_a_restart_from_an_older_checkpoint) {
  const Numbers whole = run_to(7);

  restart(checkpoint(2));
  {
    ToyRun run(request_, 7);
    const auto table = make_table(run.context, run.toy->step());
    on_disk([&] { fs::copy_file(results(), folder_ / "killed.h5"); });
  }
  on_disk([&] { fs::copy_file(folder_ / "killed.h5", results(), fs::copy_options::overwrite_existing); });

  restart();  // not from step 7, whose rows are cut
  EXPECT_EQ(run_to(7), whole);
  EXPECT_TRUE(fs::exists(checkpoint(4) + ".superseded"));
  EXPECT_TRUE(losses_.empty());
}

TEST_F(Tables, that_are_lost_are_begun_anew_and_told_of) {
  const Numbers whole = run_to(6);
  on_disk([&] { fs::remove(results()); });

  restart();
  EXPECT_EQ(run_to(8).size(), 2u);
  ASSERT_EQ(losses_.size(), 1u);
  EXPECT_EQ(losses_[0].first, "places");
  EXPECT_TRUE(contains(losses_[0].second, "no rows from before the restart")) << losses_[0].second;
  EXPECT_EQ(run_to(10).size(), 4u);
  EXPECT_EQ(losses_.size(), 1u) << "a later restart forgot what was lost";
}

TEST_F(Tables, of_which_rows_are_lost_go_on_with_what_is_left) {
  run_to(6);
  zero_rows(3);

  restart();
  EXPECT_EQ(run_to(8).size(), 5u);
  EXPECT_EQ(stored("step"), (Numbers{0, 1, 2, 7, 8}));
  ASSERT_EQ(losses_.size(), 1u);
  EXPECT_TRUE(contains(losses_[0].second, "run.h5 has 3 of the 7 rows")) << losses_[0].second;
}

TEST_F(Tables, of_which_a_value_has_changed_on_the_disk_are_kept_and_told_of) {
  run_to(6);
  on_disk([&] {
    auto file = hdf5::File::open_for_update(Comm::self(), results());
    auto group = file.root().group("places");
    group.write_box<double>("pair", std::vector<double>{0.25}, {{3, 1}, {1, 1}});
  });

  restart();
  EXPECT_EQ(run_to(8).size(), 9u);
  ASSERT_FALSE(losses_.empty());
  EXPECT_EQ(losses_.back().first, "places");
  EXPECT_TRUE(contains(losses_.back().second, "row 3 does not agree with its checksum"))
      << losses_.back().second;
  EXPECT_EQ(stored("pair").at(7), 0.25);
}

TEST_F(Tables, of_an_older_version_get_checksums_from_the_restart_on) {
  run_to(4);
  on_disk([&] {  // the same file without them
    const auto from = hdf5::File::open(Comm::self(), results());
    auto to = hdf5::File::create(Comm::self(), folder_ / "older.h5");
    hdf5::write_header(to.root(), results_schema, results_version, hdf5::read_provenance(from.root()));
    const auto old = from.root().open_group("places");
    auto group = to.root().group("places");
    group.series<std::int64_t>("step", {}, {"1", {"sample"}, ""})
        .append_entries<std::int64_t>(5, old.read<std::int64_t>("step"));
    group.series<double>("x", {}, {"1", {"sample"}, ""}).append_entries<double>(5, old.read<double>("x"));
    group.series<double>("pair", {2}, {"1", {"sample", "side"}, ""})
        .append_entries<double>(5, old.read<double>("pair"));
    to.close();
  });
  on_disk([&] { fs::copy_file(folder_ / "older.h5", results(), fs::copy_options::overwrite_existing); });

  restart();
  run_to(6);
  EXPECT_TRUE(losses_.empty());
  const auto sums =
      hdf5::File::open(comm_, results()).root().open_group("places").read<std::uint64_t>("row_checksum");
  ASSERT_EQ(sums.size(), 7u);
  EXPECT_EQ(sums[4], hdf5::no_checksum);
  EXPECT_NE(sums[5], hdf5::no_checksum);
}

/// As a spectrogram whose signal has a hole does.
TEST_F(Tables, can_be_emptied_by_a_restart) {
  run_to(4);
  restart();
  ToyRun run(request_, 6);
  TableColumn step{"step", "1", ""};
  step.is_integer = true;
  TableFile table(run.context, {"places"}, {step, {"x", "m", ""}, {"pair", "1", "", {2}, {"side"}}}, 4);
  ASSERT_EQ(table.size(), 5u);
  table.clear();
  table.append({{5}, {0.5}, {7, 8}});
  run.context.flush_results();

  const auto file = hdf5::File::open(comm_, results());
  EXPECT_EQ(stored("step"), Numbers{5});
  EXPECT_EQ(stored("pair"), (Numbers{7, 8}));
  EXPECT_EQ(hdf5::altered_rows(file.root(), "places/row_checksum", {1}).n, 0u);
}

TEST_F(Tables, of_a_file_that_cannot_be_read_are_put_aside_with_it) {
  run_to(4);
  for (const char* name : {"run.damaged.h5", "run.damaged.2.h5"}) {
    // A kill before the first flush of former versions: bytes, but no header that could be read.
    on_disk([&] { fs::resize_file(results(), 64), fs::resize_file(results(), 9000); });
    restart();
    run_to(4);
    EXPECT_TRUE(fs::exists(request_.output + "/" + name)) << name;
    EXPECT_EQ(losses_.size(), 2u);  // the file, and its table
  }
}

TEST_F(Tables, of_a_file_that_another_process_holds_are_not_put_aside) {
  if (comm_.size() > 1) GTEST_SKIP() << "MPI-IO does not look at locks";
  run_to(4);
  const int held = ::open(results().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX | LOCK_NB), 0);

  restart();
  EXPECT_TRUE(contains(message_of<InputError>([&] { run_to(4); }), "unable to lock file"));
  ::close(held);
  EXPECT_EQ(run_to(4).size(), 5u);
  EXPECT_FALSE(fs::exists(request_.output + "/run.damaged.h5"));
}

TEST_F(Tables, get_a_column_that_a_newer_version_has) {
  run_to(4);

  restart();
  ToyRun run(request_, 4);
  const auto table = make_table(run.context, run.toy->step(), true);
  EXPECT_EQ(table.size(), 5u);
  EXPECT_TRUE(std::isnan(table.column("square").at(4)));
  EXPECT_TRUE(run.implementation().losses.empty());
}

TEST_F(Tables, without_a_checkpoint_begin_again_whatever_the_kill_left) {
  const Numbers whole = run_to(5);
  on_disk([&] { fs::remove_all(request_.output + "/checkpoints"); });
  on_disk([&] { fs::resize_file(results(), 64), fs::resize_file(results(), 9000); });

  restart();
  EXPECT_EQ(run_to(5), whole);
  EXPECT_TRUE(fs::exists(request_.output + "/run.damaged.h5"));
}

TEST_F(Tables, of_a_run_that_has_begun_can_be_read_whenever_it_is_killed) {
  run_to(5, [&](const Instant& now) {
    if (now.step != 1) return;
    on_disk([&] { fs::copy_file(results(), folder_ / "killed.h5"); });
  });

  const auto file = hdf5::File::open(comm_, folder_ / "killed.h5");
  EXPECT_EQ(file.root().text_attribute("schema"), results_schema);
  EXPECT_EQ(file.root().open_group("places").read<double>("step"), Numbers{0});
}

}  // namespace
}  // namespace quintet
