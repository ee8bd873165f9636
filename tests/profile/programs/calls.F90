! Calls of every kind in Fortran; -DBINDING=1 mpif.h, 2 use mpi, 3 use mpi_f08. What is known of them is in one file a rank.
#if BINDING == 3
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define STATUS_OF(name) type(MPI_Status) :: name
#else
#define COMM integer
#define REQUEST integer
#define DATATYPE integer
#define STATUS_OF(name) integer :: name(MPI_STATUS_SIZE)
#endif
program calls
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierr, i, next, before
  integer :: a(1000), b(1000), counts(8), displs(8)
  integer :: whole, own
  logical :: done
  character(len=4096) :: prefix
  character(len=12) :: number
  REQUEST :: r, rs(2)
  DATATYPE :: wide, types(8)
  COMM :: copy
  STATUS_OF(stat)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, prefix)
  write (number, '(i0)') rank
  open (10, file=trim(prefix)//'.'//trim(number))
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  a = 0
  b = 0
  do i = 1, ranks
    counts(i) = i
    displs(i) = (i - 1)*ranks
    types(i) = MPI_INTEGER
  end do
  whole = 4*ranks*(ranks + 1)/2
  own = 4*(rank + 1)
  call MPI_Type_vector(3, 2, 5, MPI_INTEGER, wide, ierr)
  call MPI_Type_commit(wide, ierr)

  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call truth('MPI_Barrier', ranks, 1, 0, 0, 0)
  call MPI_Bcast(a, 3, wide, 0, MPI_COMM_WORLD, ierr)
  call truth('MPI_Bcast', ranks, 1, 72, merge(ranks*72, 0, rank == 0), 72)
  call MPI_Allreduce(a, b, 15, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call truth('MPI_Allreduce', ranks, 1, 60, ranks*60, ranks*60)
  call MPI_Allreduce(MPI_IN_PLACE, b, 16, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call truth('MPI_Allreduce', ranks, 1, 64, (ranks - 1)*64, (ranks - 1)*64)
  call MPI_Alltoall(a, 11, MPI_INTEGER, b, 11, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call truth('MPI_Alltoall', ranks, 1, 44, ranks*44, ranks*44)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, b, 12, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call truth('MPI_Alltoall', ranks, 1, 48, (ranks - 1)*48, (ranks - 1)*48)
  call MPI_Allgatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call truth('MPI_Allgatherv', ranks, 1, whole/ranks, ranks*own, whole)
  call MPI_Gatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call truth('MPI_Gatherv', ranks, 1, merge(whole/ranks, own, rank == 0), own, merge(whole, 0, rank == 0))
  counts = 2
  displs = 0
  do i = 1, ranks
    displs(i) = 8*i
  end do
  call MPI_Alltoallw(a, counts, displs, types, b, counts, displs, types, MPI_COMM_WORLD, ierr)
  call truth('MPI_Alltoallw', ranks, 1, 8, ranks*8, ranks*8)
  call MPI_Iallreduce(a, b, 17, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, ierr)
  call truth('MPI_Iallreduce', ranks, 1, 68, ranks*68, ranks*68)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call truth('MPI_Wait', -1, 1, -1, 0, 0)

  call MPI_Isend(a, 50, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r, ierr)
  call truth('MPI_Isend', ranks, 1, 200, 200, 0)
  call MPI_Recv(b, 900, MPI_INTEGER, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call truth('MPI_Recv', ranks, 1, 200, 0, 200)
  call MPI_Wait(r, stat, ierr)
  call truth('MPI_Wait', -1, 1, -1, 0, 0)
  call MPI_Isend(a, 51, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r, ierr)
  call truth('MPI_Isend', ranks, 1, 204, 204, 0)
  call MPI_Recv(b, 900, MPI_INTEGER, before, 1, MPI_COMM_WORLD, stat, ierr)
  call truth('MPI_Recv', ranks, 1, 204, 0, 204)
  rs(1) = r
  call MPI_Waitall(1, rs, MPI_STATUSES_IGNORE, ierr)
  call truth('MPI_Waitall', -1, 1, -1, 0, 0)
  call MPI_Sendrecv(a, 9, MPI_INTEGER, next, 2, b, 900, MPI_INTEGER, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call truth('MPI_Sendrecv', ranks, 1, 36, 36, 36)
  call MPI_Send_init(a, 60, MPI_INTEGER, next, 3, MPI_COMM_WORLD, rs(1), ierr)
  call truth('MPI_Send_init', ranks, 1, 240, 0, 0)
  call MPI_Recv_init(b, 60, MPI_INTEGER, before, 3, MPI_COMM_WORLD, rs(2), ierr)
  call truth('MPI_Recv_init', ranks, 1, 240, 0, 0)
  do i = 1, 4
    call MPI_Startall(2, rs, ierr)
    call MPI_Waitall(2, rs, MPI_STATUSES_IGNORE, ierr)
  end do
  call truth('MPI_Startall', ranks, 4, 240, 960, -1)
  call truth('MPI_Waitall', -1, 4, -1, 0, 0)
  call MPI_Start(rs(1), ierr)
  call truth('MPI_Start', ranks, 1, 240, 240, 0)
  call MPI_Start(rs(2), ierr)
  call truth('MPI_Start', ranks, 1, 240, 0, -1)
  call MPI_Waitall(2, rs, MPI_STATUSES_IGNORE, ierr)
  call truth('MPI_Waitall', -1, 1, -1, 0, 0)
  call MPI_Request_free(rs(1), ierr)
  call MPI_Request_free(rs(2), ierr)
  call truth('MPI_Request_free', -1, 2, -1, 0, 0)
  call MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, done, MPI_STATUS_IGNORE, ierr)
  call truth('MPI_Iprobe', ranks, 1, -1, 0, 0)

  call MPI_Comm_dup(MPI_COMM_SELF, copy, ierr)
  call truth('MPI_Comm_dup', 1, 1, -1, 0, 0)
#ifdef PHASE
  call unisono_phase_begin('in Fortran  ')
#endif
  call MPI_Allreduce(a, b, 18, MPI_INTEGER, MPI_SUM, copy, ierr)
#ifdef PHASE
  call unisono_phase_end()
#endif
  call truth('MPI_Allreduce', 1, 1, 72, 72, 72)
  call MPI_Comm_free(copy, ierr)
  call truth('MPI_Comm_free', -1, 1, -1, 0, 0)
  call MPI_Finalize(ierr)
  close (10)
  if (any(b(1:18) /= 0)) error stop 1

contains

  subroutine truth(name, comm_size, times, bytes, sent, received)
    character(len=*), intent(in) :: name
    integer, intent(in) :: comm_size, times, bytes, sent, received
    write (10, '(i0,1x,a,5(1x,i0))') rank, name, comm_size, times, bytes, sent, received
  end subroutine
end program
