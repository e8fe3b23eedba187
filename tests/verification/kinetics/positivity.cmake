quintet_test(kinetics_positivity SOURCES positivity_test.cpp DEPENDS quintet_kinetics LABELS verification RANKS 1 2)
