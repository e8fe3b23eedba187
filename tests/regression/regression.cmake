# quintet_regression(APP): the cases in the calling folder, run with the executable APP as a user runs it. The test itself
# starts no MPI, so that the program may.
find_package(GTest REQUIRED)
function(quintet_regression app)
  set(name regression_${app})
  add_executable(test_${name} ${PROJECT_SOURCE_DIR}/tests/regression/regression.cpp)
  target_link_libraries(test_${name} PRIVATE quintet_flags quintet_config GTest::gtest_main)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(test_${name} PRIVATE REGRESSION_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}"
                             REGRESSION_PROGRAM="$<TARGET_FILE:${app}>")
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_dependencies(test_${name} ${app})
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES LABELS regression ENVIRONMENT "${QUINTET_TEST_ENVIRONMENT}")
  quintet_timeout(${name} 600)
endfunction()
