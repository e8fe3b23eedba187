#include "physics/particles/atoms/atom_parameters.hpp"

#include <cmath>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet {

std::string cure_of_atom_parameters(int n) {
  return fmt::format(
      "give them as a column aparam:R:{} of extended XYZ or as aparam.npy of a DeePMD system (a checkpoint "
      "has those of its run); a run whose atoms of a type have the same takes potential.atom_parameters",
      n);
}

void take_atom_parameters(Configuration& c, int n, const std::string& where) {
  if (n == 0 && !c.parameters.empty()) {
    c.reading.leave("aparam");
    c.parameters.clear();
  }
  if (n == any_number) n = c.n_parameters();
  QUINTET_CHECK(c.n_parameters() == n, "{}: the model reads {} of each atom (aparam), the file has {}: {}",
                where, counted(n, "number"), c.n_parameters(), cure_of_atom_parameters(n));
  for (std::size_t i = 0; i < c.parameters.size(); ++i)
    QUINTET_CHECK(std::isfinite(c.parameters[i]), "{}: aparam of atom {} is {}; expected a finite number",
                  where, i / n + 1, c.parameters[i]);
}

void require_same_parameters(int of_one, int of_other) {
  QUINTET_CHECK(
      of_one == 0 || of_other == 0 || of_one == of_other,
      "models of the same atoms read {} and {} of each atom (aparam); expected the same number, or none",
      of_one, counted(of_other, "number"));
}

}  // namespace quintet
