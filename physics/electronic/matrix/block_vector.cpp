#include "physics/electronic/matrix/block_vector.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>

#include "io/log/log.hpp"
#include "physics/electronic/functions/tridiagonal.hpp"
#include "physics/kernels/pack.hpp"
#include "physics/sparse/device_products.hpp"

namespace quintet::electronic {

namespace {

/// The columns of this rank on the device, for vectors of n_rows; nothing where that has no memory for them.
std::shared_ptr<DeviceProduct> product_on(DeviceProducts& device, const BlockMatrix& a,
                                          const std::vector<int>& place, std::size_t n_rows, int n_vectors) {
  const Blocking& blocks = *a.blocking;
  std::vector<std::int32_t> width, rows, places;
  for (int c = a.first; c < a.last; ++c) width.push_back(blocks.size(c));
  for (const auto row : a.row) {
    rows.push_back(blocks.size(row));
    places.push_back(place[row]);
  }
  try {
    return device.product_with({width, a.column_begin, rows, places, a.offset, a.value}, n_rows, n_vectors);
  } catch (const std::exception& error) {
    log::info("Products of {:.3g} bytes with vectors stay on the cores: {}", a.bytes(), error.what());
    return nullptr;
  }
}

std::span<const double> numbers_of(const std::vector<double>& x) { return x; }
std::span<double> numbers_of(std::vector<double>& x) { return x; }
template <class Value>
constexpr int n_vectors = sizeof(Value) / sizeof(double);
std::span<const double> numbers_of(const std::vector<Lanes8>& x) {
  return {reinterpret_cast<const double*>(x.data()), n_vectors<Lanes8> * x.size()};
}
std::span<double> numbers_of(std::vector<Lanes8>& x) {
  return {reinterpret_cast<double*>(x.data()), n_vectors<Lanes8> * x.size()};
}

}  // namespace

template <class Value>
BlockProduct<Value>::BlockProduct(const BlockMatrix& a, DeviceProducts* device, std::size_t least) : a_(a) {
  const Blocking& blocks = *a.blocking;
  n_own_ = blocks.begin[a.last] - blocks.begin[a.first];
  place_.assign(blocks.n_blocks(), -1);
  for (int b = a.first; b < a.last; ++b) place_[b] = blocks.begin[b] - blocks.begin[a.first];
  std::vector<char> needed(blocks.n_blocks(), 0);
  for (const auto row : a.row) needed[row] = 1;
  int n = n_own_;
  std::vector<std::vector<std::int32_t>> ask(a.comm.size());
  for (int b = 0; b < blocks.n_blocks(); ++b) {  // in the order of the owners
    if (!needed[b] || place_[b] >= 0) continue;
    ask[a.owner(b)].push_back(b);
    place_[b] = n;
    n += blocks.size(b);
  }
  x_.resize(n);
  asked_ = a.comm.all_to_all(ask);
  send_.resize(asked_.size());
  if (device != nullptr && a.value.size() >= least)
    device_ = product_on(*device, a, place_, x_.size(), n_vectors<Value>);
}

namespace {

/// sum_i a_i x_i. Eight lanes are taken in this machine's registers: a vector wider than those g++ takes
/// apart into single numbers in memory, ten times as slow.
template <class Value>
Value product(const double* a, const Value* x, int n) {
  if constexpr (std::is_same_v<Value, double>) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i] * x[i];
    return sum;
  } else {
    constexpr int lanes = sizeof(Value) / sizeof(double), width = std::min(lanes, pack_width<double>);
    Pack<double, width> part[lanes / width] = {};
    const auto* from = reinterpret_cast<const double*>(x);
    for (int i = 0; i < n; ++i, from += lanes)
      for (int k = 0; k < lanes / width; ++k) part[k] += a[i] * load<double, width>(from + k * width);
    Value sum;
    std::memcpy(&sum, part, sizeof(sum));
    return sum;
  }
}

}  // namespace

template <class Value>
void BlockProduct<Value>::operator()(const std::vector<Value>& x, std::vector<Value>& y) {
  const Blocking& blocks = *a_.blocking;
  std::copy(x.begin(), x.begin() + n_own_, x_.begin());
  for (std::size_t rank = 0; rank < asked_.size(); ++rank) {
    send_[rank].clear();
    for (const auto b : asked_[rank])
      send_[rank].insert(send_[rank].end(), x.begin() + place_[b], x.begin() + place_[b] + blocks.size(b));
  }
  std::size_t to = n_own_;
  for (const auto& part : a_.comm.all_to_all(send_)) {
    std::copy(part.begin(), part.end(), x_.begin() + to);
    to += part.size();
  }
  y.assign(n_own_, Value{});
  if (device_ != nullptr) return device_->apply(numbers_of(std::as_const(x_)), numbers_of(y));
  for (int c = 0; c < a_.n_columns(); ++c) {
    Value* const sum = y.data() + place_[a_.first + c];
    const int columns = blocks.size(a_.first + c);
    for (auto p = a_.column_begin[c]; p < a_.column_begin[c + 1]; ++p) {
      const double* element = a_.value.data() + a_.offset[p];
      const Value* from = x_.data() + place_[a_.row[p]];
      const int rows = blocks.size(a_.row[p]);
      for (int j = 0; j < columns; ++j, element += rows) {
        sum[j] += product<Value>(element, from, rows);
      }
    }
  }
}

template class BlockProduct<double>;
template class BlockProduct<Lanes8>;

std::vector<double> random_signs(const BlockMatrix& a, int k) {
  const Blocking& blocks = *a.blocking;
  const unsigned long long first = blocks.begin[a.first];
  std::vector<double> v(blocks.begin[a.last] - blocks.begin[a.first]);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = scrambled((static_cast<unsigned long long>(k) << 40) + first + i) < 0 ? -1 : 1;
  return v;
}

}  // namespace quintet::electronic
