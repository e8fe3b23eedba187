quintet_test(atom_virials SOURCES atom_virials_test.cpp heat_current_test.cpp DEPENDS quintet_potential LABELS verification RANKS 1 2 3
             SEVERAL -*.turn_*:*.are_as_defined*:*.with_repulsion_are_as_defined:*derivative*)
