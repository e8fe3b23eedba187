quintet_test(kinetics_basis SOURCES fields/legendre_test.cpp fields/basis_test.cpp fields/banded_solver_test.cpp
             fields/continuous_space_test.cpp
             DEPENDS quintet_kinetics LABELS unit)
quintet_test(kinetics_decomposition SOURCES fields/decomposition_test.cpp DEPENDS quintet_kinetics LABELS unit
             RANKS 1 2 3 8)
