! The three calls of CP2K's interface to Deep Potentials (DP_NewDeepPot, DP_DeepPotCompute, DP_DeleteDeepPot), of the library that
! stands in for DeePMD-kit's. Prints what bridges/c/examples/energy.c prints.
program cp2k_calls
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function new_pot(file) bind(C, name="DP_NewDeepPot") result(pot)
      import
      character(kind=c_char), intent(in) :: file(*)
      type(c_ptr) :: pot
    end function
    subroutine compute(pot, n, coord, types, cell, energy, force, virial, atomic_energy, atomic_virial) &
      bind(C, name="DP_DeepPotCompute")
      import
      type(c_ptr), value :: pot
      integer(c_int), value :: n
      integer(c_int), intent(in) :: types(*)
      real(c_double), intent(in) :: coord(*), cell(*)
      real(c_double), intent(out) :: energy, force(*), virial(*), atomic_energy(*), atomic_virial(*)
    end subroutine
    subroutine delete_pot(pot) bind(C, name="DP_DeleteDeepPot")
      import
      type(c_ptr), value :: pot
    end subroutine
  end interface
  real(c_double) :: positions(3, 3), cell(3, 3), energy, force(3, 3), virial(9), energies(3), virials(27)
  character(1000) :: file
  type(c_ptr) :: pot

  positions = reshape([0d0, 0d0, 0d0, 0.76d0, 0.59d0, 0d0, -0.76d0, 0.58d0, 0.1d0], [3, 3])
  cell = reshape([9d0, 0d0, 0d0, 0d0, 9d0, 0d0, 0d0, 0d0, 9d0], [3, 3])
  call get_command_argument(1, file)
  pot = new_pot(trim(file)//c_null_char)
  call compute(pot, 3, positions, [0_c_int, 1_c_int, 1_c_int], cell, energy, force, virial, energies, virials)
  call delete_pot(pot)
  if (abs(sum(energies) - energy) > 1d-10) stop 1
  print "(a, f0.12, a, 3(1x, f0.12), a)", "energy ", energy, " eV, force on O", force(:, 1), " eV/angstrom"
end program
