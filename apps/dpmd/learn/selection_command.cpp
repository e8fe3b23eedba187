#include "apps/dpmd/learn/selection_command.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

#include "apps/dpmd/deviation/selection.hpp"
#include "apps/dpmd/setup/command_line.hpp"
#include "apps/dpmd/setup/placed_frame.hpp"
#include "apps/dpmd/setup/run_options.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "physics/particles/files/read_configuration.hpp"

namespace quintet::dpmd {

namespace {

enum Argument {
  deviation_file,
  model,
  force_low,
  force_high,
  virial_low,
  virial_high,
  most,
  method,
  seed,
  output,
  types,
  masses,
  periodic,
  frames
};

/// Frames of a file on rank 0 and their deviation by the models on all ranks. Collective.
FrameSource measured(const Comm& comm, const std::string& path, const Application::Arguments& arguments,
                     ForceField& driving, potential::ModelEnsemble& ensemble) {
  FrameSource source{path, {}, read_options_of(arguments, types, masses)};
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

std::vector<FrameSource> measure_all(const Comm& comm, const Application::Arguments& arguments) {
  PotentialOptions options;
  options.models = arguments[model];
  QUINTET_CHECK(options.models.size() >= 2,
                "--model is given once; models disagree only where there are two or more");
  const auto driving = make_force_field(options);
  auto ensemble = make_ensemble(options, *driving, {});
  std::vector<FrameSource> sources;
  for (const auto& path : arguments[frames])
    sources.push_back(measured(comm, path, arguments, *driving, ensemble));
  return sources;
}

std::vector<FrameSource> read_all(const Application::Arguments& arguments) {
  const auto& files = arguments[deviation_file];
  QUINTET_CHECK(files.size() == arguments[frames].size(),
                "{} --deviation for {} files of frames; give one for each, in their order", files.size(),
                arguments[frames].size());
  std::vector<FrameSource> sources;
  for (std::size_t i = 0; i < files.size(); ++i)
    sources.push_back(
        {arguments[frames][i], read_deviations(files[i]), read_options_of(arguments, types, masses)});
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
  PlacedFrame placed(comm, frame, driving.cutoff());
  const Energetics total = placed.compute(driving);
  return ensemble.measure(Exec(), placed.atoms, placed.domain, total);
}

std::vector<Application::Flag> selection_flags() {
  auto flags = std::vector<Application::Flag>{
      {"--deviation", "model_devi.out of a file of frames (repeatable, in the order of FRAMES)", false, ""},
      {"--model", "Or the models themselves (.dp), two or more (repeatable): frames are measured here", false,
       ""},
      {"--force-low", "Least max_devi_f of a candidate: '0.05 eV/angstrom'", true, ""},
      {"--force-high", "max_devi_f of a failed frame: '0.25 eV/angstrom'", true, ""},
      {"--virial-low", "The same for max_devi_v: '0.02 eV'", false, ""},
      {"--virial-high", "The same for max_devi_v: '0.1 eV'", false, ""},
      {"--most", "Frames to take at most", false, "100"},
      {"--method", "random, time, deviation or farthest", false, "random"},
      {"--seed", "Of random choices", false, "1"},
      {"--output", "Name of the files written: NAME.xyz, NAME.json, and NAME.out with --model", false,
       "selected"},
  };
  for (auto& flag : naming_flags()) flags.push_back(std::move(flag));
  flags.push_back({"FRAMES...",
                   "candidates.h5 or trajectory.h5 of a run, or extended XYZ with a frame for each row", true,
                   ""});
  return flags;
}

void select(const Comm& comm, const Application::Arguments& arguments) {
  const auto options = options_of<SelectionOptions>(arguments, {{"force_low", force_low},
                                                                {"force_high", force_high},
                                                                {"virial_low", virial_low},
                                                                {"virial_high", virial_high},
                                                                {"most", most},
                                                                {"method", method}});
  QUINTET_CHECK(arguments[deviation_file].empty() != arguments[model].empty(),
                "give either --deviation FILE or --model A --model B");
  const std::string& name = arguments[output].front();
  on_root(comm, [&] {
    QUINTET_CHECK(!std::filesystem::exists(name + ".json"),
                  "{}.json is there; nothing was written over. Remove it, or name another file with --output",
                  name);
  });
  const bool measure = !arguments[model].empty();
  std::vector<FrameSource> sources;
  if (measure) sources = measure_all(comm, arguments);
  on_root(comm, [&] {
    if (measure)
      write_deviations(name + ".out", sources);
    else
      sources = read_all(arguments);
    const auto number = parse_yaml(arguments[seed].front(), "--seed").as_integer();
    const Selection selection = select_frames(sources, options, static_cast<std::uint64_t>(number));
    write_selection(name, selection);
    log::info("{}", summary_of(selection));
    if (selection.without_frame > 0)
      log::warning(
          "{} candidates have no frame in the files: trajectory.interval is longer than deviation.interval",
          selection.without_frame);
    if (selection.frames.empty()) log::info("No candidate: nothing to label");
  });
}

}  // namespace quintet::dpmd
