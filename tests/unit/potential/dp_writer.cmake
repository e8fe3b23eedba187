quintet_test(deep_potential_writer SOURCES dp_writer.cpp DEPENDS quintet_potential LABELS unit)
