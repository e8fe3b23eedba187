#include "surrogates/potential/evaluation/engine.hpp"

#include <algorithm>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "surrogates/potential/evaluation/forces.hpp"

namespace quintet::potential {

template <class Real>
TypedEngine<Real>::TypedEngine(Model model_in, const DeepPotentialOptions& options)
    : inputs_(model_in, pack_width<Real>), rounds_(options.precision == Precision::bf16) {
  for (int i = 0; i < model_in.n_descriptors(); ++i) {
    const auto& part = model_in.descriptor(i);
    parts_.push_back({{part, options.sel_rule}, make_embedding<Real>(part, options.compression)});
  }
  for (const auto& network : model_in.fitting) fitting_.push_back(fitting_chain<Real>(network, inputs_));
  model = std::move(model_in);
  if (rounds_) {
    require_plain(model, "precision bf16 runs");
    round_about(std::vector<double>(static_cast<std::size_t>(model.n_types()) * inputs_.size, 0.0));
  }
}

template <class Real>
std::string TypedEngine<Real>::description() const {
  std::string embeddings;
  for (const auto& part : parts_)
    embeddings += (embeddings.empty() ? "" : " + ") + part.embedding->description();
  return fmt::format(
      "Deep Potential {}; evaluated in {}{}; embedding: {}", model.summary(),
      sizeof(Real) == 8 ? "float64" : "float32 with float64 sums",
      rounds_ ? fmt::format(", the fitting networks' products in bfloat16 {}", doc_of(bf16_unit())) : "",
      embeddings);
}

template <class Real>
void TypedEngine<Real>::round_about(std::span<const double> descriptors) {
  const auto size = static_cast<std::size_t>(inputs_.size);
  QUINTET_ASSERT(rounds_ && descriptors.size() == fitting_.size() * size, "a reference for each type");
  for (std::size_t t = 0; t < fitting_.size(); ++t) fitting_[t].round_about(descriptors.data() + t * size);
}

/// Order local atoms by type and cut each type into batches; atoms without a network energy need none.
template <class Real>
void TypedEngine<Real>::plan(const Atoms& atoms, int n_workers) {
  constexpr int few_batches = 4;  // of a worker: one more or less is then felt
  const bool few = n_workers > 1 && atoms.n_local / most_batch_atoms < few_batches * n_workers;
  const int batch_atoms = few ? least_batch_atoms : most_batch_atoms;
  order_.clear();
  batches_.clear();
  for (int t = 0; t < model.n_types(); ++t) {
    const int begin = order_.size();
    if (!model.excluded_atoms[t] && !model.excluded_fitting[t])
      for (int i = 0; i < atoms.n_local; ++i)
        if (atoms.type(i) == t) order_.push_back(i);
    const int end = order_.size();
    for (int at = begin; at < end; at += batch_atoms)
      batches_.push_back({t, at, std::min(at + batch_atoms, end)});
  }
}

/// -(dE_b/dx_j) (x_j - x_b)^T for the neighbours j of atom b.
template <class Real>
void TypedEngine<Real>::add_atom_virials(const Batch<Real>& batch, int b,
                                         const std::array<double, 4>& deviation, const Tensors& virial) {
  visit_slopes(batch, b, deviation, [&](int r, int n, const Pack<double>* d, const Pack<double>* slope) {
    for (int i = 0; i < n; ++i)
      for (int l = 0; l < 3; ++l)
        for (int k = 0; k < 3; ++k) virial(batch.neighbour[r + i], 3 * l + k) -= slope[l][i] * d[k][i];
  });
}

/// From neighbours to descriptors.
template <class Real>
void TypedEngine<Real>::describe_batch(const BatchRange& range, const Atoms& atoms, const NeighbourList& list,
                                       Worker& worker) const {
  const std::size_t d_stride = inputs_.stride();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    auto& [batch, environment, embedding, unfolded] = worker.parts[p];
    batch.centre = range.type;
    batch.n_atoms = 0;
    for (int at = range.begin; at < range.end; ++at)
      parts_[p].environment.append(order_[at], atoms.position.data(), atoms.type.data(), list.offset.data(),
                                   list.neighbour.data(), batch, environment);
    parts_[p].embedding->forward(batch, embedding);
    const std::size_t t_size = 4 * batch.stride;
    for (int b = 0; b < batch.n_atoms; ++b)
      inputs_.descriptors[p].forward(batch.t.data() + b * t_size, batch.stride,
                                     worker.descriptors.data() + b * d_stride + inputs_.offset[p]);
  }
}

