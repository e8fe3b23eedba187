quintet_test(kinetics_theory SOURCES plasma_dispersion_test.cpp theory_test.cpp collisional_theory_test.cpp
             growth_fit_test.cpp riemann_test.cpp reference_test.cpp DEPENDS quintet_kinetics LABELS unit)
