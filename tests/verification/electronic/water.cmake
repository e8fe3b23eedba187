# Water boxes against dense diagonalisation, at the errors of a prototype with exact A.
quintet_test(electronic_water SOURCES water_table_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification long COST 80)
