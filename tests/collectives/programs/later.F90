! Nonblocking collectives in Fortran, whose results are looked at; -DBINDING=1 mpif.h, 2 use mpi, 3 use mpi_f08. With -DPERSISTENT
! persistent ones, which are made once.
#ifdef PERSISTENT
#define ROOT 0
#else
#define ROOT mod(k, ranks)
#endif
#if BINDING == 3
#define REQUEST type(MPI_Request)
#else
#define REQUEST integer
#endif
program later
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, k, i, index, outcount, bad, all, indices(3)
  integer, asynchronous :: a(32), b(32), c(32), e(256)
  REQUEST :: requests(3)
  logical :: flag
#if BINDING == 3
  type(MPI_Status) :: status, statuses(3)
#else
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 3)
#endif
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  bad = 0
#ifdef PERSISTENT
  call MPI_Allreduce_init(MPI_IN_PLACE, a, 32, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierr)
  call MPI_Bcast_init(b, 32, MPI_INTEGER, ROOT, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierr)
  call MPI_Allgather_init(c, 32, MPI_INTEGER, e, 32, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, requests(3), ierr)
#endif
  do k = 1, 200
    a = (/(i + rank + k, i=1, 32)/)
    c = a
    b = merge((/(i*k, i=1, 32)/), 0, rank == ROOT)
#ifdef PERSISTENT
    if (mod(k, 2) == 0) then
      call MPI_Startall(3, requests, ierr)
    else
      do i = 1, 3
        call MPI_Start(requests(i), ierr)
      end do
    end if
#else
    call MPI_Iallreduce(MPI_IN_PLACE, a, 32, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Ibcast(b, 32, MPI_INTEGER, ROOT, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Iallgather(c, 32, MPI_INTEGER, e, 32, MPI_INTEGER, MPI_COMM_WORLD, requests(3), ierr)
#endif
    select case (mod(k, 7))
    case (0)
      call MPI_Waitall(3, requests, statuses, ierr)
    case (1)
      do i = 1, 3
        call MPI_Waitany(3, requests, index, status, ierr)
        if (index < 0 .or. index > 3) bad = bad + 1 ! of mpi_f08, MPICH 4.0.2 counts from 0
      end do
    case (2)
      outcount = 0
      do while (outcount /= MPI_UNDEFINED)
        call MPI_Waitsome(3, requests, outcount, indices, statuses, ierr)
      end do
    case (3)
      do i = 3, 1, -1
        call MPI_Wait(requests(i), status, ierr)
      end do
    case (4)
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(3, requests, flag, statuses, ierr)
      end do
    case (5)
      do i = 1, 3
        flag = .false.
        do while (.not. flag)
          call MPI_Test(requests(i), flag, status, ierr)
        end do
      end do
    case (6)
      call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierr)
    end select
    if (any(a /= (/(ranks*(i + k) + ranks*(ranks - 1)/2, i=1, 32)/))) bad = bad + 1
    if (any(b /= (/(i*k, i=1, 32)/))) bad = bad + 1
    do i = 0, ranks - 1
      if (e(32*i + 5) /= 5 + i + k) bad = bad + 1
    end do
  end do
#ifdef PERSISTENT
  do i = 1, 3
    call MPI_Request_free(requests(i), ierr)
  end do
#endif
  call MPI_Reduce(bad, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a)', merge('right', 'wrong', all == 0)
  call MPI_Finalize(ierr)
end program later
