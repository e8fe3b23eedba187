#include "surrogates/planning/zero.hpp"

namespace quintet::planning {
namespace {

template <int stage>
double memory(const ParameterBytes& bytes, double parameters, double n_ranks) {
  const auto part = [&](int first) { return stage >= first ? n_ranks : 1; };
  return parameters * (bytes.optimiser / part(1) + bytes.gradient / part(2) + bytes.value / part(3));
}

template <int stage>
Traffic traffic(const ParameterBytes& bytes, double parameters, double n_ranks) {
  return (stage == 3 ? 3 : 2) * ring_all_gather(n_ranks, parameters * bytes.value);
}

constexpr ZeroRow rows[] = {
    {0, "zero 0", "every rank has everything", memory<0>, traffic<0>},
    {1, "zero 1", "the optimiser's state is divided", memory<1>, traffic<1>},
    {2, "zero 2", "gradients too", memory<2>, traffic<2>},
    {3, "zero 3", "values too", memory<3>, traffic<3>},
};

}  // namespace

std::span<const ZeroRow> zero_stages() { return rows; }

}  // namespace quintet::planning
