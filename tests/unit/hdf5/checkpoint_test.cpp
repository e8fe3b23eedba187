#include "io/hdf5/checkpoint.hpp"

#include <filesystem>
#include <fstream>
#include <numeric>

#include <sys/mount.h>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::hdf5 {
namespace {

namespace fs = std::filesystem;

/// A state that depends on the step, distributed unevenly over the ranks.
void write_state(const CheckpointStore& store, std::int64_t step, std::uint64_t n = 1000) {
  store.write(step, current_provenance(), [&](Group& root) {
    const UnevenRows mine(Comm::world(), n);
    const std::vector<std::int64_t> rows(mine.count, step);
    root.group("state").write_distributed("x", std::span<const std::int64_t>(rows), {n}, mine.offset, {});
  });
}

std::vector<std::int64_t> read_state(const std::string& path) {
  return File::open(Comm::world(), path).root().read<std::int64_t>("state/x");
}

/// Change a file on rank 0 while all ranks wait.
template <class Action>
void on_root(Action&& action) {
  const auto comm = Comm::world();
  comm.barrier();
  if (comm.is_root()) action();
  comm.barrier();
}

void flip(const std::string& path, std::uint64_t offset, unsigned char bits = 1) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const char changed = file.get() ^ bits;
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(changed);
}

TEST(Checkpoint, a_folder_of_its_name_is_no_checkpoint_and_gives_way) {
  const SharedScratch scratch("folder");
  const CheckpointStore store(Comm::world(), scratch / "run/checkpoints", 2);
  write_state(store, 10);
  on_root([&] { fs::create_directory(store.path(20)); });

  ASSERT_EQ(*store.newest(), store.path(10));
  write_state(store, 20);

  EXPECT_EQ(*store.newest(), store.path(20));
  EXPECT_TRUE(fs::is_directory(store.path(20) + ".put_aside"));
}

