quintet_test(repulsion SOURCES repulsion_test.cpp DEPENDS quintet_potential LABELS unit)
