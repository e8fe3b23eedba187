quintet_test(repulsion_properties SOURCES repulsion.cpp DEPENDS quintet_potential LABELS verification RANKS 1 2 3)
