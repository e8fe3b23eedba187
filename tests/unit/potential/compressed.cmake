quintet_test(deep_potential_compressed SOURCES compressed_test.cpp DEPENDS quintet_potential LABELS unit RANKS 1 2 3)
