"""Exact numbers by formulas, independent of the programs: roots of dispersion relations, growth of convection, levels of models."""
import cmath
from math import cos, erf, erfc, exp, factorial, pi, sqrt

EV_PER_HARTREE, EV_PER_K = 27.211386245988, 8.617333262145e-5


def plasma_function(zeta):
    """Return Z(zeta) = i sqrt(pi) w(zeta), w(z) = exp(-z^2) erfc(-iz), continued from above (Fried and Conte 1961).

    Power series for |zeta| < 4.5, else the asymptotic one; relative error below 1e-7.
    """
    square = zeta*zeta
    if abs(zeta) < 4.5:
        term, total, n = 1, 0, 0
        while abs(term) > 1e-17*abs(total) or n < 3:
            total += term
            n += 1
            term *= -2*square/(2*n + 1)
        return 1j*sqrt(pi)*cmath.exp(-square) - 2*zeta*total
    term, total = 1, 0
    for n in range(1, 60):
        total += term
        following = term*(2*n - 1)/(2*square)
        if abs(following) > abs(term) or abs(following) < 1e-17:
            break
        term = following
    residue = 1 if abs(zeta.imag) < 1e-12*abs(zeta) else 0 if zeta.imag > 0 else 2
    return residue*1j*sqrt(pi)*cmath.exp(-square) - total/zeta


def root(function, guess):
    """Return the zero of an analytic function near a guess, by the secant method."""
    one, two = guess, guess*1.001 + 1e-4
    for _ in range(100):
        f_one, f_two = function(one), function(two)
        if f_one == f_two or abs(two - one) < 1e-13*abs(two):
            break
        one, two = two, two - f_two*(two - one)/(f_two - f_one)
    return two


def electrostatic(k, beams, guess):
    """Return omega of 1 + sum_b (w_b/(k v_b))^2 (1 + zeta Z(zeta)) = 0, zeta = (omega/k - u_b)/(sqrt(2) v_b), beams (w^2, v, u)."""
    def epsilon(omega):
        total = 1
        for square, thermal, drift in beams:
            zeta = (omega/k - drift)/(sqrt(2)*thermal)
            total += square/(k*thermal)**2*(1 + zeta*plasma_function(zeta))
        return total
    return root(epsilon, guess)


def weibel(k, thermal, drift, guess):
    """Return omega of omega^2 - k^2 - 1 + (1 + (u/v)^2)(1 + zeta Z(zeta)) = 0, zeta = omega/(sqrt(2) k v): two beams, c = omega_p = 1."""
    def dispersion(omega):
        zeta = omega/(sqrt(2)*k*thermal)
        return omega*omega - k*k - 1 + (1 + (drift/thermal)**2)*(1 + zeta*plasma_function(zeta))
    return root(dispersion, guess)


def collisional(k, damping, guess):
    """Return omega of a Langmuir wave whose Hermite modes n collisions damp at the rate damping(n) (omega_pe = lambda_D = 1).

    (omega + i d_n) a_n = k (c_n sqrt(n) a_{n-1} + sqrt(n+1) a_{n+1}), c_1 = 1 + 1/k^2, all other c_n = 1, as a continued fraction.
    """
    def dispersion(omega):
        ratio = 0
        for n in range(600, 0, -1):
            ratio = k*sqrt(n)*(1 + 1/(k*k) if n == 1 else 1)/(omega + 1j*damping(n) - k*sqrt(n + 1)*ratio)
        return omega - k*ratio
    return root(dispersion, guess)


def bessel(n, x):
    """Return I_n(x) by its power series."""
    term, total, m = (x/2)**n/factorial(n), 0, 0
    while term > 1e-18*total or m < 3:
        total += term
        m += 1
        term *= (x/2)**2/(m*(m + n))
    return total


def bernstein(k, cyclotron, guess):
    """Return omega of 1 = sum_n exp(-l) I_n(l)/l 2 n^2/(omega^2 - n^2 W^2), l = (k/W)^2: a wave across B, v_t = omega_pe = 1 (Bernstein 1958)."""
    squared = (k/cyclotron)**2
    weights = [2*n*n*exp(-squared)*bessel(n, squared)/squared for n in range(1, 40)]
    return root(lambda omega: 1 - sum(w/(omega*omega - (n*cyclotron)**2) for n, w in enumerate(weights, 1)), guess)


