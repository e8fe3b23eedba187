#include "apps/quintet/submit/record.hpp"

#include <filesystem>

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

}  // namespace quintet
