#include "surrogates/training/flat_checkpoint.hpp"

#include <span>
#include <vector>

#include "io/log/error.hpp"

namespace quintet {

template <class Real>
void save(hdf5::Group& group, const FlatParameters<Real>& parameters, const std::string& what) {
  const auto write = [&](const std::string& name, const std::vector<Real>& values, const std::string& text) {
    group.write(name, std::span<const Real>(values), {parameters.size()}, {"1", {"parameter"}, text});
  };
  write("parameters", parameters.all_values(), what);
  const auto& row = optimiser_row(parameters.optimiser().kind);
  for (int s = 0; s < n_states(parameters.optimiser()); ++s) {
    const auto number = static_cast<std::size_t>(s);
    write(row.state_names[number], parameters.all_states(s), row.state_docs[number]);
  }
  const auto pending = parameters.pending();
  if (pending.t == 0) return;
  write("pending_gradient", pending.gradient, "formed, and not applied yet");
  const std::vector<double> formed{static_cast<double>(pending.t), pending.learning_rate};
  group.write("pending_step", std::span<const double>(formed), {formed.size()},
              {"1", {"value"}, "step that formed it, from 1, and its learning rate"});
}

template <class Real>
void restore(const hdf5::Group& group, FlatParameters<Real>& parameters) {
  const hdf5::Shape shape{parameters.size()};
  const auto values = group.read<Real>("parameters", shape);
  const auto& row = optimiser_row(parameters.optimiser().kind);
  for (int s = 0; s < n_states(parameters.optimiser()); ++s) {
    const char* const name = row.state_names[static_cast<std::size_t>(s)];
    QUINTET_CHECK(group.has(name),
                  "the checkpoint holds no '{}', which optimiser.kind {} needs: it was written with another "
                  "optimiser",
                  name, row.name);
    parameters.assign_state(s, group.read<Real>(name, shape));
  }
  parameters.assign_values(values);
  typename FlatParameters<Real>::Pending pending;
  if (group.has("pending_step")) {
    const auto formed = group.read<double>("pending_step", {2});
    pending = {static_cast<std::int64_t>(formed[0]), formed[1], group.read<Real>("pending_gradient", shape)};
  }
  parameters.assign_pending(pending);
}

template void save(hdf5::Group&, const FlatParameters<float>&, const std::string&);
template void save(hdf5::Group&, const FlatParameters<double>&, const std::string&);
template void restore(const hdf5::Group&, FlatParameters<float>&);
template void restore(const hdf5::Group&, FlatParameters<double>&);

}  // namespace quintet