def cubic_roots(b, c, d):
    """Return the three roots of x^3 + b x^2 + c x + d, by Durand and Kerner's iteration."""
    roots = [(0.4 + 0.9j)**i*(1 + abs(d)**(1/3)) for i in range(3)]
    for _ in range(200):
        for i in range(3):
            x, others = roots[i], roots[:i] + roots[i + 1:]
            roots[i] = x - (((x + b)*x + c)*x + d)/((x - others[0])*(x - others[1]))
    return roots


def plates(k, rayleigh, prandtl, guess):
    """Return the growth rate s of exp(i k x + s t) between no-slip plates, per free-fall time (Chandrasekhar 1961, chapter II).

    w is a sum of cosh(q_i z), q_i^2 = k^2 + x_i, where x (x - s/nu)(x - s/kappa) + k^2/(nu kappa) = 0; w, dw/dz and b vanish at z = 1/2.
    """
    nu, kappa = sqrt(prandtl/rayleigh), 1/sqrt(rayleigh*prandtl)
    def determinant(s):
        x = cubic_roots(-(s/nu + s/kappa), s*s/(nu*kappa), k*k/(nu*kappa))
        q = [cmath.sqrt(k*k + one) for one in x]
        slope, heat = [one*cmath.tanh(one/2) for one in q], [one*(one - s/nu) for one in x]
        minors = [slope[(i + 1) % 3]*heat[(i + 2) % 3] - slope[(i + 2) % 3]*heat[(i + 1) % 3] for i in range(3)]
        return sum(minors)/((x[0] - x[1])*(x[1] - x[2])*(x[2] - x[0]))  # no zero where two roots are one
    return root(determinant, guess).real


def ring_with_gap(n, t1, t2):
    """Return the sum of the occupied levels of a ring with hopping t1, t2 in turn (eV, one spin)."""
    return -sum(abs(t1 + t2*cmath.exp(4j*pi*k/n)) for k in range(n//2))


def metal_ring(n, a, t, s, kelvin):
    """Return (sum of occupied levels, mu) of a half-filled ring of equal sites with overlap s at a temperature (eV, one spin)."""
    levels = [(a + 2*t*cos(2*pi*k/n))/(1 + 2*s*cos(2*pi*k/n)) for k in range(n)]
    def occupied(mu):
        return [1/(1 + exp(min(700, max(-700, (e - mu)/(EV_PER_K*kelvin))))) for e in levels]
    low, high = min(levels), max(levels)
    for _ in range(200):
        mu = 0.5*(low + high)
        low, high = (mu, high) if sum(occupied(mu)) < n/2 else (low, mu)
    return sum(e*f for e, f in zip(levels, occupied(mu))), mu


def honeycomb(nx, ny, t, m):
    """Return the sum of the occupied levels of a honeycomb of nx x ny cells, +-m on its sites, hopping t (eV, one spin)."""
    def phase(k, n):
        return cmath.exp(2j*pi*k/n)
    return -sum(sqrt(m*m + t*t*abs(1 + phase(i, nx) + phase(j, ny))**2) for i in range(nx) for j in range(ny))


def diode(gap, voltage, emitted=0.5):
    """Return the flux through a plane diode whose cathode emits half a Maxwellian of density `emitted` (v_t = epsilon0 = 1).

    The potential has a minimum -h before the cathode; with eta above it and n the density there, E^2 = 2 n g(eta), where
    g = exp(eta) erfc(sqrt(eta)) - 1 + 2 sqrt(eta/pi) behind it and exp(eta) (1 + erf(sqrt(eta))) - 1 - 2 sqrt(eta/pi) before it
    (Langmuir, Phys. Rev. 21, 419 (1923)). h follows from the length of the gap.
    """
    def behind(eta):
        return exp(eta)*erfc(sqrt(eta)) - 1 + 2*sqrt(eta/pi)
    def before(eta):
        return exp(eta)*(1 + erf(sqrt(eta))) - 1 - 2*sqrt(eta/pi)
    def length(g, top, density):  # int_0^top d eta/E, eta = s^2 for the root at 0
        n, end = 4000, sqrt(top)
        points = ((i + 0.5)*end/n for i in range(n))
        return end/n*sum(2*s/sqrt(2*density*g(s*s)) for s in points)
    low, high = 0, 20
    for _ in range(40):
        h = 0.5*(low + high)
        density = emitted*exp(-h)
        low, high = (h, high) if length(before, h, density) + length(behind, voltage + h, density) < gap else (low, h)
    return density*sqrt(2/pi)
