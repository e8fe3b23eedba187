#include <filesystem>

#include <fmt/ranges.h>

#include "apps/dpmd/label/label_program.hpp"
#include "apps/dpmd/label/label_template.hpp"
#include "io/config/tree.hpp"
#include "physics/particles/formats/extended_xyz.hpp"

namespace quintet::dpmd {

namespace {

constexpr const char *input_file = "input", *frame_file = "frame.xyz";

void check(const std::string& text, const std::string& path) { check_template(text, path, {port_mark}, {}); }

void write_driver(const std::string& text, const std::string& folder, const Configuration& frame, int port) {
  write_extended_xyz(folder + "/" + frame_file, frame);
  write_text_file(folder + "/" + input_file, fill_template(text, {{port_mark, std::to_string(port)}}));
}

/// What a program keeps of its first cell is not known.
std::string kind(const Configuration& frame) { return fmt::format("{}", fmt::join(frame.box.rows(), " ")); }

ipi::Units units(const std::string&) { return {}; }

ipi::Positions sent(const Configuration& frame) { return {frame.box.rows(), frame.positions}; }

ipi::Forces received(const Configuration&, ipi::Forces found) { return found; }

}  // namespace

const LabelRecipe& ipi_recipe() {
  static const LabelRecipe recipe{
      "the driver",
      "",
      "say with --command what starts a driver of i-PI's protocol; it finds its input "
      "in the file 'input', the first frame in 'frame.xyz'",
      check,
      nullptr,  // started once, not for a frame
      nullptr,
      {units, write_driver, kind, sent, received, nullptr}};
  return recipe;
}

}  // namespace quintet::dpmd
