quintet_test(kinetics_velocity_edge SOURCES velocity_edge.cpp DEPENDS quintet_kinetics LABELS verification RANKS 1 2 3)
