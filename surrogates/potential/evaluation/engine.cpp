#include "surrogates/potential/evaluation/engine.hpp"

#include <algorithm>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/atom_parameters.hpp"
#include "surrogates/potential/evaluation/forces.hpp"

namespace quintet::potential {

void DeepPotential::Engine::require_parameters(const Atoms& atoms) const {
  const int wanted = model.atom_parameters.count(), given = atoms.n_parameters();
  QUINTET_CHECK(wanted == 0 || wanted == given,
                "the model reads {} of each atom (aparam), these atoms have {}: {}",
                counted(wanted, "number"), given, cure_of_atom_parameters(wanted));
}

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
    require_with_axis(model, "precision bf16 runs");
    round_about(std::vector<double>(std::int64_t{model.n_types()} * inputs_.size, 0.0));
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
  const std::size_t size = inputs_.size;
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

template <class Real>
void TypedEngine<Real>::find_neighbours(const BatchRange& range, const Atoms& atoms,
                                        const NeighbourList& list, Worker& worker) const {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    auto& work = worker.parts[p];
    work.batch.centre = range.type;
    work.batch.n_atoms = 0;
    for (int at = range.begin; at < range.end; ++at)
      parts_[p].environment.append(order_[at], atoms.position.data(), atoms.type.data(), list.offset.data(),
                                   list.neighbour.data(), work.batch, work.environment);
  }
}

/// Neighbours in the rows of another engine, which this one's model may normalise differently.
template <class Real>
void TypedEngine<Real>::take_neighbours(const TypedEngine& owner, Worker& from, Worker& worker) const {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    auto& work = worker.parts[p];
    std::swap(from.parts[p].batch, work.batch);
    if (!parts_[p].environment.normalises_like(owner.parts_[p].environment))
      parts_[p].environment.normalise_anew(work.batch, work.environment);
  }
}

/// From neighbours, and the atoms' parameters, to what the fitting networks read.
template <class Real>
void TypedEngine<Real>::describe_batch(const Atoms& atoms, Worker& worker) const {
  const std::size_t d_stride = inputs_.stride();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    auto& [batch, environment, embedding, unfolded] = worker.parts[p];
    parts_[p].embedding->forward(batch, embedding);
    const std::size_t t_size = 4 * batch.stride;
    for (int b = 0; b < batch.n_atoms; ++b)
      inputs_.descriptors[p].forward(batch.t.data() + b * t_size, batch.stride,
                                     worker.descriptors.data() + b * d_stride + inputs_.offset[p]);
  }
  if (inputs_.n_parameters > 0) add_parameters(atoms, worker);
}

template <class Real>
void TypedEngine<Real>::add_parameters(const Atoms& atoms, Worker& worker) const {
  const auto& read = model.atom_parameters;
  const auto& batch = worker.parts.front().batch;
  for (int b = 0; b < batch.n_atoms; ++b)
    inputs_.put_parameters(read, &atoms.parameters(batch.atom[b], 0),
                           worker.descriptors.data() + std::int64_t{b} * inputs_.stride());
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

/// From neighbours to energies and forces, of atoms of one type.
template <class Real>
void TypedEngine<Real>::run_batch(int type, const Atoms& atoms, const Array<double>& atom_energy,
                                  Worker& worker) const {
  describe_batch(atoms, worker);
  const auto& batch = worker.parts.front().batch;
  const int d_stride = inputs_.stride();
  fitting_[type].forward_and_adjoint({worker.descriptors.data(), d_stride}, batch.n_atoms,
                                     networks::Keep::adjoint, {worker.descriptors.data(), d_stride},
                                     worker.fitting);

  const double bias = model.atom_bias[type] + model.output_bias[type];
  for (int b = 0; b < batch.n_atoms; ++b) {
    for (std::size_t p = 0; p < parts_.size(); ++p) go_back(p, b, worker);
    const double energy = worker.fitting.sum[b] + bias;
    worker.total.energy += energy;
    if (atom_energy.extent(0) > 0) atom_energy(batch.atom[b]) = energy;
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
      work.unfolded.assign(std::int64_t{part.axis_neuron} * work.batch.stride, Real(0));
    }
    worker.descriptors.assign(std::int64_t{most_batch_atoms} * inputs_.stride(), Real(0));
  }
  for (auto& work : worker.parts) work.batch.dt.resize(4 * std::int64_t{work.batch.stride});
}

/// In each worker begin(worker), then run(batch, worker) for its batches in their order.
template <class Real>
template <class Begin, class Run>
void TypedEngine<Real>::run_batches(const Exec& exec, Begin&& begin, Run&& run) {
  auto* workers = workers_.data();
  const int n_workers = workers_.size();
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
    find_neighbours(range, atoms, list, worker);
    describe_batch(atoms, worker);
    double* sums = worker.descriptor_sums.data() + std::int64_t{range.type} * (1 + size);
    sums[0] += range.end - range.begin;
    for (int b = 0; b < range.end - range.begin; ++b)
      for (int i = 0; i < size; ++i)
        sums[1 + i] += worker.descriptors[std::int64_t{b} * inputs_.stride() + i];
  });
  std::vector<double> total(numbers, 0.0);
  for (const Worker& worker : workers_)
    for (std::size_t i = 0; i < numbers; ++i) total[i] += worker.descriptor_sums[i];
  return total;
}

