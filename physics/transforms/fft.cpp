#include "physics/transforms/fft.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "io/log/error.hpp"

namespace quintet {

namespace {

using Lanes = Fft::Lanes;

struct Complex {
  Lanes re, im;
};
inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
/// -i a.
inline Complex turned(Complex a) { return {a.im, -a.re}; }
inline Complex scaled(double factor, Complex a) { return {factor * a.re, factor * a.im}; }
inline Complex times(Complex a, double re, double im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}

/// The transform of a few values, in place.
template <int radix>
inline void butterfly(std::array<Complex, radix>& a) {
  if constexpr (radix == 2) {
    const Complex sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  } else if constexpr (radix == 3) {
    constexpr double s = 0.86602540378443864676;
    const Complex sum = a[1] + a[2], turn = turned(scaled(s, a[1] - a[2])), rest = a[0] - scaled(0.5, sum);
    a[0] = a[0] + sum;
    a[1] = rest + turn;
    a[2] = rest - turn;
  } else if constexpr (radix == 4) {
    const Complex p = a[0] + a[2], q = a[0] - a[2], r = a[1] + a[3], t = turned(a[1] - a[3]);
    a[0] = p + r;
    a[1] = q + t;
    a[2] = p - r;
    a[3] = q - t;
  } else if constexpr (radix == 8) {
    constexpr double c = 0.70710678118654752440;
    std::array<Complex, 4> even{a[0], a[2], a[4], a[6]}, odd{a[1], a[3], a[5], a[7]};
    butterfly<4>(even);
    butterfly<4>(odd);
    // odd_k exp(-i pi k/4)
    odd[1] = scaled(c, odd[1] + turned(odd[1]));
    odd[2] = turned(odd[2]);
    odd[3] = scaled(c, turned(odd[3]) - odd[3]);
    for (int k = 0; k < 4; ++k) {
      a[k] = even[k] + odd[k];
      a[k + 4] = even[k] - odd[k];
    }
  } else {
    static_assert(radix == 5);
    constexpr double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
    constexpr double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
    const Complex p = a[1] + a[4], q = a[2] + a[3], r = a[1] - a[4], t = a[2] - a[3];
    const Complex x = a[0] + scaled(c1, p) + scaled(c2, q), y = a[0] + scaled(c2, p) + scaled(c1, q);
    const Complex v = turned(scaled(s1, r) + scaled(s2, t)), w = turned(scaled(s2, r) - scaled(s1, t));
    a[0] = a[0] + p + q;
    a[1] = x + v;
    a[4] = x - v;
    a[2] = y + w;
    a[3] = y - w;
  }
}

struct Arrays {
  const double *re, *im;
  double *to_re, *to_im;
};

inline Complex at(const Arrays& x, std::size_t i) {
  return {load<double>(x.re + i * Fft::lanes), load<double>(x.im + i * Fft::lanes)};
}
inline void put(const Arrays& x, std::size_t i, Complex value) {
  store<double>(x.to_re + i * Fft::lanes, value.re);
  store<double>(x.to_im + i * Fft::lanes, value.im);
}

/// One stage: y[q + s (r p + k)] = w^(p k) sum_t x[q + s (p + m t)] exp(-2 pi i k t/r), w = exp(-2 pi i/(r
/// m)).
template <int radix>
void pass(const Arrays& x, std::size_t m, std::size_t s, const double* twiddles) {
  for (std::size_t p = 0; p < m; ++p) {
    const double* const w = twiddles + 2 * (radix - 1) * p;
    for (std::size_t q = 0; q < s; ++q) {
      std::array<Complex, radix> a;
      for (std::size_t t = 0; t < radix; ++t) a[t] = at(x, q + s * (p + m * t));
      butterfly<radix>(a);
      put(x, q + s * radix * p, a[0]);
      for (std::size_t k = 1; k < radix; ++k)
        put(x, q + s * (radix * p + k), times(a[k], w[2 * k - 2], w[2 * k - 1]));
    }
  }
}

/// One pass with a radix that has no butterfly of its own: `roots` are cos and -sin of 2 pi k/radix.
void pass_of_any(const Arrays& x, std::size_t radix, std::size_t m, std::size_t s, const double* twiddles,
                 const std::vector<double>& roots) {
  std::array<Complex, Fft::most_prime> a;
  for (std::size_t p = 0; p < m; ++p)
    for (std::size_t q = 0; q < s; ++q) {
      for (std::size_t t = 0; t < radix; ++t) a[t] = at(x, q + s * (p + m * t));
      for (std::size_t k = 0; k < radix; ++k) {
        Complex sum = a[0];
        for (std::size_t t = 1; t < radix; ++t) {
          const std::size_t root = k * t % radix;
          sum = sum + times(a[t], roots[2 * root], roots[2 * root + 1]);
        }
        const double* const w = twiddles + 2 * ((radix - 1) * p + k) - 2;
        put(x, q + s * (radix * p + k), k == 0 ? sum : times(sum, w[0], w[1]));
      }
    }
}

/// Radices whose product is n, or none.
std::vector<int> radices_of(int n) {
  std::vector<int> radices;
  if (n < 1) return radices;
  for (const int radix : {5, 8, 4, 3, 2, 7, 11, 13})
    for (; n % radix == 0 && !(radix == 8 && n / radix % 4 == 2); n /= radix) radices.push_back(radix);
  if (n > 1) radices.clear();
  return radices;
}

}  // namespace

bool Fft::possible(int n) { return n == 1 || !radices_of(n).empty(); }

int Fft::next_possible(int n) {
  while (!possible(n)) ++n;
  return n;
}

Fft::Fft(int n) : n_(n) {
  QUINTET_CHECK(n >= 1, "a transform of length {}; expected 1 or more", n);
  QUINTET_CHECK(possible(n),
                "a transform of length {}, which has a prime factor above {}; expected a product of smaller "
                "primes, such as {}",
                n, most_prime, next_possible(n));
  int left = n, s = 1;
  for (const int radix : radices_of(n)) {
    const int m = left / radix;
    stages_.push_back({radix, m, s, twiddles_.size()});
    for (int p = 0; p < m; ++p)
      for (int k = 1; k < radix; ++k) {
        const double angle = 2 * std::numbers::pi * p * k / left;
        twiddles_.insert(twiddles_.end(), {std::cos(angle), -std::sin(angle)});
      }
    std::vector<double> roots;
    for (int k = 0; radix > 5 && radix != 8 && k < radix; ++k) {
      const double angle = 2 * std::numbers::pi * k / radix;
      roots.insert(roots.end(), {std::cos(angle), -std::sin(angle)});
    }
    roots_.push_back(std::move(roots));
    left = m;
    s *= radix;
  }
}

Fft::Parts Fft::transform(double* re, double* im, double* work) const {
  const std::size_t size = std::int64_t{n_} * lanes;
  Arrays x{re, im, work, work + size};
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const auto& [radix, m, s, first] = stages_[i];
    const std::size_t m_of = m, s_of = s;
    const double* const w = twiddles_.data() + first;
    switch (radix) {
      case 2:
        pass<2>(x, m_of, s_of, w);
        break;
      case 3:
        pass<3>(x, m_of, s_of, w);
        break;
      case 4:
        pass<4>(x, m_of, s_of, w);
        break;
      case 5:
        pass<5>(x, m_of, s_of, w);
        break;
      case 8:
        pass<8>(x, m_of, s_of, w);
        break;
      default:
        pass_of_any(x, radix, m_of, s_of, w, roots_[i]);
    }
    x = i % 2 == 0 ? Arrays{work, work + size, re, im} : Arrays{re, im, work, work + size};
  }
  if (stages_.size() % 2 == 0) return {re, im};
  return {work, work + size};
}

}  // namespace quintet
