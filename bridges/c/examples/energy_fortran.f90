! Energy and forces of a molecule of water in a cell: energy_fortran MODEL.dp, a model with the types O and H.
! gfortran quintet.f90 energy_fortran.f90 $(pkg-config --libs quintet_c) -o energy_fortran
program energy_fortran
  use, intrinsic :: iso_c_binding
  use quintet
  implicit none
  integer(c_int) :: types(3) = [0, 1, 1]
  real(c_double) :: positions(3, 3), energy
  real(c_double), target :: cell(3, 3), forces(3, 3)
  real(c_float), target :: cell_float(3, 3), forces_float(3, 3)
  type(c_ptr) :: potential
  character(1000) :: file

  positions = reshape([0d0, 0d0, 0d0, 0.76d0, 0.59d0, 0d0, -0.76d0, 0.58d0, 0.1d0], [3, 3])
  cell = reshape([9d0, 0d0, 0d0, 0d0, 9d0, 0d0, 0d0, 0d0, 9d0], [3, 3])
  call get_command_argument(1, file)
  potential = quintet_open(file, "double", "cpu")  ! or "gpu"; "auto": a GPU where there is one
  if (quintet_potential_compute(potential, 0, 3, types, positions, c_loc(cell), energy, c_loc(forces), c_null_ptr, c_null_ptr, &
                                c_null_ptr) /= 0) then
    print "(a)", quintet_error(potential)
    call quintet_potential_close(potential)
    stop 1
  end if
  print "(2a)", "computed by ", quintet_device(potential)
  print "(a, f0.12, a, 3(1x, f0.12), a)", "energy ", energy, " eV, force on O", forces(:, 1), " eV/angstrom"
  cell_float = real(cell, c_float)  ! and for a program that holds its atoms in single precision
  if (quintet_potential_compute_float(potential, 0, 3, types, real(positions, c_float), c_loc(cell_float), energy, &
                                      c_loc(forces_float), c_null_ptr, c_null_ptr, c_null_ptr) /= 0) stop 2
  print "(a, es8.1, a)", "in single precision forces differ by ", maxval(abs(forces_float - forces)), " eV/angstrom"
  call quintet_potential_close(potential)
end program
