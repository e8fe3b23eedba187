#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/device/vlasov_device.hpp"
#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

struct BasisRow {
  int cdim, vdim, order;
  Family family;
};

/// Every basis that there is.
inline std::vector<BasisRow> bases() {
  std::vector<BasisRow> found;
  for (const auto& [cdim, vdim] : {std::pair{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}})
    for (const auto family : {Family::serendipity, Family::tensor, Family::hybrid})
      for (int order = 1; order <= 3; ++order) {
        if (family == Family::tensor && order == 1) continue;  // the same as serendipity
        try {
          const PhaseBasis basis(cdim, vdim, order, family);
          found.push_back({cdim, vdim, order, family});
        } catch (const InputError&) {
        }
      }
  return found;
}

inline double greatest(const Distribution& f) {
  double value = 0;
  for (std::size_t i = 0; i < f.data.size(); ++i) value = std::max(value, std::abs(f.data.data()[i]));
  return value;
}

/// Over the cells that there are, not those that pad.
inline double difference(const Distribution& a, const Distribution& b) {
  double value = 0;
  for (int conf = 0; conf < a.block.n_conf(); ++conf)
    for (int row = 0; row < a.block.n_rows(); ++row)
      for (int j = 0; j < a.block.n_last(); ++j)
        for (int m = 0; m < a.n_modes; ++m)
          value = std::max(value, std::abs(a.at(conf, row, j, m) - b.at(conf, row, j, m)));
  return value;
}

}  // namespace quintet::kinetics
