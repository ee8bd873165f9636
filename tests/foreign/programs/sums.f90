! Somebody's program: sums in place by rows and columns of a grid of processes (mpi_f08, communicators that come and
! go), and gathers of different lengths.
program sums
  use mpi_f08
  implicit none
  integer, parameter :: rounds = 20, steps = 20
  type(MPI_Comm) :: row
  integer :: rank, ranks, i, round, members
  integer, allocatable :: counts(:), places(:), all(:), mine(:)
  double precision :: values(100), start
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (counts(ranks), places(ranks))
  counts = [(i, i=1, ranks)]
  places = [((i*(i - 1))/2, i=1, ranks)]
  allocate (all(sum(counts)), mine(rank + 1))
  mine = rank
  start = MPI_Wtime()
  do round = 1, rounds
    call MPI_Comm_split(MPI_COMM_WORLD, mod(round*rank, 2), rank, row)
    call MPI_Comm_size(row, members)
    do i = 1, steps
      values = 1
      call MPI_Allreduce(MPI_IN_PLACE, values, size(values), MPI_DOUBLE_PRECISION, MPI_SUM, row)
      if (any(values /= members)) call MPI_Abort(MPI_COMM_WORLD, 3)
    end do
    call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, all, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    if (any([(all(places(i) + 1), i=1, ranks)] /= [(i - 1, i=1, ranks)])) call MPI_Abort(MPI_COMM_WORLD, 4)
    call MPI_Comm_free(row)
  end do
  if (rank == 0) print '(a, f24.9)', 'Time in seconds = ', MPI_Wtime() - start
  call MPI_Finalize()
end program sums
