# The tarball of the sources of a commit, the same bytes each time: cmake -DSOURCE=… -DTARBALL=… -DVERSION=… -P source_tarball.cmake
find_package(Git REQUIRED)
get_filename_component(folder "${TARBALL}" DIRECTORY)
file(MAKE_DIRECTORY "${folder}")
# gzip -n: without a date in its head.
execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${SOURCE}" -c "tar.tar.gz.command=gzip -cn" archive --format=tar.gz
                        "--prefix=quintet-${VERSION}/" -o "${TARBALL}" HEAD COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${TARBALL}")
