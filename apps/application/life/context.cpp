#include "apps/application/life/context.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <system_error>

#include <unistd.h>

#include "apps/application/life/context_implementation.hpp"
#include "apps/application/life/input_identity.hpp"
#include "apps/application/life/restart.hpp"
#include "apps/application/report/report.hpp"
#include "io/files/put_aside.hpp"
#include "io/hdf5/embedded_file.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/shared_memory_bounds.hpp"
#include "io/parallel/together.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

using Seconds = std::chrono::duration<double>;
constexpr double look_every_s = 0.1;        // a launcher that ends a job may kill it a second later
constexpr double end_margin_s = 2;          // closing files, writing the report
constexpr double assumed_write_mb_s = 500;  // for the reserve until a checkpoint was timed

hdf5::Provenance make_provenance(const Runtime& runtime, const Request& request, const Describe& describe) {
  auto provenance = hdf5::current_provenance();
  provenance.program = request.program;
  provenance.ranks = runtime.comm().size();
  provenance.threads = runtime.threads().per_rank;
  provenance.configuration = to_yaml(options_tree(describe));
  return provenance;
}

/// A name that no other run has.
std::string name_run(const Comm& comm) {
  std::random_device random;
  return comm.broadcast(fmt::format("{:08x}{:08x}", random(), random()));
}

}  // namespace

Context::Implementation::Implementation(const Runtime& runtime, const Request& request,
                                        RunDirectory& run_directory, const Describe& describe)
    : runtime(runtime),
      comm(runtime.comm()),
      request(request),
      describe(describe),
      directory(run_directory),
      provenance(make_provenance(runtime, request, describe)),
      stop(request.walltime_s),
      progress(runtime.comm().is_root() && !request.quiet && isatty(STDERR_FILENO) != 0,
               runtime.comm().is_root()) {
  store.emplace(comm, directory.path() + "/checkpoints", 3);
  if (!request.restart.empty()) provenance.inputs = identify_inputs(comm, describe);
  auto point = find_restart(comm, request, directory.path(), describe, provenance.inputs);
  restart_file = std::move(point.file);
  recorded_rows = std::move(point.rows);
  losses = std::move(point.losses);
  provenance.run = restart_file ? point.run : name_run(comm);
  provenance.changes = std::move(point.changes);
  for (const auto& file : input_files(describe)) {
    const auto expert = hdf5::embedded_name(file.path);
    reads.push_back(expert ? expert->file : file.path);
  }
  if (restart_file) reads.push_back(*restart_file);
}

void Context::Implementation::begin(const std::vector<std::string>& writes) {
  if (directory.has_begun()) return;
  // Not earlier: a name by mistake ("/") may hold more than a command would ever read.
  if (provenance.inputs.empty()) provenance.inputs = identify_inputs(comm, describe);
  // What an unreadable file holds may be all that is left of a run.
  const bool begins_again = !request.restart.empty() && !restart_file && !request.overwrite;
  const std::string damage =
      begins_again ? damage_of_results(comm, directory.path() + "/run.h5") : std::string();
  directory.begin(writes, restart_file.has_value(), reads,
                  damage.empty() ? std::vector<std::string>() : std::vector<std::string>{"run.h5"});
  if (!damage.empty()) log::warning("run.h5 of the former start was put aside: {}", damage);
  if (restart_file) supersede_later_checkpoints();
  log::configure({.speaks = comm.is_root(), .quiet = request.quiet, .file = log_file()});
  for (const auto& [what, text] : losses) log::warning("{}: {} (of an earlier restart)", what, text);
  if (comm.is_root()) progress.write_to(directory.path() + "/progress.json");
}

void Context::Implementation::supersede_later_checkpoints() const {
  for (const auto step : store->steps()) {
    const bool is_it =
        comm.is_root() && fs::exists(*restart_file) && fs::equivalent(store->path(step), *restart_file);
    if (comm.any(is_it)) return store->supersede_after(step);
  }
}

std::string Context::Implementation::log_file() const {
  return directory.has_begun() ? directory.path() + "/run.log" : "";
}

double Context::Implementation::reserve_s() const {
  const double timed = phases.longest("checkpoint");
  return 2 * (timed > 0 ? timed : peak_memory_mb() / assumed_write_mb_s) + end_margin_s;
}

void Context::Implementation::close() {
  failure_action = nullptr;
  results.reset();
}

void Context::Implementation::seal_files() const {
  std::vector<std::string> files;
  on_root(comm, [&] { files = directory.hdf5_files(); });
  files.resize(comm.broadcast(files.size()));
  for (auto& file : files) {
    file = comm.broadcast(file);
    try {
      if (!hdf5::is_sealed(comm, file)) hdf5::seal(comm, file);
    } catch (const Error& error) {
      log::warning("No checksum at the end of {}: {}", file, error.what());
    }
  }
}

void Context::Implementation::discard_fruitless_results() const {
  std::error_code ignored;
  if (comm.is_root() && made_results && steps_done == 0) fs::remove(directory.path() + "/run.h5", ignored);
}

