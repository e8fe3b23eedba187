quintet_test(kinetics_maxwell SOURCES fields/maxwell.cpp fields/maxwell_waves.cpp
             DEPENDS quintet_kinetics LABELS verification)
quintet_test(kinetics_poisson SOURCES fields/poisson.cpp DEPENDS quintet_kinetics LABELS verification)
quintet_test(kinetics_field_ranks SOURCES fields/ranks.cpp DEPENDS quintet_kinetics LABELS verification RANKS 1 2 3)
