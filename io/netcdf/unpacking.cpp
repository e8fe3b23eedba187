#include "io/netcdf/unpacking.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/netcdf/types.hpp"

namespace quintet::netcdf {
namespace {

constexpr double part_of_a_step = 1e-3;  ///< of packed numbers, by which products are rounded

/// An attribute of numbers; nullptr if it is absent. Throws InputError for one of another type.
const Attribute* numbers_of(const Variable& variable, const char* name) {
  const auto found = variable.attributes.find(name);
  if (found == variable.attributes.end()) return nullptr;
  variable.require_numbers(name);
  return &found->second;
}

/// One end of the valid range.
struct Limit {
  const char* name;  ///< of the attribute
  double value;
  const TypeRow* type;
  bool is_least;
};

class Maker {
 public:
  Maker(const Variable& variable, const UnpackingOptions& options)
      : variable_(variable), options_(options), stored_(row_of_name(variable.type)) {
    QUINTET_CHECK(stored_ != nullptr, "{}: {}", variable.where, variable.refusal);
  }

  Unpacking make() {
    made_.reading = variable_.reading;
    check_unsigned();
    scale();
    marks();
    for (const double value : options_.missing) meant_mark(value, "missing");
    limits();
    return made_;
  }

 private:
  [[nodiscard]] bool of_integers() const { return stored_->n_bits > 0; }
  [[nodiscard]] bool is_packed() const { return packing_ != nullptr; }
  /// A number of an attribute as the stored ones are: wrapped where one is unsigned and the other is not, in
  /// single precision where they are.
  [[nodiscard]] double as_stored(double value) const {
    const double wrap = of_integers() ? std::ldexp(1.0, stored_->n_bits) : 0;
    if (of_integers() && variable_.is_unsigned && value < 0) return value + wrap;
    if (of_integers() && stored_->is_unsigned && !variable_.is_unsigned && 2 * value >= wrap && value < wrap)
      return value - wrap;
    return variable_.type == "float" ? static_cast<double>(static_cast<float>(value)) : value;
  }
  [[nodiscard]] bool can_be_stored(double value) const {
    if (!of_integers()) return true;
    const int bits = stored_->n_bits;
    const double low = variable_.is_unsigned ? 0 : -std::ldexp(1.0, bits - 1),
                 high = std::ldexp(1.0, variable_.is_unsigned ? bits : bits - 1);
    return value == std::floor(value) && value >= low && value < high;
  }

  void check_unsigned() {
    const auto word = variable_.text("_Unsigned");
    if (!word) return;
    QUINTET_CHECK(*word == "true" || *word == "false" || *word == "True" || *word == "False",
                  "{}: _Unsigned is '{}'; expected 'true' or 'false'", variable_.where, *word);
    if (!of_integers()) made_.reading.leave(fmt::format("_Unsigned of {} numbers", variable_.type));
  }

  void scale() {
    for (const char* name : {"scale_factor", "add_offset"})
      if (const auto* attribute = numbers_of(variable_, name)) {
        const auto* type = row_of_name(attribute->type);
        if (packing_ == nullptr || type->width > packing_->width) packing_ = type;
      }
    made_.scale = variable_.number("scale_factor").value_or(1);
    made_.offset = variable_.number("add_offset").value_or(0);
    QUINTET_CHECK(std::isfinite(made_.scale) && made_.scale != 0 && std::isfinite(made_.offset),
                  "{}: is packed with scale_factor {} and add_offset {}; expected finite numbers",
                  variable_.where, made_.scale, made_.offset);
  }

  void marks() {
    for (const char* name : {"_FillValue", "missing_value"})
      if (const auto* attribute = numbers_of(variable_, name))
        for (const double given : attribute->numbers) {
          const double value = as_stored(given);
          if (can_be_stored(value))
            made_.missing.push_back(value);
          else
            meant_mark(given, name);
        }
    if (variable_.has_default_fill && !variable_.attributes.contains("_FillValue") &&
        !std::isnan(stored_->fill))
      made_.missing.push_back(stored_->fill);
  }

