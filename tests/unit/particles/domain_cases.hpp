#pragma once

#include <array>
#include <string>

#include "io/log/error.hpp"
#include "physics/particles/atoms/atoms.hpp"
#include "physics/particles/atoms/box.hpp"

/// What tests of domains share.
namespace quintet {

inline constexpr std::array<bool, 3> periodic{true, true, true};
inline const Box skewed({19, 0, 0, 4, 17, 0, -5, 3, 21}, periodic, {1, -2, 3});

/// The words of the error that `action` ends with; empty: it ends with none.
template <class Action>
[[nodiscard]] std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A copy of the local atoms alone, with memory of its own: what a checkpoint holds.
[[nodiscard]] inline Atoms checkpoint_of(const Atoms& atoms) {
  Atoms copy;
  copy.box = atoms.box;
  copy.type_names = atoms.type_names;
  copy.masses = atoms.masses;
  copy.n_global = atoms.n_global;
  copy.n_local = atoms.n_local;
  copy.reserve(atoms.n_local);
  for (int i = 0; i < atoms.n_local; ++i) {
    for (int l = 0; l < 3; ++l) {
      copy.position(i, l) = atoms.position(i, l);
      copy.velocity(i, l) = atoms.velocity(i, l);
      copy.image(i, l) = atoms.image(i, l);
    }
    copy.id(i) = atoms.id(i);
    copy.type(i) = atoms.type(i);
  }
  return copy;
}

}  // namespace quintet
