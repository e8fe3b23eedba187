quintet_test(potential_training_data
  SOURCES training_data.cpp training_statistics.cpp training_sampler.cpp ../hdf5/foreign.cpp
  DEPENDS quintet_potential_training quintet_hdf5_c LABELS unit)
