# Quintet as a package of Spack, from a checkout: docs/packages.md says how.
try:  # where Spack 1.0 and later have it; before, the line below brings it
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
except ImportError:
    pass
from spack.package import *


class Quintet(CMakePackage):
    """Scientific machine-learning simulation codes on one set of kernels: molecular dynamics with Deep Potentials, plasma kinetics,
    density matrices by the submatrix method, convection with super-resolution, forecasts of sea-surface temperature."""

    license("BSD-3-Clause")

    # Without a place to fetch from: an environment develops a checkout.
    version("main")

    variant("torch", default=True, description="Networks by LibTorch: meshfreeflow train, evaluate, superresolve")
    variant("petsc", default=True, description="Solvers by PETSc and SLEPc")
    variant("openmp", default=True, description="Kokkos shares work out over the threads of a rank")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type=("build", "test"))
    depends_on("mpi")
    depends_on("kokkos@3.4.1:5")
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("hdf5@1.10:+mpi")
    depends_on("netcdf-c+mpi")
    depends_on("zlib-api")
    depends_on("blas")
    depends_on("lapack")
    depends_on("fmt@8:")
    depends_on("spdlog@1.9:")  # of Spack: always with its fmt
    depends_on("yaml-cpp@0.6.3:")
    depends_on("muparser@2.3:")
    depends_on("cli11@2.1:", type="build")
    depends_on("py-torch@2.1:~cuda", when="+torch")
    depends_on("petsc@3.15:+mpi~complex", when="+petsc")
    depends_on("slepc@3.15:", when="+petsc")

    conflicts("%gcc@:10", msg="Quintet is written in C++20")
    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("QUINTET_WITH_TORCH", "torch"),
            self.define_from_variant("QUINTET_WITH_PETSC", "petsc"),
            self.define("QUINTET_BUILD_TESTS", self.run_tests),
            self.define("QUINTET_BUILD_BENCHMARKS", False),
            # Spack's compiler wrappers say which processor to compile for.
            self.define("QUINTET_ARCH", ""),
        ]
