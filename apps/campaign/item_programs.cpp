#include "apps/campaign/item_programs.hpp"

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "apps/campaign/resources.hpp"
#include "apps/campaign/workers/program.hpp"
#include "apps/campaign/workers/told_code.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {

ItemPrograms::ItemPrograms(const Graph& graph, const Store& store)
    : graph_(graph), store_(store), programs_(store.directory() + "/warm") {}

bool ItemPrograms::may_be_warm(std::size_t item) const {
  const auto& it = graph_.items()[item];
  return graph_.stage_of(it).start != Start::cold && graph_.can_be_warm(it);
}

bool ItemPrograms::is_launched(std::size_t item) const {
  return Graph::is_launched(graph_.stage_of(graph_.items()[item]));
}

void ItemPrograms::expect(std::size_t item) {
  if (may_be_warm(item)) ++n_to_fork_[graph_.items()[item].program];
}

std::int64_t ItemPrograms::start(std::size_t i, bool goes_on, const Folders& folders,
                                 std::vector<std::string> variables) {
  const Item& item = graph_.items()[i];
  const std::string own = store_.work(item);
  auto words = graph_.command(item, goes_on, own, folders);
  std::string program = item.program;
  Run run;
  if (is_launched(i)) {
    if (Graph::is_of_suite(item)) {
      run.start = new_start();
      variables.push_back(variable_of_start(run.start));
    }
    const std::string line = launch_words(graph_.stage_of(item), graph_.options().launch);
    words[0] = program;
    words.insert(words.begin(), {"sh", "-c", "exec " + line + " \"$@\"", "sh"});
    program = "/bin/sh";
  }
  const bool is_warm = may_be_warm(i) && n_to_fork_.at(item.program) > 1;  // another one gains by it
  run.process = programs_.start(program, words, own, variables, is_warm);
  const std::int64_t process = run.process;
  runs_[i] = std::move(run);
  try {
    note_program(own, process);
  } catch (const ResourceError&) {
    if (std::filesystem::exists(own)) throw;  // an item may have removed its own folder already
  }
  return process;
}

std::optional<int> ItemPrograms::ended(std::size_t item) {
  const auto run = runs_.find(item);
  auto code = programs_.ended(run->second.process);
  if (!code) return code;
  kill(item);  // what it has left
  const std::string start = run->second.start;
  runs_.erase(run);
  if (start.empty()) return code;
  const auto told = told_code(store_.work(graph_.items()[item]), start);
  return told ? told : code;
}

void ItemPrograms::ask_to_end(std::size_t item) const {
  const pid_t process = runs_.at(item).process;
  if (is_launched(item))
    ::kill(process, SIGUSR1);  // mpirun and srun hand it on to all ranks; SIGTERM would end them at once
  else
    ::kill(-process, SIGTERM);
}

void ItemPrograms::kill(std::size_t item) const { ::kill(-runs_.at(item).process, SIGKILL); }

}  // namespace quintet::campaign
