! A communicator is used once more while it ends: its attribute's callback calls a collective on it. By the handle that
! the program has: Open MPI 4.1 gives callbacks in Fortran another one.
module callbacks
  use mpi
  implicit none
  integer :: ended = 0, wrong = 0, comm
contains
  subroutine delete_attribute(ending, key, value, extra, error)
    integer :: ending, key, error, one, total, ranks
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    one = 1
    total = 0
    call MPI_Comm_size(comm, ranks, error)
    call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, comm, error)
    if (total /= ranks .or. value /= extra) wrong = wrong + 1
    ended = ended + 1
    error = MPI_SUCCESS
  end subroutine
end module

program ends
  use callbacks
  implicit none
  integer :: error, rank, key, life, call, one, total
  integer(kind=MPI_ADDRESS_KIND), parameter :: nothing = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, key, nothing, error)
  do life = 1, 8
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
    call MPI_Comm_set_attr(comm, key, nothing, error)
    do call = 1, 6
      one = 1
      call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, comm, error)
    end do
    if (mod(life, 2) == 0) then
      call MPI_Comm_free(comm, error)
    else
      call MPI_Comm_disconnect(comm, error)
    end if
  end do
  if (ended /= 8) wrong = wrong + 1
  if (rank == 0) then
    if (wrong == 0) then
      print *, 'right'
    else
      print *, 'wrong'
    end if
  end if
  call MPI_Finalize(error)
end program
