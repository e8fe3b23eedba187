#include "surrogates/potential/evaluation/engine.hpp"

#include <algorithm>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "surrogates/potential/evaluation/forces.hpp"

namespace quintet::potential {

template <class Real>
TypedEngine<Real>::TypedEngine(Model model_in, const DeepPotentialOptions& options)
    : environment_(model_in, options.sel_rule),
      descriptor_(model_in.n_channels(), model_in.axis_neuron, pack_width<Real>),
      embedding_(make_embedding<Real>(model_in, options.compression)),
      rounds_(options.precision == Precision::bf16) {
  for (const auto& network : model_in.fitting) fitting_.push_back(fitting_chain<Real>(network, descriptor_));
  model = std::move(model_in);
  if (rounds_)
    round_about(std::vector<double>(static_cast<std::size_t>(model.n_types()) * descriptor_.size(), 0.0));
}

template <class Real>
std::string TypedEngine<Real>::description() const {
  return fmt::format(
      "Deep Potential {}; evaluated in {}{}; embedding: {}", model.summary(),
      sizeof(Real) == 8 ? "float64" : "float32 with float64 sums",
      rounds_ ? fmt::format(", the fitting networks' products in bfloat16 {}", doc_of(bf16_unit())) : "",
      embedding_->description());
}

template <class Real>
void TypedEngine<Real>::round_about(std::span<const double> descriptors) {
  const auto size = static_cast<std::size_t>(descriptor_.size());
  QUINTET_ASSERT(rounds_ && descriptors.size() == fitting_.size() * size, "a reference for each type");
  for (std::size_t t = 0; t < fitting_.size(); ++t) fitting_[t].round_about(descriptors.data() + t * size);
}

/// Order local atoms by type and cut each type into batches; atoms without a network energy need none.
template <class Real>
void TypedEngine<Real>::plan(const Atoms& atoms) {
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
void TypedEngine<Real>::add_atom_virials(Worker& worker, int b) const {
  visit_slopes(worker.batch, b, model.deviation[worker.batch.centre],
               [&](int r, int n, const Pack<double>* d, const Pack<double>* slope) {
                 for (int i = 0; i < n; ++i)
                   for (int l = 0; l < 3; ++l)
                     for (int k = 0; k < 3; ++k)
                       worker.virial(worker.batch.neighbour[r + i], 3 * l + k) -= slope[l][i] * d[k][i];
               });
}

/// From neighbours to descriptors.
template <class Real>
void TypedEngine<Real>::describe_batch(const BatchRange& range, const Atoms& atoms, const NeighbourList& list,
                                       Worker& worker) const {
  auto& batch = worker.batch;
  batch.centre = range.type;
  batch.n_atoms = 0;
  for (int at = range.begin; at < range.end; ++at)
    environment_.append(order_[at], atoms.position.data(), atoms.type.data(), list.offset.data(),
                        list.neighbour.data(), batch, worker.environment);
  embedding_->forward(batch, worker.embedding);

  const int d_stride = descriptor_.stride(), t_size = 4 * batch.stride;
  for (int b = 0; b < batch.n_atoms; ++b)
    descriptor_.forward(batch.t.data() + static_cast<std::size_t>(b) * t_size, batch.stride,
                        worker.descriptors.data() + static_cast<std::size_t>(b) * d_stride);
}

template <class Real>
void TypedEngine<Real>::run_batch(const BatchRange& range, const Atoms& atoms, const NeighbourList& list,
                                  const Array<double>& atom_energy, Worker& worker) const {
  describe_batch(range, atoms, list, worker);
  auto& batch = worker.batch;
  const int d_stride = descriptor_.stride(), t_size = 4 * batch.stride;
  fitting_[range.type].forward_and_adjoint({worker.descriptors.data(), d_stride}, batch.n_atoms,
                                           networks::Keep::adjoint, {worker.descriptors.data(), d_stride},
                                           worker.fitting);

  const double bias = model.atom_bias[range.type] + model.output_bias[range.type];
  for (int b = 0; b < batch.n_atoms; ++b) {
    descriptor_.backward(batch.t.data() + static_cast<std::size_t>(b) * t_size, batch.stride,
                         worker.descriptors.data() + static_cast<std::size_t>(b) * d_stride, batch.dt.data(),
                         worker.unfolded.data());
    embedding_->backward(batch, b, worker.embedding);
    add_forces_of(
        batch, b, model.deviation[batch.centre], [](int i) { return i; }, worker.force.data(),
        worker.total.virial);
    if (worker.virial.extent(0) > 0) add_atom_virials(worker, b);
    const double energy = worker.fitting.sum[b] + bias;
    worker.total.energy += energy;
    if (atom_energy.extent(0) > 0) atom_energy(batch.atom[b]) = energy;
  }
}

template <class Real>
void TypedEngine<Real>::reserve(Worker& worker) const {
  if (worker.descriptors.empty()) {
    worker.batch.reserve(batch_atoms, std::min(model.n_slots(), 128), model.n_types(), model.n_channels());
    worker.descriptors.assign(static_cast<std::size_t>(batch_atoms) * descriptor_.stride(), Real(0));
    worker.unfolded.assign(static_cast<std::size_t>(model.axis_neuron) * worker.batch.stride, Real(0));
  }
  worker.batch.dt.resize(4 * static_cast<std::size_t>(worker.batch.stride));
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
                         worker.environment.overflowing = worker.environment.most = 0;
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
  const int size = descriptor_.size();
  const std::size_t numbers = fitting_.size() * (1 + static_cast<std::size_t>(size));
  workers_.resize(exec.concurrency());
  plan(atoms);
  const auto begin = [&](Worker& worker) {
    reserve(worker);
    worker.descriptor_sums.assign(numbers, 0.0);
  };
  run_batches(exec, begin, [&](const BatchRange& range, Worker& worker) {
    describe_batch(range, atoms, list, worker);
    double* sums = worker.descriptor_sums.data() + static_cast<std::size_t>(range.type) * (1 + size);
    sums[0] += worker.batch.n_atoms;
    for (int b = 0; b < worker.batch.n_atoms; ++b)
      for (int i = 0; i < size; ++i)
        sums[1 + i] += worker.descriptors[static_cast<std::size_t>(b) * descriptor_.stride() + i];
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
  plan(atoms);
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
    total.overflowing += workers_[w].environment.overflowing;
    total.most_neighbours = std::max(total.most_neighbours, workers_[w].environment.most);
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
