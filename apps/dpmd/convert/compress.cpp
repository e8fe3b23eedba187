#include "apps/dpmd/convert/compress.hpp"

#include <charconv>
#include <cmath>

#include "apps/dpmd/convert/convert.hpp"
#include "apps/dpmd/setup/command_line.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/model/dp_writer.hpp"
#include "surrogates/potential/training/data.hpp"

namespace quintet::dpmd {

namespace {

enum Argument { positional, output, distance, data, stride, extrapolate, overwrite, named };

double number(const std::string& text, const char* flag) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  QUINTET_CHECK(error == std::errc() && end == text.data() + text.size() && std::isfinite(value),
                "{} {} is not a number", flag, text);
  return value;
}

/// The least distance between two atoms and where it is known from.
struct LeastDistance {
  double value;
  std::string origin;
};

LeastDistance least_distance(const potential::Model& model, const Application::Arguments& arguments) {
  if (!arguments[distance].empty())
    return {number(arguments[distance].front(), "--least-distance"), "as given"};
  if (!arguments[data].empty()) {
    potential::DataOptions options{model.type_names, false, false, false};
    const auto systems = potential::read_systems(arguments[data], options);
    return {potential::count_neighbours(systems, model.n_types(), model.rcut).least_distance,
            "of the data given"};
  }
  QUINTET_CHECK(
      model.least_distance,
      "{} does not say the least distance between atoms in its training data; give the data (--data "
      "SYSTEM...) or the distance (--least-distance 0.9, in angstrom)",
      model_of(arguments, positional, named));
  return {*model.least_distance, "of the training data, as the model says"};
}

void describe(const std::string& path, const potential::Model& model, const LeastDistance& least) {
  std::size_t rows = 0, numbers = 0;
  for (const auto& table : model.tables) {
    numbers += table.coefficients.size();
    rows += table.coefficients.size() / (6 * static_cast<std::size_t>(table.n_channels));
  }
  const auto& table = model.tables.front();
  log::info("least distance {:.6g} angstrom, {}", least.value, least.origin);
  log::info("{} tables from {} by {} to {} and by {} to {}: {} rows, {:.1f} MB", model.tables.size(),
            table.lower, table.stride[0], table.upper, table.stride[1], table.maximum, rows,
            static_cast<double>(numbers) * (model.single_precision ? 4e-6 : 8e-6));
  log::info("{}: {}", path, model.summary());
}

}  // namespace

std::vector<Application::Flag> compress_flags() {
  return {
      {"MODEL", "Deep Potential model that is not compressed (or --model MODEL)", false, ""},
      {"--output", "File to write: .dp, .yaml or .json", true, ""},
      {"--least-distance", "Least distance between atoms (angstrom); default: of the data or the model",
       false, ""},
      {"--data...", "Systems whose least distance counts", false, ""},
      {"--stride", "Width of the table's fine rows; the coarse ones are ten times as wide", false, "0.01"},
      {"--extrapolate", "The coarse rows reach this many times as far as the fine ones", false, "5"},
      {"--overwrite", "Replace the output if it is there", false, "", true},
      {"--model", "The model, as other commands take it", false, ""}};
}

void compress(const Comm& comm, const Application::Arguments& arguments) {
  on_root(comm, [&] {
    const std::string &path = arguments[output].front(), &input = model_of(arguments, positional, named);
    require_new_model(path, !arguments[overwrite].empty());
    const double fine = number(arguments[stride].front(), "--stride");
    const double reach = number(arguments[extrapolate].front(), "--extrapolate");
    auto model = potential::read_dp(input);
    const auto least = least_distance(model, arguments);
    model = potential::compressed(std::move(model), least.value, {fine, 10 * fine}, reach);
    if (potential::has_embedding_timesteps(model))
      log::warning(
          "{}: its descriptor has time steps (resnet_dt), which DeePMD-kit's own 'dp compress' leaves out of "
          "its "
          "tables; the tables written here have them and are right",
          input);
    potential::write_dp(path, model);
    describe(path, model, least);
  });
}

}  // namespace quintet::dpmd
