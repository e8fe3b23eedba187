#include <deque>
#include <numeric>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"
#include "surrogates/search/method.hpp"

namespace quintet::search {

namespace {

class RandomSearch final : public Method {
 public:
  RandomSearch(const Space& space, std::uint64_t seed) : space_(space), seed_(seed) {}
  std::optional<Proposal> ask(std::int64_t id) override {
    Draws draws(seed_, Stream::proposal, id);
    return Proposal{space_.sample(draws)};
  }
  void tell(const Trial&, const Outcome&) override {}

 private:
  Space space_;
  std::uint64_t seed_;
};

class AgeingEvolution final : public Method {
 public:
  AgeingEvolution(const Space& space, const EvolutionOptions& options, std::uint64_t seed)
      : space_(space), options_(options), seed_(seed) {
    QUINTET_CHECK(options.sample >= 1 && options.sample <= options.population,
                  "a sample of {} from a population of {}; expected 1 to {}", options.sample,
                  options.population, options.population);
  }

  std::optional<Proposal> ask(std::int64_t id) override {
    Draws draws(seed_, Stream::proposal, id);
    if (std::ssize(population_) < options_.population) return Proposal{space_.sample(draws)};
    const Member& parent = tournament(draws);
    return Proposal{space_.mutate(parent.genes, draws), parent.trial};
  }

  void tell(const Trial& trial, const Outcome& outcome) override {
    if (!outcome.counts()) return;
    population_.push_back({trial.id, trial.genes, outcome.objective});
    if (std::ssize(population_) > options_.population) population_.pop_front();
  }

 private:
  struct Member {
    std::int64_t trial;
    Genes genes;
    double objective;
  };

  /// The best of `sample` members, all different; of equally good ones that drawn first.
  const Member& tournament(Draws& draws) const {
    std::vector<std::size_t> rest(population_.size());
    std::iota(rest.begin(), rest.end(), std::size_t{0});
    const Member* best = nullptr;
    for (int n = 0; n < options_.sample; ++n) {
      const std::size_t i = draws.below(rest.size());
      const Member& member = population_[rest[i]];
      rest[i] = rest.back();
      rest.pop_back();
      if (!best || member.objective > best->objective) best = &member;
    }
    return *best;
  }

  Space space_;
  EvolutionOptions options_;
  std::uint64_t seed_;
  std::deque<Member> population_;  ///< oldest first
};

}  // namespace

void describe(Schema& schema, EvolutionOptions& options) {
  schema.integer("population", options.population, "Members; until there are so many, candidates are random")
      .at_least(2)
      .at_most(1000000);
  schema.integer("sample", options.sample, "Members drawn, of which the best is the parent").at_least(1);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.sample <= options.population) return std::nullopt;
    return fmt::format("sample: {} of a population of {}; expected at most that", options.sample,
                       options.population);
  });
}

std::unique_ptr<Method> make_random_search(const Space& space, const MethodOptions&, std::uint64_t seed) {
  return std::make_unique<RandomSearch>(space, seed);
}
std::unique_ptr<Method> make_evolution(const Space& space, const MethodOptions& options, std::uint64_t seed) {
  return std::make_unique<AgeingEvolution>(space, options.evolution, seed);
}

}  // namespace quintet::search
