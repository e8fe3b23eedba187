# Errors and spectra from products with random vectors.
quintet_test(electronic_probe SOURCES probe_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2 3 4)
