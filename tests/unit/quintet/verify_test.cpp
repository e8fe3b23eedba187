#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "apps/quintet/verify/file_check.hpp"
#include "apps/quintet/verify/tables.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/support/scratch.hpp"

/// quintet verify: what is wrong with a file is found and named, and cut.
namespace quintet::verify {
namespace {

/// A table of three columns; the group's name is that of the file's schema-less kind.
void write_table(const std::string& path, const std::vector<double>& steps,
                 const std::vector<double>& energy) {
  auto file = hdf5::File::create(Comm::self(), path);
  auto group = file.root().group("history");
  auto step = group.series<double>("step", {}, {"1", {"sample"}, "Steps done"});
  auto value = group.series<double>("energy", {}, {"1", {"sample"}, "Energy"});
  auto pair = group.series<double>("momentum", {2}, {"1", {"sample", "xy"}, "Momentum"});
  for (const double s : steps) {
    step.append<double>(std::vector<double>{s});
    pair.append<double>(std::vector<double>{s, -s});
  }
  for (const double e : energy) value.append<double>(std::vector<double>{e});
  file.close();
}

void flip(const std::string& path, std::uint64_t at, int bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const char byte = file.get() ^ (1 << bit);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

TEST(Verify, a_whole_table_is_whole) {
  const Scratch scratch("verify_whole");
  write_table(scratch / "run.h5", {0, 10, 20}, {1, 2, 3});
  const auto check = check_file(scratch / "run.h5");
  EXPECT_EQ(check.verdict, Verdict::whole) << check.what;
  ASSERT_EQ(check.tables.size(), 1U);
  EXPECT_EQ(check.tables[0].rows, 3U);
  EXPECT_EQ(check.tables[0].key, "history/step");
  EXPECT_EQ(check.what, "history 3");
}

TEST(Verify, rows_of_zeros_are_named) {
  const Scratch scratch("verify_zeros");
  write_table(scratch / "run.h5", {0, 10, 20, 0, 0}, {1, 2, 3, 0, 0});
  const auto check = check_file(scratch / "run.h5");
  EXPECT_EQ(check.verdict, Verdict::damaged);
  EXPECT_NE(check.what.find("row 3: history/step does not rise: a row of zeros"), std::string::npos)
      << check.what;
  EXPECT_EQ(check.tables[0].whole, 3U);
}

TEST(Verify, columns_of_unlike_length_and_steps_that_fall_are_named) {
  const Scratch scratch("verify_unlike");
  write_table(scratch / "short.h5", {0, 10, 20}, {1, 2});
  EXPECT_NE(check_file(scratch / "short.h5").what.find("history/energy has 2 of 3 rows"), std::string::npos);
  write_table(scratch / "falls.h5", {0, 10, 5}, {1, 2, 3});
  EXPECT_NE(check_file(scratch / "falls.h5").what.find("after 10 comes 5"), std::string::npos);
}

TEST(Verify, what_is_not_whole_is_cut) {
  const Scratch scratch("verify_cut");
  write_table(scratch / "run.h5", {0, 10, 20, 0}, {1, 2, 3});
  {
    auto file = hdf5::File::open_for_update(Comm::self(), scratch / "run.h5");
    const auto tables = tables_of(file);
    ASSERT_EQ(tables.size(), 1U);
    EXPECT_EQ(tables[0].whole, 3U);
    cut(file, tables[0], 2);
  }
  const auto check = check_file(scratch / "run.h5");
  EXPECT_EQ(check.verdict, Verdict::whole) << check.what;
  const auto file = hdf5::File::open(Comm::self(), scratch / "run.h5");
  EXPECT_EQ(file.root().read<double>("history/step"), (std::vector<double>{0, 10}));
  EXPECT_EQ(file.root().read<double>("history/energy"), (std::vector<double>{1, 2}));
  EXPECT_EQ(file.root().shape("history/momentum"), (hdf5::Shape{2, 2}));
}

TEST(Verify, a_bit_that_flips_anywhere_in_a_sealed_file_is_found) {
  const Scratch scratch("verify_flip");
  const std::string path = scratch / "run.h5";
  write_table(path, {0, 10, 20}, {1, 2, 3});
  hdf5::seal(Comm::self(), path);
  EXPECT_EQ(check_file(path).verdict, Verdict::whole);
  EXPECT_TRUE(check_file(path).has_seal);
  const auto bytes = std::filesystem::file_size(path) - hdf5::seal_bytes;
  int found = 0, tried = 0;
  for (std::uint64_t at = 0; at < bytes; at += bytes / 97 + 1) {
    flip(path, at, at % 8);
    found += check_file(path).verdict == Verdict::damaged ? 1 : 0;
    EXPECT_THROW((void)hdf5::open_verified(Comm::self(), path), InputError) << at;
    flip(path, at, at % 8);
    ++tried;
  }
  EXPECT_GT(tried, 50);
  EXPECT_EQ(found, tried);
  EXPECT_EQ(check_file(path).verdict, Verdict::whole);
}

TEST(Verify, a_seal_goes_when_a_file_is_changed) {
  const Scratch scratch("verify_unseal");
  const std::string path = scratch / "run.h5";
  write_table(path, {0, 10, 20}, {1, 2, 3});
  const auto bytes = std::filesystem::file_size(path);
  hdf5::seal(Comm::self(), path);
  EXPECT_EQ(hdf5::unseal(Comm::self(), path), std::nullopt);
  EXPECT_EQ(std::filesystem::file_size(path), bytes);
  hdf5::seal(Comm::self(), path);
  { const auto file = hdf5::File::open_for_update(Comm::self(), path); }
  EXPECT_FALSE(hdf5::is_sealed(Comm::self(), path));
  hdf5::seal(Comm::self(), path);
  flip(path, bytes - 1, 3);
  EXPECT_TRUE(hdf5::unseal(Comm::self(), path).has_value());
}

TEST(Verify, what_was_put_aside_is_not_judged) {
  const Scratch scratch("verify_aside");
  for (const char* name : {"run.damaged.h5", "step_000000000010.h5.superseded", "step_000000000010.h5.tmp"}) {
    std::ofstream(scratch / name) << "rubbish";
    EXPECT_EQ(check_file(scratch / name).verdict, Verdict::put_aside) << name;
  }
  for (const char* name : {"run.h5", "my.tmpl.h5"}) {
    std::ofstream(scratch / name) << "rubbish";
    EXPECT_EQ(check_file(scratch / name).verdict, Verdict::damaged) << name;
  }
}

TEST(Verify, only_names_of_ours_are_judged) {
  for (const char* name : {"run.h5", "model.dp", "run.damaged.h5", "run.h5.before_repair", "run.h5.tmp12",
                           "step_000000000010.h5.superseded"})
    EXPECT_TRUE(is_known(name)) << name;
  for (const char* name : {"run.h5.sha256", "notes.h5.txt", "a.h5ad", "my.dp.yaml", "x.tmp"})
    EXPECT_FALSE(is_known(name)) << name;
}

TEST(Verify, what_a_living_run_writes_to_is_not_judged) {
  const Scratch scratch("verify_in_use");
  std::filesystem::create_directory(scratch / "checkpoints");
  write_table(scratch / "run.h5", {0, 10, 20}, {1, 2});
  write_table(scratch / "old.h5", {0, 10, 20}, {1, 2, 3});
  hdf5::seal(Comm::self(), scratch / "old.h5");
  std::ofstream(scratch / "checkpoints/step_000000000010.h5") << "rubbish";
  EXPECT_EQ(check_file(scratch / "run.h5", true).verdict, Verdict::in_use);
  EXPECT_EQ(check_file(scratch / "run.h5").verdict, Verdict::damaged);
  EXPECT_EQ(check_file(scratch / "old.h5", true).verdict, Verdict::whole);
  EXPECT_EQ(check_file(scratch / "checkpoints/step_000000000010.h5", true).verdict, Verdict::damaged);
}

TEST(Verify, a_row_that_has_changed_is_named_by_its_checksum) {
  const Scratch scratch("verify_checksum");
  const std::string path = scratch / "run.h5";
  write_table(path, {0, 10, 20}, {1, 2, 3});
  {
    auto file = hdf5::File::open_for_update(Comm::self(), path);
    auto group = file.root().group("history");
    auto sums = group.series<std::uint64_t>("row_checksum", {}, {"1", {"sample"}, "Checksum of the row"});
    for (const double step : {0.0, 10.0, 20.0}) {
      hdf5::RowChecksum sum;
      sum.add<double>("history/step", std::vector<double>{step});
      sum.add<double>("history/momentum", std::vector<double>{step, -step});
      sums.append<std::uint64_t>(std::vector<std::uint64_t>{sum.value()});
    }
    hdf5::set_covered(group, "row_checksum", {"history/step", "history/momentum"});
  }
  EXPECT_EQ(check_file(path).verdict, Verdict::whole) << check_file(path).what;
  {
    auto file = hdf5::File::open_for_update(Comm::self(), path);
    file.root().write_box<double>("history/momentum", std::vector<double>{7}, {{1, 1}, {1, 1}});
  }
  const auto check = check_file(path);
  EXPECT_EQ(check.verdict, Verdict::damaged);
  EXPECT_EQ(check.what, "history: row 1 does not agree with its checksum");
}

}  // namespace
}  // namespace quintet::verify
