#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "tests/support/address_sanitizer.hpp"
#include "tests/unit/hdf5/foreign.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::hdf5 {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Read all that a reader of models would; whatever is wrong must be one of our errors.
void read_all(const std::string& path) {
  const auto file = File::open(Comm::self(), path);
  if (file.root().has_attribute("json")) (void)file.root().text_attribute("json");
  for (const auto& name : file.root().names()) {
    try {
      (void)file.root().read<double>(name);
    } catch (const InputError&) {
      (void)file.root().shape(name);
    }
  }
}

bool refused(const std::string& path) {
  try {
    read_all(path);
    return false;
  } catch (const InputError&) {
    return true;
  }
}

TEST(Foreign, of_a_filter_that_is_not_there_names_it_and_is_read_where_it_is) {
  const Scratch scratch("filters");
  const auto path = scratch / "filtered.h5";
  foreign::write_filtered(path);

  const auto file = File::open(Comm::self(), path);
  const auto zstd = message_of<InputError>([&] { (void)file.root().read<double>("zstd"); });
  const auto unknown = message_of<InputError>([&] { (void)file.root().read_rows<double>("unknown", 0, 1); });

  EXPECT_NE(zstd.find("zstd: is compressed by zstd (filter 32015)"), std::string::npos) << zstd;
  EXPECT_NE(zstd.find("h5repack -f GZIP=4 IN OUT"), std::string::npos) << zstd;
  EXPECT_NE(unknown.find("compressed by filter 300,"), std::string::npos) << unknown;
  // No chunk went through it: nothing is lacking.
  EXPECT_EQ(file.root().read<double>("skipped")[29], 30);
  // What the message advises: a library that has it.
  foreign::install_filter(true);
  EXPECT_EQ(file.root().read<double>("zstd")[29], 30);
  foreign::install_filter(false);
}

