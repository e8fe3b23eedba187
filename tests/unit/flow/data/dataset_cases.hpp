#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/fields/field_series.hpp"
#include "io/log/error.hpp"
#include "surrogates/flow/data/dataset.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

/// Files of flows whose fields are formulas.
namespace quintet::flow::datasets {

constexpr double two_pi = 2 * std::numbers::pi;

/// A field of (sample, t, z, x).
using Function = std::function<double(double, double, double, double)>;

inline double linear(double sample, double t, double z, double x) {
  return 0.5 + sample + 2 * t - 3 * z + 0.25 * x;
}

struct File {
  std::uint64_t n_samples = 3, n_frames = 12;
  int n_z = 16, n_x = 16;
  bool periodic = false;
  double spacing = 0.25, first = 0;
  std::map<std::string, double> parameters{{"Pr", 1}, {"Ra", 1e6}};
  std::vector<std::string> fields{"b", "w"};
  bool double_precision = false;
  Function b = linear, w = [](double, double t, double z, double) { return t * z; };
};

inline FieldSeriesHeader header_of(const File& file) {
  FieldSeriesHeader header;
  header.name = "test";
  FieldAxis z{"z", "1", {}, false, -0.5, 0.5}, x{"x", "1", {}, file.periodic, 0, 4};
  for (int j = 0; j < file.n_z; ++j)
    z.coordinates.push_back(-0.5 * std::cos(std::numbers::pi * (2 * j + 1) / (2 * file.n_z)));
  for (int i = 0; i < file.n_x; ++i)
    x.coordinates.push_back((i + (file.periodic ? 0.0 : 0.5)) * 4.0 / file.n_x);
  header.axes = {x, z};  // x slowest: the reader turns them
  for (const auto& name : file.fields) header.fields.push_back({name, "1", "", "", -1});
  header.parameters = file.parameters;
  header.n_samples = file.n_samples;
  header.double_precision = file.double_precision;
  return header;
}

inline std::string write(const SharedScratch& scratch, const std::string& name, const File& file) {
  const auto comm = Comm::world();
  const auto header = header_of(file);
  auto writer = FieldSeriesWriter::create(comm, scratch / name, header, hdf5::current_provenance());
  for (std::uint64_t sample = 0; sample < file.n_samples; ++sample)
    for (std::uint64_t frame = 0; frame < file.n_frames; ++frame) {
      const double t = file.first + file.spacing * frame;
      std::vector<std::vector<double>> values(header.fields.size());
      for (std::size_t f = 0; f < values.size() && comm.is_root(); ++f)
        for (const double x : header.axes[0].coordinates)
          for (const double z : header.axes[1].coordinates)
            values[f].push_back((f == 0 ? file.b : file.w)(sample, t, z, x));
      const auto shape = header.shape();
      writer.append<double>(sample, t, {values.begin(), values.end()},
                            {{0, 0}, {comm.is_root() ? shape[0] : 0, shape[1]}});
    }
  writer.close();
  return scratch / name;
}

inline FlowDataOptions options_of(const std::vector<std::string>& files) {
  FlowDataOptions options;
  options.files = files;
  options.fields = {"b", "w"};
  options.crop = {4, 8, 8};
  options.points = 50;
  options.low_resolution.factor = {2, 4, 4};
  options.split.validation = options.split.test = 1.0 / 3;
  return options;
}

inline std::vector<std::string> refused(const FlowDataOptions& options) {
  const auto message = message_of<InputError>([&] { FlowDataset(Comm::world(), options); });
  EXPECT_EQ(message.find('\n'), std::string::npos);
  return {message};
}

#define EXPECT_REFUSED(options, part) EXPECT_TRUE(contains(refused(options)[0], part)) << refused(options)[0]

}  // namespace quintet::flow::datasets
