quintet_test(kinetics_theory_runs SOURCES vlasov_theory.cpp vlasov_convergence.cpp DEPENDS quintet_kinetics LABELS verification)
quintet_test(kinetics_system_ranks SOURCES vlasov_system_ranks.cpp DEPENDS quintet_kinetics LABELS verification RANKS 1 2 3 4)