TEST(Foreign, a_model_is_read_with_all_its_shapes_and_types) {
  const Scratch scratch("model");
  const std::string json = "{\"model\": \"" + std::string(70'000, 'm') + "é\"}";
  foreign::write_model(scratch / "a.dp", json);
  const auto file = File::open(Comm::self(), scratch / "a.dp");
  const auto& root = file.root();

  EXPECT_EQ(root.text_attribute("json"), json);
  EXPECT_EQ(root.read<double>("/variable_0000", {1, 2, 3}), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(root.read<double>("variable_0001", {2, 2}), (std::vector<double>{0.5, 1.5, 2.5, 3.5}));
  EXPECT_EQ(root.element_type("variable_0001"), "float32");
  EXPECT_EQ(root.read<double>("variable_0002", {}), std::vector<double>{5});
  EXPECT_TRUE(root.read<double>("variable_0003", {0}).empty());
}

TEST(Foreign, texts_padding_byte_order_and_compression_of_others_are_understood) {
  const Scratch scratch("mixture");
  foreign::write_mixture(scratch / "a.h5");
  const auto file = File::open(Comm::self(), scratch / "a.h5");
  const auto& root = file.root();

  EXPECT_EQ(root.text_attribute("spaced"), "abc");
  EXPECT_EQ(root.texts_attribute("nulled"), (std::vector<std::string>{"O", "full"}));
  EXPECT_EQ(root.read_text("variable_text"), "of any length");
  EXPECT_EQ(root.read_text("fixed_text"), "hello");
  EXPECT_EQ(root.read_texts("variable_texts"), (std::vector<std::string>{"of any length", ""}));
  EXPECT_EQ(root.read_texts("fixed_texts"), (std::vector<std::string>{"O", "full"}));
  const auto several = message_of<InputError>([&] { (void)root.read_text("fixed_texts"); });
  EXPECT_TRUE(contains(several, "holds texts of shape [2], but one text is expected")) << several;
  const auto numbers = message_of<InputError>([&] { (void)root.read_texts("big_endian"); });
  EXPECT_TRUE(contains(numbers, "but texts are expected")) << numbers;
  EXPECT_EQ(root.read<double>("big_endian"), (std::vector<double>{1, -2, 3.5, 4}));
  EXPECT_EQ(root.read<float>("compressed"), std::vector<float>(100'000));
  const auto compound = message_of<InputError>([&] { (void)root.read<double>("compound"); });
  EXPECT_TRUE(contains(compound, "/compound: holds compound, but numbers are expected")) << compound;
  EXPECT_FALSE(root.has("dangling"));
}

TEST(Hostile, datasets_larger_than_their_file_are_refused_before_any_memory_is_asked_for) {
  const Scratch scratch("liar");
  foreign::write_liar(scratch / "a.h5");
  const auto file = File::open(Comm::self(), scratch / "a.h5");

  const auto huge = message_of<InputError>([&] { (void)file.root().read<double>("huge"); });
  const auto rows = message_of<InputError>([&] { (void)file.root().read_rows<double>("huge", 0, 1); });
  const auto overflow = message_of<InputError>([&] { (void)file.root().read<double>("overflow"); });
  const auto outside = message_of<InputError>([&] { (void)file.root().read<double>("outside"); });

  EXPECT_TRUE(contains(huge, "a.h5: /huge: shape [1000000000000000] needs 8 bytes an element")) << huge;
  EXPECT_TRUE(contains(huge, "stores 0 bytes for it")) << huge;
  EXPECT_TRUE(contains(rows, "truncated or corrupt")) << rows;
  EXPECT_TRUE(contains(overflow, "holds more elements than a file can")) << overflow;
  EXPECT_TRUE(contains(outside, "its data lie in other files")) << outside;
}

TEST(Hostile, a_truncated_file_is_an_input_error) {
  const Scratch scratch("truncated");
  foreign::write_model(scratch / "a.dp", "{}");
  const std::string whole = bytes_of(scratch / "a.dp");

  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 37) {
    write_bytes(scratch / "cut.dp", whole.substr(0, size));
    EXPECT_TRUE(refused(scratch / "cut.dp")) << "cut to " << size << " of " << whole.size() << " bytes";
  }
}

TEST(Hostile, a_flipped_bit_anywhere_never_crashes) {
  const Scratch scratch("flipped");
#if !QUINTET_ADDRESS_SANITIZER  // which reserves terabytes
  // A bit flip may ask for much memory inside the library: let it fail, not the machine.
  const rlimit limit{8ULL << 30, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
#endif
  foreign::write_model(scratch / "a.dp", "{\"model\": {\"type_map\": [\"O\", \"H\"]}}");
  std::string bytes = bytes_of(scratch / "a.dp");
  int n_refused = 0;

  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ (1u << i % 8));
    write_bytes(scratch / "flipped.dp", bytes);
    n_refused += refused(scratch / "flipped.dp");
    bytes[i] = static_cast<char>(bytes[i] ^ (1u << i % 8));
  }

  EXPECT_GT(n_refused, 100);
}

TEST(Foreign, of_a_damaged_chunk_says_why_it_cannot_be_read) {
  const Scratch scratch("damaged");
  const auto path = scratch / "chunked.h5";
  foreign::write_chunked(path);
  const auto map = File::open(Comm::self(), path).root().chunk_map("deflated", 100);
  ASSERT_TRUE(map.has_value());
  std::string bytes = bytes_of(path);
  for (std::uint64_t i = 0; i < 4; ++i) bytes[map->places[0].at + 4 + i] ^= '\x5a';
  write_bytes(path, bytes);

  const auto why =
      message_of<InputError>([&] { (void)File::open(Comm::self(), path).root().read<double>("deflated"); });
  EXPECT_NE(why.find("cannot read it as float64"), std::string::npos) << why;
  EXPECT_NE(why.find("inflate() failed"), std::string::npos) << why;
}

TEST(Hostile, a_flipped_bit_in_the_metadata_of_our_own_files_is_noticed) {
  const Scratch scratch("own");
  const std::vector<double> values(1000, 1.5);
  {
    auto file = File::create(Comm::self(), scratch / "a.h5");
    file.root().write("x", std::span<const double>(values), {1000}, {"angstrom", {"atom"}, "Positions."});
  }
  std::string bytes = bytes_of(scratch / "a.h5");

  // The superblock and the root's object header carry checksums: nothing there can change unnoticed.
  for (std::size_t i = 0; i < 48; ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    write_bytes(scratch / "flipped.h5", bytes);
    EXPECT_TRUE(refused(scratch / "flipped.h5")) << "byte " << i;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
  }
}

}  // namespace
}  // namespace quintet::hdf5