const Comm& Context::comm() const { return implementation_.comm; }
const Threads& Context::threads() const { return implementation_.runtime.threads(); }

DeviceSession Context::open_device(Device wanted) {
  DeviceSession session(wanted, implementation_.comm);
  if (wanted != Device::cpu) log::info("Device: {}", session.description());
  implementation_.device = session.description();
  return session;
}
const std::string& Context::directory() const { return implementation_.directory.path(); }
std::string Context::path(const std::string& name) const {
  if (comm().is_root() && implementation_.directory.has_begun()) implementation_.directory.claim(name);
  return directory() + "/" + name;
}
bool Context::go_ahead(const std::vector<std::string>& writes) {
  if (!validating()) implementation_.begin(writes);
  return !validating();
}
bool Context::validating() const { return implementation_.request.validate; }
void Context::require_memory(double bytes, const std::string& what) const {
  quintet::require_memory(comm(), bytes, what);
}
const std::string& Context::configuration() const { return implementation_.provenance.configuration; }
const hdf5::Provenance& Context::provenance() const { return implementation_.provenance; }
void Context::record_seed(std::uint64_t seed) { implementation_.provenance.seed = seed; }
const std::optional<std::string>& Context::restart_file() const { return implementation_.restart_file; }
bool Context::restart_with_changes() const { return implementation_.request.restart_with_changes; }
const hdf5::CheckpointStore& Context::checkpoints() const { return *implementation_.store; }
bool Context::stopped_early() const { return !implementation_.stop_reason.empty(); }
bool Context::stop_noticed() const { return implementation_.stop.noticed(implementation_.reserve_s()); }
Report& Context::report() { return implementation_.report; }
Context::Phase Context::phase(const char* name) { return implementation_.phases.timer(name); }
void Context::add_phase(const std::string& path, double seconds) {
  implementation_.phases.add(path, seconds);
}

void Context::keep_checkpoints(int n) {
  implementation_.store.emplace(comm(), directory() + "/checkpoints", n);
}

namespace {

void require_begun(const Context::Implementation& context, const char* what) {
  if (!context.directory.has_begun())
    throw InternalError(fmt::format("{} before the command was told to go ahead", what));
}

}  // namespace

void Context::checkpoint(std::int64_t step, const std::function<void(hdf5::Group&)>& write) {
  require_begun(implementation_, "A checkpoint");
  const auto timer = phase("checkpoint");
  // Results first: after a kill they reach at least as far as the checkpoint and are cut back to it.
  if (implementation_.results) implementation_.results->flush();
  implementation_.store->write(step, implementation_.provenance, [&](hdf5::Group& root) {
    write(root);
    RowCounts rows;
    for (const auto& [name, count] : implementation_.growing) rows[name] = count();
    write_row_counts(root, rows);
    write_losses(root, implementation_.losses);
  });
}

hdf5::File& Context::results() {
  auto& results = implementation_.results;
  if (results) return *results;
  require_begun(implementation_, "Results");
  const std::string file = path("run.h5");
  if (!implementation_.request.restart.empty()) {
    const auto damage = damage_of_results(comm(), file);
    if (!damage.empty())
      put_aside("run.h5", damage);
    else if (restart_file() && comm().any(comm().is_root() && fs::exists(file)))
      results = hdf5::File::open_for_update(comm(), file);
  }
  if (!results) {
    results = hdf5::File::create(comm(), file);
    implementation_.made_results = true;
  }
  hdf5::write_header(results->root(), results_schema, results_version, provenance());
  results->flush();  // from here on a kill leaves a file that can be read
  return *results;
}

void Context::flush_results() {
  if (implementation_.results) implementation_.results->flush();
}

bool Context::results_begin_here() const { return restart_file() && implementation_.made_results; }

void Context::show(const std::string& name, double value, const std::string& unit) {
  implementation_.progress.show(name, value, unit);
}

namespace {

/// Insert or replace; `same` tells whether an entry is the one to replace.
template <class Entry, class Same>
void put(std::vector<Entry>& entries, Entry entry, Same same) {
  const auto known = std::find_if(entries.begin(), entries.end(), same);
  if (known != entries.end())
    *known = std::move(entry);
  else
    entries.push_back(std::move(entry));
}

void put(Context::Implementation& context, const std::string& key, Tree value, const std::string& meaning) {
  const auto same = [&](const auto& entry) { return entry.first == key; };
  put(context.summary, std::make_pair(key, std::move(value)), same);
  if (!meaning.empty()) put(context.meanings, std::make_pair(key, meaning), same);
}

}  // namespace

void Context::summarise(const std::string& key, double value, const std::string& meaning) {
  put(implementation_, key, Tree::number(value), meaning);
}
void Context::summarise(const std::string& key, std::int64_t value, const std::string& meaning) {
  put(implementation_, key, Tree::integer(value), meaning);
}
void Context::summarise(const std::string& key, const std::string& value, const std::string& meaning) {
  put(implementation_, key, Tree::scalar(value, true), meaning);
}

