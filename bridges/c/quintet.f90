!> Deep Potentials of libquintet_c in Fortran: the functions of quintet.h that most programs need. Compile this file with yours.
!> Types count from 0 here as there; NULL is c_null_ptr, and an array goes in as c_loc(array).
module quintet
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: quintet_open, quintet_text, quintet_potential_close, quintet_potential_compute, quintet_potential_cutoff, &
            quintet_potential_set_neighbours, quintet_potential_compute_neighbours, quintet_error, quintet_device, &
            quintet_potential_compute_float, quintet_potential_compute_neighbours_float, &
            quintet_potential_set_atom_parameters, quintet_potential_set_type_parameters

  interface
    function open_c(n_files, files, precision, device) bind(C, name="quintet_potential_open_on") result(potential)
      import
      integer(c_int), value :: n_files
      type(c_ptr), intent(in) :: files(*)
      type(c_ptr), value :: precision, device
      type(c_ptr) :: potential
    end function
    function device_c(potential) bind(C, name="quintet_potential_device") result(text)
      import
      type(c_ptr), value :: potential
      type(c_ptr) :: text
    end function
    function error_c(potential) bind(C, name="quintet_potential_error") result(text)
      import
      type(c_ptr), value :: potential
      type(c_ptr) :: text
    end function
    subroutine quintet_potential_close(potential) bind(C)
      import
      type(c_ptr), value :: potential
    end subroutine
    function quintet_potential_cutoff(potential) bind(C) result(cutoff)
      import
      type(c_ptr), value :: potential
      real(c_double) :: cutoff
    end function
    function quintet_potential_compute(potential, model, n_atoms, types, positions, cell, energy, forces, virial, &
                                       atomic_energies, atomic_virials) bind(C) result(code)
      import
      type(c_ptr), value :: potential, cell, forces, virial, atomic_energies, atomic_virials
      integer(c_int), value :: model, n_atoms
      integer(c_int), intent(in) :: types(*)
      real(c_double), intent(in) :: positions(*)  ! (3, n_atoms) in Fortran's order
      real(c_double), intent(out) :: energy
      integer(c_int) :: code
    end function
    function quintet_potential_set_neighbours(potential, n_owned, n_ghosts, types, n_rows, atoms, n_neighbours, neighbours, &
                                              mask) bind(C) result(code)
      import
      type(c_ptr), value :: potential
      integer(c_int), value :: n_owned, n_ghosts, n_rows, mask
      integer(c_int), intent(in) :: types(*), atoms(*), n_neighbours(*)  ! indices from 0
      type(c_ptr), intent(in) :: neighbours(*)
      integer(c_int) :: code
    end function
    function quintet_potential_set_atom_parameters(potential, n_atoms, n, values) bind(C) result(code)
      import
      type(c_ptr), value :: potential
      integer(c_int), value :: n_atoms, n
      real(c_double), intent(in) :: values(*)  ! (n, n_atoms) in Fortran's order
      integer(c_int) :: code
    end function
    function quintet_potential_set_type_parameters(potential, n_types, n, values) bind(C) result(code)
      import
      type(c_ptr), value :: potential, values  ! (n, n_types), or c_null_ptr: none any more
      integer(c_int), value :: n_types, n
      integer(c_int) :: code
    end function
    function quintet_potential_compute_neighbours(potential, model, positions, energy, forces, virial, atomic_energies, &
                                                  atomic_virials) bind(C) result(code)
      import
      type(c_ptr), value :: potential, forces, virial, atomic_energies, atomic_virials
      integer(c_int), value :: model
      real(c_double), intent(in) :: positions(*)
      real(c_double), intent(out) :: energy
      integer(c_int) :: code
    end function
    function quintet_potential_compute_float(potential, model, n_atoms, types, positions, cell, energy, forces, virial, &
                                             atomic_energies, atomic_virials) bind(C) result(code)
      import
      type(c_ptr), value :: potential, cell, forces, virial, atomic_energies, atomic_virials  ! arrays of c_float
      integer(c_int), value :: model, n_atoms
      integer(c_int), intent(in) :: types(*)
      real(c_float), intent(in) :: positions(*)
      real(c_double), intent(out) :: energy
      integer(c_int) :: code
    end function
    function quintet_potential_compute_neighbours_float(potential, model, positions, energy, forces, virial, atomic_energies, &
                                                        atomic_virials) bind(C) result(code)
      import
      type(c_ptr), value :: potential, forces, virial, atomic_energies, atomic_virials
      integer(c_int), value :: model
      real(c_float), intent(in) :: positions(*)
      real(c_double), intent(out) :: energy
      integer(c_int) :: code
    end function
  end interface

contains

  !> Load one model. precision: "double", "mixed" or "model". device: "cpu", also where it is absent, "gpu", "gpu:1", "auto".
  function quintet_open(file, precision, device) result(potential)
    character(*), intent(in) :: file, precision
    character(*), intent(in), optional :: device
    type(c_ptr) :: potential
    character(:), allocatable :: on
    on = "cpu"
    if (present(device)) on = trim(device)
    potential = open_words(trim(file)//c_null_char, trim(precision)//c_null_char, on//c_null_char)
  end function

  !> The same with C's texts.
  function open_words(file, precision, device) result(potential)
    character(*), intent(in) :: file, precision, device
    type(c_ptr) :: potential
    character(kind=c_char), target :: file_c(len(file)), precision_c(len(precision)), device_c(len(device))
    file_c = transfer(file, file_c)
    precision_c = transfer(precision, precision_c)
    device_c = transfer(device, device_c)
    potential = open_c(1, [c_loc(file_c)], c_loc(precision_c), c_loc(device_c))
  end function

  !> What computes, in a line; empty for a handle that could not be opened.
  function quintet_device(potential) result(text)
    type(c_ptr), intent(in) :: potential
    character(:), allocatable :: text
    text = quintet_text(device_c(potential))
  end function

  !> What was wrong with the last call on a handle; empty for nothing.
  function quintet_error(potential) result(text)
    type(c_ptr), intent(in) :: potential
    character(:), allocatable :: text
    text = quintet_text(error_c(potential))
  end function

  !> A text of C's as Fortran's.
  function quintet_text(text_c) result(text)
    type(c_ptr), intent(in) :: text_c
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: n
    call c_f_pointer(text_c, letters, [huge(n)])
    n = 0
    do while (letters(n + 1) /= c_null_char)
      n = n + 1
    end do
    allocate (character(n) :: text)
    text = transfer(letters(1:n), text)
  end function
end module
