#include "apps/dpmd/setup/labels_options.hpp"

#include "io/config/schema.hpp"

namespace quintet::dpmd {

namespace {
constexpr double gpa = 1 / 160.2176634;  // (eV/angstrom^3)
}

void describe(Schema& schema, LabelsOptions& options) {
  schema
      .text(
          "prefix", options.prefix,
          "What stands before energy, forces, virial and stress in extended XYZ: 'REF_', or '' for the plain "
          "names. Absent: the one source that a frame has; two that differ are refused")
      .example("REF_");
  schema.choice("stress_unit", options.stress_unit,
                {{"eV/angstrom^3", 1.0}, {"GPa", gpa}, {"kbar", gpa / 10}, {"bar", gpa * 1e-4}},
                "Unit of the stress in extended XYZ; a virial is in eV");
  schema.choice("stress_sign", options.stress_sign,
                {{"tension", LabelsOptions::Sign::tension}, {"pressure", LabelsOptions::Sign::pressure}},
                "What is counted positive in a stress: ASE and OVITO tension, VASP and CP2K pressure");
  schema
      .quantity("stress_limit", options.stress_limit, "GPa",
                "Data with a larger stress (virial / volume) are refused, as of another unit")
      .above(0);
}

LabelSource source_of(const LabelsOptions& options) {
  LabelSource source;
  source.prefix = options.prefix;
  source.stress_unit =
      options.stress_sign == LabelsOptions::Sign::pressure ? -options.stress_unit : options.stress_unit;
  return source;
}

double stress_limit_of(const LabelsOptions& options) { return options.stress_limit * gpa; }

}  // namespace quintet::dpmd
