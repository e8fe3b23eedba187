#include "apps/quintet/submit/record.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet {
namespace fs = std::filesystem;

void describe(Schema& schema, RecordedPoint& point) {
  schema.text("folder", point.folder, "Its folder; '' for this one");
  schema.texts("settings", point.settings, "What the sweep set");
}

void describe(Schema& schema, JobRecord& record) {
  schema.text("machine", record.machine, "Name of the machine, or its file").required();
  schema.text("name", record.name, "Name of the jobs").required();
  schema.text("queue", record.queue, "Queue").required();
  schema.text("application", record.application, "Application").required();
  schema.text("command", record.command, "Its command").required();
  schema.text("input", record.input, "Name of the staged input in each folder").required();
  schema.text("date", record.date, "When they were submitted");
  schema.quantity("walltime", record.walltime, "s", "Of a job").at_least(0);
  schema.integer("chain", record.chain, "Jobs asked for, one after another").at_least(1);
  schema.flag("submitting", record.submitting, "Whether the scheduler was asked and has not answered");
  schema.texts("ids", record.ids, "Jobs that were queued");
  schema.sections("points", record.points, "The runs");
}

std::optional<JobRecord> read_record(const std::string& directory) {
  const fs::path file = fs::path(directory) / "jobs.yaml";
  if (!fs::exists(file)) return std::nullopt;
  JobRecord record;
  parse_options(read_yaml(file.string()), described(record));
  return record;
}

void write_record(const std::string& directory, const JobRecord& record) {
  JobRecord copy = record;
  write_text_file((fs::path(directory) / "jobs.yaml").string(), print_options(described(copy)));
}

std::unique_ptr<RunOwner> lock_directory(const std::string& directory, const std::string& program) {
  const fs::path folder = fs::path(directory) / ".quintet";
  std::error_code wrong;
  fs::create_directories(folder, wrong);
  QUINTET_CHECK(!wrong, "The directory '{}' cannot be used: {}", directory, wrong.message());
  return std::make_unique<RunOwner>(folder.string(), program,
                                    [](const std::string& why) { log::warning("{}", why); });
}

std::string date_text() {
  const std::time_t time = std::time(nullptr);
  std::array<char, 32> text{};
  std::tm parts{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", localtime_r(&time, &parts));
  return text.data();
}

void require_nothing_queued(const std::string& directory, const Scheduler& scheduler) {
  const auto record = read_record(directory);
  if (!record) return;
  QUINTET_CHECK(!record->submitting,
                "A submission of '{}' broke off while the scheduler was asked: a job '{}' may be queued that "
                "is in no record. Look at "
                "the queue; then quintet cancel {} forgets it",
                directory, record->name, directory);
  for (const auto& [id, state] : scheduler.states(record->ids)) {
    QUINTET_CHECK(
        state.kind != JobState::Kind::unknown,
        "Nothing was queued: whether job {} of '{}' still waits or runs is not known, the scheduler "
        "says nothing of it. Ask again later, or quintet cancel {} forgets it",
        id, directory, directory);
    QUINTET_CHECK(!state.is_alive(),
                  "Nothing was queued: job {} of '{}' is {}. Wait for it, or quintet cancel {}", id,
                  directory, state.word, directory);
  }
}

namespace {

/// After a submission that failed with these words: the job that was taken nevertheless, if the queue has
/// one; else `doubtful` says whether there may be one.
std::optional<std::string> taken_nevertheless(const Scheduler& scheduler, const JobRecord& record,
                                              const std::string& script, const std::string& words,
                                              bool& doubtful) {
  doubtful = scheduler.is_doubtful(words);
  try {
    for (const auto& id : scheduler.jobs_of_script(script))
      if (std::find(record.ids.begin(), record.ids.end(), id) == record.ids.end()) return id;
  } catch (const InputError&) {  // no word of refusal is believed where the queue cannot be looked at
    doubtful = true;
  }
  return std::nullopt;
}

}  // namespace

void queue_job(const Scheduler& scheduler, const std::string& directory, JobRecord& record,
               const std::string& script, const JobOrder& after, std::int64_t n_jobs) {
  record.submitting = true;
  write_record(directory, record);
  try {
    record.ids.push_back(scheduler.submit(script, after));
  } catch (const InputError& error) {
    const std::string text = error.what();
    const auto id = taken_nevertheless(scheduler, record, script, text, record.submitting);
    if (!id) {
      write_record(directory, record);
      throw InputError(fmt::format("{} of {} jobs were queued{}. {}", record.ids.size(), n_jobs,
                                   record.submitting ? ", it is not known whether one more was" : "", text));
    }
    log::warning("{}. The queue has a job {} of this script: taken for the one", text, *id);
    record.ids.push_back(*id);
  }
  record.submitting = false;
  write_record(directory, record);
}

}  // namespace quintet
