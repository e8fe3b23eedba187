#include "io/hdf5/file.hpp"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <span>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::hdf5 {
namespace {

const Description length{"angstrom", {"atom", "xyz"}, "Where the atoms are."};

template <class T>
std::span<const T> view(const std::vector<T>& values) {
  return values;
}

template <class T>
class Elements : public ::testing::Test {};
using ElementTypes =
    ::testing::Types<float, double, std::int8_t, std::uint8_t, std::int32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(Elements, ElementTypes);

TYPED_TEST(Elements, every_value_comes_back_from_an_update_and_a_read) {
  using Limits = std::numeric_limits<TypeParam>;
  const SharedScratch scratch("elements");
  const auto comm = Comm::world();
  const std::vector<TypeParam> values{Limits::lowest(), Limits::max(), 0, 1, Limits::min(), 77};

  {
    auto file = File::create(comm, scratch / "a.h5");
    file.root().write("first", view(values), {2, 3}, length);
    file.close();
    auto again = File::open_for_update(comm, scratch / "a.h5");
    again.root().write("group/second", view(values), {6, 1, 1}, length);
  }
  const auto file = File::open(comm, scratch / "a.h5");

  EXPECT_EQ(file.root().read<TypeParam>("first"), values);
  EXPECT_EQ(file.root().read<TypeParam>("group/second", {6, 1, 1}), values);
  EXPECT_EQ(file.root().shape("first"), (Shape{2, 3}));
}

TEST(Group, scalars_and_empty_datasets_keep_their_rank) {
  const SharedScratch scratch("scalars");
  const auto comm = Comm::world();
  auto file = File::create(comm, scratch / "a.h5");
  const std::vector<double> one{2.5}, none;

  file.root().write("scalar", view(one), {}, {});
  file.root().write("empty", view(none), {0, 3}, {});
  file.root().write("vector", view(one), {1}, {});

  EXPECT_EQ(file.root().shape("scalar"), Shape{});
  EXPECT_EQ(file.root().read<double>("scalar"), one);
  EXPECT_EQ(file.root().shape("empty"), (Shape{0, 3}));
  EXPECT_TRUE(file.root().read<double>("empty").empty());
  EXPECT_TRUE(file.root().read_rows<double>("empty", 0, 0).empty());
  EXPECT_EQ(file.root().shape("vector"), Shape{1});
}

TEST(Group, numbers_are_converted_and_stored_type_is_told) {
  const SharedScratch scratch("convert");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  const std::vector<float> reals{0.5f, -3e38f, std::numeric_limits<float>::infinity()};
  const std::vector<std::int8_t> types{-1, 127};

  file.root().write("reals", view(reals), {3}, {});
  file.root().write("types", view(types), {2}, {});

  EXPECT_EQ(file.root().read<double>("reals"), std::vector<double>(reals.begin(), reals.end()));
  EXPECT_EQ(file.root().read<float>("types"), (std::vector<float>{-1, 127}));
  EXPECT_EQ(file.root().read<std::int64_t>("types"), (std::vector<std::int64_t>{-1, 127}));
  EXPECT_EQ(file.root().element_type("reals"), "float32");
  EXPECT_EQ(file.root().element_type("types"), "int8");
}

TEST(Group, values_that_do_not_fit_the_wanted_type_are_refused_not_clamped) {
  const SharedScratch scratch("range");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  const std::vector<std::int64_t> large{1, 1LL << 40};
  const std::vector<std::int32_t> negative{-1};
  const std::vector<double> reals{1e300, std::numeric_limits<double>::infinity()};
  file.root().write("large", view(large), {2}, {});
  file.root().write("negative", view(negative), {1}, {});
  file.root().write("reals", view(reals), {2}, {});

  const auto message = message_of<InputError>([&] { (void)file.root().read<std::int32_t>("large"); });
  EXPECT_TRUE(contains(message, "a.h5: /large: cannot read it as int32")) << message;
  EXPECT_THROW((void)file.root().read<std::uint64_t>("negative"), InputError);
  EXPECT_THROW((void)file.root().read<float>("reals"), InputError);
  const auto integer = message_of<InputError>([&] { (void)file.root().read<std::int64_t>("reals"); });
  EXPECT_TRUE(contains(integer, "/reals: holds float64, but integers are expected")) << integer;
}

TEST(Group, a_distributed_dataset_has_the_same_bytes_as_one_written_by_one_rank) {
  const SharedScratch scratch("distributed");
  const auto comm = Comm::world();
  constexpr std::uint64_t n = 103;
  std::vector<double> all(n * 3);
  std::iota(all.begin(), all.end(), 0.125);
  const UnevenRows mine(comm, n);
  const std::vector<double> rows(all.begin() + 3 * mine.offset, all.begin() + 3 * (mine.offset + mine.count));
  auto file = File::create(comm, scratch / "a.h5");

  file.root().write("whole", view(all), {n, 3}, length);
  file.root().write_distributed("parts", view(rows), {n, 3}, mine.offset, length);

  EXPECT_EQ(file.root().read<double>("parts"), all);
  EXPECT_EQ(file.root().read<double>("whole"), all);
  EXPECT_EQ(file.root().read_rows<double>("whole", mine.offset, mine.count), rows);
  EXPECT_EQ(file.root().read_rows<float>("parts", mine.offset, mine.count),
            std::vector<float>(rows.begin(), rows.end()));
}

TEST(Group, rows_that_are_missing_or_do_not_fit_are_refused_on_all_ranks) {
  const SharedScratch scratch("rows");
  const auto comm = Comm::world();
  auto file = File::create(comm, scratch / "a.h5");
  const std::vector<double> seven(7), three(3);
  const bool last = comm.rank() == comm.size() - 1;

  const auto uneven = message_of<InputError>([&] {
    file.root().write_distributed("a", last ? view(seven) : view(three).first(0), {4, 3}, 0, {});
  });
  const auto missing = message_of<InputError>([&] {
    file.root().write_distributed("b", last ? view(three) : view(three).first(0), {4, 3}, 1, {});
  });
  const auto outside = message_of<InputError>([&] {
    file.root().write_distributed("c", view(three), {4, 3}, 4, {});
  });
  const auto count = message_of<InputError>([&] { file.root().write("d", view(seven), {2, 3}, {}); });

  EXPECT_TRUE(contains(uneven, "gives 7 values from row 0")) << uneven;
  EXPECT_TRUE(contains(missing, "all ranks together give 1 row, but there are 4")) << missing;
  EXPECT_TRUE(contains(outside, "within shape [4, 3]")) << outside;
  EXPECT_TRUE(contains(count, "7 values given for shape [2, 3]")) << count;
  EXPECT_TRUE(file.root().names().empty());
}

TEST(Group, writing_a_dataset_again_replaces_it) {
  const SharedScratch scratch("replace");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  const std::vector<double> old(12, 1.0);
  const std::vector<std::int32_t> fresh{5, 6};

  file.root().write("x", view(old), {12}, {});
  file.root().write("x", view(fresh), {2}, length);

  EXPECT_EQ(file.root().read<std::int32_t>("x"), fresh);
  EXPECT_EQ(file.root().element_type("x"), "int32");
  EXPECT_EQ(file.root().names(), std::vector<std::string>{"x"});
}

TEST(Group, every_dataset_says_units_axes_and_description) {
  const SharedScratch scratch("described");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  const std::vector<double> values(6);

  file.root().write("a/positions", view(values), {2, 3}, length);
  file.root().write("plain", view(values), {6}, {});
  file.root().write_text("note", "text", {"1", {}, "A note."});

  EXPECT_EQ(file.root().member_text_attribute("a/positions", "units"), "angstrom");
  EXPECT_EQ(file.root().member_texts_attribute("a/positions", "axes"), length.axes);
  EXPECT_EQ(file.root().member_text_attribute("a/positions", "description"), length.text);
  EXPECT_EQ(file.root().member_text_attribute("plain", "units"), "1");
  EXPECT_TRUE(file.root().member_texts_attribute("plain", "axes").empty());
  EXPECT_EQ(file.root().member_text_attribute("note", "description"), "A note.");
  EXPECT_THROW(file.root().write("nameless", view(values), {6}, {"", {}, ""}), InputError);
}

TEST(Group, attributes_of_all_kinds_come_back) {
  const SharedScratch scratch("attributes");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  auto group = file.root().group("deep/er");
  const std::string long_text(100'000, 'x');  // more than the 64 kB of an object header

  group.set_attribute("text", std::string("Ångström"));
  group.set_attribute("text", long_text);
  group.set_attribute("number", 2.5);
  group.set_attribute("integer", std::int64_t{-7});
  group.set_attribute("numbers", std::vector<double>{1, 2.5});
  group.set_attribute("integers", std::vector<std::int64_t>{3, -4});
  group.set_attribute("texts", std::vector<std::string>{"O", "H", ""});
  file.root().set_member_attribute("deep", "of", "a member");

  const auto found = file.root().open_group("deep").open_group("er");
  EXPECT_EQ(found.text_attribute("text"), long_text);
  EXPECT_EQ(found.number_attribute("number"), std::vector<double>{2.5});
  EXPECT_EQ(found.integer_attribute("integer"), -7);
  EXPECT_EQ(found.number_attribute("numbers"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(found.number_attribute("integers"), (std::vector<double>{3, -4}));
  EXPECT_EQ(found.texts_attribute("texts"), (std::vector<std::string>{"O", "H", ""}));
  EXPECT_EQ(file.root().member_text_attribute("deep", "of"), "a member");
  EXPECT_TRUE(found.has_attribute("text"));
  EXPECT_FALSE(found.has_attribute("absent"));
  EXPECT_FALSE(file.root().has_member_attribute("deep", "absent"));
}

TEST(Group, attributes_of_the_wrong_kind_are_named_in_the_error) {
  const SharedScratch scratch("kinds");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  file.root().set_attribute("number", 1.0);
  file.root().set_attribute("text", std::string("t"));
  file.root().set_attribute("texts", std::vector<std::string>{"a", "b"});

  const auto absent = message_of<InputError>([&] { (void)file.root().text_attribute("nothing"); });
  const auto number = message_of<InputError>([&] { (void)file.root().text_attribute("number"); });
  const auto text = message_of<InputError>([&] { (void)file.root().number_attribute("text"); });
  const auto several = message_of<InputError>([&] { (void)file.root().text_attribute("texts"); });

  EXPECT_TRUE(contains(absent, "a.h5: there is no attribute 'nothing' of '/'")) << absent;
  EXPECT_TRUE(contains(number, "holds float64, but text is expected")) << number;
  EXPECT_TRUE(contains(text, "holds string, but numbers are expected")) << text;
  EXPECT_TRUE(contains(several, "holds 2 texts, but one is expected")) << several;
}

TEST(Group, texts_of_any_length_come_back) {
  const SharedScratch scratch("texts");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  const std::string large(3'000'000, 'y');

  file.root().write_text("empty", "");
  file.root().write_text("lines", "a: 1\nb: ü\n");
  file.root().write_text("large", large);

  EXPECT_EQ(file.root().read_text("empty"), "");
  EXPECT_EQ(file.root().read_text("lines"), "a: 1\nb: ü\n");
  EXPECT_EQ(file.root().read_text("large"), large);
  EXPECT_THROW((void)file.root().read<double>("lines"), InputError);
}

TEST(Group, members_are_listed_linked_and_told_apart) {
  const SharedScratch scratch("members");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  auto& root = file.root();
  const std::vector<double> values{1, 2};

  root.write("zeta", view(values), {2}, {});
  root.write("alpha/beta/gamma", view(values), {2}, {});
  root.link("/alpha/beta/gamma", "alpha/delta");

  EXPECT_EQ(root.names(), (std::vector<std::string>{"alpha", "zeta"}));
  EXPECT_EQ(root.open_group("alpha").names(), (std::vector<std::string>{"beta", "delta"}));
  EXPECT_EQ(root.read<double>("alpha/delta"), values);
  EXPECT_TRUE(root.is_group("alpha"));
  EXPECT_FALSE(root.is_group("zeta"));
  EXPECT_TRUE(root.has("alpha/beta/gamma"));
  EXPECT_TRUE(root.has("/alpha"));
  EXPECT_FALSE(root.has("alpha/no/gamma"));
  EXPECT_FALSE(root.has("zeta/no"));
}

TEST(Group, an_absent_member_is_named_with_what_there_is) {
  const SharedScratch scratch("absent");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  const std::vector<double> values{1, 2};
  file.root().write("group/energies", view(values), {2}, {});
  const auto group = file.root().open_group("group");

  const auto absent = message_of<InputError>([&] { (void)group.read<double>("energy"); });
  const auto shape = message_of<InputError>([&] { (void)group.read<double>("energies", {3}); });
  const auto rows = message_of<InputError>([&] { (void)group.read_rows<double>("energies", 1, 2); });
  const auto not_group = message_of<InputError>([&] { (void)group.open_group("energies"); });
  const auto not_dataset = message_of<InputError>([&] { (void)file.root().read<double>("group"); });

  EXPECT_TRUE(contains(absent, "a.h5: there is no dataset '/group/energy'; group '/group/' has: energies"))
      << absent;
  EXPECT_TRUE(contains(shape, "/group/energies: has shape [2], but [3] is expected")) << shape;
  EXPECT_TRUE(contains(rows, "rows 1 to 3 asked for, but it has 2 rows")) << rows;
  EXPECT_TRUE(contains(not_group, "'/group/energies' is not a group")) << not_group;
  EXPECT_TRUE(contains(not_dataset, "/group: cannot open the dataset: HDF5:")) << not_dataset;
}

TEST(File, what_cannot_be_opened_or_made_says_why) {
  const SharedScratch scratch("open");
  const auto comm = Comm::world();
  if (comm.is_root()) {
    std::ofstream(scratch / "text.h5")
        << "This is not HDF5, but it is long enough to hold a superblock of one.\n";
    std::ofstream(scratch / "empty.h5");
    std::ofstream(scratch / "script.h5") << "units metal\npair_style eam/alloy\nrun 100\n";
    // a signature behind a user's block of 512 bytes, and one where none may be
    for (const auto& [name, at] : {std::pair{"behind.h5", 512}, std::pair{"beside.h5", 500}})
      std::ofstream(scratch / name) << std::string(at, ' ') << "\x89HDF\r\n\x1a\n" << std::string(600, ' ');
  }
  comm.barrier();

  const auto script = message_of<InputError>([&] { File::open(comm, scratch / "script.h5"); });
  const auto behind = message_of<InputError>([&] { File::open(comm, scratch / "behind.h5"); });
  const auto beside = message_of<InputError>([&] { File::open(comm, scratch / "beside.h5"); });
  const auto absent = message_of<InputError>([&] { File::open(comm, scratch / "none.h5"); });
  const auto text = message_of<InputError>([&] { File::open(comm, scratch / "text.h5"); });
  const auto empty = message_of<InputError>([&] { File::open_for_update(comm, scratch / "empty.h5"); });
  const auto folder = message_of<InputError>([&] { File::open(comm, scratch.path()); });
  const auto made = message_of<InputError>([&] { File::create(comm, scratch / "no/such/folder.h5"); });

  EXPECT_TRUE(contains(absent, "none.h5: no such file")) << absent;
  EXPECT_TRUE(contains(text, "text.h5: is not an HDF5 file; is this the right file?")) << text;
  EXPECT_TRUE(contains(script, "script.h5: this is a LAMMPS input script, not an HDF5 file")) << script;
  EXPECT_TRUE(contains(behind, "behind.h5: file: cannot open it (is it a whole HDF5 file?): HDF5: "))
      << behind;
  EXPECT_TRUE(contains(beside, "beside.h5: is not an HDF5 file")) << beside;
  EXPECT_TRUE(contains(empty, "empty.h5")) << empty;
  EXPECT_TRUE(contains(folder, "is not a file")) << folder;
  EXPECT_TRUE(contains(made, "folder.h5: file: cannot create it")) << made;
}

TEST(File, flushed_data_are_there_for_another_reader_and_closed_files_are_not_used) {
  const SharedScratch scratch("flush");
  const auto comm = Comm::world();
  auto file = File::create(comm, scratch / "a.h5");
  const std::vector<double> values{1, 2, 3};
  file.root().write("x", view(values), {3}, {});

  file.flush();

  std::vector<double> seen;
  if (comm.is_root()) {
    // Another process would see the same bytes; in this one the lock of the writer must not stop us.
    std::ifstream bytes(scratch / "a.h5", std::ios::binary);
    std::ofstream(scratch / "copy.h5", std::ios::binary) << bytes.rdbuf();
    seen = File::open(Comm::self(), scratch / "copy.h5").root().read<double>("x");
  }
  EXPECT_EQ(seen, comm.is_root() ? values : std::vector<double>{});
  file.close();
  EXPECT_THROW((void)file.root().names(), InternalError);
}

}  // namespace
}  // namespace quintet::hdf5
