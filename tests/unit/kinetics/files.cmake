quintet_test(kinetics_files SOURCES distribution_io_test.cpp gkyl_writer_test.cpp gkyl_reader_test.cpp frames_test.cpp
             DEPENDS quintet_kinetics LABELS unit RANKS 1 2 3 4)

# What postgkyl makes of our .gkyl files, where it is installed (pip install postgkyl).
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  add_executable(write_gkyl_samples write_gkyl_samples.cpp)
  target_link_libraries(write_gkyl_samples PRIVATE quintet_flags quintet_kinetics quintet_runtime)
  set_target_properties(write_gkyl_samples PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  set(python "${Python3_EXECUTABLE}")
  if(EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
    set(python "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  endif()
  add_test(NAME kinetics_postgkyl COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/postgkyl_reads.py
                                          $<TARGET_FILE:write_gkyl_samples>)
  set_tests_properties(kinetics_postgkyl PROPERTIES LABELS unit SKIP_RETURN_CODE 77
                       ENVIRONMENT "${QUINTET_TEST_ENVIRONMENT}")
endif()
