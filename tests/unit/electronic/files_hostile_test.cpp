#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/electronic/dense_twin.hpp"
#include "tests/unit/electronic/file_cases.hpp"

namespace quintet::electronic {
namespace {

/// A damaged file and what the message must say.
struct Case {
  std::string name, bytes;
  std::vector<std::string> says;
  std::string file = "bad.csr";
  std::optional<int> n_rows = std::nullopt;
  Triangle triangle = Triangle::both;
  MatrixFormat format = MatrixFormat::automatic;
};

void PrintTo(const Case& bad, std::ostream* out) { *out << bad.name; }

std::string line(int row, int column, const std::string& value) {
  return fmt::format("{:8d}{:8d}{:>23}\n", row, column, value);
}

std::string complex_line(int row, int column) {
  return fmt::format("{:8d}{:8d}{:>23}{:>23}\n", row, column, "0.10000000000000E+001",
                     "-0.50000000000000E+000");
}

/// 200 good diagonal elements, so that a bad one lies in another rank's share than the first.
std::string good_lines() {
  std::string text;
  for (int i = 1; i <= 200; ++i) text += line(i, i, "0.10000000000000E+001");
  return text;
}
std::string good_records() {
  std::string bytes;
  for (int i = 1; i <= 200; ++i) bytes += cp2k_record(i, i, 1);
  return bytes;
}

/// ELSI's file of a diagonal matrix of two rows, with one number replaced.
std::string elsi(std::size_t place, std::int32_t value) {
  std::vector<std::int32_t> numbers{170915, -910910, 0, 2, 4, 2, -910910, -910910, 0,
                                    0,      0,       0, 0, 0, 0, 0,       1,       2,  // columns
                                    1,      2};                                        // rows
  if (place < numbers.size()) numbers[place] = value;
  std::string bytes;
  for (const auto n : numbers) bytes += raw(n);
  return bytes + raw(1.0, 2.0);
}
constexpr std::size_t nowhere = 99;

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinite = std::numeric_limits<double>::infinity();

std::vector<Case> text_cases() {
  const auto good = good_lines();
  const std::string value = "0.10000000000000E+001";
  return {
      {"stars", good + "********" + line(1, 2, value).substr(8), {"bad.csr:201:", "'********'", "BINARY"}},
      {"star_value", good + line(1, 2, "***********************"), {"bad.csr:201:", "*****"}},
      {"index_zero", good + line(0, 2, value), {"bad.csr:201:", "row is 0", "from 1"}},
      {"index_negative", good + line(4, -2, value), {"bad.csr:201:", "column -2", "from 1"}},
      {"index_too_large",
       good + line(201, 1, value),
       {"bad.csr:201:", "row is 201", "200 rows"},
       "bad.csr",
       200},
      {"nan", good + line(1, 2, "NaN"), {"bad.csr:201:", "(row 1, column 2) is nan"}},
      {"infinite", good + line(1, 2, "Infinity"), {"bad.csr:201:", "is inf"}},
      {"overflow", good + line(1, 2, "0.1E+999"), {"bad.csr:201:", "is inf"}},
      {"no_number", good + line(1, 2, "0.1x"), {"bad.csr:201:", "'0.1x' is no number"}},
      {"no_integer", good + "1.5 2 0.3\n", {"bad.csr:201:", "'1.5' is no integer"}},
      {"cut_line", good + "       1       2   0.1000", {"cut off", "0.1000"}},
      {"cut_number", good + line(1, 2, value).substr(0, 37), {"cut off"}},
      {"two_columns", good + "       1       2\n" + good, {"bad.csr:201:", "row, column and value"}},
      {"complex", complex_line(1, 1) + complex_line(2, 2), {"bad.csr:1:", "complex"}},
      {"complex_touching",
       complex_line(10000000, 10000000) + complex_line(20000000, 20000000),
       {"bad.csr:1:", "complex"}},
      {"twice", good + line(7, 7, value), {"(row 7, column 7)", "twice", "7 and 201"}},
      {"upper_only", good + line(3, 9, value), {"only the upper triangle", "triangle: one"}},
      {"lower_only", good + line(9, 3, value), {"only the lower triangle", "triangle: one"}},
      {"not_one_triangle",
       good + line(9, 3, value) + line(3, 9, value),
       {"one triangle", "1 element above and 1 below"},
       "bad.csr",
       std::nullopt,
       Triangle::one},
      {"empty", "", {"is empty"}},
      {"blank", "\n\n\n", {"none of the matrix formats"}},
      {"blank_as_text", "\n\n\n", {"no elements"}, "bad.csr", {}, Triangle::both, MatrixFormat::cp2k_text},
      {"prose", "Dear colleague,\nplease find K enclosed.\n", {"none of the matrix formats"}},
      {"endless_line", "1 1 " + std::string(10000, '0'), {"none of the matrix formats"}},
      {"endless_later", good + std::string(10000, '7') + "\n", {"byte 8000", "text file"}},
      {"more_ranks_than_lines", "1 1 0\n1 1 x\n", {"bad.csr:2:", "'x' is no number"}},
  };
}

std::vector<Case> binary_cases() {
  const auto good = good_records();
  return {
      {"b_index_zero", good + cp2k_record(1, 0, 1), {"record 201", "column 0", "from 1"}},
      {"b_index_negative", good + cp2k_record(-5, 1, 1), {"record 201", "row is -5", "from 1"}},
      {"b_too_large", good + cp2k_record(201, 1, 1), {"record 201", "200 rows"}, "bad.csr", 200},
      {"b_nan", good + cp2k_record(1, 2, not_a_number), {"record 201", "nan"}},
      {"b_infinite", good + cp2k_record(1, 2, -infinite), {"record 201", "-inf"}},
      {"b_cut", good.substr(0, good.size() - 5), {"cut off", "199 records", "19 bytes of the next"}},
      {"b_shifted", good + raw(16) + cp2k_record(1, 1, 1) + std::string(20, '\0'), {"record 201", "between"}},
      {"b_complex", raw(24, 1, 1, 1.0, 0.5, 24) + raw(24, 2, 2, 1.0, 0.5, 24), {"complex"}},
      {"b_swapped",
       raw(0x10000000) + std::string(20, 'x'),
       {"byte order"},
       "bad.csr",
       {},
       Triangle::both,
       MatrixFormat::cp2k_binary},
      {"b_twice", good + cp2k_record(9, 9, 3), {"(row 9, column 9)", "twice", "9 and 201"}},
      {"b_upper_only", good + cp2k_record(9, 19, 3), {"only the upper triangle", "triangle: one"}},
  };
}

std::vector<Case> other_cases() {
  return {
      {"elsi_complex", elsi(2, 1), {"complex"}},
      {"elsi_kind", elsi(2, 7), {"header is damaged", "kind 7"}},
      {"elsi_rows", elsi(3, -2), {"header is damaged", "-2 rows"}},
      {"elsi_huge", elsi(3, 2000000000), {"cut off", "2000000000 rows"}},
      {"elsi_elements", elsi(5, 1), {"damaged"}},
      {"elsi_first_column", elsi(16, 2), {"column 1 begins at element 2"}},
      {"elsi_columns_descend", elsi(17, 0), {"column 2 begins at element 0"}},
      {"elsi_columns_beyond", elsi(17, 9), {"column 2 begins at element 9"}},
      {"elsi_row", elsi(19, 3), {"number 2", "row is 3", "2 rows"}},
      {"elsi_twice", elsi(17, 3).replace(4 * 19, 4, raw(1)), {"twice"}},
      {"few_elements", banner + "2000000000 2000000000 1\n1 1 1\n", {"2000000000 rows with 1 element"}},
      {"elsi_tail", elsi(nowhere, 0) + "x", {"damaged"}},
      {"mm_complex",
       "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n",
       {":3:", "complex", "imaginary part 1"}},
      {"mm_array_short",
       "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n",
       {"3 elements", "cut off"}},
      {"mm_array_long",
       "%%MatrixMarket matrix array real symmetric\n2 2\n1\n0\n0\n1\n",
       {"4 elements", "says 3", "damaged"}},
      {"mm_array_pairs", "%%MatrixMarket matrix array real general\n1 1\n1 1\n", {":3:", "one value"}},
      {"mm_array_word",
       "%%MatrixMarket matrix array real general\n1 1\n0x1\n",
       {":3:", "'0x1' is no number"}},
      {"mm_unknown_kind", "%%MatrixMarket matrix vector real general\n1 1\n1\n", {":1:", "vector"}},
      {"mm_skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1\n", {":1:", "skew"}},
      {"mm_pattern", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", {":1:", "pattern"}},
      {"mm_banner", "%%MatrixMarket\n1 1 1\n1 1 1\n", {":1:", "expected"}},
      {"mm_oblong", banner + "2 3 1\n1 1 1\n", {":2:", "2 rows and 3 columns"}},
      {"mm_negative", banner + "% a comment\n-2 -2 1\n1 1 1\n", {":3:", "-2 rows"}},
      {"mm_no_size", banner + "% a comment\n", {"cut off", "rows, columns and elements"}},
      {"mm_short", banner + "2 2 3\n1 1 1\n2 2 1\n", {"cut off", "2 elements", "says 3"}},
      {"mm_long", banner + "2 2 1\n1 1 1\n2 2 1\n", {"damaged", "2 elements", "says 1"}},
      {"mm_index", banner + "2 2 2\n1 1 1\n2 3 1\n", {":4:", "column 3", "2 rows"}},
      {"mm_no_end", banner + "1 1 1\n1 1 0.12", {"cut off", "line feed"}},
      {"mm_no_end_short", banner + "2 2 2\n1 1 0.125\n2 2 -0.12", {"cut off", "'2 2 -0.12'", "line feed"}},
      {"exponent_of_two_digits", banner + "1 1 1\n1 1 1.0-10\n", {":3:", "'1.0-10' is no number"}},
      {"exponent_after_integer", banner + "1 1 1\n1 1 10-101\n", {":3:", "'10-101' is no number"}},
      {"mm_twice_mirrored",
       "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n1 2 4\n2 1 4\n",
       {"(row 1, column 2)", "twice"}},
      {"ntpoly_complex", raw(1, 1, 1, 1, 0, 1, 1, 0.5, 0.5), {"complex"}, "bad.bin"},
      {"ntpoly_cut",
       raw(2, 2, 0, 2, 0, 1, 1, 0.5, 1),
       {"cut off", "2 elements"},
       "bad.bin",
       {},
       Triangle::both,
       MatrixFormat::ntpoly_binary},
      {"ntpoly_huge",
       raw(2, 2, 0, -1, 0x7fffffff, 1, 1, 0.5),
       {"cut off"},
       "bad.bin",
       {},
       Triangle::both,
       MatrixFormat::ntpoly_binary},
      {"ntpoly_oblong",
       raw(2, 3, 0, 1, 0, 1, 1, 0.5),
       {"2 rows, 3 columns"},
       "bad.bin",
       {},
       Triangle::both,
       MatrixFormat::ntpoly_binary},
      {"ntpoly_index", raw(2, 2, 0, 1, 0, 3, 1, 0.5), {"record 1", "column 3"}, "bad.bin"},
      {"hdf5_nothing", "\x89HDF\r\n\x1a\n and then nothing", {"bad.h5"}, "bad.h5"},
      {"hdf5_by_name", "abc", {"bad.h5"}, "bad.h5"},
  };
}

class HostileFiles : public ::testing::TestWithParam<Case> {};

TEST_P(HostileFiles, are_refused_with_file_and_place) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "hostile");
  const auto& bad = GetParam();

