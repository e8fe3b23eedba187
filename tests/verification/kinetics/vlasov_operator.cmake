quintet_test(kinetics_vlasov_operator SOURCES vlasov_operator.cpp vlasov_operator_properties.cpp DEPENDS
                 quintet_kinetics LABELS verification)
