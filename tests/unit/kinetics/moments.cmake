quintet_test(kinetics_moments SOURCES moments_test.cpp DEPENDS quintet_kinetics LABELS unit)
