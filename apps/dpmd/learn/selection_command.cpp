#include "apps/dpmd/learn/selection_command.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

#include "apps/dpmd/deviation/selection.hpp"
#include "apps/dpmd/setup/placed_frame.hpp"
#include "apps/dpmd/setup/run_options.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "physics/particles/dynamics/dynamics.hpp"
#include "physics/particles/files/read_configuration.hpp"

namespace quintet::dpmd {

namespace {

/// Frames of a file on rank 0 and their deviation by the models on all ranks. Collective.
FrameSource measured(const Comm& comm, const std::string& path, const NamingOptions& naming,
                     ForceField& driving, potential::ModelEnsemble& ensemble) {
  FrameSource source{path, {}, read_options_of(naming)};
  source.read.n_atom_parameters = driving.n_atom_parameters();
  require_known(source.read.masses, driving.type_names(), "--masses");
  std::vector<Configuration> all;
  on_root(comm, [&] {
    auto found = read_configurations(path, source.read);
    tell_reading(path, found);
    for (auto& frame : found) {
      all.push_back(with_types(std::move(frame), driving.type_names(), path));
      validate(all.back(), closest_start);
    }
  });
  all.resize(comm.broadcast(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    broadcast_box(comm, all[i]);
    source.rows.push_back({static_cast<std::int64_t>(i), deviation_of(comm, driving, ensemble, all[i])});
  }
  return source;
}

std::vector<FrameSource> measure_all(const Comm& comm, const SelectCommandOptions& options) {
  PotentialOptions potential;
  potential.models = options.models;
  QUINTET_CHECK(options.models.size() >= 2,
                "--model is given once; models disagree only where there are two or more");
  const auto driving = make_force_field(potential);
  auto ensemble = make_ensemble(comm, potential, *driving, {});
  std::vector<FrameSource> sources;
  for (const auto& path : options.frames)
    sources.push_back(measured(comm, path, options.naming, *driving, ensemble));
  return sources;
}

std::vector<FrameSource> read_all(const SelectCommandOptions& options) {
  const auto& files = options.deviations;
  QUINTET_CHECK(files.size() == options.frames.size(),
                "{} --deviation for {} of frames; give one for each, in their order", files.size(),
                counted(options.frames.size(), "file"));
  std::vector<FrameSource> sources;
  for (std::size_t i = 0; i < files.size(); ++i)
    sources.push_back({options.frames[i], read_deviations(files[i]), read_options_of(options.naming)});
  return sources;
}

/// The measured rows as a file, frames of all sources numbered through.
void write_deviations(const std::string& path, const std::vector<FrameSource>& sources) {
  std::string text = deviation_header(false);
  for (const auto& source : sources) {
    text += "# " + source.frames + "\n";
    for (const auto& row : source.rows) text += deviation_line(row);
  }
  write_text_file(path, text);
}

}  // namespace

potential::Deviation deviation_of(const Comm& comm, ForceField& driving, potential::ModelEnsemble& ensemble,
                                  const Configuration& frame) {
  PlacedFrame placed(comm, frame, ensemble.widened(domain_of(driving)).cutoff);
  const Energetics total = placed.compute(driving);
  return ensemble.measure(Exec(), placed.atoms, placed.domain, total);
}

void describe(Schema& schema, SelectCommandOptions& options) {
  schema.texts("deviation", options.deviations,
               "model_devi.out of a file of frames (repeatable, in the order of FRAMES)");
  schema.texts(
      "model", options.models,
      "Or the models themselves (.dp, .pth, .pt, .pt2), two or more (repeatable): frames are measured here");
  describe(schema, options.selection);
  schema.integer("seed", options.seed, "Of random choices");
  schema.text("output", options.output,
              "Name of the files written: NAME.xyz, NAME.json, and NAME.out with --model");
  describe(schema, options.naming);
  schema
      .texts("frames", options.frames,
             "candidates.h5 or trajectory.h5 of a run, or extended XYZ with a frame for each row")
      .required();
}

void select(const Comm& comm, const SelectCommandOptions& options) {
  QUINTET_CHECK(options.deviations.empty() != options.models.empty(),
                "give either --deviation FILE or --model A --model B");
  const std::string& name = options.output;
  on_root(comm, [&] {
    QUINTET_CHECK(!std::filesystem::exists(name + ".json"),
                  "{}.json is there; nothing was written over. Remove it, or name another file with --output",
                  name);
  });
  const bool measure = !options.models.empty();
  std::vector<FrameSource> sources;
  if (measure) sources = measure_all(comm, options);
  on_root(comm, [&] {
    if (measure)
      write_deviations(name + ".out", sources);
    else
      sources = read_all(options);
    const Selection selection = select_frames(sources, options.selection, options.seed);
    write_selection(name, selection);
    log::info("{}", summary_of(selection));
    if (selection.without_frame > 0)
      log::warning("{} no frame in the files: trajectory.interval is longer than deviation.interval",
                   counted(selection.without_frame, "candidate has", "candidates have"));
    if (selection.frames.empty()) log::info("No candidate: nothing to label");
  });
}

}  // namespace quintet::dpmd
