#pragma once

namespace quintet {

/// A basis in which second differences along a line of n equal cells are diagonal.
enum class LineBasis {
  periodic,      ///< 1, cos, sin of 2 pi k i/n; at centres or faces of a ring
  cosine,        ///< cos(pi k (i + 1/2)/n): centres, no flux at the ends (DCT-II)
  sine_centres,  ///< sin(pi (k + 1) (i + 1/2)/n): centres, zero at the end faces (DST-II)
  sine_faces     ///< sin(pi k i/n): faces 1 ... n-1, zero at face 0 and n (DST-I); coefficient 0 is 0
};

}  // namespace quintet
