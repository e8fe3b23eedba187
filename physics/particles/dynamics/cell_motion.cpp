#include "physics/particles/dynamics/cell_motion.hpp"

#include "io/log/error.hpp"

namespace quintet {

namespace {

// xx yy zz xy xz yz
constexpr int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};

int count(const std::array<bool, 3>& axes) { return int{axes[0]} + int{axes[1]} + int{axes[2]}; }

}  // namespace

double CellMotion::kinetic() const { return 0.5 * mass * contraction(rate, rate); }

SymmetricTensor CellFreedom::allowed(const SymmetricTensor& tensor) const {
  SymmetricTensor result{};
  double mean = 0;
  for (int k = 0; k < 3; ++k)
    if (axes[k]) mean += tensor[k] / count(axes);
  for (int k = 0; k < 3; ++k)
    if (axes[k]) result[k] = coupling == CellCoupling::isotropic ? mean : tensor[k];
  if (coupling == CellCoupling::triclinic)
    for (int c = 3; c < 6; ++c)
      if (axes[row[c]] && axes[column[c]]) result[c] = tensor[c];
  return result;
}

double CellFreedom::degrees() const {
  const int n = count(axes);
  switch (coupling) {
    case CellCoupling::isotropic:
      return 1;
    case CellCoupling::anisotropic:
      return n;
    case CellCoupling::triclinic:
      return n * (n + 1) / 2;
  }
  throw InternalError("a coupling of the cell without degrees of freedom");
}

}  // namespace quintet
