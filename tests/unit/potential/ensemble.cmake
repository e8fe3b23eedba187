quintet_test(ensemble SOURCES ensemble_test.cpp DEPENDS quintet_potential LABELS unit)
