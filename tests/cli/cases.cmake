# quintet_cli_cases(NAME FILE cases.txt [LABELS labels...] [LONG] [DEVICE]): one ctest entry that runs the cases of a file
# (format: tests/cli/README.md) in a scratch folder, with the executables of the build in reach by name.
# DEVICE: labelled device, some cases are of what QUINTET_TEST_DEVICE says.
find_package(Python3 QUIET COMPONENTS Interpreter)
function(quintet_cli_cases name)
  cmake_parse_arguments(ARG "LONG;DEVICE" "FILE" "LABELS" ${ARGN})
  if(NOT Python3_Interpreter_FOUND)
    message(STATUS "No python3: the command line test ${name} is left out")
    return()
  endif()
  add_test(NAME cli_${name}
           COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/expect.py
                   ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FILE} --bin ${PROJECT_BINARY_DIR}/bin
                   --bin ${PROJECT_BINARY_DIR}/tests "--mpiexec=${MPIEXEC_EXECUTABLE} --oversubscribe")
  if(ARG_DEVICE)
    list(APPEND ARG_LABELS device)
  endif()
  set(cost 100)
  if(ARG_LONG)
    set(cost 200)
  endif()
  # COST: the longest tests begin first, so that nothing waits for them at the end. Ranks that wait take no core
  # (tests/support/waiting_ranks.c): one more or less beside other tests does no harm.
  set_tests_properties(cli_${name} PROPERTIES LABELS "cli;${ARG_LABELS}" COST ${cost}
                       ENVIRONMENT "${QUINTET_TEST_ENVIRONMENT}")
  quintet_timeout(cli_${name} 600)
endfunction()
