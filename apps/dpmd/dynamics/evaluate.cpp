#include "apps/dpmd/dynamics/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/dpmd/command_line.hpp"
#include "apps/dpmd/dynamics/placed_frame.hpp"
#include "apps/dpmd/dynamics/run_options.hpp"
#include "apps/dpmd/dynamics/system.hpp"
#include "io/config/suggest.hpp"
#include "io/files/output_file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/particles/extended_xyz.hpp"
#include "physics/particles/read_configuration.hpp"

namespace quintet::dpmd {

namespace {

namespace fs = std::filesystem;

enum Argument { model, output, precision, compress, sel_overflow, types, systems };

/// A frame's results, on rank 0.
struct Evaluation {
  Configuration configuration;        ///< with energy, forces and virial filled in
  std::vector<double> atom_energies;  ///< [n_atoms] (eV)
};

Evaluation evaluate_frame(const Comm& comm, ForceField& field, Configuration frame) {
  PlacedFrame placed(comm, frame, field.cutoff());
  const Atoms& atoms = placed.atoms;
  const Array<double> energies("dpmd::atom_energies", atoms.n_local);
  const Energetics total = placed.compute(field, energies);
  if (!total.warning.empty()) log::warning("{}", total.warning);

  struct ByAtom {
    std::int64_t id;
    double energy, force[3];
  };
  std::vector<ByAtom> own;
  for (int i = 0; i < atoms.n_local; ++i)
    own.push_back({atoms.id(i), energies(i), {atoms.force(i, 0), atoms.force(i, 1), atoms.force(i, 2)}});
  auto all = comm.gather(std::span<const ByAtom>(own));
  std::sort(all.begin(), all.end(), [](const ByAtom& a, const ByAtom& b) { return a.id < b.id; });

  Evaluation result{std::move(frame), {}};
  result.configuration.energy = total.energy;
  result.configuration.virial = total.virial;
  result.configuration.forces.clear();
  for (const auto& atom : all) {
    result.configuration.forces.push_back({atom.force[0], atom.force[1], atom.force[2]});
    result.atom_energies.push_back(atom.energy);
  }
  return result;
}

Tree number_list(std::span<const double> values) {
  Tree list = Tree::list();
  for (double value : values) list.append(Tree::number(value));
  return list;
}

Tree to_tree(const std::string& file, std::size_t frame, const Evaluation& evaluation) {
  const auto& configuration = evaluation.configuration;
  Tree tree;
  tree.set("file", Tree::text(file));
  tree.set("frame", Tree::integer(static_cast<std::int64_t>(frame)));
  tree.set("atoms", Tree::integer(static_cast<std::int64_t>(configuration.n_atoms())));
  tree.set("energy_ev", Tree::number(*configuration.energy));
  tree.set("virial_ev", number_list(*configuration.virial));
  tree.set("forces_ev_per_angstrom",
           number_list({configuration.forces.front().data(), 3 * configuration.n_atoms()}));
  tree.set("atom_energies_ev", number_list(evaluation.atom_energies));
  return tree;
}

/// Say how far labels that came with the frame are from ours.
void compare(const std::string& name, const Configuration& labels, const Evaluation& ours) {
  if (labels.energy)
    log::info("{}: energy {:.6f} eV, {:+.3f} meV an atom from its label", name, *ours.configuration.energy,
              (*ours.configuration.energy - *labels.energy) * 1e3 / static_cast<double>(labels.n_atoms()));
  if (labels.forces.empty()) return;
  double sum = 0;
  for (std::size_t i = 0; i < labels.forces.size(); ++i)
    for (int k = 0; k < 3; ++k) sum += std::pow(ours.configuration.forces[i][k] - labels.forces[i][k], 2);
  log::info("{}: force rmse to its labels {:.4g} eV/angstrom", name,
            std::sqrt(sum / (3.0 * static_cast<double>(labels.n_atoms()))));
}

}  // namespace

std::vector<Application::Flag> evaluate_flags() {
  return {{"--model", "Deep Potential model (.dp)", true, ""},
          {"--output", "Name of the files written, new ones: NAME.json and NAME.xyz", false, "evaluation"},
          {"--precision", "model, double or mixed", false, "model"},
          {"--compress", "auto, off or file", false, "auto"},
          {"--sel-overflow", "lammps or deepmd", false, "lammps"},
          {"--types", "Names of numbered types: O,H", false, ""},
          {"SYSTEM...", "Extended XYZ, LAMMPS data, DeePMD folder, H5MD or POSCAR; all frames", true, ""}};
}

void evaluate(const Comm& comm, const Application::Arguments& arguments) {
  const std::string name = arguments[output].front(), unfinished = name + ".xyz.unfinished";
  on_root(comm, [&] {
    for (const char* ending : {".json", ".xyz"})
      QUINTET_CHECK(!fs::exists(name + ending),
                    "{}{} is there; nothing was written over. Remove it, or name another file with --output",
                    name, ending);
  });
  const auto field = make_force_field(options_of<PotentialOptions>(
      arguments,
      {{"model", model}, {"precision", precision}, {"compress", compress}, {"sel_overflow", sel_overflow}}));
  Tree results = Tree::list();
  bool append = false;
  for (const auto& path : arguments[systems]) {
    std::vector<Configuration> frames;
    on_root(comm, [&] {
      ReadOptions read;
      read.all_frames = true;
      if (!arguments[types].empty()) read.type_names = names_in(arguments[types].front());
      for (auto& frame : read_configurations(path, read)) {
        frames.push_back(with_types(std::move(frame), field->type_names(), path));
        validate(frames.back(), closest_start);
      }
    });
    const auto n_frames = comm.broadcast(frames.size());
    frames.resize(n_frames);
    for (std::size_t i = 0; i < n_frames; ++i) {
      broadcast_box(comm, frames[i]);
      const Evaluation evaluation = evaluate_frame(comm, *field, frames[i]);
      on_root(comm, [&] {
        compare(fmt::format("{} frame {}", path, i), frames[i], evaluation);
        results.append(to_tree(path, i, evaluation));
        if (!append) make_new_file(unfinished);
        write_extended_xyz(unfinished, evaluation.configuration, {append, evaluation.atom_energies});
      });
      append = true;
    }
  }
  on_root(comm, [&] {
    write_text_file(name + ".json", to_json(results));
    fs::rename(unfinished, name + ".xyz");
    log::info("{} configurations: {}.json, {}.xyz", results.items().size(), name, name);
  });
}

}  // namespace quintet::dpmd
