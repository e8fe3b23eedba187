#include "apps/dpmd/ipi/structures.hpp"

#include <algorithm>
#include <utility>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd::ipi {

void Structures::add(const std::vector<Configuration>& frames, const std::string& file) {
  for (const auto& frame : frames) {
    const Known* same_size = find(frame.n_atoms());
    if (same_size == nullptr) {
      known_.push_back({frame, file});
      continue;
    }
    const Configuration& other = same_size->frame;
    QUINTET_CHECK(frame.types == other.types && frame.box.periodic() == other.box.periodic(),
                  "{} and {} have {} each, but in another order of types or with other boundaries; a server "
                  "says only how many atoms there are: name one of them",
                  same_size->file, file, counted(frame.n_atoms(), "atom"));
  }
}

const Structures::Known* Structures::find(std::size_t n_atoms) const {
  const auto at = std::find_if(known_.begin(), known_.end(),
                               [&](const Known& known) { return known.frame.n_atoms() == n_atoms; });
  return at == known_.end() ? nullptr : &*at;
}

void Structures::require(int n_atoms) const {
  QUINTET_CHECK(n_atoms >= 0 && find(std::size_t(n_atoms)) != nullptr,
                "the server has {}, the structures {}; name a file with its atoms in its order",
                counted(n_atoms, "atom"), sizes());
}

Configuration Structures::placed(const Mat3& rows, std::vector<Vec3> positions) const {
  const Known* known = find(positions.size());
  QUINTET_ASSERT(known != nullptr, "{}", counted(positions.size(), "atom"));
  Configuration frame = known->frame;
  const auto& periodic = frame.box.periodic();
  if (periodic[0] || periodic[1] || periodic[2])
    frame.box = Box(rows, periodic);
  else  // what a server sends as the cell of a molecule means nothing
    frame.box = Box::enclosing(positions);
  frame.positions = std::move(positions);
  return frame;
}

std::string Structures::sizes() const {
  std::string text;
  for (const auto& known : known_)
    text += fmt::format("{}{}", text.empty() ? "" : " or ", known.frame.n_atoms());
  return text;
}

}  // namespace quintet::dpmd::ipi
