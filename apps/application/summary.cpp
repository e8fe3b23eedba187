#include "apps/application/summary.hpp"

#include <algorithm>
#include <filesystem>

#include "apps/application/progress.hpp"
#include "io/log/log.hpp"

namespace quintet {
namespace {

using Rows = std::vector<std::vector<std::string>>;

const char* status_text(ExitCode code) {
  switch (code) {
    case ExitCode::done:
      return "done";
    case ExitCode::stopped_early:
      return "stopped early";
    case ExitCode::numerical:
      return "numerical failure";
    default:
      return "failed";
  }
}

double steps_per_second(const Context::Implementation& context) {
  return context.loop_seconds > 0 ? static_cast<double>(context.steps_done) / context.loop_seconds : 0;
}

Tree provenance_tree(const hdf5::Provenance& provenance) {
  Tree tree = Tree::map();
  const auto text = [&tree](const char* key, const std::string& value) {
    tree.set(key, Tree::scalar(value, true));
  };
  text("program", provenance.program);
  text("version", provenance.version);
  text("git_hash", provenance.git_hash);
  text("build", provenance.build);
  text("blas", provenance.blas);
  text("host", provenance.host);
  text("date", provenance.date);
  tree.set("seed", Tree::scalar(std::to_string(provenance.seed)));
  return tree;
}

Tree summary_tree(const Context::Implementation& context, const Outcome& outcome) {
  Tree tree = Tree::map();
  tree.set("program", Tree::scalar(context.provenance.program, true));
  tree.set("input", Tree::scalar(context.request.input, true));
  tree.set("status", Tree::scalar(status_text(outcome.code), true));
  tree.set("exit_code", Tree::integer(static_cast<int>(outcome.code)));
  if (!outcome.message.empty()) tree.set("message", Tree::scalar(outcome.message, true));
  if (context.restart_file) tree.set("restarted_from", Tree::scalar(*context.restart_file, true));
  for (const auto& [key, value] : context.summary) tree.set(key, value);
  tree.set("steps", Tree::integer(context.steps_done));
  if (context.last_step) tree.set("last_step", Tree::integer(*context.last_step));
  if (context.steps_done > 0) tree.set("steps_per_s", Tree::number(steps_per_second(context)));
  tree.set("wall_s", Tree::number(outcome.wall_s));
  tree.set("ranks", Tree::integer(context.comm.size()));
  tree.set("threads", Tree::integer(context.runtime.threads().per_rank));
  tree.set("memory_peak_mb_per_rank", Tree::number(outcome.peak_memory_mb));
  tree.set("warnings", Tree::integer(log::warning_count()));
  Tree timings = Tree::map();
  for (const auto& [path, seconds] : outcome.timings_s) timings.set(path, Tree::number(seconds));
  tree.set("timings_s", timings);
  tree.set("provenance", provenance_tree(context.provenance));
  return tree;
}

std::string value_text(const Tree& value) {
  if (value.is_null()) return "none";
  if (value.quoted()) return value.as_text();
  const double number = value.as_number();
  return fmt::format("{:.6g}", number);
}

std::vector<Headline> headlines(const Context::Implementation& context, const Outcome& outcome) {
  std::vector<Headline> result;
  for (const auto& [key, value] : context.summary) result.push_back({key, value_text(value)});
  if (context.steps_done > 0) {
    result.push_back({"steps", std::to_string(context.steps_done)});
    result.push_back({"steps_per_s", fmt::format("{:.4g}", steps_per_second(context))});
  }
  result.push_back({"wall_time", clock_text(outcome.wall_s)});
  return result;
}

std::vector<Bar> timing_bars(const Outcome& outcome) {
  std::vector<Bar> bars;
  for (const auto& [path, seconds] : outcome.timings_s) {
    const auto depth = static_cast<int>(std::count(path.begin(), path.end(), '/'));
    const double part = outcome.wall_s > 0 ? seconds / outcome.wall_s : 0;
    bars.push_back({path.substr(path.rfind('/') + 1), depth, part,
                    fmt::format("{:.3g} s, {:.1f} %", seconds, 100 * part)});
  }
  return bars;
}

Rows provenance_rows(const Context::Implementation& context, const Outcome& outcome) {
  const auto& provenance = context.provenance;
  return {{"Program", fmt::format("{} {} ({})", provenance.program, provenance.version, provenance.git_hash)},
          {"Build", provenance.build},
          {"Machine", context.runtime.description()},
          {"Host", provenance.host},
          {"Date", provenance.date},
          {"Seed", std::to_string(provenance.seed)},
          {"Ranks, threads", fmt::format("{}, {}", context.comm.size(), context.runtime.threads().per_rank)},
          {"Peak memory", fmt::format("{:.0f} MB a rank", outcome.peak_memory_mb)},
          {"Restarted from", context.restart_file.value_or("the beginning")},
          {"Directory", context.directory}};
}

Report page(const Context::Implementation& context, const Outcome& outcome) {
  Report page;
  page.title(fmt::format("{}: {}", context.provenance.program,
                         std::filesystem::path(context.request.input).stem().string()),
             fmt::format("{} · {}", context.provenance.host, context.provenance.date));
  page.status(status_text(outcome.code), outcome.code == ExitCode::done, outcome.message);
  page.headlines(headlines(context, outcome));
  page.append(context.report);
  if (!outcome.timings_s.empty()) {
    page.section("Timings");
    page.bars(timing_bars(outcome),
              "Wall time of each phase on its slowest rank, in per cent of the whole run.");
  }
  if (!log::warnings().empty()) {
    page.section("Warnings");
    for (const auto& warning : log::warnings()) page.paragraph(warning);
  }
  page.section("Provenance");
  page.table({}, provenance_rows(context, outcome));
  page.section("Configuration");
  page.preformatted(context.provenance.configuration);
  return page;
}

}  // namespace

Outcome measure_outcome(const Context::Implementation& context, ExitCode code, std::string message) {
  const Comm& comm = context.comm;
  return {code, std::move(message), comm.maximum(seconds_since_start()), comm.maximum(peak_memory_mb()),
          context.phases.slowest_rank(comm)};
}

void write_outcome(const Context::Implementation& context, const Outcome& outcome) {
  write_text_file(context.directory + "/summary.json", to_json(summary_tree(context, outcome)) + "\n");
  write_text_file(context.directory + "/report.html", page(context, outcome).html());
}

}  // namespace quintet
