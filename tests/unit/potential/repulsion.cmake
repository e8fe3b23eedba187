quintet_test(repulsion SOURCES repulsion.cpp DEPENDS quintet_potential LABELS unit)
