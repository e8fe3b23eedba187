#include "physics/spectral/periodic_flow.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::spectral {

namespace {

/// What is computed at each stage: N of each variable, then the phase rate; and L, taken out of N.
struct Compiled {
  std::vector<FlowValue> outputs;
  std::vector<Symbol> linear;
};

Compiled compile(FlowReader& reader, const std::vector<FlowText>& speeds, double most_k_x, double most_k_y) {
  Compiled made;
  const auto& variables = reader.equations().variables;
  for (int v = 0; v < std::ssize(variables); ++v) {
    FlowValue change = reader.read(variables[v]);
    const auto own = change.form.slots.find(v);
    made.linear.push_back(own == change.form.slots.end() ? Symbol() : own->second);
    change.form.slots.erase(v);
    made.outputs.push_back(std::move(change));
  }
  for (const auto& row : reader.equations().diagnosed) static_cast<void>(reader.named(row.name, row.what));
  if (speeds.empty()) return made;
  FlowProgram& program = reader.program();
  const auto& functions = point_functions();
  const int absolute = std::find_if(functions.begin(), functions.end(),
                                    [](const auto& f) { return std::string(f.name) == "abs"; }) -
                       functions.begin();
  FlowValue rate = program.number(0);
  const double most[] = {most_k_x, most_k_y};
  for (std::size_t i = 0; i < 2; ++i) {
    const FlowValue size = program.call(absolute, reader.read(speeds[i]), program.number(0));
    rate = program.add(rate, program.scaled(size, most[i]));
  }
  made.outputs.push_back(program.on_points(rate));
  return made;
}

/// to = f x + g y for each wave.
void combine(const StepFactors::Factor& f, const Modes& x, const StepFactors::Factor& g, const Modes& y,
             const Modes& to) {
  Kokkos::parallel_for(
      "stage", Kokkos::RangePolicy<Exec>(0, static_cast<std::int64_t>(to.re.extent(0))), [=](std::int64_t i) {
        using Complex = Kokkos::complex<double>;
        const Complex sum = f(i) * Complex(x.re(i), x.im(i)) + g(i) * Complex(y.re(i), y.im(i));
        to.re(i) = sum.real();
        to.im(i) = sum.imag();
      });
}

/// to = p x + q y.
void mix(double p, const Modes& x, double q, const Modes& y, const Modes& to) {
  Kokkos::parallel_for("mix", Kokkos::RangePolicy<Exec>(0, static_cast<std::int64_t>(to.re.extent(0))),
                       [=](std::int64_t i) {
                         to.re(i) = p * x.re(i) + q * y.re(i);
                         to.im(i) = p * x.im(i) + q * y.im(i);
                       });
}

}  // namespace

PeriodicFlow::PeriodicFlow(const Comm& comm, const Box& box, FlowReader reader,
                           const std::vector<FlowText>& speeds, int n_members)
    : box_(box),
      reader_(std::move(reader)),
      grid_(std::make_unique<WaveGrid>(product_grid(comm, box))),
      has_speeds_(!speeds.empty()) {
  QUINTET_ASSERT(speeds.empty() || speeds.size() == 2, "{} speeds", speeds.size());
  const double most_k_x = 2 * std::numbers::pi * grid_->waves_x() / box.length_x,
               most_k_y = 2 * std::numbers::pi * grid_->waves_y() / box.length_y;
  Compiled compiled = compile(reader_, speeds, most_k_x, most_k_y);
  machine_ = std::make_unique<FlowMachine>(*grid_, reader_.program(), std::move(compiled.outputs));
  for (const auto& symbol : compiled.linear) {
    std::vector<std::complex<double>> rates;
    for (int l = 0; l < 2 * grid_->waves_y() + 1; ++l)
      for (int j = 0; j < grid_->columns_here(); ++j)
        rates.push_back(symbol.at(grid_->k_x(j), grid_->k_y(l)));
    rates_.push_back(std::move(rates));
    factors_.emplace_back(grid_->n_modes());
  }
  a_ = make_waves(), stage_ = make_waves(), middle_ = make_waves(), last_ = make_waves();
  for (int m = 0; m < n_members; ++m) members_.push_back({make_waves(), make_waves()});
}

std::vector<Modes> PeriodicFlow::make_waves() const {
  std::vector<Modes> waves;
  for (std::size_t v = 0; v < reader_.equations().variables.size(); ++v) waves.push_back(grid_->make_modes());
  return waves;
}

