#include "physics/kinetics/space/conf_products.hpp"

#include "physics/kinetics/basis/phase_traits.hpp"

namespace quintet::kinetics {

ConfProducts::ConfProducts(const Basis& conf) {
  for (int l = 0; l < conf.size(); ++l) {
    double greatest = 1;
    for (int d = 0; d < conf.dim(); ++d) greatest *= legendre_end(conf.mode(l)[d], 1);
    greatest_.push_back(greatest);
    for (int m = 0; m < conf.size(); ++m)
      for (int n = 0; n < conf.size(); ++n) {
        double c = 1;
        for (int d = 0; d < conf.dim(); ++d)
          c *= legendre_tables.triple[conf.mode(l)[d]][conf.mode(m)[d]][conf.mode(n)[d]];
        if (c != 0) triples_.push_back({l, m, n, c});
      }
  }
}

std::vector<double> ConfProducts::dense() const {
  const auto n = greatest_.size();
  std::vector<double> all(n * n * n, 0.0);
  for (const auto& t : triples_) all[(t.l * n + t.m) * n + t.n] = t.c;
  return all;
}

}  // namespace quintet::kinetics
