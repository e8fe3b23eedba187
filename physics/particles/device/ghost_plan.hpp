#pragma once

#include <array>
#include <vector>

namespace quintet {

/// How the ghosts of a rank come by their positions, and forces on them go home: steps in order, forces in
/// the reverse order.
///
/// A step is a message from another rank, or a run of images of this rank's own rows (local atoms, or ghosts
/// that came before). A force on an image is added to its owner's as it is computed, so images take no part
/// in the return of forces.
struct GhostPlan {
  struct Step {
    bool travels = false;               ///< a message; else images
    int first = 0, n = 0;               ///< rows that it fills
    int first_sent = 0, n_sent = 0;     ///< travels: part of `sent`
    int destination = -1, source = -1;  ///< travels: ranks; -1: none
    int direction = 0, image = 0;       ///< travels: what is sent is moved by `image` rows of the cell
  };
  std::vector<Step> steps;
  /// Add a step, unless it does nothing. Owners are not images themselves, so one step suffices for all
  /// images between two messages.
  void add(const Step& step) {
    if (step.n == 0 && step.n_sent == 0) return;
    if (step.travels || steps.empty() || steps.back().travels)
      steps.push_back(step);
    else
      steps.back().n += step.n;
  }
  std::vector<int> sent;   ///< rows that are sent, step by step
  std::vector<int> owner;  ///< [n_all] the row that a row is an image of; itself if it is not an image
  std::vector<int> shift;  ///< [n_all] by how many rows of the cell an image is moved, see shift_code()
};

/// Numbers of rows -63 to 63 along the three directions as one number, and back.
constexpr int shift_code(int a, int b, int c) { return (a + 64) << 16 | (b + 64) << 8 | (c + 64); }
constexpr int shift_along(int code, int k) { return (code >> (16 - 8 * k) & 255) - 64; }

}  // namespace quintet