  /// A mark that is one of the unpacked numbers.
  void meant_mark(double value, const char* name) {
    double stored = (value - made_.offset) / made_.scale;
    if (of_integers() && std::abs(stored - std::round(stored)) <= part_of_a_step) stored = std::round(stored);
    if (can_be_stored(stored))
      made_.missing.push_back(as_stored(stored));
    else
      made_.reading.leave(fmt::format("{} {:g}, which no {} of it can be", name, value, variable_.type));
  }

  [[nodiscard]] std::vector<Limit> given_limits() const {
    std::vector<Limit> limits;
    const auto* range = numbers_of(variable_, "valid_range");
    if (range != nullptr) {
      QUINTET_CHECK(range->numbers.size() == 2, "{}: valid_range has {} numbers; expected two",
                    variable_.where, range->numbers.size());
      const auto* type = row_of_name(range->type);
      limits = {{"valid_range", range->numbers[0], type, true},
                {"valid_range", range->numbers[1], type, false}};
    }
    for (const bool is_least : {true, false}) {
      const char* name = is_least ? "valid_min" : "valid_max";
      const auto* attribute = numbers_of(variable_, name);
      if (attribute == nullptr) continue;
      const double value = *variable_.number(name);
      QUINTET_CHECK(range == nullptr || value == range->numbers[is_least ? 0 : 1],
                    "{}: has a valid_range of {} to {} and a {} of {}: one of the two may be given",
                    variable_.where, range->numbers[0], range->numbers[1], name, value);
      limits.push_back({name, value, row_of_name(attribute->type), is_least});
    }
    return limits;
  }

  /// Whether a limit is of the numbers that are meant.
  [[nodiscard]] bool is_meant(const Limit& limit) const {
    if (options_.limits != Limits::from_file) return options_.limits == Limits::unpacked;
    if (!is_packed()) return false;
    if (limit.type->value == packing_->value && packing_->width > stored_->width) return true;
    const bool has_reading = !of_integers() || limit.type->n_bits > 0;
    QUINTET_CHECK(has_reading,
                  "{}: {} {:g} is a {}: the type is neither that of the stored numbers ({}), as a limit of "
                  "them has, nor that of scale_factor ({}), as one of unpacked numbers has{}",
                  variable_.where, limit.name, limit.value, limit.type->name, stored_->name, packing_->name,
                  options_.limits_key.empty()
                      ? ""
                      : fmt::format("; say it: {}: stored, unpacked or ignored", options_.limits_key));
    return false;
  }

  // valid_min and valid_max are of stored numbers by the convention, yet many files give unpacked ones: the
  // type and the range decide, and it is told.
  void limits() {
    const auto given = given_limits();
    if (options_.limits == Limits::ignored) {
      for (const auto& limit : given) made_.reading.leave(limit.name);
      return;
    }
    double first = -std::numeric_limits<double>::infinity(), last = -first;
    Unpacking::Doubt doubt{first, last, ""};
    for (const auto& limit : given) {
      QUINTET_CHECK(!std::isnan(limit.value), "{}: {} is no number", variable_.where, limit.name);
      const bool meant = is_meant(limit);
      if (is_packed())
        made_.reading.assume(fmt::format("{} is of {} numbers", limit.name, meant ? "unpacked" : "stored"));
      if (is_packed() && !meant && options_.limits == Limits::from_file && !options_.limits_key.empty()) {
        (limit.is_least ? doubt.first : doubt.last) = limit.value;
        doubt.message = fmt::format(
            "{}: its {} is of the stored type, and so of stored numbers, but leaves out most of them; as "
            "unpacked "
            "numbers it leaves out none; say what it is: {}: stored, unpacked or ignored",
            variable_.where, limit.name, options_.limits_key);
      }
      const double value = meant ? limit.value : as_stored(limit.value);
      (limit.is_least ? first : last) = value;
      (limit.is_least ? (meant ? made_.least_meant : made_.least)
       : meant        ? made_.most_meant
                      : made_.most) = meant ? value + (limit.is_least ? -1 : 1) * slack(value) : value;
    }
    if (!doubt.message.empty()) made_.doubt = doubt;
    QUINTET_CHECK(first <= last, "{}: its valid values go from {} to {}: no number is one", variable_.where,
                  first, last);
  }
  /// By how much unpacked numbers may pass a limit for their rounding alone.
  [[nodiscard]] double slack(double limit) const {
    const double rounding = 4 * std::numeric_limits<float>::epsilon() * std::abs(limit);
    return of_integers()
               ? std::min(rounding, 0.4 * std::abs(made_.scale)) + part_of_a_step * std::abs(made_.scale)
               : rounding;
  }

