! Somebody's program: a matrix spread over the ranks by columns is transposed twice with MPI_ALLTOALL in every step, and
! its trace summed with MPI_REDUCE.
program transpose
  use mpi
  implicit none
  integer, parameter :: n = 32, steps = 100
  integer :: rank, ranks, ierr, step, i, j
  double precision, allocatable :: mine(:, :, :), sent(:, :, :), first(:, :, :)
  double precision :: part, trace, start
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  allocate (mine(n, n, ranks), sent(n, n, ranks), first(n, n, ranks))
  do i = 1, ranks
    do j = 1, n
      mine(:, j, i) = [(dble(step + n*j + 1000*i + 7*rank), step=1, n)]
    end do
  end do
  first = mine
  call MPI_BARRIER(MPI_COMM_WORLD, ierr)
  start = MPI_WTIME()
  do step = 1, steps
    call turn()
    call turn()
    part = 0
    do j = 1, n
      part = part + mine(j, j, rank + 1)
    end do
    call MPI_REDUCE(part, trace, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  end do
  if (any(mine /= first)) then
    print *, 'transposed twice it is another matrix'
    call MPI_ABORT(MPI_COMM_WORLD, 3, ierr)
  end if
  if (rank == 0) then
    print '(a, f24.9)', 'Time in seconds = ', MPI_WTIME() - start
    print '(a, es24.16)', 'trace ', trace
  end if
  call MPI_FINALIZE(ierr)
contains
  subroutine turn()
    integer :: block
    do block = 1, ranks
      sent(:, :, block) = reshape(mine(:, :, block), [n, n], order=[2, 1])
    end do
    call MPI_ALLTOALL(sent, n*n, MPI_DOUBLE_PRECISION, mine, n*n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
  end subroutine turn
end program transpose
