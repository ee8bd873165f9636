!> The 3D transform of a divided grid: local transforms along one axis after the other, transposes between them.
module transform
  use, intrinsic :: iso_fortran_env, only: real64
  use fft
  use grids
  use transposes
  implicit none
  private
  public :: transform_plan, transform_forward, transform_inverse

  type, public :: transform_type
    type(fft_type) :: along(3)
    complex(real64), allocatable :: send(:), receive(:)
  end type transform_type

contains

  function transform_plan(grid) result(plan)
    type(grid_type), intent(in) :: grid
    type(transform_type) :: plan
    integer :: axis

    do axis = 1, 3
      plan%along(axis) = fft_plan(grid%points(axis))
    end do
    allocate (plan%send(grid%here), plan%receive(grid%here))
  end function transform_plan

  !> From the layout grid%real to grid%spectral, in place.
  subroutine transform_forward(plan, grid, field)
    type(transform_type), intent(inout) :: plan
    type(grid_type), intent(in) :: grid
    complex(real64), intent(inout) :: field(grid%here)
    integer :: nx, ny, nz

    nx = grid%points(1)
    ny = grid%points(2)
    nz = grid%points(3)
    call each(plan, plan%along(1), 1, field, .false.)
    if (grid%slabs) then
      call each(plan, plan%along(2), nx, field, .false.)
      call transpose_xy_z(field, plan%send, plan%receive, nx * ny, 1, nz / grid%ranks, grid%world)
      call each(plan, plan%along(3), 1, field, .false.)
    else
      call transpose_xy_z(field, plan%send, plan%receive, nx, ny / grid%rows, nz / grid%columns, grid%column_comm)
      call each(plan, plan%along(3), 1, field, .false.)
      call transpose_xy_z(field, plan%send, plan%receive, nz, nx / grid%columns, ny / grid%rows, grid%row_comm)
      call each(plan, plan%along(2), 1, field, .false.)
    end if
  end subroutine transform_forward

  !> Back, with the factor 1/points.
  subroutine transform_inverse(plan, grid, field)
    type(transform_type), intent(inout) :: plan
    type(grid_type), intent(in) :: grid
    complex(real64), intent(inout) :: field(grid%here)
    integer :: nx, ny, nz

    nx = grid%points(1)
    ny = grid%points(2)
    nz = grid%points(3)
    if (grid%slabs) then
      call each(plan, plan%along(3), 1, field, .true.)
      call transpose_x_yz(field, plan%send, plan%receive, nz, nx * ny / grid%ranks, 1, grid%world)
      call each(plan, plan%along(2), nx, field, .true.)
    else
      call each(plan, plan%along(2), 1, field, .true.)
      call transpose_x_yz(field, plan%send, plan%receive, ny, nz / grid%rows, nx / grid%columns, grid%row_comm)
      call each(plan, plan%along(3), 1, field, .true.)
      call transpose_x_yz(field, plan%send, plan%receive, nz, nx / grid%columns, ny / grid%rows, grid%column_comm)
    end if
    call each(plan, plan%along(1), 1, field, .true.)
    field = field / real(grid%all, real64)
  end subroutine transform_inverse

  !> Signals of along%length points, one after the other, each of `many` interleaved.
  subroutine each(plan, along, many, field, inverse)
    type(transform_type), intent(inout) :: plan
    type(fft_type), intent(in) :: along
    integer, intent(in) :: many
    complex(real64), contiguous, intent(inout) :: field(:)
    logical, intent(in) :: inverse
    integer :: start

    do start = 1, size(field), along%length * many
      call fft_transform(along, many, field(start:start + along%length * many - 1), plan%send, inverse)
    end do
  end subroutine each

end module transform