  const Variable& variable_;
  const UnpackingOptions& options_;
  const TypeRow* stored_;
  const TypeRow* packing_ = nullptr;  ///< the wider of scale_factor's and add_offset's types
  Unpacking made_;
};

}  // namespace

template <class T>
void Unpacking::unpack(std::span<const T> stored, std::span<double> values) const {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr std::size_t at_once = 2048;  // few enough to stay in the nearest cache
  QUINTET_ASSERT(stored.size() == values.size(), "{} numbers, {} values", stored.size(), values.size());
  check_limits(stored);
  // In locals, which stores to `values` leave alone: loops without branches, which take a field at the pace
  // of the memory.
  const double factor = scale, term = offset, low = least, high = most, low_meant = least_meant,
               high_meant = most_meant;
  double part[at_once];
  for (std::size_t first = 0; first < stored.size(); first += at_once) {
    const std::size_t n = std::min(at_once, stored.size() - first);
    const T* from = stored.data() + first;
    for (std::size_t i = 0; i < n; ++i) {
      const double number = from[i], value = number * factor + term;
      const bool out =
          (number < low) | (number > high) | (value < low_meant) | (value > high_meant);  // NOLINT
      part[i] = out ? none : value;
    }
    for (const double mark : missing)
      for (std::size_t i = 0; i < n; ++i) part[i] = from[i] == mark ? none : part[i];
    std::copy(part, part + n, values.data() + first);
  }
}

std::vector<double> Unpacking::unpacked(std::span<const std::int16_t> stored, bool is_unsigned) const {
  std::vector<double> values(stored.size());
  if (is_unsigned) {  // as an attribute says
    const std::vector<std::uint16_t> wrapped(stored.begin(), stored.end());
    unpack<std::uint16_t>(wrapped, values);
  } else {
    unpack<std::int16_t>(stored, values);
  }
  return values;
}

template <class T>
void Unpacking::check_limits(std::span<const T> stored) const {
  if (!doubt) return;
  constexpr std::size_t at_once = 2048;
  std::uint8_t counts[at_once];  // 1 where a number is one
  std::size_t n = 0, n_out = 0;
  const double factor = scale, term = offset, low = least, high = most, first_meant = doubt->first,
               last_meant = doubt->last;
  for (std::size_t first = 0; first < stored.size(); first += at_once) {
    const std::size_t some = std::min(at_once, stored.size() - first);
    const T* from = stored.data() + first;
    for (std::size_t i = 0; i < some; ++i) counts[i] = std::isnan(static_cast<double>(from[i])) ? 0 : 1;
    for (const double mark : missing)
      for (std::size_t i = 0; i < some; ++i) counts[i] = from[i] == mark ? 0 : counts[i];
    unsigned here = 0, out = 0, beyond = 0;
    for (std::size_t i = 0; i < some; ++i) {
      const double number = from[i], value = number * factor + term;
      here += counts[i];
      out += counts[i] & static_cast<unsigned>((number < low) | (number > high));                 // NOLINT
      beyond += counts[i] & static_cast<unsigned>((value < first_meant) | (value > last_meant));  // NOLINT
    }
    if (beyond > 0) return;
    n += here, n_out += out;
  }
  if (2 * n_out > n) throw InputError(doubt->message);
}

template void Unpacking::unpack<double>(std::span<const double>, std::span<double>) const;
template void Unpacking::unpack<std::int16_t>(std::span<const std::int16_t>, std::span<double>) const;
template void Unpacking::unpack<std::uint16_t>(std::span<const std::uint16_t>, std::span<double>) const;

Unpacking unpacking_of(const Variable& variable, const UnpackingOptions& options) {
  return Maker(variable, options).make();
}

}  // namespace quintet::netcdf
