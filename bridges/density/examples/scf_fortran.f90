! A self-consistent field whose density matrix comes from a subroutine in the shape of ELSI's elsi_dm_real_sparse: once from a
! dense solver of its own, once from libquintet_density. Both must converge to the same energy.
! gfortran quintet_density.f90 scf_fortran.f90 $(pkg-config --libs quintet_density) -o scf_fortran
!
! A polyene of n sites with charges: K = H + S_ij (v_i + v_j)/2, v_i = u (q_i - 1) + sum_j g_ij (q_j - 1), Mulliken's
! q_i = sum_j D_ij S_ij; energy E = Tr(D H) + sum_ij (u delta_ij + g_ij)(q_i - 1)(q_j - 1)/2 (hartree).
module dense_solver
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: n = 100
  integer(c_int) :: col_ptr(n + 1)
  integer(c_int), allocatable :: row_ind(:)
  real(c_double) :: electrons = n
contains
  !> In the place of ELSI: Cholesky's factor of S, Jacobi's rotations of L^-1 K L^-T, the lowest n/2 orbitals.
  subroutine dense_dm_real_sparse(ham, ovlp, dm, energy)
    real(c_double), intent(in) :: ham(:), ovlp(:)
    real(c_double), intent(inout) :: dm(:), energy
    real(c_double), allocatable :: k(:, :), l(:, :), v(:, :), d(:, :)
    integer :: i, j, p
    real(c_double) :: level(n)
    logical :: full(n)
    allocate (k(n, n), l(n, n), v(n, n), d(n, n), source=0d0)
    do j = 1, n
      do p = col_ptr(j), col_ptr(j + 1) - 1
        k(row_ind(p), j) = ham(p)
        l(row_ind(p), j) = ovlp(p)
      end do
    end do
    do j = 1, n
      l(j, j) = sqrt(l(j, j) - sum(l(j, :j - 1)**2))
      do i = j + 1, n
        l(i, j) = (l(i, j) - dot_product(l(i, :j - 1), l(j, :j - 1)))/l(j, j)
      end do
    end do
    do j = 1, n  ! k <- L^-1 k, then of its transposed
      do i = 1, n
        k(i, j) = (k(i, j) - dot_product(l(i, :i - 1), k(:i - 1, j)))/l(i, i)
      end do
    end do
    k = transpose(k)
    do j = 1, n
      do i = 1, n
        k(i, j) = (k(i, j) - dot_product(l(i, :i - 1), k(:i - 1, j)))/l(i, i)
      end do
    end do
    call rotate(k, v)
    level = [(k(i, i), i=1, n)]
    full = .false.
    do i = 1, nint(electrons)/2
      full(minloc(level, 1, .not. full)) = .true.
    end do
    do j = 1, n  ! v <- L^-T v
      do i = n, 1, -1
        v(i, j) = (v(i, j) - dot_product(l(i + 1:, i), v(i + 1:, j)))/l(i, i)
      end do
    end do
    do j = 1, n
      if (.not. full(j)) v(:, j) = 0
    end do
    d = 2*matmul(v, transpose(v))
    do j = 1, n
      do p = col_ptr(j), col_ptr(j + 1) - 1
        dm(p) = d(row_ind(p), j)
      end do
    end do
    energy = sum(dm*ham)
  end subroutine

  !> Jacobi's cyclic rotations: k becomes diagonal, v its eigenvectors.
  subroutine rotate(k, v)
    real(c_double), intent(inout) :: k(n, n), v(n, n)
    real(c_double) :: c, s, t, theta, x(n), off
    integer :: i, j, sweep
    v = 0
    do i = 1, n
      v(i, i) = 1
    end do
    do sweep = 1, 30
      off = sum(k**2) - sum([(k(i, i)**2, i=1, n)])
      if (off < 1d-24) return
      do i = 1, n - 1
        do j = i + 1, n
          if (abs(k(i, j)) < 1d-18) cycle
          theta = (k(j, j) - k(i, i))/(2*k(i, j))
          t = sign(1d0, theta)/(abs(theta) + sqrt(theta**2 + 1))
          c = 1/sqrt(t**2 + 1)
          s = t*c
          x = k(:, i); k(:, i) = c*x - s*k(:, j); k(:, j) = s*x + c*k(:, j)
          x = k(i, :); k(i, :) = c*x - s*k(j, :); k(j, :) = s*x + c*k(j, :)
          x = v(:, i); v(:, i) = c*x - s*v(:, j); v(:, j) = s*x + c*v(:, j)
        end do
      end do
    end do
  end subroutine
