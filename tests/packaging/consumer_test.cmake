# Install the build into a folder of its own, build the consumer against what was installed and run it.
# cmake -DBUILD=… -DCONSUMER=… -DSCRATCH=… -DGENERATOR=… -DCXX=… -DPREFIX_PATH=… -P consumer_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    string(JOIN " " command ${ARGN})
    message("${output}")
    message(FATAL_ERROR "${command}: ${result}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${SCRATCH}/prefix")
run(${CMAKE_COMMAND} -S "${CONSUMER}" -B "${SCRATCH}/build" -G "${GENERATOR}" -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${SCRATCH}/prefix;${PREFIX_PATH}")
# Nothing of the source tree may be needed.
file(STRINGS "${SCRATCH}/build/build.ninja" own_paths REGEX "-I ?${SOURCE}/(io|physics|surrogates|apps|bridges)?( |$)")
if(own_paths)
  message(FATAL_ERROR "The installed package points into the source tree: ${own_paths}")
endif()
run(${CMAKE_COMMAND} --build "${SCRATCH}/build")
run("${SCRATCH}/build/crystal")
if(NOT output MATCHES "108 atoms, 1259\\.712 angstrom" OR NOT output MATCHES "refused: .*lattice_constant")
  message(FATAL_ERROR "The consumer printed: ${output}")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
