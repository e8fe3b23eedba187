#include "apps/campaign/why.hpp"

#include <gtest/gtest.h>

using namespace quintet::campaign;

namespace {

std::string identity(const std::vector<Ingredient>& all) {
  std::string text;
  for (const auto& ingredient : all) text += ingredient.line + "\n";
  return text;
}

std::vector<Ingredient> some() {
  return {{"quintet campaign 1", "version"},
          {"program sh 5 00aa", "program /bin/sh"},
          {"word -c", "word -c"},
          {"word two\nlines", "word two\nlines"},
          {"file 3 00bb", "file /a/case.txt"},
          {"file 4 00cc", "file /a/model.h5"},
          {"makes x", "outputs: x"},
          {"input c.dat 7 00dd", "file /a/c.dat"},
          {"after 0123456789abcdef0123456789abcdef", "'square n=1', which it waits for"}};
}

}  // namespace

TEST(Why, nothing_has_changed_where_all_is_the_same) { EXPECT_EQ(changes(identity(some()), some()), ""); }

TEST(Why, names_the_file_the_program_the_word_and_what_is_waited_for) {
  auto now = some();
  now[1].line = "program sh 6 00ff";
  now[3] = {"word three\nlines", "word three\nlines"};
  now[5].line = "file 4 00ff";
  now[8].line = "after 1123456789abcdef0123456789abcdef";
  EXPECT_EQ(changes(identity(some()), now),
            "program /bin/sh has changed; 'word three lines' was 'two lines'; file /a/model.h5 has changed; "
            "'square n=1', which it waits for is another");
}

TEST(Why, names_what_is_new_and_what_is_no_more) {
  auto now = some();
  now.push_back({"makes y", "outputs: y"});
  now.erase(now.begin() + 4);
  EXPECT_EQ(changes(identity(some()), now), "'file 3 00bb' is no more; 'outputs: y' is new");
}

TEST(Why, keys_in_words_are_told_by_what_is_waited_for) {
  std::vector<Ingredient> now{{"word {store}/0123456789abcdef0123456789abcdef/x", ""}};
  EXPECT_EQ(changes("word {store}/1123456789abcdef0123456789abcdef/x\n", now), "");
  EXPECT_NE(changes("word {store}/1123456789abcdef0123456789abcdef/y\n", now), "");
}
