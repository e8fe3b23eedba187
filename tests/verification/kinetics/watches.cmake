quintet_test(kinetics_watches SOURCES velocity_edge.cpp budget.cpp energy_balance.cpp DEPENDS quintet_kinetics LABELS verification RANKS 1 2 3)
