quintet_test(ensemble_properties SOURCES ensemble_test.cpp DEPENDS quintet_potential LABELS verification RANKS 1 3 SEVERAL -*in_double)
