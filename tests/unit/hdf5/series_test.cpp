#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/series_bytes.hpp"
#include "io/log/error.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::hdf5 {
namespace {

const Description frames{"angstrom", {"time", "atom", "xyz"}, "Positions."};

/// Entry number i of a series with n values an entry.
std::vector<double> entry(int i, std::uint64_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1000.0 * i);
  return values;
}

std::vector<double> entries(int count, std::uint64_t n) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) {
    const auto one = entry(i, n);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

TEST(Series, entries_from_one_rank_and_from_all_are_the_same_data) {
  const SharedScratch scratch("series");
  const auto comm = Comm::world();
  constexpr std::uint64_t n = 17;
  const UnevenRows mine(comm, n);
  auto file = File::create(comm, scratch / "a.h5");
  auto whole = file.root().series<double>("whole", {n, 3}, frames);
  auto parts = file.root().series<double>("parts", {n, 3}, frames);

  for (int i = 0; i < 30; ++i) {
    const auto values = entry(i, 3 * n);
    whole.append(std::span<const double>(comm.is_root() ? values : std::vector<double>{}));
    parts.append_distributed(std::span<const double>(values).subspan(3 * mine.offset, 3 * mine.count),
                             mine.offset);
  }

  EXPECT_EQ(whole.size(), 30u);
  EXPECT_EQ(file.root().shape("parts"), (Shape{30, n, 3}));
  EXPECT_EQ(file.root().read<double>("whole"), entries(30, 3 * n));
  EXPECT_EQ(file.root().read<double>("parts"), entries(30, 3 * n));
  EXPECT_EQ(file.root().member_text_attribute("parts", "units"), "angstrom");
}

TEST(Series, entries_appended_together_are_those_appended_one_by_one) {
  const SharedScratch scratch("together");
  const auto comm = Comm::world();
  auto file = File::create(comm, scratch / "a.h5");
  auto rows = file.root().series<double>("rows", {17, 3}, frames);
  auto numbers = file.root().series<double>("numbers", {}, frames);
  const auto values = entries(30, 51), given = comm.is_root() ? values : std::vector<double>{};
  const std::span<const double> all(given);
  const auto part = [&](std::size_t first, std::size_t count) {
    return comm.is_root() ? all.subspan(first, count) : all;
  };

  rows.append_entries(1, part(0, 51));
  rows.append_entries(0, part(0, 0));
  rows.append_entries(22, part(51, 22 * 51));
  rows.append_entries(7, part(23 * 51, 7 * 51));
  numbers.append_entries(1000, part(0, 1000));
  numbers.append(part(1000, 1));
  const auto text = message_of<InputError>([&] { rows.append_entries(2, part(0, 51)); });

  EXPECT_EQ(rows.size(), 30u);
  EXPECT_EQ(file.root().read<double>("rows"), values);
  EXPECT_EQ(file.root().read<double>("numbers"), std::vector<double>(values.begin(), values.begin() + 1001));
  EXPECT_NE(text.find("51 values given for 2 entries of shape"), std::string::npos) << text;
}

TEST(Series, whole_chunks_are_what_the_file_grows_by) {
  const SharedScratch scratch("chunks");
  const auto comm = Comm::self();
  const auto size_with = [&](const Shape& entry, int n) {
    const auto path = scratch / fmt::format("{}_{}_{}.h5", comm.rank(), entry.size(), n);
    auto file = File::create(comm, path);
    auto series = file.root().series<double>("numbers", entry, frames);
    std::size_t n_values = 1;
    for (const auto extent : entry) n_values *= extent;
    const std::vector<double> values(n_values, 1.0);
    for (int i = 0; i < n; ++i) series.append(std::span<const double>(values));
    file.close();
    return static_cast<double>(std::filesystem::file_size(path));
  };
  if (!Comm::world().is_root()) return;
  for (const Shape& entry : {Shape{}, Shape{192}, Shape{64, 300}})
    for (const auto& [few, many] : {std::pair{1, 2}, std::pair{1, 1500}})
      EXPECT_NEAR(size_with(entry, many) - size_with(entry, few),
                  series_bytes(entry, 8, many) - series_bytes(entry, 8, few),
                  0.02 * series_bytes(entry, 8, many));
  EXPECT_EQ(series_bytes({}, 8, 1024), 8192);
  EXPECT_EQ(series_bytes({}, 8, 1025), 16384);
  EXPECT_EQ(series_bytes({192}, 8, 1), 42 * 192 * 8);
}

TEST(Series, a_series_is_cut_and_continued_after_the_file_was_opened_again) {
  const SharedScratch scratch("continued");
  const auto comm = Comm::world();
  {
    auto file = File::create(comm, scratch / "a.h5");
    auto time = file.root().series<double>("time", {}, {"ps", {"time"}, "Time."});
    auto pair = file.root().series<double>("pair", {2}, {});
    for (int i = 0; i < 1030; ++i) {
      const auto values = entry(i, 2);
      time.append(std::span<const double>(values).first(1));
      if (i < 5) pair.append(std::span<const double>(values));
    }
  }
  auto file = File::open_for_update(comm, scratch / "a.h5");
  auto time = file.root().series<double>("time", {}, {});
  auto pair = file.root().series<double>("pair", {2}, {});

  time.truncate(3);
  pair.truncate(0);
  time.append(std::span<const double>(entry(3, 1)));
  pair.append(std::span<const double>(entry(0, 2)));

  EXPECT_EQ(time.size(), 4u);
  EXPECT_EQ(file.root().read<double>("time"), entries(4, 1));
  EXPECT_EQ(file.root().read<double>("pair"), entries(1, 2));
  EXPECT_EQ(file.root().member_text_attribute("time", "units"), "ps");
}

TEST(Series, other_entries_than_those_there_are_refused) {
  const SharedScratch scratch("refused");
  const auto comm = Comm::world();
  auto file = File::create(comm, scratch / "a.h5");
  auto series = file.root().series<double>("x", {4, 3}, frames);
  const std::vector<double> five(5), twelve(12);
  file.root().write("fixed", std::span<const double>(twelve), {1, 4, 3}, frames);

  const auto shape = message_of<InputError>([&] { (void)file.root().series<double>("x", {5, 3}, frames); });
  const auto type = message_of<InputError>([&] { (void)file.root().series<float>("x", {4, 3}, frames); });
  const auto fixed = message_of<InputError>([&] {
    (void)file.root().series<double>("fixed", {4, 3}, frames);
  });
  const auto count = message_of<InputError>([&] { series.append(std::span<const double>(five)); });
  const auto rows =
      message_of<InputError>([&] { series.append_distributed(std::span<const double>(twelve), 1); });
  const auto longer = message_of<InputError>([&] { series.truncate(1); });

  EXPECT_TRUE(contains(shape, "has shape [0, 4, 3], but a series with entries of shape [5, 3]")) << shape;
  EXPECT_TRUE(contains(type, "holds float64, but a series of float32")) << type;
  EXPECT_TRUE(contains(fixed, "/fixed: has shape")) << fixed;
  EXPECT_TRUE(contains(count, "5 values given for an entry of shape [4, 3]")) << count;
  EXPECT_TRUE(contains(rows, "within an entry of shape [4, 3]")) << rows;
  EXPECT_TRUE(contains(longer, "has 0 entries; it cannot be cut to 1")) << longer;
  EXPECT_EQ(series.size(), 0u);
}

TEST(Series, entries_larger_than_a_chunk_and_entries_without_values_are_kept) {
  const SharedScratch scratch("large");
  const auto comm = Comm::world();
  constexpr std::uint64_t n = 2'500'001;  // 20 MB an entry: more than one chunk holds
  auto file = File::create(comm, scratch / "a.h5");
  auto large = file.root().series<double>("large", {n}, {});
  auto empty = file.root().series<double>("empty", {0, 3}, {});
  const auto values = entry(2, n);

  large.append(std::span<const double>(values));
  empty.append(std::span<const double>());
  empty.append_distributed(std::span<const double>(), 0);

  EXPECT_EQ(file.root().read<double>("large"), values);
  EXPECT_EQ(file.root().shape("empty"), (Shape{2, 0, 3}));
}

/// What of these members of a group is attached to scales.
std::vector<std::string> attached(const Group& group, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const auto& name : names)
    if (group.has_member_attribute(name, "DIMENSION_LIST")) found.push_back(name);
  return found;
}