bool PeriodicFlow::has_linear_part(int variable) const {
  const auto& rates = rates_[variable];
  return std::any_of(rates.begin(), rates.end(), [](const auto& rate) { return rate != 0.0; });
}

double PeriodicFlow::bytes(int n_ranks, const Box& box, FlowReader reader, int n_members) {
  const auto& rule = row_of(dealias_rows(), box.dealias);
  const double n_points = static_cast<double>(rule.points(box.n_x)) * rule.points(box.n_y) / n_ranks,
               n_modes = (rule.waves(box.n_x) + 1.0) * (2 * rule.waves(box.n_y) + 1.0) / n_ranks;
  const Compiled compiled = compile(reader, {}, 0, 0);
  const double n = reader.equations().variables.size();
  constexpr double numbers_of_factors = 14, numbers_of_stages = 8, numbers_of_state = 4;
  return FlowMachine::bytes(reader.program(), compiled.outputs, n_points, n_modes) +
         2 * bytes_of_transforms(box, n_ranks) +
         sizeof(double) * n * n_modes *
             (numbers_of_factors + numbers_of_stages + numbers_of_state * n_members);
}

PeriodicFlow::StepTraffic PeriodicFlow::traffic(int n_ranks) const {
  if (n_ranks == 1) return {};
  constexpr int n_stages = 4, n_parts = 2;
  const int n_rows = grid_->n_y(), n_columns = grid_->waves_x() + 1;
  const auto most = [&](int n) { return static_cast<double>((n + n_ranks - 1) / n_ranks); };
  const auto [to_points, to_modes] = machine_->transforms(variables().size());
  const double rows = most(n_rows), columns = most(n_columns), calls = n_stages * n_parts * n_members();
  return {.messages = calls * (to_points + to_modes) * (n_ranks - 1),
          .bytes = sizeof(double) * calls *
                   (to_points * columns * (n_rows - rows) + to_modes * rows * (n_columns - columns)),
          .sums = has_speeds_ ? 2.0 * n_members() : 0};
}

void PeriodicFlow::resume(double time, std::int64_t step) {
  time_ = time;
  step_ = step;
}

void PeriodicFlow::make_changes(const std::vector<Modes>& waves, double time,
                                const std::vector<Modes>& change) {
  machine_->run(waves, time);
  for (std::size_t v = 0; v < change.size(); ++v) machine_->to_modes(v, change[v]);
}

void PeriodicFlow::begin_step() {
  phase_rate_ = 0;
  for (const auto& member : members_) {
    make_changes(member.waves, time_, member.change);
    if (!has_speeds_) continue;
    const double rate = machine_->maximum(member.change.size());
    phase_rate_ = std::isnan(rate) ? rate : std::max(phase_rate_, rate);
    if (std::isnan(rate)) return;
  }
}

void PeriodicFlow::advance_member(const Member& member, double h) {
  const std::size_t n = member.waves.size();
  const auto& f = factors_;
  for (std::size_t v = 0; v < n; ++v)
    combine(f[v].half, member.waves[v], f[v].weight, member.change[v], a_[v]);
  make_changes(a_, time_ + 0.5 * h, middle_);
  for (std::size_t v = 0; v < n; ++v) combine(f[v].half, member.waves[v], f[v].weight, middle_[v], stage_[v]);
  make_changes(stage_, time_ + 0.5 * h, last_);
  for (std::size_t v = 0; v < n; ++v) {
    mix(1, middle_[v], 1, last_[v], middle_[v]);
    mix(2, last_[v], -1, member.change[v], last_[v]);
    combine(f[v].half, a_[v], f[v].weight, last_[v], stage_[v]);
  }
  make_changes(stage_, time_ + h, last_);
  for (std::size_t v = 0; v < n; ++v) {
    combine(f[v].decay, member.waves[v], f[v].first, member.change[v], member.waves[v]);
    combine(f[v].middle, middle_[v], f[v].last, last_[v], stage_[v]);
    mix(1, member.waves[v], 1, stage_[v], member.waves[v]);
    grid_->make_real(member.waves[v]);
  }
}

void PeriodicFlow::advance(double h, double time) {
  if (h != h_)
    for (std::size_t v = 0; v < factors_.size(); ++v) factors_[v].set(rates_[v], h);
  h_ = h;
  for (const auto& member : members_) advance_member(member, h);
  time_ = time;
  ++step_;
}

}  // namespace quintet::spectral
