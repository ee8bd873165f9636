#include "binding.h"
!> The grid and how it is divided. Slabs: whole xy planes, z divided over all ranks. Pencils: ranks in a rectangle of
!> rows x columns; x is whole, y divided over the rows, z over the columns.
module grids
  use, intrinsic :: iso_fortran_env, only: int64
  use binding
  implicit none
  private
  public :: grid_create

  !> What one rank holds at one stage of the transform: for each place in memory (1 runs fastest) the axis, how many points
  !> of it are here, and the first one's coordinate, from 0.
  type, public :: layout_type
    integer :: axis(3), count(3), first(3)
  end type layout_type

  type, public :: grid_type
    integer :: points(3)
    logical :: slabs
    integer :: rows, columns, rank, ranks
    BINDING_COMM :: world
    BINDING_COMM :: row_comm    !< the `rows` ranks that share a range of z
    BINDING_COMM :: column_comm !< the `columns` ranks that share a range of y
    type(layout_type) :: real, spectral
    integer :: here             !< points on this rank, in every layout
    integer(int64) :: all
  end type grid_type

contains

  !> Divides the grid over MPI_COMM_WORLD into rows x columns pencils, or slabs when `rows` is 0. `reason` is blank, or says
  !> why that is not possible: the same on every rank.
  subroutine grid_create(grid, points, rows, columns, reason)
    type(grid_type), intent(out) :: grid
    integer, intent(in) :: points(3), rows, columns
    character(*), intent(out) :: reason
    integer :: error, parts(3), place(3)

    grid%world = MPI_COMM_WORLD
    call MPI_Comm_rank(grid%world, grid%rank, error)
    call MPI_Comm_size(grid%world, grid%ranks, error)
    grid%points = points
    grid%slabs = rows == 0
    grid%rows = rows
    grid%columns = columns
    grid%all = product(int(points, int64))
    reason = impossible(grid)
    if (reason /= '') return
    grid%here = int(grid%all / grid%ranks)

    if (grid%slabs) then
      parts = [1, 1, grid%ranks]
      place = [0, 0, grid%rank]
      grid%spectral = layout(points, [3, 1, 2], parts, place)
    else
      parts = [1, rows, columns]
      place = [0, mod(grid%rank, rows), grid%rank / rows]
      call MPI_Comm_split(grid%world, place(3), grid%rank, grid%row_comm, error)
      call MPI_Comm_split(grid%world, place(2), grid%rank, grid%column_comm, error)
      grid%spectral = layout(points, [2, 3, 1], parts, place)
    end if
    grid%real = layout(points, [1, 2, 3], parts, place)
  end subroutine grid_create

  function layout(points, axis, parts, place)
    integer, intent(in) :: points(3), axis(3), parts(3), place(3)
    type(layout_type) :: layout

    layout%axis = axis
    layout%count = points(axis) / parts
    layout%first = place * layout%count
  end function layout

  function impossible(grid) result(reason)
    type(grid_type), intent(in) :: grid
    character(100) :: reason

    reason = ''
    if (any(iand(grid%points, grid%points - 1) /= 0)) then
      reason = "the grid's points along each axis must be a power of two"
    else if (grid%slabs .and. any(mod(grid%points(2:3), grid%ranks) /= 0)) then
      reason = 'slabs need a number of ranks that divides the grid along y and z; try a smaller one, or pencils'
    else if (.not. grid%slabs) then
      if (grid%rows * grid%columns /= grid%ranks) then
        reason = "the pencils' rows x columns are not the number of ranks"
      else if (any(mod(grid%points(2:3), grid%rows) /= 0)) then
        reason = "the pencils' rows must divide the grid along y and z"
      else if (any(mod(grid%points(1:3:2), grid%columns) /= 0)) then
        reason = "the pencils' columns must divide the grid along x and z"
      end if
    end if
  end function impossible

end module grids
