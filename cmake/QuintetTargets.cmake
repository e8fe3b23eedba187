# The applications alone, without tests and benchmarks.
add_custom_target(applications)

# quintet_together(TARGET [APART files...]): compile the files of a room as one, but for those named: headers and templates
# that they share are dealt with once, in half the time of a compiler (QUINTET_TOGETHER).
# They share names without linkage, too: where two files of a room mean different things by a name ("redefinition"), change
# it or name one of them APART. Not for code that is hot: what a compiler inlines depends on the files beside.
function(quintet_together target)
  cmake_parse_arguments(ARG "" "" "APART" ${ARGN})
  if(NOT QUINTET_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE room)
    file(RELATIVE_PATH room "${CMAKE_CURRENT_SOURCE_DIR}" "${room}")
    cmake_path(GET room PARENT_PATH room)
    string(MAKE_C_IDENTIFIER "${room}" room)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "room_${room}")
  endforeach()
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

set(quintet_only_sources)
foreach(list IN LISTS QUINTET_ONLY_SOURCES)
  file(STRINGS "${list}" listed)
  list(APPEND quintet_only_sources ${listed})
endforeach()

# quintet_library(NAME [TOGETHER | ROOMS_TOGETHER rooms...] [APART files...] [DEPENDS libs...] [PRIVATE libs...])
# The library quintet_NAME (alias Quintet::NAME) of all .cpp files of the calling folder and its rooms: the folders below
# it that are no libraries of their own; TOGETHER as quintet_together() does, or only in the rooms named.
function(quintet_library name)
  cmake_parse_arguments(ARG "TOGETHER" "" "ROOMS_TOGETHER;APART;DEPENDS;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  file(GLOB_RECURSE room_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp")
  foreach(source IN LISTS room_sources)
    cmake_path(GET source PARENT_PATH room)
    if(NOT EXISTS "${room}/CMakeLists.txt")
      list(APPEND sources "${source}")
    endif()
  endforeach()
  if(QUINTET_ONLY_SOURCES)
    list(TRANSFORM sources REPLACE "^${PROJECT_SOURCE_DIR}/" "")
    foreach(source IN LISTS sources)
      if(NOT source IN_LIST quintet_only_sources)
        list(REMOVE_ITEM sources "${source}")
      endif()
    endforeach()
    list(TRANSFORM sources PREPEND "${PROJECT_SOURCE_DIR}/")
    if(NOT sources)  # it stays a library, so that all that is said of it holds
      set(sources "${PROJECT_BINARY_DIR}/generated/nothing.cpp")
      file(CONFIGURE OUTPUT "${sources}" CONTENT "")
    endif()
  endif()
  if(sources)
    add_library(quintet_${name} STATIC ${sources})
    if("quintet_torch" IN_LIST ARG_DEPENDS OR "quintet_torch" IN_LIST ARG_PRIVATE OR "quintet_bridge" IN_LIST ARG_PRIVATE)
      set_target_properties(quintet_${name} PROPERTIES JOB_POOL_COMPILE torch)
    endif()
    quintet_precompiled(quintet_${name} code ${ARG_DEPENDS} ${ARG_PRIVATE})
    target_link_libraries(quintet_${name} PUBLIC quintet_flags ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE})
    if(ARG_ROOMS_TOGETHER)
      foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH room)
        cmake_path(RELATIVE_PATH room BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
        if(NOT room IN_LIST ARG_ROOMS_TOGETHER)
          list(APPEND ARG_APART "${source}")
        endif()
      endforeach()
    endif()
    if(ARG_TOGETHER OR ARG_ROOMS_TOGETHER)
      quintet_together(quintet_${name} APART ${ARG_APART})
    endif()
  else()
    add_library(quintet_${name} INTERFACE)
    target_link_libraries(quintet_${name} INTERFACE quintet_flags ${ARG_DEPENDS})
  endif()
  set_target_properties(quintet_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(Quintet::${name} ALIAS quintet_${name})
  set_property(GLOBAL APPEND PROPERTY QUINTET_LIBRARIES quintet_${name})
endfunction()

# quintet_application(NAME [APART files...] [DEPENDS libs...]): the executable build/bin/NAME of all .cpp files of the
# calling folder and the folders below it, compiled together.
function(quintet_application name)
  cmake_parse_arguments(ARG "" "" "APART;DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE quintet_flags quintet_application ${ARG_DEPENDS})
  quintet_precompiled(${name} code ${ARG_DEPENDS})
  quintet_together(${name} APART ${ARG_APART})
  quintet_program(${name})
endfunction()

# quintet_program(NAME): one of the programs that are built and installed, with its page of the manual and what completes its
# words in bash and zsh, which it prints itself when it is installed.
function(quintet_program name)
  add_dependencies(applications ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
  set(pages "man|${CMAKE_INSTALL_MANDIR}/man1|${name}.1"
            "completion bash|${CMAKE_INSTALL_DATADIR}/bash-completion/completions|${name}"
            "completion zsh|${CMAKE_INSTALL_DATADIR}/zsh/site-functions|_${name}")
  foreach(page IN LISTS pages)
    string(REPLACE "|" ";" page "${page}")
    list(GET page 0 words)
    list(GET page 1 folder)
    list(GET page 2 file)
    install(CODE "
      set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
      file(MAKE_DIRECTORY \"\${folder}\")
      separate_arguments(words UNIX_COMMAND \"${words}\")
      execute_process(COMMAND \"$<TARGET_FILE:${name}>\" \${words} OUTPUT_FILE \"\${folder}/${file}\" COMMAND_ERROR_IS_FATAL ANY)
      list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${folder}/${file}\")" COMPONENT programs)
  endforeach()
endfunction()

# quintet_late_library(NAME FOR target [NOT_INSTALLED]): the library NAME (MODULE; SHARED, where it has a version) as
# build/lib/libNAME.so, which `target` loads
# when it is needed (io/runtime/late_library.hpp); its path is LATE_NAME there.
function(quintet_late_library name)
  cmake_parse_arguments(ARG "NOT_INSTALLED" "FOR" "" ${ARGN})
  string(TOUPPER "LATE_${name}" path)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  if(NOT QUINTET_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  target_compile_definitions(${ARG_FOR} PRIVATE "${path}=\"$<TARGET_FILE:${name}>\"")
  add_dependencies(${ARG_FOR} ${name})
  if(ARG_NOT_INSTALLED)
    return()
  endif()
  # Of LibTorch's folder CMake keeps nothing where that lies in the source tree, as .venv does. Another LibTorch can be linked
  # to lib/quintet/torch.
  set_target_properties(${name} PROPERTIES
    INSTALL_RPATH "$ORIGIN/torch/lib;$<$<TARGET_EXISTS:torch_cpu>:$<TARGET_FILE_DIR:torch_cpu>>")
  install(TARGETS ${name} LIBRARY DESTINATION lib/quintet COMPONENT programs)
endfunction()

# quintet_test(NAME SOURCES files... [APART files...] [DEPENDS libs...] [LABELS labels...] [RANKS 1 2 3] [SEVERAL filter] [LONG filter]
#              [TIMEOUT s] [COST n] [DEVICE])
# One GoogleTest executable, its files compiled together but for those APART (quintet_together()); with RANKS one ctest entry
# per number of ranks, run through mpirun and labelled mpi; SEVERAL: on more than one only the tests of this GoogleTest filter, which
# compare ranks or need them. LONG: tests of this filter are an entry of their own, NAME_long, labelled long (tests/README.md).
# COST: those of a high one begin first. DEVICE: labelled device, on
# what QUINTET_TEST_DEVICE says (tests/support/device).
function(quintet_test name)
  cmake_parse_arguments(ARG "DEVICE" "TIMEOUT;COST;SEVERAL;LONG" "SOURCES;APART;DEPENDS;LABELS;RANKS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(ARG_DEVICE)
    list(APPEND ARG_DEPENDS quintet_test_device)
    list(APPEND ARG_LABELS device)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE quintet_flags quintet_test_support ${ARG_DEPENDS})
  quintet_precompiled(test_${name} tests ${ARG_DEPENDS})
  list(LENGTH ARG_SOURCES n_sources)
  if(n_sources GREATER 1)
    quintet_together(test_${name} APART ${ARG_APART})
  endif()
  # GoogleTest's macros take a third less time to compile so; what is tested lies in the libraries.
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  set(short)  # all but those of LONG
  if(ARG_LONG)
    set(short "--gtest_filter=-${ARG_LONG}")
    add_test(NAME ${name}_long COMMAND test_${name} --gtest_filter=${ARG_LONG})
    set_tests_properties(${name}_long PROPERTIES LABELS "${ARG_LABELS};long" ENVIRONMENT "${QUINTET_TEST_ENVIRONMENT}"
                         FAIL_REGULAR_EXPRESSION "Running 0 tests")
    quintet_timeout(${name}_long ${ARG_TIMEOUT})
  endif()
  if(NOT ARG_RANKS)
    add_test(NAME ${name} COMMAND test_${name} ${short})
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" ENVIRONMENT "${QUINTET_TEST_ENVIRONMENT}")
    if(ARG_COST)
      set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
    endif()
    quintet_timeout(${name} ${ARG_TIMEOUT})
  endif()
  foreach(ranks IN LISTS ARG_RANKS)
    set(filter ${short})
    if(ARG_SEVERAL AND ranks GREATER 1)
      set(filter "--gtest_filter=${ARG_SEVERAL}")
    endif()
    add_test(NAME ${name}_np${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} --oversubscribe $<TARGET_FILE:test_${name}> ${filter})
    # One of ctest's processors for all ranks: those that wait take no core (tests/support/waiting_ranks.c), and a short test
    # mostly waits for its ranks to start and end.
    set_tests_properties(${name}_np${ranks} PROPERTIES LABELS "${ARG_LABELS};mpi" ENVIRONMENT "${QUINTET_TEST_ENVIRONMENT}"
                         FAIL_REGULAR_EXPRESSION "Running 0 tests")  # of a filter that matches none
    if(ARG_COST)
      set_tests_properties(${name}_np${ranks} PROPERTIES COST ${ARG_COST})
    endif()
    quintet_timeout(${name}_np${ranks} ${ARG_TIMEOUT})
  endforeach()
endfunction()

# Environment of every test: mpirun as root in a container, which looks for no X server (cmake/setup.sh) and, 15 ms a start, for
# nothing on the node's buses; one thread a rank.
set(QUINTET_TEST_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HWLOC_COMPONENTS=-gl,-linuxio,-pci
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OPENBLAS_NUM_THREADS=1 QUINTET_SOURCE_DIR=${PROJECT_SOURCE_DIR}
    QUINTET_BINARY_DIR=${PROJECT_BINARY_DIR} QUINTET_TEST_PATIENCE=${QUINTET_TEST_PATIENCE})
if(NOT QUINTET_SANITIZE)  # waiting ranks sleep: tests/support/waiting_ranks.c
  list(APPEND QUINTET_TEST_ENVIRONMENT LD_PRELOAD=${PROJECT_BINARY_DIR}/tests/libquintet_waiting_ranks.so)
endif()

# Checkpoints are flushed to the disk, 10 ms a time and more: tests write to memory where it holds 4 GB.
execute_process(COMMAND df --output=avail -B1000000 /dev/shm OUTPUT_VARIABLE quintet_shm_mb ERROR_QUIET)
if(quintet_shm_mb MATCHES "([0-9]+)\n$" AND CMAKE_MATCH_1 GREATER 4000)
  list(APPEND QUINTET_TEST_ENVIRONMENT TMPDIR=/dev/shm)
endif()

# quintet_timeout(TEST SECONDS): ctest ends TEST after that time, where patience is 1. What may take longest begins first, unless
# a COST of its own is set: nothing waits for it at the end.
function(quintet_timeout test seconds)
  get_test_property(${test} COST cost)
  if(NOT cost)
    math(EXPR cost "${seconds} / 10")
    set_tests_properties(${test} PROPERTIES COST ${cost})
  endif()
  math(EXPR seconds "${seconds} * ${QUINTET_TEST_PATIENCE}")
  set_tests_properties(${test} PROPERTIES TIMEOUT ${seconds})
endfunction()
