#include "apps/campaign/frozen.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "tests/support/scratch.hpp"

using namespace quintet::campaign;

namespace {

constexpr const char* file_text =
    "stages:\n  - {name: a, each: 'd*.dat', command: [/bin/sh, -c, 'cat {input} {here}/x > y'], outputs: [y, "
    "{file: y, non_empty: true}]}\n";

}  // namespace

/// A campaign's file beside three files of data, one with a tab in its name's folder.
class FrozenCampaign : public ::testing::Test {
 protected:
  void SetUp() override {
    quintet::write_text_file(file_, file_text);
    for (const char* name : {"d1.dat", "d 2.dat", "x"}) std::ofstream(at(name)) << name;
  }
  [[nodiscard]] std::string at(const std::string& name) const { return scratch_.path() + "/" + name; }
  [[nodiscard]] static Graph graph(const std::string& file) {
    const Place place = place_of(file, "/bin");
    return {read_campaign(file), place.here, place.path, found_in(place)};
  }

  Scratch scratch_{"frozen"};
  std::string file_ = scratch_.path() + "/c.yaml";
};

TEST_F(FrozenCampaign, copy_has_the_items_that_the_file_had_whatever_is_edited_or_found_later) {
  const Graph before = graph(file_);
  const Frozen copy = frozen(before, file_, at("store"));
  write_frozen(copy);
  quintet::write_text_file(file_, "stages: [{name: b, command: [/bin/sh]}]\n");
  std::ofstream(at("d3.dat")) << "3";

  const Graph after = graph(copy.copy);

  ASSERT_EQ(before.items().size(), 2u);
  ASSERT_EQ(after.items().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after.items()[i].key, before.items()[i].key);
    EXPECT_EQ(after.items()[i].file, before.items()[i].file);
  }
  EXPECT_EQ(frozen(after, copy.copy, at("store")).copy, copy.copy);  // frozen again it is itself
}

TEST_F(FrozenCampaign, names_the_files_that_have_changed_since) {
  const Frozen copy = frozen(graph(file_), file_, at("store"));
  write_frozen(copy);
  EXPECT_EQ(changed_files(place_of(copy.copy, "")), "");

  std::ofstream(at("x")) << "another";
  std::filesystem::remove(at("d1.dat"));

  EXPECT_EQ(changed_files(place_of(copy.copy, "")), at("d1.dat") + ", " + at("x"));
}

TEST_F(FrozenCampaign, outputs_are_texts_or_files_that_may_not_be_empty) {
  const auto options = read_campaign(file_);
  EXPECT_EQ(options.stages[0].outputs, (std::vector<std::string>{"y", "y"}));
  EXPECT_EQ(options.stages[0].non_empty, std::vector<std::string>{"y"});
  quintet::write_text_file(
      file_, "stages: [{name: b, command: [/bin/sh], outputs: {file: 'z*', non_empty: false}}]\n");
  EXPECT_EQ(read_campaign(file_).stages[0].outputs, std::vector<std::string>{"z*"});
  EXPECT_TRUE(read_campaign(file_).stages[0].non_empty.empty());
  quintet::write_text_file(file_, "stages: [{name: b, command: [/bin/sh], outputs: [{non_empty: true}]}]\n");
  EXPECT_THROW((void)read_campaign(file_), quintet::InputError);
}
