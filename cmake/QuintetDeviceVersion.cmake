# quintet_device_version(ROOT): QUINTET_DEVICE_VERSION, a checksum of the sources that program and libquintet_device.so share.
# Both compute it; a library of other sources is refused when it is loaded.
function(quintet_device_version root)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${root}/io/*_device.?pp" "${root}/io/device/*.hpp" "${root}/physics/*_device.?pp"
       "${root}/physics/*/device/*.hpp" "${root}/surrogates/*_device.?pp" "${root}/surrogates/*/device/*.hpp"
       "${root}/surrogates/potential/model/*.hpp" "${root}/physics/sparse/device_products.hpp" "${root}/physics/kernels/activation_kind.hpp"
       "${root}/physics/kinetics/advection/flux.hpp" "${root}/physics/kinetics/basis/basis.hpp" "${root}/physics/kinetics/basis/legendre.hpp"
       "${root}/physics/kinetics/collisions/collision_tables.hpp" "${root}/physics/particles/atoms/atom_record.hpp"
       "${root}/physics/transforms/line_basis.hpp")
  list(REMOVE_DUPLICATES files)
  list(SORT files)
  set(sums "")
  foreach(file IN LISTS files)
    file(SHA256 "${file}" sum)
    string(APPEND sums "${sum}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  string(SHA256 sum "${sums}")
  string(SUBSTRING "${sum}" 0 12 sum)
  set(QUINTET_DEVICE_VERSION "${sum}" CACHE INTERNAL "")
endfunction()
