#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "io/fields/field_series.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

/// A small series to write and read.
namespace quintet::testing {

/// Convection on 6 x 5 points, x slowest: b and p scalars, u and w components of the velocity.
inline FieldSeriesHeader small_header(std::uint64_t n_samples = 2) {
  FieldSeriesHeader header;
  header.name = "rayleigh_benard";
  header.axes = {{"x", "d", {0, 0.5, 1, 1.5, 2, 2.5}, true, 0, 3},
                 {"z", "d", {-0.4, -0.3, 0, 0.3, 0.4}, false, -0.5, 0.5}};
  header.fields = {{"p", "1", "Pressure.", "pressure", -1},
                   {"b", "1", "Buoyancy.", "buoyancy", -1},
                   {"u", "1", "Velocity.", "velocity", 0},
                   {"w", "1", "Velocity.", "velocity", 1}};
  header.parameters = {{"Ra", 1e6}, {"Pr", 0.71}, {"Lx", 3}};
  header.n_samples = n_samples;
  for (std::uint64_t i = 0; i < n_samples; ++i) header.seeds.push_back(42 + static_cast<std::int64_t>(i));
  header.double_precision = true;
  return header;
}

/// Value of a field at a point: another for each.
inline double value_at(std::size_t field, std::uint64_t sample, std::uint64_t frame, std::uint64_t ix,
                       std::uint64_t iz) {
  return 1000.0 * field + 100.0 * sample + 10.0 * frame + ix + 0.1 * iz;
}

/// Append a frame, shared out unevenly over the ranks along x.
inline void append_frame(FieldSeriesWriter& writer, const Comm& comm, const FieldSeriesHeader& header,
                         std::uint64_t sample, std::uint64_t frame, double time) {
  const UnevenRows rows(comm, header.axes[0].size());
  const std::uint64_t n_z = header.axes[1].size();
  std::vector<std::vector<double>> values(header.fields.size());
  for (std::size_t f = 0; f < values.size(); ++f)
    for (std::uint64_t i = 0; i < rows.count; ++i)
      for (std::uint64_t k = 0; k < n_z; ++k)
        values[f].push_back(value_at(f, sample, frame, rows.offset + i, k));
  writer.append<double>(sample, time, {values.begin(), values.end()}, {{rows.offset, 0}, {rows.count, n_z}});
}

/// A whole file of this many frames of each sample, 0.25 apart.
inline void write_small(const Comm& comm, const std::string& path, const FieldSeriesHeader& header,
                        std::uint64_t n_frames) {
  auto writer = FieldSeriesWriter::create(comm, path, header, hdf5::current_provenance());
  for (std::uint64_t sample = 0; sample < header.n_samples; ++sample)
    for (std::uint64_t frame = 0; frame < n_frames; ++frame)
      append_frame(writer, comm, header, sample, frame, 0.25 * frame);
  writer.close();
}

}  // namespace quintet::testing
