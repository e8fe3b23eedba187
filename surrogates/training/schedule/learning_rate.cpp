#include "surrogates/training/schedule/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/config/table.hpp"

namespace quintet {

namespace {

double same(const RateCurve& curve, double) { return curve.start; }

double reduced(const RateCurve& curve, double k) {
  const double reductions = k / curve.interval;
  return std::max(curve.stop,
                  curve.start * std::pow(curve.factor, curve.smooth ? reductions : std::floor(reductions)));
}

double half_wave(const RateCurve& curve, double k) {
  const double all = curve.steps - curve.warmup_steps;
  const double share = all > 0 ? std::min(1.0, k / all) : 0.0;
  return curve.stop + (curve.start - curve.stop) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

constexpr RateRow rows[] = {
    {RateKind::constant, "constant", "the same in all steps", same},
    {RateKind::exponential, "exponential", "the same factor in equal times", reduced},
    {RateKind::step, "step", "times factor now and then", reduced},
    {RateKind::cosine, "cosine", "half a wave from start to stop", half_wave},
    {RateKind::plateau, "plateau", "times factor after `patience` validations without a lower loss", same}};

}  // namespace

std::span<const RateRow> rate_rows() { return rows; }

std::vector<std::pair<std::string, RateKind>> rate_choices(std::initializer_list<RateKind> kinds) {
  std::vector<std::pair<std::string, RateKind>> choices;
  for (const RateKind kind : kinds) choices.emplace_back(row_of(rows, kind).name, kind);
  return choices;
}

std::string describe_rates(std::initializer_list<RateKind> kinds) {
  std::string text;
  for (const RateKind kind : kinds) {
    const auto& row = row_of(rows, kind);
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", row.name, row.doc);
  }
  return text;
}

double rate_without_warmup(const RateCurve& curve, std::int64_t t) {
  const std::int64_t k = std::max<std::int64_t>(t - curve.warmup_steps, 0);
  return row_of(rows, curve.kind).rate(curve, static_cast<double>(k));
}

double rate_at(const RateCurve& curve, std::int64_t t) {
  if (t >= curve.warmup_steps) return rate_without_warmup(curve, t);
  const double share = static_cast<double>(t) / curve.warmup_steps;
  return curve.start * (curve.warmup_factor + (1 - curve.warmup_factor) * share);
}

}  // namespace quintet
