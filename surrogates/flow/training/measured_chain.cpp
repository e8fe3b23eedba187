#include "surrogates/flow/training/measured_chain.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include "io/parallel/comm.hpp"

namespace quintet::flow {

double MeasuredChain::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void MeasuredChain::begin(TorchMemory& memory) {
  end_pass();
  memory_ = &memory;
  pass_tape_ = {};
  held_ = memory.held();
  static_cast<void>(memory.take_peak());
  last_ = clock_();
}

// The shortest time of each kind of pass is kept: other programs can only lengthen it. Memory is told at the
// first peak.
void MeasuredChain::operator()(BlockPass::Event event, std::size_t segment) {
  const double seconds = clock_() - last_;
  pass_ += seconds;
  const auto shortest = [seconds](double& of) { of = of < 0 ? seconds : std::min(of, seconds); };
  const std::int64_t held = memory_->held(), peak = memory_->take_peak();
  Block& block = blocks_[segment];
  switch (event) {
    case BlockPass::Event::forward:
      shortest(block.forward);
      block.left = held - held_;
      break;
    case BlockPass::Event::own:
      shortest(block.forward);
      block.kept = peak - held_;
      tape_seconds_ = tape_seconds_ < 0 ? pass_tape_.seconds : std::min(tape_seconds_, pass_tape_.seconds);
      break;
    case BlockPass::Event::again:
      shortest(block.again);
      block.kept = held - held_;
      block.again_peak = peak - held_;
      block.backward_peak = peak;
      break;
    case BlockPass::Event::backward:
      shortest(block.backward);
      block.backward_peak = std::max(block.backward_peak, peak);
      break;
  }
  held_ = held;
  last_ = clock_();
}

void MeasuredChain::end_pass() {
  if (pass_ > 0) shortest_pass_ = shortest_pass_ < 0 ? pass_ : std::min(shortest_pass_, pass_);
  pass_ = 0;
}

/// No pass has all its blocks at their fastest.
double MeasuredChain::excess() const {
  double sum = 0, shortest = shortest_pass_ < 0 ? pass_ : shortest_pass_;
  if (pass_ > 0) shortest = std::min(shortest, pass_);
  for (const Block& of : blocks_)
    for (const double seconds : {of.forward, of.again, of.backward}) sum += std::max(0.0, seconds);
  return sum > 0 ? std::max(1.0, shortest / sum) : 1;
}

void MeasuredChain::decoded(double seconds, std::size_t tape_bytes) {
  pass_tape_.seconds += seconds;
  pass_tape_.bytes += tape_bytes;
}

TapeCost MeasuredChain::tape(const Comm& comm) const {
  std::vector<double> numbers{excess() * std::max(0.0, tape_seconds_), static_cast<double>(pass_tape_.bytes)};
  comm.reduce(std::span<double>(numbers), Comm::Reduction::maximum);
  return {numbers[0], static_cast<std::int64_t>(numbers[1])};
}

std::vector<planning::ActivationBlock> MeasuredChain::blocks(const Comm& comm) const {
  std::vector<planning::ActivationBlock> chain;
  const std::size_t own = blocks_.size() - 1;
  std::int64_t inputs = 0;  // of the blocks so far
  for (std::size_t i = 0; i <= own; ++i) {
    const Block& of = blocks_[i];
    planning::ActivationBlock block{of.name};
    block.input_bytes = i == 0 ? 0 : std::max<std::int64_t>(0, blocks_[i - 1].left);
    inputs += block.input_bytes;
    if (i == own) {
      block.forward_seconds = std::max(0.0, of.forward);
      block.kept_bytes = block.input_bytes + of.kept;
      block.stays = true;
    } else {
      block.forward_seconds = (of.forward + of.again) / 2;
      block.backward_seconds = std::max(0.0, of.backward);
      // What it makes is the next one's input, and there twice where it is run again.
      block.kept_bytes = block.input_bytes + std::max<std::int64_t>(0, of.kept - of.left);
      block.forward_extra = std::max<std::int64_t>(0, block.input_bytes + of.again_peak - block.kept_bytes);
      block.backward_extra =
          std::max<std::int64_t>(0, of.backward_peak - (inputs - block.input_bytes) - block.kept_bytes);
    }
    std::vector<double> numbers{
        excess() * block.forward_seconds,         excess() * block.backward_seconds,
        static_cast<double>(block.kept_bytes),    static_cast<double>(block.input_bytes),
        static_cast<double>(block.forward_extra), static_cast<double>(block.backward_extra)};
    comm.reduce(std::span<double>(numbers), Comm::Reduction::maximum);
    block.forward_seconds = numbers[0];
    block.backward_seconds = numbers[1];
    block.kept_bytes = numbers[2];
    block.input_bytes = numbers[3];
    block.pinned_bytes = block.input_bytes;  // others may read it
    block.forward_extra = numbers[4];
    block.backward_extra = numbers[5];
    chain.push_back(std::move(block));
  }
  return chain;
}

}  // namespace quintet::flow
