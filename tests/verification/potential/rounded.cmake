quintet_test(rounded_potential SOURCES rounded_test.cpp DEPENDS quintet_potential LABELS verification RANKS 1 3)