TEST(Scales, what_has_a_coordinate_along_each_axis_is_attached_at_a_flush) {
  using Names = std::vector<std::string>;
  const SharedScratch scratch("scales");
  const auto comm = Comm::world();
  const std::vector<double> values(3, 1.0);
  {
    auto file = File::create(comm, scratch / "a.h5");
    auto table = file.root().group("table");
    auto energy = table.series<double>("energy", {}, {"eV", {"sample"}, "Before the times."});
    auto time = table.series<double>("time", {}, {"ps", {"sample"}, "Times."});
    (void)table.series<double>("waves", {3}, {"1", {"sample", "wave"}, "An axis without a coordinate."});
    table.write("x", std::span<const double>(values), {3}, {"1", {"x"}, "A coordinate."});
    (void)table.series<double>("field", {3}, {"1", {"sample", "x"}, "A field."});
    table.write("point", std::span<const double>(values.data(), 1), {}, {"1", {}, "A number."});
    EXPECT_EQ(attached(table, {"energy"}), Names{});

    file.flush();

    EXPECT_EQ(attached(table, {"energy", "time", "waves", "x", "field", "point"}),
              (Names{"energy", "field"}));
    EXPECT_EQ(table.member_text_attribute("time", "CLASS"), "DIMENSION_SCALE");
    EXPECT_EQ(table.member_text_attribute("time", "NAME"), "time");
    EXPECT_FALSE(table.has_member_attribute("energy", "CLASS"));
    energy.append(std::span<const double>(values.data(), 1));
    time.append(std::span<const double>(values.data(), 1));
  }
  auto file = File::open_for_update(comm, scratch / "a.h5");  // as a restart does
  auto table = file.root().group("table");
  (void)table.series<double>("later", {}, {"eV", {"sample"}, "A column that the file lacked."});
  table.write("x", std::span<const double>(values), {3}, {"1", {"x"}, "The coordinate, written again."});
  table.write("curve", std::span<const double>(values), {3}, {"1", {"x"}, "A curve over it."});
  file.close();
  const auto closed = File::open(comm, scratch / "a.h5");
  const auto of_table = closed.root().open_group("table");
  EXPECT_EQ(attached(of_table, {"energy", "later", "curve", "x"}), (Names{"energy", "later", "curve"}));
  EXPECT_EQ(of_table.member_text_attribute("x", "CLASS"), "DIMENSION_SCALE");
  EXPECT_EQ(of_table.read<double>("energy"), std::vector<double>{1.0});
}

}  // namespace
}  // namespace quintet::hdf5
