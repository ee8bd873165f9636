! Collectives in Fortran, whose results are looked at; -DBINDING=1 mpif.h, 2 use mpi, 3 use mpi_f08.
#if BINDING == 3
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define OPERATION type(MPI_Op)
#else
#define COMM integer
#define DATATYPE integer
#define OPERATION integer
#endif
program served
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, i, k, total, bad, all
  integer :: a(64), b(64), counts(8), displs(8), lengths(1), near(2), weights(2), nears, number
  integer(kind=MPI_ADDRESS_KIND) :: where(1), wide(8)
  DATATYPE :: spread, absolute, types(1), kinds(8)
  COMM :: copy, line, graph

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ranks/), (/.false./), .false., line, ierr)
  ! The same line once more: the mpi_f08 binding of MPICH 4.0.2 ends a program that has another topology in neighbor_alltoallw.
  nears = count((/rank > 0, rank < ranks - 1/))
  near = merge((/rank - 1, rank + 1/), rank + 1, rank > 0)
  weights = 1
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, nears, near, weights, nears, near, weights, MPI_INFO_NULL, .false., &
                                      graph, ierr)
  total = ranks*(ranks - 1)/2
  bad = 0
  call MPI_Type_vector(3, 1, 2, MPI_INTEGER, spread, ierr)
  call MPI_Type_commit(spread, ierr)
  do k = 1, 5
    call MPI_Barrier(copy, ierr)
    a = merge((/(i + k, i=1, 64)/), 0, rank == mod(k, ranks))
    call MPI_Bcast(a, 64, MPI_INTEGER, mod(k, ranks), copy, ierr)
    call expect(all_equal(a, (/(i + k, i=1, 64)/)), 'bcast')
    a = merge(7, 0, rank == 0)
    call MPI_Bcast(a, 2, spread, 0, copy, ierr)
    call expect(a(1) == 7 .and. a(3) == 7 .and. a(5) == 7 .and. a(6) == 7 .and. a(8) == 7, 'bcast of a vector')
    if (rank /= 0) call expect(a(2) == 0 .and. a(4) == 0 .and. a(7) == 0, 'gaps')
    a = rank
    call MPI_Allreduce(a, b, 10, MPI_INTEGER, MPI_SUM, copy, ierr)
    call expect(b(1) == total .and. b(10) == total, 'allreduce')
    b = rank
    call MPI_Allreduce(MPI_IN_PLACE, b, 10, MPI_INTEGER, MPI_SUM, copy, ierr)
    call expect(b(1) == total .and. b(10) == total .and. b(11) == rank, 'allreduce in place')
    b = rank
    if (rank == 1) then
      call MPI_Reduce(MPI_IN_PLACE, b, 10, MPI_INTEGER, MPI_SUM, 1, copy, ierr)
      call expect(b(1) == total .and. b(10) == total, 'reduce in place')
    else
      call MPI_Reduce(b, a, 10, MPI_INTEGER, MPI_SUM, 1, copy, ierr)
    end if
    a = (/(rank + i, i=1, 64)/)
    b = -1
    call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, copy, ierr)
    call expect(b(1) == total + ranks*(2*rank + 1) .and. b(2) == b(1) + ranks .and. b(3) == -1, 'reduce_scatter_block')
    counts = 3
    counts(1) = 0
    call MPI_Reduce_scatter(MPI_IN_PLACE, a, counts, MPI_INTEGER, MPI_SUM, copy, ierr)
    if (rank > 0) call expect(a(1) == total + ranks*(3*rank - 2) .and. a(3) == a(1) + 2*ranks, 'reduce_scatter in place')
    a = rank + 1
    b = -1
    call MPI_Scan(a, b, 10, MPI_INTEGER, MPI_SUM, copy, ierr)
    call expect(b(1) == (rank + 1)*(rank + 2)/2 .and. b(10) == b(1) .and. b(11) == -1, 'scan')
    call MPI_Exscan(MPI_IN_PLACE, a, 10, MPI_INTEGER, MPI_SUM, copy, ierr)
    if (rank > 0) call expect(a(1) == rank*(rank + 1)/2 .and. a(10) == a(1) .and. a(11) == rank + 1, 'exscan in place')
    a = -1
    a(rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, a, 1, MPI_INTEGER, copy, ierr)
    call expect(all_equal(a(1:ranks), (/(i, i=0, ranks - 1)/)), 'allgather in place')
    counts = 1
    displs = (/(2*i, i=0, 7)/)
    a = -1
    call MPI_Allgatherv(rank, 1, MPI_INTEGER, a, counts, displs, MPI_INTEGER, copy, ierr)
    call expect(all_equal(a(1:2*ranks:2), (/(i, i=0, ranks - 1)/)) .and. a(2) == -1, 'allgatherv')
    a = -1
    b = rank
    if (rank == 1) then
      a(2) = rank
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, a, 1, MPI_INTEGER, 1, copy, ierr)
      call expect(all_equal(a(1:ranks), (/(i, i=0, ranks - 1)/)) .and. a(ranks + 1) == -1, 'gather in place')
    else
      call MPI_Gather(b, 1, MPI_INTEGER, a, 1, MPI_INTEGER, 1, copy, ierr)
      call expect(a(1) == -1, 'gather elsewhere')
    end if
    b = -1
    a = (/(100*rank + i, i=0, 63)/)
    if (rank == 1) then
      call MPI_Scatter(a, 1, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 1, copy, ierr)
    else
      call MPI_Scatter(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 1, copy, ierr)
      call expect(b(1) == 100 + rank .and. b(2) == -1, 'scatter')
    end if
    counts = (/(i + 1, i=0, 7)/)
    displs = (/(8*i, i=0, 7)/)
    a = -1
    b = (/(100*rank + i, i=0, 63)/)
    if (rank == 1) a(9:10) = 7
    if (rank == 1) then
      call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, a, counts, displs, MPI_INTEGER, 1, copy, ierr)
      call expect(a(1) == 0 .and. a(2) == -1 .and. a(9) == 7 .and. a(17) == 200 .and. a(19) == 202 .and. a(20) == -1, 'gatherv')
    else
      call MPI_Gatherv(b, rank + 1, MPI_INTEGER, a, counts, displs, MPI_INTEGER, 1, copy, ierr)
      call expect(a(1) == -1, 'gatherv elsewhere')
    end if
    a = -1
    call MPI_Scatterv(b, counts, displs, MPI_INTEGER, a, rank + 1, MPI_INTEGER, 1, copy, ierr)
    call expect(a(1) == 100 + 8*rank .and. a(rank + 1) == 100 + 9*rank .and. a(rank + 2) == -1, 'scatterv')
    counts = 1
    displs = (/(2*i, i=0, 7)/)
    a = (/(100*rank + i, i=0, 63)/)
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, a, 1, MPI_INTEGER, copy, ierr)
    call expect(all_equal(a(1:ranks), (/(100*i + rank, i=0, ranks - 1)/)), 'alltoall in place')
    a = (/(100*rank + (i - 1)/2, i=1, 64)/)
    call MPI_Alltoallv(a, counts, displs, MPI_INTEGER, b, counts, displs, MPI_INTEGER, copy, ierr)
    call expect(all_equal(b(1:2*ranks:2), (/(100*i + rank, i=0, ranks - 1)/)), 'alltoallv')
    displs = (/(24*i, i=0, 7)/)
    kinds = spread
    a = (/(100*rank + (i - 1)/6, i=1, 64)/)
    b = -1
    call MPI_Alltoallw(a, counts, displs, kinds, b, counts, displs, kinds, copy, ierr)
    call expect(all_equal(b(1:6*ranks:6), (/(100*i + rank, i=0, ranks - 1)/)) .and. b(2) == -1 .and. b(3) == b(1) .and. &
                b(5) == b(1) .and. b(6) == -1, 'alltoallw')
    call MPI_Alltoallw(MPI_IN_PLACE, counts, displs, kinds, a, counts, displs, kinds, copy, ierr)
    call expect(all_equal(a(3:6*ranks:6), (/(100*i + rank, i=0, ranks - 1)/)) .and. a(2) == 100*rank, 'alltoallw in place')
    a = (/(100*rank + i, i=0, 63)/)
    b = -1
    call MPI_Neighbor_alltoall(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, line, ierr)
    call expect(b(1) == merge(100*(rank - 1) + 2, -1, rank > 0) .and. b(4) == merge(100*(rank + 1) + 1, -1, rank < ranks - 1) &
                .and. b(5) == -1, 'neighbor_alltoall')
    b = -1
    call MPI_Neighbor_allgather(a, 1, spread, b, 3, MPI_INTEGER, line, ierr)
    call expect(b(2) == merge(100*(rank - 1) + 2, -1, rank > 0) .and. b(6) == merge(100*(rank + 1) + 4, -1, rank < ranks - 1) &
                .and. b(7) == -1, 'neighbor_allgather')
    counts = (/(1, i=0, 7)/)
    displs = (/(3*i, i=0, 7)/)
    b = -1
    call MPI_Neighbor_allgatherv(a, 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, line, ierr)
    call expect(b(1) == merge(100*(rank - 1), -1, rank > 0) .and. b(2) == -1 .and. &
                b(4) == merge(100*(rank + 1), -1, rank < ranks - 1), 'neighbor_allgatherv')
    b = -1
    call MPI_Neighbor_alltoallv(a, counts, displs, MPI_INTEGER, b, counts, displs, MPI_INTEGER, line, ierr)
    call expect(b(1) == merge(100*(rank - 1) + 3, -1, rank > 0) .and. b(2) == -1 .and. &
                b(4) == merge(100*(rank + 1), -1, rank < ranks - 1), 'neighbor_alltoallv')
    wide = (/(24*i, i=0, 7)/)
    a = (/(100*rank + (i - 1)/6, i=1, 64)/)
    b = -1
    call MPI_Neighbor_alltoallw(a, counts, wide, kinds, b, counts, wide, kinds, graph, ierr)
    call MPI_Get_address(a, where(1), ierr)
    call keep(a)
    do i = 1, nears
      number = 100*near(i) + merge(1, 0, near(i) < rank .and. near(i) > 0)
      call expect(b(6*i - 5) == number .and. b(6*i - 4) == -1 .and. b(6*i - 3) == number .and. b(6*i - 1) == number .and. &
                  b(6*i) == -1, 'neighbor_alltoallw')
    end do
    call MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, wide + where(1), kinds, b(2:64), counts, wide, kinds, graph, ierr)
    do i = 1, nears
      number = 100*near(i) + merge(1, 0, near(i) < rank .and. near(i) > 0)
      call expect(b(6*i - 4) == number .and. b(6*i) == number, 'neighbor_alltoallw from the bottom')
    end do
    a = merge(5 + k, 0, rank == 0)
    lengths = 64
    types = MPI_INTEGER
    call MPI_Get_address(a, where(1), ierr)
    call MPI_Type_create_struct(1, lengths, where, types, absolute, ierr)
    call MPI_Type_commit(absolute, ierr)
    call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, copy, ierr)
    call keep(a)
    call expect(a(1) == 5 + k .and. a(64) == 5 + k, 'bcast from the bottom')
    call MPI_Type_free(absolute, ierr)
  end do
  call MPI_Comm_free(copy, ierr)
  call MPI_Comm_free(line, ierr)
  call MPI_Comm_free(graph, ierr)
  call MPI_Reduce(bad, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) write (*, '(a)') merge('right', 'wrong', all == 0)
  call MPI_Finalize(ierr)

contains

  logical function all_equal(x, y)
    integer, intent(in) :: x(:), y(:)
    all_equal = size(x) == size(y)
    if (all_equal) all_equal = count(x /= y) == 0
  end function

  subroutine expect(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (.not. good) then
      bad = bad + 1
      write (*, '(a,i0,a,a)') 'rank ', rank, ': ', what
    end if
  end subroutine

  ! What MPI has done to it the compiler cannot know.
  subroutine keep(x)
    integer, volatile, intent(inout) :: x(:)
    x(1) = x(1)
  end subroutine
end program
