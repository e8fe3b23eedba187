#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/fields/field_series.hpp"
#include "io/parallel/interrupt.hpp"
#include "surrogates/flow/data/block.hpp"
#include "surrogates/flow/data/data_options.hpp"

/// A file of fields over time as data are read from it: which fields, what is refused, what is said.
namespace quintet::flow {

/// Open a file, its axes in the order of the options, for this rank alone. Throws InputError: what
/// FieldSeriesReader refuses; other axes; fields that it lacks; points without values; frames too unequal in
/// time where time is an axis.
[[nodiscard]] FieldSeriesReader open_series(const std::string& path, const FlowDataOptions& options);
/// Numbers of the options' fields in a file.
[[nodiscard]] std::vector<int> channels(const FieldSeriesReader& reader, const FlowDataOptions& options);
/// Say what was taken for granted, and which fields are not used.
void tell_reading(const FieldSeriesReader& reader, const FlowDataOptions& options);

/// Whether frames are equally spaced in time. One frame has no spacing, and needs none.
[[nodiscard]] bool has_equal_times(const FieldSeriesReader& reader);
/// Mean time between frames; none where a frame lies further than half of it from equal spacing.
[[nodiscard]] std::optional<double> nearly_equal_spacing(const std::vector<double>& times);
/// An axis of a file as blocks have it, widths filled in.
[[nodiscard]] BlockAxis space_axis(const FieldAxis& axis);

/// For each field, what is taken off in double precision: a model's, else the first file's mean where it is
/// too large. Throws InputError where values were rounded with such a mean, or files differ in it.
void find_offsets(const FieldSeriesReader& reader, const std::vector<int>& numbers,
                  const FlowDataOptions& options, bool is_first, std::vector<double>& offsets);
/// Read values [frame][axes...] of a part into `to`, less an offset: parts of `values_at_a_time` at a time,
/// so that a large frame needs no second copy. Throws Interrupted, asked after each.
inline constexpr std::uint64_t values_at_a_time = 1 << 24;
void read_values(const FieldSeriesReader& reader, int number, std::uint64_t sample, const FieldBox& box,
                 double offset, float* to, const Interrupt& interrupt = {});

}  // namespace quintet::flow
