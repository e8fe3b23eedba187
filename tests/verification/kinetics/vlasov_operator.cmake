quintet_test(kinetics_vlasov_operator SOURCES vlasov_operator.cpp vlasov_operator_properties.cpp
             DEPENDS quintet_kinetics LABELS verification)
quintet_test(kinetics_vlasov_ranks SOURCES vlasov_ranks.cpp DEPENDS quintet_kinetics LABELS verification RANKS 1 2 3 4)
