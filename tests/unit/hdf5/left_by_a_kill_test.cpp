#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "tests/unit/hdf5/foreign.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"
#include "tests/unit/hdf5/small_files.hpp"

// What is on the disk while a file is being written, and what is made of it.

namespace quintet::hdf5 {
namespace {

std::vector<double> rows(std::uint64_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The rank that has values to give where one gives all.
std::span<const double> on_root_only(const Comm& comm, const std::vector<double>& values) {
  return comm.is_root() ? std::span<const double>(values) : std::span<const double>();
}

TEST(LeftByAKill, between_flushes_the_disk_has_the_file_of_the_last_one) {
  const SharedScratch scratch("between_flushes");
  const auto comm = Comm::world();
  const auto path = scratch / "a.h5";
  constexpr std::uint64_t few = 10,
                          many = 60'000;  // whose chunks need more metadata than HDF5's cache would hold
  auto file = File::create(comm, path);
  file.root().make_growing<double>("x", {few}, 0, {1}, {});
  const std::uint64_t n = comm.is_root() ? few : 0;
  file.root().write_box<double>("x", on_root_only(comm, rows(few)), {{0}, {n}});
  file.flush();
  const std::string flushed = bytes_of(path);

  file.root().resize("x", {many});
  comm.barrier();
  const std::string later = bytes_of(path).substr(0, flushed.size());
  if (comm.is_root()) std::filesystem::copy_file(path, scratch / "copy.h5");
  comm.barrier();

  EXPECT_TRUE(later == flushed);
  EXPECT_EQ(File::open(comm, scratch / "copy.h5").root().read<double>("x"), rows(few));
  EXPECT_EQ(damage(comm, scratch / "copy.h5"), std::nullopt);
}

TEST(LeftByAKill, rows_without_their_data_do_not_count) {
  const SharedScratch scratch("without_data");
  const auto comm = Comm::world();
  if (comm.is_root()) foreign::write_gap(scratch / "a.h5");
  comm.barrier();
  {
    const auto file = File::open(comm, scratch / "a.h5");

    EXPECT_EQ(file.root().shape("x"), (Shape{30}));
    EXPECT_EQ(file.root().whole_rows("x"), 10u);
    EXPECT_EQ(file.root().read_rows<double>("x", 0, 10), rows(10));
    EXPECT_TRUE(contains(message_of<InputError>([&] { (void)file.root().read_rows<double>("x", 5, 10); }),
                         "the dataset is truncated or corrupt"));
    EXPECT_TRUE(contains(message_of<InputError>([&] { (void)file.root().read<double>("x"); }),
                         "the dataset is truncated or corrupt"));
  }
  auto file = File::open_for_update(comm, scratch / "a.h5");
  auto x = file.root().series<double>("x", {}, {});
  EXPECT_EQ(x.size(), 10u);
  const std::vector<double> more{11, 12, 13};
  x.append_entries<double>(3, on_root_only(comm, more));
  file.close();

  EXPECT_EQ(File::open(comm, scratch / "a.h5").root().read<double>("x"), rows(13));
}

TEST(LeftByAKill, a_file_of_one_rank_and_of_an_older_version_is_gone_on_with_on_any) {
  const SharedScratch scratch("older");
  const auto comm = Comm::world();
  if (comm.is_root())
    foreign::write_late_series(scratch / "a.h5");  // 20 rows in chunks of 10 that come when written
  comm.barrier();
  auto file = File::open_for_update(comm, scratch / "a.h5");
  auto x = file.root().series<double>("x", {}, {});
  auto packed = file.root().series<double>("packed", {}, {});
  auto wide = file.root().series<double>("wide", {6}, {});
  const UnevenRows mine(comm, 6);
  const auto all = rows(120);

  for (std::uint64_t i = 20; i < 45; ++i)
    for (auto* const series : {&x, &packed}) series->append<double>(on_root_only(comm, {all[i]}));
  for (std::uint64_t i = 2; i < 20; ++i)
    wide.append_distributed<double>(std::span(all).subspan(6 * i + mine.offset, mine.count), mine.offset);
  file.close();

  const auto found = File::open(comm, scratch / "a.h5");
  EXPECT_EQ(found.root().read<double>("x"), rows(45));
  EXPECT_EQ(found.root().read<double>("packed"), rows(45));
  EXPECT_EQ(found.root().read<double>("wide"), all);
}

TEST(LeftByAKill, what_is_flushed_grows_and_is_flushed_again) {
  const SharedScratch scratch("flushed_again");
  const auto comm = Comm::world();
  auto file = File::create(comm, scratch / "a.h5");
  auto x = file.root().series<double>("x", {4000}, {});  // a chunk for two rows
  auto time = file.root().series<double>("time", {}, {});
  const auto row = rows(4000);

  for (std::uint64_t i = 0; i < 40; ++i) {
    x.append<double>(on_root_only(comm, row));
    time.append<double>(on_root_only(comm, {static_cast<double>(i)}));
    if (i % 8 == 7) file.hand_over();
  }
  file.close();

  const auto found = File::open(comm, scratch / "a.h5");
  EXPECT_EQ(found.root().whole_rows("x"), 40u);
  EXPECT_EQ(found.root().read_rows<double>("x", 39, 1), row);
}

TEST(FullDisk, is_an_error_before_anything_has_changed) {
  const SharedScratch scratch("full_disk");
  const auto comm = Comm::world();
  auto file = File::create(comm, scratch / "a.h5");
  auto x = file.root().series<double>("x", {50'000}, {});
  const auto row = rows(50'000);
  x.append<double>(on_root_only(comm, row));
  file.flush();
  std::string message;
  {
    const SmallFiles limit(std::filesystem::file_size(scratch / "a.h5") + 1000);
    message = message_of<ResourceError>([&] { x.append<double>(on_root_only(comm, row)); });
    comm.barrier();
  }
  EXPECT_TRUE(contains(message, "a.h5: cannot write")) << message;
  EXPECT_EQ(x.size(), 1u);

  x.append<double>(on_root_only(comm, row));  // there is room again
  file.close();

  const auto found = File::open(comm, scratch / "a.h5");
  EXPECT_EQ(found.root().read_rows<double>("x", 1, 1), row);
}

TEST(FullDisk, a_flush_without_room_fails_on_all_ranks_and_leaves_what_was_flushed) {
  const SharedScratch scratch("full_flush");
  const auto comm = Comm::world();
  std::string message;
  {
    auto file = File::create(comm, scratch / "a.h5");
    file.root().write<double>("x", on_root_only(comm, rows(10)), {10}, {});
    file.flush();
    const SmallFiles limit(std::filesystem::file_size(scratch / "a.h5") + 1000);
    comm.barrier();
    for (int i = 0; i < 200; ++i) static_cast<void>(file.root().group(fmt::format("group_{}", i)));

    message = message_of<ResourceError>([&] { file.flush(); });
  }
  comm.barrier();

  EXPECT_TRUE(contains(message, "a.h5: cannot write")) << message;
  EXPECT_EQ(File::open(comm, scratch / "a.h5").root().read<double>("x"), rows(10));
}

}  // namespace
}  // namespace quintet::hdf5
