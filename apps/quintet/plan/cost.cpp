#include "apps/quintet/plan/cost.hpp"

#include "io/log/error.hpp"
#include "io/machine/command.hpp"

namespace quintet {
namespace {

/// Without the word that every message begins with.
std::string first_line(std::string text) {
  if (text.starts_with("error: ")) text.erase(0, 7);
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::optional<planning::CostModel> ask_cost(const Owner& owner, const CostQuestion& question) {
  std::vector<std::string> words{
      owner.application.executable,    owner.command, question.file, "--cost", question.ranks, "--threads",
      std::to_string(question.threads)};
  for (const auto& key : question.without) words.insert(words.end(), {"--without", key});
  for (const auto& setting : question.settings) words.insert(words.end(), {"--set", setting});
  constexpr double limit_s = 900;
  const auto result = run_command(words, limit_s);
  if (result.errors.find("unknown flag '--cost'") != std::string::npos) return std::nullopt;
  const auto who = fmt::format("{} {}", owner.application.name, owner.command);
  QUINTET_CHECK(!result.timed_out, "'{}' has timed its steps for {:.0f} s; plan a smaller case", who,
                limit_s);
  QUINTET_CHECK(result.good(), "'{}' cannot say what it costs: {}", who, first_line(result.errors));
  return planning::cost_model_of(parse_yaml(result.out, who));
}

}  // namespace quintet
