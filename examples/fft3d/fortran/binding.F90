!> MPI by the binding that was chosen when this was compiled: `use mpi`, or `use mpi_f08` with -DUSE_MPI_F08. The two
!> differ in the type of a handle; BINDING_COMM in binding.h names it.
module binding
#ifdef USE_MPI_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  public
end module binding
