#include "surrogates/potential/training/embedding/trainable_triplets.hpp"

#include <algorithm>

#include "io/log/error.hpp"
#include "surrogates/potential/evaluation/triplets/triplet_kernels.hpp"
#include "surrogates/potential/model/chains.hpp"

namespace quintet::potential {

namespace {

/// Layouts of a training cover its neighbours, so that no pair meets the networks themselves.
struct Never {
  void operator()() const {
    throw InternalError("a pair of neighbours lies beyond the intervals of a training");
  }
};

}  // namespace

template <class Real>
TrainableTriplets<Real>::TrainableTriplets(const Model& model, const ParameterLayout& parameters,
                                           const TripletLayout& layout)
    : TripletEmbedding<Real>(model, layout), samples_(layout.order) {
  for (int p = 0; p < layout.n_intervals(); ++p)
    samples_.append_nodes(layout.left(p), layout.width(p), 0, nodes_);
  for (std::size_t i = 0; i < model.embedding.size(); ++i) {
    networks_.push_back(embedding_chain<double>(model.embedding[i], parameters.embedding[i]));
    c_bar_.emplace_back(nodes_.size() * this->stride_, Real(0));
  }
  tapes_.resize(networks_.size());
}

template <class Real>
std::vector<double> TrainableTriplets<Real>::intervals() const {
  const auto& layout = *this->layout_;
  return {double(layout.order), double(layout.part_bits), double(layout.n_octaves), layout.error};
}

template <class Real>
void TrainableTriplets<Real>::refresh(const Real* parameters) {
  unresolved_ = 0;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    networks_[i].refresh(parameters);
    networks_[i].forward({nodes_.data(), 1}, static_cast<int>(nodes_.size()), networks::Keep::gradient,
                         tapes_[i]);
    const auto c = samples_.coefficients(tapes_[i].layers.back().y.data(), networks_[i].stride(),
                                         this->layout_->n_intervals(), this->n_channels_, unresolved_);
    this->set_table(this->pairs_[i], c.data());
  }
}

/// Append the numbers of the occupied intervals.
template <class Real>
void TrainableTriplets<Real>::keep(const Scratch& scratch, AlignedVector<Real>& moments) const {
  const int order = this->layout_->order;
  for (const int interval : scratch.occupied) {
    const auto from = scratch.moments.begin() + std::int64_t{interval} * order;
    moments.insert(moments.end(), from, from + order);
  }
}

template <class Real>
void TrainableTriplets<Real>::record(Batch<Real>& batch, Record& record) const {
  auto& scratch = record.scratch;
  record.moments.clear();
  record.occupied.clear();
  record.count.clear();
  for (int b = 0; b < batch.n_atoms; ++b) {
    Real* t = batch.t.data() + std::int64_t{b} * 4 * this->stride_;
    std::fill_n(t, 4 * this->stride_, Real(0));
    this->gather(batch, b, scratch);
    for (const auto& types : this->pairs_) {
      this->accumulate_moments(types, scratch, Never());
      this->add_moments(types, scratch, t);
      keep(scratch, record.moments);
      record.occupied.insert(record.occupied.end(), scratch.occupied.begin(), scratch.occupied.end());
      record.count.push_back(static_cast<int>(scratch.occupied.size()));
    }
  }
}

/// Rdot of the neighbours, in the place of dE/dR; rows of empty slots are constants.
template <class Real>
void TrainableTriplets<Real>::gather_tangents(const Batch<Real>& batch, int b, const Real* row_dot,
                                              Scratch& scratch) const {
  this->gather(batch, b, scratch);
  auto& d = scratch.directions;
  for (auto* array : {&d.gx, &d.gy, &d.gz}) array->assign(d.x.size(), Real(0));
  for (int t = 0; t < this->n_types_; ++t) {
    const std::int64_t own = std::int64_t{b} * this->n_types_ + t;
    int at = d.first[t];
    for (std::int64_t r = batch.first[own]; r < batch.first[own + 1]; ++r, ++at) {
      d.gx[at] = row_dot[4 * r + 1];
      d.gy[at] = row_dot[4 * r + 2];
      d.gz[at] = row_dot[4 * r + 3];
    }
  }
}

