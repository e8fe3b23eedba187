#include "io/files/number_table.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/support/scratch.hpp"

namespace {

using quintet::NumberTable;
using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

NumberTable table_of(const std::string& text) {
  const Scratch scratch("number_table");
  write(scratch / "a.csv", text);
  return quintet::read_number_table(scratch / "a.csv");
}

std::string refusal(const std::string& text) {
  try {
    const auto table = table_of(text);
    for (std::size_t k = 0; k < table.n_columns; ++k) table.require_numbers(k);
  } catch (const quintet::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(NumberTable, separators_ends_of_lines_quotes_marks_and_comments_are_those_of_many_programs) {
  const struct {
    const char* text;
    bool named;
  } rows[] = {{"t,z,x\n1,-0.5,2\n3,0.25,4\n", true},
              {"t;z;x\r\n1;-0.5;2\r\n3;0.25;4\r\n", true},
              {"t\tz\tx\r1\t-0.5\t2\r3\t0.25\t4", true},
              {"\xef\xbb\xbf\"t\",\"z\",\"x\"\n\"1\",\"-0.5\",\"2\"\n\"3\",\"0.25\",\"4\"\n", true},
              {"# t z x\n1.000000000000000000e+00 -5.000000000000000000e-01 2.0e+00\n3 2.5e-1 4\n", true},
              {"# t,z,x\n1,-0.5,2\n3,0.25,4\n", true},
              {"# points made by hand\n\n1 -0.5 2\n# between\n   3   0.25\t4  \n", false},
              {"1, -.5, +2\n3, 2.5D-01, 4\n", false},
              {"t,z,x,\n1,-0.5,2,\n3,0.25,4,\n", true},
              {"% t; z; x\n1; -0.5; 2\n3; 0.25; 4\n", true},
              {"1 -0.5 2\n\n3 0.25 4", false}};
  for (const auto& row : rows) {
    const auto table = table_of(row.text);
    EXPECT_EQ(table.values, (Numbers{1, -0.5, 2, 3, 0.25, 4})) << row.text;
    EXPECT_EQ(table.names, row.named ? (Texts{"t", "z", "x"}) : Texts()) << row.text;
    EXPECT_EQ(table.n_rows(), 2u);
  }
}

TEST(NumberTable, a_quoted_name_may_hold_the_separator) {
  const auto table = table_of("\"a, b\",c\n1,2\n");
  EXPECT_EQ(table.names, (Texts{"a, b", "c"}));
  EXPECT_EQ(table.column("c"), 1u);
  EXPECT_FALSE(table.column("b").has_value());
}

TEST(NumberTable, what_is_no_table_of_numbers_is_refused_with_its_line) {
  const struct {
    const char *text, *says;
  } rows[] = {
      {"t;z;x\n1;2;3\n1,5;2;3\n",
       "a.csv:3: '1,5' has a decimal comma; write decimal points (sed 's/,/./g' FILE"},
      {"1,5;2;3\n", "a.csv:1: '1,5' has a decimal comma"},
      {"1,5\t2,0\n", "a.csv:1: '1,5' has a decimal comma"},
      {"t,z,x\n1,5,2,0,3,5\n", "a.csv:2: has 6 cells, but the lines before 3: are these decimal commas?"},
      {"t,z,x\n1,2\n", "a.csv:2: has 2 cells, but the lines before 3"},
      {"t,z,x\n1,2,wall\n", "a.csv:2: 'wall' is no number"},
      {"t,z,x\n1,2,\n", "a.csv:2: '' is no number"},
      {"t,z,x\n1,2,3m\n", "a.csv:2: '3m' is no number"},
      {"1,z,3\n", "a.csv:1: 'z' is no number"},
      {"t,z,x\n1,nan,3\n", "a.csv:2: 'nan' is not finite"},
      {"t,z,x\n", "holds no row of numbers"},
      {"", "holds no row of numbers"},
      {"\xff\xfet\x00", "is text in UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"}};
  for (const auto& row : rows)
    EXPECT_NE(refusal(row.text).find(row.says), std::string::npos) << row.text << ": " << refusal(row.text);
}

TEST(NumberTable, texts_may_stand_beside_the_columns_that_are_needed) {
  const auto table = table_of("probe,t,z\nleft,1,2\n\"upper, right\",3,\n");
  EXPECT_NO_THROW(table.require_numbers(1));
  EXPECT_THROW(table.require_numbers(0), quintet::InputError);
  EXPECT_THROW(table.require_numbers(2), quintet::InputError);
  EXPECT_EQ(table.at(1, 1), 3);
}

TEST(NumberTable, what_the_messages_say_helps) {
  const Scratch scratch("number_table_remedy");
  write(scratch / "a.csv", "t;z\n1,5;2\n");
  ASSERT_EQ(std::system(("sed 's/,/./g' " + (scratch / "a.csv") + " > " + (scratch / "b.csv")).c_str()), 0);
  EXPECT_EQ(quintet::read_number_table(scratch / "b.csv").values, (Numbers{1.5, 2}));
  write(scratch / "c.csv", std::string("\xff\xfe"
                                       "1\0,\0"
                                       "2\0\n\0",
                                       10));
  ASSERT_EQ(
      std::system(("iconv -f UTF-16 -t UTF-8 " + (scratch / "c.csv") + " > " + (scratch / "d.csv")).c_str()),
      0);
  EXPECT_EQ(quintet::read_number_table(scratch / "d.csv").values, (Numbers{1, 2}));
}

TEST(NumberTable, an_array_of_numpy_in_either_order) {
  const Scratch scratch("number_table_npy");
  for (const bool fortran : {false, true}) {
    std::string head = std::string("{'descr': '<f8', 'fortran_order': ") + (fortran ? "True" : "False") +
                       ", 'shape': (2, 3), }";
    head.resize(117, ' ');
    head += '\n';
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + head;
    const Numbers rows{1, 2, 3, 4, 5, 6}, columns{1, 4, 2, 5, 3, 6};
    const auto& stored = fortran ? columns : rows;
    bytes.append(reinterpret_cast<const char*>(stored.data()), stored.size() * sizeof(double));
    write(scratch / "a.npy", bytes);
    const auto table = quintet::read_number_table(scratch / "a.npy");
    EXPECT_EQ(table.values, rows);
    EXPECT_EQ(table.n_columns, 3u);
    EXPECT_TRUE(table.names.empty());
  }
}

}  // namespace
