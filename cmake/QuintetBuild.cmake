# Build type, language level, flags, ccache and output folders of the whole project.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG" CACHE STRING "" FORCE)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
include(GNUInstallDirs)

# 250 programs are linked, those with LibTorch in a third of the time so.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold QUINTET_LINKER_GOLD)
if(QUINTET_LINKER_GOLD)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=gold>)
endif()

find_program(QUINTET_CCACHE ccache)
if(QUINTET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this ccache keeps nothing that was compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros "${QUINTET_CCACHE}")
endif()

# The flags that every target of ours is compiled with. What changes the layout of data (-march: the width of packs)
# or the meaning of headers goes to users of the installed package as well.
add_library(quintet_flags INTERFACE)
set_target_properties(quintet_flags PROPERTIES EXPORT_NAME flags)
target_compile_features(quintet_flags INTERFACE cxx_std_20)
# A processor that the compiler does not know is refused here, and not kept for the next configuration.
if(QUINTET_ARCH)
  include(CheckCXXCompilerFlag)
  string(MAKE_C_IDENTIFIER "QUINTET_COMPILES_FOR_${QUINTET_ARCH}" is_known)
  check_cxx_compiler_flag("-march=${QUINTET_ARCH}" ${is_known})
  if(NOT ${is_known})
    unset(${is_known} CACHE)
    set(wrong_arch "${QUINTET_ARCH}")
    set_property(CACHE QUINTET_ARCH PROPERTY VALUE native)
    message(FATAL_ERROR " QUINTET_ARCH=${wrong_arch}: the compiler has no -march=${wrong_arch}. The next "
                        "configuration takes native, or what -DQUINTET_ARCH names\n")
  endif()
endif()
target_compile_options(quintet_flags INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${QUINTET_ARCH}>>:-march=${QUINTET_ARCH}>
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-unknown-pragmas;-Wno-psabi;-fno-math-errno;-ffp-contract=fast>>"
  # False with g++ 12: a unity source is no main file for its anonymous namespaces; a string that is assigned overflows.
  "$<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage;-Wno-restrict;-Wno-stringop-overflow>>"
  $<BUILD_INTERFACE:$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${QUINTET_WARNINGS_AS_ERRORS}>>:-Werror>>)
target_compile_definitions(quintet_flags INTERFACE
  "$<$<BOOL:${QUINTET_ASSERTIONS}>:QUINTET_ASSERTIONS;_GLIBCXX_ASSERTIONS;KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK=>")
if(QUINTET_SANITIZE)
  target_compile_definitions(quintet_flags INTERFACE $<BUILD_INTERFACE:QUINTET_KERNELS_AS_LOOPS>)
  target_compile_options(quintet_flags INTERFACE
    "$<BUILD_INTERFACE:-fsanitize=${QUINTET_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer;-g1>")
  target_link_options(quintet_flags INTERFACE $<BUILD_INTERFACE:-fsanitize=${QUINTET_SANITIZE}>)
endif()
target_include_directories(quintet_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/quintet>)

# A file that includes torch takes 2 GB to compile: as many at once as the memory holds.
cmake_host_system_information(RESULT quintet_memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR quintet_torch_jobs "${quintet_memory_mb} / 3000 + 1")
set_property(GLOBAL PROPERTY JOB_POOLS torch=${quintet_torch_jobs})