/// Make the workers ready to add to their forces, the first one to those that it is given.
template <class Real>
void TypedEngine<Real>::prepare(const Vectors& force, const Tensors& virial, int n_workers, int n_all) {
  workers_.resize(n_workers);
  const bool virials = virial.extent(0) > 0;
  for (int w = 0; w < n_workers; ++w) {
    Worker& worker = workers_[w];
    reserve(worker);
    if (w == 0)
      worker.force = force;
    else if (static_cast<int>(worker.force.extent(0)) < n_all)
      worker.force = make_view<Vectors>("potential::force", n_all + n_all / 8);
    worker.virial = !virials ? Tensors() : w == 0 ? virial : Tensors("potential::atom_virials", n_all);
    worker.total = Energetics{};
  }
}

template <class Real>
Energetics TypedEngine<Real>::sum_of_workers(const Atoms& atoms, const Vectors& force,
                                             const ByAtom& by_atom) {
  const std::size_t n_all = atoms.n_all();
  const bool virials = by_atom.virial.extent(0) > 0;
  const Model& m = model;
  Energetics total;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    total.energy += workers_[w].total.energy;
    for (int k = 0; k < 9; ++k) total.virial[k] += workers_[w].total.virial[k];
    int overflowing = 0;  // of the descriptor that has room for the fewest
    for (const auto& work : workers_[w].parts) {
      overflowing = std::max(overflowing, work.environment.overflowing);
      total.most_neighbours = std::max(total.most_neighbours, work.environment.most);
    }
    total.overflowing += overflowing;
    for (std::size_t i = 0; w > 0 && i < 3 * n_all; ++i) force.data()[i] += workers_[w].force.data()[i];
    for (std::size_t i = 0; virials && w > 0 && i < 9 * n_all; ++i)
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

template <class Real>
Energetics TypedEngine<Real>::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                                      const ByAtom& by_atom) {
  require_parameters(atoms);
  const int n_workers = exec.concurrency(), n_all = atoms.n_all();
  plan(atoms, n_workers);
  prepare(atoms.force, by_atom.virial, n_workers, n_all);
  if (by_atom.virial.extent(0) > 0) Kokkos::deep_copy(exec, by_atom.virial, 0.0);
  const auto begin = [&](Worker& worker) { std::fill_n(worker.force.data(), 3 * std::int64_t{n_all}, 0.0); };
  run_batches(exec, begin, [&](const BatchRange& range, Worker& worker) {
    find_neighbours(range, atoms, list, worker);
    run_batch(range.type, atoms, by_atom.energy, worker);
  });
  return sum_of_workers(atoms, atoms.force, by_atom);
}

template <class Real>
bool TypedEngine<Real>::finds_neighbours_of(const Engine& other) const {
  const auto* engine = dynamic_cast<const TypedEngine*>(&other);
  if (engine == nullptr || engine->parts_.size() != parts_.size() ||
      engine->model.excluded_atoms != model.excluded_atoms ||
      engine->model.excluded_fitting != model.excluded_fitting)
    return false;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (!parts_[p].environment.finds_neighbours_of(engine->parts_[p].environment) ||
        model.descriptor(p).n_channels() != engine->model.descriptor(p).n_channels())
      return false;
  return true;
}

template <class Real>
std::vector<Energetics> TypedEngine<Real>::compute_together(std::span<Engine* const> engines,
                                                            const Exec& exec, const Atoms& atoms,
                                                            const NeighbourList& list,
                                                            std::span<const Vectors> forces) {
  const int n_workers = exec.concurrency(), n_all = atoms.n_all();
  std::vector<TypedEngine*> all;
  for (auto* engine : engines) all.push_back(static_cast<TypedEngine*>(engine));
  QUINTET_ASSERT(all.front() == this && forces.size() == all.size(), "the first one finds the neighbours");
  plan(atoms, n_workers);
  for (auto* engine : all) engine->require_parameters(atoms);
  for (std::size_t e = 0; e < all.size(); ++e) all[e]->prepare(forces[e], Tensors(), n_workers, n_all);
  std::vector<bool> keeps_distances;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    keeps_distances.push_back(std::any_of(all.begin(), all.end(), [&](const auto* engine) {
      return !engine->parts_[p].environment.normalises_like(parts_[p].environment);
    }));
  const auto begin = [&](Worker& worker) {
    const auto w = &worker - workers_.data();
    for (auto* engine : all) std::fill_n(engine->workers_[w].force.data(), 3 * std::int64_t{n_all}, 0.0);
  };
  run_batches(exec, begin, [&](const BatchRange& range, Worker& worker) {
    const auto w = &worker - workers_.data();
    for (std::size_t p = 0; p < parts_.size(); ++p)
      worker.parts[p].batch.keeps_distances = keeps_distances[p];
    find_neighbours(range, atoms, list, worker);
    run_batch(range.type, atoms, {}, worker);
    for (std::size_t e = 1; e < all.size(); ++e) {
      Worker& own = all[e]->workers_[w];
      all[e]->take_neighbours(*all[e - 1], all[e - 1]->workers_[w], own);
      all[e]->run_batch(range.type, atoms, {}, own);
    }
  });
  std::vector<Energetics> totals;
  for (std::size_t e = 0; e < all.size(); ++e) {
    totals.push_back(all[e]->sum_of_workers(atoms, forces[e], {}));
    totals[e].warning = totals[0].warning;  // of neighbours, which the first one has counted for all
    totals[e].overflowing = totals[0].overflowing;
    totals[e].most_neighbours = totals[0].most_neighbours;
  }
  return totals;
}

template class TypedEngine<float>;
template class TypedEngine<double>;

}  // namespace quintet::potential
