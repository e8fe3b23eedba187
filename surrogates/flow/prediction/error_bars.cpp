#include "surrogates/flow/prediction/error_bars.hpp"

#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::flow {
namespace {

void check_member(const FlowModelHeader& member, const FlowModelHeader& model) {
  QUINTET_CHECK(member.field_names() == model.field_names() && member.axis_names() == model.axis_names(),
                "error_bars.members: one is for the fields {} along {}, but the model for {} along {}; give "
                "models that "
                "were trained as the model was, from other seeds",
                fmt::join(member.field_names(), ", "), fmt::join(member.axis_names(), ", "),
                fmt::join(model.field_names(), ", "), fmt::join(model.axis_names(), ", "));
  // What goes in and comes out is without the model's offset, and in its units.
  for (std::size_t f = 0; f < model.fields.size(); ++f)
    QUINTET_CHECK(
        member.fields[f].units == model.fields[f].units && member.fields[f].offset == model.fields[f].offset,
        "error_bars.members: one has {} in {} less {:.17g}, but the model in {} less {:.17g}; give models "
        "that were trained on the same data",
        model.fields[f].name, member.fields[f].units, member.fields[f].offset, model.fields[f].units,
        model.fields[f].offset);
}

}  // namespace

ErrorBars::ErrorBars(std::vector<FlowModel> members, const FlowModelHeader& model, const FieldBlock& coarse,
                     const std::map<std::string, double>& parameters, const PredictionOptions& each,
                     std::vector<double> scale)
    : scale_(std::move(scale)) {
  QUINTET_CHECK(scale_.empty() || scale_.size() == model.fields.size(),
                "error_bars.scale: {} numbers, but the model has {} fields: {}", scale_.size(),
                model.fields.size(), fmt::join(model.field_names(), ", "));
  if (scale_.empty()) scale_.assign(model.fields.size(), 1);
  auto own = each;
  own.residuals = false;
  for (auto& member : members) {
    check_member(member.header, model);
    members_.emplace_back(std::move(member), coarse, parameters, own);
  }
}

void ErrorBars::predict(std::span<const double> points, std::span<const float> values,
                        std::span<float> bars) {
  std::vector<double> squares(values.size(), 0);
  member_values_.resize(values.size());
  for (auto& member : members_) {
    member.predict(points, member_values_, {});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double difference = double{member_values_[i]} - values[i];
      squares[i] += difference * difference;
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    bars[i] = static_cast<float>(scale_[i % scale_.size()] *
                                 std::sqrt(squares[i] / static_cast<double>(members_.size())));
}

void ErrorBars::replace(const FieldBlock& coarse) {
  for (auto& member : members_) member.replace(coarse);
}

double ErrorBars::memory() const {
  double bytes = 0;
  for (const auto& member : members_) bytes += member.memory();
  return bytes;
}

double ErrorBars::least_memory() const {
  double bytes = 0;
  for (const auto& member : members_) bytes += member.least_memory();
  return bytes;
}

std::vector<std::string> ErrorBars::doubts() const {
  std::vector<std::string> all;
  for (const auto& member : members_) all.insert(all.end(), member.doubts().begin(), member.doubts().end());
  return all;
}

void ErrorBarScore::add(double error, double bar) {
  ++points;
  error_squares += error * error;
  bar_squares += bar * bar;
  within_one += std::abs(error) <= bar ? 1 : 0;
  within_two += std::abs(error) <= 2 * bar ? 1 : 0;
}

void ErrorBarScore::combine(const Comm& comm) {
  for (auto* sum : {&points, &error_squares, &bar_squares, &within_one, &within_two}) *sum = comm.sum(*sum);
}

double ErrorBarScore::ratio() const { return std::sqrt(error_squares / bar_squares); }

double ErrorBarScore::within(int bars) const { return (bars == 1 ? within_one : within_two) / points; }

}  // namespace quintet::flow
