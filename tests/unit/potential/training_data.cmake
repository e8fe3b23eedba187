quintet_test(potential_training_data
  SOURCES training_data_test.cpp training_statistics_test.cpp training_sampler_test.cpp training_finetune_test.cpp ../hdf5/foreign.cpp
  DEPENDS quintet_potential_training quintet_hdf5_c LABELS unit)
