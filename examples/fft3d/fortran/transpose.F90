#include "binding.h"
!> Transposes of a field (a, b, c) (that many points on this rank) over a communicator of P ranks: the first axis, whole on
!> every rank before, is divided over the ranks; the one that becomes first is whole after.
module transposes
  use, intrinsic :: iso_fortran_env, only: real64
  use binding
  implicit none
  private
  public :: transpose_x_yz, transpose_xy_z

contains

  !> x goes behind y and z: (a, b, c) -> (b*P, c, a/P). `send` and `receive` are as large as the field.
  subroutine transpose_x_yz(field, send, receive, a, b, c, comm)
    integer, intent(in) :: a, b, c
    complex(real64), intent(inout) :: field(a, b, c), send(a * b * c), receive(a * b * c)
    BINDING_COMM, intent(in) :: comm
    integer :: ranks, rank, part, block, plane, error

    call MPI_Comm_size(comm, ranks, error)
    part = a / ranks
    block = part * b * c
    do rank = 0, ranks - 1
      do plane = 1, c
        call transpose2_local(field(rank * part + 1, 1, plane), a, send(rank * block + (plane - 1) * b + 1), b * c, part, b)
      end do
    end do
    call transpose2_global(send, receive, block, comm)
    call transpose2_finish(field, receive, b, c * part, ranks)
  end subroutine transpose_x_yz

  !> z goes before x and y, the other way round: (a, b, c) -> (c*P, a/P, b).
  subroutine transpose_xy_z(field, send, receive, a, b, c, comm)
    integer, intent(in) :: a, b, c
    complex(real64), intent(inout) :: field(a, b, c), send(a * b * c), receive(a * b * c)
    BINDING_COMM, intent(in) :: comm
    integer :: ranks, rank, part, block, line, error

    call MPI_Comm_size(comm, ranks, error)
    part = a / ranks
    block = part * b * c
    do rank = 0, ranks - 1
      do line = 1, b
        call transpose2_local(field(rank * part + 1, line, 1), a * b, send(rank * block + (line - 1) * part * c + 1), c, &
                              part, c)
      end do
    end do
    call transpose2_global(send, receive, block, comm)
    call transpose2_finish(field, receive, c, part * b, ranks)
  end subroutine transpose_xy_z

  !> to(column, row) = from(row, column) for a part of a matrix, by tiles that stay in the cache.
  subroutine transpose2_local(from, from_column, to, to_column, rows, columns)
    integer, intent(in) :: from_column, to_column, rows, columns
    complex(real64), intent(in) :: from(from_column, *)
    complex(real64), intent(inout) :: to(to_column, *)
    integer, parameter :: tile = 16
    integer :: row, column, i, j

    do column = 1, columns, tile
      do row = 1, rows, tile
        do j = column, min(column + tile - 1, columns)
          do i = row, min(row + tile - 1, rows)
            to(j, i) = from(i, j)
          end do
        end do
      end do
    end do
  end subroutine transpose2_local

  !> All communication of the transposes: `block` points to every rank.
  subroutine transpose2_global(send, receive, block, comm)
    integer, intent(in) :: block
    complex(real64), intent(in) :: send(*)
    complex(real64), intent(inout) :: receive(*)
    BINDING_COMM, intent(in) :: comm
    integer :: error

    call MPI_Alltoall(send, block, MPI_DOUBLE_COMPLEX, receive, block, MPI_DOUBLE_COMPLEX, comm, error)
  end subroutine transpose2_global

  !> The pieces of every row, side by side.
  subroutine transpose2_finish(field, received, run, rows, ranks)
    integer, intent(in) :: run, rows, ranks
    complex(real64), intent(out) :: field(run, ranks, rows)
    complex(real64), intent(in) :: received(run, rows, ranks)
    integer :: rank, row

    do rank = 1, ranks
      do row = 1, rows
        field(:, rank, row) = received(:, row, rank)
      end do
    end do
  end subroutine transpose2_finish

end module transposes
