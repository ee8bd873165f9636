!> Fields on a divided grid. Every value depends on the point's coordinates only, so that all divisions agree.
module fields
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use binding
  use grids
  implicit none
  private
  public :: field_noise, field_wave, field_decay, field_checksum, field_distance

  real(real64), parameter :: pi = acos(-1.0_real64)

contains

  !> Noise between 0 and 1.
  subroutine field_noise(grid, field)
    type(grid_type), intent(in) :: grid
    complex(real64), intent(out) :: field(grid%here)
    integer :: i
    integer(int64) :: number

    do i = 1, grid%here
      number = number_of(grid, at(grid%real, i))
      field(i) = cmplx(noise(2 * number), noise(2 * number + 1), real64)
    end do
  end subroutine field_noise

  !> exp(2 pi i wave . x)
  subroutine field_wave(grid, wave, field)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: wave(3)
    complex(real64), intent(out) :: field(grid%here)
    real(real64) :: phase
    integer :: i

    do i = 1, grid%here
      phase = sum(real(wave * at(grid%real, i), real64) / grid%points)
      field(i) = cmplx(cos(2 * pi * phase), sin(2 * pi * phase), real64)
    end do
  end subroutine field_wave

  !> For every point of the spectrum what the heat equation u_t = diffusivity * laplacian(u) on the unit cube leaves of it
  !> after one unit of time.
  subroutine field_decay(grid, diffusivity, decay)
    type(grid_type), intent(in) :: grid
    real(real64), intent(in) :: diffusivity
    real(real64), intent(out) :: decay(grid%here)
    integer :: i, wave(3)

    do i = 1, grid%here
      wave = at(grid%spectral, i)
      where (wave >= grid%points / 2) wave = wave - grid%points
      decay(i) = exp(-4 * pi**2 * diffusivity * sum(wave**2))
    end do
  end subroutine field_decay

  !> The sum over every 61st point of the grid; right on rank 0.
  function field_checksum(grid, field) result(all)
    type(grid_type), intent(in) :: grid
    complex(real64), intent(in) :: field(grid%here)
    complex(real64) :: here, all
    integer :: i, error

    here = 0
    all = 0
    do i = 1, grid%here
      if (mod(number_of(grid, at(grid%real, i)), 61_int64) == 0) here = here + field(i)
    end do
    call MPI_Reduce(here, all, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, 0, grid%world, error)
  end function field_checksum

  !> The largest |a - factor * b| of all ranks; right on every rank.
  function field_distance(grid, a, factor, b) result(all)
    type(grid_type), intent(in) :: grid
    complex(real64), intent(in) :: a(grid%here), b(grid%here)
    real(real64), intent(in) :: factor
    real(real64) :: here, all
    integer :: error

    here = maxval(abs(a - factor * b))
    call MPI_Allreduce(here, all, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid%world, error)
  end function field_distance

  !> Coordinates of point i of a layout, from 0.
  pure function at(layout, i)
    type(layout_type), intent(in) :: layout
    integer, intent(in) :: i
    integer :: at(3), left

    left = i - 1
    at(layout%axis(1)) = layout%first(1) + mod(left, layout%count(1))
    left = left / layout%count(1)
    at(layout%axis(2)) = layout%first(2) + mod(left, layout%count(2))
    at(layout%axis(3)) = layout%first(3) + left / layout%count(2)
  end function at

  pure function number_of(grid, point) result(number)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: point(3)
    integer(int64) :: number

    number = (int(point(3), int64) * grid%points(2) + point(2)) * grid%points(1) + point(1)
  end function number_of

  !> A few steps of x -> x^2 + c modulo a prime: even enough here.
  pure function noise(seed)
    integer(int64), intent(in) :: seed
    real(real64) :: noise
    integer(int64), parameter :: prime = 2147483647_int64
    integer(int64) :: x
    integer :: i

    x = mod(seed + 1, prime)
    do i = 1, 4
      x = mod(x * x + mod(seed, prime) + 12345 * i, prime)
    end do
    noise = real(x, real64) / real(prime, real64)
  end function noise

end module fields
