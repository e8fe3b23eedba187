#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "io/log/error.hpp"
#include "tests/support/address_sanitizer.hpp"
#include "tests/unit/fields/fields_support.hpp"

namespace quintet {
namespace {

using namespace testing;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// All that a file holds.
void read_all(const std::string& path) {
  const auto reader = FieldSeriesReader::open(Comm::self(), path);
  for (std::size_t f = 0; f < reader.header().fields.size(); ++f)
    for (std::uint64_t sample = 0; sample < reader.n_samples(); ++sample)
      (void)reader.read<double>(static_cast<int>(f), sample, {0, reader.n_frames(sample), {}});
}

bool refused(const std::string& path) {
  return !message_of<InputError>([&] { read_all(path); }).empty();
}

/// The message that a good file gives after `change`.
template <class Change>
std::string after(const Scratch& scratch, const Change& change) {
  write_small(Comm::self(), scratch / "changed.h5", small_header(), 3);
  {
    auto file = hdf5::File::open_for_update(Comm::self(), scratch / "changed.h5");
    change(file.root());
  }
  return message_of<InputError>([&] { read_all(scratch / "changed.h5"); });
}

using hdf5::Group;

TEST(HostileFields, what_does_not_fit_together_is_said) {
  const Scratch scratch("hostile_fields");
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto expect = [&](auto change, const std::string& part) {
    const auto message = after(scratch, change);
    EXPECT_TRUE(contains(message, part)) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  EXPECT_EQ(after(scratch, [](Group&) {}), "");
  expect([](Group& root) { root.set_attribute("schema", "quintet.run"); },
         "has schema 'quintet.run'; expected a field");
  expect([](Group& root) { root.set_attribute("schema_version", 2); }, "has version 2 of schema");
  expect(
      [](Group& root) {
        root.group("t0_fields")
            .write<double>("buoyancy", std::vector<double>(2 * 3 * 6 * 4), {2, 3, 6, 4}, {});
      },
      "t0_fields/buoyancy has shape [2, 3, 6, 4], but its samples, times and axes make [2, 3, 6, 5]");
  expect(
      [](Group& root) {
        root.group("t0_fields")
            .write<double>("buoyancy", std::vector<double>(3 * 3 * 6 * 5), {3, 3, 6, 5}, {});
        root.group("t0_fields").set_member_attribute("buoyancy", "symbol", std::vector<std::string>{"b"});
      },
      "t0_fields/buoyancy has 3 samples, but the fields before have 2");
  expect(
      [](Group& root) {
        root.write<std::int64_t>("n_frames", std::vector<std::int64_t>{3, -1}, {2}, {});
      },
      "claims -1 frames");
  expect(
      [&](Group& root) {
        const std::vector<double> value{nan};
        root.write_box<double>("t0_fields/buoyancy", value, {{1, 2, 3, 4}, {1, 1, 1, 1}});
        root.resize("frame_checksum", {2, 0});
      },
      "field 'b' is nan in frame 2 of sample 1 at point [3, 4]");
  expect([](Group& root) { root.group("dimensions").write<double>("z", std::vector<double>(5), {5}, {}); },
         "axis 'z': coordinates must ascend");
  expect(
      [](Group& root) {
        root.set_attribute("fields", std::vector<std::string>{"p", "b", "u", "q"});
      },
      "its attribute 'fields' does not list the fields that it has");
  expect(
      [](Group& root) {
        root.group("dimensions").set_attribute("spatial_dims", std::vector<std::string>{"x", "q"});
      },
      "there is no ");
  expect([](Group& root) { root.set_attribute("n_trajectories", 7); }, "says that it has 7 trajectories");
  expect([](Group& root) { root.group("scalars").write<double>("Prandtl", std::vector<double>(7), {7}, {}); },
         "scalars/Prandtl holds 7 values");
  expect(
      [](Group& root) {
        root.group("t0_fields")
            .write<std::int32_t>("buoyancy", std::vector<std::int32_t>(180), {2, 3, 6, 5}, {});
      },
      "holds int32; expected float32 or float64");
}

TEST(HostileFields, a_file_without_fields_and_no_file_are_refused) {
  const Scratch scratch("no_fields");
  {
    auto file = hdf5::File::create(Comm::self(), scratch / "a.h5");
    file.root().set_attribute("title", "nothing");
  }
  write_bytes(scratch / "b.h5", "no HDF5 at all");
  const auto nothing = message_of<InputError>([&] { read_all(scratch / "a.h5"); });
  EXPECT_TRUE(contains(nothing, "a.h5: holds no fields over time that are known; expected a field series"))
      << nothing;
  EXPECT_TRUE(refused(scratch / "b.h5"));
  EXPECT_TRUE(refused(scratch / "absent.h5"));
  EXPECT_TRUE(refused(scratch.path()));
}

/// The message for a run of vlasov with one picture over x and `axis`, its species of these dimensions.
std::string of_dimensions(std::int64_t cdim, std::int64_t vdim, const std::string& axis) {
  const Scratch scratch("vlasov_dimensions");
  {
    auto file = hdf5::File::create(Comm::self(), scratch / "run.h5");
    auto frames = file.root().group("frames");
    frames.write<double>("time", std::vector<double>{0, 1}, {2}, {});
    frames.write<std::int64_t>("step", std::vector<std::int64_t>{0, 1}, {2}, {});
    auto species = file.root().group("species").group("elc");
    species.set_attribute("cdim", cdim);
    species.set_attribute("vdim", vdim);
    for (const auto& [name, value] :
         {std::pair("lower", -1.0), std::pair("upper", 1.0), std::pair("cells", 4.0)})
      species.set_attribute(name, std::vector<double>{value, value});
    file.root()
        .group("pictures")
        .write<float>("elc_x_" + axis, std::vector<float>(32, 0.5F), {2, 4, 4},
                      {"1", {"frame", axis, "x"}, "f"});
    file.close();
  }
  return message_of<InputError>([&] { read_all(scratch / "run.h5"); });
}

TEST(HostileFields, a_phase_space_of_impossible_dimensions_is_refused) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(of_dimensions(1, 1, "vx"), "");
  EXPECT_TRUE(contains(of_dimensions(100, -98, "z"), "species 'elc' has no axis 'z'"));
  EXPECT_TRUE(contains(of_dimensions(most, 3, "vx"), "species 'elc' has no axis"));
  EXPECT_TRUE(contains(of_dimensions(-1, 3, "vy"), "species 'elc' has no axis"));
}

TEST(HostileFields, a_truncated_file_is_an_input_error) {
  const Scratch scratch("cut_fields");
  write_small(Comm::self(), scratch / "a.h5", small_header(), 3);
  const std::string whole = bytes_of(scratch / "a.h5");
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 37) {
    write_bytes(scratch / "cut.h5", whole.substr(0, size));
    EXPECT_TRUE(refused(scratch / "cut.h5")) << "cut to " << size << " of " << whole.size() << " bytes";
  }
}

TEST(HostileFields, a_flipped_bit_anywhere_never_crashes) {
  const Scratch scratch("flipped_fields");
#if !QUINTET_ADDRESS_SANITIZER  // which reserves terabytes
  const rlimit limit{8ULL << 30, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
#endif
  write_small(Comm::self(), scratch / "a.h5", small_header(), 2);
  std::string bytes = bytes_of(scratch / "a.h5");
  int n_refused = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 197) {
    bytes[i] = static_cast<char>(bytes[i] ^ (1u << i % 8));
    write_bytes(scratch / "flipped.h5", bytes);
    n_refused += refused(scratch / "flipped.h5") ? 1 : 0;
    bytes[i] = static_cast<char>(bytes[i] ^ (1u << i % 8));
  }
  EXPECT_GT(n_refused, 5);
}

}  // namespace
}  // namespace quintet
