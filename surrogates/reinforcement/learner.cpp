#include "surrogates/reinforcement/learner.hpp"

#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::reinforcement {

namespace {

class PpoLearner : public Learner {
 public:
  PpoLearner(environments::EnvironmentPool& pool, const PolicyShape& shape, const PpoOptions& options,
             const Agents& agents, int steps, std::uint64_t seed)
      : network_(shape, seed), method_(pool, network_, options, agents, steps, seed) {}
  [[nodiscard]] const std::vector<std::string>& columns() const override {
    static const std::vector<std::string> names{"loss",       "objective", "value_error", "entropy",
                                                "divergence", "clipped",   "sweeps",      "explained"};
    return names;
  }
  Learned learn() override {
    const UpdateRow row = method_.update();
    const LossTerms& loss = row.loss;
    return {row.mean_reward,
            {loss.total, loss.objective, loss.value, loss.entropy, loss.divergence, loss.clipped,
             static_cast<double>(row.sweeps), row.explained}};
  }
  [[nodiscard]] std::int64_t n_updates() const override { return method_.n_updates(); }
  [[nodiscard]] PolicyShape shape() const override { return network_.shape(); }
  [[nodiscard]] std::vector<float> policy() const override {
    return {network_.parameters().begin(), network_.parameters().end()};
  }
  void agree(const Comm& comm) override {
    comm.broadcast(network_.parameters());
    network_.refresh();
  }
  void save(hdf5::Group& group) const override { method_.save(group); }
  void restore(const hdf5::Group& group) override { method_.restore(group); }

 private:
  ActorCritic network_;
  Ppo method_;
};

class SacLearner : public Learner {
 public:
  SacLearner(environments::EnvironmentPool& pool, const PolicyShape& shape, const LearningOptions& learning,
             const SacOptions& options, const Agents& agents, int steps, std::uint64_t seed)
      : network_(shape, options.temperature, seed),
        method_(pool, network_, learning, options, agents, steps, seed) {}
  [[nodiscard]] const std::vector<std::string>& columns() const override {
    static const std::vector<std::string> names{"value_error", "value",         "entropy",
                                                "temperature", "steps_of_adam", "explained"};
    return names;
  }
  Learned learn() override {
    const SacRow row = method_.update();
    return {row.mean_reward,
            {row.critic_error, row.value, row.entropy, row.temperature,
             static_cast<double>(row.steps_of_adam), row.explained}};
  }
  [[nodiscard]] std::int64_t n_updates() const override { return method_.n_updates(); }
  [[nodiscard]] PolicyShape shape() const override { return network_.shape(); }
  [[nodiscard]] std::vector<float> policy() const override {
    const auto numbers = network_.policy_parameters();
    return {numbers.begin(), numbers.end()};
  }
  void agree(const Comm& comm) override {
    comm.broadcast(network_.parameters());
    comm.broadcast(network_.copies());
    network_.refresh();
  }
  void save(hdf5::Group& group) const override { method_.save(group); }
  void restore(const hdf5::Group& group) override { method_.restore(group); }

 private:
  SoftActorCritic network_;
  Sac method_;
};

}  // namespace

std::unique_ptr<Learner> make_ppo(environments::EnvironmentPool& pool, const PolicyShape& shape,
                                  const PpoOptions& options, const Agents& agents, int steps,
                                  std::uint64_t seed) {
  return std::make_unique<PpoLearner>(pool, shape, options, agents, steps, seed);
}

std::unique_ptr<Learner> make_sac(environments::EnvironmentPool& pool, const PolicyShape& shape,
                                  const LearningOptions& learning, const SacOptions& options,
                                  const Agents& agents, int steps, std::uint64_t seed) {
  PolicyShape squashed = shape;
  squashed.kind = ActionKind::squashed;
  return std::make_unique<SacLearner>(pool, squashed, learning, options, agents, steps, seed);
}

}  // namespace quintet::reinforcement