/// Mdot of two types of neighbours, whose pairs come in the order of their moments.
template <class Real>
void TrainableTriplets<Real>::accumulate_tangent(const TypePair& types, Scratch& scratch) const {
  const int order = this->layout_->order;
  const auto& d = scratch.directions;
  this->begin_intervals(scratch);
  const auto add = [&](int j, int k, Real theta, Real weight, const TripletPlace<Real>& place) {
    const Real theta_dot = weight * (d.gx[j] * d.x[k] + d.gy[j] * d.y[k] + d.gz[j] * d.z[k] +
                                     d.x[j] * d.gx[k] + d.y[j] * d.gy[k] + d.z[j] * d.gz[k]);
    const Real through_x = theta * this->x_by_theta_[place.interval] * theta_dot;
    Real* moments =
        this->numbers_of(place.interval, scratch, [&](Real* those) { std::fill_n(those, order, Real(0)); });
    each_power<Real>(place.x, order, [&](int i, Pack<Real> power, Pack<Real> slope) {
      store<Real>(moments + i, load<Real>(moments + i) + theta_dot * power + through_x * slope);
    });
  };
  this->sort_pairs(types, scratch, add, Never());
}

template <class Real>
void TrainableTriplets<Real>::tangent(const Batch<Real>& batch, const Real* row_dot, Record& record,
                                      Real* t_dot) const {
  auto& scratch = record.scratch;
  record.tangent.clear();
  for (int b = 0; b < batch.n_atoms; ++b) {
    Real* t = t_dot + std::int64_t{b} * 4 * this->stride_;
    std::fill_n(t, 4 * this->stride_, Real(0));
    gather_tangents(batch, b, row_dot, scratch);
    for (const auto& types : this->pairs_) {
      accumulate_tangent(types, scratch);
      this->add_moments(types, scratch, t);
      keep(scratch, record.tangent);
    }
  }
}

template <class Real>
void TrainableTriplets<Real>::add_gradient(const Batch<Real>& batch, const Record& record, const Real* t_bar,
                                           const Real* t_dot_bar) {
  constexpr int w = pack_width<Real>;
  const int order = this->layout_->order, stride = this->stride_;
  const Real *m = record.moments.data(), *d = record.tangent.data();
  const int *interval = record.occupied.data(), *count = record.count.data();
  for (int b = 0; b < batch.n_atoms; ++b) {
    const Real* bar = t_bar + std::int64_t{b} * 4 * stride;
    const Real* dot_bar = t_dot_bar + std::int64_t{b} * 4 * stride;
    for (auto& c_bar : c_bar_)
      for (int i = *count++; i > 0; --i, ++interval) {
        Real* c = c_bar.data() + std::int64_t{*interval} * order * stride;
        for (int k = 0; k < order; ++k, ++m, ++d, c += stride)
          for (int q = 0; q < stride; q += w)
            store<Real>(c + q, load<Real>(c + q) + *m * load<Real>(bar + q) + *d * load<Real>(dot_bar + q));
      }
  }
}

template <class Real>
void TrainableTriplets<Real>::collect(Real* gradient) {
  const int m = this->n_channels_;
  std::vector<double> c_bar(nodes_.size() * m);
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    for (std::size_t row = 0; row < nodes_.size(); ++row)
      for (int q = 0; q < m; ++q) c_bar[row * m + q] = c_bar_[i][row * this->stride_ + q];
    auto& bar = tapes_[i].layers.back().y_bar;
    std::fill(bar.begin(), bar.end(), 0.0);
    samples_.add_back(c_bar.data(), this->pairs_[i].scale, this->layout_->n_intervals(), m,
                      networks_[i].stride(), bar.data());
    networks_[i].gradient({nodes_.data(), 1}, tapes_[i], gradient);
    std::fill(c_bar_[i].begin(), c_bar_[i].end(), Real(0));
  }
}

template class TrainableTriplets<float>;
template class TrainableTriplets<double>;

}  // namespace quintet::potential
