# quintet_cli_cases(NAME FILE cases.txt [LABELS labels...] [PROCESSORS n]): one ctest entry that runs the cases of
# a file (format: tests/cli/README.md) in a scratch folder, with the executables of the build in reach by name.
find_package(Python3 QUIET COMPONENTS Interpreter)
function(quintet_cli_cases name)
  cmake_parse_arguments(ARG "" "FILE;PROCESSORS" "LABELS" ${ARGN})
  if(NOT Python3_Interpreter_FOUND)
    message(STATUS "No python3: the command line test ${name} is left out")
    return()
  endif()
  add_test(NAME cli_${name}
           COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/expect.py
                   ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FILE} --bin ${PROJECT_BINARY_DIR}/bin
                   --bin ${PROJECT_BINARY_DIR}/tests "--mpiexec=${MPIEXEC_EXECUTABLE} --oversubscribe")
  # Nearly all cases run on one rank, and the few others may share the cores; where there are many of them, PROCESSORS 2 keeps
  # other tests away, for which a waiting rank would give up its slice of time at every message.
  # COST: the longest tests begin first, those that take all cores before the others, so that nothing waits for them at the end.
  set_tests_properties(cli_${name} PROPERTIES LABELS "cli;${ARG_LABELS}" COST 100 ENVIRONMENT "${QUINTET_TEST_ENVIRONMENT}")
  if(ARG_PROCESSORS)
    set_tests_properties(cli_${name} PROPERTIES PROCESSORS ${ARG_PROCESSORS} COST 200)
  endif()
  quintet_timeout(cli_${name} 600)
endfunction()