/// From dE/dD of atom b to forces, through one descriptor.
template <class Real>
void TypedEngine<Real>::go_back(int p, int b, Worker& worker) const {
  auto& [batch, environment, embedding, unfolded] = worker.parts[p];
  const std::size_t d_stride = inputs_.stride(), t_size = 4 * batch.stride;
  inputs_.descriptors[p].backward(batch.t.data() + b * t_size, batch.stride,
                                  worker.descriptors.data() + b * d_stride + inputs_.offset[p],
                                  batch.dt.data(), unfolded.data());
  parts_[p].embedding->backward(batch, b, embedding);
  const auto& deviation = model.descriptor(p).deviation[batch.centre];
  add_forces_of(
      batch, b, deviation, [](int i) { return i; }, worker.force.data(), worker.total.virial);
  if (worker.virial.extent(0) > 0) add_atom_virials(batch, b, deviation, worker.virial);
}

template <class Real>
void TypedEngine<Real>::run_batch(const BatchRange& range, const Atoms& atoms, const NeighbourList& list,
                                  const Array<double>& atom_energy, Worker& worker) const {
  describe_batch(range, atoms, list, worker);
  const int d_stride = inputs_.stride(), n_atoms = range.end - range.begin;
  fitting_[range.type].forward_and_adjoint({worker.descriptors.data(), d_stride}, n_atoms,
                                           networks::Keep::adjoint, {worker.descriptors.data(), d_stride},
                                           worker.fitting);

  const double bias = model.atom_bias[range.type] + model.output_bias[range.type];
  for (int b = 0; b < n_atoms; ++b) {
    for (std::size_t p = 0; p < parts_.size(); ++p) go_back(p, b, worker);
    const double energy = worker.fitting.sum[b] + bias;
    worker.total.energy += energy;
    if (atom_energy.extent(0) > 0) atom_energy(order_[range.begin + b]) = energy;
  }
}

template <class Real>
void TypedEngine<Real>::reserve(Worker& worker) const {
  if (worker.parts.empty()) {
    worker.parts.resize(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto& part = model.descriptor(p);
      auto& work = worker.parts[p];
      work.batch.reserve(most_batch_atoms, std::min(part.n_slots(), 128), model.n_types(), part.n_channels());
      work.unfolded.assign(static_cast<std::size_t>(part.axis_neuron) * work.batch.stride, Real(0));
    }
    worker.descriptors.assign(static_cast<std::size_t>(most_batch_atoms) * inputs_.stride(), Real(0));
  }
  for (auto& work : worker.parts) work.batch.dt.resize(4 * static_cast<std::size_t>(work.batch.stride));
}

/// In each worker begin(worker), then run(batch, worker) for its batches in their order.
template <class Real>
template <class Begin, class Run>
void TypedEngine<Real>::run_batches(const Exec& exec, Begin&& begin, Run&& run) {
  auto* workers = workers_.data();
  const auto n_workers = static_cast<int>(workers_.size());
  Kokkos::parallel_for("potential::batches",
                       Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>>(exec, 0, n_workers),
                       [&, workers](int w) {
                         Worker& worker = workers[w];
                         for (auto& work : worker.parts)
                           work.environment.overflowing = work.environment.most = 0;
                         worker.error.clear();
                         begin(worker);
                         try {
                           for (std::size_t i = w; i < batches_.size(); i += n_workers)
                             run(batches_[i], worker);
                         } catch (const Error& error) {  // must not leave a parallel region
                           worker.error = error.what();
                         }
                       });
  exec.fence();
  for (const Worker& worker : workers_)
    if (!worker.error.empty()) throw NumericalError(worker.error);
}

