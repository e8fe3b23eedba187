#pragma once

#include <Kokkos_Core.hpp>

namespace quintet::kinetics::lenard_bernstein {

/// One face across v_d: f* = left f^- + right f^+ and v f* + penalty = v_left f^- + v_right f^+, and the
/// greatest |A v - B| there.
struct DragFace {
  double left, right, v_left, v_right, speed;
};

/// f* is upwind where A v - B, between `least` and `greatest`, keeps its sign, else central with a local
/// Lax-Friedrichs penalty. The penalty is multiplied by A(x) like the rest: it is what its speed asks for
/// where A is its mean, and limits the step where A is greatest. At an end of velocity space F = 0.
KOKKOS_INLINE_FUNCTION DragFace drag_face(double v, double least, double greatest, double mean_rate,
                                          double greatest_rate, bool end) {
  const double magnitude = greatest > -least ? greatest : -least;
  // f moves with velocity -(A v - B): what lies above the face flows down through it where that is positive.
  const bool mixed = least < 0 && greatest > 0;
  const double right = end ? 0 : mixed ? 0.5 : greatest > 0 ? 1 : 0, left = end ? 0 : 1 - right;
  const double penalty = !end && mixed ? 0.5 * magnitude / mean_rate : 0;
  return {left, right, v * left - penalty, v * right + penalty,
          mixed ? magnitude * greatest_rate / mean_rate : magnitude};
}

}  // namespace quintet::kinetics::lenard_bernstein
