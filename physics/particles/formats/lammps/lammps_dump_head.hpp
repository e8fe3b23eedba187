#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/reading.hpp"
#include "physics/particles/atoms/box.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet {

/// Head of a frame, before its atoms.
struct DumpHead {
  std::string units;  ///< of this frame or one before it; "": not said
  std::int64_t n_atoms = 0;
  Mat3 rows{};
  Vec3 origin{};
  std::optional<std::array<bool, 3>> periodic;
  std::vector<std::string> columns;
  Reading reading;
};

/// Reads the heads of frames of a LAMMPS dump; the atoms are left to the caller.
class DumpHeads {
 public:
  explicit DumpHeads(text::LineReader& reader) : reader_(reader) {}

  /// The head of the frame that begins here; nothing at the end of the file. Throws InputError with
  /// file:line.
  std::optional<DumpHead> next();

 private:
  [[nodiscard]] std::string item_here() const;
  std::vector<std::string_view> step(const std::string& item);
  /// One item; false at the end of the file.
  bool read_item(const std::string& item, DumpHead& head, bool& counted, bool& bounded);
  void read_bounds(const std::string& item, DumpHead& head);
  [[nodiscard]] bool is_periodic(std::string_view word) const;

  text::LineReader& reader_;
  std::string units_;  ///< as the last frame said
};

}  // namespace quintet