TEST(Checkpoint, the_newest_comes_back_and_the_last_few_are_kept) {
  const SharedScratch scratch("keep");
  const CheckpointStore store(Comm::world(), scratch / "run/checkpoints", 2);

  EXPECT_EQ(store.newest(), std::nullopt);
  for (const std::int64_t step : {10L, 20L, 30L, 999'999'999'999L}) write_state(store, step);

  EXPECT_EQ(store.steps(), (std::vector<std::int64_t>{30, 999'999'999'999}));
  ASSERT_TRUE(store.newest());
  EXPECT_EQ(*store.newest(), store.path(999'999'999'999));
  EXPECT_EQ(read_state(*store.newest()), std::vector<std::int64_t>(1000, 999'999'999'999));
  EXPECT_EQ(checkpoint_step(File::open(Comm::world(), store.path(30))), 30);
}

TEST(Checkpoint, a_step_written_again_replaces_the_one_there) {
  const SharedScratch scratch("again");
  const CheckpointStore store(Comm::world(), scratch.path(), 3);

  write_state(store, 5, 10);
  write_state(store, 5, 20);

  EXPECT_EQ(store.steps(), std::vector<std::int64_t>{5});
  EXPECT_EQ(read_state(*store.newest()).size(), 20u);
}

TEST(Checkpoint, a_damaged_one_is_passed_over_with_a_warning) {
  const SharedScratch scratch("damaged");
  const CheckpointStore store(Comm::world(), scratch.path(), 4);
  for (const std::int64_t step : {1, 2, 3, 4}) write_state(store, step);
  const int warnings = log::warning_count();

  on_root([&] {
    flip(store.path(4), fs::file_size(store.path(4)) / 2);
    fs::resize_file(store.path(3), fs::file_size(store.path(3)) - 1);
    fs::resize_file(store.path(2), 0);
  });

  EXPECT_EQ(*store.newest(), store.path(1));
  EXPECT_EQ(log::warning_count() - warnings, 3);
  const auto corrupt = message_of<InputError>([&] { verify_checkpoint(Comm::world(), store.path(4)); });
  const auto truncated = message_of<InputError>([&] { verify_checkpoint(Comm::world(), store.path(3)); });
  EXPECT_TRUE(contains(corrupt, store.path(4) + ": checksum is ")) << corrupt;
  EXPECT_TRUE(contains(truncated, "it is truncated, or it is no checkpoint")) << truncated;
}

TEST(Checkpoint, where_none_is_whole_the_run_does_not_silently_start_anew) {
  const SharedScratch scratch("none_whole");
  const CheckpointStore store(Comm::world(), scratch.path(), 4);
  write_state(store, 1);

  on_root([&] { flip(store.path(1), 0); });

  const auto message = message_of<InputError>([&] { (void)store.newest(); });
  EXPECT_TRUE(contains(message, "none of its 1 checkpoints is whole")) << message;
}

TEST(Checkpoint, every_damage_is_detected) {
  const SharedScratch scratch("every");
  const auto comm = Comm::world();
  const CheckpointStore store(comm, scratch.path(), 1);
  write_state(store, 7);
  const std::string path = store.path(7), copy = scratch / "copy.h5";
  const std::uint64_t size = comm.broadcast(comm.is_root() ? fs::file_size(path) : 0);

  for (std::uint64_t offset = 0; offset < size; offset += offset + 100 < size ? 97 : 1) {
    on_root([&] {
      fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
      flip(copy, offset, static_cast<unsigned char>(1u << offset % 8));
    });
    EXPECT_THROW(verify_checkpoint(comm, copy), InputError) << "bit flipped at byte " << offset;
  }
  for (std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{23}, std::uint64_t{24}, size / 3, size - 24, size - 1}) {
    on_root([&] {
      fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
      fs::resize_file(copy, length);
    });
    EXPECT_THROW(verify_checkpoint(comm, copy), InputError) << "cut to " << length << " bytes";
  }
  EXPECT_NO_THROW(verify_checkpoint(comm, path));
}

TEST(Checkpoint, what_a_killed_run_left_is_removed_and_other_files_stay) {
  const SharedScratch scratch("stale");
  const CheckpointStore store(Comm::world(), scratch.path(), 2);
  const std::string stale = store.path(3) + ".tmp", other = scratch / "notes.tmp";
  on_root([&] {
    std::ofstream(stale) << "half";
    std::ofstream(other) << "mine";
    std::ofstream(scratch / "step_x.h5") << "not a checkpoint";
  });

  write_state(store, 4);

  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_EQ(store.steps(), std::vector<std::int64_t>{4});
}

TEST(Checkpoint, a_continuation_that_was_given_up_does_not_come_back) {
  const SharedScratch scratch("superseded");
  const CheckpointStore store(Comm::world(), scratch.path(), 1);
  write_state(store, 30);

  write_state(store, 20);

  EXPECT_EQ(*store.newest(), store.path(20));
  EXPECT_TRUE(fs::exists(store.path(30) + ".superseded"));
}

TEST(Checkpoint, an_error_of_the_writer_leaves_nothing_behind) {
  const SharedScratch scratch("thrown");
  const CheckpointStore store(Comm::world(), scratch.path(), 2);
  write_state(store, 1);

  EXPECT_THROW(store.write(2, current_provenance(), [](Group&) { throw NumericalError("NaN"); }),
               NumericalError);
  Comm::world().barrier();

  EXPECT_EQ(store.steps(), std::vector<std::int64_t>{1});
  EXPECT_FALSE(fs::exists(store.path(2) + ".tmp"));
}

/// A disk of a few MB, where this process may mount one.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    const auto comm = Comm::world();
    if (comm.is_root()) {
      fs::create_directories(path_);
      mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=3m") == 0;
    }
    mounted_ = comm.broadcast(mounted_);
  }
  ~SmallDisk() {
    Comm::world().barrier();
    // Lazily: after a failed write the ranks keep the file open.
    if (mounted_ && Comm::world().is_root()) ::umount2(path_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST(Checkpoint, a_full_disk_is_an_error_on_all_ranks_and_the_next_one_that_fits_is_written) {
  const SharedScratch scratch("full_disk");
  const SmallDisk disk(scratch / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "may not mount a small tmpfs here";
  const CheckpointStore store(Comm::world(), scratch / "disk/checkpoints", 5);
  write_state(store, 1);

  const auto message = message_of<ResourceError>([&] { write_state(store, 2, 1'000'000); });

  EXPECT_TRUE(contains(message, "step_000000000002.h5.tmp: cannot write ")) << message;
  EXPECT_EQ(*store.newest(), store.path(1));
  EXPECT_FALSE(fs::exists(store.path(2) + ".tmp"));
  write_state(store, 3);
  EXPECT_EQ(store.steps(), (std::vector<std::int64_t>{1, 3}));
}

TEST(Checkpoint, nonsense_is_refused) {
  const SharedScratch scratch("nonsense");
  const auto comm = Comm::world();

  EXPECT_THROW(CheckpointStore(comm, scratch.path(), 0), InputError);
  EXPECT_THROW(write_state(CheckpointStore(comm, scratch.path(), 1), -1), InputError);
  EXPECT_THROW(verify_checkpoint(comm, scratch / "absent.h5"), InputError);
  EXPECT_THROW(verify_checkpoint(comm, scratch.path()), InputError);
}

}  // namespace
}  // namespace quintet::hdf5
