!> Complex Fourier transforms of one length, a power of two, many at a time: Stockham's autosort algorithm, radix 2
!> (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, SIAM 1992, section 1.7).
module fft
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: fft_plan, fft_transform

  type, public :: fft_type
    integer :: length
    complex(real64), allocatable :: roots(:) !< exp(-2 pi i k / length), k = 0 .. length / 2 - 1
  end type fft_type

contains

  function fft_plan(length) result(plan)
    integer, intent(in) :: length
    type(fft_type) :: plan
    real(real64), parameter :: pi = acos(-1.0_real64)
    integer :: k

    plan%length = length
    allocate (plan%roots(0:max(length / 2 - 1, 0)))
    do k = 0, length / 2 - 1
      plan%roots(k) = cmplx(cos(2 * pi * k / length), -sin(2 * pi * k / length), real64)
    end do
  end function fft_plan

  !> Transforms `many` interleaved signals: data(q, j) is element j of signal q. `work` is as large as `data`. Without the
  !> factor 1/length for the inverse.
  subroutine fft_transform(plan, many, data, work, inverse)
    type(fft_type), intent(in) :: plan
    integer, intent(in) :: many
    complex(real64), intent(inout) :: data(many * plan%length), work(many * plan%length)
    logical, intent(in) :: inverse
    integer :: half, step
    logical :: in_data

    half = plan%length / 2
    step = 1
    in_data = .true.
    do while (half >= 1)
      if (in_data) then
        call pass(plan, half, step, many * step, data, work, inverse)
      else
        call pass(plan, half, step, many * step, work, data, inverse)
      end if
      in_data = .not. in_data
      half = half / 2
      step = step * 2
    end do
    if (.not. in_data) data = work
  end subroutine fft_transform

  subroutine pass(plan, half, step, stride, from, to, inverse)
    type(fft_type), intent(in) :: plan
    integer, intent(in) :: half, step, stride
    complex(real64), intent(in) :: from(stride, 0:half - 1, 2)
    complex(real64), intent(out) :: to(stride, 2, 0:half - 1)
    logical, intent(in) :: inverse
    complex(real64) :: root
    integer :: p, q

    do p = 0, half - 1
      root = plan%roots(p * step)
      if (inverse) root = conjg(root)
      do q = 1, stride
        to(q, 1, p) = from(q, p, 1) + from(q, p, 2)
        to(q, 2, p) = (from(q, p, 1) - from(q, p, 2)) * root
      end do
    end do
  end subroutine pass

end module fft
