#include "io/config/table.hpp"

#include <array>

#include <gtest/gtest.h>

namespace quintet {
namespace {

enum class Colour { red, green, blue };

struct ColourRow {
  Colour value;
  const char *name, *doc;
  int (*wavelength)();
};
constexpr std::array<ColourRow, 2> colours{{{Colour::green, "green", "Of leaves", [] { return 530; }},
                                            {Colour::red, "red", "Of rust", [] { return 700; }}}};

TEST(Table, a_row_is_found_by_value_and_by_name) {
  EXPECT_EQ(row_of(colours, Colour::red).wavelength(), 700);
  EXPECT_EQ(row_named(colours, "green").wavelength(), 530);
}

TEST(Table, what_has_no_row_is_an_error_of_ours_and_not_the_last_row) {
  EXPECT_THROW(static_cast<void>(row_of(colours, Colour::blue)), InternalError);
  EXPECT_THROW(static_cast<void>(row_of(colours, static_cast<Colour>(7))), InternalError);
  EXPECT_THROW(static_cast<void>(row_named(colours, "blue")), InternalError);
  EXPECT_THROW(static_cast<void>(row_named(colours, "")), InternalError);
}

TEST(Table, a_name_that_a_user_gives_is_refused_with_those_there_are) {
  EXPECT_EQ(row_given(colours, "red", "paint.colour").value, Colour::red);
  try {
    static_cast<void>(row_given(colours, "gren", "paint.colour"));
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "paint.colour: unknown value 'gren'; expected one of green, red; did you mean 'green'?");
  }
}

TEST(Table, names_and_choices_keep_the_order_of_rows) {
  EXPECT_EQ(names_of(colours), (std::vector<std::string>{"green", "red"}));
  const std::vector<std::pair<std::string, Colour>> expected{{"green", Colour::green}, {"red", Colour::red}};
  EXPECT_EQ(choices_of(colours), expected);
}

}  // namespace
}  // namespace quintet
