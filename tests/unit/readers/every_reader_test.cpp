#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "tests/unit/particles/files/files_support.hpp"
#include "tests/unit/readers/hdf5_faults.hpp"
#include "tests/unit/readers/reader_rows.hpp"

// What holds for every reader of the suite: what is wrong with a file is refused with its name, or does not
// matter to what is read.

namespace quintet::readers {
namespace {

namespace fs = std::filesystem;
using files::content_of;
using files::put;

std::vector<Row> all_rows() {
  auto rows = atoms_rows();
  for (const auto& more : {matrix_rows(), field_rows()}) rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

/// What a reader says of a file; nothing where it refuses it, which must name the file (or one beside it).
std::optional<Answer> answer(const Row& row, const std::string& path) {
  try {
    return row.read(path);
  } catch (const InputError& error) {
    const auto folder = fs::path(path).parent_path().string();
    EXPECT_NE(std::string(error.what()).find(folder), std::string::npos) << row.name << ": " << error.what();
    return std::nullopt;
  } catch (const std::exception& error) {
    ADD_FAILURE() << row.name << ": " << path << ": no InputError: " << error.what();
    return std::nullopt;
  }
}

struct EveryReader : ::testing::TestWithParam<Row> {
  Scratch scratch{"every_reader"};
  const Row& row = GetParam();
  std::string path = scratch / row.file;
  std::string content;
  Answer whole;

  void SetUp() override {
    row.make(path);
    content = content_of(path);
    whole = row.read(path);
    ASSERT_FALSE(whole.values.empty());
  }
  /// Of other bytes: refused, or the same values.
  bool is_refused(const std::string& bytes, const std::string& what) {
    put(path, bytes);
    const auto found = answer(row, path);
    const bool told =
        found && found->reading.find("is whole, though it has no line feed") != std::string::npos;
    if (found && !told) {
      EXPECT_EQ(found->values, whole.values) << row.name << ": " << what;
    }
    return !found;
  }
};

TEST_P(EveryReader, refuses_an_empty_file) {
  for (const std::string nothing : {"", "\n", " \n\n", std::string(64, '\0').c_str()})
    EXPECT_TRUE(is_refused(nothing, "nothing"));
  EXPECT_TRUE(is_refused(std::string(4096, '\0'), "zeros"));
}

TEST_P(EveryReader, refuses_a_file_that_is_cut_off) {
  constexpr std::size_t cuts = 60;
  std::size_t refused = 0, n = 0;
  for (std::size_t i = 1; i < cuts; ++i) {
    const auto at = i * content.size() / cuts;
    // A text that ends behind a line may be whole, where no number of lines is said.
    if (at == 0 || (row.is_text && (content[at] == '\n' || content[at - 1] == '\n'))) continue;
    ++n;
    if (row.counts_nothing) {
      put(path, content.substr(0, at));
      refused += answer(row, path) ? 0 : 1;
      continue;
    }
    refused +=
        is_refused(content.substr(0, i * content.size() / cuts), fmt::format("cut at {} of {}", i, cuts));
  }
  EXPECT_GE(refused, n * 3 / 4) << row.name;
}

TEST_P(EveryReader, takes_a_file_of_another_name_for_what_it_is_or_not_at_all) {
  for (const std::string name : {"a.bin", "a.xyz", "a.data", "a.cif", "a.h5", "a.nc", "a.npz", "a.mtx",
                                 "a.csc", "a.dp", "a.yaml", "a.txt", "POSCAR.1", "OUTCAR.1"}) {
    put(scratch / name, content);
    const auto found = answer(row, scratch / name);
    if (found) {
      EXPECT_EQ(found->values, whole.values) << row.name << " as " << name;
    }
  }
}

TEST_P(EveryReader, takes_no_file_of_another_kind) {
  for (const auto& other : all_rows()) {
    if (other.family == row.family) continue;
    // A file of modes holds the mask of its sea with its axes: it is one of a mask, too.
    if (row.name == "mask" && other.name == "modes") continue;
    fs::create_directories(scratch / "other");
    other.make(scratch / ("other/" + other.file));
    fs::create_directories(scratch / "renamed");
    for (const auto& place : {scratch / ("other/" + other.file), scratch / ("renamed/" + row.file)}) {
      put(place, content_of(scratch / ("other/" + other.file)));
      EXPECT_FALSE(answer(row, place)) << row.name << " took a file of " << other.name << " at " << place;
    }
    fs::remove_all(scratch / "other");
    fs::remove_all(scratch / "renamed");
  }
}

/// Begin and end of every number of a text.
std::vector<std::pair<std::size_t, std::size_t>> numbers_in(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  const auto is_in = [&](std::size_t i, std::string_view set) {
    return i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) != 0 ||
                               set.find(text[i]) != std::string_view::npos);
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool at_front = i == 0 || std::string_view(" \n\":=[").find(text[i - 1]) != std::string_view::npos;
    if (!at_front || !is_in(i, "+-.")) continue;
    std::size_t end = i;
    while (is_in(end, "+-.eE")) ++end;
    found.emplace_back(i, end);
    i = end;
  }
  return found;
}

TEST_P(EveryReader, reads_a_number_to_its_last_character) {
  if (!row.is_text) GTEST_SKIP() << "no text";
  const auto numbers = numbers_in(content);
  ASSERT_GE(numbers.size(), 4u);
  std::size_t refused = 0, n = 0;
  const auto give = [&](std::size_t begin, std::size_t end, const std::string& word) {
    refused += is_refused(content.substr(0, begin) + word + content.substr(end), word);
    ++n;
  };
  for (const auto& [begin, end] : numbers) {
    for (const std::string tail : {"abc", "x", "e", "e+", ",5", "-101x"})
      give(begin, end, content.substr(begin, end - begin) + tail);
    for (const std::string word : {"nan(", "0x1p3", "1.5.2", "--1", "1e999x"}) give(begin, end, word);
  }
  EXPECT_GT(refused, n / 2) << row.name;
}

TEST_P(EveryReader, believes_no_member_of_another_type) {
  if (!content.starts_with("\x89HDF")) GTEST_SKIP() << "no HDF5";
  int n = 0;
  for (const auto& place : places_of(path))
    for (const auto fault : {Fault::absent, Fault::type, Fault::fraction}) {
      // A file of its own each time: the netCDF library keeps those open that it cannot read.
      const auto folder = scratch / fmt::format("damaged_{}", n);
      fs::create_directories(folder);
      const auto damaged = put(folder + "/" + row.file, content);
      const bool is_damaged = damage(damaged, place, fault);
      const auto found = is_damaged ? answer(row, damaged) : std::nullopt;
      fs::remove_all(folder);
      ++n;
      if (!found) continue;
      const auto what = fmt::format("{}: {} of {}", row.name,
                                    fault == Fault::absent ? "absence"
                                    : fault == Fault::type ? "another type"
                                                           : "fractions",
                                    place.text());
      const bool is_optional = std::any_of(row.optional.begin(), row.optional.end(), [&](const auto& name) {
        return place.text() == name || (name.ends_with('/') && place.text().starts_with(name));
      });
      const bool told = is_optional || (fault == Fault::absent && found->reading != whole.reading);
      EXPECT_TRUE(found->values == whole.values || told) << what << "\n" << found->values << whole.values;
    }
  EXPECT_GT(n, 5);
}

INSTANTIATE_TEST_SUITE_P(Of, EveryReader, ::testing::ValuesIn(all_rows()), [](const auto& info) {
  std::string name;
  for (const char c : info.param.name + "_" + info.param.file)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace quintet::readers