end module

program scf_fortran
  use, intrinsic :: iso_c_binding
  use dense_solver
  use quintet_density
  implicit none
  real(c_double), parameter :: u = 0.35d0
  real(c_double), allocatable :: h(:), s(:)
  real(c_double) :: energies(2)
  type(c_ptr) :: density
  integer :: i, j, steps(2)

  allocate (row_ind(3*n), h(3*n), s(3*n))
  do j = 1, n
    col_ptr(j) = 3*j - 2
    do i = 0, 2
      row_ind(3*j - 2 + i) = modulo(j + i - 2, n) + 1
    end do
    h(3*j - 1) = 0.04d0*sin(0.9d0*j)  ! sites that differ, whose charges the field evens out
    s(3*j - 1) = 1
    h(3*j - 2) = merge(-0.13d0, -0.07d0, modulo(j, 2) == 0)
    h(3*j) = merge(-0.07d0, -0.13d0, modulo(j, 2) == 0)
    s(3*j - 2) = merge(0.12d0, 0.06d0, modulo(j, 2) == 0)
    s(3*j) = merge(0.06d0, 0.12d0, modulo(j, 2) == 0)
  end do
  col_ptr(n + 1) = 3*n + 1

  density = quintet_density_open()
  call check(quintet_density_set(density, "electrons", electrons))
  call check(quintet_density_set(density, "threshold", 1d-7))
  call check(quintet_density_set(density, "dense", -1d0))  ! submatrices, however small this is
  call check(quintet_density_set_csc(density, n, 3*n, n, row_ind, col_ptr))
  do i = 1, 2
    call converge(i == 2, energies(i), steps(i))
  end do
  print "(a, f0.9, a, i0, a, f0.9, a, i0, a)", "dense ", energies(1), " hartree in ", steps(1), " steps, quintet ", energies(2), &
    " hartree in ", steps(2), " steps"
  print "(a, f0.0, a, es8.1, a)", "S^-1/2 kept: ", quintet_density_number(density, "overlap_kept"), ", estimated error ", &
    quintet_density_number(density, "energy_error"), " hartree"
  call quintet_density_close(density)
  if (abs(energies(1) - energies(2)) > 1d-6) stop 1

contains

  subroutine check(code)
    integer(c_int), intent(in) :: code
    if (code == 0) return
    print "(a)", quintet_density_error(density)
    stop 1
  end subroutine

  !> Mix charges until they stay; `ours`: by libquintet_density.
  subroutine converge(ours, energy, step)
    logical, intent(in) :: ours
    real(c_double), intent(out) :: energy
    integer, intent(out) :: step
    real(c_double) :: q(n), found(n), v(n), k(3*n), dm(3*n), band
    integer :: j, p
    q = 1
    do step = 1, 100
      v = u*(q - 1) + 0.1d0*(cshift(q, 1) + cshift(q, -1) - 2)
      do j = 1, n
        do p = col_ptr(j), col_ptr(j + 1) - 1
          k(p) = h(p) + s(p)*(v(row_ind(p)) + v(j))/2
        end do
      end do
      if (ours) then
        call check(quintet_density_dm_real_sparse(density, k, s, dm, band))
      else
        call dense_dm_real_sparse(k, s, dm, band)
      end if
      do j = 1, n
        found(j) = sum(dm(col_ptr(j):col_ptr(j + 1) - 1)*s(col_ptr(j):col_ptr(j + 1) - 1))
      end do
      energy = sum(dm*h) + 0.5d0*sum((found - 1)*(u*(found - 1) + 0.1d0*(cshift(found, 1) + cshift(found, -1) - 2)))
      if (maxval(abs(found - q)) < 1d-7) return
      q = q + 0.5d0*(found - q)
    end do
    print "(a)", "charges do not converge"
    stop 1
  end subroutine
end program