void Context::describe_run(const std::string& name, const std::string& text) {
  put(implementation_.facts, {name, text}, [&](const Fact& fact) { return fact.name == name; });
}

void Context::headline(const std::string& name, const std::string& value, const std::string& doubt) {
  put(implementation_.headlines, {name, value, doubt},
      [&](const Headline& tile) { return tile.name == name; });
}

void Context::record_rows(const std::string& name, std::function<std::uint64_t()> rows) {
  put(implementation_.growing, std::make_pair(name, std::move(rows)),
      [&](const auto& entry) { return entry.first == name; });
}

std::optional<std::uint64_t> Context::recorded_rows(const std::string& name) const {
  const auto& rows = implementation_.recorded_rows;
  const auto found = rows.find(name);
  return found == rows.end() ? std::nullopt : std::optional(found->second);
}

void Context::lose(const std::string& what, const std::string& text) {
  log::warning("{}: {}", what, text);
  put(implementation_.losses, {what, text}, [&](const auto& entry) { return entry.first == what; });
}

std::string Context::doubt_of(const std::string& what, const std::string& otherwise) const {
  for (const auto& [name, text] : implementation_.losses)
    if (name == what) return fmt::format("Only of what is left ({}).", text);
  return otherwise;
}

void Context::put_aside(const std::string& name, const std::string& why) {
  std::string aside;
  const std::string file = path(name);
  on_root(comm(), [&] { aside = quintet::put_aside(file); });
  lose(name, fmt::format("cannot be continued ({}); it is kept as {}, and a new one begins here", why,
                         comm().broadcast(aside)));
}

void Context::on_failure(std::function<void()> action) { implementation_.failure_action = std::move(action); }

void Context::stop_within_step() {
  implementation_.stop_reason = implementation_.stop.reason(comm(), implementation_.reserve_s());
  log::info("Stopping early; what was being computed is given up: {}", implementation_.stop_reason);
}

Context::Steps Context::steps(std::int64_t first, std::int64_t last) {
  return Steps(implementation_, first, last);
}

Context::Steps::Steps(Implementation& context, std::int64_t first, std::int64_t last)
    : context_(context),
      first_(first),
      last_(last),
      next_look_(first),
      last_look_(first),
      start_(Clock::now()),
      looked_at_(start_) {
  context_.progress.start(first, last);
}

Context::Steps::~Steps() {
  context_.progress.clear();
  context_.loop_seconds += Seconds(Clock::now() - start_).count();
}

void Context::Steps::expect(std::int64_t last) {
  last_ = last;
  next_look_ = std::min(next_look_, last_ + 1);
  context_.progress.expect(last);
}

namespace {

/// A limit that ends the loop before its first step is a mistake: all starts with it would end likewise.
void warn_of_short_walltime(const Context::Implementation& context) {
  if (!context.request.walltime_s || !context.stop_reason.starts_with("walltime")) return;
  const double begins = seconds_since_start(), reserve = context.reserve_s();
  log::warning(
      "--walltime {} leaves no time for a first step: {:.3g} s had passed when the loop began, and {:.3g} s "
      "are "
      "kept back for the last checkpoint and the end. Give more than {}",
      clock_text(*context.request.walltime_s), begins, reserve, clock_text(2 * (begins + reserve) + 1));
}

}  // namespace

bool Context::Steps::look(std::int64_t step) {
  auto& context = context_;
  const std::int64_t done = step - first_;
  context.steps_done += step - last_look_;
  if (step > 0) context.last_step = step - 1;  // before the first step: where the run begins
  if (step > last_) {
    context.progress.finish(done);
    return false;
  }
  if (step > last_look_) context.progress.update(done);
  plan_next_look(step);
  // Until the next look another such stretch passes, hence it is kept back too.
  const double stretch = Seconds(Clock::now() - looked_at_).count();
  context.stop_reason = context.stop.reason(context.comm, context.reserve_s() + 2 * stretch);
  last_look_ = step;
  looked_at_ = Clock::now();
  if (context.stop_reason.empty()) return true;
  if (done == 0) warn_of_short_walltime(context);
  context.progress.finish(done);
  log::info("Stopping early, before step {} of {}: {}", step, last_, context.stop_reason);
  return false;
}

void Context::Steps::plan_next_look(std::int64_t step) {
  // Root alone measures, so that all ranks look at the same step; the stretch at most doubles.
  struct Plan {
    std::int64_t next;
    double wall_s;
  };
  const std::int64_t stretch = step - last_look_;
  const auto now = Clock::now();
  const double seconds = std::max(Seconds(now - looked_at_).count(), 1e-9);
  const double wanted = stretch * look_every_s / seconds;
  const std::int64_t next = std::clamp(wanted, 1.0, 2.0 * stretch + 1);
  const Plan plan = context_.comm.broadcast(Plan{next, Seconds(now - start_).count()});
  next_look_ = std::min(step + plan.next, last_ + 1);
  wall_s_ = plan.wall_s;
}

}  // namespace quintet
