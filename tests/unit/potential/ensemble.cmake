quintet_test(ensemble SOURCES ensemble.cpp DEPENDS quintet_potential LABELS unit)