template <class Real>
std::vector<double> TypedEngine<Real>::sum_descriptors(const Exec& exec, const Atoms& atoms,
                                                       const NeighbourList& list) {
  const int size = inputs_.size;
  const std::size_t numbers = fitting_.size() * (1 + static_cast<std::size_t>(size));
  workers_.resize(exec.concurrency());
  plan(atoms, static_cast<int>(workers_.size()));
  const auto begin = [&](Worker& worker) {
    reserve(worker);
    worker.descriptor_sums.assign(numbers, 0.0);
  };
  run_batches(exec, begin, [&](const BatchRange& range, Worker& worker) {
    describe_batch(range, atoms, list, worker);
    double* sums = worker.descriptor_sums.data() + static_cast<std::size_t>(range.type) * (1 + size);
    sums[0] += range.end - range.begin;
    for (int b = 0; b < range.end - range.begin; ++b)
      for (int i = 0; i < size; ++i)
        sums[1 + i] += worker.descriptors[static_cast<std::size_t>(b) * inputs_.stride() + i];
  });
  std::vector<double> total(numbers, 0.0);
  for (const Worker& worker : workers_)
    for (std::size_t i = 0; i < numbers; ++i) total[i] += worker.descriptor_sums[i];
  return total;
}

template <class Real>
Energetics TypedEngine<Real>::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                                      const ByAtom& by_atom) {
  const int n_workers = exec.concurrency(), n_all = atoms.n_all();
  workers_.resize(n_workers);
  plan(atoms, n_workers);
  const Model& m = model;
  const bool virials = by_atom.virial.extent(0) > 0;
  for (int w = 0; w < n_workers; ++w) {
    Worker& worker = workers_[w];
    reserve(worker);
    if (w == 0)
      worker.force = atoms.force;
    else if (static_cast<int>(worker.force.extent(0)) < n_all)
      worker.force = make_view<Vectors>("potential::force", n_all + n_all / 8);
    worker.virial = !virials ? Tensors()
                    : w == 0 ? by_atom.virial
                             : Tensors("potential::atom_virials", n_all);
    worker.total = Energetics{};
  }

  if (virials) Kokkos::deep_copy(exec, by_atom.virial, 0.0);
  const auto begin = [&](Worker& worker) {
    std::fill_n(worker.force.data(), 3 * static_cast<std::size_t>(n_all), 0.0);
  };
  run_batches(exec, begin, [&](const BatchRange& range, Worker& worker) {
    run_batch(range, atoms, list, by_atom.energy, worker);
  });

  Energetics total;
  for (int w = 0; w < n_workers; ++w) {
    total.energy += workers_[w].total.energy;
    for (int k = 0; k < 9; ++k) total.virial[k] += workers_[w].total.virial[k];
    int overflowing = 0;  // of the descriptor that has room for the fewest
    for (const auto& work : workers_[w].parts) {
      overflowing = std::max(overflowing, work.environment.overflowing);
      total.most_neighbours = std::max(total.most_neighbours, work.environment.most);
    }
    total.overflowing += overflowing;
    for (std::size_t i = 0; w > 0 && i < 3 * static_cast<std::size_t>(n_all); ++i)
      atoms.force.data()[i] += workers_[w].force.data()[i];
    for (std::size_t i = 0; virials && w > 0 && i < 9 * static_cast<std::size_t>(n_all); ++i)
      by_atom.virial.data()[i] += workers_[w].virial.data()[i];
  }
  for (int i = 0; i < atoms.n_local; ++i) {
    const int t = atoms.type(i);
    if (t < 0) continue;  // another force field's
    if (!m.excluded_atoms[t] && !m.excluded_fitting[t]) continue;
    const double energy = m.excluded_atoms[t] ? 0.0 : m.output_bias[t];
    total.energy += energy;
    if (by_atom.energy.extent(0) > 0) by_atom.energy(i) = energy;
  }
  if (total.overflowing > 0)
    total.warning = fmt::format(
        "{} more neighbours than the model's sel holds (up to {} within the cutoff): the farthest "
        "are left out and the energy jumps when two of them swap places (train with a larger sel)",
        counted(total.overflowing, "atom has", "atoms have"), total.most_neighbours);
  return total;
}

template class TypedEngine<float>;
template class TypedEngine<double>;

}  // namespace quintet::potential
