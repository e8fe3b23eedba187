#include "apps/quintet/plan/cost.hpp"

#include <algorithm>
#include <future>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "apps/application/life/memory.hpp"
#include "io/log/error.hpp"
#include "io/machine/command.hpp"

namespace quintet {
namespace {

/// The line of the error, which warnings may precede, without the word that it begins with.
std::string error_line(const std::string& text) {
  constexpr std::string_view word = "error: ";
  std::istringstream lines(text);
  std::string first, line;
  while (std::getline(lines, line)) {
    if (line.starts_with(word)) return line.substr(word.size());
    if (first.empty()) first = line;
  }
  return first;
}

constexpr double limit_s = 900;  ///< of the application's timing

std::vector<std::string> words_of(const Owner& owner, const CostQuestion& question) {
  std::vector<std::string> words{
      owner.application.executable,    owner.command, question.file, "--cost", question.ranks, "--threads",
      std::to_string(question.threads)};
  for (const auto& key : question.without) words.insert(words.end(), {"--without", key});
  for (const auto& setting : question.settings) words.insert(words.end(), {"--set", setting});
  return words;
}

planning::CostModel answer_of(const CommandResult& result, const Owner& owner) {
  const auto who = fmt::format("{} {}", owner.application.name, owner.command);
  QUINTET_CHECK(!result.timed_out, "'{}' took more than {:.0f} s to time its steps; plan a smaller case", who,
                limit_s);
  QUINTET_CHECK(result.good(), "'{}' cannot say what it costs: {}", who, error_line(result.errors));
  return planning::cost_model_of(parse_yaml(result.out, who));
}

/// Mean rate of copies timed at once: as many as this node has cores for, or as the rows have ranks. Nothing
/// if that is one, or if the memory for more is not free.
std::optional<planning::CostModel::Crowd> ask_crowd(const Owner& owner, const CostQuestion& question,
                                                    const planning::CostModel& alone) {
  std::int64_t most = 1;
  double memory = 0;
  for (const auto& row : alone.rows) {
    most = std::max<std::int64_t>(most, row.ranks);
    memory = std::max(memory, row.memory);
  }
  std::int64_t n = std::min(most, std::thread::hardware_concurrency() / question.threads);
  const auto free = available_memory();
  if (free && memory > 0) n = std::min<std::int64_t>(n, 0.8 * *free / memory);
  if (n < 2) return std::nullopt;
  const auto words = words_of(owner, question);
  std::vector<std::future<CommandResult>> copies;
  for (std::int64_t i = 0; i < n; ++i)
    copies.push_back(std::async(std::launch::async, [&words] { return run_command(words, limit_s); }));
  planning::CostModel::Crowd crowd{.ranks = static_cast<int>(n)};
  for (auto& copy : copies) {
    const auto rate = answer_of(copy.get(), owner).rate;
    crowd.rate.floor += rate.floor / double(n);
    crowd.rate.per_unit += rate.per_unit / double(n);
  }
  return crowd;
}

}  // namespace

std::optional<planning::CostModel> ask_cost(const Owner& owner, const CostQuestion& question) {
  const auto result = run_command(words_of(owner, question), limit_s);
  if (result.errors.find("unknown flag '--cost'") != std::string::npos) return std::nullopt;
  auto model = answer_of(result, owner);
  if (question.crowded) model.crowd = ask_crowd(owner, question, model);
  return model;
}

}  // namespace quintet
