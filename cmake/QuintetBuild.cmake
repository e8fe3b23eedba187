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
include(GNUInstallDirs)

find_program(QUINTET_CCACHE ccache)
if(QUINTET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${QUINTET_CCACHE}")
endif()

# The flags that every target of ours is compiled with.
add_library(quintet_flags INTERFACE)
target_compile_features(quintet_flags INTERFACE cxx_std_20)
target_compile_options(quintet_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-unknown-pragmas -Wno-psabi>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${QUINTET_ARCH}>>:-march=${QUINTET_ARCH}>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${QUINTET_WARNINGS_AS_ERRORS}>>:-Werror>)
target_compile_definitions(quintet_flags INTERFACE
  $<$<BOOL:${QUINTET_ASSERTIONS}>:QUINTET_ASSERTIONS>)
target_include_directories(quintet_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/quintet>)
