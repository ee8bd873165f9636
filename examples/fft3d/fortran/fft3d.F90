!> A 3D fast Fourier transform over all ranks, and a heat equation that is solved with it: the program of ../c in Fortran.
!> Options: --grid NX NY NZ, --steps N, --decomposition slabs|pencils|ROWSxCOLUMNS.
program fft3d
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use binding
  use fields
  use grids
  use transform
  implicit none

  real(real64), parameter :: diffusivity = 1e-5_real64, tolerance = 1e-12_real64
  type(grid_type) :: grid
  type(transform_type) :: plan
  complex(real64), allocatable :: field(:), spectrum(:), expected(:)
  real(real64), allocatable :: decay(:)
  real(real64) :: largest, seconds
  integer :: points(3) = 64, steps = 6, rows = 0, columns = 0, error
  character(100) :: reason

  call MPI_Init(error)
  call read_options(reason)
  if (reason == '') then
    call choose_pencils()
    call grid_create(grid, points, rows, columns, reason)
  end if
  if (reason /= '') call give_up(reason)

  plan = transform_plan(grid)
  allocate (field(grid%here), spectrum(grid%here), expected(grid%here), decay(grid%here))
  call field_decay(grid, diffusivity, decay)
  if (grid%rank == 0) call describe()

  largest = check()
  seconds = time_steps()

  if (grid%rank == 0) then
    print '(3a, es8.1)', ' Verification = ', trim(merge('SUCCESSFUL', 'FAILED    ', largest < tolerance)), &
      ', largest error ', largest
    print '(a, f12.6)', ' Time in seconds = ', seconds
  end if
  call MPI_Finalize(error)
  if (.not. largest < tolerance) stop 1

contains

  !> Noise must come back from forward and inverse transform, and a plane wave must decay as the equation's solution says:
  !> the larger error of the two.
  function check() result(largest)
    real(real64) :: largest, factor
    real(real64), parameter :: pi = acos(-1.0_real64)
    integer :: wave(3)

    call field_noise(grid, field)
    expected = field
    call transform_forward(plan, grid, field)
    call transform_inverse(plan, grid, field)
    largest = field_distance(grid, field, 1.0_real64, expected)

    wave = [1, 2, 3]
    where (wave >= grid%points / 2) wave = 0
    call field_wave(grid, wave, expected)
    field = expected
    call transform_forward(plan, grid, field)
    field = field * decay
    call transform_inverse(plan, grid, field)
    factor = exp(-4 * pi**2 * diffusivity * sum(wave**2))
    largest = max(largest, field_distance(grid, field, factor, expected))
  end function check

  !> Seconds of the slowest rank; right on rank 0.
  function time_steps() result(slowest)
    real(real64) :: start, here, slowest
    complex(real64) :: total
    integer :: step

    call field_noise(grid, spectrum)
    call MPI_Barrier(grid%world, error)
    start = MPI_Wtime()
    call transform_forward(plan, grid, spectrum)
    do step = 1, steps
      spectrum = spectrum * decay
      field = spectrum
      call transform_inverse(plan, grid, field)
      total = field_checksum(grid, field)
      if (grid%rank == 0) print '(a, i4, a, 2es23.12)', ' step ', step, '  checksum', total
    end do
    here = MPI_Wtime() - start
    slowest = 0
    call MPI_Reduce(here, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, grid%world, error)
  end function time_steps

  subroutine describe()
    integer :: transforms, fewest

    write (*, '(a, i0, a, i0, a, i0, a, i0, a, i0, a)', advance='no') 'fft3d: ', points(1), ' x ', points(2), ' x ', &
      points(3), ' points, ', steps, ' steps, ', grid%ranks, ' ranks, '
    transforms = 2 * 2 + 1 + steps
    fewest = grid%ranks
    if (grid%slabs) then
      print '(a)', 'slabs'
    else
      print '(i0, a, i0, a)', rows, ' x ', columns, ' pencils'
      transforms = transforms * 2
      if (rows > 1 .and. columns > 1) fewest = min(rows, columns)
    end if
    print '(a, i0, a, i0, a)', ' ', transforms, ' transposes, up to ', grid%here / fewest * 16, &
      ' bytes from each rank to each other'
  end subroutine describe

  !> Pencils without numbers: as square as the ranks allow.
  subroutine choose_pencils()
    integer :: sides(2), ranks

    if (rows >= 0) return
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    sides = 0
    call MPI_Dims_create(ranks, 2, sides, error)
    rows = sides(2)
    columns = sides(1)
  end subroutine choose_pencils

  subroutine read_options(reason)
    character(*), intent(out) :: reason
    character(40) :: word
    integer :: i, axis

    reason = ''
    i = 1
    do while (i <= command_argument_count() .and. reason == '')
      call get_command_argument(i, word)
      select case (word)
      case ('--grid')
        do axis = 1, 3
          points(axis) = number(argument(i + axis))
        end do
        i = i + 3
        if (any(points <= 0)) reason = '--grid takes three numbers above 0'
      case ('--steps')
        steps = number(argument(i + 1))
        i = i + 1
        if (steps <= 0) reason = '--steps takes a number above 0'
      case ('--decomposition')
        call read_decomposition(argument(i + 1), reason)
        i = i + 1
      case default
        reason = 'there is no option '//word
      end select
      i = i + 1
    end do
  end subroutine read_options

  subroutine read_decomposition(word, reason)
    character(*), intent(in) :: word
    character(*), intent(out) :: reason
    integer :: cross

    reason = ''
    cross = index(word, 'x')
    select case (word)
    case ('slabs')
      rows = 0
    case ('pencils')
      rows = -1
    case default
      rows = number(word(:max(cross - 1, 0)))
      columns = number(word(cross + 1:))
      if (cross == 0 .or. rows <= 0 .or. columns <= 0) reason = '--decomposition takes slabs, pencils or for example 2x4'
    end select
  end subroutine read_decomposition

  function argument(i) result(word)
    integer, intent(in) :: i
    character(40) :: word

    call get_command_argument(i, word)
  end function argument

  !> 0 for what is no number.
  function number(word)
    character(*), intent(in) :: word
    integer :: number, status

    number = 0
    if (verify(trim(word), '0123456789') == 0) read (word, *, iostat=status) number
  end function number

  subroutine give_up(reason)
    character(*), intent(in) :: reason
    integer :: rank

    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    if (rank == 0) write (error_unit, '(2a)') 'fft3d: ', trim(reason)
    call MPI_Finalize(error)
    stop 2
  end subroutine give_up

end program fft3d
