! A late sender, of a receive that MPI_Waitall completes; stamps.RANK as in stamp.h.
program late
    use mpi
    implicit none
    integer :: rank, error, round, requests(2)
    integer(8) :: stamps(5)
    character(len=8) :: path
    double precision :: values(8, 2)
    values = 0
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    do round = 1, 5
        if (rank == 0) then
            call MPI_Recv(values, 0, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
            call sleep_a_little()
            call system_clock(stamps(round))
            call MPI_Send(values(:, 1), 8, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, error)
            call MPI_Send(values(:, 2), 8, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, error)
        else if (rank == 1) then
            call MPI_Send(values, 0, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, error)
            call MPI_Irecv(values(1, 1), 8, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, requests(1), error)
            call MPI_Irecv(values(1, 2), 8, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, requests(2), error)
            call system_clock(stamps(round))
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
        end if
    end do
    write (path, '("stamps.", i1)') rank
    open (unit=10, file=path)
    do round = 1, 5
        write (10, '("Waitall ", i0)') stamps(round)
    end do
    close (10)
    call MPI_Finalize(error)
contains
    subroutine sleep_a_little()
        double precision :: begin
        begin = MPI_Wtime()
        do while (MPI_Wtime() - begin < 0.02d0)
        end do
    end subroutine
end program
