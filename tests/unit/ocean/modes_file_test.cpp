#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coefficient_file.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/modes_file.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::ocean {
namespace {

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// A folder that all ranks share.
struct Shared {
  Comm comm = Comm::world();
  std::unique_ptr<Scratch> scratch = comm.is_root() ? std::make_unique<Scratch>("modes_file") : nullptr;
  std::string path = comm.broadcast(comm.is_root() ? scratch->path() : std::string());
  ~Shared() { comm.barrier(); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path + "/" + name; }
};

/// Two modes on three sea points of a grid of 2 x 2, one harmonic.
OceanModes sample() {
  OceanModes modes;
  modes.series.time = {66410, 66417, 66424};
  modes.series.n_modes = 2;
  modes.series.values = {1, 2, -3, 0.5, 2, -2.5};
  modes.singular_values = {std::sqrt(14), 3.2};
  modes.n_fit = 2;
  modes.captured_variance = 0.75;
  modes.source = "made up";
  modes.latitude = {-1, 1};
  modes.longitude = {10, 20};
  modes.mask = {1, 0, 1, 1};
  modes.weights = {1, 2, 4};
  modes.modes = {1, 0, 0, 0, std::sqrt(0.5), 0};
  modes.mean = {20, 21, 22};
  modes.anomalies = true;
  modes.in_file = {"sst", "Weekly mean of sea surface temperature", ""};
  modes.harmonics = 1;
  modes.cycle = {1, 0, 0, 0, 0, 3};
  return modes;
}

TEST(ModesFile, is_read_back_to_the_bit) {
  const Shared shared;
  for (const bool with_fields : {true, false}) {
    auto modes = sample();
    if (!with_fields) {
      OceanModes bare;
      bare.series = modes.series, bare.singular_values = modes.singular_values, bare.n_fit = 3;
      bare.captured_variance = std::numeric_limits<double>::quiet_NaN();
      modes = bare;
    }
    write_modes(shared.comm, shared / "modes.h5", modes, hdf5::current_provenance());
    const auto read = read_modes(shared.comm, shared / "modes.h5");
    EXPECT_EQ(read.anomalies, modes.anomalies);
    EXPECT_EQ(read.series.time, modes.series.time);
    EXPECT_EQ(read.series.values, modes.series.values);
    EXPECT_EQ(read.singular_values, modes.singular_values);
    EXPECT_EQ(read.n_fit, modes.n_fit);
    EXPECT_EQ(read.has_fields(), with_fields);
    EXPECT_EQ(read.modes, modes.modes);
    EXPECT_EQ(read.cycle, modes.cycle);
    EXPECT_EQ(read.harmonics, modes.harmonics);
    EXPECT_EQ(read.source, modes.source);
    EXPECT_EQ(read.in_file.variable, modes.in_file.variable);
    EXPECT_EQ(read.in_file.long_name, modes.in_file.long_name);
    EXPECT_EQ(read.in_file.standard_name, modes.in_file.standard_name);
    EXPECT_EQ(read.checksum(), modes.checksum());
    shared.comm.barrier();
  }
}

TEST(ModesFile, names_the_first_variable_as_its_file_does) {
  struct Case {
    VariableNames in_file;
    const char *units, *short_name, *long_name;
  };
  const char *celsius = "degree_Celsius", *sea = "Sea surface temperature";
  for (const auto& [in_file, units, short_name, long_name] : std::vector<Case>{
           {{}, celsius, "sst", sea},
           {{"analysed_sst", "analysed", ""}, celsius, "sst", sea},
           {{"tos", "", ""}, celsius, "sst", sea},
           {{"t", "Weekly Mean of Sea Surface Temperature", ""}, celsius, "sst", sea},
           {{"t", "", "sea_surface_temperature"}, celsius, "sst", sea},
           {{"t2m", "2 metre temperature", "air_temperature"}, celsius, "t2m", "2 metre temperature"},
           {{"sst", "", ""}, "m", "field", "field"},
           {{"sla", "", ""}, "m", "sla", "sla"},
           {{"a", "Height", ""}, "m", "field", "Height"},
           {{"sla_error", "", ""}, "m", "field", "field"},
           {{"", "", ""}, "m", "field", "field"}}) {
    FieldModes modes;
    modes.in_file = in_file, modes.units = units;
    EXPECT_EQ(modes.short_name(), short_name) << in_file.variable;
    EXPECT_EQ(modes.long_name(), long_name) << in_file.variable;
  }
}

/// The modes of sample() halved in variance, with a second variable on one point that has the other half.
OceanModes joint_sample() {
  auto modes = sample();
  modes.modes = {0.6, 0, 0, 0, std::sqrt(0.5), 0};
  FieldModes level;
  level.name = "level", level.units = "m", level.anomalies = true;
  level.latitude = {0.5}, level.longitude = {30, 31};
  level.mask = {0, 1};
  level.modes = {0.4, 0}, level.weights = {4}, level.mean = {0.1};
  level.harmonics = 1, level.cycle = {0.01, -0.02};
  modes.also.push_back(level);
  return modes;
}

TEST(ModesFile, keeps_further_variables_to_the_bit) {
  const Shared shared;
  const auto modes = joint_sample();
  write_modes(shared.comm, shared / "joint.h5", modes, hdf5::current_provenance());
  const auto read = read_modes(shared.comm, shared / "joint.h5");
  ASSERT_EQ(read.also.size(), 1U);
  const auto &one = read.also[0], &expected = modes.also[0];
  EXPECT_EQ(one.name, "level");
  EXPECT_EQ(one.units, "m");
  EXPECT_TRUE(one.anomalies);
  EXPECT_EQ(one.latitude, expected.latitude);
  EXPECT_EQ(one.longitude, expected.longitude);
  EXPECT_EQ(one.mask, expected.mask);
  EXPECT_EQ(one.modes, expected.modes);
  EXPECT_EQ(one.weights, expected.weights);
  EXPECT_EQ(one.mean, expected.mean);
  EXPECT_EQ(one.cycle, expected.cycle);
  EXPECT_EQ(read.checksum(), modes.checksum());
  EXPECT_NE(read.checksum(), sample().checksum());
  EXPECT_EQ(variables_of(read).size(), 2U);
  // Older programs are told; files of one variable stay as they were.
  const auto version = [&](const std::string& name) {
    return hdf5::File::open(shared.comm, shared / name).root().integer_attribute("schema_version");
  };
  EXPECT_EQ(version("joint.h5"), 2);
  write_modes(shared.comm, shared / "one.h5", sample(), hdf5::current_provenance());
  EXPECT_EQ(version("one.h5"), 1);
}

TEST(ModesFile, damage_in_further_variables_is_refused) {
  const Shared shared;
  const auto expect = [&](const std::function<void(FieldModes&)>& change, const std::string& part) {
    auto modes = joint_sample();
    change(modes.also[0]);
    shared.comm.barrier();
    write_modes(shared.comm, shared / "bad.h5", modes, hdf5::current_provenance());
    const auto message = refusal([&] { static_cast<void>(read_modes(shared.comm, shared / "bad.h5")); });
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
  };
  expect([](auto& v) { v.modes[0] = 0.5; }, "inner product");
  expect([](auto& v) { v.weights[0] = -1; }, "level: weights");
  expect([](auto& v) { v.mask[0] = 1; }, "modes");
  expect([](auto& v) { v.mean[0] = std::numeric_limits<double>::quiet_NaN(); }, "level: mean");
  shared.comm.barrier();
  write_modes(shared.comm, shared / "bad.h5", joint_sample(), hdf5::current_provenance());
  {
    auto file = hdf5::File::open_for_update(shared.comm, shared / "bad.h5");
    file.root().set_attribute("also", std::vector<std::string>{"level", "heat"});
    file.close();
  }
  const auto message = refusal([&] { static_cast<void>(read_modes(shared.comm, shared / "bad.h5")); });
  EXPECT_NE(message.find("no variable 'heat'"), std::string::npos) << message;
}

TEST(ModesFile, expands_to_background_and_modes) {
  const auto modes = sample();
  const double day = day_of({2000, 1, 1}), angle = 2 * M_PI * std::fmod(day, 365.2425) / 365.2425;
  const std::vector<double> coefficients{2, -1};
  const auto field = expand(modes, day, coefficients.data());
  EXPECT_NEAR(field[0], 20 + 2 + std::cos(angle), 1e-12);
  EXPECT_NEAR(field[1], 21 - std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(field[2], 22 + 3 * std::sin(angle), 1e-12);
}

TEST(ModesFile, what_does_not_fit_together_is_refused) {
  const Shared shared;
  const auto expect = [&](const std::function<void(OceanModes&)>& change, const std::string& part) {
    auto modes = sample();
    change(modes);
    shared.comm.barrier();
    write_modes(shared.comm, shared / "bad.h5", modes, hdf5::current_provenance());
    const auto message = refusal([&] { static_cast<void>(read_modes(shared.comm, shared / "bad.h5")); });
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect([](auto& m) { m.series.time[2] = m.series.time[1]; }, "time");
  expect([&](auto& m) { m.series.values[3] = nan; }, "coefficients");
  expect([](auto& m) { m.n_fit = 4; }, "n_fit");
  expect([](auto& m) { m.n_fit = 0; }, "n_fit");
  expect([](auto& m) { m.modes[1] = 0.5; }, "inner product");
  expect([](auto& m) { m.weights[0] = 0; }, "weights");
  expect([](auto& m) { m.mask[1] = 1; }, "modes");
  expect([](auto& m) { m.mask[1] = 2; }, "mask");
  expect([](auto& m) { m.latitude = {1, -1}; }, "lat");
  expect([](auto& m) { m.longitude = {10, 370}; }, "lon");
  expect([&](auto& m) { m.mean[2] = nan; }, "mean");
  const auto change = [&](const std::function<void(hdf5::Group&)>& action, const std::string& part) {
    shared.comm.barrier();
    write_modes(shared.comm, shared / "bad.h5", sample(), hdf5::current_provenance());
    {
      auto file = hdf5::File::open_for_update(shared.comm, shared / "bad.h5");
      action(file.root());
      file.close();
    }
    const auto message = refusal([&] { static_cast<void>(read_modes(shared.comm, shared / "bad.h5")); });
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
  };
  change(
      [](auto& root) {
        root.template write<double>("coefficients", std::vector<double>{1, 2, 3}, {3}, {});
      },
      "coefficients");
  change([](auto& root) { root.template write<double>("time", std::vector<double>{1, 2}, {2}, {}); }, "time");
  change(
      [](auto& root) {
        root.template write<double>("mean", std::vector<double>{1, 2, 3}, {3}, {});
      },
      "changed");
  change([](auto& root) { root.set_attribute("schema", std::string("other")); }, "schema");
}

/// Coefficients as a file of somebody else has them.
void write_coefficients(const std::string& path, const std::string& units, std::vector<double> times,
                        std::vector<double> values, double n_train) {
  auto file = netcdf::Writer::create(path);
  const auto n = times.size();
  file.dimension("time", n);
  file.dimension("mode", values.size() / n);
  file.variable("time", netcdf::Type::float64, {"time"});
  file.variable("a", netcdf::Type::float64, {"time", "mode"});
  if (!units.empty()) file.attribute("time", "units", units);
  if (n_train > 0) file.attribute("a", "n_train", n_train);
  file.write("time", times);
  file.write("a", values);
  file.close();
}

TEST(CoefficientFile, is_read_with_its_dates) {
  const Shared shared;
  if (shared.comm.is_root())
    write_coefficients(shared / "a.nc", "days since 1-1-1", {726468, 726475, 726482}, {1, 2, 3, 4, 5, 6}, 2);
  shared.comm.barrier();
  const auto file = read_coefficients(shared.comm, shared / "a.nc", "a");
  EXPECT_EQ(file.series.n_modes, 2);
  EXPECT_EQ(file.series.n_times(), 3);
  EXPECT_EQ(date_text(file.series.time[0]), "1989-12-31");
  EXPECT_EQ(file.series.row(1)[1], 4);
  EXPECT_EQ(file.n_fit, 2);
}

TEST(CoefficientFile, damage_is_refused_by_name) {
  const Shared shared;
  const auto refused = [&](const std::string& units, const std::vector<double>& times,
                           const std::vector<double>& values, double n_train) {
    shared.comm.barrier();
    if (shared.comm.is_root()) write_coefficients(shared / "a.nc", units, times, values, n_train);
    shared.comm.barrier();
    return refusal([&] { static_cast<void>(read_coefficients(shared.comm, shared / "a.nc", "a")); });
  };
  const std::string units = "days since 1800-1-1";
  const auto has = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
  };
  has(refused(units, {7, 14, 14}, {1, 2, 3}, 0), "1800-01-15 comes twice");
  has(refused(units, {7, 14, 13}, {1, 2, 3}, 0), "do not ascend");
  has(refused("", {7, 14, 21}, {1, 2, 3}, 0), "no units");
  has(refused(units, {7, 14, 21}, {1, std::numeric_limits<double>::quiet_NaN(), 3}, 0),
      "mode 0 is missing or no number at 1800-01-15");
  has(refused(units, {7, 14, 21}, {1, 2, 3}, 4), "n_train = 4");
  has(refused(units, {7}, {1}, 0), "at least two times");
  EXPECT_NE(refusal([&] {
              static_cast<void>(read_coefficients(shared.comm, shared / "a.nc", "b"));
            }).find("no variable 'b'"),
            std::string::npos);
}

}  // namespace
}  // namespace quintet::ocean