  const auto message = refusal(comm, folder.with(bad.file, bad.bytes), bad.format, bad.n_rows, bad.triangle);

  EXPECT_NE(message.find(bad.file), std::string::npos) << message;
  for (const auto& part : bad.says)
    EXPECT_NE(message.find(part), std::string::npos) << part << " | " << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

const auto named = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(text, HostileFiles, ::testing::ValuesIn(text_cases()), named);
INSTANTIATE_TEST_SUITE_P(binary, HostileFiles, ::testing::ValuesIn(binary_cases()), named);
INSTANTIATE_TEST_SUITE_P(others, HostileFiles, ::testing::ValuesIn(other_cases()), named);

TEST(Hostile, an_absent_file_and_a_folder_are_refused) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "hostile_absent");

  EXPECT_NE(refusal(comm, folder / "absent.csr").find("there is no such file"), std::string::npos);
  EXPECT_NE(refusal(comm, folder / "absent.csr", MatrixFormat::quintet_hdf5).find("absent.csr"),
            std::string::npos);
  EXPECT_NE(refusal(comm, folder / "").find("is a folder"), std::string::npos);
}

TEST(Hostile, good_twins_of_the_bad_files_are_read) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "hostile_good");

  EXPECT_EQ(refusal(comm, folder.with("a", good_lines())), "no error");
  EXPECT_EQ(refusal(comm, folder.with("b", good_records())), "no error");
  EXPECT_EQ(refusal(comm, folder.with("c", elsi(nowhere, 0))), "no error");
  EXPECT_EQ(refusal(comm, folder.with("d", banner + "2 2 2\n1 1 1\n2 2 1\n")), "no error");
  EXPECT_EQ(refusal(comm, folder.with("e", raw(2, 2, 0, 1, 0, 2, 2, 0.5))), "no error");
}

TEST(Hostile, matrices_of_different_sizes_are_not_of_one_system) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "hostile_sizes");
  const auto read = [&](const std::string& name, const std::string& bytes) {
    return read_matrix(comm, folder.with(name, bytes), MatrixFormat::automatic, std::nullopt);
  };
  const auto k = read("k", good_records()), s = read("s", cp2k_record(1, 1, 1));

  EXPECT_EQ(common_rows(k, "k", k, "s"), 200);
  try {
    static_cast<void>(common_rows(k, "k", s, "s"));
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("k has 200 rows and s has 1"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace quintet::electronic
