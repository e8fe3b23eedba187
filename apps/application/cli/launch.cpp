#include "apps/application/cli/launch.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "apps/application/cli/input_hints.hpp"
#include "apps/application/life/context_implementation.hpp"
#include "apps/application/life/failure.hpp"
#include "apps/application/life/last_word.hpp"
#include "apps/application/life/run_directory.hpp"
#include "apps/application/life/summary.hpp"
#include "io/config/schema_marks.hpp"
#include "io/hdf5/stuck_ranks.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/signals.hpp"

namespace quintet {
namespace {

int tell(const Failure& failure) {
  log::error("{}", failure.message);
  log::flush();
  return static_cast<int>(failure.code);
}

/// Throw ResourceError if standard output took only part of the text. A reader that closed its end of a pipe
/// does not count.
void require_said() {
  struct stat status {};
  const bool has_reader =
      ::fstat(STDOUT_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  const bool is_lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (is_lost && !has_reader)
    throw ResourceError("Not all could be written to standard output: is the disk full?");
}

/// Say a failure and leave it as the last word.
int end(const Failure& failure, const LastWord* last_word) {
  const int code = tell(failure);
  if (last_word != nullptr) last_word->leave(failure.code, failure.message);
  return code;
}

/// Run `body` and turn what it throws into the exit code on which all ranks agree.
int guarded(const Comm& failure_comm, const std::string& log_file, const LastWord* last_word,
            const std::function<int()>& body) {
  try {
    return body();
  } catch (...) {
    return end(agree_on_failure(failure_comm, failure_of(std::current_exception()), log_file, last_word),
               last_word);
  }
}

/// A private communicator to agree about failures on. Collective.
Comm failure_comm_of(const Comm& comm) { return comm.split(0, comm.rank()); }

/// Parse on every rank before MPI is up: a mistake is told at once. Ranks other than the first keep theirs,
/// in case that they alone cannot read the file.
std::exception_ptr parse(const Request& request, const Describe& describe) {
  try {
    parse_options(load_document(request), describe);
    return nullptr;
  } catch (const InputError& error) {
    return std::make_exception_ptr(InputError(explained(error.what(), request, describe)));
  } catch (const Error&) {
    return std::current_exception();
  }
}

/// The failure of the command itself; the user's mistakes with the place of their key.
Failure failure_with_place(const Request& request) {
  auto failure = failure_of(std::current_exception());
  if (failure.code != ExitCode::input) return failure;
  try {
    failure.message = with_place(failure.message, load_document(request));
  } catch (const Error&) {  // the file has gone since: the message is told without a place
  }
  return failure;
}

/// The numerical failure of all ranks: save the state, write summary and report.
int end_failed(Context::Implementation& context, const Comm& failure_comm, const Failure& failure,
               const LastWord& last_word) {
  const int code = end(failure, &last_word);
  if (context.failure_action)
    guarded(failure_comm, context.log_file(), nullptr, [&] {
      log::info("Writing an emergency checkpoint");
      const auto timer = context.phases.timer("checkpoint");
      context.failure_action();
      return 0;
    });
  context.close();
  const auto outcome = measure_outcome(context, failure.code, failure.message);
  if (context.comm.is_root()) write_outcome(context, outcome);
  return code;
}

/// Say where the run is that one not yet done replaces.
void tell_of_replaced(const RunDirectory& directory) {
  if (const auto kept = directory.replaced(); !kept.empty())
    log::info("What --overwrite replaced first is in {} until a run of the directory is done", kept);
}

/// Commands that are judged whole, such as comparisons, keep nothing to go on from.
void tell_of_stop(bool keeps_nothing) {
  if (keeps_nothing)
    log::info("Stopped early without a checkpoint: a new start begins anew");
  else
    log::info("Stopped early with a checkpoint; go on with --restart auto");
}

int end_well(Context::Implementation& context, const LastWord& last_word) {
  if (context.request.validate) {
    log::info("{}: the input is valid", context.request.input);
    return 0;
  }
  context.begin({});
  context.close();
  const auto code = context.stop_reason.empty() ? ExitCode::done : ExitCode::stopped_early;
  if (code == ExitCode::done) context.seal_files();  // a run that must stop has no time for it
  const auto outcome = measure_outcome(context, code, context.stop_reason);
  if (context.comm.is_root()) {
    write_outcome(context, outcome);
    if (code == ExitCode::done) context.directory.forget_replaced();
  }
  if (code == ExitCode::stopped_early) {
    tell_of_stop(context.store->steps().empty());
    tell_of_replaced(context.directory);
  }
  log::info("What to cite: {}/citations.bib", context.directory.path());
  log::info("Report: {}/report.html", context.directory.path());
  last_word.leave(code, context.stop_reason);
  // Who waits for the word needs no code, by which mpirun would end slowly: twice the time it gives ranks.
  return last_word.is_awaited() ? 0 : static_cast<int>(code);
}

/// The end of a run that was asked to stop while it read its input: there is nothing to go on from.
int end_before_beginning(const std::string& reason, const LastWord& last_word) {
  const std::string text = fmt::format("Stopped before the run began; nothing was written: {}", reason);
  log::info("{}", text);
  last_word.leave(ExitCode::stopped_early, text);
  return last_word.is_awaited() ? 0 : static_cast<int>(ExitCode::stopped_early);
}

/// Lets ranks that are ended because they hang on a full disk leave the last word of this run.
class WordOfStuckRanks {
 public:
  explicit WordOfStuckRanks(const LastWord& last_word) {
    hdf5::before_stuck_ranks_end(
        [&last_word](const std::string& why) { last_word.leave_alone(ExitCode::resource, why); });
  }
  ~WordOfStuckRanks() { hdf5::before_stuck_ranks_end({}); }
  WordOfStuckRanks(const WordOfStuckRanks&) = delete;
  WordOfStuckRanks& operator=(const WordOfStuckRanks&) = delete;
};

int run_in(RunDirectory& directory, const Request& request, const Runtime& runtime, const Comm& failure_comm,
           const Describe& describe, const LastWord& last_word, const std::function<void(Context&)>& body) {
  log::info("{} {}: {}", request.program, request.input, runtime.description());
  const WordOfStuckRanks word_of_stuck_ranks(last_word);
  Context::Implementation implementation(runtime, request, directory, describe);
  Context context(implementation);
  try {
    body(context);
  } catch (...) {
    const auto failure =
        agree_on_failure(failure_comm, failure_with_place(request), implementation.log_file(), &last_word);
    if (failure.code == ExitCode::numerical && directory.has_begun()) {
      tell_of_replaced(directory);
      return end_failed(implementation, failure_comm, failure, last_word);
    }
    const bool stops = failure.code == ExitCode::stopped_early;
    if (stops && !context.stopped_early()) context.stop_within_step();
    if (stops && !context.stopped_early()) implementation.stop_reason = failure.message;
    if (!stops || !directory.has_begun()) {
      tell_of_replaced(directory);
      implementation.close();
      implementation.discard_fruitless_results();
      return stops ? end_before_beginning(implementation.stop_reason, last_word) : end(failure, &last_word);
    }
  }
  return end_well(implementation, last_word);
}

/// A map without some of its keys.
Tree without_keys(Tree document, const std::vector<std::string>& keys) {
  if (keys.empty() || !document.is_map()) return document;
  Tree rest = Tree::map();
  for (const auto& [key, value] : document.entries())
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) rest.set(key, value);
  rest.set_location(document.location());
  return rest;
}

}  // namespace

Tree load_document(const Request& request) {
  Tree document = without_keys(read_yaml(request.input), request.without);
  for (const auto& setting : request.settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError(
          fmt::format("--set {}: expected KEY.PATH=VALUE, for example --set time.steps=1000", setting));
    const std::string path = setting.substr(0, equals), place = "--set " + path;
    Tree value = parse_yaml(setting.substr(equals + 1), place);
    value.set_location({place, 0, 0});
    document.set_path(path, std::move(value));
  }
  return document;
}

int launch(const Request& request, ProgramArguments arguments, const std::vector<Subsystem>& subsystems,
           const Describe& describe, const std::function<void(Context&)>& body) {
  const bool speaks = launcher_rank() == 0;
  if (!request.print_configuration) remember_stop_signals();
  log::configure({.speaks = speaks, .quiet = request.quiet, .file = ""});
  const bool is_run = !request.print_configuration && !request.validate;
  LastWord last_word(is_run ? requested_directory(request) : "", request.program, speaks);
  const std::exception_ptr mistake = parse(request, describe);
  if (mistake && speaks) return end(failure_of(mistake), &last_word);
  if (request.print_configuration) {
    return launch_local([&] {
      if (speaks)
        std::fputs((request.print_all ? print_options(describe) : print_common_options(describe)).c_str(),
                   stdout);
    });
  }
  try {
    const Runtime runtime(arguments.argc, arguments.argv, request.threads, subsystems);
    const Comm& comm = runtime.comm();
    const Comm failure_comm = failure_comm_of(comm);
    log::configure({.speaks = comm.is_root(), .quiet = request.quiet, .file = ""});
    last_word.set_speaks(comm.is_root());
    return guarded(failure_comm, "", &last_word, [&] {
      if (mistake) std::rethrow_exception(mistake);
      RunDirectory directory(comm, request, &last_word);
      return run_in(directory, request, runtime, failure_comm, describe, last_word, body);
    });
  } catch (...) {  // the runtime itself did not come up
    return end(failure_of(std::current_exception()), &last_word);
  }
}

int launch_unparsed(const ProgramArguments& arguments) {
  const std::exception_ptr mistake = std::current_exception();
  std::string directory;
  for (int i = 1; i < arguments.argc; ++i) {
    const std::string word = arguments.argv[i];
    if (word.starts_with("--output="))
      directory = word.substr(word.find('=') + 1);
    else if (word == "--output" && i + 1 < arguments.argc)
      directory = arguments.argv[i + 1];
  }
  const auto failure = failure_of(mistake);
  const bool speaks = launcher_rank() == 0;
  const LastWord last_word(directory, std::filesystem::path(arguments.argv[0]).filename(), speaks);
  last_word.leave(failure.code, failure.message);
  log::configure({.speaks = speaks, .quiet = false, .file = ""});
  return tell(failure);
}

int launch_plain(int threads, bool quiet, ProgramArguments arguments,
                 const std::vector<Subsystem>& subsystems, const std::function<void(const Comm&)>& body) {
  log::configure({.speaks = launcher_rank() == 0, .quiet = quiet, .file = ""});
  try {
    const Runtime runtime(arguments.argc, arguments.argv, threads, subsystems);
    log::configure({.speaks = runtime.comm().is_root(), .quiet = quiet, .file = ""});
    return guarded(failure_comm_of(runtime.comm()), "", nullptr, [&] {
      body(runtime.comm());
      if (runtime.comm().is_root()) require_said();
      return 0;
    });
  } catch (...) {
    return tell(failure_of(std::current_exception()));
  }
}

int launch_local(const std::function<void()>& body) {
  ignore_size_signal();
  log::configure({.speaks = launcher_rank() == 0, .quiet = false, .file = ""});
  try {
    body();
    require_said();
    return 0;
  } catch (...) {
    return tell(failure_of(std::current_exception()));
  }
}

}  // namespace quintet
