quintet_test(deep_potential_training SOURCES training_test.cpp DEPENDS quintet_potential_training
             LABELS verification RANKS 1 3
             SEVERAL -*gradient_of_the_huber*:*gradient_is*:*single_precision*:*predicts_what*:*loss_is*:*a_look_at*
             LONG *for_every_parameter* TIMEOUT 600)
