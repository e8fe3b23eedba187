!> Density matrices of libquintet_density in Fortran: the functions of quintet_density.h. Compile this file with yours.
!> Indices count from 1 (col_ptr(1) = 1); functions return 0, or a code of which quintet_density_error gives the text.
module quintet_density
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: quintet_density_open, quintet_density_open_mpi, quintet_density_close, quintet_density_set, &
            quintet_density_set_blocks, quintet_density_set_csc, quintet_density_dm_real_sparse, &
            quintet_density_edm_real_sparse, quintet_density_number, quintet_density_error, quintet_density_warning

  interface
    function quintet_density_open() bind(C) result(density)
      import
      type(c_ptr) :: density
    end function
    function quintet_density_open_mpi(comm) bind(C) result(density)  ! comm: of mpi or mpif.h; of mpi_f08 its mpi_val
      import
      integer(c_int), value :: comm
      type(c_ptr) :: density
    end function
    subroutine quintet_density_close(density) bind(C)
      import
      type(c_ptr), value :: density
    end subroutine
    function error_c(density) bind(C, name="quintet_density_error") result(text)
      import
      type(c_ptr), value :: density
      type(c_ptr) :: text
    end function
    function warning_c(density) bind(C, name="quintet_density_warning") result(text)
      import
      type(c_ptr), value :: density
      type(c_ptr) :: text
    end function
    function set_c(density, name, value) bind(C, name="quintet_density_set") result(code)
      import
      type(c_ptr), value :: density
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      integer(c_int) :: code
    end function
    function number_c(density, name) bind(C, name="quintet_density_number") result(number)
      import
      type(c_ptr), value :: density
      character(kind=c_char), intent(in) :: name(*)
      real(c_double) :: number
    end function
    function quintet_density_set_blocks(density, n_blocks, rows) bind(C) result(code)
      import
      type(c_ptr), value :: density
      integer(c_int), value :: n_blocks
      integer(c_int), intent(in) :: rows(*)
      integer(c_int) :: code
    end function
    function quintet_density_set_csc(density, n_rows, nnz_l, n_lcol, row_ind, col_ptr) bind(C) result(code)
      import
      type(c_ptr), value :: density
      integer(c_int), value :: n_rows, nnz_l, n_lcol
      integer(c_int), intent(in) :: row_ind(*), col_ptr(*)
      integer(c_int) :: code
    end function
    function quintet_density_dm_real_sparse(density, ham, ovlp, dm, energy) bind(C) result(code)
      import
      type(c_ptr), value :: density
      real(c_double), intent(in) :: ham(*), ovlp(*)
      real(c_double), intent(inout) :: dm(*), energy
      integer(c_int) :: code
    end function
    function quintet_density_edm_real_sparse(density, edm) bind(C) result(code)
      import
      type(c_ptr), value :: density
      real(c_double), intent(inout) :: edm(*)
      integer(c_int) :: code
    end function
  end interface

contains

  !> Change a setting: "electrons", "temperature", "threshold", ...
  function quintet_density_set(density, name, value) result(code)
    type(c_ptr), intent(in) :: density
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int) :: code
    code = set_c(density, trim(name)//c_null_char, value)
  end function

  !> A number of the last result: "mu", "entropy", "energy_error", ...
  function quintet_density_number(density, name) result(number)
    type(c_ptr), intent(in) :: density
    character(*), intent(in) :: name
    real(c_double) :: number
    number = number_c(density, trim(name)//c_null_char)
  end function

  !> What was wrong with the last call on a handle; empty for nothing.
  function quintet_density_error(density) result(text)
    type(c_ptr), intent(in) :: density
    character(:), allocatable :: text
    text = text_of(error_c(density))
  end function

  !> Why errors of the last result are large by estimate, or why the whole matrix was diagonalised; else empty.
  function quintet_density_warning(density) result(text)
    type(c_ptr), intent(in) :: density
    character(:), allocatable :: text
    text = text_of(warning_c(density))
  end function

  function text_of(text_c) result(text)
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
