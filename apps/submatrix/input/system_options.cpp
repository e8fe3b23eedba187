#include "apps/submatrix/input/system_options.hpp"

#include "io/config/table.hpp"

namespace quintet::submatrix {

void describe(Schema& schema, MatricesOptions& options) {
  using electronic::Triangle;
  schema.text("kohn_sham", options.kohn_sham, "File of the Kohn-Sham matrix K").required().existing_file();
  schema
      .text("kohn_sham_down", options.kohn_sham_down,
            "Open shell: K of spin down, kohn_sham being that of spin up; absent: both spins are alike")
      .existing_file();
  schema.text("overlap", options.overlap, "File of the overlap matrix S; absent: S = 1, an orthogonal basis")
      .existing_file();
  auto formats = choices_of(electronic::matrix_formats());
  formats.insert(formats.begin(), {"automatic", electronic::MatrixFormat::automatic});
  schema.choice("format", options.format, formats, "Of both files; automatic: from their first bytes");
  schema.choice(
      "triangle", options.triangle, {{"both", Triangle::both}, {"one", Triangle::one}},
      "Which elements the files hold; one: CP2K's UPPER_TRIANGULAR, or of real-space blocks one of each "
      "M(0,s)_ij and M(0,-s)_ji");
  schema.choice(
      "units", options.units,
      {{"from_file", EnergyUnit::from_file},
       {"hartree", EnergyUnit::hartree},
       {"eV", EnergyUnit::electronvolt},
       {"Ry", EnergyUnit::rydberg}},
      "Of K; from_file: as the file says, or hartree if it does not. The unit has to be given where "
      "K_ii/S_ii (below -8, above 60) or a gap above 1 hartree may also be in eV");
  schema
      .integer("n_rows", options.n_rows,
               "Rows of the matrices, where the format does not say (CP2K); absent: the largest index")
      .at_least(1)
      .at_most(2147483647);
  schema
      .integers("repeat", options.repeat,
                "Cells along x, y, z into which real-space blocks M(0,s) are folded (molecules of a cell "
                "together, x fastest); absent: the files hold whole matrices")
      .length(0, 3)
      .at_least(1)
      .at_most(1000)
      .example("[2, 2, 2]");
  schema
      .number(
          "asymmetry", options.asymmetry,
          "Largest |M_ij - M_ji| (of real-space blocks |M(0,s)_ij - M(0,-s)_ji|) that is taken for noise, in "
          "the files' units; more is an error")
      .at_least(0);
  schema.choice(
      "order", options.order, {{"checked", Order::checked}, {"trusted", Order::trusted}},
      "Of the functions in K and S; checked: refused where large elements of one lie where the other "
      "has none, blocks or cells differ; trusted: not looked at");
  schema.check([&options]() -> std::optional<std::string> {
    if (!options.repeat.empty() && options.repeat.size() != 3) return "repeat needs three numbers";
    return std::nullopt;
  });
}

void describe(Schema& schema, BlocksOptions& options) {
  schema.choice(
      "by", options.by,
      {{"automatic", BlocksBy::automatic},
       {"size", BlocksBy::size},
       {"sizes", BlocksBy::sizes},
       {"file", BlocksBy::file},
       {"xyz", BlocksBy::xyz},
       {"graph", BlocksBy::graph}},
      "Blocks of one size; of listed sizes; of the atoms or molecules in a file; of the atoms of an XYZ "
      "file; "
      "parts of the graph of K; automatic: what is given here, else what the matrix file says, else parts of "
      "the graph of at most 40 orbitals");
  schema.integer("size", options.size, "Orbitals of each block: 6 for a water molecule in an SZV basis")
      .at_least(1)
      .at_most(100000);
  schema
      .integers("sizes", options.sizes,
                "Orbitals of the blocks in the matrix's order, repeated until all rows are taken: [4, 1, 1] "
                "for the atoms of water")
      .at_least(1)
      .at_most(100000);
  schema
      .text("file", options.file,
            "Text file: on each line the orbitals of an atom and, if it belongs to a molecule, the number of "
            "that molecule (from 1)")
      .existing_file();
  schema
      .text("xyz", options.xyz,
            "XYZ file of the atoms in the matrix's order, of which atoms_per_block that follow each other "
            "are a "
            "block; needs functions. Repeated until all rows are taken")
      .existing_file();
  schema
      .named_formulas("functions", options.functions,
                      "Basis functions of each element in xyz: {O: 4, H: 1} for SZV, {O: 13, H: 5} for DZVP")
      .example("{O: 13, H: 5}");
  schema
      .integer("rows_per_block", options.rows_per_block,
               "Join these blocks, or single orbitals where none are given, to blocks of at most so many "
               "orbitals that are strongly coupled; absent: they stay as they are")
      .at_least(1)
      .at_most(100000);
  schema
      .integer(
          "atoms_per_block", options.atoms_per_block,
          "Atoms of a block of `size`, `sizes` or `xyz`, for errors an atom (3 for water molecules); absent: "
          "1 in blocks of `xyz`, else not known")
      .at_least(1)
      .at_most(100000);
  schema.check([&options]() -> std::optional<std::string> {
    const int given = (options.size ? 1 : 0) + (options.sizes.empty() ? 0 : 1) + (options.file ? 1 : 0) +
                      (options.xyz ? 1 : 0);
    if (given > 1) return "give one of size, sizes, file and xyz";
    if (options.xyz.has_value() == options.functions.empty())
      return options.xyz ? "xyz needs functions: how many each element has" : "functions is for xyz";
    if (options.by == BlocksBy::size && !options.size) return "by: size needs size";
    if (options.by == BlocksBy::sizes && options.sizes.empty()) return "by: sizes needs sizes";
    if (options.by == BlocksBy::file && !options.file) return "by: file needs file";
    if (options.by == BlocksBy::xyz && !options.xyz) return "by: xyz needs xyz";
    if (options.by == BlocksBy::graph && !options.rows_per_block) return "by: graph needs rows_per_block";
    return std::nullopt;
  });
}

void describe(Schema& schema, EnsembleOptions& options) {
  schema.quantity("mu", options.mu, "hartree", "Fixed chemical potential; the number of electrons follows");
  schema
      .number("electrons", options.electrons,
              "Fixed number of electrons, two an occupied orbital; the chemical potential follows")
      .above(0);
  schema.number("unpaired", options.unpaired,
                "Open shell with a fixed number of electrons: those of spin up less those of spin down; each "
                "spin gets a chemical potential of its own");
  schema.flag(
      "common_mu", options.common_mu,
      "Open shell with a fixed number of electrons: one chemical potential for both spins, which share the "
      "electrons; both spins are held to the tolerance together");
  schema.number("tolerance", options.tolerance, "Largest error of that number").above(0).at_most(0.1);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.mu.has_value() == options.electrons.has_value()) return "give one of mu and electrons";
    if (options.mu && options.unpaired != 0) return "unpaired is for a fixed number of electrons";
    if (options.mu && options.common_mu)
      return "common_mu is for a fixed number of electrons; a fixed mu is that of both spins";
    if (options.common_mu && options.unpaired != 0)
      return "give one of common_mu, which finds the unpaired electrons, and unpaired, which fixes them";
    return std::nullopt;
  });
}

void describe(Schema& schema, ReferenceOptions& options) {
  schema.quantity("energy", options.energy, "hartree", "Tr(DK), half the band energy; absent: none");
  schema.quantity("homo", options.homo, "hartree", "Highest occupied level");
  schema.quantity("lumo", options.lumo, "hartree", "Lowest empty level");
  schema
      .text("file", options.file,
            "YAML file of such values for several boxes, found by matrices.repeat (make_water.py writes one)")
      .existing_file();
  schema.text("label", options.label, "What the reference is");
}

}  // namespace quintet::submatrix
