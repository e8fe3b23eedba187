#pragma once

/// How a call of MPI that failed becomes an error of ours. Private to io/parallel.
namespace quintet {

/// Throws if `code`, what the MPI function `call` returned, is not MPI_SUCCESS; the text of MPI is kept.
/// Errors: InternalError if the arguments were wrong (a bug of ours), ResourceError otherwise.
void check_mpi(int code, const char* call);

}  // namespace quintet
